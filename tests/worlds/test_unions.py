# SPDX-License-Identifier: Apache-2.0
"""Unions of floor plans lose nothing: GEOS itself leaves rooms out where edges nearly coincide."""

from __future__ import annotations

import numpy as np
import pytest
import shapely

from simwright.worlds.polygons import cut_polygons, join_polygons

PLANS = 2000


def make_plan(seed):
    """Floors of rooms and of the corridors between their middles, without the rooms: turned by any angle."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(4, 13))
    middles = np.array([divmod(number, 4) for number in range(count)]) * 6.0
    half = rng.uniform(1.2, 2.9, (count, 2)) - rng.uniform(0.05, 0.3, (count, 1))
    first, second = np.triu_indices(count, 1)
    chosen = rng.random(len(first)) < 0.3
    first, second = first[chosen], second[chosen]
    turn = rng.uniform(-np.pi, np.pi)
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    corners = middles[:, None] + half[:, None] * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]])
    rooms = shapely.polygons(corners @ rotation.T)
    lines = shapely.linestrings(np.stack([middles[first], middles[second]], axis=1) @ rotation.T)
    halls = shapely.buffer(lines, rng.uniform(0.3, 0.9, len(lines)), cap_style="flat")
    for room in rooms:
        halls = shapely.difference(halls, room)
    return [*rooms, *halls]


@pytest.mark.parametrize("block", range(4))
def test_no_floor_is_lost(block):
    for seed in range(block * PLANS // 4, (block + 1) * PLANS // 4):
        parts = np.array(make_plan(seed), dtype=object)
        union = join_polygons(parts)
        lost = shapely.area(shapely.difference(parts, union, grid_size=1e-9))
        assert lost.max() < 1e-6, seed
        most = shapely.area(parts).sum()
        assert union.area <= most + 1e-6, seed


def test_holes_take_no_more_than_themselves():
    for seed in range(200):
        parts = make_plan(seed)
        floor = join_polygons(parts[1:])
        rest = cut_polygons(floor, [parts[0]])
        assert rest.area == pytest.approx(floor.area - floor.intersection(parts[0]).area, abs=1e-6)
    assert cut_polygons(floor, []) is floor
