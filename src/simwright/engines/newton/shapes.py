# SPDX-License-Identifier: Apache-2.0
"""Shapes and sites: geometry, flags, contact values and mesh approximations.

A mesh that several shapes share is one ``newton.Mesh``.  Bodies have their mass already, so shapes add none.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Level, Reporter, declare
from simwright.core.math3d import Pose, pose_to_seven
from simwright.engines.newton.choices import DRAWN
from simwright.engines.newton.hulls import ColliderHull, is_hull, make_hulls
from simwright.engines.newton.looks import StageLooks, VisualMesh
from simwright.engines.newton.messages import GEOMETRY_LOST, GEOMETRY_MESHED
from simwright.engines.newton.types import ModelBuilder
from simwright.model.asset import Asset, Shape, Site, scaled
from simwright.model.extras import Origin
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Geometry,
    Heightfield,
    Mesh,
    MeshData,
    Plane,
    Polyline,
    Sphere,
    fan_triangles,
)
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture, to_display
from simwright.model.moments import heightfield_solid

_SITE_SIZE = 0.01
_PLAIN = (to_display(0.18),) * 3
"""OpenUSD's colour of what has none, as Newton's viewers take it."""
_CONTACT_SETTINGS = ("ke", "kd", "kf", "ka", "kh")
FIELD_INVALID = declare(
    "newton-field-invalid",
    Level.WARNING,
    "{name} of shape {shape!r} is {value!r}, which is not {expected}; Newton's default is used",
    doc="A setting of a distance field that Newton does not accept.",
)
HYDROELASTIC_LOST = declare(
    "newton-hydroelastic-lost",
    Level.WARNING,
    "mesh {shape!r} is to be hydroelastic but has no distance field; it is not",
    hint="author newton:sdfMaxResolution or newton:sdfTargetVoxelSize",
    doc="Hydroelastic contact of a mesh needs a distance field of known size.",
)
_FORMATS = ("float32", "uint16", "uint8")
_CELLS = 64
_TILE = 8
TEXTURE_LOST = declare(
    "newton-texture-lost",
    Level.INFO,
    "{count} picture(s) of material {name!r} are left out, the first is that of its {first}",
    hint="Newton's viewers draw one picture, that of the diffuse colour, on meshes with texture coordinates",
    doc="Newton's shapes have a picture for the diffuse colour of meshes, and for nothing else.",
)
_DIFFUSE = "diffuse"


class NewtonShapeMaker:
    """Adds the shapes of one asset to a builder; ``base`` is where the asset's world stands."""

    def __init__(
        self,
        builder: ModelBuilder,
        asset: Asset,
        base: Pose,
        reporter: Reporter,
        *,
        hull_limit: int | None = None,
        looks: StageLooks | None = None,
        with_hulls: bool = False,
        split: frozenset[str] = frozenset(),
    ) -> None:
        self._split = split
        self._seen_by = looks
        cfg = builder.default_shape_cfg
        # who gives every shape a distance field wants the mesh
        has_field = (
            cfg.is_hydroelastic or cfg.sdf_max_resolution is not None or cfg.sdf_target_voxel_size is not None
        )
        self._with_hulls = with_hulls and not has_field
        # what shapes have that say nothing of a field, as nearly all
        self._plain_field = None if has_field else _make_plain_field(cfg)
        # distance fields are resolved and put on afterwards, see put_field
        self._config = cfg.copy()
        self._config.is_hydroelastic = False
        self._config.sdf_max_resolution = self._config.sdf_target_voxel_size = None
        self._config.sdf_narrow_band_range, self._config.sdf_padding = (-0.1, 0.1), None
        self._config.sdf_texture_format = "uint16"
        self.parts: dict[str, int] = {}
        self._builder = builder
        self._base = base
        self._reporter = reporter
        self._hull_limit = hull_limit
        self._origins = asset.origins
        self._contacts = {material.name: material for material in asset.physics_materials}
        self._looks = {material.name: material for material in asset.materials}
        self._meshes: dict[tuple[int, int | None, str], Any] = {}
        self._hulls: dict[tuple[int, int | None], ColliderHull | None] = {}
        self.hulled: set[str] = set()
        self.pictured: set[str] = set()

    def add_shape(self, shape: Shape, body: int) -> int | None:
        """The index of a shape; None (reported) where Newton has none."""
        seen, hull = self._find_visual_meshes(shape), self._find_hull(shape)
        described = self._describe(shape, body, seen, hull)
        if described is None:
            return None
        kind, scale, source = described
        color, opacity = self._choose_look(shape)
        place = pose_to_seven(self._base @ shape.pose if body < 0 else shape.pose)
        common = {"body": body, "type": kind, "xform": place, "scale": scale, "is_static": True}
        if seen and seen[0].is_part:
            return self._add_parts(seen, common, shape)
        index = int(
            self._builder.add_shape(
                cfg=self._build_config(shape),
                src=source,
                color=color,
                opacity=opacity,
                label=shape.path or shape.name,
                **common,
            )
        )
        if hull is not None:
            # that of the whole mesh: a hull with few vertices may be smaller
            self._builder.shape_collision_radius[index] = hull.find_radius(scale)
            self.hulled.add(shape.name)
        if shape.collision:
            field = self._plain_field
            if field is None or not _FIELD_WORDS.isdisjoint(shape.settings):
                field = resolve_field(shape, self._builder.default_shape_cfg, self._reporter)
            put_field(self._builder, index, field)
        return index

    def _find_visual_meshes(self, shape: Shape) -> list[VisualMesh]:
        """Newton's own meshes for a shape that is drawn."""
        if self._seen_by is None or not isinstance(shape.geometry, Mesh) or not shape.path:
            return []
        # what is not drawn needs no normals; parts are drawn only: a collider is one shape
        if shape.collision and not (shape.visual and shape.purpose in DRAWN):
            return []
        return self._seen_by.find_meshes(shape.path, parts=not shape.collision)

    def prepare_hulls(self, shapes: Iterable[Shape]) -> None:
        """Make the hulls of all colliders that leave nothing else to be drawn; others are left to Newton."""
        wanted = {self._key_hull(shape): shape.geometry for shape in shapes if self._is_hulled(shape)}
        # one after the other: meshes are loaded for the caller and not kept
        points = (
            (geometry.solid().vertices, limit)
            for (_, limit), geometry in wanted.items()
            if isinstance(geometry, Mesh)
        )
        self._hulls = dict(zip(wanted, make_hulls(points), strict=True))

    def _find_hull(self, shape: Shape) -> ColliderHull | None:
        return self._hulls[self._key_hull(shape)] if self._hulls and self._is_hulled(shape) else None

    def _is_hulled(self, shape: Shape) -> bool:
        return self._with_hulls and not (shape.visual and shape.name in self._split) and is_hull(shape)

    def _key_hull(self, shape: Shape) -> tuple[int, int | None]:
        return id(shape.geometry), shape.settings.get("max_hull_vertices", self._hull_limit)

    def _take_visual_mesh(self, seen: list[VisualMesh], shape: Shape) -> Any:
        """Newton's mesh for a shape; its material is drawn if it has a picture and coordinates."""
        if any(part.mesh.texture is not None and part.mesh.uvs is not None for part in seen):
            self.pictured.add(shape.material)
        mesh = seen[0].mesh
        limit = shape.settings.get("max_hull_vertices", self._hull_limit)
        if limit is not None:
            mesh.maxhullvert = int(limit)
        return mesh

    def _add_parts(self, seen: list[VisualMesh], common: dict[str, Any], shape: Shape) -> int:
        """A shape for each part of a mesh that has a material of its own; gives the first one."""
        for part in seen:
            self.parts[part.label] = int(
                self._builder.add_shape(
                    cfg=self._build_config(shape), src=part.mesh, color=None, label=part.label, **common
                )
            )
        return self.parts[seen[0].label]

    def add_site(self, site: Site, body: int) -> int:
        """A site is a shape that only marks a frame."""
        import newton

        kind, scale = newton.GeoType.SPHERE, (_SITE_SIZE,) * 3
        described = _describe_primitive(site.geometry) if site.geometry is not None else None
        if described is not None:
            kind, scale = described
        index = int(
            self._builder.add_site(
                body,
                xform=pose_to_seven(self._base @ site.pose if body < 0 else site.pose),
                type=kind,
                scale=scale,
                label=site.path or site.name,
                visible=described is not None,
            )
        )
        found = self._seen_by.find_color(site.path) if self._seen_by is not None and site.path else None
        if found is not None:
            self._builder.shape_color[index] = _PLAIN if found[0] is None else tuple(found[0])
            self._builder.shape_opacity[index] = 1.0 if found[1] is None else float(found[1])
        return index

    def _describe(
        self, shape: Shape, body: int, seen: list[VisualMesh], hull: ColliderHull | None
    ) -> tuple[Any, tuple[float, ...], Any] | None:
        """Kind, scale and source; Newton's own mesh (``seen``) or a hull comes before that of the model."""
        import newton

        geometry, scale = shape.geometry, tuple(float(v) for v in scaled(shape))
        if hull is not None:
            return newton.GeoType.CONVEX_MESH, scale, hull.mesh
        if seen:
            return newton.GeoType.MESH, scale, self._take_visual_mesh(seen, shape)
        # colliding planes have no end in Newton
        if isinstance(geometry, Plane) and shape.collision:
            return newton.GeoType.PLANE, (0.0, 0.0, 0.0), None
        primitive = _describe_primitive(geometry) if shape.scale is None else None
        if primitive is not None:
            return (*primitive, None)
        if isinstance(geometry, Heightfield) and body < 0:
            return newton.GeoType.HFIELD, scale, _build_heightfield(geometry)
        return self._describe_mesh(shape, scale)

    def _describe_mesh(
        self, shape: Shape, scale: tuple[float, ...]
    ) -> tuple[Any, tuple[float, ...], Any] | None:
        import newton

        geometry, mesh = shape.geometry, self._find_mesh(shape)
        if mesh is None:
            why = "extruded outlines have no shape in Newton"
            if not isinstance(geometry, Polyline):
                why = "its mesh has no triangles"
            self._reporter.report(GEOMETRY_LOST, shape.source, name=shape.name, why=why)
            return None
        if not isinstance(geometry, Mesh | Heightfield):
            self._reporter.report(GEOMETRY_MESHED, shape.source, kind=geometry.kind, name=shape.name)
            # round shapes are convex, and so is what uneven scale makes of them
            kind = newton.GeoType.CONVEX_MESH if shape.collision else newton.GeoType.MESH
            return kind, scale, mesh
        return newton.GeoType.MESH, scale, mesh

    def _find_mesh(self, shape: Shape) -> Any:
        """One mesh for all shapes that have the geometry, the same limit of its hull and the same look of its own."""
        limit = shape.settings.get("max_hull_vertices", self._hull_limit)
        look = self._looks.get(shape.material) if shape.visual and isinstance(shape.geometry, Mesh) else None
        # Newton shares a mesh object: its hull limit and look are part of it
        key = id(shape.geometry), limit, look.name if look else ""
        if key not in self._meshes:
            mesh = self._meshes[key] = self._dress(shape, look)
            if mesh is not None and limit is not None:
                mesh.maxhullvert = int(limit)
        return self._meshes[key]

    def _dress(self, shape: Shape, look: RenderMaterial | None) -> Any:
        """A mesh with the picture, roughness and metal of its material."""
        picture = find_picture(shape, look)
        mesh = _build_mesh(shape.geometry, picture)
        if mesh is not None and look is not None:
            mesh.roughness, mesh.metallic = look.roughness, look.metallic
            if picture is not None:
                self.pictured.add(look.name)
        return mesh

    def _build_config(self, shape: Shape) -> Any:
        cfg = object.__new__(type(self._config))
        # what copy.copy does in many steps
        cfg.__dict__.update(self._config.__dict__)
        touches = shape.collision and shape.enabled
        cfg.is_visible = shape.visual and shape.purpose in DRAWN
        cfg.is_solid = shape.settings.get("mass_model") != "shell"
        # a disabled collider is there, and touches nothing
        cfg.has_shape_collision = cfg.has_particle_collision = touches
        gap, material = self._choose_gap(shape), self._contacts.get(shape.physics_material)
        if shape.margin is not None:
            cfg.margin = shape.margin
        if gap is not None:
            cfg.gap = gap
        # most shapes say nothing of contact
        if shape.settings or material is not None:
            for name, value in _list_contact(shape, material).items():
                if value is not None:
                    setattr(cfg, name, value)
        return cfg

    def _choose_gap(self, shape: Shape) -> float | None:
        """The gap of a shape; one that only a schema's fallback gives comes behind the builder's."""
        known = self._origins.get(shape.path, {}).get("gap")
        only_schema = known is not None and known.origin is Origin.SCHEMA
        return None if only_schema and self._builder.default_shape_cfg.gap is not None else shape.gap

    def _choose_look(self, shape: Shape) -> tuple[tuple[float, ...] | None, float | None]:
        found = self._seen_by.find_color(shape.path) if self._seen_by is not None and shape.path else None
        drawn = shape.visual and shape.purpose in DRAWN
        if found is not None:
            color, opacity = found
            plain = color is None and drawn and not (isinstance(shape.geometry, Mesh) and shape.material)
            return (_PLAIN if plain else color), opacity
        material = self._looks.get(shape.material)
        if material is not None:
            return material.diffuse, min(max(material.opacity, 0.0), 1.0)
        if shape.color is not None:
            return shape.color[:3], min(max(shape.color[3], 0.0), 1.0)
        # what is not drawn has the builder's next colour, as in Newton
        return (_PLAIN if drawn else None), None


