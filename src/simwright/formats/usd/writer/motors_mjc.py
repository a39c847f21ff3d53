# SPDX-License-Identifier: Apache-2.0
"""Actuators in ``mujoco.usda``: laws and transmissions that the neutral schema has no word for (REP-0158 1.4).

Muscles, cylinders, adhesion, motors on tendons, sites and bodies are MjcActuator prims with MuJoCo's general law.  A
neutral actuator gets only what its schema lacks, such as the range of its activation.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.attributes import write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import NOT_CARRIED
from simwright.formats.usd.writer.motors import SINGLE, claim_motor, is_neutral
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Actuator
from simwright.model.servo import make_law

_LAW = ("gain", "bias", "dynamics")
_TYPES = {"gain": "gainType", "bias": "biasType", "dynamics": "dynType"}
_NUMBERS = {"gain": "gainPrm", "bias": "biasPrm", "dynamics": "dynPrm"}
_SAID = frozenset(
    {
        "mjcf", "activation_range", "activation_early", "length_range", "crank_length", "slider_site",
        "reference_site", "effort_table", *_LAW, *(f"{key}_type" for key in _LAW),
    }
)  # fmt: skip
SETTING = "mjc:setting"


def write_mjc_motors(layout: Layout, sheet: Sheet, reporter: Reporter) -> None:
    """MjcActuator prims for laws without a neutral form, further settings for the others."""
    lost = []
    for actuator in layout.asset.actuators:
        if is_neutral(layout, actuator):
            path = layout.actuators[actuator.name]
            _write_settings(layout, sheet, path, actuator)
            _write_idle(sheet, path, actuator)
            continue
        if actuator.name in layout.actuators:  # it drives nothing
            continue
        target = find_target(layout, actuator)
        if not target:
            lost.append(actuator)
            continue
        path = claim_motor(layout, sheet, actuator)
        sheet.define(path, "MjcActuator")
        _write_motor(layout, sheet, path, actuator, target)
        _write_settings(layout, sheet, path, actuator)
    if lost:
        reporter.report(NOT_CARRIED, lost[0].source, count=len(lost), what="actuators", first=lost[0].name)


def find_target(layout: Layout, actuator: Actuator) -> str:
    """The prim that an actuator acts on; empty if it is not written."""
    name = actuator.target
    match actuator.transmission:
        case "tendon":
            return layout.tendons.get(name, "")
        case "site" | "slider_crank":
            return layout.sites.get(name, "")
        case "body":
            return layout.bodies.get(name) or layout.sites.get(name, "")
    return layout.freedoms.get(name, (layout.sites.get(name, ""), ""))[0]


def _write_motor(layout: Layout, sheet: Sheet, path: str, actuator: Actuator, target: str) -> None:
    sheet.relate(path, "mjc:target", [target])
    word = layout.freedoms.get(actuator.target, ("", ""))[1]
    plain = ("tendon", "site", "body", "slider_crank")
    if actuator.transmission not in plain and word not in SINGLE:
        sheet.note(path, target=actuator.target, transmission=actuator.transmission)
    if actuator.transmission == "joint_in_parent":
        sheet.set(path, "mjc:jointInParent", "bool", True, uniform=True)
    law = {**make_law(actuator.kind, actuator.stiffness, actuator.damping), **actuator.settings}
    for key in _LAW:
        sheet.set(path, f"mjc:{_TYPES[key]}", "token", law[f"{key}_type"], uniform=True)
        sheet.set(path, f"mjc:{_NUMBERS[key]}", "double[]", law[key], uniform=True)
    gear = [*actuator.gear, *[0.0] * (6 - len(actuator.gear))]
    sheet.set(path, "mjc:gear", "double[]", gear, uniform=True)
    for word, limits in (("ctrl", actuator.control_range), ("force", actuator.force_range)):
        if limits is not None:
            _write_range(sheet, path, word, limits)


def _write_idle(sheet: Sheet, path: str, actuator: Actuator) -> None:
    """How a lag is stepped, and numbers that the law does not use, such as a bias that is switched off."""
    law = actuator.settings
    if law.get("dynamics_type") == "filterexact":
        write_plain(sheet, path, f"{SETTING}:dynamics_type", "filterexact")
    for key in _LAW:
        used = {"fixed": 1, "affine": 3, "filter": 1, "filterexact": 1}.get(law.get(f"{key}_type", "none"), 0)
        usual = make_law("motor")[key]
        if any(a != b for a, b in zip(law.get(key, usual)[used:], usual[used:], strict=False)):
            write_plain(sheet, path, f"{SETTING}:{key}", law[key])


def _write_range(sheet: Sheet, path: str, word: str, limits: Any) -> None:
    for end, value in zip(("min", "max"), limits, strict=True):
        sheet.set(path, f"mjc:{word}Range:{end}", "double", value, uniform=True)
    sheet.set(path, f"mjc:{word}Limited", "token", "true", uniform=True)


def _write_settings(layout: Layout, sheet: Sheet, path: str, actuator: Actuator) -> None:
    settings = actuator.settings
    for key, name in (("slider_site", "sliderSite"), ("reference_site", "refSite")):
        if settings.get(key) in layout.sites:
            sheet.relate(path, f"mjc:{name}", [layout.sites[settings[key]]])
    if "activation_range" in settings:
        _write_range(sheet, path, "act", settings["activation_range"])
    if settings.get("activation_early"):
        sheet.set(path, "mjc:actEarly", "bool", True, uniform=True)
    if "crank_length" in settings:
        sheet.set(path, "mjc:crankLength", "double", settings["crank_length"], uniform=True)
    for end, value in zip(("min", "max"), settings.get("length_range", ()), strict=False):
        sheet.set(path, f"mjc:lengthRange:{end}", "double", value, uniform=True)
    for key, value in settings.items():
        if key not in _SAID:
            write_plain(sheet, path, f"{SETTING}:{key}", value)
