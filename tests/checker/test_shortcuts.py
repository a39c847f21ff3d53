# SPDX-License-Identifier: Apache-2.0
"""Shorter ways to the same facts: each is held against the long one."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Sdf, Vt

from simwright.checker.asset import check_file
from simwright.checker.facts.layer_walk import gather_layer, gather_layers
from simwright.checker.facts.meshes import make_facts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.topology import count_edges
from simwright.usd import locate, settled
from simwright.usd.crate_values import are_among, are_any_of, list_distinct
from simwright.usd.guard import recall_outline
from simwright.usd.open import open_stage

crossings = importlib.import_module("simwright.checker.rules.s3_4.geo_coll_no_selfint")

ROBOT = """#usda 1.0
(
    defaultPrim = "robot"
)
def Xform "robot"
{
    def Mesh "shape"
    {
        point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0)]
        int[] faceVertexIndices = [0, 1, 2]
        int[] faceVertexCounts = [3]
        float3[] extent = [(0, 0, 0), (1, 1, 0)]
        double[] userProperties:inertia = [1, 2, 3, 4, 5, 6]
        float[] userProperties:none = []
        float[] userProperties:blocked = None
    }
    def Mesh "later"
    {
        point3f[] points.timeSamples = { 1: [(0, 0, 0)], 2: [(0, 0, 0), (1, 1, 1)] }
        token userProperties:word = "points"
    }
}
"""


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files written a moment ago are remembered like older ones."""
    monkeypatch.setattr(settled, "_MOMENT", 0)


def list_elements(path: Path) -> tuple[Any, ...]:
    stage = open_stage(path)
    (facts,) = gather_layers(StageSnapshot(stage))
    return (
        facts.elements,
        facts.bytes,
        facts.heaviest,
        sorted(facts.matrices),
        facts.has_meshes,
        facts.has_samples,
    )


@pytest.mark.usefixtures("at_once")
def test_sizes_of_arrays_from_the_outline_of_a_crate(tmp_path: Path) -> None:
    text = tmp_path / "robot.usda"
    text.write_text(ROBOT)
    binary = tmp_path / "robot.usdc"
    layer = Sdf.Layer.FindOrOpen(str(text))
    mesh = layer.GetPrimAtPath("/robot/shape")
    many = Sdf.AttributeSpec(mesh, "primvars:many", Sdf.ValueTypeNames.IntArray)
    many.default = Vt.IntArray(list(range(5000)))  # compressed in the file
    assert layer.Export(str(binary))
    other = tmp_path / "same.usda"
    assert layer.Export(str(other))
    assert list_elements(binary) == list_elements(other)
    stage = open_stage(binary)
    outline = recall_outline(stage.GetRootLayer())
    assert outline is not None
    lengths = {outline.find_length(number, "primvars:many") for number in range(-1, 5)}
    assert lengths == {None, 5000}
    assert {outline.find_length(number, "userProperties:none") for number in range(3)} == {None, 0}
    assert {outline.find_length(number, "userProperties:word") for number in range(3)} == {None}


@pytest.mark.usefixtures("at_once")
def test_facts_of_a_layer_are_those_of_the_file_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "robot.usda"
    path.write_text(ROBOT)
    first = [str(finding) for finding in check_file(path).findings]
    assert [str(finding) for finding in check_file(path).findings] == first
    stage = open_stage(path)
    (kept,) = gather_layers(StageSnapshot(stage))
    assert kept.layer is stage.GetRootLayer()
    assert kept.is_root
    # an unsaved change, then a saved one
    Sdf.PrimSpec(stage.GetRootLayer().GetPrimAtPath("/robot"), "added", Sdf.SpecifierDef, "Xform")
    (changed,) = gather_layers(StageSnapshot(stage))
    assert changed.prims == kept.prims + 1
    stage.GetRootLayer().Save()
    (saved,) = gather_layers(StageSnapshot(stage))
    assert saved.prims == kept.prims + 1
    del stage, changed, saved
    path.write_text(ROBOT.replace('def Mesh "later"', 'def PhysxThing "later"'))
    (written,) = gather_layers(StageSnapshot(open_stage(path)))
    assert "physx" in written.vendors
    assert "physx" not in kept.vendors


@pytest.mark.usefixtures("at_once")
def test_facts_depend_on_the_namespaces_that_are_a_vendors(tmp_path: Path) -> None:
    path = tmp_path / "robot.usda"
    path.write_text(ROBOT)
    layer = open_stage(path).GetRootLayer()
    assert not gather_layer(layer).vendors
    assert gather_layer(layer, vendors=("userProperties",)).vendors == {"userProperties"}