def _list_contact(shape: Shape, material: PhysicsMaterial | None) -> dict[str, float | None]:
    """Values of contact: those of a shape, and before them those of its material, unless the shape's count first."""
    values: dict[str, float | None] = {name: shape.settings.get(name) for name in _CONTACT_SETTINGS}
    if material is None:
        return values
    said = {name: material.settings.get(name) for name in _CONTACT_SETTINGS}
    said |= {"ke": material.stiffness, "kd": material.damping}
    own = shape.settings.get("contact_first", False)
    values |= {
        name: value
        for name, value in said.items()
        if value is not None and not (own and name in ("ke", "kd") and values[name] is not None)
    }
    return values | material.list_contact()


def _describe_primitive(geometry: Geometry) -> tuple[Any, tuple[float, float, float]] | None:
    """Newton's type and size triple; None for what is not a primitive there."""
    import newton

    kinds = newton.GeoType
    match geometry:
        case Box():
            x, y, z = (float(v) / 2 for v in geometry.size)
            return kinds.BOX, (x, y, z)
        case Sphere():
            return kinds.SPHERE, (geometry.radius, 0.0, 0.0)
        case Ellipsoid():
            x, y, z = (float(v) for v in geometry.radii)
            return kinds.ELLIPSOID, (x, y, z)
        case Capsule():
            return kinds.CAPSULE, (geometry.radius, geometry.length / 2, 0.0)
        case Cylinder():
            return kinds.CYLINDER, (geometry.radius, geometry.length / 2, 0.0)
        case Cone():
            return kinds.CONE, (geometry.radius, geometry.length / 2, 0.0)
        case Plane():
            width, length = (0.0, 0.0) if geometry.size is None else (float(v) for v in geometry.size[:2])
            return kinds.PLANE, (width, length, 0.0)
        case _:
            return None


