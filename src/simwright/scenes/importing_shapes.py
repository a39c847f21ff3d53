# SPDX-License-Identifier: Apache-2.0
"""Shapes and sites of an asset as shapes of the arrays: type, size, flags, contact values and density."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose, pose_to_seven, vec3
from simwright.model.asset import Asset, Body, Shape, Site, scaled
from simwright.model.geometry import Box, Geometry, Heightfield, Mesh, MeshData, Plane, Sphere, box_bounds
from simwright.model.inertia import Inertial
from simwright.model.mass import shape_inertial
from simwright.model.moments import compute_moments
from simwright.runtime.kinds import ShapeType
from simwright.scenes.builder import Builder, Triple
from simwright.scenes.builder_config import ShapeConfig
from simwright.scenes.builder_shape import describe_geometry
from simwright.scenes.importing_messages import DECOMPOSITION_SKIPPED, GEOMETRY_LOST
from simwright.scenes.importing_options import ImportOptions

_SITE_SIZE = 0.01
_CONVEX = ("convexhull", "convexdecomposition")
_TYPES = (
    ShapeType.SPHERE,
    ShapeType.BOX,
    ShapeType.CAPSULE,
    ShapeType.CYLINDER,
    ShapeType.CONE,
    ShapeType.MESH,
    ShapeType.PLANE,
)


class ShapeImporter:
    """Adds the shapes of one asset to a builder; ``config`` is what a shape that says nothing has."""

    def __init__(
        self,
        builder: Builder,
        asset: Asset,
        options: ImportOptions,
        config: ShapeConfig,
        reporter: Reporter,
    ) -> None:
        self._builder = builder
        self._options = options
        self._config = config
        self._reporter = reporter
        self._stage = asset.provenance.format == "usd"
        self._bodies = {body.name: body for body in asset.bodies}
        self._contacts = {material.name: material for material in asset.physics_materials}
        self._looks = {material.name: material for material in asset.materials}
        self._seen = {shape.body for shape in asset.shapes if shape.visual and not shape.collision}

    def add_shape(self, shape: Shape, body: int, label: str) -> int | None:
        """The index of a shape; None (reported) where the arrays have no type for it."""
        described = self._describe(shape, body)
        if described is None:
            return None
        kind, scale, source, pose = described
        # materials cannot be arrays: they are kept beside, for export
        if self._looks and (shape.material or isinstance(source, Mesh)):
            self._builder.shape_look[self._builder.shape_count] = (shape.material, self._looks)
        return self._builder.add_shape(
            body,
            kind,
            scale,
            pose=pose_to_seven(self._options.xform @ pose if body < 0 else pose),
            source=source,
            config=self._configure(shape),
            label=label,
            color=self._choose_color(shape),
            max_hull_vertices=self._find_hull_limit(shape) if source is not None else None,
        )

    def _find_hull_limit(self, shape: Shape) -> int | None:
        """The file's, else the scene's."""
        limit = shape.settings.get("max_hull_vertices", self._options.mesh_maxhullvert)
        return None if limit is None else int(limit)

    def add_site(self, site: Site, body: int, label: str) -> int:
        """A site is a shape that only marks a frame."""
        described = describe_geometry(site.geometry) if site.geometry is not None else None
        kind, scale = described or (ShapeType.SPHERE, (_SITE_SIZE,) * 3)
        return self._builder.add_shape(
            body,
            kind,
            scale,
            pose=pose_to_seven(self._options.xform @ site.pose if body < 0 else site.pose),
            config=self._config.with_values({"is_site": True, "is_visible": described is not None}),
            label=label,
        )

    def _describe(self, shape: Shape, body: int) -> tuple[ShapeType, Triple, Geometry | None, Pose] | None:
        geometry, pose = shape.geometry, shape.pose
        x, y, z = (float(v) for v in scaled(shape))
        # colliding planes have no end in any engine of ours, whatever size is drawn
        if isinstance(geometry, Plane) and shape.collision:
            return ShapeType.PLANE, (0.0, 0.0, 0.0), None, pose
        primitive = describe_geometry(geometry)
        if primitive is not None:
            resized = _resize(*primitive, (x, y, z))
            if resized is not None:
                return (*resized, None, pose)
            why = "its size differs between axes that have to be equal"
        elif isinstance(geometry, Mesh):
            if len(geometry.data.indices):
                return self._describe_mesh(shape, (x, y, z))
            why = "its mesh has no triangles"
        elif isinstance(geometry, Heightfield) and body < 0:
            return ShapeType.HEIGHTFIELD, (x, y, z), geometry, pose
        else:
            why = f"a {geometry.kind} has no type here" + (" on a body" if body >= 0 else "")
        self._reporter.report(GEOMETRY_LOST, shape.source, name=shape.name, why=why)
        return None

    def _describe_mesh(self, shape: Shape, scale: Triple) -> tuple[ShapeType, Triple, Geometry | None, Pose]:
        """A mesh, or what it is approximated by."""
        plain = (ShapeType.MESH, scale, shape.geometry, shape.pose)
        token = shape.approximation.token.lower() if shape.approximation else "none"
        skipped = self._options.skip_mesh_approximation or not (shape.collision and shape.enabled)
        # what is only seen is never approximated
        if skipped or token == "none":
            return plain
        if token in ("boundingcube", "boundingsphere"):
            return _fit(shape, scale, ball=token == "boundingsphere")
        # one shape cannot be several: its hull is the nearest that is convex
        if token == "convexdecomposition":
            self._reporter.report(
                DECOMPOSITION_SKIPPED, shape.source, name=shape.name, token=token, as_what="its convex hull"
            )
        if token in _CONVEX:
            return (ShapeType.CONVEX_MESH, *plain[1:])
        self._reporter.report(
            DECOMPOSITION_SKIPPED, shape.source, name=shape.name, token=token, as_what="it is"
        )
        return plain

    def _configure(self, shape: Shape) -> ShapeConfig:
        """Defaults, then what the asset says, then what is forced."""
        touches = shape.collision and shape.enabled
        options = self._options
        # colliders are seen only on bodies that have nothing else to show
        hidden = options.hide_collision_shapes or shape.body in self._seen
        visible = shape.visual or (shape.collision and not hidden)
        if shape.collision and options.hide_collision_shapes and shape.body in self._seen:
            visible = False
        config = self._plain(shape).with_values(
            {
                "is_visible": visible or (shape.collision and options.force_show_colliders),
                "is_solid": shape.settings.get("mass_model") != "shell",
                "has_shape_collision": touches and self._config.has_shape_collision,
                "has_particle_collision": touches and self._config.has_particle_collision,
                "density": self._find_density(shape),
                **self._find_contact(shape),
            }
        )
        return config.with_values(options.forced)

    def _plain(self, shape: Shape) -> ShapeConfig:
        """What a shape begins with; what is only seen of a stage has none of the defaults in SAP Warp."""
        # in this one case, so that arrays agree with those of its loader
        seen = self._stage and not shape.collision and self._builder.compat == "sap"
        return ShapeConfig(gap=self._config.gap) if seen else self._config

    def _find_contact(self, shape: Shape) -> dict[str, Any]:
        """Margin, gap and material: those of the physics material come before those of the shape."""
        own = shape.settings
        values: dict[str, Any] = {"margin": shape.margin, "gap": shape.gap}
        values |= {"ke": own.get("ke"), "kh": own.get("kh")}
        # arrays have a dissipation time: tau = kd / ke
        damping = own.get("kd")
        material = self._contacts.get(shape.physics_material)
        if material is not None:
            first = own.get("contact_first", False)
            if material.stiffness is not None and not (first and values["ke"] is not None):
                values["ke"] = material.stiffness
            if material.damping is not None and not (first and damping is not None):
                damping = material.damping
            values |= material.list_contact()
        if values["ke"] and damping is not None:
            values["tau"] = float(damping) / float(values["ke"])
        return values

    def _find_density(self, shape: Shape) -> float:
        """The density that gives a shape the mass it is said to have; none where a body's mass is said."""
        body = self._bodies.get(shape.body)
        if body is None or body.inertial is not None or not (shape.collision and shape.enabled):
            return 0.0
        # the arrays keep a density per shape, not a mass: operations may resize it
        volume = compute_moments(shape.geometry, shape.scale).volume
        if volume <= 0.0:
            return 0.0
        return self.weigh(shape, body).mass / volume

    def weigh(self, shape: Shape, body: Body) -> Inertial:
        """Mass of a collider: its own, else by the density of body, material or configuration."""
        material = self._contacts.get(shape.physics_material)
        # UsdPhysics' order: the body's density, then the material's
        density = body.density or (material.density if material else None)
        return shape_inertial(shape, self._config.density if density is None else density)

    def _choose_color(self, shape: Shape) -> Triple | None:
        material = self._looks.get(shape.material)
        if material is not None:
            return material.diffuse
        return None if shape.color is None else shape.color[:3]


