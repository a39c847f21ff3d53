# SPDX-License-Identifier: Apache-2.0
"""Prims and attributes of MuJoCo's schemas: tendons, keyframes, contact pairs, options at the root.

A tendon's path names each target once and lists the order by index; a spatial path is cut into segments, a pulley
stands where one begins.  The length of a fixed tendon with a hinge in it has no unit; with slides only it is a length,
as in spatial ones.  PhysX tendons have another law and stay extras.  An asset brings no physics scene, so the options
of the file it was made from are attributes of its root; what a scene on the stage says comes first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from simwright.core.diag import Level, declare
from simwright.core.math3d import Array, vec3
from simwright.formats.usd.attributes import read_settings
from simwright.formats.usd.joints import choose_dof
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.notes import numbers, texts
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader, as_rows
from simwright.model.asset import ContactPair, Environment, Keyframe
from simwright.model.joint import Dof, Equality, EqualityKind, Motion, Tendon, TendonPoint

Range = tuple[float, float]


def read_range(
    reader: StageReader, scan: StageScan, found: FoundPrim, name: str, switch: str
) -> Range | None:
    """``mjc:NAME:min`` and ``max`` where they count; "auto" means that they count if they are not empty."""
    low = reader.get_number(found, f"mjc:{name}:min", 0.0)
    high = reader.get_number(found, f"mjc:{name}:max", 0.0)
    limited = reader.get_text(found, f"mjc:{switch}", "auto")
    if limited == "true":
        return low, high
    # MuJoCo: min = max = 0 means that no range was given
    if limited == "auto" and low < high and _limits_itself(reader, scan):
        return low, high
    return None


def _limits_itself(reader: StageReader, scan: StageScan) -> bool:
    """MuJoCo's compiler flag "autolimits"."""
    return all(reader.get_flag(scene.prim, "mjc:compiler:autoLimits", True) for scene in scan.scenes[:1])


TENDON_INVALID = declare(
    "usd-tendon-invalid",
    Level.ERROR,
    "tendon {name!r} is left out: {why}",
    hint="a fixed tendon goes over joints with a coefficient each, a spatial one through sites and geometry",
    doc="The path of a MuJoCo tendon does not fit together or names something that was not read.",
    loss=True,
)
TENDON_PHYSX = declare(
    "usd-tendon-physx",
    Level.WARNING,
    "{count} prim(s) are part of PhysX tendons, the first at {first}; they are kept as extras only",
    hint="for other engines express the coupling with MjcTendon prims or a mimic joint",
    doc="PhysX tendons scale lengths and forces apart from each other, which the neutral tendon does not.",
)


class _TendonPathError(Exception):
    """The path does not fit together; the message says how."""


def read_tendons(reader: StageReader, scan: StageScan) -> None:
    """Add every MuJoCo tendon; report PhysX ones."""
    prims = scan.list_sorts(lambda sort: sort.type == "MjcTendon")
    names = name_prims(prims, noted=reader.noted)
    for found in prims:
        try:
            tendon = _read_tendon(reader, scan, found, names[found.path])
        except _TendonPathError as why:
            where = reader.where(found, "mjc:path")
            reader.reporter.report(TENDON_INVALID, where, name=names[found.path], why=why)
        else:
            reader.tendons[found.path] = tendon.name
            reader.asset.tendons.append(tendon)
    physx = scan.list_sorts(lambda sort: any(api.startswith("PhysxTendon") for api in sort.apis))
    if physx:
        where = reader.where(physx[0].prim)
        reader.reporter.report(TENDON_PHYSX, where, count=len(physx), first=physx[0].path)