def _build_mesh(geometry: Geometry, picture: Texture | None = None) -> Any:
    """A ``newton.Mesh``; None where there are no triangles."""
    import newton

    half = getattr(geometry, "length", 0.0) / 2
    along = {"up_axis": newton.Axis.Z, "compute_inertia": False}
    look: dict[str, Any] = {}
    match geometry:
        case Mesh():
            if picture is None:
                data = geometry.solid()
                vertices, triangles = data.vertices, data.triangles()
            else:
                vertices, triangles, look["uvs"] = split_corners(geometry.data)
                look |= describe_picture(picture)
        case Heightfield():
            vertices, triangles = heightfield_solid(geometry)
        case Capsule():
            return newton.Mesh.create_capsule(geometry.radius, half, **along)
        case Cylinder():
            return newton.Mesh.create_cylinder(geometry.radius, half, **along)
        case Cone():
            return newton.Mesh.create_cone(geometry.radius, half, **along)
        case _:
            return None
    if len(triangles) == 0:
        return None
    indices = np.ascontiguousarray(triangles).reshape(-1)
    return newton.Mesh(vertices.astype(np.float32), indices, compute_inertia=False, **look)


def _build_heightfield(geometry: Heightfield) -> Any:
    import newton

    rows, columns = geometry.heights.shape
    return newton.Heightfield(
        geometry.heights, rows, columns, hx=float(geometry.size[0]) / 2, hy=float(geometry.size[1]) / 2
    )


