"""Scale and rotation pushed to what is below: nothing moves in the world, and no joint loses its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pxr import Usd, UsdGeom

import simwright

HEAD = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    timeCodesPerSecond = 1
    upAxis = "Z"
)
"""
ROBOT = (
    HEAD
    + """
def Xform "robot"
{{
    {ops}
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 2
        point3f physics:centerOfMass = (0.1, 0.2, 0.3)
        float3 physics:diagonalInertia = (1, 2, 2.5)
        vector3f physics:velocity = (1, 0, 0)
        double3 xformOp:translate = (1, 2, 3)
        quatf xformOp:orient = (0.9238795, 0, 0, 0.38268343)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        def Cube "box" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {{
            float3[] extent = [(-1, -1, -1), (1, 1, 1)]
            double3 xformOp:translate = (0.5, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
        def Mesh "shell"
        {{
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0.5)]
            normal3f[] normals = [(0, 0, 1), (0, 0, 1), (0, 0, 1)]
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            float3[] extent = [(0, 0, 0), (1, 1, 0.5)]
            quatf xformOp:orient = (0.9238795, 0.38268343, 0, 0)
            uniform token[] xformOpOrder = ["xformOp:orient"]
        }}
    }}
    def Xform "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        double3 xformOp:translate = (2, 2, 3)
        double3 xformOp:translate.timeSamples = {{
            0: (2, 2, 3),
            1: (2, 2, 4),
        }}
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cylinder "rod" {{}}
        def SphereLight "lamp" {{}}
    }}
    def PhysicsRevoluteJoint "elbow"
    {{
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/arm>
        point3f physics:localPos0 = (0.5, 0.25, 0)
        point3f physics:localPos1 = (-0.2, 0, 0.1)
        float physics:lowerLimit = -10
        float physics:upperLimit = 10
    }}
    def PhysicsFixedJoint "anchor"
    {{
        rel physics:body0 = </robot>
        rel physics:body1 = </robot/base>
        point3f physics:localPos0 = (1, 2, 3)
        quatf physics:localRot0 = (0.9238795, 0, 0, 0.38268343)
    }}
}}
"""
)
MATRIX = """matrix4d xformOp:transform = ( (0, 2, 0, 0), (-2, 0, 0, 0), (0, 0, 2, 0), (5, 0, 0, 1) )
    uniform token[] xformOpOrder = ["xformOp:transform"]"""
SCALES = ["scale-leaf-only", "scale-kinematic-identity"]


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True)
    (folder / "robot.usda").write_text(text)
    return folder / "robot.usda"


def fix(source: Path, target: Path, rules: list[str]) -> Any:
    return simwright.fix(source, target, select=rules, unsafe=True)


def list_points(stage: Usd.Stage) -> dict[str, np.ndarray[Any, Any]]:
    """Corners of every shape in the world."""
    found = {}
    cache = UsdGeom.XformCache()
    for prim in stage.Traverse():
        if prim.IsA(UsdGeom.Mesh):
            local = np.array(UsdGeom.Mesh(prim).GetPointsAttr().Get(), dtype=np.float64)
        elif prim.IsA(UsdGeom.Gprim):
            low, high = np.array(UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), 0))
            local = np.array([low, high, (low[0], high[1], high[2]), (high[0], low[1], high[2])])
        else:
            continue
        world = np.array(cache.GetLocalToWorldTransform(prim))
        found[prim.GetName()] = local @ world[:3, :3] + world[3, :3]
    return found


@pytest.mark.parametrize(
    "ops",
    [
        'float3 xformOp:scale = (0.25, 0.25, 0.25)\n    uniform token[] xformOpOrder = ["xformOp:scale"]',
        MATRIX,
    ],
    ids=["scale", "matrix"],
)
def test_an_even_scale_goes_into_every_number_below(ops: str, tmp_path: Path) -> None:
    source = write(tmp_path / "asset", ROBOT.format(ops=ops))
    result = fix(source, tmp_path / "out", SCALES)
    assert result.proven
    assert not result.notes
    assert not [finding for finding in result.after if finding.kind in SCALES]
    assert simwright.diff(source, result.entry).equal
    before, after = (list_points(Usd.Stage.Open(str(file))) for file in (source, result.entry))
    assert before.keys() == after.keys()
    for name, points in before.items():
        np.testing.assert_allclose(after[name], points, atol=1e-6)
    stage = Usd.Stage.Open(result.entry)
    assert not [
        prim
        for prim in stage.Traverse()
        if "xformOp:scale" in (prim.GetAttribute("xformOpOrder").Get() or ())
    ]
    factor = 0.25 if "0.25" in ops else 2.0
    assert stage.GetPrimAtPath("/robot/base/box").GetAttribute("size").Get() == pytest.approx(2.0 * factor)
    assert stage.GetPrimAtPath("/robot/arm/lamp").GetAttribute("inputs:radius").Get() == pytest.approx(
        0.5 * factor
    )
    samples = stage.GetPrimAtPath("/robot/arm").GetAttribute("xformOp:translate").GetTimeSamples()
    assert samples == [0.0, 1.0]


