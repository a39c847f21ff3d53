# SPDX-License-Identifier: Apache-2.0
"""What notes on prims say about an asset that Simwright wrote (``simwright.usd.notes``, ADR 5).

Notes give freedoms their names and order, say what the source called a joint, and hold what no schema has: screws,
gears, floating joints, equalities, reference coordinates, image sizes, markers, controllers, the order
of elements.  A note that does not fit what the prim says now is not used: the prim was edited.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

from simwright.core.math3d import IDENTITY, Pose, quat_rotate, vec3
from simwright.formats.usd.attributes import make_plain, read_settings
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.asset import Asset, FoldedBody, Light, Sensor
from simwright.model.geometry import Box, Capsule, Cylinder, Ellipsoid, Geometry, Plane, Sphere
from simwright.model.joint import (
    WORLD,
    Dof,
    Equality,
    EqualityKind,
    Gear,
    Joint,
    JointKind,
    Mimic,
    Motion,
)
from simwright.model.ros import Controller
from simwright.resolve.sensors import find_neutral_kind
from simwright.usd.questions import items_of

# what has no place comes after what has one, in the order of prims
LAST = 1 << 30


def restore_order(reader: StageReader, scan: StageScan) -> None:
    """Sort bodies, joints, sites, actuators, tendons, equalities, mimics, sensors and controllers."""
    if not reader.noted:
        return
    ranks = {path: number for number, path in enumerate(scan.all)}

    def sort_key(element: Any, word: str = "order") -> tuple[int, int]:
        path = element.source.prim
        return read_place(scan.notes.get(path, {}), word), ranks.get(path, LAST)

    asset = reader.asset
    families: tuple[list[Any], ...] = (asset.bodies, asset.actuators, asset.tendons, asset.controllers)
    for family in families:
        family.sort(key=sort_key)
    words = {EqualityKind.TENDON: "equality_order"}
    asset.equalities.sort(key=lambda equality: sort_key(equality, words.get(equality.kind, "order")))
    places = {body.name: number for number, body in enumerate(asset.bodies)}
    # stable sorts: within a body the order of prims stays
    asset.shapes.sort(key=lambda shape: places.get(shape.body, -1))
    asset.sites.sort(key=lambda site: (sort_key(site)[0], places.get(site.body, -1), sort_key(site)[1]))

    def joint_key(joint: Any) -> tuple[int, bool, int, int]:
        noted, rank = sort_key(joint, "free_order" if joint.path in reader.bodies else "order")
        return noted, joint.closes_loop, places.get(joint.child, -1), rank

    asset.joints.sort(key=joint_key)
    dofs = [dof.name for joint in asset.joints for dof in joint.dofs]
    followers = {name: number for number, name in enumerate(dofs)}
    asset.mimics.sort(key=lambda m: (sort_key(m, "mimic_order")[0], followers.get(m.follower, LAST)))


def read_place(note: dict[str, Any], word: str) -> int:
    """The noted place in an order, the last one where there is none."""
    value = note.get(word)
    return value if isinstance(value, int) else LAST


_KINDS = {kind.value: kind for kind in JointKind}
_EQUALITIES = {kind.value: kind for kind in EqualityKind}
_MOTIONS = {motion.value: motion for motion in (Motion.HINGE, Motion.SLIDE, Motion.BALL)}
_LETTERS = {"X": 0, "Y": 1, "Z": 2}
_FREEDOMS = 6


def arrange_dofs(note: dict[str, Any], dofs: list[Dof]) -> None:
    """Order and name the freedoms of a joint as noted."""
    names = texts(note.get("dofs"))
    axes = texts(note.get("axes"))
    if axes:
        words = {_word(dof): dof for dof in dofs}
        # an axis was locked or freed since
        if sorted(words) != sorted(axes) or len(words) != len(dofs):
            return
        dofs[:] = _read_stack(note, words) or [words[word] for word in axes]
    if len(names) == len(dofs):
        for dof, name in zip(dofs, names, strict=True):
            dof.name = name


def turn_frames(note: dict[str, Any], dofs: list[Dof], frames: tuple[Pose, Pose]) -> tuple[Pose, Pose]:
    """The source's own joint frames, where the written ones are turned; axes and anchors turn along."""
    turn = read_pose(note.get("frame"))
    if turn is None:
        return frames
    for dof in dofs:
        dof.axis, dof.anchor = quat_rotate(turn.q, dof.axis), turn.apply(dof.anchor)
    return frames[0] @ ~turn, frames[1] @ ~turn