@dataclasses.dataclass(frozen=True, slots=True)
class SdfSettings:
    """What Newton's shape lists hold about a distance field."""

    max_resolution: int | None
    target_voxel_size: float | None
    narrow_band_range: tuple[float, float]
    texture_format: str
    padding: float | None
    is_hydroelastic: bool


_FIELD_WORDS = frozenset(
    {
        "sdf_enabled",
        "hydroelastic_enabled",
        "sdf_max_resolution",
        "sdf_target_voxel_size",
        "sdf_padding",
        "sdf_narrow_band_inner",
        "sdf_narrow_band_outer",
        "sdf_texture_format",
    }
)
"""The settings of a shape that are about its distance field."""


def _make_plain_field(default: Any) -> SdfSettings:
    """What a shape has that says nothing, over a configuration that asks for no field."""
    low, high = default.sdf_narrow_band_range
    return SdfSettings(None, None, (low, high), default.sdf_texture_format, None, is_hydroelastic=False)


def resolve_field(shape: Shape, default: Any, reporter: Reporter) -> SdfSettings:
    """The settings of a shape, checked, over a default shape configuration."""
    check = _SettingReader(shape, reporter)
    settings = shape.settings
    cells, cell, asked = _resolve_cells(check, settings, default)
    low, high = default.sdf_narrow_band_range
    hydroelastic = settings.get("hydroelastic_enabled")
    if hydroelastic is None:
        # who asks for a field says all of it: the builder's default is for shapes that say nothing
        hydroelastic = False if asked else default.is_hydroelastic
    if hydroelastic and isinstance(shape.geometry, Mesh) and cells is None and cell is None:
        reporter.report(HYDROELASTIC_LOST, shape.source, shape=shape.name)
        hydroelastic = False
    return SdfSettings(
        None if cells is None else int(cells),
        cell,
        (settings.get("sdf_narrow_band_inner", low), settings.get("sdf_narrow_band_outer", high)),
        check.take("sdf_texture_format", f"one of {', '.join(_FORMATS)}", lambda v: v in _FORMATS)
        or default.sdf_texture_format,
        check.take("sdf_padding", "0 or more", lambda v: v >= 0),
        bool(hydroelastic),
    )