def _read_tendon(reader: StageReader, scan: StageScan, found: FoundPrim, name: str) -> Tendon:
    prim, units = found.prim, reader.units
    fixed = reader.get_text(prim, "mjc:type", "spatial") == "fixed"
    path, plain = _read_sum(reader, found) if fixed else (list(_read_route(reader, found)), False)
    # with a hinge in it the sum is an angle: neither lengths nor forces have stage units
    length = 1.0 if plain else units.length
    gain = units.inertia if plain else units.mass
    effort = units.inertia if plain else units.force

    def read(attribute: str, factor: float) -> float:
        return reader.get_number(prim, f"mjc:{attribute}", 0.0) * factor

    tendon = Tendon(
        name=name,
        path=path,
        stiffness=read("stiffness", gain),
        damping=read("damping", gain),
        friction=read("frictionloss", effort),
        armature=read("armature", gain),
        width=reader.get_number(prim, "mjc:width", 0.003) * units.length,
        source=reader.where(prim),
    )
    limits = read_range(reader, scan, found, "range", "limited")
    if limits is not None:
        tendon.lower, tendon.upper = limits[0] * length, limits[1] * length
    rest = as_rows(reader.get(prim, "mjc:springlength"), 1)[:, 0] * length
    # -1 asks MuJoCo to take the length at the start
    if len(rest) and rest[0] != -length:
        tendon.rest_length = (float(rest[0]), float(rest[-1]))
    return tendon


# the unit of the sum is known only when all its joints are
def _read_sum(reader: StageReader, found: FoundPrim) -> tuple[list[TendonPoint], bool]:
    """Joints with their coefficients, and whether the sum has no unit."""
    targets, order = _read_order(reader, found)
    coefficients = _read_numbers(reader, found, "mjc:path:coef", len(order))
    joints = {joint.path: joint for joint in reader.asset.joints if joint.path in targets}
    names = texts(reader.note(found).get("dofs"))
    points, turning = [], []
    for place, (index, coefficient) in enumerate(zip(order, coefficients, strict=True)):
        joint = joints.get(targets[index])
        dof = None if joint is None else choose_dof(joint)
        if joint is not None and len(names) == len(order):
            dof = next((dof for dof in joint.dofs if dof.name == names[place]), dof)
        if dof is None:
            raise _TendonPathError(
                f"{targets[index]} is not a joint with one degree of freedom that was read"
            )
        turning.append(dof.motion is Motion.HINGE)
        points.append(TendonPoint("joint", dof.name, coefficient))
    plain = any(turning)
    for point, turns in zip(points, turning, strict=True):
        # a slide in such a sum counts per stage length
        if plain and not turns:
            point.value /= reader.units.length
    return points, plain


def _read_route(reader: StageReader, found: FoundPrim) -> Iterator[TendonPoint]:
    """Sites, wraps and pulleys in order."""
    targets, order = _read_order(reader, found)
    sides = reader.get_targets(found, "mjc:sideSites")
    beside = _read_integers(reader, found, "mjc:sideSites:indices", len(order), -1)
    segments = _read_integers(reader, found, "mjc:path:segments", len(order), 0)
    divisors = as_rows(reader.get(found, "mjc:path:divisors"), 1)[:, 0]
    current = 0
    for place, (index, side, segment) in enumerate(zip(order, beside, segments, strict=True)):
        divisor = float(divisors[segment]) if 0 <= segment < len(divisors) else 1.0
        # the first segment needs a pulley only if it divides
        if segment != current or (place == 0 and divisor != 1.0):
            current = segment
            yield TendonPoint("pulley", value=divisor)
        if side >= len(sides):
            raise _TendonPathError(f"it has no side site {side}")
        yield _read_point(reader, targets[index], sides[side] if side >= 0 else "")


def _read_point(reader: StageReader, target: str, side: str) -> TendonPoint:
    if target in reader.sites:
        return TendonPoint("site", reader.sites[target])
    shape = reader.find_shape(target)
    if not shape:
        raise _TendonPathError(f"{target} is not a site or geometry that was read")
    if side and side not in reader.sites:
        raise _TendonPathError(f"its side site {side} is not a site that was read")
    return TendonPoint("wrap", shape, side=reader.sites[side] if side else "")


def _read_order(reader: StageReader, found: FoundPrim) -> tuple[list[str], list[int]]:
    """The targets, and the order in which the path visits them."""
    targets = reader.get_targets(found, "mjc:path")
    if not targets:
        raise _TendonPathError("its path is empty")
    indices = as_rows(reader.get(found, "mjc:path:indices"), 1)[:, 0]
    if not np.all(np.isfinite(indices)):
        raise _TendonPathError("its order is not made of whole numbers")
    order = [int(v) for v in indices] if len(indices) else list(range(len(targets)))
    if min(order) < 0 or max(order) >= len(targets):
        raise _TendonPathError(f"its order names target {max(order)} of {len(targets)}")
    return targets, order


