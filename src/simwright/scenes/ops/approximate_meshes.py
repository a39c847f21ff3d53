# SPDX-License-Identifier: Apache-2.0
"""``approximate_meshes``: boxes or hulls instead of colliding meshes."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import Field

from simwright.core.math3d import Array, Pose, pose_from_seven, pose_to_seven, quat_from_matrix, vec3
from simwright.model.geometry import Mesh
from simwright.model.inertia import combine
from simwright.model.moments import compute_moments
from simwright.runtime.kinds import ShapeFlag, ShapeType
from simwright.scenes.builder import Builder
from simwright.scenes.builder_shape import measure_radius, weigh_shape
from simwright.scenes.messages import SELECTOR_EMPTY
from simwright.scenes.ops.context import OperationContext
from simwright.scenes.ops.operation import operation
from simwright.scenes.selectors import LabelSelector

THINNEST = 1e-6
"""Half extent of a box around what is flat [m]."""
_MOST_FACES = 4096


@operation
def approximate_meshes(
    context: OperationContext,
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
    # what SAP Warp does differently stands at each step
    builder = context.builder
    if context.is_compat and method != "bounding_box":
        context.skip(f"post_build approximate_meshes method={method}")
        return
    chosen = range(builder.shape_count) if context.is_compat else context.choose_shapes(choice)
    meshes = [shape for shape in chosen if _is_colliding_mesh(builder, shape)]
    if chosen and not meshes and not context.is_compat:
        context.reporter.report(
            SELECTOR_EMPTY,
            context.find_where("op"),
            selector="approximate_meshes",
            what="colliding mesh",
            hint="",
        )
    for shape in meshes:
        if not context.is_compat:
            _keep_mass(builder, shape)
        if method == "bounding_box":
            _put_box(builder, shape, find_turned_box if context.is_compat else find_box)
        else:
            _put_hull(builder, shape)
        if not context.is_compat:
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


def _put_box(builder: Builder, shape: int, find: Callable[[Array], tuple[Pose, Array]]) -> None:
    vertices, _ = _scaled_vertices(builder, shape)
    pose, half = find(vertices)
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


def find_box(points: Array) -> tuple[Pose, Array]:
    """Pose and half extents [m] of the smallest box that has a face flush with the hull of ``points``."""
    points = np.asarray(points, dtype=np.float64)
    corners, normals = _find_faces(points)
    best: tuple[float, Array] | None = None
    for axis in normals:
        turn = _turn_flush(corners, axis)
        # an optimal box need not have a flush face, but this one is near and found in one pass
        volume = float(np.prod(np.ptp(corners @ turn, axis=0)))
        if best is None or volume < best[0] * (1 - 1e-9):
            best = (volume, turn)
    turn = best[1] if best is not None else np.eye(3)
    local = corners @ turn
    lower, upper = local.min(axis=0), local.max(axis=0)
    half = np.maximum((upper - lower) / 2.0, THINNEST)
    return Pose(turn @ ((lower + upper) / 2.0), quat_from_matrix(turn)), half


def find_turned_box(points: Array) -> tuple[Pose, Array]:
    """The smallest of the boxes that SAP Warp tries: turned by whole degrees about the main axes of the solid hull.

    It computes in single precision.  Boxes that are turned by a right angle are the same one with other axes; which of
    them is the smallest is rounding, here as there.
    """
    hull = find_hull(Mesh.of(np.asarray(points, dtype=np.float32), np.zeros((0, 3), dtype=np.int32)))
    if hull is None:  # flat: it has none either
        return find_box(points)
    solid = compute_moments(hull).inertial(1.0)
    _, axes = np.linalg.eigh(solid.inertia.astype(np.float32))
    if np.linalg.det(axes) < 0.0:
        axes[:, 2] *= -1.0
    corners = (hull.data.vertices - solid.com).astype(np.float32)
    turns = np.stack([axes.T @ _turn_about(axis) for axis in range(3)], axis=1)
    volumes, sides = np.zeros(turns.shape[:2], dtype=np.float32), np.zeros((2, *turns.shape[:2], 3))
    for place in np.ndindex(volumes.shape):
        turned = corners @ turns[place].T.astype(np.float32)
        sides[0][place], sides[1][place] = turned.min(axis=0), turned.max(axis=0)
        volumes[place] = np.prod(0.5 * (turned.max(axis=0) - turned.min(axis=0)))
    best = np.unravel_index(np.argmin(volumes), volumes.shape)
    lower, upper, turn = sides[0][best], sides[1][best], turns[best]
    return Pose(solid.com + turn.T @ (0.5 * (lower + upper)), quat_from_matrix(turn.T)), 0.5 * (upper - lower)


def _turn_about(axis: int) -> Array:
    """Turns by whole degrees about an axis (360 x 3 x 3)."""
    angles = np.arange(360) * (2.0 * np.pi / 360)
    turns = np.zeros((360, 3, 3))
    second, third = (axis + 1) % 3, (axis + 2) % 3
    turns[:, axis, axis] = 1.0
    turns[:, second, second] = turns[:, third, third] = np.cos(angles)
    turns[:, third, second] = np.sin(angles)
    turns[:, second, third] = -np.sin(angles)
    return turns


def find_hull(mesh: Mesh) -> Mesh | None:
    """The convex hull of a mesh, facing outward; None if it is flat."""
    hull = _compute_hull(mesh.data.vertices)
    if hull is None:
        return None
    points, triangles, equations = hull
    corners = points[triangles]
    # Qhull's triangles have any winding: its plane equations tell outward
    facing = np.einsum(
        "ij,ij->i", np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), equations
    )
    triangles = np.where((facing < 0)[:, None], triangles[:, ::-1], triangles)
    used, renumbered = np.unique(triangles, return_inverse=True)
    return Mesh.of(points[used], renumbered.reshape(-1, 3), source=mesh.source)


def _find_faces(points: Array) -> tuple[Array, Array]:
    """Corners of the hull and directions worth trying; for flat things their main directions."""
    hull = _compute_hull(points)
    if hull is None:
        return points, _list_main_axes(points)
    corners, triangles, equations = hull
    normals = _drop_parallel(equations)
    return corners[np.unique(triangles)], normals


def _compute_hull(points: Array) -> tuple[Array, Array, Array] | None:
    spatial = _load_spatial()
    points = np.asarray(points, dtype=np.float64)
    if len(points) < 4:
        return None
    try:
        hull = spatial.ConvexHull(points)
    # flat, a line or a point
    except spatial.QhullError:
        return None
    return points, np.asarray(hull.simplices), np.asarray(hull.equations[:, :3])


def _load_spatial() -> Any:
    return importlib.import_module("scipy.spatial")  # slow to import, and without types


def _drop_parallel(normals: Array) -> Array:
    """One of each direction and its opposite, as many as can be tried."""
    signs = np.sign(normals[np.arange(len(normals)), np.argmax(np.abs(normals), axis=1)])
    _, kept = np.unique(np.round(normals * signs[:, None], 6), axis=0, return_index=True)
    # of a fine mesh every few faces are enough: neighbours have nearly the same normal
    step = max(1, len(kept) // _MOST_FACES)
    return np.concatenate((np.eye(3), normals[kept[::step]]))


def _list_main_axes(points: Array) -> Array:
    centred = points - points.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False) if len(points) > 2 else (0, 0, np.eye(3))
    return np.concatenate((np.asarray(axes)[::-1], np.eye(3)))


def _turn_flush(points: Array, axis: Array) -> Array:
    """The turn whose z is ``axis`` and whose x, y hold the points in the least area."""
    z = axis / np.linalg.norm(axis)
    x = np.cross(z, np.eye(3)[int(np.argmin(np.abs(z)))])
    x /= np.linalg.norm(x)
    y = np.cross(z, x)
    flat = points @ np.stack((x, y), axis=1)
    angle = _find_least_area(flat)
    c, s = np.cos(angle), np.sin(angle)
    return np.stack((c * x + s * y, c * y - s * x, z), axis=1)


def _find_least_area(flat: Array) -> float:
    """The angle [rad] of the rectangle of least area: one of its sides lies on an edge of the outline."""
    spatial = _load_spatial()
    try:
        outline = flat[spatial.ConvexHull(flat).vertices]
    except spatial.QhullError:
        spread = flat[np.argmax(flat @ (flat.max(axis=0) - flat.min(axis=0)))] - flat[0]
        return float(np.arctan2(spread[1], spread[0])) if np.any(spread) else 0.0
    edges = np.roll(outline, -1, axis=0) - outline
    angles = np.unique(np.round(np.mod(np.arctan2(edges[:, 1], edges[:, 0]), np.pi / 2), 9))
    c, s = np.cos(angles), np.sin(angles)
    along = outline @ np.stack((c, s))
    across = outline @ np.stack((-s, c))
    return float(angles[np.argmin(np.ptp(along, axis=0) * np.ptp(across, axis=0))])
