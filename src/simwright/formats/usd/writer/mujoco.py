# SPDX-License-Identifier: Apache-2.0
"""``mujoco.usda``: tendons, actuators, contact pairs, keyframes, couplings (REP-0158 1.4)."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.extended_physics import claim_actuator, is_neutral
from simwright.formats.usd.writer.joints import SINGLE
from simwright.formats.usd.writer.layer import LayerWriter, write_plain
from simwright.formats.usd.writer.messages import NOT_CARRIED, SETTING_LOST
from simwright.formats.usd.writer.plan import WritePlan
from simwright.formats.usd.writer.solids import describe_primitive, is_primitive
from simwright.model.asset import Actuator, Keyframe
from simwright.model.geometry import Mesh, Sphere
from simwright.model.joint import Dof, Equality, EqualityKind, Motion, Tendon
from simwright.model.ros import OPTICAL
from simwright.model.servo import is_servo, make_law, make_servo

EQUALITY = "mjc:equality"
_FLAT = 1e-6
_MARKER = Sphere(0.005)
"""What MuJoCo draws for a site of which nothing else is said."""
_TENDON_NUMBERS = {
    "stiffness": "stiffness",
    "damping": "damping",
    "friction": "frictionloss",
    "armature": "armature",
}


def write_markers(plan: WritePlan, layer: LayerWriter) -> None:
    """Sites as geometry, and flat visuals as shells, in assets for MuJoCo alone.

    Its reader (4.0.0) takes a frame for a site only where it is a primitive, and refuses a mesh without volume that is
    no shell, whether or not it has mass.
    """
    if not plan.is_for_mujoco:
        return
    optical = set(plan.optical.values())
    for site in plan.asset.sites:
        path = plan.sites[site.name]
        drawn = site.geometry if site.geometry is not None and is_primitive(site.geometry) else _MARKER
        kind, sizes, stretch = describe_primitive(drawn, np.ones(3))
        layer.define(path, kind)
        layer.apply(path, "MjcSiteAPI")
        layer.set(path, "purpose", "token", "guide", uniform=True)
        for name, size in sizes.items():
            layer.set(path, name, "double", size)
        if np.any(stretch != 1.0):
            layer.place(path, OPTICAL if path in optical else site.pose, stretch.tolist())
        if drawn is not site.geometry:
            layer.note(path, marker="none")
    for shape in plan.asset.shapes:
        path = plan.visuals.get(shape.name, "")
        if path and isinstance(shape.geometry, Mesh) and _is_flat(shape.geometry):
            # the schema brings PhysicsCollisionAPI along, so a visual has to be none of the colliders
            layer.apply(path, "MjcMeshCollisionAPI")
            layer.set(path, "mjc:inertia", "token", "shell", uniform=True)
            layer.set(path, "physics:collisionEnabled", "bool", False)


def _is_flat(mesh: Mesh) -> bool:
    """Do all vertices lie in a plane?"""
    points = mesh.data.vertices - mesh.data.vertices.mean(axis=0)
    extents = np.ptp(points @ np.linalg.eigh(points.T @ points)[1], axis=0)
    return bool(extents.min() <= _FLAT * extents.max())


def write_tendons(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Tendons whose points are all written; the others are reported."""
    lost = []
    for tendon in plan.asset.tendons:
        if any(not _find_point(plan, kind, name) for kind, name in _list_points(tendon)):
            lost.append(tendon)
            continue
        scope = f"{plan.root}/Tendons"
        layer.define(scope, "Scope")
        path = plan.tendons[tendon.name] = plan.names.claim(scope, tendon.name)
        layer.define(path, "MjcTendon")
        layer.name(path, tendon.name)
        _write_tendon(plan, layer, path, tendon)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="tendons", first=lost[0].name)
    _write_equalities(plan, layer, reporter)


def _list_points(tendon: Tendon) -> list[tuple[str, str]]:
    points = [(point.kind, point.name) for point in tendon.path if point.kind != "pulley"]
    return points + [("site", point.side) for point in tendon.path if point.side]


def _find_point(plan: WritePlan, kind: str, name: str) -> str:
    match kind:
        case "joint":
            return plan.freedoms.get(name, ("", ""))[0]
        case "site":
            return plan.sites.get(name, "")
    return plan.collider_prims.get(name) or plan.visuals.get(name, "")


