# SPDX-License-Identifier: Apache-2.0
"""Shapes of each rigid group, visuals and collisions apart, matched by their geometry.

Equal shapes are matched first, then shapes of the same name, then what is left in order: so names may change, and a
shape that is visual and collision in one asset may be two shapes in the other.

A shape is measured by where its corners or ends are and how large it is.  Rotations that map it on itself (a cylinder
about its axis, a box by a quarter turn with its edges exchanged) change nothing.  Meshes are measured by points,
triangles, bounds, area, volume and second moments of the surface, which do not depend on the order of points or on how
polygons are cut into triangles.  Where one of two is a convex hull, only the reach in many directions is compared.

Contacts, however the file filters them: groups, bits, filters, joints, articulations.  Pairs of one rigid group, and
pairs of which neither body moves, have no effect; they are left out.  Differences are listed by pair of bodies.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from itertools import product

import numpy as np

from simwright.compare.difference import (
    DifferenceItem,
    DifferenceSection,
    MeasuredError,
    ValueComparer,
    measure,
)
from simwright.compare.pairing import ComparedAsset, Pairing
from simwright.core.math3d import Array, Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import (
    Box,
    Capsule,
    Cone,
    Cylinder,
    Ellipsoid,
    Heightfield,
    Mesh,
    Plane,
    Polyline,
    Sphere,
)
from simwright.model.joint import WORLD

HULLS = ("convexHull",)
"""Approximations that leave of a mesh only how far it reaches."""
_ROUND = 1e-9


Values = dict[str, tuple[float | Array | None, float]]
"""What is measured, each with the scale it is measured against."""


@dataclass(slots=True, eq=False)
class ShapeOutline:
    """``points`` [m] are a set unless ``ordered``; ``counts`` are exact.

    ``support`` [m] is how far the shape reaches in many directions, which describes a convex hull completely.
    """

    kind: str
    points: Array
    ordered: bool = False
    counts: dict[str, int] = field(default_factory=dict)
    values: Values = field(default_factory=dict)
    support: Array | None = None
    is_hull: bool = False


def outline_shape(shape: Shape, pose: Pose) -> ShapeOutline:
    """The outline of a shape that stands at ``pose``."""
    geometry, scale = shape.geometry, np.abs(scaled(shape))
    match geometry:
        case Box():
            corners = np.array(list(product((-0.5, 0.5), repeat=3))) * geometry.size * scale
            return ShapeOutline("box", pose.apply(corners))
        case Sphere():
            return _outline_round(np.full(3, geometry.radius) * scale, pose)
        case Ellipsoid():
            return _outline_round(np.asarray(geometry.radii) * scale, pose)
        case Cylinder() | Capsule() | Cone():
            return _outline_axial(geometry, scale, pose)
        case Plane():
            return _outline_plane(geometry, pose)
        case Heightfield():
            return _outline_heights(geometry, scale, pose)
        case Polyline():
            return _outline_polyline(geometry, scale, pose)
        case Mesh():
            outline = _outline_mesh(geometry, scaled(shape), pose)
            if shape.collision:
                token = "" if shape.approximation is None else shape.approximation.token
                outline.is_hull = token in HULLS
                points = np.asarray(geometry.data.vertices, dtype=np.float64) * scaled(shape)
                outline.support = _measure_support(pose.apply(points))
            return outline


def _outline_round(radii: Array, pose: Pose) -> ShapeOutline:
    size = float(radii.max())
    if float(radii.max() - radii.min()) <= _ROUND * size:
        return ShapeOutline("sphere", pose.p[None], values={"radius": (size, 0.0)})
    axes = np.diag(radii)
    return ShapeOutline("ellipsoid", pose.apply(np.concatenate((axes, -axes))))


def _outline_axial(geometry: Cylinder | Capsule | Cone, scale: Array, pose: Pose) -> ShapeOutline:
    half = geometry.length / 2.0 * float(scale[2])
    ends = pose.apply(np.array(((0.0, 0.0, half), (0.0, 0.0, -half))))
    radii = sorted(float(geometry.radius * s) for s in scale[:2])
    values: Values = {"radius": (radii[1], 0.0)}
    if radii[1] - radii[0] > _ROUND * radii[1]:
        values["smaller radius"] = (radii[0], 0.0)
    return ShapeOutline(geometry.kind, ends, isinstance(geometry, Cone), values=values)


def _outline_plane(geometry: Plane, pose: Pose) -> ShapeOutline:
    normal = pose.rotation[:, 2]
    size = None if geometry.size is None else np.sort(geometry.size)
    # a plane's own point may be anywhere on it: the point nearest to the origin identifies the plane
    nearest = (normal * float(normal @ pose.p))[None]
    return ShapeOutline("plane", nearest, values={"normal": (normal, 1.0), "size": (size, 0.0)})


def _outline_heights(geometry: Heightfield, scale: Array, pose: Pose) -> ShapeOutline:
    x, y = geometry.size / 2.0 * scale[:2]
    corners = pose.apply(np.array(((-x, -y, 0.0), (x, -y, 0.0), (x, y, 0.0), (-x, y, 0.0))))
    heights = np.asarray(geometry.heights, dtype=np.float64) * float(scale[2])
    rows, columns = heights.shape
    span = float(np.abs(heights).max()) if heights.size else 0.0
    return ShapeOutline(
        "heightfield",
        corners,
        ordered=True,
        counts={"rows": rows, "columns": columns},
        values={"heights": (heights, span)},
    )


def _outline_polyline(geometry: Polyline, scale: Array, pose: Pose) -> ShapeOutline:
    flat = np.concatenate([np.asarray(loop, dtype=np.float64) for loop in geometry.loops])
    points = np.column_stack((flat, np.zeros(len(flat)))) * scale
    height = geometry.height * float(scale[2])
    return ShapeOutline(
        "polyline",
        pose.apply(points),
        counts={"loops": len(geometry.loops)},
        values={"height": (height, 0.0)},
    )


def _outline_mesh(geometry: Mesh, scale: Array, pose: Pose) -> ShapeOutline:
    data = geometry.data
    triangles = data.triangles()
    counts = {"points": len(data.vertices), "triangles": len(triangles)}
    if not len(triangles):
        return ShapeOutline("mesh", np.zeros((0, 3)), counts=counts)
    points = pose.apply(np.asarray(data.vertices, dtype=np.float64) * scale)
    corners = points[triangles]
    # a triangle with two corners at one point is nothing; writers leave it out
    same = [np.all(corners[:, i] == corners[:, j], axis=1) for i, j in ((0, 1), (1, 2), (2, 0))]
    counts["triangles"] -= int(np.count_nonzero(np.any(same, axis=0)))
    used = corners.reshape(-1, 3)
    middle = used.mean(axis=0)
    # far from the origin area and volume would lose digits
    corners = corners - middle
    a, b, c = corners[:, 0], corners[:, 1], corners[:, 2]
    normals = np.cross(b - a, c - a)
    areas = np.linalg.norm(normals, axis=1) / 2.0
    area = float(areas.sum())
    volume = float(np.einsum("ij,ij->i", a, normals).sum()) / 6.0
    size = float(np.linalg.norm(np.ptp(used, axis=0)))
    total = a + b + c
    center = (areas[:, None] * total).sum(axis=0) / (3.0 * area) if area else np.zeros(3)
    # exact for triangles: second moments from the corners and their sum
    weighted = areas[:, None] / 12.0
    second = sum(((weighted * x).T @ x for x in (a, b, c, total)), np.zeros((3, 3)))
    # an open or flat mesh has next to no volume, and points are as exact as they are far from their origin
    reach = max(size, float(np.abs(data.vertices * scale).max()))
    return ShapeOutline(
        "mesh",
        np.stack((used.min(axis=0), used.max(axis=0), middle + center)),
        ordered=True,
        counts=counts,
        values={
            "area": (area, size * reach),
            "volume": (abs(volume), size**2 * reach / 6.0),
            "second moments": (second, size**3 * reach / 12.0),
        },
    )


def _spread_directions(count: int) -> Array:
    """Directions all over the sphere, on a spiral."""
    z = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    # the golden angle: points of a Fibonacci sphere
    angle = np.arange(count) * math.pi * (3.0 - math.sqrt(5.0))
    radius = np.sqrt(1.0 - z * z)
    return np.stack((radius * np.cos(angle), radius * np.sin(angle), z), axis=1)


_DIRECTIONS = _spread_directions(128)


def _measure_support(points: Array) -> Array:
    """How far points reach in each direction [m]."""
    if not len(points):
        return np.zeros(len(_DIRECTIONS))
    reach: Array = (points @ _DIRECTIONS.T).max(axis=0)
    return reach


def measure_outlines(a: ShapeOutline, b: ShapeOutline, length: float) -> dict[str, float]:
    """Relative errors by what differs; positions against ``length`` [m], or their own distance if that is more."""
    if a.kind != b.kind or a.values.keys() != b.values.keys():
        return {"kind": math.inf}
    # one side is a hull: what is inside it does not count
    if a.support is not None and b.support is not None and (a.is_hull or b.is_hull):
        return {"reach": float(np.abs(a.support - b.support).max()) / length}
    errors = {what: 0.0 if count == b.counts.get(what) else math.inf for what, count in a.counts.items()}
    # points are in single precision: a prop without links has no other length than their own
    errors["place"] = _measure_points(a, b) / max(length, float(np.abs(a.points).max(initial=0.0)))
    for what, (value, scale) in a.values.items():
        errors[what] = measure(value, b.values[what][0], scale)
    return errors


def _measure_points(a: ShapeOutline, b: ShapeOutline) -> float:
    """The largest distance of a point to its counterpart, or to the nearest one."""
    if len(a.points) != len(b.points):
        return math.inf
    if not len(a.points):
        return 0.0
    if a.ordered:
        return float(np.linalg.norm(a.points - b.points, axis=1).max())
    gaps = np.linalg.norm(a.points[:, None] - b.points[None], axis=-1)
    # in both directions: a subset of the points would pass in one
    return max(float(gaps.min(axis=0).max()), float(gaps.min(axis=1).max()))


ROLES = {"visuals": "visual", "collisions": "collision"}


@dataclass(slots=True, eq=False)
class PlacedShape:
    """A shape and its outline in the common frame of its rigid piece."""

    shape: Shape
    outline: ShapeOutline


@dataclass(slots=True, eq=False)
class ShapePair:
    """Two shapes that correspond, with the errors between their outlines."""

    a: Shape
    b: Shape
    errors: dict[str, float]


# one function: the worst errors are collected over all pairs of one role
def compare_shapes(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """One role: ``section`` is called visuals or collisions."""
    pairs, left_a, left_b = pair_shapes(pairing, ruler, ROLES[section.name])
    section.compared = len(pairs)
    word = ROLES[section.name]
    worst: dict[str, tuple[float, str]] = {}
    for pair in pairs:
        element = f"{word} {pair.a.name!r}"
        for what, error in pair.errors.items():
            if what == "size" and word == "collision":
                continue  # a plane is touched everywhere, whatever is seen of it
            worst[what] = max(worst.get(what, (0.0, "")), (error, element), key=lambda entry: entry[0])
            if error > ruler.rtol:
                section.items.append(_describe(element, what, pair, error))
        if word == "collision":
            ruler.compare(section, element, "enabled", pair.a.enabled, pair.b.enabled)
            ruler.compare(section, element, "margin", pair.a.margin or 0.0, pair.b.margin or 0.0)
            ruler.compare(section, element, "gap", pair.a.gap or 0.0, pair.b.gap or 0.0)
    section.items += [DifferenceItem(f"{word} {s.name!r}", _tell(s), s.name, None) for s in left_a]
    section.items += [DifferenceItem(f"{word} {s.name!r}", _tell(s), None, s.name) for s in left_b]
    for what, (error, where) in worst.items():
        if error < float("inf"):
            section.figures.append(MeasuredError(what, error, ruler.rtol, where))


def _tell(shape: Shape) -> str:
    return f"{shape.geometry.kind} on {shape.body or 'the world'}"


def _describe(element: str, what: str, pair: ShapePair, error: float) -> DifferenceItem:
    if what == "kind":
        return DifferenceItem(element, what, pair.a.geometry.kind, pair.b.geometry.kind, error=error)
    first, second = (outline_shape(shape, shape.pose) for shape in (pair.a, pair.b))
    if what in first.counts:
        return DifferenceItem(element, what, first.counts[what], second.counts.get(what), error=error)
    if what in first.values and what not in ("heights", "second moments"):
        return DifferenceItem(element, what, first.values[what][0], second.values[what][0], error=error)
    return DifferenceItem(element, what, pair.a.name, pair.b.name, error=error)


def pair_shapes(
    pairing: Pairing, ruler: ValueComparer, role: str
) -> tuple[list[ShapePair], list[Shape], list[Shape]]:
    """Pairs of one role, and what only one side has; worked out once."""
    if role not in pairing.shapes:
        pairing.shapes[role] = _pair(pairing, ruler, role)
    found: tuple[list[ShapePair], list[Shape], list[Shape]] = pairing.shapes[role]
    return found


class _Matcher:
    """Takes pairs out of the shapes of one rigid piece."""

    def __init__(self, ruler: ValueComparer) -> None:
        self._ruler = ruler
        self.pairs: list[ShapePair] = []

    def match(self, a: list[PlacedShape], b: list[PlacedShape]) -> None:
        """Equal shapes first, then those of the same name, then those of the same kind; the rest stays."""
        for x in list(a):
            # equal geometry first, whatever the names: writers rename shapes freely
            same = [y for y in b if max(self._measure(x, y).values()) <= self._ruler.rtol]
            if same:
                self._take(a, b, x, min(same, key=lambda y, x=x: not _is_named(x, y)))  # type: ignore[misc]
        for agree in (_is_named, _is_kind):
            for x in list(a):
                y = next((y for y in b if agree(x, y)), None)
                if y is not None:
                    self._take(a, b, x, y)

    def _measure(self, x: PlacedShape, y: PlacedShape) -> dict[str, float]:
        return measure_outlines(x.outline, y.outline, self._ruler.length)

    def _take(self, a: list[PlacedShape], b: list[PlacedShape], x: PlacedShape, y: PlacedShape) -> None:
        a.remove(x)
        b.remove(y)
        self.pairs.append(ShapePair(x.shape, y.shape, self._measure(x, y)))


def _pair(
    pairing: Pairing, ruler: ValueComparer, role: str
) -> tuple[list[ShapePair], list[Shape], list[Shape]]:
    first = _place_shapes(pairing.a, role, {group: anchor[1] for group, anchor in pairing.anchors.items()})
    second = _place_shapes(pairing.b, role, {anchor[0]: anchor[2] for anchor in pairing.anchors.values()})
    matcher = _Matcher(ruler)
    for group, anchor in pairing.anchors.items():
        matcher.match(first.get(group, []), second.get(anchor[0], []))
    left_a, left_b = ([x.shape for shapes in side.values() for x in shapes] for side in (first, second))
    return matcher.pairs, left_a, left_b


def _place_shapes(side: ComparedAsset, role: str, frames: dict[str, Pose]) -> dict[str, list[PlacedShape]]:
    result: dict[str, list[PlacedShape]] = {}
    for shape in side.asset.shapes:
        if not getattr(shape, role):
            continue
        group, pose = side.place(shape.body, shape.pose)
        frame = frames.get(group)
        at = pose if frame is None else ~frame @ pose
        result.setdefault(group if shape.body else WORLD, []).append(
            PlacedShape(shape, outline_shape(shape, at))
        )
    return result


def _is_named(x: PlacedShape, y: PlacedShape) -> bool:
    first, second = (make_identifier(standing.shape.name).lower() for standing in (x, y))
    # our writers add the suffix where a shape is visual and collision at once
    return second in (first, f"{first}_visual") or first == f"{second}_visual"


def _is_kind(x: PlacedShape, y: PlacedShape) -> bool:
    return x.outline.kind == y.outline.kind


Pair = frozenset[str]


# one function: both lists of filtered pairs, then the difference in each direction
def compare_contacts(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Filtered pairs among matched colliders, and pairs with settings of their own."""
    pairs = pair_shapes(pairing, ruler, "collision")[0]
    # a collider that is switched off touches nothing: reported in the section collisions
    both = [pair for pair in pairs if pair.a.enabled and pair.b.enabled]
    names = {pair.b.name: pair.a.name for pair in both}
    pieces = {pair.a.name: pairing.a.place(pair.a.body, pair.a.pose)[0] for pair in both}
    first = _list_filtered(pairing.a, pieces, {name: name for name in pieces})
    second = _list_filtered(pairing.b, pieces, names)
    section.compared = _count_pairs(pieces)
    bodies = {pair.a.name: pair.a.body or "the world" for pair in both}
    for filtered, other, told in (
        (first, second, ("never touch", "may touch")),
        (second, first, ("may touch", "never touch")),
    ):
        counts: dict[tuple[str, ...], int] = {}
        for pair in filtered - other:
            key = tuple(sorted(bodies[name] for name in pair))
            counts[key] = counts.get(key, 0) + 1
        for key, count in sorted(counts.items()):
            element = " and ".join(repr(name) for name in key)
            section.items.append(DifferenceItem(element, f"contact of {count} collider pair(s)", *told))
    _compare_pairs(section, pairing, ruler, both)


