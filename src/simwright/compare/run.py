# SPDX-License-Identifier: Apache-2.0
"""The comparison: pair the two assets, then go through the sections that were asked for.

The sections that go by name alone are compared here: sensors, cameras, lights, keyframes, the ROS side (interfaces,
controllers, namespaces), and what the world as a whole says (gravity, options).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from simwright.compare.constraints import (
    compare_actuators,
    compare_constraints,
    compare_drives,
    compare_materials,
    compare_mujoco,
)
from simwright.compare.difference import (
    SECTIONS,
    CompareSettings,
    Difference,
    DifferenceItem,
    DifferenceSection,
    ValueComparer,
    measure,
)
from simwright.compare.dynamics import GRAVITY, compare_motion, compare_poses
from simwright.compare.pairing import (
    ComparedAsset,
    Pairing,
    pair_assets,
    pair_by_name,
    prepare_asset,
    same_name,
    speaks_mujoco,
)
from simwright.compare.shapes import compare_contacts, compare_shapes
from simwright.compare.structure import (
    compare_bodies,
    compare_frames,
    compare_joints,
    compare_limits,
    compare_masses,
    compare_order,
)
from simwright.model.asset import Asset
from simwright.model.elements import Keyframe
from simwright.model.ros import Controller, Interface, find_frame

_CAMERA = ("fov_y", "orthographic_height", "resolution", "near", "far")
_MUJOCO_CAMERA: dict[str, Any] = {"principal": (0.0, 0.0)}
_MUJOCO_KEYFRAME: dict[str, Any] = {"act": None}
_LIGHT = ("kind", "color", "intensity", "radius", "cone", "range", "cast_shadows")


def compare_sensors(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Kind, place, rate, what is measured and settings."""
    for element, a, b in _pair(section, pairing, "sensors", "sensor", ruler):
        ruler.compare(section, element, "kind", a.kind, b.kind)
        ruler.compare(section, element, "rate", a.rate, b.rate)
        if not same_name(a.target or "-", b.target or "-"):
            section.items.append(DifferenceItem(element, "target", a.target, b.target))
        for key in sorted({*a.settings, *b.settings}):
            ruler.compare(section, element, key, a.settings.get(key), b.settings.get(key))