def _resolve_cells(
    check: _SettingReader, settings: Mapping[str, Any], default: Any
) -> tuple[int | None, float | None, bool]:
    """Number of cells along the longest side, or size of a cell [m], and whether the shape asks for a field."""
    cell = check.take("sdf_target_voxel_size", "more than 0", lambda v: v > 0)
    cells = check.take("sdf_max_resolution", "a positive multiple of 8", lambda v: v > 0 and v % _TILE == 0)
    asked = bool(settings.get("sdf_enabled")) or cell is not None or cells is not None
    cell = default.sdf_target_voxel_size if cell is None else cell
    if cell is not None:
        cells = None  # Newton takes one of the two
    elif cells is None:
        cells = _CELLS if asked else default.sdf_max_resolution
    return cells, cell, asked


class _SettingReader:
    """Takes settings of a shape that pass a test and reports the others."""

    def __init__(self, shape: Shape, reporter: Reporter) -> None:
        self._shape = shape
        self._reporter = reporter

    def take(self, name: str, expected: str, is_good: Callable[[Any], bool]) -> Any:
        """The value of a setting; None where it is not said, or not good."""
        value = self._shape.settings.get(name)
        if value is None or is_good(value):
            return value
        self._reporter.report(
            FIELD_INVALID,
            self._shape.source,
            name=name,
            shape=self._shape.name,
            value=value,
            expected=expected,
        )
        return None


