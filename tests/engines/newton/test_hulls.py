"""Hulls of mesh colliders, against those that Newton makes."""

from __future__ import annotations

import numpy as np
import pytest

pytestmark = pytest.mark.judge("newton")


def make_points(count: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(count, 3)).astype(np.float32)


@pytest.mark.parametrize("limit", [None, 12])
def test_a_hull_that_was_met_before_is_the_same_and_its_own_mesh(monkeypatch, limit):
    from newton._src.geometry.utils import remesh_convex_hull

    from simwright.engines.newton import hulls

    monkeypatch.setattr(hulls, "_known", {})
    points = make_points(200, 3)
    first = hulls.make_hull(points, limit)
    computed = []

    def compute(rows):
        computed.extend(rows)
        return [None] * len(rows)

    monkeypatch.setattr(hulls, "_compute_hulls", compute)
    again = hulls.make_hull(points.astype(np.float64), limit)
    assert computed == []
    assert again.mesh is not first.mesh
    again.mesh.vertices[:] = 0.0
    third = hulls.make_hull(points, limit)
    np.testing.assert_array_equal(third.mesh.vertices, first.mesh.vertices)
    np.testing.assert_array_equal(third.mesh.indices, first.mesh.indices)
    hulls.make_hull(points, 9)
    assert len(computed) == 1
    vertices, faces = remesh_convex_hull(points, maxhullvert=limit or 64)
    np.testing.assert_allclose(np.sort(first.mesh.vertices, axis=0), np.sort(vertices, axis=0))
    assert len(first.mesh.indices) == np.asarray(faces).size


def test_hulls_of_many_meshes_are_those_of_each(monkeypatch):
    """In portions, with flat ones, ones with too few points and the same one again among them."""
    from simwright.engines.newton import hulls

    clouds = [make_points(5 + 13 * number, number) for number in range(12)]
    clouds += [clouds[3], make_points(30, 1) * np.float32([1, 1, 0]), make_points(3, 1)]
    asked = [(points, (None, 12, 4)[number % 3]) for number, points in enumerate(clouds)]
    apart = []
    for points, limit in asked:
        hulls.forget_hulls()
        apart.append(hulls.make_hull(points, limit))
    assert sum(hull is None for hull in apart) > 2
    for portion in (1, 100, 10_000):
        monkeypatch.setattr(hulls, "_PORTION", portion)
        hulls.forget_hulls()
        together = hulls.make_hulls(asked)
        assert len(together) == len(apart)
        for one, other in zip(together, apart, strict=True):
            assert (one is None) == (other is None)
            if one is not None:
                np.testing.assert_array_equal(one.mesh.vertices, other.mesh.vertices)
                np.testing.assert_array_equal(one.mesh.indices, other.mesh.indices)
                np.testing.assert_array_equal((one.low, one.high), (other.low, other.high))
    hulls.forget_hulls()


def test_only_so_many_hulls_are_kept(monkeypatch):
    from simwright.engines.newton import hulls

    monkeypatch.setattr(hulls, "_known", {})
    monkeypatch.setattr(hulls, "_MOST_KNOWN", 3)
    for seed in range(8):
        assert hulls.make_hull(make_points(10, seed), None) is not None
    assert 0 < len(hulls._known) <= 3
    monkeypatch.setattr(hulls, "_SMALL", 0)
    before = dict(hulls._known)
    hulls.make_hull(make_points(10, 99), None)
    assert hulls._known == before