def _write_tendon(plan: WritePlan, layer: LayerWriter, path: str, tendon: Tendon) -> None:
    is_fixed = bool(tendon.path) and tendon.path[0].kind == "joint"
    layer.set(path, "mjc:type", "token", "fixed" if is_fixed else "spatial", uniform=True)
    (_write_sum if is_fixed else _write_route)(plan, layer, path, tendon)
    for field, name in _TENDON_NUMBERS.items():
        if getattr(tendon, field):
            layer.set(path, f"mjc:{name}", "double", getattr(tendon, field), uniform=True)
    # MuJoCo's own default
    if tendon.width != Tendon("").width:
        layer.set(path, "mjc:width", "double", tendon.width, uniform=True)
    if math.isfinite(tendon.lower) or math.isfinite(tendon.upper):
        for end, value in (("min", tendon.lower), ("max", tendon.upper)):
            layer.set(path, f"mjc:range:{end}", "double", value, uniform=True)
        layer.set(path, "mjc:limited", "token", "true", uniform=True)
    if tendon.rest_length is not None:
        layer.set(path, "mjc:springlength", "double[]", tendon.rest_length, uniform=True)


def _write_sum(plan: WritePlan, layer: LayerWriter, path: str, tendon: Tendon) -> None:
    """Joints with coefficients; freedoms of generic joints are noted by name."""
    targets, order = _index(_find_point(plan, "joint", point.name) for point in tendon.path)
    layer.relate(path, "mjc:path", targets)
    layer.set(path, "mjc:path:indices", "int[]", order, uniform=True)
    layer.set(path, "mjc:path:coef", "double[]", [point.value for point in tendon.path], uniform=True)
    if any(plan.freedoms[point.name][1] not in SINGLE for point in tendon.path):
        layer.note(path, dofs=[point.name for point in tendon.path])


def _index(paths: Iterable[str]) -> tuple[list[str], list[int]]:
    """Each path once, and the order in which they come."""
    known: dict[str, int] = {}
    order = [known.setdefault(path, len(known)) for path in paths]
    return list(known), order


def _write_route(plan: WritePlan, layer: LayerWriter, path: str, tendon: Tendon) -> None:
    """Points, the segment each is in, and the divisor of each segment; a pulley begins a segment."""
    places: list[str] = []
    beside: list[int] = []
    segments: list[int] = []
    divisors = [1.0]
    sides: dict[str, int] = {}
    for point in tendon.path:
        if point.kind == "pulley":
            # a pulley at the start replaces the divisor of the first segment
            divisors = [point.value] if not places and len(divisors) == 1 else [*divisors, point.value]
            continue
        places.append(_find_point(plan, point.kind, point.name))
        side = plan.sites.get(point.side, "") if point.side else ""
        beside.append(sides.setdefault(side, len(sides)) if side else -1)
        segments.append(len(divisors) - 1)
    targets, order = _index(places)
    layer.relate(path, "mjc:path", targets)
    arrays: dict[str, tuple[str, list[float] | list[int]]] = {
        "path:indices": ("int[]", order),
        "path:segments": ("int[]", segments),
        "path:divisors": ("double[]", divisors),
    }
    if sides:
        layer.relate(path, "mjc:sideSites", list(sides))
        arrays["sideSites:indices"] = ("int[]", beside)
    for name, (kind, values) in arrays.items():
        layer.set(path, f"mjc:{name}", kind, values, uniform=True)


def _write_equalities(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    lost: list[Equality] = []
    held: set[str] = set()
    for equality in plan.asset.equalities:
        if equality.name in plan.equalities:
            continue
        first, second = plan.tendons.get(equality.a), plan.tendons.get(equality.b, "")
        is_known = equality.kind is EqualityKind.TENDON and (second or not equality.b)
        # attributes of the equality are on the tendon, which can hold one
        if not first or not is_known or first in held:
            lost.append(equality)
            continue
        held.add(first)
        plan.equalities[equality.name] = first
        layer.set(first, f"{EQUALITY}:name", "string", equality.name, custom=True)
        layer.set(first, f"{EQUALITY}:coef", "double[]", equality.polynomial, custom=True)
        layer.set(first, f"{EQUALITY}:active", "bool", equality.enabled, custom=True)
        if second:
            layer.relate(first, f"{EQUALITY}:tendon", [second], custom=True)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="equalities", first=lost[0].name)


