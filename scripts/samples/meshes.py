# SPDX-License-Identifier: Apache-2.0
"""Closed triangle meshes from a few generators: lofts, lathes, rounded boxes, extrusions, gears.

Every generator gives a closed manifold shell, wound counter-clockwise seen from outside.  Lengths in metres.
A :class:`Mesh` may hold several shells (:func:`merge`).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from simwright.core.math3d import Array, Pose, VectorLike, quat_between, vec3
from simwright.model.geometry import Faces

Profile = Sequence[tuple[float, float]]
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Vertices ``(n, 3)`` [m] and triangles ``(m, 3)``."""

    vertices: Array
    faces: Faces

    def moved(self, pose: Pose) -> Mesh:
        """The mesh in the parent frame of ``pose``."""
        return Mesh(pose.apply(self.vertices), self.faces)

    def at(self, x: float = 0.0, y: float = 0.0, z: float = 0.0) -> Mesh:
        """The mesh translated."""
        return Mesh(self.vertices + vec3(x, y, z), self.faces)

    def along(self, axis: str) -> Mesh:
        """The mesh with its local +Z turned to +X, +Y or +Z (``axis`` is ``x``, ``y`` or ``z``)."""
        return self.moved(Pose.of(q=quat_between((0.0, 0.0, 1.0), AXES[axis])))

    def mirrored(self, axis: str) -> Mesh:
        """The mirror image across the plane normal to ``axis``; winding stays outward."""
        flip = 1.0 - 2.0 * np.array(AXES[axis])
        return Mesh(self.vertices * flip, np.ascontiguousarray(self.faces[:, ::-1]))


def merge(parts: Iterable[Mesh]) -> Mesh:
    """Several meshes as one, shells side by side."""
    vertices: list[Array] = []
    faces: list[Faces] = []
    count = 0
    for part in parts:
        vertices.append(part.vertices)
        faces.append((part.faces + count).astype(np.int32))
        count += len(part.vertices)
    return Mesh(np.concatenate(vertices), np.concatenate(faces))


def loft(rings: Sequence[Array], ladder: bool = False) -> Mesh:
    """Skin over rings of equal point count; a ring of one point is a tip.

    Rings run counter-clockwise seen from the last ring's side.  Open ends are capped by a fan, or by a
    ``ladder`` between the two halves of a ring that is symmetric about the line through its first point.
    """
    rings = [np.asarray(ring, dtype=np.float64).reshape(-1, 3) for ring in rings]
    if not ladder and len(rings[0]) > 1:
        rings = [rings[0].mean(axis=0, keepdims=True), *rings]
    if not ladder and len(rings[-1]) > 1:
        rings = [*rings, rings[-1].mean(axis=0, keepdims=True)]
    starts = np.cumsum([0, *(len(ring) for ring in rings)])
    faces: list[Faces] = []
    if ladder:
        faces = [_rungs(len(rings[0]))[:, ::-1], _rungs(len(rings[-1])) + starts[-2]]
    for i, (low, high) in enumerate(pairwise(rings)):
        size = max(len(low), len(high))
        a = np.arange(size) % len(low) + starts[i]
        b = (np.arange(size) + 1) % len(low) + starts[i]
        c = (np.arange(size) + 1) % len(high) + starts[i + 1]
        d = np.arange(size) % len(high) + starts[i + 1]
        if len(low) > 1:
            faces.append(np.stack((a, b, c), axis=1))
        if len(high) > 1:
            faces.append(np.stack((a, c, d), axis=1))
    return Mesh(np.concatenate(rings), np.concatenate(faces).astype(np.int32))


def lathe(profile: Profile, segments: int = 32) -> Mesh:
    """Revolve ``(radius, z)`` points, bottom to top, about Z."""
    angles = np.arange(segments) * (2.0 * math.pi / segments)
    circle = np.stack((np.cos(angles), np.sin(angles)), axis=1)
    rings = []
    for radius, z in profile:
        if radius == 0.0:
            rings.append(np.array(((0.0, 0.0, z),)))
        else:
            rings.append(np.column_stack((circle * radius, np.full(segments, z))))
    return loft(rings)