def _resize(kind: ShapeType, size: Triple, factors: Triple) -> tuple[ShapeType, Triple] | None:
    """A primitive stretched along its axes; None where it is none any more."""
    x, y, z = (abs(v) for v in factors)
    a, b, c = size
    if kind in (ShapeType.BOX, ShapeType.ELLIPSOID):
        return kind, (a * x, b * y, c * z)
    if kind is ShapeType.PLANE:
        return kind, (a * x, b * y, c)
    if kind is ShapeType.SPHERE:
        return (kind, (a * x, b, c)) if x == y == z else (ShapeType.ELLIPSOID, (a * x, a * y, a * z))
    # a round shape stretched unevenly has no type: it goes in as a mesh
    if x != y or (kind is ShapeType.CAPSULE and x != z):
        return None
    return kind, (a * x, b * z, c)


def _fit(shape: Shape, scale: Triple, *, ball: bool) -> tuple[ShapeType, Triple, Geometry | None, Pose]:
    """The box or ball around a mesh, in its own axes."""
    bounds = box_bounds(shape.geometry)
    assert bounds is not None, "a mesh with triangles has bounds"
    corners = np.stack(bounds) * vec3(scale)
    middle, half = corners.mean(axis=0), np.abs(corners[1] - corners[0]) / 2
    pose = shape.pose @ Pose.of(middle)
    fitted = describe_geometry(Sphere(float(np.linalg.norm(half))) if ball else Box(2 * half))
    assert fitted is not None
    return (*fitted, None, pose)