def _read_numbers(reader: StageReader, found: FoundPrim, name: str, count: int) -> list[float]:
    values = as_rows(reader.get(found, name), 1)[:, 0]
    if len(values) != count or not np.all(np.isfinite(values)):
        raise _TendonPathError(f"{name} does not hold {count} numbers")
    return [float(v) for v in values]


def _read_integers(reader: StageReader, found: FoundPrim, name: str, count: int, default: int) -> list[int]:
    values = as_rows(reader.get(found, name), 1)[:, 0]
    if len(values) not in (0, count) or not np.all(np.isfinite(values)):
        raise _TendonPathError(f"{name} does not hold {count} numbers")
    return [int(v) for v in values] if len(values) else [default] * count


KEYFRAME_SIZE = declare(
    "usd-keyframe-size",
    Level.ERROR,
    "{attribute} of keyframe {name!r} has {count} numbers, the asset {expected}; it is left out",
    hint="give a number for every coordinate or control, in the order of the joints and actuators",
    doc="A MuJoCo keyframe does not fit the joints and actuators that were read.",
    loss=True,
)
PAIR_INCOMPLETE = declare(
    "usd-contact-pair",
    Level.ERROR,
    "the contact pair {name!r} is left out: {target} is not a collider",
    hint="point mjc:pair:geom1 and geom2 at colliders",
    doc="A pair of colliders with contact settings of its own names something else.",
    loss=True,
)

_PAIR = "mjc:pair:"
_VECTORS = {"gravity": "gravity", "wind": "wind", "magnetic": "magnetic_field"}
_SPACES = ("mjc", "gazebo")


def read_keyframes(reader: StageReader, scan: StageScan) -> None:
    """Keyframes, by the order of joints and actuators; after both are complete."""
    prims = scan.list_sorts(lambda sort: sort.type == "MjcKeyframe")
    names = name_prims(prims, noted=reader.noted)
    dofs = [dof for joint in reader.asset.joints for dof in joint.dofs]
    drives = sum(note.get("stands_for") == "drive" for note in scan.notes.values())
    for found in prims:
        time = reader.get_number(found, "mjc:time", 0.0)
        keyframe = Keyframe(names[found.path], time=time, path=found.path)
        for name, table, sizes in (
            ("qpos", keyframe.positions, [(dof, dof.positions) for dof in dofs]),
            ("qvel", keyframe.velocities, [(dof, dof.velocities) for dof in dofs]),
        ):
            table.update(_read_coordinates(reader, found, name, names, sizes))
        # an actuator may have several controls, which the note then names
        slots = texts(reader.note(found).get("controls")) or [a.name for a in reader.asset.actuators]
        # servos that stand for drives come last, and are no actuators
        controls = _read_state(reader, found, "mjc:ctrl", names, len(slots) + drives)
        # an empty array says nothing about controls
        keyframe.controls |= dict(zip(slots, controls, strict=False))
        reader.asset.keyframes.append(keyframe)


def _read_coordinates(
    reader: StageReader, found: FoundPrim, name: str, names: dict[str, str], sizes: list[tuple[Dof, int]]
) -> dict[str, Any]:
    """Positions or velocities of a keyframe by freedom."""
    # Simwright notes balls beside the array, which MuJoCo would not take with them
    noted = numbers(reader.note(found).get(f"balls_{name}"), finite=True)
    balls = [row for row in sizes if noted and row[0].motion is Motion.BALL]
    rest = [row for row in sizes if row not in balls]
    told = _read_state(reader, found, f"mjc:{name}", names, sum(size for _, size in rest))
    result: dict[str, Any] = {}
    for values, rows in ((told, rest), (noted, balls)):
        if len(values) == sum(size for _, size in rows):
            result |= _deal(values, [dof for dof, _ in rows], [size for _, size in rows])
    return result


def _read_state(
    reader: StageReader, found: FoundPrim, attribute: str, names: dict[str, str], expected: int
) -> list[float]:
    values = [float(v) for v in as_rows(reader.get(found, attribute), 1)[:, 0]]
    if values and (len(values) != expected or not all(map(math.isfinite, values))):
        where = reader.where(found, attribute)
        reader.reporter.report(
            KEYFRAME_SIZE,
            where,
            attribute=attribute,
            name=names[found.path],
            count=len(values),
            expected=expected,
        )
        return []
    return values