def _list_filtered(side: ComparedAsset, pieces: dict[str, str], names: dict[str, str]) -> set[Pair]:
    """Pairs that never touch, by the names of the first side."""
    result = set()
    for a, b in find_filtered_pairs(side.asset, side.tree):
        first, second = names.get(a), names.get(b)
        if first is None or second is None:
            continue
        # colliders of one rigid group never move against each other
        if pieces[first] != pieces[second]:
            result.add(frozenset((first, second)))
    return result


def _count_pairs(pieces: dict[str, str]) -> int:
    sizes: dict[str, int] = {}
    for piece in pieces.values():
        sizes[piece] = sizes.get(piece, 0) + 1
    total = len(pieces)
    return total * (total - 1) // 2 - sum(n * (n - 1) // 2 for n in sizes.values())


def _compare_pairs(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, both: list[ShapePair]
) -> None:
    """Contact pairs with settings of their own (MJCF)."""
    names = {pair.b.name: pair.a.name for pair in both}
    first = _index_pairs(pairing.a.asset, {})
    second = _index_pairs(pairing.b.asset, names)
    for key in dict.fromkeys((*first, *second)):
        a, b = first.get(key), second.get(key)
        element = f"contact pair {' and '.join(sorted(key))}"
        if a is None or b is None:
            section.items.append(
                DifferenceItem(element, "pair", None if a is None else "own", None if b is None else "own")
            )
        else:
            ruler.compare(section, element, "settings", a, b)


def _index_pairs(asset: Asset, names: dict[str, str]) -> dict[Pair, dict[str, object]]:
    return {frozenset((names.get(p.a, p.a), names.get(p.b, p.b))): p.settings for p in asset.contact_pairs}
