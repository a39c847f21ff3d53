# SPDX-License-Identifier: Apache-2.0
"""Meshes with fewer triangles: the same shape, the same side outwards, the same materials where they were."""

from __future__ import annotations

import numpy as np
import pytest
import trimesh

from simwright.model.geometry import MeshData, Subset
from simwright.model.thinning import FEWEST, thin_mesh


def make_ball(rows: int = 200, **more) -> MeshData:
    ball = trimesh.creation.uv_sphere(radius=1.0, count=[rows, rows])
    return MeshData(np.asarray(ball.vertices), ball.faces.reshape(-1).astype(np.int32), **more)


def measure_volume(data: MeshData) -> float:
    a, b, c = (data.vertices[data.triangles()[:, corner]] for corner in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


@pytest.mark.parametrize("wanted", [500, 5_000, 30_000])
def test_a_ball_stays_a_ball(wanted):
    data = make_ball()
    thin = thin_mesh(data, wanted)
    assert 0.4 * wanted < thin.face_count < 1.6 * wanted
    away = np.linalg.norm(thin.vertices, axis=1)
    assert away.max() <= 1.0 + 1e-9
    assert away.min() > 1.0 - 4.0 / np.sqrt(wanted)
    assert measure_volume(thin) == pytest.approx(measure_volume(data), rel=20.0 / wanted**0.75)


def test_small_meshes_are_as_they_were():
    data = make_ball(20)
    assert thin_mesh(data, data.face_count) is data
    assert thin_mesh(data, 10**9) is data
    assert thin_mesh(data, 0).face_count >= FEWEST // 3
    flat = MeshData(np.zeros((300, 3)), np.arange(300, dtype=np.int32))
    assert thin_mesh(flat, 10) is flat, "a mesh without a surface has no cells"


def test_a_left_handed_mesh_looks_outwards():
    data = make_ball()
    other = MeshData(data.vertices, data.triangles()[:, ::-1].reshape(-1), left_handed=True)
    assert measure_volume(thin_mesh(other, 2_000)) == pytest.approx(
        measure_volume(thin_mesh(data, 2_000)), rel=1e-9
    )


def test_corners_keep_what_the_mesh_says_of_them():
    data = make_ball()
    triangles = data.triangles()
    upper = np.flatnonzero(data.vertices[triangles][:, :, 2].mean(axis=1) > 0.0).astype(np.int32)
    lower = np.setdiff1d(np.arange(len(triangles)), upper).astype(np.int32)
    data = make_ball(
        normals=data.vertices,  # for each vertex: those of a ball are its places
        uvs=data.vertices[triangles.reshape(-1)][:, :2],  # for each corner
        uv_sets={"second": data.vertices[:, 1:]},
        subsets=(Subset("upper", upper, "red"), Subset("lower", lower, "blue")),
    )
    thin = thin_mesh(data, 5_000)
    corners = thin.vertices[thin.indices]
    assert np.abs(corners - thin.normals).max() < 0.1
    assert np.abs(corners[:, :2] - thin.uvs).max() < 0.1
    assert np.abs(corners[:, 1:] - thin.uv_sets["second"]).max() < 0.1
    heights = corners.reshape(-1, 3, 3)[:, :, 2].mean(axis=1)
    assert [one.material for one in thin.subsets] == ["red", "blue"]
    assert heights[thin.subsets[0].faces].min() > -0.05
    assert heights[thin.subsets[1].faces].max() < 0.05
    assert sorted(np.concatenate([one.faces for one in thin.subsets])) == list(range(thin.face_count))


def test_polygons_are_cut_into_triangles_first():
    rows = np.arange(101) / 100.0
    places = np.array([(x, y, 0.0) for x in rows for y in rows])
    corner = np.array([101 * x + y for x in range(100) for y in range(100)])
    faces = np.stack((corner, corner + 101, corner + 102, corner + 1), axis=1)
    half = np.flatnonzero(places[faces][:, :, 0].mean(axis=1) < 0.5).astype(np.int32)
    data = MeshData(
        places,
        faces.reshape(-1).astype(np.int32),
        np.full(len(faces), 4),
        subsets=(Subset("left", half, "red"),),
    )
    thin = thin_mesh(data, 800)
    assert 300 < thin.face_count < 1_300
    middles = thin.vertices[thin.triangles()].mean(axis=1)
    assert middles[thin.subsets[0].faces][:, 0].max() < 0.55
    a, b, c = (thin.vertices[thin.triangles()[:, corner]] for corner in range(3))
    turned = np.cross(b - a, c - a)[:, 2]
    assert (turned > -1e-12).all()
    # what lies outside the outermost middles is lost: half a cell on each side
    assert turned.sum() / 2.0 == pytest.approx(0.9, abs=0.08)