def _read_stack(note: dict[str, Any], words: dict[str, Dof]) -> list[Dof]:
    """The freedoms of a stack that no generic joint has; limits and drives are those of the axis each was given."""
    motions, places = texts(note.get("stack")), texts(note.get("stack_words"))
    axes, anchors = (numbers(note.get(f"stack_{key}"), finite=True) for key in ("axes", "anchors"))
    limits, swings = (numbers(note.get(f"stack_{key}")) for key in ("limits", "swings"))
    count = len(motions)
    sizes = (len(places), len(axes), len(anchors), len(limits), len(swings))
    if sizes != (count, 3 * count, 3 * count, 2 * count, 2 * count):
        return []
    dofs = []
    for number, (motion, place) in enumerate(zip(motions, places, strict=True)):
        first = 3 * number
        if motion not in _MOTIONS or not any(axes[first : first + 3]):
            return []
        dof = Dof(
            _MOTIONS[motion], axis=vec3(*axes[first : first + 3]), anchor=vec3(*anchors[first : first + 3])
        )
        dof.lower, dof.upper = limits[2 * number : 2 * number + 2]
        swing = (swings[2 * number], swings[2 * number + 1])
        dof.swing = swing if any(map(math.isfinite, swing)) else None
        known = words.get(place)
        # limits and drives are attributes, which users edit; axes and anchors are only in the note
        if known is not None and dof.motion is not Motion.BALL:
            dof.lower, dof.upper, dof.drive = known.lower, known.upper, known.drive
        dofs.append(dof)
    return dofs


def _word(dof: Dof) -> str:
    letter = next(letter for letter, number in _LETTERS.items() if abs(dof.axis[number]) == 1.0)
    return f"rot{letter}" if dof.motion is Motion.HINGE else f"trans{letter}"


def restore_joints(reader: StageReader, scan: StageScan) -> dict[str, float]:
    """Kinds, equalities and floating joints; gives the coordinates that freedoms start at."""
    if not reader.noted:
        return {}
    asset = reader.asset
    notes = {found.path: reader.note(found) for found in scan.joints}
    references: dict[str, float] = {}
    kept = []
    for joint in asset.joints:
        note = notes.get(joint.path, {})
        # a joint that no longer closes a loop was made a real joint by an edit
        if note.get("equality") in _EQUALITIES and joint.closes_loop:
            asset.equalities.append(_make_equality(reader, scan.all[joint.path], joint, note))
            continue
        kept.append(joint)
        _restore_dofs(joint, note)
        starts = numbers(note.get("references"), finite=True)
        if len(starts) == len(joint.dofs):
            references |= {dof.name: by for dof, by in zip(joint.dofs, starts, strict=True) if by}
        if note.get("kind") in _KINDS:
            _restore_kind(joint, _KINDS[note["kind"]])
    asset.joints = kept
    for found in scan.bodies:
        _restore_free(reader, found)
    return references


def _restore_dofs(joint: Joint, note: dict[str, Any]) -> None:
    pitches, turns = numbers(note.get("pitches"), finite=True), numbers(note.get("turns"))
    if len(pitches) == len(joint.dofs):
        for dof, pitch in zip(joint.dofs, pitches, strict=True):
            dof.pitch = pitch
    if len(turns) == 2 * len(joint.dofs):
        for number, dof in enumerate(joint.dofs):
            if dof.motion is Motion.BALL:
                dof.lower, dof.upper = turns[2 * number], turns[2 * number + 1]
    for key in (
        "armature",
        "friction",
        "damping",
        "stiffness",
        "spring_ref",
        "effort_limit",
        "velocity_limit",
    ):
        values = numbers(note.get(f"dof_{key}"))
        if len(values) == len(joint.dofs):
            for dof, value in zip(joint.dofs, values, strict=True):
                # not a number stands for "not said": arrays of OpenUSD hold no nothing
                setattr(dof, key, value if math.isfinite(value) else None)
    _restore_gear(joint, note)