_LAW = ("gain", "bias", "dynamics")
_LAW_TYPES = {"gain": "gainType", "bias": "biasType", "dynamics": "dynType"}
_LAW_NUMBERS = {"gain": "gainPrm", "bias": "biasPrm", "dynamics": "dynPrm"}
_SAID = frozenset(
    {
        "mjcf", "activation_range", "activation_early", "length_range", "crank_length", "slider_site",
        "reference_site", "effort_table", *_LAW, *(f"{key}_type" for key in _LAW),
    }
)  # fmt: skip
SETTING = "mjc:setting"


def write_mjc_actuators(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """MjcActuator prims; those of neutral actuators are the same prims with a type."""
    lost = []
    for actuator in plan.asset.actuators:
        if is_neutral(plan, actuator):
            path = plan.actuators[actuator.name]
            layer.define(path, "MjcActuator")
            _write_mjc_actuator(plan, layer, path, actuator, find_target(plan, actuator))
            _write_settings(plan, layer, path, actuator)
            _write_idle(layer, path, actuator)
            continue
        # idle actuators got their prim in extended_physics.usda
        if actuator.name in plan.actuators:  # it drives nothing
            continue
        target = find_target(plan, actuator)
        if not target:
            lost.append(actuator)
            continue
        path = claim_actuator(plan, layer, actuator)
        layer.define(path, "MjcActuator")
        _write_mjc_actuator(plan, layer, path, actuator, target)
        _write_settings(plan, layer, path, actuator)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="actuators", first=lost[0].name)
    _order_actuators(plan, layer)
    if plan.is_for_mujoco:
        _write_drives(plan, layer, reporter)