def revolve_loop(profile: Profile, segments: int = 32) -> Mesh:
    """Revolve a closed counter-clockwise ``(radius, z)`` loop about Z: a tyre, a bearing ring."""
    angles = np.arange(segments) * (2.0 * math.pi / segments)
    loop = np.asarray(profile, dtype=np.float64)
    size = len(loop)
    vertices = np.stack(
        (
            np.outer(np.cos(angles), loop[:, 0]),
            np.outer(np.sin(angles), loop[:, 0]),
            np.tile(loop[:, 1], (segments, 1)),
        ),
        axis=-1,
    ).reshape(-1, 3)
    index = np.arange(segments * size).reshape(segments, size)
    a, d = index, np.roll(index, -1, axis=1)
    b, c = np.roll(a, -1, axis=0), np.roll(d, -1, axis=0)
    faces = np.stack((a, b, c, a, c, d), axis=-1).reshape(-1, 3)
    return Mesh(vertices, faces.astype(np.int32))


def chamfered_cylinder(
    radius: float, length: float, chamfer: float, segments: int = 32, steps: int = 2, start: float = 0.0
) -> Mesh:
    """A cylinder along Z from ``start``, both rims rounded in ``steps`` (0: sharp)."""
    return lathe(rim_profile(radius, length, chamfer, steps, start), segments)


def rim_profile(
    radius: float, length: float, chamfer: float, steps: int = 2, start: float = 0.0
) -> list[tuple[float, float]]:
    """Profile of a cylinder with rounded rims, bottom to top."""
    insets = _quarter(chamfer, steps)
    low = [(radius - inset, start + rise) for inset, rise in insets]
    high = [(radius - inset, start + length - rise) for inset, rise in reversed(insets)]
    return [*low, *high]


def rounded_rectangle(width: float, depth: float, radius: float, steps: int = 4) -> Array:
    """Counter-clockwise outline ``(4 (steps + 1), 2)`` centred on the origin."""
    points = []
    for quarter, (sx, sy) in enumerate(((1, 1), (-1, 1), (-1, -1), (1, -1))):
        for step in range(steps + 1):
            angle = (quarter + step / steps) * math.pi / 2.0
            points.append(
                (
                    sx * (width / 2.0 - radius) + radius * math.cos(angle),
                    sy * (depth / 2.0 - radius) + radius * math.sin(angle),
                )
            )
    return np.array(points)


def rounded_box(size: VectorLike, corner: float, edge: float, steps: int = 2, corner_steps: int = 4) -> Mesh:
    """A box centred on the origin: vertical edges of radius ``corner``, rims rounded by ``edge`` < corner."""
    width, depth, height = (float(v) for v in size)
    insets = _quarter(edge, steps)
    low = [(inset, rise - height / 2.0) for inset, rise in insets]
    rings = []
    for inset, z in [*low, *((inset, -z) for inset, z in reversed(low))]:
        outline = rounded_rectangle(width - 2 * inset, depth - 2 * inset, corner - inset, corner_steps)
        rings.append(_lift(outline, z))
    return loft(rings)


def extrude(
    outline: Array, length: float, chamfer: float = 0.0, steps: int = 1, ladder: bool = False
) -> Mesh:
    """Raise a counter-clockwise outline from z = 0, rims rounded; caps as in :func:`loft`."""
    insets = _quarter(chamfer, steps) if steps else [(0.0, 0.0)]
    low = [(inset, rise) for inset, rise in insets]
    high = [(inset, length - rise) for inset, rise in reversed(insets)]
    normals = _outline_normals(outline)
    return loft([_lift(outline - normals * inset, z) for inset, z in [*low, *high]], ladder)


