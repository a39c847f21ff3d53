"""Shapes: geometry, meshes, contact and looks, against what Newton holds after its import."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from oracle_mechanism import match
from oracle_values import Difference, agree, agree_pose, say

from simwright.model.asset import Asset, Shape, Site
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from simwright.model.joint import WORLD
from simwright.model.moments import compute_moments

CONVEX = ("convexHull", "convexDecomposition")


def compare_shapes(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Newton splits a mesh collider that is seen and approximated: the copy has no path of its own."""
    shapes: dict[str, Shape | Site] = {shape.path: shape for shape in asset.shapes}
    shapes |= {site.path: site for site in asset.sites if site.geometry is not None}
    rows = [row for row in oracle["shapes"] if row["paths"]]
    yield from match(shapes, rows, "shape")
    bodies = {body.name: body.path for body in asset.bodies} | {WORLD: None}
    split = {row["path"].removesuffix("_visual") for row in oracle["shapes"] if not row["paths"]}
    for row in rows:
        if row["path"] not in shapes:
            continue
        shape = shapes[row["path"]]
        if not agree_pose(shape.pose, row["transform"]):
            yield Difference(row["path"], "shape.pose", shape.pose, row["transform"])
        visible = isinstance(shape, Site) or (shape.visual and row["path"] not in split)
        for field, value, theirs in (
            ("shape.body", bodies[shape.body], row["body"]),
            ("shape.visible", visible, "VISIBLE" in row["flag_names"]),
            ("shape.site", isinstance(shape, Site), "SITE" in row["flag_names"]),
            *describe_geometry(shape, row, oracle["kw"].get("skip_mesh_approximation", False)),
            *(describe_contact(asset, shape, row) if isinstance(shape, Shape) else ()),
        ):
            if not agree(value, theirs):
                yield Difference(row["path"], field, value, theirs)


def describe_geometry(
    shape: Shape | Site, row: dict[str, Any], skipped: bool
) -> Iterator[tuple[str, Any, Any]]:
    geometry = shape.geometry
    scale = getattr(shape, "scale", None)
    match geometry:
        case Box():
            kind, size = "BOX", geometry.size / 2
        case Sphere():
            kind, size = "SPHERE", (geometry.radius, 0.0, 0.0)
        case Ellipsoid():
            kind, size = "ELLIPSOID", geometry.radii
        case Capsule():
            kind, size = "CAPSULE", (geometry.radius, geometry.length / 2, 0.0)
        case Cylinder():
            kind, size = "CYLINDER", (geometry.radius, geometry.length / 2, 0.0)
        case Cone():
            kind, size = "CONE", (geometry.radius, geometry.length / 2, 0.0)
        case Plane():
            kind, size = "PLANE", (0.0, 0.0, 0.0)
        case _:
            assert isinstance(geometry, Mesh)
            hull = getattr(shape, "approximation", None)
            convex = hull is not None and hull.token in CONVEX and not skipped
            kind, size = "CONVEX_MESH" if convex else "MESH", np.ones(3) if scale is None else scale
            yield from describe_mesh(geometry, row["mesh"])
            if skipped or hull is None or hull.token == "none":
                yield "mesh.triangles", len(geometry.data.triangles()), row["mesh"]["ntris"]
    yield "shape.type", kind, row["type"]
    yield "shape.scale", size, row["scale"]


def describe_contact(asset: Asset, shape: Shape, row: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    yield "shape.collides", shape.collision and shape.enabled, "COLLIDE_SHAPES" in row["flag_names"]
    if not shape.collision:
        return
    found = [m for m in asset.physics_materials if m.name == shape.physics_material]
    material = found[0] if found else None
    own = shape.settings
    surface = material.settings if material else {}
    yield "shape.mu", say(material.dynamic_friction if material else None, 1.0), row["mu"]
    yield (
        "shape.mu_torsional",
        say(material.torsional_friction if material else None, 0.005),
        row["mu_torsional"],
    )
    yield "shape.mu_rolling", say(material.rolling_friction if material else None, 1e-4), row["mu_rolling"]
    yield "shape.restitution", say(material.restitution if material else None, 0.0), row["restitution"]
    yield "shape.ke", say(material.stiffness if material else None, own.get("ke", 2500.0)), row["ke"]
    yield "shape.kd", say(material.damping if material else None, own.get("kd", 100.0)), row["kd"]
    yield "shape.kf", surface.get("kf", own.get("kf", 1000.0)), row["kf"]
    yield "shape.ka", surface.get("ka", own.get("ka", 0.0)), row["ka"]
    yield "shape.margin", say(shape.margin, 0.0), row["margin"]
    yield "shape.gap", say(shape.gap, 0.1), row["gap"]
    yield "shape.kh", surface.get("kh", own.get("kh", 1e10)), row["kh"]
    yield "shape.is_solid", own.get("mass_model") != "shell", row["is_solid"]


def describe_mesh(geometry: Mesh, row: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    """Its box, and the mass properties at unit density of what Newton keeps of it (perhaps a hull)."""
    vertices = np.asarray(geometry.data.vertices, dtype=float)
    yield "mesh.low", vertices.min(axis=0), row["bbox_min"]
    yield "mesh.high", vertices.max(axis=0), row["bbox_max"]
    whole = compute_moments(geometry).inertial(1.0)
    yield "mesh.volume", whole.mass, row["unit_mass"]
    yield "mesh.centre", whole.com + 1.0, np.array(row["unit_com"]) + 1.0
    size = np.abs(row["unit_inertia"]).max()
    yield "mesh.inertia", whole.inertia / size + 1.0, np.array(row["unit_inertia"]) / size + 1.0
