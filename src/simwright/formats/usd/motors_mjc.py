# SPDX-License-Identifier: Apache-2.0
"""MjcActuator prims: MuJoCo's general law on a joint, tendon, site or body.

The settings speak the words of the MJCF reader, so that both formats give the same actuator.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.formats.usd.mjc_world import read_settings
from simwright.formats.usd.motors import (
    ACTUATOR_TARGETS,
    ACTUATOR_UNITS,
    Law,
    Motors,
    RefusedError,
    Scale,
    build_actuator,
    find_scale,
    has_units,
    pad,
    scale_law,
)
from simwright.formats.usd.ranges import Range, read_range
from simwright.formats.usd.scan import Found
from simwright.formats.usd.source import Source, as_rows
from simwright.model.asset import Actuator
from simwright.model.joint import Dof

_TRANSMISSIONS = ("joint", "joint_in_parent", "so3")
_LAW = (
    ("gain", "gainType", "fixed", "gainPrm", (1.0,)),
    ("bias", "biasType", "none", "biasPrm", ()),
    ("dynamics", "dynType", "none", "dynPrm", (1.0,)),
)


def read_mjc_motor(motors: Motors, found: Found, name: str) -> Actuator:
    """The actuator of a prim."""
    source, prim, scan = motors.source, found.prim, motors.scan
    transmission, target, dof = _find_target(motors, found, name)
    scale = Scale(source.units.force, source.units.length) if dof is None else find_scale(source, dof)
    law = _read_law(source, found)
    command = 1.0
    if has_units(law) and dof is not None:
        law, command = scale_law(law, scale)
    elif not scale.is_plain:
        source.reporter.report(ACTUATOR_UNITS, source.where(prim), name=name)
        scale = Scale()
    actuator = build_actuator(source, found, name, target, law)
    if transmission == "body":
        actuator.kind, actuator.settings["mjcf"] = "general", "adhesion"
    actuator.transmission = transmission
    actuator.gear = _read_gear(source, found)
    actuator.control_range = _scale_range(
        read_range(source, scan, found, "ctrlRange", "ctrlLimited"), command
    )
    actuator.force_range = _scale_range(
        read_range(source, scan, found, "forceRange", "forceLimited"), scale.effort
    )
    _inherit_range(source, found, actuator, dof)
    add_settings(motors, found, actuator)
    return actuator


def _find_target(motors: Motors, found: Found, name: str) -> tuple[str, str, Dof | None]:
    """Transmission, name of the target, and the freedom where it is a joint."""
    source = motors.source
    note = source.note(found)
    if "target" in note:
        return _find_noted(motors, str(note["target"]), str(note.get("transmission", "joint")))
    targets = source.get_targets(found, "mjc:target")
    if not targets:
        raise RefusedError("it has no target")
    target = targets[0]
    if len(targets) > 1:
        source.reporter.report(
            ACTUATOR_TARGETS,
            source.where(found, "mjc:target"),
            relationship="mjc:target",
            name=name,
            count=len(targets),
            target=target,
        )
    if target in motors.joints:
        joint = motors.joints[target]
        if len(joint.dofs) != 1:
            raise RefusedError(f"its target {target} has {len(joint.dofs)} freedoms")
        inside = source.get_flag(found, "mjc:jointInParent", False)
        return "joint_in_parent" if inside else "joint", joint.dofs[0].name, joint.dofs[0]
    if target in source.tendons:
        return "tendon", source.tendons[target], None
    if target in source.sites:
        crank = bool(source.get_targets(found, "mjc:sliderSite"))
        return "slider_crank" if crank else "site", source.sites[target], None
    if target in source.bodies:
        return "body", source.bodies[target].name, None
    raise RefusedError(f"its target {target} is no joint, tendon, site or body that was read")


def _find_noted(motors: Motors, name: str, transmission: str) -> tuple[str, str, Dof | None]:
    """A freedom of a joint with several, or of a body that nothing holds, which a note names."""
    dofs = {dof.name: dof for joint in motors.joints.values() for dof in joint.dofs}
    notes = [motors.source.note(found) for found in motors.scan.bodies]
    free = {str(note.get("free_dof", note.get("free_name", ""))) for note in notes}
    places = {*motors.source.sites.values(), *dofs, *free}
    if name not in places or transmission not in _TRANSMISSIONS:
        raise RefusedError(f"its target {name!r} is no freedom that was read")
    return transmission, name, None


def _read_law(source: Source, found: Found) -> Law:
    law: dict[str, Any] = {}
    for key, kind, plain, numbers, default in _LAW:
        law[f"{key}_type"] = source.get_text(found, f"mjc:{kind}", plain)
        values = as_rows(source.get(found, f"mjc:{numbers}"), 1)[:, 0]
        if any(math.isnan(v) for v in values):
            raise RefusedError(f"mjc:{numbers} holds something that is no number")
        law[key] = pad(tuple(float(v) for v in values) if len(values) else default)
    return law


def _read_gear(source: Source, found: Found) -> tuple[float, ...]:
    """Gear ratios without trailing zeros, at least one."""
    values = [float(v) for v in as_rows(source.get(found, "mjc:gear"), 1)[:, 0]] or [1.0]
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return tuple(values)


def _scale_range(limits: Range | None, factor: float) -> Range | None:
    return None if limits is None else (limits[0] * factor, limits[1] * factor)


def _inherit_range(source: Source, found: Found, actuator: Actuator, dof: Dof | None) -> None:
    """A servo may take its range from the joint, stretched about the middle."""
    share = source.get_number(found, "mjc:inheritRange", 0.0)
    if share <= 0.0 or dof is None or not (math.isfinite(dof.lower) and math.isfinite(dof.upper)):
        return
    middle, reach = (dof.lower + dof.upper) / 2.0, (dof.upper - dof.lower) / 2.0 * share
    limits = (middle - reach, middle + reach)
    if actuator.kind == "position" and actuator.control_range is None:
        actuator.control_range = limits
    elif actuator.settings["mjcf"] == "intvelocity":
        actuator.settings["activation_range"] = list(limits)


def add_settings(motors: Motors, found: Found, actuator: Actuator) -> None:
    """Sites, ranges and switches beside the law; a neutral actuator may have them as well."""
    source, prim, settings = motors.source, found.prim, actuator.settings
    for key, relationship in (("reference_site", "mjc:refSite"), ("slider_site", "mjc:sliderSite")):
        for target in source.get_targets(prim, relationship)[:1]:
            if target not in source.sites:
                raise RefusedError(f"{relationship} names {target}, which is no site that was read")
            settings[key] = source.sites[target]
    if actuator.transmission == "slider_crank":
        settings["crank_length"] = source.get_number(prim, "mjc:crankLength", 0.0) * source.units.length
    activation = read_range(source, motors.scan, found, "actRange", "actLimited")
    if activation is not None:
        settings["activation_range"] = list(activation)
    if source.get_flag(prim, "mjc:actEarly", False):
        settings["activation_early"] = True
    reach = [source.get_number(prim, f"mjc:lengthRange:{end}", 0.0) for end in ("min", "max")]
    if any(reach):
        settings["length_range"] = reach
    if source.noted:
        settings |= read_settings(source, found, "mjc:setting:", set())
