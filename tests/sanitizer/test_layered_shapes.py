"""Shapes of an asset in layers, as converters write it: a library, a tree of links, and physics on top."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Sdf, Usd, UsdGeom, UsdShade

import simwright
from simwright.sanitizer.result import FixResult

ENTRY = """#usda 1.0
(
    defaultPrim = "robot"
    kilogramsPerUnit = 1
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "robot" (
    prepend payload = @./parts/contents.usda@
)
{
}
"""
CONTENTS = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    subLayers = [@./physics.usda@, @./geometry.usda@]
    upAxis = "Z"
)
def Xform "robot"
{
}
"""
LIBRARY = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
class Scope "Geometry"
{
    def Mesh "roof"
    {
        uniform token subdivisionScheme = "none"
        int[] faceVertexCounts = [3, 3, 3, 3]
        int[] faceVertexIndices = [0, 1, 4, 1, 2, 4, 2, 3, 4, 3, 0, 4]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0.5), (0, 1, 0), (0.5, 0.5, -1)]
        float3[] extent = [(0, 0, -1), (1, 1, 0.5)]
        float3 xformOp:scale = (0.1, 0.1, 0.1)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
}
"""
LINK = """
    def Xform "link_{0}"
    {{
        double3 xformOp:translate = ({0}, 0, 0)
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        def Mesh "look" (
            prepend references = @./library.usda@</Geometry/roof>
        )
        {{
            float3 xformOp:scale = (0.1, 0.1, 0.1)
            double3 xformOp:translate = (0, 0, {0})
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }}
        def Mesh "touch" (
            prepend references = @./library.usda@</Geometry/roof>
        )
        {{
            uniform token purpose = "guide"
        }}
    }}
"""
BODY = """
    over "link_{0}" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 1
        point3f physics:centerOfMass = (0, 0, 0)
        float3 physics:diagonalInertia = (1, 1, 1)
        over "touch" (
            prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"]
        )
        {{
            uniform token physics:approximation = "convexHull"
        }}
    }}