def compare_cameras(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Place, field of view, resolution and clipping."""
    for element, a, b in _pair(section, pairing, "cameras", "camera", ruler):
        for what in _CAMERA:
            ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))
        found = (element, "camera", a, b)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_CAMERA, unsaid=Counter())


def compare_lights(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Kind, place, colour and strength."""
    for element, a, b in _pair(section, pairing, "lights", "light", ruler):
        for what in _LIGHT:
            x, y = getattr(a, what), getattr(b, what)
            ruler.compare(section, element, what.replace("_", " "), x, y)


def _pair(
    section: DifferenceSection, pairing: Pairing, family: str, word: str, ruler: ValueComparer
) -> list[tuple[str, Any, Any]]:
    """Elements of a family that both sides have; the others and wrong places are items."""
    first, second = (getattr(side.asset, family) for side in (pairing.a, pairing.b))
    result = []
    for a, b in pair_by_name(section, word, first, second):
        element = f"{word} {a.name!r}"
        met = pairing.meet((a.body, a.pose), (b.body, b.pose))
        if met is None:
            section.items.append(
                DifferenceItem(element, "hangs on", a.body or "the world", b.body or "the world")
            )
        else:
            ruler.compare_pose(section, element, *met)
        result.append((element, a, b))
    return result


def compare_keyframes(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Named states and the initial state, with coordinates counted alike."""
    _compare_initial(section, pairing, ruler)
    first, second = pairing.a.asset.keyframes, pairing.b.asset.keyframes
    for a, b in pair_by_name(section, "keyframe", first, second):
        element = f"keyframe {a.name!r}"
        for x, y in pairing.freedoms:
            if x.is_base or x.name not in a.positions:
                continue
            found = b.positions.get(y.name)
            # balls and free joints have no zero to be counted from
            if found is not None and isinstance(found, float):
                zeros = pairing.zeros(x, y)
                ours, theirs = a.positions[x.name] - zeros[0], found - zeros[1]
                ruler.compare(section, element, f"position of {x.name!r}", ours, theirs, scale=1.0)
            else:
                ruler.compare(
                    section, element, f"position of {x.name!r}", a.positions[x.name], found, scale=1.0
                )
        # actuators may have been renamed to legal names
        names = {other: same for same in a.controls for other in b.controls if same_name(same, other)}
        controls = {names.get(name, name): value for name, value in b.controls.items()}
        ruler.compare(section, element, "controls", a.controls, controls, scale=1.0)
        ruler.compare(section, element, "time", a.time, b.time, scale=1.0)
        _compare_velocities(section, pairing, ruler, a, b)
        found = (element, "key", a, b)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_KEYFRAME, unsaid=Counter())


def _compare_velocities(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, a: Keyframe, b: Keyframe
) -> None:
    for x, y in pairing.freedoms:
        speeds = a.velocities.get(x.name), b.velocities.get(y.name)
        # a velocity that is not said is zero
        if any(np.any(speed) for speed in speeds if speed is not None):
            element = f"keyframe {a.name!r}"
            ruler.compare(section, element, f"velocity of {x.name!r}", *speeds, scale=1.0)


def _compare_initial(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    for a, b in pairing.freedoms:
        # starts of free bodies are compared as poses
        if a.is_base or a.positions.stop - a.position != 1:
            continue
        section.compared += 1
        values = [dof.ref if dof.position is None else float(dof.position) for dof in (a.dof, b.dof)]
        element = f"DOF {a.name!r}"
        zeros = pairing.zeros(a, b)
        start = values[1] - zeros[1] + zeros[0]
        ruler.compare(section, element, "initial position", values[0], start, scale=1.0)


_INTERFACE = ("qos", "starts_enabled")


def compare_ros(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Interfaces by kind, role, name and type; controllers by name; namespaces."""
    _compare_interfaces(section, pairing, ruler)
    controllers = pairing.a.asset.controllers, pairing.b.asset.controllers
    for a, b in pair_by_name(section, "controller", *controllers):
        _compare_controller(section, pairing, ruler, a, b)
    spaces = [sorted(c.namespace for c in s.asset.contexts if c.namespace) for s in (pairing.a, pairing.b)]
    if spaces[0] != spaces[1]:
        section.items.append(DifferenceItem("asset", "namespaces", spaces[0], spaces[1]))


def _compare_interfaces(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    first, second = ({_key(i): i for i in s.asset.interfaces} for s in (pairing.a, pairing.b))
    unsaid = 0
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        element = f"{key[0]} {key[2]!r}"
        if a is None or b is None:
            told = [None if i is None else f"{i.role} {i.type}" for i in (a, b)]
            section.items.append(DifferenceItem(element, "interface", *told))
            continue
        section.compared += 1
        _compare_interface(section, pairing, ruler, a, b)
        unsaid += (a.rate is None) != (b.rate is None)
    if unsaid:
        section.notes.append(f"rate is said by one side only: {unsaid} topic(s)")


def _compare_interface(
    section: DifferenceSection,
    pairing: Pairing,
    ruler: ValueComparer,
    a: Interface,
    b: Interface,
) -> None:
    element = f"{a.kind} {a.name!r}"
    for what in _INTERFACE:
        x, y = getattr(a, what), getattr(b, what)
        if x != y:
            ruler.compare(section, element, what.replace("_", " "), _plain(x), _plain(y))
    if a.rate is not None and b.rate is not None:
        ruler.compare(section, element, "rate", a.rate, b.rate)
    _compare_frames(section, pairing, element, a, b)
    # "-" stands for no prim: the empty name would equal every name that is made legal to nothing
    if not same_name(a.at or "-", b.at or "-"):
        section.items.append(DifferenceItem(element, "sits on", a.at, b.at))


def _compare_frames(
    section: DifferenceSection, pairing: Pairing, element: str, a: Interface, b: Interface
) -> None:
    """Frames of messages; where neither side names one it follows from the place, which is compared."""
    # without an override the frame follows from the prim, which is compared as "sits on"
    if a.frame_override or b.frame_override:
        frames = find_frame(pairing.a.asset, a), find_frame(pairing.b.asset, b)
        if not same_name(*frames):
            section.items.append(DifferenceItem(element, "frame", *frames))


def _key(interface: Interface) -> tuple[str, str, str, str]:
    return str(interface.kind), interface.role, interface.name, interface.type


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, int | float | str) else str(value)


def _compare_controller(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, a: Controller, b: Controller
) -> None:
    element = f"controller {a.name!r}"
    ruler.compare(section, element, "kind", a.kind, b.kind)
    ruler.compare(section, element, "starts enabled", a.starts_enabled, b.starts_enabled)
    first, second = _list_joints(pairing.a.asset, a), _list_joints(pairing.b.asset, b)
    named = {role: [pairing.joints.get(name, name) for name in names] for role, names in first.items()}
    if named != second:
        section.items.append(DifferenceItem(element, "joints", first, second))
    if a.interfaces != b.interfaces:
        section.items.append(DifferenceItem(element, "interfaces", a.interfaces, b.interfaces))


def _list_joints(asset: Asset, controller: Controller) -> dict[str, list[str]]:
    """Joints by role; a broadcaster of joint states that names none speaks of all that move."""
    said = {role: names for role, names in controller.joints.items() if names}
    if controller.kind != "joint_state_broadcaster" or "state" in said:
        return said
    # ros2_control: a broadcaster without a list reports every joint
    return {**said, "state": [joint.name for joint in asset.joints if joint.dofs]}


def compare_gravity(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """The vector; where a file says nothing it is 9.81 m/s^2 downwards."""
    section.compared = 1
    values = []
    for side, name in ((pairing.a, "first"), (pairing.b, "second")):
        gravity = side.asset.environment.gravity
        # URDF has no word for gravity, and every engine assumes this value
        values.append(np.asarray(GRAVITY if gravity is None else gravity, dtype=np.float64))
        if gravity is None:
            section.notes.append(f"not said by the {name}")
    ruler.compare(section, "world", "gravity", values[0], values[1])


_MUJOCO_OPTIONS: dict[str, Any] = {
    "timestep": 0.002, "wind": (0.0, 0.0, 0.0), "magnetic_field": (0.0, -0.5, 0.0), "disable": [], "enable": [],
}  # fmt: skip
"""What MuJoCo takes where nothing is said; readers leave its other defaults out."""


def compare_options(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Time step, integrator, solver, cone and what else files say to the engine as a whole."""
    first, second = (_list_options(side.asset) for side in (pairing.a, pairing.b))
    known = [speaks_mujoco(side.asset) for side in (pairing.a, pairing.b)]
    unsaid = []
    for name in dict.fromkeys((*first, *second)):
        x, y = first.get(name), second.get(name)
        missing = [value is None and not is_known for value, is_known in zip((x, y), known, strict=True)]
        usual = _MUJOCO_OPTIONS.get(name)
        # of a format without the word only a value that is not MuJoCo's default is worth telling
        if any(missing):
            unsaid += [name] if measure(x if y is None else y, usual) > ruler.rtol else []
            continue
        section.compared += 1
        x, y = (usual if value is None else value for value in (x, y))
        ruler.compare(section, "world", name.replace("_", " "), x, y)
    if unsaid:
        section.notes.append(f"said by one side only: {', '.join(name.replace('_', ' ') for name in unsaid)}")


def _list_options(asset: Asset) -> dict[str, Any]:
    world = asset.environment
    said = {name: getattr(world, name) for name in ("timestep", "wind", "magnetic_field")}
    return {name: value for name, value in {**said, **world.settings}.items() if value is not None}


Compare = Callable[[DifferenceSection, Pairing, ValueComparer], None]


def compare_assets(a: Asset, b: Asset, settings: CompareSettings | None = None) -> Difference:
    """Hold two assets against each other."""
    settings = settings or CompareSettings()
    pairing = pair_assets(prepare_asset(a), prepare_asset(b))
    ruler = ValueComparer(settings.rtol, max(measure_length(pairing.a), measure_length(pairing.b)))
    table = list_sections(settings)
    difference = Difference(a.name, b.name)
    # files hold nan and infinity, and each is reported as a difference
    with np.errstate(all="ignore"):
        for name in settings.sections:
            section = DifferenceSection(name, SECTIONS[name])
            table[name](section, pairing, ruler)
            difference.sections.append(section)
    return difference


def list_sections(settings: CompareSettings) -> dict[str, Compare]:
    """The function of each section."""
    return {
        "bodies": compare_bodies,
        "joints": compare_joints,
        "order": compare_order,
        "limits": compare_limits,
        "constraints": compare_constraints,
        "frames": compare_frames,
        "sensors": compare_sensors,
        "cameras": compare_cameras,
        "lights": compare_lights,
        "ros": compare_ros,
        "poses": partial(compare_poses, settings=settings),
        "keyframes": compare_keyframes,
        "gravity": compare_gravity,
        "options": compare_options,
        "masses": compare_masses,
        "motion": partial(compare_motion, settings=settings),
        "drives": compare_drives,
        "actuators": compare_actuators,
        "visuals": compare_shapes,
        "collisions": compare_shapes,
        "materials": partial(compare_materials, read_image=settings.read_image),
        "contacts": compare_contacts,
    }


def measure_length(side: ComparedAsset) -> float:
    """The size of a machine [m]: the sum of the link offsets on its longest way from a root, at least a millimetre.

    Shapes count as well where there is no such way: a single body is as large as its mass is spread.
    """
    reach: dict[str, float] = {"": 0.0}
    longest = 1e-3
    for name, inertial in side.inertials.items():
        if inertial.mass > 0.0:
            # a single body has no link offsets: its radius of gyration is the only length
            spread = np.sqrt(max(float(np.trace(inertial.inertia)), 0.0) / inertial.mass)
            longest = max(longest, float(spread) + float(np.linalg.norm(inertial.com)))
        reach.setdefault(name, 0.0)
    for edge in side.tree.edges:
        if edge.parent:
            frames = (edge.joint.parent_frame, edge.joint.child_frame)
            reach[edge.child] = reach[edge.parent] + sum(float(np.linalg.norm(f.p)) for f in frames)
            longest = max(longest, reach[edge.child])
    return longest