def test_an_uneven_scale_stays_on_the_shapes_that_have_no_numbers_for_it(tmp_path: Path) -> None:
    text = ROBOT.format(ops="").replace("(0.9238795, 0, 0, 0.38268343)", "(1, 0, 0, 0)")
    order = 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:{}"]'
    text = text.replace(
        "quatf xformOp:orient = (1, 0, 0, 0)\n        " + order.format("orient"),
        "float3 xformOp:scale = (1, 2, 3)\n        " + order.format("scale"),
    )
    source = write(tmp_path / "asset", text)
    result = fix(source, tmp_path / "out", SCALES)
    assert result.proven
    assert not result.notes
    assert simwright.diff(source, result.entry).equal
    stage = Usd.Stage.Open(result.entry)
    assert list(stage.GetPrimAtPath("/robot/base").GetAttribute("xformOpOrder").Get()) == [
        "xformOp:translate",
        "xformOp:orient",
    ]
    assert stage.GetPrimAtPath("/robot/base/box").GetAttribute("xformOp:scale").Get() == (1, 2, 3)
    assert stage.GetPrimAtPath("/robot/elbow").GetAttribute("physics:localPos0").Get() == (0.5, 0.5, 0)
    before, after = (list_points(Usd.Stage.Open(str(file))) for file in (source, result.entry))
    np.testing.assert_allclose(after["shell"], before["shell"], atol=1e-6)


@pytest.mark.parametrize(
    ("scale", "reason"),
    [("(1, -1, 1)", "is mirrored"), ("(1, 2, 1)", "shears /robot/base"), ("(1, 0, 1)", "scaled to nothing")],
)
def test_mirrors_and_shear_are_told_and_never_approximated(scale: str, reason: str, tmp_path: Path) -> None:
    ops = f'float3 xformOp:scale = {scale}\n    uniform token[] xformOpOrder = ["xformOp:scale"]'
    source = write(tmp_path / "asset", ROBOT.format(ops=ops))
    result = fix(source, tmp_path / "out", ["scale-leaf-only"])
    assert result.status == "unchanged"
    assert reason in result.notes[0].message


BODY = (
    HEAD
    + """
def Xform "robot"
{
    def Cube "box" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "PhysicsMassAPI", "MaterialBindingAPI"]
    )
    {
        float physics:mass = 3
        color3f[] primvars:displayColor = [(1, 0, 0)]
        rel material:binding = </robot/paint>
        double size = 1
        bool physics:collisionEnabled = true
        float3 xformOp:scale = (0.5, 2, 1)
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        def Sphere "knob"
        {
            double3 xformOp:translate = (1, 1, 1)
            float3 xformOp:scale = (2, 0.5, 1)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
        }
    }
    def PhysicsFixedJoint "joint"
    {
        rel physics:body1 = </robot/box>
        point3f physics:localPos0 = (0.5, 2, 1)
        point3f physics:localPos1 = (1, 1, 0)
    }
    def Material "paint" {}
}
"""
)


def test_a_body_that_is_an_uneven_box_gets_its_shape_below(tmp_path: Path) -> None:
    source = write(tmp_path / "asset", BODY)
    result = fix(source, tmp_path / "out", ["scale-kinematic-identity"])
    assert result.proven
    assert not result.notes
    assert simwright.diff(source, result.entry).equal
    stage = Usd.Stage.Open(result.entry)
    body, shape = (stage.GetPrimAtPath(path) for path in ("/robot/box", "/robot/box/shape"))
    assert (body.GetTypeName(), shape.GetTypeName()) == ("Xform", "Cube")
    assert body.GetAppliedSchemas() == ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    assert shape.GetAppliedSchemas() == ["PhysicsCollisionAPI", "MaterialBindingAPI"]
    assert {"size", "primvars:displayColor", "material:binding", "physics:collisionEnabled"} <= set(
        shape.GetAuthoredPropertyNames()
    )
    assert "physics:mass" in body.GetAuthoredPropertyNames()
    assert stage.GetPrimAtPath("/robot/joint").GetAttribute("physics:localPos1").Get() == (0.5, 2, 0)