def put_field(builder: ModelBuilder, index: int, field: SdfSettings) -> None:
    """Write the settings into the builder, which makes the field when it is finalized."""
    import newton

    builder.shape_sdf_max_resolution[index] = field.max_resolution
    builder.shape_sdf_target_voxel_size[index] = field.target_voxel_size
    builder.shape_sdf_narrow_band_range[index] = field.narrow_band_range
    builder.shape_sdf_texture_format[index] = field.texture_format
    builder.shape_sdf_padding[index] = field.padding
    if field.is_hydroelastic:
        builder.shape_flags[index] |= int(newton.ShapeFlags.HYDROELASTIC)


def find_picture(shape: Shape, material: RenderMaterial | None) -> Texture | None:
    """The picture that is drawn on a shape; None if there is none, or no coordinates for it."""
    if material is None or not shape.visual or not isinstance(shape.geometry, Mesh):
        return None
    picture = material.textures.get(_DIFFUSE)
    return None if picture is None or shape.geometry.data.uvs is None else picture


def split_corners(data: MeshData) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Vertices, triangles and texture coordinates, one for each vertex."""
    assert data.uvs is not None
    # one coordinate for each vertex already
    if len(data.uvs) == len(data.vertices) != len(data.indices):
        return data.vertices, data.triangles(), data.uvs
    counts = np.full(len(data.indices) // 3, 3, dtype=np.int32) if data.counts is None else data.counts
    corners = fan_triangles(counts, np.arange(len(data.indices), dtype=np.int32))
    # a vertex is split where its corners have different coordinates
    rows = np.column_stack((data.indices, data.uvs))
    _, first, number = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    triangles = number.reshape(-1)[corners]
    return (
        data.vertices[data.indices[first]],
        triangles[:, ::-1] if data.left_handed else triangles,
        data.uvs[first],
    )


def describe_picture(picture: Texture) -> dict[str, Any]:
    """Arguments of ``newton.Mesh``: the file, and how coordinates are scaled, turned and moved."""
    (sx, sy), (tx, ty) = picture.scale, picture.offset
    cos, sin = math.cos(picture.rotation), math.sin(picture.rotation)
    return {
        "texture": picture.file,
        "texture_transform": ((sx * cos, -sy * sin, tx), (sx * sin, sy * cos, ty)),
    }


def report_pictures(materials: list[RenderMaterial], carried: set[str], reporter: Reporter) -> None:
    """One finding per material with pictures that Newton does not draw; ``carried`` have their diffuse one drawn."""
    for material in materials:
        lost = [word for word in material.textures if word != _DIFFUSE or material.name not in carried]
        if lost:
            reporter.report(TEXTURE_LOST, material.source, name=material.name, count=len(lost), first=lost[0])
