"""Stages that are wrong: each fault is a finding, none stops the reader, and strict mode raises."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import StrictError, UnknownNameError
from simwright.model.kinematics import build_tree, forward_kinematics


def body(name: str, inside: str = "", apis: str = "") -> str:
    return f"""
def Xform "{name}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"{apis}] ) {{
    {inside}
    def Cube "{name}_box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ double size = 1 }}
}}
"""


def joint(name: str, first: str, second: str, inside: str = "") -> str:
    return f"""
def PhysicsRevoluteJoint "{name}" {{
    rel physics:body0 = </R/{first}>
    rel physics:body1 = </R/{second}>
    {inside}
}}
"""


def op(kind: str, name: str, value: str) -> str:
    return f'{kind} xformOp:{name} = {value}\n uniform token[] xformOpOrder = ["xformOp:{name}"]'


def robot(*parts: str) -> str:
    return f'def Xform "R" {{ {"".join(parts)} }}'


ROOT = ', "PhysicsArticulationRootAPI"'
FLAT = op("float3", "scale", "(0, 1, 1)")
TETRAHEDRON = """
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
"""
FAULTS = {
    "a cycle": (
        robot(
            body("a"), body("b"), body("c"), joint("x", "a", "b"), joint("y", "b", "c"), joint("z", "c", "a")
        ),
        "usd-joint-cycle",
    ),
    "a cycle of two": (
        robot(body("a"), body("b"), joint("x", "a", "b"), joint("y", "b", "a")),
        "usd-joint-cycle",
    ),
    "two roots": (
        robot(body("a", apis=ROOT), body("b", apis=ROOT), joint("x", "a", "b")),
        "usd-articulation-roots",
    ),
    "a type without Physics before it": (
        robot(body("a"), body("b"), joint("x", "a", "b").replace("PhysicsRevoluteJoint", "RevoluteJoint")),
        "usd-type-misnamed",
    ),
    "a missing body": (robot(body("a"), joint("x", "a", "nothing")), "usd-joint-target-missing"),
    "a joint on itself": (robot(body("a"), joint("x", "a", "a")), "usd-joint-on-itself"),
    "NaN in a position": (
        robot(body("a", op("double3", "translate", "(nan, 0, 0)"))),
        "usd-transform-invalid",
    ),
    "infinity in a position": (
        robot(body("a", op("double3", "translate", "(0, inf, -inf)"))),
        "usd-transform-invalid",
    ),
    "NaN in a scale": (robot(body("a", op("float3", "scale", "(nan, 1, 1)"))), "usd-transform-invalid"),
    "NaN in a rotation": (
        robot(body("a", op("float3", "rotateXYZ", "(nan, 0, 0)"))),
        "usd-transform-invalid",
    ),
    "NaN in a quaternion": (robot(body("a", op("quatf", "orient", "(nan, 0, 0, 0)"))), "usd-turn-invalid"),
    "an orientation that is a word": (
        robot(
            body("a", 'token xformOp:orient = "north"\n uniform token[] xformOpOrder = ["xformOp:orient"]')
        ),
        "usd-turn-invalid",
    ),
    "a quaternion of zeros": (robot(body("a", op("quatf", "orient", "(0, 0, 0, 0)"))), "usd-turn-invalid"),
    "NaN in an anchor": (
        robot(body("a"), body("b"), joint("x", "a", "b", "point3f physics:localPos0 = (nan, 0, 0)")),
        "usd-value-invalid",
    ),
    "NaN in a limit": (
        robot(body("a"), body("b"), joint("x", "a", "b", "float physics:lowerLimit = nan")),
        "usd-value-invalid",
    ),
    "limits that leave nothing": (
        robot(
            body("a"),
            body("b"),
            joint("x", "a", "b", "float physics:lowerLimit = inf\n float physics:upperLimit = inf"),
        ),
        "usd-limit-unreachable",
    ),
    "infinite limits the wrong way round": (
        robot(
            body("a"),
            body("b"),
            joint("x", "a", "b", "float physics:lowerLimit = inf\n float physics:upperLimit = -inf"),
        ),
        "usd-limit-inverted",
    ),
    "an infinite size": (
        robot(
            body(
                "a", 'def Sphere "s" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) { double radius = inf }'
            )
        ),
        "usd-value-invalid",
    ),
    "infinite gravity": (
        'def PhysicsScene "R" { float physics:gravityMagnitude = inf }',
        "usd-value-invalid",
    ),
    "an infinite mass": (
        robot(body("a", "float physics:mass = inf", ', "PhysicsMassAPI"')),
        "usd-mass-invalid",
    ),
    "a body scaled to zero": (robot(body("a", FLAT)), "usd-transform-flat"),
    "all scaled to zero": (robot(body("a", op("float3", "scale", "(0, 0, 0)"))), "usd-transform-flat"),
    "zero scale above": (robot(f'def Xform "g" {{ {FLAT}\n {body("a")} }}'), "usd-transform-flat"),
    "a flat mesh": (
        robot(
            body(
                "a",
                f'def Mesh "m" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ {TETRAHEDRON}\n {FLAT} }}',
            )
        ),
        "usd-transform-flat",
    ),
    "a mirrored body": (robot(body("a", op("float3", "scale", "(-1, 1, 1)"))), "usd-body-mirrored"),
    "a mirrored mesh": (
        robot(body("a", f'def Mesh "m" {{ {TETRAHEDRON}\n {op("float3", "scale", "(1, -1, 1)")} }}')),
        "usd-geometry-mirrored",
    ),
    "NaN in an instancer": (
        robot("""def PointInstancer "p" {
            rel prototypes = </R/p/c>
            int[] protoIndices = [0, 0]
            point3f[] positions = [(nan, 0, 0), (1, 0, 0)]
            def Cube "c" {}
        }"""),
        "usd-instances-invalid",
    ),
    "a flat instancer": (
        robot(f"""def PointInstancer "p" {{
            rel prototypes = </R/p/c>
            int[] protoIndices = [0]
            point3f[] positions = [(0, 0, 0)]
            {FLAT}
            def Cube "c" {{}}
        }}"""),
        "usd-instances-invalid",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_a_finding_and_the_rest_is_finite(read, fault):
    content, kind = FAULTS[fault]
    found = read(content)
    places = [d.where for d in found.reporter if d.kind == kind]
    assert places
    assert all(place.prim.startswith("/R") for place in places)
    asset = found.asset
    for placed in (*asset.bodies, *asset.shapes):
        assert np.all(np.isfinite(placed.pose.p))
        assert np.linalg.norm(placed.pose.q) == pytest.approx(1)
    for one in asset.bodies:
        if one.inertial is not None:
            assert math.isfinite(one.inertial.mass)
            assert np.all(np.isfinite(one.inertial.inertia))
    for held in asset.joints:
        assert np.all(np.isfinite(held.parent_frame.p))
        assert all(dof.lower <= dof.upper for dof in held.dofs)
    assert asset.environment.gravity is None or np.all(np.isfinite(asset.environment.gravity))
    poses = forward_kinematics(asset)
    assert all(np.all(np.isfinite(pose.p)) for pose in poses.values())


def test_only_the_topmost_flat_prim_is_named(read):
    found = read(robot(f'def Xform "g" {{ {FLAT}\n {body("a")} {body("b")} }}'))
    named = [d.where.prim for d in found.reporter if d.kind == "usd-transform-flat"]
    assert named == ["/R/g"]


def test_infinite_limits_are_no_limits(read):
    limits = "float physics:lowerLimit = -inf\n float physics:upperLimit = inf"
    found = read(robot(body("a"), body("b"), joint("x", "a", "b", limits)))
    assert not found.asset.joint("x").dofs[0].is_limited
    assert found.kinds == set()


def test_a_cycle_leaves_a_tree_and_a_loop(read):
    found = read(FAULTS["a cycle"][0])
    tree = build_tree(found.asset)
    assert (len(tree.edges), len(tree.loops)) == (2, 1)


def write(folder: Path, content: str) -> Path:
    file = folder / "stage.usda"
    header = '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
    file.write_text(header + content.replace("}", "\n}\n"), encoding="utf-8")
    return file


HALF = """
def Xform "R" {
    def Cube "here" {}
    def Xform "gone" ( references = @missing.usda@ ) {}
    def Xform "nowhere" ( references = </Not/There> ) {}
}
"""


def test_what_composes_is_read_and_what_does_not_is_said(tmp_path):
    reporter = Reporter()
    asset = simwright.load(write(tmp_path, HALF), reporter=reporter)
    assert [shape.name for shape in asset.shapes] == ["here"]
    said = [d.message for d in reporter if d.level == "error"]
    assert any("missing.usda" in text for text in said)
    assert any("/Not/There" in text for text in said)


def test_strict_raises_on_what_does_not_compose(tmp_path):
    with pytest.raises(StrictError, match="strict mode"):
        simwright.load(write(tmp_path, HALF), strict=True)


def test_strict_is_silent_on_a_good_stage(tmp_path):
    asset = simwright.load(write(tmp_path, 'def Xform "R" { def Cube "here" {} }'), strict=True)
    assert len(asset.shapes) == 1


VARIANTS = """
def Xform "R" (
    variants = { string size = "small" }
    prepend variantSets = "size"
) {
    variantSet "size" = {
        "small" { def Sphere "s" { double radius = 1 } }
        "large" { def Sphere "s" { double radius = 5 } }
    }
}
"""


def test_variants_are_chosen_by_option(tmp_path):
    file = write(tmp_path, VARIANTS)
    assert simwright.load(file).shapes[0].geometry.radius == 1
    assert simwright.load(file, variants={"size": "large"}).shapes[0].geometry.radius == 5
    with pytest.raises(UnknownNameError):
        simwright.load(file, variants={"size": "huge"})


@pytest.mark.parametrize("value", ["1e308", "1e-300", "-1", "0"])
def test_a_unit_beyond_every_use_is_reported(value, tmp_path, reporter):
    file = tmp_path / "robot.usda"
    prim = 'def Xform "R" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n'
    head = f'#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = {value}\n    upAxis = "Z"\n)\n'
    file.write_text(head + prim)
    asset = simwright.load(file, reporter=reporter)
    assert len(asset.bodies) == 1
    assert "usd-unit-invalid" in {found.kind for found in reporter}


SILENT = """
def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    uniform token[] xformOpOrder = ["xformOp:gone"]
    def Sphere "s" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {
        double radius = -1
    }
    def Capsule "c" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"] ) {
        uniform token axis = "Q"
        rel material:binding:physics = </gone>
    }
}
def Cube "d" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
}
def PhysicsRevoluteJoint "j" {
    rel physics:body0 = </b>
    rel physics:body1 = </d>
    uniform token physics:axis = "W"
    quatf physics:localRot0 = (0, 0, 0, 0)
}
"""


def test_what_is_below_a_prim_without_its_op_stays_where_it_is_beside_it(read):
    inner = 'def Xform "c" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {\nAT\n}'
    for reset, wanted in (("", 0.5), ('"!resetXformStack!", ', 0.25)):
        place = f'double3 xformOp:translate = (0.25, 0, 0)\nuniform token[] xformOpOrder = [{reset}"xformOp:translate"]'
        lost = f'def Xform "b" {{\nuniform token[] xformOpOrder = ["xformOp:gone"]\n{inner.replace("AT", place)}\n}}'
        outer = place.replace(reset, "") if reset else place
        found = read(f'def Xform "a" {{\n{outer}\n{lost}\n}}')
        assert found.asset.body("c").pose.p[0] == pytest.approx(wanted)
        assert "usd-operation-missing" in found.kinds


def test_wrong_values_are_said_and_the_other_prims_are_read(read):
    found = read(SILENT)
    assert found.kinds >= {
        "usd-transform-refused", "usd-joint-turn-zero", "usd-value-invalid", "usd-physics-binding-missing",
    }  # fmt: skip
    assert {d.data["name"] for d in found.reporter if d.kind == "usd-value-invalid"} == {
        "physics:axis", "axis", "radius",
    }  # fmt: skip
    assert len(found.asset.bodies) == 2
    assert len(found.asset.shapes) == 3