LINES = """#usda 1.0
def Xform "a" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
    custom uniform token b = "x" (
        doc = "float no = 1"
    )
    float c = 1
    float d = 2 # said
    prepend rel e = </a>
    rel f = [</a>, </a/g>]
    string g = "float no = 1"
    string h = '''
    float no = 1
    '''
    asset i = @./x.usda@
    float3[] j = [(1, 2, 3), (4, 5, 6)]
    float3[] k = [
        (1, 2, 3),
    ]
    double l.timeSamples = {
        1: 2,
    }
    token m.connect = </a.b>
    float n = 1; float o = 2
    reorder properties = ["c", "b"]
    float p =
        3
    float q = 1
        (
            doc = "float no = 1"
        )
    dictionary r = {
        float no = 1
    }
    token[] xformOpOrder = ["x", "y"]
    variantSet "v" = {
        "w" {
            float s = 1
        }
    }
}
"""


def test_plain_lines_are_outlined_like_all_others(monkeypatch: pytest.MonkeyPatch) -> None:
    data = LINES.encode()
    texts = [data, data.replace(b"\n", b"\r\n"), *(data[:cut] for cut in range(0, len(data), 7))]
    short = [locate.outline_text(text) for text in texts]
    monkeypatch.setattr(locate._Outliner, "_lines", lambda self: None)
    assert short == [locate.outline_text(text) for text in texts]
    assert {path for path in short[0] if ".no" in path} == set()
    assert {f"/a.{name}" for name in "bcdefghijklmnopqr"} <= set(short[0])
    assert "/a{v=w}.s" in short[0]


def test_distinct_values() -> None:
    numbers = np.random.default_rng(1).integers(-50, 50, 300)
    for values in (numbers, numbers[:1], numbers[:0], numbers.astype(np.uint64)):
        assert np.array_equal(list_distinct(values), np.unique(values))
        assert np.array_equal(are_among(values, np.sort(numbers[:20])), np.isin(values, numbers[:20]))
        assert not are_among(values, numbers[:0]).any()
        assert np.array_equal(are_any_of(values, (1, 7, 9)), np.isin(values, (1, 7, 9)))


def test_edges_of_open_and_crowded_meshes() -> None:
    generator = np.random.default_rng(2)
    for size in (1, 2, 5, 40):
        indices = generator.integers(0, 12, 3 * size).astype(np.int32)
        found = count_edges(np.full(size, 3, np.int32), indices)
        corners = indices.reshape(-1, 3)
        edges = [
            (int(a), int(b))
            for face in corners
            for a, b in zip(face, np.roll(face, -1), strict=True)
            if a != b
        ]
        uses: dict[frozenset[int], list[bool]] = {}
        for a, b in edges:
            uses.setdefault(frozenset((a, b)), []).append(a > b)
        counts = [len(ways) for ways in uses.values()]
        assert (found.edges, found.boundary) == (len(uses), counts.count(1))
        assert found.crowded == sum(count > 2 for count in counts)
        assert found.flipped == sum(len(ways) == 2 and ways[0] == ways[1] for ways in uses.values())


@pytest.mark.parametrize("scale", [1.0, 1e-4, 1e5])
@pytest.mark.parametrize("kind", ["soup", "plane", "slivers", "grid"])
def test_crossings_are_those_of_all_pairs(kind: str, scale: float) -> None:
    generator = np.random.default_rng(3)
    count = 150
    points = generator.random((3 * count, 3))
    # small triangles in a box, all in one plane, thin ones, and corners on a grid that touch exactly
    if kind != "slivers":
        points = np.repeat(points[::3], 3, axis=0) + 0.2 * points
    if kind == "plane":
        points[:, 2] = 0.5
    if kind == "slivers":
        points[2::3] = points[1::3] + 1e-6 * points[2::3]
    if kind == "grid":
        points = np.round(points * 8) / 8
    points = (scale * points).astype(np.float32)
    facts = make_facts(points, np.full(count, 3, np.int32), np.arange(3 * count, dtype=np.int32))
    found = crossings.find_self_intersections(facts, 10**9)
    triangles = facts.surface_faces.triangles
    first, second = (rows.astype(np.int64) for rows in np.triu_indices(count, 1))
    apart = crossings._share_none(triangles[first], triangles[second])
    first, second = first[apart], second[apart]
    columns = np.ascontiguousarray(points[triangles].transpose(1, 2, 0), np.float64)
    low, high = columns.min(axis=0), columns.max(axis=0)
    over = ((low[:, first] <= high[:, second]) & (high[:, first] >= low[:, second])).all(axis=0)
    first, second = first[over], second[over]
    hit = crossings._find_crossing(columns[:, :, first], columns[:, :, second])
    wanted = {frozenset(pair) for pair in zip(first[hit].tolist(), second[hit].tolist(), strict=True)}
    assert {frozenset(pair) for pair in found} == wanted
    assert len(found) == len(wanted)
    if kind == "soup":
        assert wanted
