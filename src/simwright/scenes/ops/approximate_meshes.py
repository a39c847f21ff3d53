# SPDX-License-Identifier: Apache-2.0
"""``approximate_meshes``: boxes or hulls instead of colliding meshes."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from simwright.core.math3d import pose_from_seven, pose_to_seven, vec3
from simwright.model.geometry import Mesh
from simwright.model.inertia import combine
from simwright.runtime.kinds import ShapeFlag, ShapeType
from simwright.scenes.builder import Builder
from simwright.scenes.builder_shape import measure_radius, weigh_shape
from simwright.scenes.enclosing import find_box, find_hull
from simwright.scenes.messages import SELECTOR_EMPTY
from simwright.scenes.ops.bench import Bench
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import LabelSelector


@operation
def approximate_meshes(
    bench: Bench,
    choice: LabelSelector,
    *,
    method: Annotated[
        Literal["bounding_box", "convex_hull"],
        Field(description="bounding_box (the smallest, turned as needed) or convex_hull"),
    ] = "convex_hull",
) -> None:
    """Replace colliding meshes by their smallest box or their convex hull.

    The mass of their bodies stays: what is touched changes, not what it weighs.
    """
    builder = bench.builder
    if bench.is_compat and method != "bounding_box":
        bench.skip(f"post_build approximate_meshes method={method}")
        return
    chosen = range(builder.shape_count) if bench.is_compat else bench.choose_shapes(choice)
    meshes = [shape for shape in chosen if _is_colliding_mesh(builder, shape)]
    if chosen and not meshes and not bench.is_compat:
        bench.reporter.report(
            SELECTOR_EMPTY,
            bench.find_where("op"),
            selector="approximate_meshes",
            what="colliding mesh",
            hint="",
        )
    for shape in meshes:
        if not bench.is_compat:
            _keep_mass(builder, shape)
        if method == "bounding_box":
            _put_box(builder, shape)
        else:
            _put_hull(builder, shape)
        if not bench.is_compat:
            kind = ShapeType(builder.shape_type[shape])
            radius = measure_radius(kind, builder.shape_scale[shape], builder.shape_source[shape])
            builder.shape_collision_radius[shape] = radius


def _is_colliding_mesh(builder: Builder, shape: int) -> bool:
    mesh = builder.shape_type[shape] in {ShapeType.MESH, ShapeType.CONVEX_MESH}
    return mesh and bool(builder.shape_flags[shape] & ShapeFlag.COLLIDE_SHAPES)


def _keep_mass(builder: Builder, shape: int) -> None:
    """Count the mass of a shape as the body's own, so that it stays whatever becomes of the shape."""
    body, density = builder.shape_body[shape], builder.shape_density[shape]
    if body < 0 or density <= 0.0 or builder.body_locked[body]:
        return
    part = weigh_shape(
        ShapeType(builder.shape_type[shape]),
        builder.shape_scale[shape],
        builder.shape_source[shape],
        density=density,
        thickness=None if builder.shape_is_solid[shape] else builder.shape_margin[shape],
    ).moved(pose_from_seven(builder.shape_transform[shape]))
    builder.body_own[body] = combine((builder.body_own[body], part))
    builder.shape_density[shape] = 0.0


def _scaled_vertices(builder: Builder, shape: int) -> tuple[np.ndarray, Mesh]:
    mesh = builder.shape_source[shape]
    assert isinstance(mesh, Mesh)
    return mesh.data.vertices * vec3(builder.shape_scale[shape]), mesh


def _put_box(builder: Builder, shape: int) -> None:
    vertices, _ = _scaled_vertices(builder, shape)
    pose, half = find_box(vertices)
    builder.shape_transform[shape] = pose_to_seven(pose_from_seven(builder.shape_transform[shape]) @ pose)
    builder.shape_type[shape] = int(ShapeType.BOX)
    builder.shape_scale[shape] = (float(half[0]), float(half[1]), float(half[2]))
    builder.shape_source[shape] = None


def _put_hull(builder: Builder, shape: int) -> None:
    mesh = builder.shape_source[shape]
    assert isinstance(mesh, Mesh)
    hull = find_hull(mesh)
    if hull is not None:
        builder.shape_source[shape] = hull
    builder.shape_type[shape] = int(ShapeType.CONVEX_MESH)
