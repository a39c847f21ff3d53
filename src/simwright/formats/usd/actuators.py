# SPDX-License-Identifier: Apache-2.0
"""Actuators: the neutral ExtendedPhysicsActuatorAPI (REP-0158 4.2.2), MjcActuator and NewtonActuator prims.

All give the same vocabulary, that of the MJCF reader.  Drives of UsdPhysics are read with the joints.  Units of the
three schemas: degrees (neutral), the compiler's angle (MuJoCo), radians (Newton).
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator
from typing import Any

from simwright.core.diag import Level, declare
from simwright.core.math3d import DEGREE
from simwright.formats.usd.actuator_laws import (
    ACTUATOR_INVALID,
    ACTUATOR_TARGETS,
    ACTUATOR_UNITS,
    ActuatorContext,
    ActuatorRefusedError,
    Law,
    TargetUnits,
    build_actuator,
    find_scale,
    has_units,
    make_law,
    pad,
    read_table,
    scale_law,
)
from simwright.formats.usd.attributes import read_settings
from simwright.formats.usd.joints import choose_dof
from simwright.formats.usd.mujoco import Range, read_range
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader, as_rows
from simwright.formats.usd.units import read_bound
from simwright.model.asset import Actuator
from simwright.model.joint import Dof, Drive, Motion
from simwright.model.servo import make_drive

ACTUATOR_DISABLED = declare(
    "usd-actuator-disabled",
    Level.INFO,
    "actuator {name!r} is switched off; it is left out, its attributes are kept as extras",
    doc="ext_physics:actuator:enabled is false.",
    section="4.2.2",
    loss=True,
)

_EXTENDED_SPACE = "ext_physics:actuator"
_EXTENDED_MODES = ("effort", "velocity", "position")


def _read_extended_actuators(context: ActuatorContext, found: FoundPrim, name: str) -> list[Actuator]:
    """An actuator per target; none where it is switched off."""
    reader, prim = context.reader, found.prim
    if not reader.get_flag(prim, f"{_EXTENDED_SPACE}:enabled", True):
        reader.reporter.report(ACTUATOR_DISABLED, reader.where(prim), name=name)
        return []
    targets = reader.get_targets(prim, f"{_EXTENDED_SPACE}:targets")
    # the API may sit on the joint itself, which is then its target
    if not targets and found.path in context.joints:
        targets = [found.path]
    if not targets:
        raise ActuatorRefusedError("it has no target")
    dofs = [_find_extended_dof(context, target) for target in targets]
    # one command cannot be an angle and a length
    if len({dof.motion for dof in dofs}) > 1:
        raise ActuatorRefusedError("its targets are of different kinds")
    result = []
    for dof in dofs:
        actuator = _read_extended_actuator(
            reader, found, name if len(dofs) == 1 else f"{name}_{dof.name}", dof
        )
        _add_mjc_settings(context, found, actuator)
        if reader.note(found).get("transmission") == "joint_in_parent":
            actuator.transmission = "joint_in_parent"
        if len(dofs) > 1:
            actuator.settings["command"] = name
        result.append(actuator)
    return result


def _find_extended_dof(context: ActuatorContext, target: str) -> Dof:
    joint = context.joints.get(target)
    dof = None if joint is None else choose_dof(joint)
    if dof is None:
        raise ActuatorRefusedError(f"its target {target} is not a revolute or prismatic joint that was read")
    return dof


def _read_extended_actuator(reader: StageReader, found: FoundPrim, name: str, dof: Dof) -> Actuator:
    degree = 1.0 if dof.motion is Motion.SLIDE else DEGREE
    mode = reader.get_text(found, f"{_EXTENDED_SPACE}:controlMode", "effort")
    if mode not in _EXTENDED_MODES:
        raise ActuatorRefusedError(f"its control mode {mode!r} is none of {', '.join(_EXTENDED_MODES)}")
    scale = find_scale(reader, dof)
    law, command = scale_law(_read_extended_law(reader, found, mode, degree), scale)
    actuator = build_actuator(reader, found, name, dof.name, law)
    actuator.gear = (reader.get_number(found, f"{_EXTENDED_SPACE}:gear", 1.0),)
    # set points are in degrees, efforts are not
    command *= 1.0 if mode == "effort" else degree
    actuator.control_range = _read_extended_bounds(reader, found, "control", command)
    actuator.force_range = _read_extended_bounds(reader, found, "effort", scale.effort)
    if "ExtendedPhysicsPositionBasedClampingAPI" in found.apis:
        step = TargetUnits(scale.effort, scale.step * degree)
        table = read_table(reader, found, name, "ext_physics:clamp_position", step)
        if table is not None:
            actuator.settings["effort_table"] = table
    return actuator


def _read_extended_law(reader: StageReader, found: FoundPrim, mode: str, degree: float) -> Law:
    """The law in radians or stage lengths."""

    def read(key: str, default: float) -> float:
        return reader.get_number(found, f"{_EXTENDED_SPACE}:{key}", default)

    lag = read("timeConstant", 0.0)
    if mode == "effort":
        return make_law(read("gain", 1.0), lag=lag)
    damping = read("damping", 0.0) / degree
    if mode == "velocity":
        return make_law(damping, (0.0, 0.0, -damping), lag)
    stiffness = read("stiffness", 0.0) / degree
    return make_law(stiffness, (0.0, -stiffness, -damping), lag)


def _read_extended_bounds(
    reader: StageReader, found: FoundPrim, word: str, factor: float
) -> tuple[float, float] | None:
    low = reader.get_number(found, f"{_EXTENDED_SPACE}:{word}Lower", -math.inf)
    high = reader.get_number(found, f"{_EXTENDED_SPACE}:{word}Upper", math.inf)
    low, high = read_bound(low, factor), read_bound(high, factor)
    return (low, high) if math.isfinite(low) or math.isfinite(high) else None


_TRANSMISSIONS = ("joint", "joint_in_parent", "so3")
_MJC_LAW = (
    ("gain", "gainType", "fixed", "gainPrm", (1.0,)),
    ("bias", "biasType", "none", "biasPrm", ()),
    ("dynamics", "dynType", "none", "dynPrm", (1.0,)),
)


def _read_mjc_actuator(context: ActuatorContext, found: FoundPrim, name: str) -> Actuator:
    """The actuator of a prim."""
    reader, prim, scan = context.reader, found.prim, context.scan
    transmission, target, dof = _find_mjc_target(context, found, name)
    scale = TargetUnits(reader.units.force, reader.units.length) if dof is None else find_scale(reader, dof)
    law = _read_mjc_law(reader, found)
    command = 1.0
    if has_units(law) and dof is not None:
        law, command = scale_law(law, scale)
    # muscles and activation dynamics mix units in one array of numbers
    elif not scale.is_plain:
        reader.reporter.report(ACTUATOR_UNITS, reader.where(prim), name=name)
        scale = TargetUnits()
    actuator = build_actuator(reader, found, name, target, law)
    if transmission == "body":
        # MuJoCo has no other actuator on a body
        actuator.kind, actuator.settings["mjcf"] = "general", "adhesion"
    actuator.transmission = transmission
    actuator.gear = _read_mjc_gear(reader, found)
    actuator.control_range = _scale_range(
        read_range(reader, scan, found, "ctrlRange", "ctrlLimited"), command
    )
    actuator.force_range = _scale_range(
        read_range(reader, scan, found, "forceRange", "forceLimited"), scale.effort
    )
    _inherit_mjc_range(reader, found, actuator, dof)
    _add_mjc_settings(context, found, actuator)
    return actuator


def _find_mjc_target(context: ActuatorContext, found: FoundPrim, name: str) -> tuple[str, str, Dof | None]:
    """Transmission, name of the target, and the freedom where it is a joint."""
    reader = context.reader
    note = reader.note(found)
    if "target" in note:
        return _find_noted_target(context, str(note["target"]), str(note.get("transmission", "joint")))
    targets = reader.get_targets(found, "mjc:target")
    if not targets:
        raise ActuatorRefusedError("it has no target")
    target = targets[0]
    if len(targets) > 1:
        reader.reporter.report(
            ACTUATOR_TARGETS,
            reader.where(found, "mjc:target"),
            relationship="mjc:target",
            name=name,
            count=len(targets),
            target=target,
        )
    if target in context.joints:
        joint = context.joints[target]
        if len(joint.dofs) != 1:
            raise ActuatorRefusedError(f"its target {target} has {len(joint.dofs)} degrees of freedom")
        inside = reader.get_flag(found, "mjc:jointInParent", False)
        return "joint_in_parent" if inside else "joint", joint.dofs[0].name, joint.dofs[0]
    if target in reader.tendons:
        return "tendon", reader.tendons[target], None
    if target in reader.sites:
        crank = bool(reader.get_targets(found, "mjc:sliderSite"))
        return "slider_crank" if crank else "site", reader.sites[target], None
    if target in reader.bodies:
        return "body", reader.bodies[target].name, None
    raise ActuatorRefusedError(f"its target {target} is not a joint, tendon, site or body that was read")


def _find_noted_target(context: ActuatorContext, name: str, transmission: str) -> tuple[str, str, Dof | None]:
    """A freedom of a joint with several, or of a body that nothing holds, which a note names."""
    dofs = {dof.name: dof for joint in context.joints.values() for dof in joint.dofs}
    notes = [context.reader.note(found) for found in context.scan.bodies]
    # floating joints come from notes later, so their freedoms are known by note only
    free = {str(note.get("free_dof", note.get("free_name", ""))) for note in notes}
    places = {*context.reader.sites.values(), *dofs, *free}
    if name not in places or transmission not in _TRANSMISSIONS:
        raise ActuatorRefusedError(f"its target {name!r} is not a degree of freedom that was read")
    return transmission, name, None


def _read_mjc_law(reader: StageReader, found: FoundPrim) -> Law:
    law: dict[str, Any] = {}
    for key, kind, plain, numbers, default in _MJC_LAW:
        law[f"{key}_type"] = reader.get_text(found, f"mjc:{kind}", plain)
        values = as_rows(reader.get(found, f"mjc:{numbers}"), 1)[:, 0]
        if any(math.isnan(v) for v in values):
            raise ActuatorRefusedError(f"mjc:{numbers} holds something that is not a number")
        law[key] = pad(tuple(float(v) for v in values) if len(values) else default)
    return law


def _read_mjc_gear(reader: StageReader, found: FoundPrim) -> tuple[float, ...]:
    """Gear ratios without trailing zeros, at least one."""
    values = [float(v) for v in as_rows(reader.get(found, "mjc:gear"), 1)[:, 0]] or [1.0]
    # MuJoCo keeps six ratios; the MJCF reader has as many as the file said
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return tuple(values)


def _scale_range(limits: Range | None, factor: float) -> Range | None:
    return None if limits is None else (limits[0] * factor, limits[1] * factor)


def _inherit_mjc_range(reader: StageReader, found: FoundPrim, actuator: Actuator, dof: Dof | None) -> None:
    """A servo may take its range from the joint, stretched about the middle."""
    share = reader.get_number(found, "mjc:inheritRange", 0.0)
    if share <= 0.0 or dof is None or not (math.isfinite(dof.lower) and math.isfinite(dof.upper)):
        return
    middle, reach = (dof.lower + dof.upper) / 2.0, (dof.upper - dof.lower) / 2.0 * share
    limits = (middle - reach, middle + reach)
    if actuator.kind == "position" and actuator.control_range is None:
        actuator.control_range = limits
    elif actuator.settings["mjcf"] == "intvelocity":
        actuator.settings["activation_range"] = list(limits)


def _add_mjc_settings(context: ActuatorContext, found: FoundPrim, actuator: Actuator) -> None:
    """Sites, ranges and switches beside the law; a neutral actuator may have them as well."""
    reader, prim, settings = context.reader, found.prim, actuator.settings
    for key, relationship in (("reference_site", "mjc:refSite"), ("slider_site", "mjc:sliderSite")):
        for target in reader.get_targets(prim, relationship)[:1]:
            if target not in reader.sites:
                raise ActuatorRefusedError(
                    f"{relationship} names {target}, which is not a site that was read"
                )
            settings[key] = reader.sites[target]
    if actuator.transmission == "slider_crank":
        settings["crank_length"] = reader.get_number(prim, "mjc:crankLength", 0.0) * reader.units.length
    activation = read_range(reader, context.scan, found, "actRange", "actLimited")
    if activation is not None:
        settings["activation_range"] = list(activation)
    if reader.get_flag(prim, "mjc:actEarly", False):
        settings["activation_early"] = True
    # MuJoCo computes the range of a muscle itself where both ends are zero
    reach = [reader.get_number(prim, f"mjc:lengthRange:{end}", 0.0) for end in ("min", "max")]
    if any(reach):
        settings["length_range"] = reach
    if reader.noted:
        settings |= read_settings(reader, found, "mjc:setting:", set())


_NEWTON_CONTROLS = {
    "NewtonPDControlAPI": "pd",
    "NewtonPIDControlAPI": "pid",
    "NewtonNeuralControlAPI": "neural",
}
_NEWTON_DC_MOTOR = (
    ("max_effort", "maxMotorEffort", "effort"),
    ("saturation_effort", "saturationEffort", "effort"),
    ("velocity_limit", "velocityLimit", "step"),
)
_NEWTON_JOINTS = frozenset({"PhysicsRevoluteJoint", "PhysicsPrismaticJoint"})


def _read_newton_actuator(context: ActuatorContext, found: FoundPrim, name: str) -> Actuator:
    """The actuator of a prim."""
    reader, prim = context.reader, found.prim
    dof = _find_newton_dof(context, found, name)
    controls = [word for api, word in _NEWTON_CONTROLS.items() if api in found.apis]
    # Newton refuses an actuator with no law or with several
    if len(controls) != 1:
        raise ActuatorRefusedError(f"it has {len(controls)} control laws ({', '.join(controls) or 'none'})")
    scale = find_scale(reader, dof)
    if controls[0] == "neural":
        model = reader.get(prim, "newton:modelPath")
        if model is None or not model.path:
            raise ActuatorRefusedError("its network has no newton:modelPath")
        actuator = Actuator(name, "general", dof.name, path=found.path, source=reader.where(prim))
        actuator.settings["model_path"] = str(model.resolvedPath or model.path)
    else:
        law, _ = scale_law(_read_newton_law(reader, found), scale)
        actuator = build_actuator(reader, found, name, dof.name, law)
    actuator.settings["control"] = controls[0]
    if controls[0] == "pid":
        _add_newton_integral(reader, found, actuator, scale)
    _add_newton_clampings(reader, found, actuator, scale)
    if "NewtonActuatorDelayAPI" in found.apis:
        actuator.settings["delay_steps"] = int(reader.get_number(prim, "newton:delaySteps", 1))
    return actuator


def _find_newton_dof(context: ActuatorContext, found: FoundPrim, name: str) -> Dof:
    reader = context.reader
    targets = reader.get_targets(found, "newton:targets")
    if not targets:
        raise ActuatorRefusedError("it has no target")
    if len(targets) > 1:
        reader.reporter.report(
            ACTUATOR_TARGETS,
            reader.where(found, "newton:targets"),
            relationship="newton:targets",
            name=name,
            count=len(targets),
            target=targets[0],
        )
    joint, target = context.joints.get(targets[0]), context.scan.all.get(targets[0])
    dof = None if joint is None else choose_dof(joint)
    if dof is None or target is None or target.type not in _NEWTON_JOINTS:
        raise ActuatorRefusedError(
            f"its target {targets[0]} is not a revolute or prismatic joint that was read"
        )
    return dof


def _read_newton_law(reader: StageReader, found: FoundPrim) -> Law:
    kp, kd, constant = (reader.get_number(found, f"newton:{key}", 0.0) for key in ("kp", "kd", "constEffort"))
    # a position servo; the target velocity is taken as zero
    if kp:
        return make_law(kp, (constant, -kp, -kd))
    if kd:
        return make_law(kd, (constant, 0.0, -kd))
    return make_law(1.0, (constant,))


def _add_newton_integral(
    reader: StageReader, found: FoundPrim, actuator: Actuator, scale: TargetUnits
) -> None:
    """The integral part, which makes the law general; its gains stay beside it."""
    gain = reader.get_number(found, "newton:ki", 0.0) * scale.effort / scale.step
    if not gain:
        return
    limit = reader.get_number(found, "newton:integralMax", math.inf)
    actuator.kind, actuator.settings["mjcf"] = "general", "pid"
    actuator.settings["integral_gain"] = gain
    if math.isfinite(limit):
        actuator.settings["integral_limit"] = limit * scale.step


def _add_newton_clampings(
    reader: StageReader, found: FoundPrim, actuator: Actuator, scale: TargetUnits
) -> None:
    prim = found.prim
    if "NewtonMaxEffortClampingAPI" in found.apis:
        limit = reader.get_number(prim, "newton:maxEffort", math.inf) * scale.effort
        actuator.force_range = (-limit, limit) if math.isfinite(limit) else None
    if "NewtonDCMotorClampingAPI" in found.apis:
        actuator.settings["dc_motor"] = {
            key: reader.get_number(prim, f"newton:{attribute}", math.inf) * getattr(scale, unit)
            for key, attribute, unit in _NEWTON_DC_MOTOR
        }
    if "NewtonPositionBasedClampingAPI" in found.apis:
        table = read_table(reader, found, actuator.name, "newton", scale)
        if table is not None:
            actuator.settings["effort_table"] = table


_EXTENDED_API = "ExtendedPhysicsActuatorAPI"
_Reader = Callable[[ActuatorContext, FoundPrim, str], list[Actuator]]
_EXTENDED_READER: tuple[str, _Reader] = ("ext_physics:actuator:targets", _read_extended_actuators)
_TYPES: dict[str, tuple[str, _Reader]] = {
    "NewtonActuator": (
        "newton:targets",
        lambda context, found, name: [_read_newton_actuator(context, found, name)],
    ),
    "MjcActuator": ("mjc:target", lambda context, found, name: [_read_mjc_actuator(context, found, name)]),
}


def read_actuators(reader: StageReader, scan: StageScan) -> None:
    """Add every actuator; one that its own solver would refuse is reported and left out."""
    prims = [row for row in _find_prims(scan) if not stands_for_drive(reader, row[0])]
    if not prims:
        return
    names = name_prims([found for found, _, _ in prims], noted=reader.noted)
    context = ActuatorContext(reader, scan, {joint.path: joint for joint in reader.asset.joints})
    for found, relationship, read in prims:
        try:
            reader.asset.actuators += read(context, found, names[found.path])
        except ActuatorRefusedError as why:
            where = reader.where(found, relationship)
            reader.reporter.report(
                ACTUATOR_INVALID, where, name=names[found.path], why=why, relationship=relationship
            )


def stands_for_drive(reader: StageReader, found: FoundPrim) -> bool:
    """Whether an actuator was written for MuJoCo in place of a drive that the joint has as well."""
    return found.type == "MjcActuator" and reader.noted and reader.note(found).get("stands_for") == "drive"


def _find_prims(scan: StageScan) -> Iterator[tuple[FoundPrim, str, _Reader]]:
    for found in scan.list_sorts(lambda sort: _EXTENDED_API in sort.apis or sort.type in _TYPES):
        yield found, *(_EXTENDED_READER if _EXTENDED_API in found.apis else _TYPES[found.type])


DRIVE_TWICE = declare(
    "usd-drive-twice",
    Level.WARNING,
    "the drive of joint {name!r} mirrors actuator {actuator!r} but has other gains; those of the actuator are used",
    hint="author the same gains in both, or delete the actuator",
    doc="A servo is written as an actuator, and as a drive for other engines. One of the two was edited.",
)


def _leave_springs(reader: StageReader, scan: StageScan) -> None:
    """Take drives away by which PhysX is told of springs: the neutral layer says them too."""
    for joint in reader.asset.joints:
        dof, found = choose_dof(joint), scan.all.get(joint.path)
        if dof is not None and found is not None and reader.note(found).get("stands_for") == "spring":
            dof.drive = None


def merge_drives(reader: StageReader, scan: StageScan) -> None:
    """Take drives away that say what a servo says, so that no joint is driven twice."""
    _leave_springs(reader, scan)
    # one loop: a drive goes if a note says that it was written for the servo, or if both say the same; it is reported
    # only where the note and the numbers contradict each other
    servos = {actuator.target: actuator for actuator in reader.asset.actuators}
    for joint in reader.asset.joints:
        dof = choose_dof(joint)
        found = scan.all.get(joint.path)
        actuator = None if dof is None else servos.get(dof.name)
        if dof is None or dof.drive is None or actuator is None:
            continue
        same = make_drive(actuator, dof)
        is_same = same is not None and _is_close(same, dof.drive)
        is_noted = found is not None and reader.note(found).get("drive_of") == actuator.name
        if is_noted and not is_same:
            reader.reporter.report(DRIVE_TWICE, joint.source, name=joint.name, actuator=actuator.name)
        if is_noted or is_same:
            dof.drive = None


def _is_close(first: Drive, second: Drive) -> bool:
    """Are gains and largest force the same within single precision?"""
    return not second.acceleration and all(
        math.isclose(getattr(first, key), getattr(second, key), rel_tol=1e-5)
        for key in ("stiffness", "damping", "max_force")
    )


# a loop with three reasons to leave a note alone
def restore_idle_actuators(reader: StageReader, scan: StageScan) -> None:
    """Add the noted actuators whose joint is there and still fixed: no schema lets one drive a fixed joint."""
    if not reader.noted:
        return
    fixed = {joint.name for joint in reader.asset.joints if not joint.dofs}
    fixed |= {joint.ros_name for joint in reader.asset.joints if not joint.dofs and joint.ros_name}
    taken = {actuator.name for actuator in reader.asset.actuators}
    for path, note in scan.notes.items():
        if "motor" not in note:
            continue
        actuator = _make_idle_actuator(reader, scan.all[path], note["motor"])
        if actuator is not None and actuator.target in fixed and actuator.name not in taken:
            reader.asset.actuators.append(actuator)


def _make_idle_actuator(reader: StageReader, found: FoundPrim, note: Any) -> Actuator | None:
    """The actuator of a note; None where it is not one that Simwright writes."""
    try:
        words = json.loads(note) if isinstance(note, str) else {}
        gear = tuple(float(v) for v in words["gear"])
        control, force = (_read_noted_range(words[key]) for key in ("control_range", "force_range"))
        stiffness, damping = float(words["stiffness"]), float(words["damping"])
        name, kind, target, transmission = (
            str(words[key]) for key in ("name", "kind", "target", "transmission")
        )
        settings = dict(words["settings"])
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    if not all(math.isfinite(v) for v in (*gear, stiffness, damping)):
        return None
    return Actuator(
        name, kind, target, transmission, gear, stiffness, damping, control, force, settings,
        path=found.path, source=reader.where(found),
    )  # fmt: skip


def _read_noted_range(value: Any) -> tuple[float, float] | None:
    if value is None:
        return None
    low, high = (float(v) for v in value)
    return low, high
