"""Meshes of which colliders are the hulls, for files in other formats."""

from __future__ import annotations

from pathlib import Path

import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read
from simwright.model.asset import Asset

HEAD = '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
API = 'prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]'
FINE = """def Mesh "c" (%s)
{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.2, 0.2, 0.2)]
    int[] faceVertexCounts = [3, 3, 3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 4, 2, 3, 4, 3, 1, 4]
    uniform token physics:approximation = "none"
}
"""
HULL = """def Mesh "c" (%s)
{
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    uniform token physics:approximation = "convexHull"
}
"""
BOX = """def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])
{
    double size = 1
}
"""
PARTS = HULL + HULL.replace('"c"', '"d"')


def write_stage(folder: Path, coarse: str) -> Path:
    """A body with one collider in two fidelities, and a ball beside it that has none."""
    coarse, fine = (text.replace("%s", API) for text in (coarse, FINE))
    file = folder / "r.usda"
    file.write_text(
        f"""{HEAD}
def Xform "R"
{{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {{
        def Scope "collision" (
            variants = {{ string collision_fidelity = "baseline" }}
            prepend variantSets = "collision_fidelity"
        )
        {{
            def Sphere "ball" (prepend apiSchemas = ["PhysicsCollisionAPI"])
            {{
            }}
            variantSet "collision_fidelity" = {{
                "baseline" {{
{coarse}
                }}
                "advanced" {{
{fine}
                }}
            }}
        }}
    }}
}}
"""
    )
    return file


def load(file: Path, **options: object) -> Asset:
    return read(file, ReadOptions(fine_colliders=True, **options), Reporter())  # type: ignore[arg-type]


def describe(asset: Asset) -> dict[str, tuple[str, int]]:
    return {
        s.name: (s.geometry.kind, len(s.geometry.data.vertices) if s.geometry.kind == "mesh" else 0)
        for s in asset.shapes
    }


def test_a_hull_gives_way_to_its_mesh(tmp_path):
    file = write_stage(tmp_path, HULL)
    assert describe(load(file)) == {"ball": ("sphere", 0), "c": ("mesh", 5)}
    assert describe(simwright.load(file)) == {"ball": ("sphere", 0), "c": ("mesh", 4)}


@pytest.mark.parametrize("coarse", [BOX, PARTS, FINE], ids=["box", "parts", "triangles"])
def test_what_somebody_made_on_purpose_stays(tmp_path, coarse):
    file = write_stage(tmp_path, coarse)
    assert describe(load(file)) == describe(simwright.load(file))


def test_a_choice_is_a_choice(tmp_path):
    file = write_stage(tmp_path, HULL)
    assert describe(load(file, variants={"collision_fidelity": "baseline"}))["c"] == ("mesh", 4)


@pytest.mark.parametrize("ending", ["urdf", "xml", "sdf"])
def test_other_formats_get_the_mesh(tmp_path, ending):
    file = write_stage(tmp_path, HULL)
    result = simwright.convert(file, tmp_path / "out" / f"r.{ending}")
    assert ("mesh", 5) in describe(simwright.load(result)).values()
    chosen = simwright.convert(
        file, tmp_path / "hull" / f"r.{ending}", variants={"collision_fidelity": "baseline"}
    )
    assert ("mesh", 4) in describe(simwright.load(chosen)).values()


def test_openusd_keeps_its_default(tmp_path):
    file = write_stage(tmp_path, HULL)
    result = simwright.convert(file, tmp_path / "out" / "r.usda")
    assert ("mesh", 4) in describe(simwright.load(result)).values()
