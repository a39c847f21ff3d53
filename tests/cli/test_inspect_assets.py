"""``simwright inspect --format json`` on files of other projects: by its schema, complete, at full precision."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import numpy as np
import pytest

from simwright.app.api import load
from simwright.app.cli.main import run
from simwright.core.diag import Reporter
from simwright.model.filtering import find_filtered_pairs

SCHEMA = Path(__file__).parents[2] / "src/simwright/app/schemas/inspect.v1.schema.json"
ENDINGS = {".urdf", ".sdf", ".world", ".xacro", ".usda", ".usd", ".usdc", ".xml"}
STAGES = ("ant", "boxes_fourbar", "cartpole_mjc", "humanoid", "pendulum_revolute_vs_d6")
BROKEN = {"keyframes.xml", "nv_humanoid.xml", "cassie.world", "quadrotor_base.xacro"}
"""Fragments, files without their packages, and what MuJoCo or XML parsers refuse."""


@pytest.fixture(scope="session")
def validator():
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


def inspect(file: Path, capsys) -> dict | None:
    code = run(["inspect", str(file), "--format", "json"])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    if code == 2:
        assert err.startswith("error: ")
        return None
    return json.loads(out, parse_constant=lambda word: pytest.fail(f"{word} is not JSON"))


@pytest.mark.realworld
@pytest.mark.parametrize("folder", ["mjcf", "scenes", "sdf", "urdf", "usd", "worlds"])
def test_shared_assets_follow_the_schema(shared_assets, folder, validator, capsys):
    files = [
        file
        for file in sorted((shared_assets / folder).rglob("*"))
        if file.suffix.lower() in ENDINGS and file.name != "package.xml"
    ][::3]
    assert files
    refused = set()
    for file in files:
        data = inspect(file, capsys)
        if data is None:
            refused.add(file.name)
        else:
            errors = [(list(error.path), error.message) for error in validator.iter_errors(data)]
            assert errors == [], file
    assert refused <= BROKEN


@pytest.mark.realworld
@pytest.mark.parametrize("name", STAGES)
def test_every_number_is_that_of_the_model(shared_assets, name, capsys):
    """Bodies, joints, shapes, filters and articulations: bit for bit, through the text."""
    file = shared_assets / "usd" / f"{name}.usda"
    asset, data = load(file, reporter=Reporter()), inspect(file, capsys)
    for body, row in zip(asset.bodies, data["bodies"], strict=True):
        assert (row["name"], row["inertial"]["mass"]) == (body.name, body.inertial.mass)
        np.testing.assert_array_equal(row["pose"]["position"], body.pose.p)
        np.testing.assert_array_equal(row["pose"]["quaternion"], body.pose.q)
        np.testing.assert_array_equal(row["inertial"]["com"], body.inertial.com)
        np.testing.assert_array_equal(row["inertial"]["inertia"], body.inertial.inertia)
    for joint, row in zip(asset.joints, data["joints"], strict=True):
        assert (row["kind"], row["parent"], row["child"]) == (joint.kind, joint.parent, joint.child)
        for frame in ("parent_frame", "child_frame"):
            np.testing.assert_array_equal(row[frame]["position"], getattr(joint, frame).p)
            np.testing.assert_array_equal(row[frame]["quaternion"], getattr(joint, frame).q)
        for dof, said in zip(joint.dofs, row["dofs"], strict=True):
            np.testing.assert_array_equal(said["axis"], dof.axis)
            assert (float(said["lower"]), float(said["upper"])) == (dof.lower, dof.upper)
            assert [said[n] for n in ("armature", "friction", "damping")] == [
                dof.armature,
                dof.friction,
                dof.damping,
            ]
            assert (said["drive"] is None) == (dof.drive is None)
            if dof.drive is not None:
                assert said["drive"]["stiffness"] == dof.drive.stiffness
                assert float(said["drive"]["max_force"]) == dof.drive.max_force
    assert [row["name"] for row in data["shapes"]] == [shape.name for shape in asset.shapes]
    assert {tuple(pair) for pair in data["filtered_pairs"]} == find_filtered_pairs(asset)
    assert set(data["origins"]) == set(asset.origins)


@pytest.mark.realworld
def test_filters_articulations_and_solver_attributes_are_those_of_newton(shared_assets, capsys):
    data = inspect(shared_assets / "usd" / "humanoid.usda", capsys)
    oracle = json.loads((shared_assets.parent / "oracles" / "newton" / "humanoid.npm.json").read_text())
    paths = {shape["name"]: shape["path"] for shape in data["shapes"]}
    pairs = {frozenset(paths[name] for name in pair) for pair in data["filtered_pairs"]}
    assert pairs == {frozenset(pair) for pair in oracle["filter_pairs"]["pairs"]}
    (articulation,) = data["articulations"]
    (row,) = oracle["articulations"]
    joints = {joint["name"]: joint["path"] for joint in data["joints"]}
    assert {joints[name] for name in articulation["joints"]} == {
        j for j in row["joints"] if j in joints.values()
    }
    assert set(articulation["bodies"]) == {body["name"] for body in data["bodies"]}
    assert articulation["bases"] == [{"body": "torso", "joint": "", "kind": "floating"}]
    solvers = data["schema_attrs"]
    assert {s for s, prims in oracle["schema_attrs"].items() if any(prims.values())} == {
        s for s in solvers if solvers[s]
    }


ARTICULATED = """#usda 1.0
(
    defaultPrim = "R"
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {
    custom float newton:ns:grip = 0.25 (
        customData = {
            string assignment = "model"
            string frequency = "body"
        }
    )
}
def Xform "R" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
) {
    BODIES
    def PhysicsFixedJoint "mount" {
        rel physics:body1 = </R/a>
    }
    def PhysicsRevoluteJoint "ab" {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
    }
    def PhysicsRevoluteJoint "ac" {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/c>
    }
    def PhysicsRevoluteJoint "bc" {
        rel physics:body0 = </R/b>
        rel physics:body1 = </R/c>
        bool physics:excludeFromArticulation = 1
    }
}
"""
BODY = """
    def Sphere "NAME" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"]
    ) {
        float newton:ns:grip = GRIP
    }
"""


def test_members_of_an_articulation_pairs_and_custom_attributes(tmp_path, capsys, validator):
    bodies = "".join(
        BODY.replace("NAME", n).replace("GRIP", g) for n, g in (("a", "0.1"), ("b", "1"), ("c", "2"))
    )
    file = tmp_path / "r.usda"
    file.write_text(ARTICULATED.replace("BODIES", bodies))
    data = inspect(file, capsys)
    validator.validate(data)
    (row,) = data["articulations"]
    assert (row["bodies"], row["joints"]) == (["a", "b", "c"], ["mount", "ab", "ac"])
    assert row["loop_joints"] == ["bc"]
    assert row["bases"] == [{"body": "a", "joint": "mount", "kind": "fixed"}]
    assert len(data["filtered_pairs"]) == 3
    (custom,) = data["custom_attributes"]
    assert (custom["namespace"], custom["name"], custom["default"]) == ("ns", "grip", 0.25)
    assert custom["values"] == {"a": float(np.float32(0.1)), "b": 1.0, "c": 2.0}
