"""Many matrices taken apart at once, and paths found below others."""

from __future__ import annotations

import numpy as np

from simwright.formats.usd.bodies import PathIndex
from simwright.formats.usd.transforms import decompose, decompose_many


def make_matrices() -> np.ndarray:
    """Rigid, scaled, mirrored, sheared, flat and broken ones, in one heap."""
    rng = np.random.default_rng(3)
    matrices = np.tile(np.eye(4), (40, 1, 1))
    matrices[:, :3, 3] = rng.normal(size=(40, 3))
    for i in range(30):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        matrices[i, :3, :3] = turn if i < 10 else turn * rng.uniform(0.1, 3.0, 3)
    matrices[20:30, :3, :3] = rng.normal(size=(10, 3, 3))
    matrices[30, :3, :3] = 0.0
    matrices[31, :3, 0] = 0.0
    matrices[32, 0, 0] = np.nan
    matrices[33, 0, 0] = np.inf
    return matrices


def test_many_matrices_come_apart_like_each_of_them():
    matrices = make_matrices()
    for matrix, many in zip(matrices, decompose_many(matrices), strict=True):
        one = decompose(matrix)
        np.testing.assert_array_equal(many.pose.p, one.pose.p)
        np.testing.assert_array_equal(many.pose.q, one.pose.q)
        np.testing.assert_array_equal(many.scale, one.scale)
        assert (many.stretch is None) == (one.stretch is None)
        assert np.all(np.isfinite([*many.pose.q, *many.scale]))


def test_what_is_exact_gives_the_matrix_back():
    matrices = make_matrices()
    placements = decompose_many(matrices)
    exact = [i for i, placement in enumerate(placements) if placement.is_exact]
    assert set(range(20)) <= set(exact)
    assert not {30, 31} & set(exact)
    for i in exact[:20]:
        linear = placements[i].pose.rotation * placements[i].scale
        np.testing.assert_allclose(linear, matrices[i, :3, :3], atol=1e-12)
        assert placements[i].is_mirrored == (np.linalg.det(matrices[i, :3, :3]) < 0)


def test_no_matrices():
    assert decompose_many(np.zeros((0, 4, 4))) == []


def test_paths_below():
    index = PathIndex(["/a/b/c", "/a/bc", "/a", "/a/b", "/b", "/a/b-c"])
    assert index.find("/a/b") == [0, 3]
    assert index.find("/a") == [0, 1, 2, 3, 5]
    assert index.find("/") == [0, 1, 2, 3, 4, 5]
    assert index.find("/a/b/c/d") == []


def test_an_operation_that_is_listed_and_not_there_is_said(read):
    found = read("""
def Xform "R" {
    def Cube "lost" {
        uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate", "!invert!xformOp:translate:p"] }
    def Cube "kept" { double3 xformOp:translate = (1, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "!invert!xformOp:translate"] }
}""")
    said = [d for d in found.reporter if d.kind == "usd-operation-missing"]
    assert [(d.where.prim, d.data["operation"]) for d in said] == [
        ("/R/lost", "xformOp:translate"),
        ("/R/lost", "xformOp:translate:p"),
    ]
    assert {shape.path for shape in found.asset.shapes} == {"/R/lost", "/R/kept"}
