# SPDX-License-Identifier: Apache-2.0
"""Polygons as convex pieces, and convex pieces as solids."""

from __future__ import annotations

import numpy as np
import pytest
import shapely
import shapely.affinity

from simwright.model.geometry import Box, Cylinder, Mesh
from simwright.model.moments import compute_moments
from simwright.worlds.polygons import cut_convex, is_convex
from simwright.worlds.space.solids import raise_prism

RING = shapely.box(-2, -2, 2, 2).difference(shapely.box(-1, -1, 1, 1))
ROUND_RING = shapely.Point(0, 0).buffer(2.0).difference(shapely.Point(0, 0).buffer(1.8))
STAR = shapely.Polygon(
    [
        ((2 if i % 2 else 0.7) * np.cos(i * np.pi / 5), (2 if i % 2 else 0.7) * np.sin(i * np.pi / 5))
        for i in range(10)
    ]
)
COMB = shapely.union_all([shapely.box(0, 0, 9, 1), *(shapely.box(2 * i, 1, 2 * i + 1, 4) for i in range(5))])
TWO_HOLES = (
    shapely.box(0, 0, 6, 3).difference(shapely.box(1, 1, 2, 2)).difference(shapely.Point(4, 1.5).buffer(0.7))
)


@pytest.mark.parametrize(
    ("outline", "most"), [(RING, 4), (ROUND_RING, 64), (STAR, 8), (COMB, 10), (TWO_HOLES, 80)]
)
@pytest.mark.parametrize("turn", [0.0, 0.3, 90.0])
def test_pieces_fill_the_outline_and_do_not_overlap(outline: shapely.Polygon, most: int, turn: float) -> None:
    outline = shapely.affinity.rotate(outline, turn) if turn else outline
    pieces = cut_convex(outline)
    assert all(is_convex(piece) for piece in pieces)
    assert sum(piece.area for piece in pieces) == pytest.approx(outline.area, abs=1e-5)
    assert shapely.union_all(pieces).symmetric_difference(outline).area < 1e-5
    assert len(pieces) <= most


def test_square_walls_are_boxes() -> None:
    walls = RING.difference(shapely.box(0.5, 0.3, 3, 0.7))
    solids = [raise_prism(piece, 0.0, 2.0)[0] for piece in cut_convex(walls)]
    assert all(isinstance(solid, Box) for solid in solids)
    assert sum(float(np.prod(solid.size)) for solid in solids) == pytest.approx(2.0 * walls.area)  # type: ignore[union-attr]


def test_slivers_are_left_out() -> None:
    assert cut_convex(shapely.box(0, 0, 1, 1e-6)) == []
    assert cut_convex(shapely.Polygon()) == []
    assert len(cut_convex(shapely.MultiPolygon([shapely.box(0, 0, 1, 1), shapely.box(2, 0, 3, 1)]))) == 2


@pytest.mark.parametrize("yaw", [0.0, 30.0, -60.0, 200.0])
def test_a_rectangle_is_a_box_where_it_stands(yaw: float) -> None:
    outline = shapely.affinity.rotate(shapely.box(1, 2, 4, 3), yaw, origin=(0, 0))
    geometry, pose = raise_prism(outline, 0.5, 1.5)
    assert isinstance(geometry, Box)
    corners = [
        pose.apply(np.array((x, y, -0.5)) * (geometry.size[0], geometry.size[1], geometry.size[2]))[:2]
        for x, y in ((-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5))
    ]
    assert shapely.Polygon(corners).symmetric_difference(outline).area < 1e-6
    assert pose.p[2] == 1.0


def test_a_circle_is_a_cylinder_unless_that_would_stick_out() -> None:
    small, _ = raise_prism(shapely.Point(1, 1).buffer(0.06), 0.0, 0.1)
    assert isinstance(small, Cylinder)
    assert small.radius == pytest.approx(0.06, abs=1e-6)
    assert isinstance(raise_prism(shapely.Point(1, 1).buffer(3.0), 0.0, 0.1)[0], Mesh)


def test_a_prism_is_closed_and_faces_outwards() -> None:
    outline = shapely.Polygon([(0, 0), (2, 0), (2.5, 1), (1, 2)])
    geometry, _ = raise_prism(outline, 0.0, 3.0)
    assert isinstance(geometry, Mesh)
    assert compute_moments(geometry).volume == pytest.approx(3.0 * outline.area)