"""


def write_layer(path: Path, parts: str) -> None:
    head = '#usda 1.0\n(\n    defaultPrim = "robot"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
    path.write_text(f'{head}def Xform "robot"\n{{\n{parts}}}\n')


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    folder = tmp_path / "robot"
    (folder / "parts").mkdir(parents=True)
    (folder / "robot.usda").write_text(ENTRY)
    (folder / "parts" / "contents.usda").write_text(CONTENTS)
    (folder / "parts" / "library.usda").write_text(LIBRARY)
    write_layer(folder / "parts" / "geometry.usda", "".join(LINK.format(i) for i in range(3)))
    write_layer(folder / "parts" / "physics.usda", "".join(BODY.format(i) for i in range(3)))
    return folder / "robot.usda"


def fix(asset: Path, *codes: str) -> tuple[FixResult, Usd.Stage]:
    result = simwright.fix(asset, asset.parent.parent / "out", select=list(codes), unsafe=True)
    left = [finding for finding in result.after if finding.kind in codes]
    assert not left, [finding.message for finding in left]
    assert not result.notes, [note.message for note in result.notes]
    assert result.proven
    return result, Usd.Stage.Open(result.entry)


def find_places(stage: Usd.Stage) -> list[tuple[float, ...]]:
    """A point of every mesh in the world, instances included."""
    cache = UsdGeom.XformCache()
    found = []
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if prim.IsA(UsdGeom.Mesh):
            place = cache.GetLocalToWorldTransform(prim).Transform(
                UsdGeom.Mesh(prim).GetPointsAttr().Get()[2]
            )
            found.append(tuple(round(v, 6) for v in place))
    return sorted(found)


def test_equal_meshes_share_and_stand_where_they_stood(asset: Path) -> None:
    before = find_places(Usd.Stage.Open(str(asset)))
    _, stage = fix(asset, "inst-repetitive")
    assert find_places(stage) == before
    looks = [stage.GetPrimAtPath(f"/robot/link_{i}/look") for i in range(3)]
    assert len({look.GetPrototype().GetPath() for look in looks}) == 1
    touches = [stage.GetPrimAtPath(f"/robot/link_{i}/touch") for i in range(3)]
    assert len({touch.GetPrototype().GetPath() for touch in touches}) == 1
    physics = Sdf.Layer.FindOrOpen(str(Path(stage.GetRootLayer().realPath).parent / "parts" / "physics.usda"))
    assert physics.GetPrimAtPath("/robot/prototypes/touch/touch").GetInfo("apiSchemas").prependedItems


def test_open_hulls_are_kept_in_the_library_once(asset: Path) -> None:
    _, stage = fix(asset, "geo-coll-watertight")
    folder = Path(stage.GetRootLayer().realPath).parent
    library = Sdf.Layer.FindOrOpen(str(folder / "parts" / "library.usda"))
    assert list(library.GetPrimAtPath("/hulls").nameChildren.keys()) == ["roof"]
    for i in range(3):
        look, touch = (UsdGeom.Mesh.Get(stage, f"/robot/link_{i}/{name}") for name in ("look", "touch"))
        assert len(look.GetFaceVertexCountsAttr().Get()) == 4
        assert len(touch.GetFaceVertexCountsAttr().Get()) == 6
        touch.GetPrim().GetVariantSet("collision_fidelity").SetVariantSelection("advanced")
        assert len(touch.GetFaceVertexCountsAttr().Get()) == 4


def test_contact_is_said_where_colliders_are(asset: Path) -> None:
    result, stage = fix(asset, "contact-material-bound", "inst-repetitive", "vis-sibling-scopes")
    assert {change.file for change in result.changes if change.rule == "contact-material-bound"} == {
        "parts/physics.usda"
    }
    for prim in stage.Traverse(Usd.TraverseInstanceProxies()):
        if "PhysicsCollisionAPI" in prim.GetAppliedSchemas():
            material, _ = UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
            assert material.GetPath() == "/robot/physics_materials/default_contact"


def test_wishes_say_what_contact_is_like(asset: Path) -> None:
    values = {"static-friction": "0.9", "dynamic-friction": "0.8", "restitution": "0.1"}
    result = simwright.fix(
        asset, asset.parent.parent / "out", select=["contact-material-bound"], unsafe=True, values=values
    )
    stage = Usd.Stage.Open(result.entry)
    material = stage.GetPrimAtPath("/robot/physics_materials/default_contact")
    read = {name: round(material.GetAttribute(f"physics:{name}").Get(), 6) for name in
            ("staticFriction", "dynamicFriction", "restitution")}  # fmt: skip
    assert read == {"staticFriction": 0.9, "dynamicFriction": 0.8, "restitution": 0.1}


def test_an_impossible_wish_is_refused(asset: Path) -> None:
    result = simwright.fix(
        asset, asset.parent.parent / "out", select=["contact-material-bound"], unsafe=True,
        values={"restitution": "2"},
    )  # fmt: skip
    assert {note.kind for note in result.notes} == {"fix-refused"}
    assert all("restitution=2 is not possible" in note.message for note in result.notes)


def test_everything_at_once_is_stable(asset: Path, tmp_path: Path) -> None:
    codes = ["1.3.1", "1.3.2", "1.3.4", "3.4", "3.5"]
    first = simwright.fix(asset, tmp_path / "one" / "robot", select=codes, unsafe=True)
    assert not [note for note in first.notes if note.kind in ("fix-undone", "fix-crashed", "fix-unstable")]
    second = simwright.fix(first.entry, tmp_path / "two" / "robot", select=codes, unsafe=True)
    assert second.status == "unchanged"


def test_every_instance_of_a_collider_gets_a_material(tmp_path: Path) -> None:
    """The colliders of all instances are found as one; each instance has a binding of its own."""
    folder = tmp_path / "asset"
    folder.mkdir()
    (folder / "part.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "part"\n)\ndef Xform "part"\n{\n'
        '    def Cube "c" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n    {\n    }\n}\n'
    )
    copies = "".join(
        f'    def Xform "{name}" (\n        instanceable = true\n        prepend references = @./part.usda@\n    )\n'
        "    {\n    }\n"
        for name in "abc"
    )
    (folder / "root.usda").write_text(
        '#usda 1.0\n(\n    defaultPrim = "robot"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
        f'def Xform "robot"\n{{\n{copies}}}\n'
    )
    result = simwright.fix(
        folder / "root.usda", tmp_path / "out", unsafe=True, select=["contact-material-bound"]
    )
    assert [note.kind for note in result.notes if note.kind in ("fix-unstable", "fix-refused")] == []
    stage = Usd.Stage.Open(result.entry)
    for name in "abc":
        collider = stage.GetPrimAtPath(f"/robot/{name}/c")
        assert UsdShade.MaterialBindingAPI(collider).ComputeBoundMaterial("physics")[0]
    assert "contact-material-bound" not in {finding.kind for finding in result.after}
