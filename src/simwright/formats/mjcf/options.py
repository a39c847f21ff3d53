# SPDX-License-Identifier: Apache-2.0
"""What holds for the whole model: simulation options, visual and statistic settings, sizes and custom data.

Gravity, step, wind and magnetic field are words of the model; other options are settings, only where they differ from
MuJoCo's default; visual and statistic settings are extras of ``visual`` and ``statistic``, sizes of ``size``.  With
gravity disabled by flag the environment's gravity is zero, the written one an extra.  Custom numbers, texts and tuples
are extras of ``numeric/name``, ``text/name`` and ``tuple/name``; instances of plugins of ``plugin/name``: the plugin's
own name, and its settings by key.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.math3d import vec3
from simwright.formats.mjcf.reader import FAMILIES, NAMESPACE, MjcfReader, is_same, make_plain

_ENUMERATIONS = {
    "integrator": "mjtIntegrator",
    "cone": "mjtCone",
    "solver": "mjtSolver",
    "jacobian": "mjtJacobian",
}
# what the environment has words for, or is read by itself
_OWN = {"gravity", "timestep", "wind", "magnetic", "disableflags", "enableflags"}
SIZES = ("memory", "nconmax", "njmax", "nstack", "nuserdata", "nuser_body", "nuser_jnt", "nuser_geom", "nuser_site",
          "nuser_cam", "nuser_tendon", "nuser_actuator", "nuser_sensor")  # fmt: skip
# "global" is a word of Python, so the bindings call that group global_
_VISUAL = ("global_", "quality", "headlight", "map", "scale", "rgba")


def read_options(reader: MjcfReader) -> None:
    """Fill the environment and keep the rest."""
    option, environment = reader.model.opt, reader.asset.environment
    environment.gravity = vec3(option.gravity)
    environment.timestep = float(option.timestep)
    environment.wind = vec3(option.wind) if np.any(option.wind) else None
    environment.magnetic_field = vec3(option.magnetic)
    # the defaults of this version of MuJoCo, which change now and then
    fresh = reader.mujoco.MjSpec()
    for name, value in _list_differences(option, fresh.option):
        if name not in _OWN:
            environment.settings[name] = _name_choice(reader, name, value)
    _read_flags(reader)
    for name in SIZES:
        value = int(getattr(reader.spec, name, getattr(fresh, name, 0)))
        if value != int(getattr(fresh, name, value)):
            _keep_global(reader, "size", name, value)
    for group in _VISUAL:
        ours, default = (getattr(visual, group, None) for visual in (reader.model.vis, fresh.visual))
        for name, value in _list_differences(ours, default):
            _keep_global(reader, "visual", f"{group.rstrip('_')}.{name}", value)
    # from the specification: compiled statistics are always there, written ones only where somebody did
    statistic = reader.spec.stat
    for name in ("center", "extent", "meaninertia", "meanmass", "meansize"):
        value = make_plain(np.asarray(getattr(statistic, name)))
        # NaN is how MjSpec says that a statistic is computed
        if not np.any(np.isnan(value)):
            _keep_global(reader, "statistic", name, value)


def _name_choice(reader: MjcfReader, name: str, value: Any) -> Any:
    """The word for a choice (integrator, cone ...), the value itself for everything else."""
    return reader.read_word(_ENUMERATIONS[name], value) if name in _ENUMERATIONS else value


def _read_flags(reader: MjcfReader) -> None:
    option, mujoco = reader.model.opt, reader.mujoco
    settings = reader.asset.environment.settings
    for word, kind, bits in (
        ("disable", mujoco.mjtDisableBit, int(option.disableflags)),
        ("enable", mujoco.mjtEnableBit, int(option.enableflags)),
    ):
        # mjNDISABLE and mjNENABLE count the flags and are none
        members = {name: int(value) for name, value in kind.__members__.items() if not name.startswith("mjN")}
        flags = sorted(name[7:].lower() for name, value in members.items() if bits & value)
        if flags:
            settings[word] = flags
    if "gravity" in settings.get("disable", ()):
        _keep_global(reader, "option", "gravity", make_plain(np.asarray(option.gravity)))
        reader.asset.environment.gravity = vec3()


def _list_differences(ours: Any, default: Any) -> list[tuple[str, Any]]:
    """Plain values of a MuJoCo structure that differ from the default structure's."""
    result = []
    for name in dir(default) if ours is not None and default is not None else ():
        if name.startswith("_") or callable(getattr(default, name)):
            continue
        value = make_plain(getattr(ours, name, None))
        if value is not None and value != [] and not is_same(value, make_plain(getattr(default, name))):
            result.append((name, value))
    return result


def _keep_global(reader: MjcfReader, element: str, attribute: str, value: Any) -> None:
    reader.asset.extras.keep(NAMESPACE, element, attribute, value, Where(reader.source.file))


def read_custom(reader: MjcfReader) -> None:
    """Keep the ``<custom>`` section, and the instances of ``<extension>``."""
    for index in range(reader.count("plugin")):
        spec = reader.find_spec("plugin", index)
        if spec is not None:
            reader.keep("plugin", index, "plugin", str(spec.plugin_name))
            reader.keep("plugin", index, "config", {str(k): str(v) for k, v in spec.config.items()})
    model = reader.model
    for index in range(reader.count("numeric")):
        start, size = int(model.numeric_adr[index]), int(model.numeric_size[index])
        reader.keep("numeric", index, "data", model.numeric_data[start : start + size])
    for index in range(reader.count("text")):
        start, size = int(model.text_adr[index]), int(model.text_size[index])
        # texts are terminated by zero inside one long array
        data = bytes(model.text_data[start : start + size]).split(b"\0")[0]
        reader.keep("text", index, "data", data.decode("utf-8", "replace"))
    for index in range(reader.count("tuple")):
        start, size = int(model.tuple_adr[index]), int(model.tuple_size[index])
        rows = [_read_tuple_row(reader, row) for row in range(start, start + size)]
        reader.keep("tuple", index, "elements", rows)


def _read_tuple_row(reader: MjcfReader, row: int) -> dict[str, Any]:
    model = reader.model
    kind = reader.read_word("mjtObj", model.tuple_objtype[row])
    target = int(model.tuple_objid[row])
    family = "body" if kind == "xbody" else kind
    name = reader.name(family, target) if family in FAMILIES else str(target)
    return {"type": kind, "name": name, "value": float(model.tuple_objprm[row])}
