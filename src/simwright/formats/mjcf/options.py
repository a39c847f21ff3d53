# SPDX-License-Identifier: Apache-2.0
"""Simulation options: gravity, step, wind and magnetic field as words of the model, the rest as settings.

Settings are only those that differ from MuJoCo's default; visual and statistic settings are extras of
``visual`` and ``statistic``, sizes of ``size``.  With gravity disabled by flag the environment's gravity is zero, the
written one an extra.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.math3d import vec3
from simwright.formats.mjcf.context import NAMESPACE, Context, is_same, make_plain

_ENUMS = {"integrator": ("mjtIntegrator", 6), "cone": ("mjtCone", 7), "solver": ("mjtSolver", 6),
          "jacobian": ("mjtJacobian", 6)}  # fmt: skip
_OWN = {"gravity", "timestep", "wind", "magnetic", "disableflags", "enableflags"}
SIZES = ("memory", "nconmax", "njmax", "nstack", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site",
          "nuser_cam", "nuser_tendon", "nuser_actuator", "nuser_sensor")  # fmt: skip
_VISUAL = ("global_", "quality", "headlight", "map", "scale", "rgba")


def read_options(context: Context) -> None:
    """Fill the environment and keep the rest."""
    option, environment = context.model.opt, context.asset.environment
    environment.gravity = vec3(option.gravity)
    environment.timestep = float(option.timestep)
    environment.wind = vec3(option.wind) if np.any(option.wind) else None
    environment.magnetic_field = vec3(option.magnetic)
    fresh = context.mujoco.MjSpec()
    for name, value in _differences(option, fresh.option):
        if name not in _OWN:
            environment.settings[name] = _name_choice(context, name, value)
    _read_flags(context)
    for name in SIZES:
        value = int(getattr(context.spec, name, getattr(fresh, name, 0)))
        if value != int(getattr(fresh, name, value)):
            _keep(context, "size", name, value)
    for group in _VISUAL:
        ours, default = (getattr(visual, group, None) for visual in (context.model.vis, fresh.visual))
        for name, value in _differences(ours, default):
            _keep(context, "visual", f"{group.rstrip('_')}.{name}", value)
    statistic = context.spec.stat
    for name in ("center", "extent", "meaninertia", "meanmass", "meansize"):
        value = make_plain(np.asarray(getattr(statistic, name)))
        if not np.any(np.isnan(value)):
            _keep(context, "statistic", name, value)


def _name_choice(context: Context, name: str, value: Any) -> Any:
    """The word for a choice (integrator, cone ...), the value itself for everything else."""
    if name not in _ENUMS:
        return value
    kind, length = _ENUMS[name]
    return str(getattr(context.mujoco, kind)(int(value)).name)[length:].lower()


def _read_flags(context: Context) -> None:
    option, mujoco = context.model.opt, context.mujoco
    settings = context.asset.environment.settings
    for word, kind, bits in (
        ("disable", mujoco.mjtDisableBit, int(option.disableflags)),
        ("enable", mujoco.mjtEnableBit, int(option.enableflags)),
    ):
        members = {name: int(value) for name, value in kind.__members__.items() if not name.startswith("mjN")}
        flags = sorted(name[7:].lower() for name, value in members.items() if bits & value)
        if flags:
            settings[word] = flags
    if "gravity" in settings.get("disable", ()):
        _keep(context, "option", "gravity", make_plain(np.asarray(option.gravity)))
        context.asset.environment.gravity = vec3()


def _differences(ours: Any, default: Any) -> list[tuple[str, Any]]:
    """Plain values of a MuJoCo structure that differ from the default structure's."""
    result = []
    for name in dir(default) if ours is not None and default is not None else ():
        if name.startswith("_") or callable(getattr(default, name)):
            continue
        value = make_plain(getattr(ours, name, None))
        if value is not None and value != [] and not is_same(value, make_plain(getattr(default, name))):
            result.append((name, value))
    return result


def _keep(context: Context, element: str, attribute: str, value: Any) -> None:
    context.asset.extras.keep(NAMESPACE, element, attribute, value, Where(context.source.file))