def test_a_root_that_is_turned_hands_the_turn_to_what_is_below(tmp_path: Path) -> None:
    ops = 'float xformOp:rotateX = 90\n    uniform token[] xformOpOrder = ["xformOp:rotateX"]'
    source = write(tmp_path / "asset", ROBOT.format(ops=ops))
    result = fix(source, tmp_path / "out", ["root-no-align-rotation"])
    assert result.proven
    assert not result.notes
    assert simwright.diff(source, result.entry).equal
    stage = Usd.Stage.Open(result.entry)
    assert stage.GetPrimAtPath("/robot").GetAttribute("xformOp:orient").Get().GetReal() == 1.0
    joint = stage.GetPrimAtPath("/robot/anchor")
    np.testing.assert_allclose(np.array(joint.GetAttribute("physics:localPos0").Get()), (1, -3, 2), atol=1e-6)


SHARED = (
    HEAD
    + """
def Xform "robot"
{
    def Xform "left" (references = </part>)
    {
        float3 xformOp:scale = (2, 2, 2)
        uniform token[] xformOpOrder = ["xformOp:scale"]
    }
    def Xform "right" (references = </part>) {}
}
class Xform "part"
{
    def Sphere "ball"
    {
        double radius = 0.5
        double3 xformOp:translate = (1, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}
"""
)


def test_what_is_shared_is_said_anew_for_one_prim_only(tmp_path: Path) -> None:
    source = write(tmp_path / "asset", SHARED)
    result = fix(source, tmp_path / "out", SCALES)
    assert result.proven
    stage = Usd.Stage.Open(result.entry)
    radii = [
        stage.GetPrimAtPath(f"/robot/{side}/ball").GetAttribute("radius").Get() for side in ("left", "right")
    ]
    assert radii == [1.0, 0.5]


def test_variants_that_are_not_chosen_are_not_overlooked(tmp_path: Path) -> None:
    text = ROBOT.format(
        ops='float3 xformOp:scale = (2, 2, 2)\n    uniform token[] xformOpOrder = ["xformOp:scale"]'
    )
    chosen = '(\n    variants = {\n        string v = "a"\n    }\n    prepend variantSets = "v"\n)'
    text = text.replace('def Xform "robot"\n', f'def Xform "robot" {chosen}\n')
    variants = ['"a" {', "}", '"b" {', 'over "base" {', "point3f physics:centerOfMass = (1, 1, 1)", "}", "}"]
    text = "\n".join([text.rstrip()[:-1], 'variantSet "v" = {', *variants, "}", "}"])
    source = write(tmp_path / "asset", text)
    result = fix(source, tmp_path / "out", SCALES)
    assert result.status == "unchanged"
    assert "the variant v=b of /robot says transforms or shapes too" in result.notes[0].message


RESET = (
    HEAD
    + """
def Xform "robot"
{
    double3 xformOp:translate = (1, 0, 0)
    quatf xformOp:orient = (0.70710677, 0, 0, 0.70710677)
    uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    def Xform "link" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1
        double3 xformOp:translate = (1, 2, 3)
        float xformOp:rotateX = 30
        uniform token[] xformOpOrder = ["!resetXformStack!", "xformOp:translate", "xformOp:rotateX"]
        def Sphere "ball" {}
    }
}
"""
)


def test_a_transform_from_the_world_is_counted_from_the_parent(tmp_path: Path) -> None:
    source = write(tmp_path / "asset", RESET)
    result = fix(source, tmp_path / "out", ["xform-minimal-stack"])
    assert result.proven
    assert not result.notes
    stage = Usd.Stage.Open(result.entry)
    prim = stage.GetPrimAtPath("/robot/link")
    assert list(prim.GetAttribute("xformOpOrder").Get()) == ["xformOp:translate", "xformOp:orient"]
    np.testing.assert_allclose(np.array(prim.GetAttribute("xformOp:translate").Get()), (2, 0, 3), atol=1e-7)


def test_a_body_below_a_body_keeps_its_reset(tmp_path: Path) -> None:
    text = RESET.replace(
        'def Xform "robot"\n', 'def Xform "robot" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n'
    )
    result = fix(write(tmp_path / "asset", text), tmp_path / "out", ["xform-minimal-stack"])
    assert "make the two siblings" in result.notes[0].message
