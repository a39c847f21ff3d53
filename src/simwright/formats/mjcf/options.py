# SPDX-License-Identifier: Apache-2.0
"""What holds for the whole model: simulation options, visual and statistic settings, sizes and custom data.

Gravity, step, wind and magnetic field are words of the model; other options are settings, only where they differ from
MuJoCo's default; visual and statistic settings are extras of ``visual`` and ``statistic``, sizes of ``size``.  With
gravity disabled by flag the environment's gravity is zero, the written one an extra.  Custom numbers, texts and tuples
are extras of ``numeric/name``, ``text/name`` and ``tuple/name``; instances of plugins of ``plugin/name``: the plugin's
own name, and its settings by key.

Clip distances of cameras count in the extent of a model [m].  MuJoCo takes the longest side of a box around bodies,
joints, sites and geoms in the reference pose, geoms by spheres.  That of a mesh is around its centre of mass;
``compiler`` gave MuJoCo other meshes, so theirs are computed here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import SimwrightError
from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.formats.mjcf.compiler import find_mesh_frame
from simwright.formats.mjcf.reader import FAMILIES, NAMESPACE, MjcfReader, is_same, make_plain
from simwright.model.asset import scaled
from simwright.model.geometry import Mesh
from simwright.model.joint import WORLD

_PLANE_SHARE = 0.1
"""Of the size of a plane or height field, which has no sphere around it."""


@dataclass(frozen=True, slots=True, eq=False)
class GeomSphere:
    """A sphere around a geom: its body, and where it is in the world [m]."""

    body: str
    center: Array
    radius: float


def find_extent(reader: MjcfReader) -> float:
    """The extent as MuJoCo finds it with the meshes of the file."""
    model = reader.model
    said = bool(np.isfinite(reader.spec.stat.extent))
    if said or not reader.mesh_scales or not reader.count("camera"):
        return float(model.stat.extent)
    data: Any = reader.mujoco.MjData(model)
    reader.mujoco.mj_kinematics(model, data)
    reader.mujoco.mj_comPos(model, data)
    try:
        spheres = list(_measure_meshes(reader))
    except SimwrightError:  # a mesh that cannot be read is told of when it is looked at
        return float(model.stat.extent)
    for index in range(model.ngeom):
        if not _stands_in(reader, index):
            body = reader.name("body", int(model.geom_bodyid[index]))
            radius = _find_radius(reader.mujoco, model, index)
            spheres.append(GeomSphere(body, np.array(data.geom_xpos[index]), radius))
    plain = np.concatenate([data.xpos[1:], data.xipos[1:], data.xanchor, data.site_xpos])
    points = np.concatenate((plain, [sphere.center for sphere in spheres]))
    radii = np.concatenate((np.zeros(len(plain)), [sphere.radius for sphere in spheres]))[:, None]
    sides = (points + radii).max(axis=0) - (points - radii).min(axis=0)
    # a model of one large body is no smaller than that body
    return max(float(sides.max()), 2.0 * _find_mean_size(reader, data, spheres))


def _find_mean_size(reader: MjcfReader, data: Any, spheres: list[GeomSphere]) -> float:
    """How far bodies reach from their centres of mass, on average: to their joints and around their geoms."""
    model = reader.model
    numbers = {reader.name("body", index): index for index in range(model.nbody)}
    sizes = np.zeros(model.nbody)
    for joint in range(model.njnt):
        body = int(model.jnt_bodyid[joint])
        for end in (body, int(model.body_parentid[body])):
            gap = float(np.linalg.norm(data.xanchor[joint] - data.xipos[end]))
            sizes[end] = max(sizes[end], gap)
    for sphere in spheres:
        body = numbers.get(sphere.body, 0)
        gap = float(np.linalg.norm(sphere.center - data.xipos[body]))
        sizes[body] = max(sizes[body], gap + sphere.radius)
    return float(sizes[1:].mean()) if model.nbody > 1 else 0.0


def _stands_in(reader: MjcfReader, index: int) -> bool:
    mesh = int(reader.model.geom_dataid[index])
    is_mesh = int(reader.model.geom_type[index]) == int(reader.mujoco.mjtGeom.mjGEOM_MESH)
    return is_mesh and mesh >= 0 and reader.name("mesh", mesh) in reader.mesh_scales


def _find_radius(mujoco: Any, model: Any, index: int) -> float:
    radius = float(model.geom_rbound[index])
    if radius > 0.0:
        return radius
    if int(model.geom_type[index]) == int(mujoco.mjtGeom.mjGEOM_PLANE):
        return _PLANE_SHARE * float(model.geom_size[index][:2].max())
    return 0.0


def _measure_meshes(reader: MjcfReader) -> Iterator[GeomSphere]:
    """Centre in the world and radius of the spheres around meshes that others stood in for."""
    # wheels and fingers share meshes, and each is measured once
    known: dict[tuple[int, tuple[float, ...]], tuple[Pose, Array]] = {}
    for shape in reader.asset.shapes:
        mesh = shape.geometry
        if not isinstance(mesh, Mesh) or mesh.asset_name not in reader.mesh_scales:
            continue
        scale = scaled(shape)
        key = id(mesh), tuple(map(float, scale))
        if key not in known:
            known[key] = find_mesh_frame(mesh.data.vertices, mesh.data.triangles(), scale)
        frame, half = known[key]
        above = IDENTITY if shape.body == WORLD else reader.asset.body(shape.body).pose
        yield GeomSphere(shape.body, (above @ shape.pose).apply(frame.p), float(np.linalg.norm(half)))


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