def _restore_gear(joint: Joint, note: dict[str, Any]) -> None:
    ratio = note.get("gear")
    if isinstance(ratio, float) and math.isfinite(ratio) and len(joint.dofs) > 1:
        joint.gear = Gear(ratio, str(note.get("gear_reference", WORLD)))


def _restore_kind(joint: Joint, kind: JointKind) -> None:
    """What the source called it, if it still has such freedoms."""
    if kind is JointKind.FLOATING:
        # a limit on one of the six axes makes it a generic joint
        if joint.velocities == _FREEDOMS and not any(dof.is_limited for dof in joint.dofs):
            joint.kind, joint.dofs = kind, [Dof(Motion.FREE, name=joint.name)]
        return
    motions = [dof.motion for dof in joint.dofs]
    expected: dict[JointKind, Sequence[list[Motion]]] = {
        JointKind.UNIVERSAL: ([Motion.HINGE] * 2,),
        JointKind.GEARBOX: ([Motion.HINGE] * 2,),
        JointKind.PLANAR: ([Motion.SLIDE, Motion.SLIDE, Motion.HINGE],),
        JointKind.SCREW: ([Motion.HINGE],),
        JointKind.REVOLUTE: ([Motion.HINGE],),
        JointKind.PRISMATIC: ([Motion.SLIDE],),
        JointKind.D6: (motions,),
    }
    if motions in expected.get(kind, ()):
        joint.kind = kind


def _make_equality(reader: StageReader, found: FoundPrim, joint: Joint, note: dict[str, Any]) -> Equality:
    """The constraint that a closing joint stands for.  The world is a joint's parent, whichever side it was."""
    first, second = (joint.parent, joint.parent_frame), (joint.child, joint.child_frame)
    if note.get("turned"):
        first, second = second, first
    return Equality(
        name=joint.name,
        kind=_EQUALITIES[note["equality"]],
        a=first[0],
        b=second[0],
        frame_a=first[1],
        frame_b=second[1],
        torque_scale=reader.get_number(found, "mjc:torqueScale", 1.0),
        enabled=joint.enabled,
        source=joint.source,
    )


def _restore_free(reader: StageReader, found: FoundPrim) -> None:
    """The floating joint of a body that nothing else holds."""
    note, frame = reader.note(found), reader.bodies[found.path]
    # a joint that was added since holds the body
    if "free_name" not in note or any(
        j.child == frame.name and not j.closes_loop for j in reader.asset.joints
    ):
        return
    first, second = (read_pose(note.get(f"free_frame{side}")) or IDENTITY for side in (0, 1))
    pose = ~first @ frame.pose @ second
    dof = Dof(Motion.FREE, name=str(note.get("free_dof", note["free_name"])))
    dof.position = [float(v) for v in (*pose.p, *pose.q)]
    for key in ("armature", "friction", "damping", "stiffness"):
        value = note.get(f"free_{key}")
        if isinstance(value, (int, float)) and math.isfinite(value):
            setattr(dof, key, float(value))
    reader.asset.joints.append(
        Joint(
            name=str(note["free_name"]),
            kind=JointKind.FLOATING,
            parent=WORLD,
            child=frame.name,
            parent_frame=first,
            child_frame=second,
            dofs=[dof],
            collide=bool(note.get("free_collide", False)),
            ros_name=str(note.get("free_ros_name", "")),
            path=found.path,
            source=reader.where(found),
        )
    )