def _deal(values: list[float], dofs: Sequence[Dof], sizes: Sequence[int]) -> dict[str, Any]:
    """Each freedom its numbers."""
    result: dict[str, Any] = {}
    start = 0
    for dof, size in zip(dofs, sizes, strict=True):
        part = values[start : start + size]
        start += size
        if len(part) == size:
            result[dof.name] = part[0] if size == 1 else part
    return result


def read_pairs(reader: StageReader, scan: StageScan) -> None:
    """Colliders that always touch."""
    prims = [f for f in scan.list_authors(f"{_PAIR}geom1") if f.prim.HasRelationship(f"{_PAIR}geom1")]
    names = name_prims(prims, noted=reader.noted)
    for found in prims:
        ends = [reader.get_targets(found, f"{_PAIR}geom{number}")[:1] for number in (1, 2)]
        shapes = [reader.find_shape(end[0]) if end else "" for end in ends]
        if not all(shapes):
            missing = ends[shapes.index("")]
            target = missing[0] if missing else "nothing"
            where = reader.where(found)
            reader.reporter.report(PAIR_INCOMPLETE, where, name=names[found.path], target=target)
            continue
        reader.asset.contact_pairs.append(
            ContactPair(
                shapes[0],
                shapes[1],
                names[found.path],
                read_settings(reader, found, _PAIR, {"geom1", "geom2"}),
                reader.where(found),
            )
        )


def read_tendon_equalities(reader: StageReader, scan: StageScan) -> None:
    """Tendons that are held to each other or to a length."""
    for path, name in reader.tendons.items():
        found = scan.all[path]
        if not found.may_author("mjc:equality:coef"):
            continue
        targets = reader.get_targets(found, "mjc:equality:tendon")
        polynomial = tuple(float(v) for v in as_rows(reader.get(found, "mjc:equality:coef"), 1)[:, 0])
        if (targets and targets[0] not in reader.tendons) or not all(map(math.isfinite, polynomial)):
            continue
        reader.asset.equalities.append(
            Equality(
                name=reader.get_text(found, "mjc:equality:name", name),
                kind=EqualityKind.TENDON,
                a=name,
                b=reader.tendons[targets[0]] if targets else "",
                polynomial=polynomial,
                enabled=reader.get_flag(found, "mjc:equality:active", True),
                source=reader.where(found),
            )
        )


# vectors, the step, other settings and flags in one place: all are options of the same prim
def read_root_options(reader: StageReader, scan: StageScan) -> None:
    """Options at the root of an asset; what a physics scene says itself wins over them."""
    prim = reader.stage.GetDefaultPrim()
    found = scan.all.get(str(prim.GetPath())) if prim else None
    world = reader.asset.environment
    if found is None:
        return
    has_rate = _has_rate(reader, scan)
    for space in _SPACES:
        for key, value in read_settings(reader, found, f"{space}:option:", set()).items():
            if key in _VECTORS:
                vector = numbers(value, finite=True)
                _set_vector(world, _VECTORS[key], vec3(*vector) if len(vector) == 3 else None)
            elif key == "timestep":
                # every scene has a rate by the fallback of a schema; only an authored one counts
                if not has_rate:
                    is_step = isinstance(value, (int, float)) and 0.0 < value < math.inf
                    world.timestep = float(value) if is_step else None
            else:
                world.settings[key] = value
        for key, value in read_settings(reader, found, f"{space}:flag:", set()).items():
            flags = world.settings.setdefault("enable" if value else "disable", [])
            flags.append(key)


def _has_rate(reader: StageReader, scan: StageScan) -> bool:
    """Does the first scene say how long a step is?"""
    scene = reader.authored.get(scan.scenes[0].path, {}) if scan.scenes else {}
    return any(name.endswith(_STEP_NAMES) for name in scene)


_STEP_NAMES = ("option:timestep", "timeStepsPerSecond")


def _set_vector(world: Environment, field: str, vector: Array | None) -> None:
    """Set a vector of the world, unless the gravity of a scene is another one: a scene is what users edit.

    A scene has gravity in single precision, so the same gravity is taken from the root.
    """
    known = world.gravity if field == "gravity" else None
    if known is None or (vector is not None and np.allclose(known, vector, rtol=1e-6, atol=1e-6)):
        setattr(world, field, vector)