def _write_drives(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """A servo for each drive: MuJoCo's reader (4.0.0) knows actuators only.  Readers leave these to the drives."""
    accelerating, aimed = [], []
    for dof in _list_driven(plan):
        assert dof.drive is not None
        if not is_servo(dof.drive):
            accelerating.append(dof)
            continue
        if dof.drive.target_position or dof.drive.target_velocity:
            aimed.append(dof)
        servo = make_servo(dof, dof.drive)
        scope = f"{plan.root}/Actuators"
        layer.define(scope, "Scope")
        path = plan.names.claim(scope, servo.name)
        layer.define(path, "MjcActuator")
        layer.note(path, stands_for="drive")
        _write_mjc_actuator(plan, layer, path, servo, plan.freedoms[dof.name][0])
    for dofs, what in (
        (accelerating, "the drive by acceleration, in MuJoCo,"),
        (aimed, "the first target of the drive, in MuJoCo,"),
    ):
        if dofs:
            reporter.report(SETTING_LOST, what=what, count=len(dofs), first=dofs[0].name)


def _list_targets(plan: WritePlan) -> list[float]:
    """Commands of the servos that stand for drives, which come after those of actuators."""
    drives = [dof.drive for dof in _list_driven(plan) if dof.drive is not None] if plan.is_for_mujoco else []
    return [drive.target_position for drive in drives if is_servo(drive)]


def _list_driven(plan: WritePlan) -> list[Dof]:
    """Freedoms with a drive at prims of their own, in order."""
    dofs = [dof for joint in plan.asset.joints if joint.name in plan.joints for dof in joint.dofs]
    return [dof for dof in dofs if dof.drive is not None and plan.freedoms[dof.name][1] in SINGLE]


def _order_actuators(plan: WritePlan, layer: LayerWriter) -> None:
    """MuJoCo counts commands of keyframes by the order of prims, and those of weaker layers come first."""
    written = [plan.actuators[a.name] for a in plan.asset.actuators if a.name in plan.actuators]
    if written and len({is_neutral(plan, a) for a in plan.asset.actuators}) > 1:
        layer.over(f"{plan.root}/Actuators").nameChildrenOrder = [path.rpartition("/")[2] for path in written]


def find_target(plan: WritePlan, actuator: Actuator) -> str:
    """The prim that an actuator acts on; empty if it is not written."""
    name = actuator.target
    match actuator.transmission:
        case "tendon":
            return plan.tendons.get(name, "")
        case "site" | "slider_crank":
            return plan.sites.get(name, "")
        case "body":
            return plan.bodies.get(name) or plan.sites.get(name, "")
    return plan.freedoms.get(name, (plan.sites.get(name, ""), ""))[0]


def _write_mjc_actuator(
    plan: WritePlan, layer: LayerWriter, path: str, actuator: Actuator, target: str
) -> None:
    layer.relate(path, "mjc:target", [target])
    word = plan.freedoms.get(actuator.target, ("", ""))[1]
    plain = ("tendon", "site", "body", "slider_crank")
    if actuator.transmission not in plain and word not in SINGLE:
        layer.note(path, target=actuator.target, transmission=actuator.transmission)
    if actuator.transmission == "joint_in_parent":
        layer.set(path, "mjc:jointInParent", "bool", True, uniform=True)
    law = {**make_law(actuator.kind, actuator.stiffness, actuator.damping), **actuator.settings}
    for key in _LAW:
        layer.set(path, f"mjc:{_LAW_TYPES[key]}", "token", law[f"{key}_type"], uniform=True)
        layer.set(path, f"mjc:{_LAW_NUMBERS[key]}", "double[]", law[key], uniform=True)
    # the schema's array has six entries, for transmissions on sites
    gear = [*actuator.gear, *[0.0] * (6 - len(actuator.gear))]
    layer.set(path, "mjc:gear", "double[]", gear, uniform=True)
    for word, limits in (("ctrl", actuator.control_range), ("force", actuator.force_range)):
        if limits is not None:
            _write_range(layer, path, word, limits)


def _write_idle(layer: LayerWriter, path: str, actuator: Actuator) -> None:
    """How a lag is stepped, and numbers that the law does not use, such as a bias that is switched off."""
    law = actuator.settings
    if law.get("dynamics_type") == "filterexact":
        write_plain(layer, path, f"{SETTING}:dynamics_type", "filterexact")
    for key in _LAW:
        used = {"fixed": 1, "affine": 3, "filter": 1, "filterexact": 1}.get(law.get(f"{key}_type", "none"), 0)
        usual = make_law("motor")[key]
        if any(a != b for a, b in zip(law.get(key, usual)[used:], usual[used:], strict=False)):
            write_plain(layer, path, f"{SETTING}:{key}", law[key])


def _write_range(layer: LayerWriter, path: str, word: str, limits: Any) -> None:
    for end, value in zip(("min", "max"), limits, strict=True):
        layer.set(path, f"mjc:{word}Range:{end}", "double", value, uniform=True)
    layer.set(path, f"mjc:{word}Limited", "token", "true", uniform=True)


def _write_settings(plan: WritePlan, layer: LayerWriter, path: str, actuator: Actuator) -> None:
    settings = actuator.settings
    for key, name in (("slider_site", "sliderSite"), ("reference_site", "refSite")):
        if settings.get(key) in plan.sites:
            layer.relate(path, f"mjc:{name}", [plan.sites[settings[key]]])
    if "activation_range" in settings:
        _write_range(layer, path, "act", settings["activation_range"])
    if settings.get("activation_early"):
        layer.set(path, "mjc:actEarly", "bool", True, uniform=True)
    if "crank_length" in settings:
        layer.set(path, "mjc:crankLength", "double", settings["crank_length"], uniform=True)
    for end, value in zip(("min", "max"), settings.get("length_range", ()), strict=False):
        layer.set(path, f"mjc:lengthRange:{end}", "double", value, uniform=True)
    for key, value in settings.items():
        if key not in _SAID:
            write_plain(layer, path, f"{SETTING}:{key}", value)


def write_keyframes(plan: WritePlan, layer: LayerWriter, reporter: Reporter) -> None:
    """Every keyframe as an MjcKeyframe prim.

    MuJoCo's reader (4.0.0) has no ball joints, and refuses a file with a keyframe that counts them: they are noted.
    """
    dofs = [dof for joint in plan.asset.joints for dof in joint.dofs]
    counted = [dof for dof in dofs if dof.motion is not Motion.BALL]
    balls = [dof for dof in dofs if dof.motion is Motion.BALL]
    # a keyframe is an array over all coordinates, so one that names an unknown freedom has no array
    lost = [key for key in plan.asset.keyframes if not _fits(key, dofs)]
    for keyframe in plan.asset.keyframes:
        if keyframe not in lost:
            _write_keyframe(plan, layer, keyframe, counted, balls)
    if lost:
        reporter.report(NOT_CARRIED, count=len(lost), what="keyframes", first=lost[0].name)


def _write_keyframe(
    plan: WritePlan, layer: LayerWriter, keyframe: Keyframe, counted: list[Dof], balls: list[Dof]
) -> None:
    scope = f"{plan.root}/Keyframes"
    layer.define(scope, "Scope")
    path = plan.names.claim(scope, keyframe.name)
    plan.keyframes[keyframe.name] = path
    layer.define(path, "MjcKeyframe")
    layer.name(path, keyframe.name)
    for name, table, default in (
        ("qpos", keyframe.positions, _neutral),
        ("qvel", keyframe.velocities, _still),
    ):
        if table:
            layer.set(path, f"mjc:{name}", "double[]", _collect(counted, table, default))
            if balls:
                layer.note(path, **{f"balls_{name}": _collect(balls, table, default)})
    if keyframe.controls:
        _write_controls(plan, layer, path, keyframe)
    if keyframe.time:
        write_plain(layer, path, "mjc:time", keyframe.time)


def _fits(keyframe: Keyframe, dofs: list[Dof]) -> bool:
    sizes = {dof.name: (dof.positions, dof.velocities) for dof in dofs}
    tables = (keyframe.positions, keyframe.velocities)
    return all(
        name in sizes and np.size(value) == sizes[name][number]
        for number, table in enumerate(tables)
        for name, value in table.items()
    )


def _collect(dofs: list[Dof], table: dict[str, Any], default: Any) -> list[float]:
    parts = [np.atleast_1d(table.get(dof.name, default(dof))) for dof in dofs]
    return [float(v) for part in parts for v in part]


def _neutral(dof: Dof) -> Any:
    """Where a freedom is that a keyframe says nothing of."""
    if dof.motion is Motion.FREE and dof.position is not None:
        return dof.position
    return dof.neutral()


def _still(dof: Dof) -> Any:
    return np.zeros(dof.velocities)


def _write_controls(plan: WritePlan, layer: LayerWriter, path: str, keyframe: Keyframe) -> None:
    """Controls in the order of the actuators; an actuator with several has ``name[0]`` and so on.

    Those that drive nothing are no actuators to MuJoCo, which refuses a file with a keyframe that counts them.
    """
    written = [actuator for actuator in plan.asset.actuators if actuator.name in plan.actuators]
    names = [actuator.name for actuator in written if find_target(plan, actuator)]
    slots = []
    for name in names:
        several = [
            f"{name}[{i}]" for i in range(len(keyframe.controls)) if f"{name}[{i}]" in keyframe.controls
        ]
        slots += several or [name]
    values = [keyframe.controls.get(slot, 0.0) for slot in slots]
    layer.set(path, "mjc:ctrl", "double[]", [*values, *_list_targets(plan)])
    # names of slots are only noted where they are not those of the actuators
    if len(names) < len(written) or any("[" in slot for slot in slots):
        layer.note(path, controls=slots)


_EQUALITY_APIS = {EqualityKind.CONNECT: "MjcEqualityConnectAPI", EqualityKind.WELD: "MjcEqualityWeldAPI"}


def write_couplings(plan: WritePlan, layer: LayerWriter) -> None:
    """Couplings of joints, and that joints which close loops are MuJoCo's connects and welds.

    Without the schema MuJoCo's reader leaves these joints out, and Newton closes them with its own softness.
    """
    said: set[str] = set()
    for mimic in plan.asset.mimics:
        path, word = plan.freedoms.get(mimic.follower, ("", ""))
        leader, other = plan.freedoms.get(mimic.leader, ("", ""))
        if word in SINGLE and other in SINGLE and path not in said:
            said.add(path)
            layer.apply(path, "MjcEqualityJointAPI")
            layer.relate(path, "mjc:target", [leader])
            for power, value in enumerate((mimic.offset, mimic.multiplier, *mimic.polynomial)):
                layer.set(path, f"mjc:coef{power}", "double", value, uniform=True)
    for equality in plan.asset.equalities:
        path = plan.equalities.get(equality.name, "")
        if not path or equality.kind not in _EQUALITY_APIS:
            continue
        layer.apply(path, _EQUALITY_APIS[equality.kind])
        if equality.torque_scale != 1.0:
            layer.set(path, "mjc:torqueScale", "float", equality.torque_scale, uniform=True)