def imitate_sap(asset: Asset) -> None:
    """Change an asset to what SAP Warp reads of its file."""
    # measured: densities and colours of files do not reach SAP Warp's arrays
    for body in asset.bodies:
        body.density = None
    for material in asset.physics_materials:
        material.density = None
    for shape in asset.shapes:
        shape.density, shape.mass, shape.color, shape.material = None, None, None, ""
    if asset.provenance.format != "urdf":
        return
    for body in asset.bodies:
        # our reader states an empty inertial where URDF has none
        if body.inertial is not None and body.inertial.mass == 0.0 and not np.any(body.inertial.inertia):
            body.inertial = None
    meshes: dict[tuple[int, bytes], list[Mesh]] = {}
    asset.shapes = [part for shape in asset.shapes for part in _split_shape(shape, meshes)]


def order_shapes(asset: Asset, bodies: dict[str, int]) -> list[Shape]:
    """The shapes in SAP Warp's order; ``bodies`` are indices by name."""
    if asset.provenance.format == "urdf":
        # visuals before colliders, link by link: the order in which its importer adds them
        return sorted(asset.shapes, key=lambda shape: (bodies.get(shape.body, -1), shape.collision))

    def rank(shape: Shape) -> tuple[bool, int, int]:
        described = describe_geometry(shape.geometry)
        kind = described[0] if described is not None else ShapeType.MESH
        place = _TYPES.index(kind) if shape.collision and kind in _TYPES else 0
        return shape.collision, place, bodies.get(shape.body, -1)

    return sorted(asset.shapes, key=rank)


def _split_shape(shape: Shape, meshes: dict[tuple[int, bytes], list[Mesh]]) -> list[Shape]:
    """A shape for each material of a mesh, by the names of the materials."""
    if not isinstance(shape.geometry, Mesh):
        return [shape]
    scale = scaled(shape)
    # shapes that share a mesh share its pieces
    key = id(shape.geometry), scale.tobytes()
    if key not in meshes:
        meshes[key] = _split_mesh(shape.geometry, scale)
    parts = meshes[key]
    return [
        dataclasses.replace(
            shape, name=f"{shape.name}#{number}" if number else shape.name, geometry=part, scale=None
        )
        for number, part in enumerate(parts)
    ]


def _split_mesh(mesh: Mesh, scale: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> list[Mesh]:
    data = mesh.data
    triangles, vertices = data.triangles(), data.vertices * scale
    pieces = sorted(data.subsets, key=lambda subset: subset.material or subset.name)
    if len(pieces) < 2 or data.counts is not None or not mesh.file.lower().endswith(".dae"):
        whole = MeshData(vertices, np.ascontiguousarray(triangles).reshape(-1))
        return [Mesh(whole, source=mesh.source, file=mesh.file, gate=mesh.gate)]
    parts = []
    for piece in pieces:
        used, corners = np.unique(triangles[piece.faces], return_inverse=True)
        part = MeshData(vertices[used], corners.reshape(-1).astype(np.int32))
        parts.append(Mesh(part, source=mesh.source, file=mesh.file, gate=mesh.gate))
    return parts
