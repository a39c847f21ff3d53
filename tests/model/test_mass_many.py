"""Moments of many meshes at once are those of each of them."""

from __future__ import annotations

import numpy as np

from simwright.model import moments
from simwright.model.moments import mesh_moments, meshes_moments


def make_meshes() -> list[tuple[np.ndarray, np.ndarray]]:
    rng = np.random.default_rng(7)
    faces = np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)], np.int32)
    solids = [(rng.normal(size=(4, 3)) + 100.0 * i, faces[:, ::-1] if i % 3 else faces) for i in range(20)]
    solids[3] = (np.zeros((0, 3)), np.zeros((0, 3), np.int32))
    solids[7] = (np.zeros((4, 3)), faces)
    return solids


def assert_same(solids: list[tuple[np.ndarray, np.ndarray]]) -> None:
    found = meshes_moments(solids)
    assert len(found) == len(solids)
    for one, solid in zip(found, solids, strict=True):
        expected = mesh_moments(*solid)
        np.testing.assert_allclose(one.volume, expected.volume, rtol=1e-9)
        np.testing.assert_allclose(one.center, expected.center, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(one.second, expected.second, rtol=1e-6, atol=1e-9)


def test_many_meshes():
    assert_same(make_meshes())
    assert meshes_moments([]) == []


def test_batches_are_cut(monkeypatch):
    monkeypatch.setattr(moments, "MANY_TRIANGLES", 10)
    assert_same(make_meshes())
