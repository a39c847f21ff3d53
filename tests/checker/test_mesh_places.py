# SPDX-License-Identifier: Apache-2.0
"""A mesh is not read again where all that is said of it stands in files that are as they were."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom

from simwright.checker.facts import mesh_memory, meshes
from simwright.checker.facts.meshes import MeshCache, digest_primvars, read_mesh, sketch_mesh
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.usd import settled
from simwright.usd.open import open_stage

OPEN, CLOSED = [3, 3, 3], [3, 3, 3, 3]
CORNERS = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]


@pytest.fixture(autouse=True)
def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    mesh_memory.forget()
    # files of a test are fresh: without this they are never taken as unchanged
    monkeypatch.setattr(settled, "_MOMENT", 0)


def write(path: Path, counts: list[int], height: float = 1.0) -> None:
    path.write_text(
        f"""#usda 1.0
(
    defaultPrim = "part"
)
def Mesh "part"
{{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, {height})]
    int[] faceVertexCounts = {counts}
    int[] faceVertexIndices = {CORNERS[: sum(counts)]}
    texCoord2f[] primvars:st = [(0, 0)]
}}
"""
    )


def count_reads(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    reads: list[object] = []
    real = MeshCache.read

    def read(self: MeshCache, load: object) -> object:
        reads.append(load)
        return real(self, load)  # type: ignore[arg-type]

    monkeypatch.setattr(MeshCache, "read", read)
    return reads


def look(path: Path, variants: dict[str, str] | None = None, at: str = "/part") -> tuple[bool, int, object]:
    """Whether the mesh is closed, a hash of three points, and its primvars: asked of a stage of its own."""
    return look_at(StageSnapshot(open_stage(path, variants=variants or {})), at)


def look_at(snapshot: StageSnapshot, at: str = "/part") -> tuple[bool, int, object]:
    node = snapshot.node(at)
    assert node is not None
    sketch = sketch_mesh(node, snapshot)
    facts = read_mesh(node, snapshot)
    assert facts.sketch == sketch
    return facts.form.topology.is_closed, sketch[1], digest_primvars(node, snapshot)


def test_an_unchanged_file_is_not_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "part.usda"
    write(path, CLOSED)
    first = look(path)
    assert first[0]
    reads = count_reads(monkeypatch)
    assert look(path) == first
    assert reads == []


def test_a_file_that_was_written_again_is_read_again(tmp_path: Path) -> None:
    path = tmp_path / "part.usda"
    write(path, CLOSED)
    assert look(path)[0]
    write(path, OPEN)
    assert not look(path)[0]


def test_an_opinion_of_another_file_counts(tmp_path: Path) -> None:
    write(tmp_path / "part.usda", CLOSED)
    over = tmp_path / "over.usda"
    over.write_text('#usda 1.0\n(\n    subLayers = [@part.usda@]\n)\nover "part"\n{\n}\n')
    before = look(over)
    over.write_text(
        '#usda 1.0\n(\n    subLayers = [@part.usda@]\n)\nover "part"\n{\n'
        "    int[] faceVertexCounts = [3, 3, 3]\n    texCoord2f[] primvars:st = [(1, 0)]\n"
        "    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2]\n}\n"
    )
    after = look(over)
    assert before[0]
    assert not after[0]
    assert after[2] != before[2]


def test_each_variant_is_a_place_of_its_own(tmp_path: Path) -> None:
    for name, counts in (("open", OPEN), ("closed", CLOSED)):
        write(tmp_path / f"{name}.usda", counts)
    path = tmp_path / "choice.usda"
    path.write_text(
        """#usda 1.0
(
    defaultPrim = "part"
)
def "part" (
    variants = {
        string shape = "open"
    }
    prepend variantSets = "shape"
)
{
    variantSet "shape" = {
        "open" (
            references = @open.usda@
        ) {
            float3[] extent = [(0, 0, 0), (1, 1, 1)]
        }
        "closed" (
            references = @closed.usda@
        ) {
        }
    }
}
"""
    )
    assert not look(path)[0]
    assert look(path, {"shape": "closed"})[0]
    assert not look(path, {"shape": "open"})[0]


def test_what_is_changed_in_memory_is_read(tmp_path: Path) -> None:
    path = tmp_path / "part.usda"
    write(path, CLOSED)
    stage = open_stage(path)
    first = look_at(StageSnapshot(stage))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/part"))
    stage.SetEditTarget(stage.GetSessionLayer())
    mesh.GetFaceVertexCountsAttr().Set(OPEN)
    mesh.GetFaceVertexIndicesAttr().Set(CORNERS[:9])
    assert first[0]
    assert not look_at(StageSnapshot(stage))[0]
    stage.GetSessionLayer().Clear()
    stage.SetEditTarget(stage.GetRootLayer())
    mesh.GetFaceVertexCountsAttr().Set(OPEN)
    mesh.GetFaceVertexIndicesAttr().Set(CORNERS[:9])
    assert not look_at(StageSnapshot(stage))[0]


def test_a_stage_in_memory_has_no_place() -> None:
    stage = Usd.Stage.CreateInMemory()
    mesh = UsdGeom.Mesh.Define(stage, "/part")
    assert mesh_memory.find_place(mesh.GetPrim(), {}) is None
    layer = Sdf.Layer.CreateAnonymous()
    assert mesh_memory.find_place(Usd.Stage.Open(layer).GetPseudoRoot(), {}) is None


def test_a_stage_of_many_meshes_is_read_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for the places of thousands takes longer than reading small meshes does."""
    monkeypatch.setattr(meshes, "MOST_PLACES", 0)
    path = tmp_path / "part.usda"
    write(path, CLOSED)
    first = look(path)
    reads = count_reads(monkeypatch)
    assert look(path) == first
    assert reads


def test_places_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mesh_memory, "MOST_MESHES", 2)
    places = [((("file", 0, 0, 0, 0, 0), f"/{number}"),) for number in range(3)]
    for place in places:
        mesh_memory.keep_primvars(place, ())
    assert [mesh_memory.recall_primvars(place) for place in places] == [None, None, ()]
    mesh_memory.keep_primvars(None, ())
    assert mesh_memory.recall_primvars(None) is None