def link_outline(length: float, radius: float, tip: float, waist: float, arc: int) -> Array:
    """Outline of a two-eye link bar: eyes of ``radius`` at 0 and ``tip`` at ``length`` on X, waist between.

    ``waist`` is the half width in the middle; ``arc`` (even) is the number of segments of each eye.  The
    first point is the tip on the axis, so that :func:`extrude` can cap it by a ladder.
    """
    start = math.radians(60.0)
    points = []
    for step in range(arc + 1):
        angle = -math.pi + start + step / arc * (2 * math.pi - 2 * start)
        points.append((length + tip * math.cos(angle), tip * math.sin(angle)))
    side = max(2, arc // 2)
    first = np.array((length + tip * math.cos(math.pi - start), tip * math.sin(math.pi - start)))
    last = np.array((radius * math.cos(start), radius * math.sin(start)))
    upper = []
    for step in range(1, side):
        t = step / side
        straight = first + (last - first) * t
        bend = 4.0 * t * (1.0 - t)
        upper.append((float(straight[0]), float(straight[1] + (waist - (first[1] + last[1]) / 2.0) * bend)))
    points += upper
    for step in range(arc + 1):
        angle = start + step / arc * (2 * math.pi - 2 * start)
        points.append((radius * math.cos(angle), radius * math.sin(angle)))
    points += [(x, -y) for x, y in reversed(upper)]
    return np.roll(np.array(points), -(arc // 2), axis=0)


def gear_outline(teeth: int, root: float, tip: float) -> Array:
    """Outline of a spur gear with trapezoid teeth between radii ``root`` and ``tip``."""
    points = []
    for tooth in range(teeth):
        for share, radius in ((0.0, root), (0.3, root), (0.42, tip), (0.88, tip)):
            angle = (tooth + share) * 2.0 * math.pi / teeth
            points.append((radius * math.cos(angle), radius * math.sin(angle)))
    return np.array(points)


def bar_between(start: VectorLike, end: VectorLike, rings: Sequence[tuple[float, Array]]) -> Mesh:
    """Loft 2D outlines at shares 0..1 of the way from ``start`` to ``end``."""
    a, b = vec3(start), vec3(end)
    turn = Pose.of(a, quat_between((0.0, 0.0, 1.0), b - a))
    length = float(np.linalg.norm(b - a))
    return loft([_lift(outline, share * length) for share, outline in rings]).moved(turn)


def circle(radius: float, segments: int = 32) -> Array:
    """Counter-clockwise circle outline."""
    angles = np.arange(segments) * (2.0 * math.pi / segments)
    return np.stack((np.cos(angles), np.sin(angles)), axis=1) * radius


def _rungs(size: int) -> Faces:
    """Triangles between point ``i`` and point ``size - i`` of a ring of even ``size``."""
    faces = [(0, 1, size - 1)]
    for i in range(1, size // 2 - 1):
        faces += [(i, i + 1, size - i - 1), (i, size - i - 1, size - i)]
    faces.append((size // 2 - 1, size // 2, size // 2 + 1))
    return np.array(faces, dtype=np.int32)


def _lift(outline: Array, z: float) -> Array:
    return np.column_stack((outline, np.full(len(outline), z)))


def _quarter(radius: float, steps: int) -> list[tuple[float, float]]:
    """``(inset, rise)`` pairs of a rounded rim from the face to the side; ``steps`` 0 gives a sharp rim."""
    if steps == 0 or radius == 0.0:
        return [(0.0, 0.0)]
    angles = [step / steps * math.pi / 2.0 for step in range(steps + 1)]
    return [(radius * (1 - math.sin(a)), radius * (1 - math.cos(a))) for a in angles]


def _outline_normals(outline: Array) -> Array:
    """Outward unit normals at the points of a counter-clockwise outline."""
    ahead = np.roll(outline, -1, axis=0) - outline
    behind = outline - np.roll(outline, 1, axis=0)
    ahead /= np.linalg.norm(ahead, axis=1, keepdims=True)
    behind /= np.linalg.norm(behind, axis=1, keepdims=True)
    tangent = ahead + behind
    tangent /= np.linalg.norm(tangent, axis=1, keepdims=True)
    return np.stack((tangent[:, 1], -tangent[:, 0]), axis=1)