def read_noted_mimics(reader: StageReader, found: FoundPrim) -> None:
    """Rules between freedoms that no schema relates: names by threes, numbers by six."""
    note = reader.note(found)
    names, values = texts(note.get("mimics")), numbers(note.get("mimic_values"), finite=True)
    if len(values) != 2 * len(names) or len(names) % 3:
        return
    known = {dof.name for joint in reader.asset.joints for dof in joint.dofs}
    for row in range(len(names) // 3):
        follower, leader, name = names[3 * row : 3 * row + 3]
        if not {follower, leader} <= known:
            continue
        enabled, offset, multiplier, *higher = values[6 * row : 6 * row + 6]
        polynomial = tuple(higher) if any(higher) else ()
        where = reader.where(found)
        reader.asset.mimics.append(
            Mimic(follower, leader, multiplier, offset, polynomial, bool(enabled), name, where)
        )


def texts(value: Any) -> list[str]:
    """A noted array of texts."""
    return (
        [str(v) for v in items_of(value)] if hasattr(value, "__len__") and not isinstance(value, str) else []
    )


def numbers(value: Any, *, finite: bool = False) -> list[float]:
    """A noted array of numbers; none where the note holds something else."""
    if not hasattr(value, "__len__") or isinstance(value, str):
        return []
    items = items_of(value)
    if not all(isinstance(v, (int, float)) and (math.isfinite(v) or not finite) for v in items):
        return []
    return [float(v) for v in items]


def read_pose(value: Any) -> Pose | None:
    """A noted pose: position and quaternion; None where the note holds something else."""
    values = numbers(value, finite=True)
    return Pose.of(values[:3], values[3:]) if len(values) == 7 and any(values[3:]) else None


_KIND_WORDS = (("mjc:sensor", "mjc:sensor:kind"), ("gazebo:sensor", "gazebo:sensor:kind"))


def read_noted_sensors(reader: StageReader, scan: StageScan) -> None:
    """Sensors that a vendor layer describes."""
    if not reader.noted:
        return
    for found in scan.all.values():
        for space, word in _KIND_WORDS:
            # of a prim with a schema of the registry this is the rest, which is read with it
            if (
                (found.authored is None or word in found.authored)
                and not find_neutral_kind(found.apis)
                and reader.get_authored(found, word)
            ):
                reader.asset.sensors.append(_read_sensor(reader, found, space))
    ranks = {path: number for number, path in enumerate(scan.all)}
    reader.asset.sensors.sort(
        key=lambda s: (read_place(scan.notes.get(s.path, {}), "sensor_order"), ranks.get(s.path, LAST))
    )


def _read_sensor(reader: StageReader, found: FoundPrim, space: str) -> Sensor:
    position, turn = (
        make_plain(reader.get(found, f"{space}:{word}")) for word in ("position", "orientation")
    )
    bodies = reader.get_targets(found, f"{space}:body")
    body = reader.bodies.get(bodies[0]) if bodies else None
    pose = read_pose([*numbers(position), *numbers(turn)])
    return Sensor(
        name=reader.get_text(found, f"{space}:name", found.name),
        kind=reader.get_text(found, f"{space}:kind"),
        body=WORLD if body is None else body.name,
        pose=IDENTITY if pose is None else pose,
        target=reader.get_text(found, f"{space}:target"),
        rate=reader.get_optional(found, f"{space}:rate"),
        settings=read_settings(reader, found, f"{space}:setting:", set()),
        path=found.path,
        source=reader.where(found),
    )


def restore_parts(reader: StageReader, scan: StageScan) -> None:
    """Places of interfaces, controllers, image sizes, markers, safety limits and URDF's own attributes."""
    if not reader.noted:
        return
    notes = scan.notes
    asset = reader.asset
    _restore_interfaces(asset, notes)
    _restore_controllers(reader, notes)
    for camera in asset.cameras:
        size = numbers(notes.get(camera.path, {}).get("resolution"), finite=True)
        if len(size) == 2:
            camera.resolution = (int(size[0]), int(size[1]))
    for light in asset.lights:
        _restore_light(light, notes.get(light.path, {}))
    for site in asset.sites:
        note = notes.get(site.path, {})
        # a frame without a marker is drawn for MuJoCo, which has no other
        if "marker" in note and (site.geometry is None or note["marker"] == "none"):
            site.geometry = _make_marker(str(note["marker"]), numbers(note.get("marker_size"), finite=True))
        site.folded = _read_folded(note.get("folded"))
    for shape in asset.shapes:
        # UsdGeomPlane has a size; one without end is drawn as a large one
        if isinstance(shape.geometry, Plane) and notes.get(shape.path, {}).get("endless"):
            shape.geometry = Plane()
    _restore_words(reader, notes)


def _read_folded(text: Any) -> FoldedBody | None:
    """What a frame was as a body; None where the text was edited to something else."""
    note = _parse(text)
    name, mount, elements = note.get("name"), note.get("mount"), note.get("elements")
    named = isinstance(name, str) and name and isinstance(mount, str) and mount
    if not named or not isinstance(elements, dict):
        return None
    order, body, joint = (_read_count(note, key) for key in ("order", "body", "joint"))
    rows = {str(key): texts(names) for key, names in elements.items()}
    return FoldedBody(str(name), str(mount), note.get("is_child") is not False, order, body, joint, rows)


def _restore_interfaces(asset: Asset, notes: dict[str, dict[str, Any]]) -> None:
    """Where interfaces are, if not where their prim is, and the frame that the source names for them."""
    known = {e.name for family in (asset.bodies, asset.sites, asset.sensors, asset.cameras) for e in family}
    for interface in asset.interfaces:
        note = notes.get(interface.path, {})
        at = str(note.get("at", ""))
        if at in known or at == asset.name:
            interface.at = at
        interface.frame_override = interface.frame_override or str(note.get("frame", ""))


def _restore_light(light: Light, note: dict[str, Any]) -> None:
    """How far it reaches and how large its bulb is [m]."""
    reach, bulb = (numbers([note.get(key)], finite=True) for key in ("reach", "bulb"))
    if reach and reach[0] >= 0.0:
        light.range = reach[0]
    if bulb and bulb[0] >= 0.0:
        light.radius = bulb[0]


def _restore_controllers(reader: StageReader, notes: dict[str, dict[str, Any]]) -> None:
    """What the schemas of controllers have no attribute for; controllers without a schema."""
    asset = reader.asset
    read = {controller.path: controller for controller in asset.controllers}
    for path, note in notes.items():
        words = _parse(note.get("controller"))
        if not words:
            continue
        controller = read.get(path)
        if controller is None:
            name = str(reader.stage.GetPrimAtPath(path).GetDisplayName()) or path.rpartition("/")[2]
            controller = Controller(
                name, "external", path=path, source=reader.where(reader.stage.GetPrimAtPath(path))
            )
            asset.controllers.append(controller)
        if controller.kind == "external":
            controller.kind = str(words.get("kind", controller.kind))
        joints, interfaces, settings = (
            _table(words.get(key)) for key in ("joints", "interfaces", "settings")
        )
        listed = {role: [str(v) for v in names] for role, names in joints.items() if isinstance(names, list)}
        # what the schema says wins: it may have been edited
        controller.joints = {**listed, **controller.joints}
        controller.interfaces = {**{role: str(v) for role, v in interfaces.items()}, **controller.interfaces}
        controller.settings = {**settings, **controller.settings}


def _table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _restore_words(reader: StageReader, notes: dict[str, dict[str, Any]]) -> None:
    dofs = {dof.name: dof for joint in reader.asset.joints for dof in joint.dofs}
    names = {**reader.joints, **{path: frame.name for path, frame in reader.bodies.items()}}
    for path, note in notes.items():
        for name, values in _parse(note.get("safety")).items():
            if name in dofs and isinstance(values, dict):
                numeric = {key: value for key, value in values.items() if isinstance(value, (int, float))}
                dofs[name].safety = {key: float(value) for key, value in numeric.items()}
        for key, value in _parse(note.get("urdf")).items():
            reader.asset.extras.keep("urdf", names.get(path, reader.asset.name), key, value)


def _read_count(note: dict[str, Any], key: str) -> int:
    value = note.get(key)
    return value if isinstance(value, int) and value >= 0 else 0


def _parse(text: Any) -> dict[str, Any]:
    if not isinstance(text, str):
        return {}
    try:
        words = json.loads(text)
    # a note is text that anybody may edit
    except (ValueError, RecursionError):
        return {}
    return _table(words)


def _make_marker(kind: str, sizes: list[float]) -> Geometry | None:
    if any(size <= 0.0 for size in sizes):
        return None
    match kind, sizes:
        case "sphere", [radius]:
            return Sphere(radius)
        case "capsule", [radius, length]:
            return Capsule(radius, length)
        case "cylinder", [radius, length]:
            return Cylinder(radius, length)
        case "box", [x, y, z]:
            return Box.of(x, y, z)
        case "ellipsoid", [x, y, z]:
            return Ellipsoid(vec3(x, y, z))
        case "plane", _:
            return Plane()
    return None
