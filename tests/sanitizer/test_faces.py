"""Faces that are split, turned or mended keep what is said of them."""

from __future__ import annotations

import numpy as np
import pytest
from pxr import Sdf, Usd, UsdGeom

from simwright.sanitizer.faces import MeshFaces, read_faces, replace_faces, split_faces, split_polygon
from simwright.sanitizer.mending import MeshSurface, close_surface, unite_shells
from simwright.usd.edit import Editor, Refused

MESH = """#usda 1.0
def Mesh "m"
{
    int[] faceVertexCounts = [4, 3]
    int[] faceVertexIndices = [0, 1, 2, 3, 1, 4, 2]
    point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 0, 0)]
    texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0, 1), (5, 5), (6, 6), (7, 7)] (
        interpolation = "faceVarying"
    )
    color3f[] primvars:displayColor = [(1, 0, 0), (0, 1, 0)] (
        interpolation = "uniform"
    )
    int[] holeIndices = [1]
    def GeomSubset "red"
    {
        uniform token elementType = "face"
        int[] indices = [0]
    }
}
"""
CUBE = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=np.float64)
QUADS = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]


def make_faces(points: np.ndarray, faces: list[list[int]]) -> MeshFaces:
    counts = np.array([len(face) for face in faces], dtype=np.int64)
    return MeshFaces(points, counts, np.concatenate([np.array(face, dtype=np.int64) for face in faces]))


def measure_volume(points: np.ndarray, triangles: np.ndarray) -> float:
    a, b, c = (points[triangles.reshape(-1, 3)[:, k]] for k in range(3))
    return float(np.einsum("ij,ij->i", a, np.cross(b, c)).sum() / 6.0)


def test_splitting_keeps_primvars_holes_and_subsets() -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(MESH)
    stage = Usd.Stage.Open(layer)
    prim = stage.GetPrimAtPath("/m")
    editor = Editor(stage, [layer.identifier])
    faces = read_faces(prim)
    replace_faces(editor, prim, faces, split_faces(faces))
    editor.make_edits()
    mesh = UsdGeom.Mesh(prim)
    assert list(mesh.GetFaceVertexCountsAttr().Get()) == [3, 3, 3]
    assert list(mesh.GetFaceVertexIndicesAttr().Get()) == [0, 1, 2, 0, 2, 3, 1, 4, 2]
    st = [tuple(v) for v in prim.GetAttribute("primvars:st").Get()]
    assert st == [(0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1), (5, 5), (6, 6), (7, 7)]
    colours = [tuple(v) for v in prim.GetAttribute("primvars:displayColor").Get()]
    assert colours == [(1, 0, 0), (1, 0, 0), (0, 1, 0)]
    assert list(mesh.GetHoleIndicesAttr().Get()) == [2]
    assert list(stage.GetPrimAtPath("/m/red").GetAttribute("indices").Get()) == [0, 1]


def test_a_face_that_is_not_convex_is_covered_once() -> None:
    arrow = np.array([[2, -1, 0], [0.5, 0, 0], [2, 1, 0], [0, 0, 0]], dtype=np.float64)
    triangles = split_polygon(arrow)
    a, b, c = (arrow[triangles[:, k], :2] for k in range(3))
    u, v = b - a, c - a
    areas = (u[:, 0] * v[:, 1] - u[:, 1] * v[:, 0]) / 2.0
    assert (areas > 0).all()
    assert areas.sum() == pytest.approx(0.5)


def test_turned_and_doubled_faces_are_mended_to_the_same_solid() -> None:
    faces = [*QUADS, QUADS[2], [3, 3, 7]]
    faces[1] = faces[1][::-1]
    mended = close_surface(make_faces(CUBE, faces))
    assert mended is not None
    indices = make_faces(CUBE, faces).indices[mended.corners]
    triangles = split_faces(MeshFaces(CUBE, mended.counts, indices))
    assert measure_volume(CUBE, indices[triangles.corners]) == pytest.approx(1.0)


def test_a_cup_is_not_covered() -> None:
    cup = np.vstack((CUBE, CUBE[:4] * (1, 0.5, 0.5) + (0.2, 0.25, 0.25)))
    without = [[0, 1, 3, 2], *QUADS[2:], [8, 9, 11, 10]]
    assert close_surface(make_faces(cup, without)) is None


def test_a_convex_mesh_without_one_face_is_closed() -> None:
    mended = close_surface(make_faces(CUBE, QUADS[1:]))
    assert mended is not None
    assert int(mended.counts.sum()) == 5 * 4 + 2 * 3


def test_a_band_with_one_side_is_refused() -> None:
    points = np.array([[np.cos(t), np.sin(t), z] for t in np.linspace(0, 4, 5) for z in (-0.1, 0.1)])
    band = [[2 * i, 2 * i + 2, 2 * i + 3, 2 * i + 1] for i in range(4)] + [[8, 1, 0, 9]]
    assert not MeshSurface(make_faces(points, band)).wind_evenly()


def test_a_union_has_the_volume_of_both() -> None:
    shifted = CUBE + np.array([0.5, 0.25, 0.125])
    both = make_faces(np.vstack((CUBE, shifted)), [*QUADS, *[[i + 8 for i in face] for face in QUADS]])
    united = unite_shells(both)
    assert united is not None
    points, indices = united
    assert measure_volume(np.asarray(points, np.float64), indices) == pytest.approx(
        2.0 - 0.5 * 0.75 * 0.875, rel=1e-6
    )


def test_open_shells_are_not_united() -> None:
    assert unite_shells(make_faces(np.vstack((CUBE, CUBE + 0.5)), [*QUADS, [8, 9, 11, 10]])) is None


def test_faces_that_do_not_fit_are_refused() -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(MESH.replace("[4, 3]", "[4, 4]"))
    stage = Usd.Stage.Open(layer)
    with pytest.raises(Refused, match="more or fewer corners"):
        read_faces(stage.GetPrimAtPath("/m"))
