"""Levels of detail and convex parts: variants with content, kept in a cache, the same every time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pxr import Usd
from test_colliders import find_errors, make_asset

from simwright.core.diag import Reporter
from simwright.core.errors import MissingExtraError
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer import mesh_variants
from simwright.formats.usd.writer.entry import write
from simwright.formats.usd.writer.mesh_variants import find_folder
from simwright.formats.usd.writer.meshes import digest_mesh
from simwright.formats.usd.writer.solids import is_closed
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, MeshData, Subset
from simwright.model.material import RenderMaterial


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/simwright/meshes"


def make_hill(size: int = 60) -> MeshData:
    """A grid over a wave, its left half of one material and its right half of another."""
    steps = np.linspace(-1.0, 1.0, size)
    x, y = np.meshgrid(steps, steps)
    points = np.stack((x, y, 0.2 * np.cos(3 * x) * np.cos(3 * y)), axis=2).reshape(-1, 3)
    corner = (np.arange(size - 1)[:, None] * size + np.arange(size - 1)).reshape(-1)
    quads = np.stack((corner, corner + 1, corner + size + 1, corner + size), axis=1).astype(np.int32)
    left = points[quads].mean(axis=1)[:, 0] < 0.0
    halves = [np.flatnonzero(left).astype(np.int32), np.flatnonzero(~left).astype(np.int32)]
    return MeshData(
        points,
        quads.reshape(-1),
        np.full(len(quads), 4, np.int32),
        uvs=points[:, :2],
        subsets=(Subset("left", halves[0], "red"), Subset("right", halves[1], "blue")),
    )


def make_angle() -> Mesh:
    """A closed right angle: two boxes' worth of a shape that is not convex."""
    outline = np.array([(0, 0), (2, 0), (2, 0.5), (0.5, 0.5), (0.5, 2), (0, 2)])
    points = np.concatenate((np.c_[outline, np.zeros(6)], np.c_[outline, np.ones(6)]))
    top = np.array([(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)])
    sides = [(n, (n + 1) % 6, (n + 1) % 6 + 6) for n in range(6)] + [
        (n, (n + 1) % 6 + 6, n + 6) for n in range(6)
    ]
    return Mesh.of(points, np.concatenate((top[:, ::-1], top + 6, np.array(sides))))


def save(asset: Asset, folder: Path, **wishes: bool) -> Usd.Stage:
    entry = write(asset, folder, WriteOptions(**wishes), Reporter())
    assert find_errors(entry) == []
    return Usd.Stage.Open(str(entry))


def test_levels_of_detail(tmp_path, cache):
    asset = make_asset(Shape("m", Mesh(make_hill())))
    asset.materials = [RenderMaterial("red", (1.0, 0.0, 0.0)), RenderMaterial("blue", (0.0, 0.0, 1.0))]
    stage = save(asset, tmp_path / "out", lod=True)
    variants = stage.GetPrimAtPath("/prop/part/visual").GetVariantSet("visual_representation")
    assert variants.GetVariantSelection() == "mesh_medium"
    counts = {}
    for level in variants.GetVariantNames():
        variants.SetVariantSelection(level)
        mesh = stage.GetPrimAtPath("/prop/part/visual/m")
        counts[level] = len(mesh.GetAttribute("faceVertexCounts").Get())
        assert len(mesh.GetAttribute("primvars:st").Get()) > 0
        assert [child.GetName() for child in mesh.GetChildren()] == ["left", "right"]
    assert counts["mesh_high"] == 59 * 59
    assert counts["mesh_low"] < 700 < counts["mesh_medium"] <= 2100
    assert len(list(cache.iterdir())) == 2


def test_decimated_faces_keep_their_half():
    small = mesh_variants.decimate(make_hill(), 0.05, 200)
    centres = small.vertices[small.triangles()].mean(axis=1)[:, 0]
    left, right = (centres[subset.faces] for subset in small.subsets)
    assert left.max() < 0.15
    assert right.min() > -0.15
    assert len(left) + len(right) == small.face_count
    corners = small.vertices[small.indices][:, :2]
    assert np.abs(small.uvs - corners).max() < 0.2


def test_small_meshes_are_left_alone():
    assert mesh_variants.decimate(make_angle().data, 0.25, 200) is None


def test_convex_parts(tmp_path, cache):
    asset = make_asset(Shape("m", make_angle(), collision=True, visual=False))
    stage = save(asset, tmp_path / "out", decompose=True)
    scope = stage.GetPrimAtPath("/prop/part/collision")
    variants = scope.GetVariantSet("collision_fidelity")
    assert variants.GetVariantNames() == ["advanced", "baseline", "decomposed"]
    assert variants.GetVariantSelection() == "baseline"
    variants.SetVariantSelection("decomposed")
    found = [
        prim
        for prim in Usd.PrimRange(scope, Usd.TraverseInstanceProxies())
        if prim.HasAPI("PhysicsCollisionAPI")
    ]
    assert len(found) >= 2
    assert {prim.GetAttribute("physics:approximation").Get() for prim in found} == {"convexHull"}
    assert len(list(cache.iterdir())) == 1


def test_convex_mesh_has_no_parts(tmp_path, cache):
    points = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    block = Mesh.of(points, np.array([(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]))
    stage = save(make_asset(Shape("m", block, collision=True)), tmp_path / "out", decompose=True)
    stage.GetPrimAtPath("/prop/part/collision").GetVariantSet("collision_fidelity").SetVariantSelection(
        "decomposed"
    )
    assert len(stage.GetPrimAtPath("/prop/part/collision/m").GetAttribute("points").Get()) == 4
    assert not cache.exists()


def test_parts_are_closed_and_the_same_without_the_cache(cache):
    first = mesh_variants.decompose(make_angle().data)
    assert all(is_closed(part) for part in first)
    (entry,) = cache.iterdir()
    entry.write_bytes(b"damaged")
    again = mesh_variants.decompose(make_angle().data)
    assert [part.vertices.tolist() for part in again] == [part.vertices.tolist() for part in first]


@pytest.mark.parametrize(
    ("make", "line"),
    [(mesh_variants.DetailLevels, "simwright[lod]"), (mesh_variants.Decomposer, "simwright[decompose]")],
)
def test_missing_package_gives_the_line_that_installs_it(make, line, monkeypatch):
    monkeypatch.setattr(mesh_variants, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtraError) as error:
        make()
    assert f"pip install '{line}'" in error.value.hint


def test_no_home_no_cache(monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", "")
    assert find_folder() is None


def test_meshes_whose_parts_are_others_are_others():
    hill = make_hill()
    left, right = hill.subsets
    moved = replace(hill, subsets=(Subset("left", right.faces, "red"), Subset("right", left.faces, "blue")))
    renamed = replace(
        hill, subsets=(Subset("left", left.faces, "red"), Subset("right", right.faces, "green"))
    )
    assert digest_mesh(make_hill()) == digest_mesh(hill)
    assert len({digest_mesh(mesh) for mesh in (hill, moved, renamed, replace(hill, subsets=()))}) == 4
