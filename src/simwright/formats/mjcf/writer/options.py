# SPDX-License-Identifier: Apache-2.0
"""``<compiler>``, ``<option>``, ``<visual>`` and ``<statistic>``: what holds for the whole model."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.mjcf.options import SIZES
from simwright.formats.mjcf.writer.draft import Draft, set_values
from simwright.formats.mjcf.writer.messages import INTEGRATOR_CHOSEN, SETTING_LOST
from simwright.model.origins import is_fallback

_OPTIONS = (
    "impratio", "integrator", "cone", "jacobian", "solver", "iterations", "tolerance", "ls_iterations", "ls_tolerance",
    "noslip_iterations", "noslip_tolerance", "ccd_iterations", "ccd_tolerance", "sdf_iterations", "sdf_initpoints",
    "sleep_tolerance", "density", "viscosity", "o_margin", "o_solref", "o_solimp", "o_friction",
)  # fmt: skip
_WORDS = {
    "euler": "Euler", "rk4": "RK4", "implicit": "implicit", "implicitfast": "implicitfast", "pgs": "PGS", "cg": "CG",
    "newton": "Newton",
}  # fmt: skip
FLAGS = (
    "actuation", "autoreset", "clampctrl", "constraint", "contact", "damper", "diagexact", "energy", "equality",
    "eulerdamp", "filterparent", "frictionloss", "fwdinv", "gravity", "invdiscrete", "ipc", "island", "limit",
    "midphase", "multiccd", "nativeccd", "override", "refsafe", "sensor", "sleep", "speculative", "spring", "warmstart",
)  # fmt: skip
_DEFAULTS: dict[str, Any] = {"timestep": 0.002, "gravity": (0.0, 0.0, -9.81), "magnetic": (0.0, -0.5, 0.0)}
_SWITCHES = frozenset({"ellipsoidinertia", "bvactive", "orthographic"})
_STATISTIC = ("center", "extent", "meanmass", "meansize")
"""Without ``meaninertia``, which MuJoCo calls obsolete and without effect."""


def write_compiler(draft: Draft, side: str = "") -> None:
    """Angles are radians, and files are in folders of their own, below ``side``."""
    folders = {path.partition("/")[0] for path in draft.files}
    values: dict[str, Any] = {"angle": "radian"}
    if "meshes" in folders:
        values["meshdir"] = f"{side}meshes"
    if "textures" in folders:
        values["texturedir"] = f"{side}textures"
    draft.add(draft.root, "compiler", values)


def write_options(draft: Draft) -> None:
    """Gravity, step and solver settings."""
    world = draft.asset.environment
    settings = dict(world.settings)
    written = draft.solver.take("option", "gravity")
    values: dict[str, Any] = {
        "timestep": world.timestep,
        "gravity": world.gravity if written is None else written,
        "wind": world.wind,
        "magnetic": world.magnetic_field,
    }
    flags = dict.fromkeys(settings.pop("disable", ()), "disable")
    flags |= dict.fromkeys(settings.pop("enable", ()), "enable")
    scene = str(draft.asset.provenance.info.get("physicsScene", ""))
    _read_scene(draft, scene, settings, values, flags)
    limit = settings.pop("max_solver_iterations", None)
    if is_fallback(draft.asset.origins, scene, "max_solver_iterations"):
        limit = None
    for name in _OPTIONS:
        value = settings.pop(name, None)
        values[name] = _WORDS.get(value, value) if isinstance(value, str) else value
    if values["integrator"] is None and _has_stiff_drives(draft):
        values["integrator"] = "implicitfast"
        draft.reporter.report(INTEGRATOR_CHOSEN)
    if limit is not None and limit > 0 and values["iterations"] is None:
        values["iterations"] = limit
    groups = settings.pop("disableactuator", 0)
    if groups:
        values["actuatorgroupdisable"] = [bit for bit in range(31) if int(groups) >> bit & 1]
    node = draft.add(draft.root, "option", values, _DEFAULTS)
    known = {name: word for name, word in flags.items() if name in FLAGS}
    if known:
        draft.add(node, "flag", known)
    elif not node.attrib:
        draft.root.remove(node)
    lost = sorted({*settings, *(set(flags) - set(known))})
    if lost:
        what = f"the world's setting {lost[0]!r}"
        draft.reporter.report(SETTING_LOST, what=what, count=len(lost), first=draft.asset.name)


def _has_stiff_drives(draft: Draft) -> bool:
    """Drives that damp: other engines treat them implicitly, MuJoCo's default integrator does not."""
    drives = (f.dof.drive for limb in draft.limbs.values() for f in limb.freedoms if f.dof)
    return any(drive is not None and drive.damping and not drive.acceleration for drive in drives)


def _read_scene(
    draft: Draft, scene: str, settings: dict[str, Any], values: dict[str, Any], flags: dict[str, str]
) -> None:
    """What MuJoCo's schema says on a physics scene: ``mjc:option:...`` and ``mjc:flag:...``."""
    if not scene:
        return
    for name in (*_OPTIONS, "timestep", "wind", "magnetic"):
        value = draft.solver.take(scene, f"option:{name}")
        if value is None:
            continue
        if name in values:
            values[name] = value
        else:
            settings[name] = value.lower() if isinstance(value, str) else value
    for name in FLAGS:
        value = draft.solver.take(scene, f"flag:{name}")
        if value is not None:
            flags[name] = value if isinstance(value, str) else "enable" if value else "disable"
    draft.solver.spend(scene, "option:gravity", "compiler:angle", "compiler:autoLimits")


def write_sizes(draft: Draft) -> None:
    """Memory and numbers of user values, as they were read."""
    values = draft.solver.take_all("size")
    if values:
        draft.add(draft.root, "size", {name: values[name] for name in SIZES if name in values})


def write_visual(draft: Draft) -> None:
    """Looks and statistics, as they were read."""
    for name, value in draft.solver.take_all("visual").items():
        group, _, attribute = name.partition(".")
        section = draft.section("visual")
        found = section.find(group)
        node = draft.add(section, group, {}) if found is None else found
        set_values(node, {attribute: bool(value) if attribute in _SWITCHES else value}, {})
    statistic = draft.solver.take_all("statistic")
    values = {name: np.ravel(statistic[name]) for name in _STATISTIC if name in statistic}
    if values:
        draft.add(draft.root, "statistic", values)
