"""Which shapes may touch, by rule, in one world and in many."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from simwright.runtime.collision import CollisionModel
from simwright.runtime.kinds import ShapeType
from simwright.runtime.model import Model
from simwright.runtime.pairs import Pairs
from simwright.scenes.builder import Builder
from simwright.scenes.builder_config import ShapeConfig
from simwright.scenes.finish import finish_world
from simwright.scenes.load import build_shared
from simwright.scenes.replicate import replicate

from .worlds import two_links


def list_slowly(model: Model) -> set[tuple[int, int]]:
    """The same rule, pair by pair."""
    filtered = set(model.shape_filters)
    found = set()
    for a, b in itertools.combinations(range(model.shape_count), 2):
        worlds = {int(model.shape_world[a]), int(model.shape_world[b])} - {-1}
        g, h = int(model.shape_collision_group[a]), int(model.shape_collision_group[b])
        grouped = g != 0 and h != 0 and (g == h if g > 0 and h > 0 else g != h)
        touching = model.shape_flags[a] & 2 and model.shape_flags[b] & 2
        static = model.shape_body[a] < 0 and model.shape_body[b] < 0
        if len(worlds) < 2 and grouped and touching and not static and (a, b) not in filtered:
            found.add((a, b))
    return found


def as_set(collision: CollisionModel) -> set[tuple[int, int]]:
    return {(a, b) for a, b in collision.shape_contact_pairs.tolist()}


@pytest.mark.parametrize("worlds", [1, 3])
def test_pairs_of_joined_bodies_never_touch(worlds: int) -> None:
    model, collision = two_links(worlds)
    pairs = as_set(collision)
    assert pairs == list_slowly(model)
    assert len(pairs) == collision.shape_contact_pair_count == 7 * worlds
    ground = model.shape_count - 1
    assert (0, 1) not in pairs
    assert {(0, 2), (0, 3), (0, ground)} <= pairs
    assert (3, ground) not in pairs


def test_groups() -> None:
    builder = Builder()
    for group in (0, 1, 1, 2, -1, -1, -2):
        body = builder.add_body(f"body {builder.body_count}")
        builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0), config=ShapeConfig(collision_group=group))
    model, collision = replicate(finish_world(builder), build_shared(builder, ground=False), 2)
    assert as_set(collision) == list_slowly(model)
    local = {(a, b) for a, b in as_set(collision) if b < 7}
    assert (1, 2) in local
    assert not {(1, 3), (4, 5), (0, 1)} & local
    assert {(1, 4), (3, 4), (4, 6)} <= local


def test_filters_hold_in_every_world() -> None:
    builder = Builder()
    for _ in range(4):
        body = builder.add_body(f"body {builder.body_count}")
        builder.add_shape(body, ShapeType.SPHERE, (0.1, 0.0, 0.0))
    builder.filter_pair(3, 0)
    builder.filter_groups.append([1, 2])
    model, collision = replicate(finish_world(builder), build_shared(builder, ground=False), 3)
    assert as_set(collision) == list_slowly(model)
    assert collision.shape_collision_filter_pairs == {(0, 3), (1, 2), (4, 7), (5, 6), (8, 11), (9, 10)}


def test_pairs_expand_world_by_world() -> None:
    pairs = Pairs(np.array([[0, 1]], np.int32), np.array([[1, 0]], np.int32), per_world=2, world_count=3)
    assert len(pairs) == 6
    assert list(pairs) == [(0, 1), (1, 6), (2, 3), (3, 6), (4, 5), (5, 6)]


def test_shape_arrays_are_those_of_the_model() -> None:
    model, collision = two_links()
    assert collision.shape_material_mu is model.shape_material_mu
    assert collision.shape_count == model.shape_count
    with pytest.raises(AttributeError, match="body_mass"):
        _ = collision.body_mass


def test_bounds_hold_the_shapes() -> None:
    _, collision = two_links()
    np.testing.assert_allclose(collision.shape_collision_aabb_upper[0], 0.2)
    np.testing.assert_allclose(collision.shape_collision_aabb_lower[1], -0.1)


def test_pairs_among_what_is_shared_hold_once() -> None:
    among = np.array([[0, 2]], np.int32)
    pairs = Pairs(np.array([[0, 1]], np.int32), among=among, per_world=2, world_count=3)
    assert len(pairs) == 4
    assert list(pairs) == [(0, 1), (2, 3), (4, 5), (6, 8)]
