# SPDX-License-Identifier: Apache-2.0
"""One environment of many on a stage, as programs that clone them import it: nothing is asked of the others."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.engines.newton import add_usd

pytestmark = pytest.mark.judge("newton")

HEADER = '#usda 1.0\n( metersPerUnit = 1\n kilogramsPerUnit = 1\n upAxis = "Z" )\n'
SCENE = """
def PhysicsScene "scene" { }
def Material "rubber" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) { float physics:dynamicFriction = 0.3 }
def Xform "rail" {
    double3 xformOp:translate = (0, 0, 5)
    uniform token[] xformOpOrder = ["xformOp:translate"]
}
def Xform "envs" { ENVS }
"""
ENV = """
def Xform "env_N" {
    double3 xformOp:translate = (N, 1, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Xform "robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {
        def Cube "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI", "MaterialBindingAPI"] ) {
            rel material:binding:physics = </rubber>
            double size = 0.2
        }
        def Sphere "tip" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsCollisionAPI"] ) {
            double radius = -0.1
            double3 xformOp:translate = (0, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }
        def PhysicsFixedJoint "mount" {
            rel physics:body0 = </rail>
            rel physics:body1 = </envs/env_N/robot/base>
            point3f physics:localPos0 = (N, 1, -5)
        }
        def PhysicsRevoluteJoint "hinge" {
            rel physics:body0 = </envs/env_N/robot/base>
            rel physics:body1 = </envs/env_N/robot/tip>
            point3f physics:localPos0 = (0, 0, 1)
            float newton:armature = 0.5
        }
    }
}"""
LISTS = (
    "body_label", "body_mass", "joint_label", "joint_type", "joint_parent", "joint_child", "joint_armature",
    "joint_articulation", "shape_label", "shape_body", "shape_material_mu", "articulation_label",
)  # fmt: skip
PLACES = ("body_q", "shape_transform", "joint_X_p", "joint_X_c")


@pytest.fixture
def stage(newton):
    def open_stage(count=3):
        from pxr import Usd

        envs = "".join(ENV.replace("N", str(number)) for number in range(count))
        stage = Usd.Stage.CreateInMemory()
        text = HEADER + SCENE.replace("ENVS", envs).replace("{", "{\n").replace("}", "\n}\n")
        assert stage.GetRootLayer().ImportFromString(text)
        return stage

    return open_stage


@pytest.mark.parametrize(
    "choice",
    [
        {"root_path": "/envs/env_1"},
        {"root_path": "/envs/env_1/robot"},
        {"root_path": "/envs/env_1/robot/base"},
        {"root_path": "/not/there"},
        {"ignore_paths": ["/envs"]},
        {"ignore_paths": ["/envs/.*"]},
        {"ignore_paths": ["/envs/env_0", "/envs/env_2"]},
        {"ignore_paths": ["/envs/env_[02]", "/scene"]},
        {"root_path": "/envs/env_1", "ignore_paths": ["/envs/env_1/robot/mount"]},
    ],
    ids=str,
)
def test_a_part_of_many_is_what_newton_imports(newton, builder, stage, choice):
    other = newton.ModelBuilder()
    theirs = other.add_usd(stage(), **choice)
    result = add_usd(builder, stage(), **choice)
    for name in LISTS:
        ours, expected = getattr(builder, name), getattr(other, name)
        assert ours == (pytest.approx(expected) if "m" in name[-5:] else expected), name
    for name in PLACES:
        np.testing.assert_allclose(getattr(builder, name), getattr(other, name), atol=1e-6, err_msg=name)
    for key in ("path_body_map", "path_joint_map", "path_shape_map", "physics_scene_path"):
        assert result[key] == theirs[key], key
    # expressions are asked of elements; whatever else is on a stage keeps its attributes
    if not any("[" in path for path in choice.get("ignore_paths", ())):
        said = {path: found for path, found in theirs["schema_attrs"]["newton"].items() if found}
        assert result["schema_attrs"]["newton"] == said


@pytest.mark.parametrize(
    ("choice", "count"), [({}, 3), ({"root_path": "/envs/env_1"}, 1), ({"ignore_paths": ["/envs"]}, 0)]
)
def test_what_is_left_out_is_not_told_of(builder, stage, choice, count):
    findings = add_usd(builder, stage(), **choice)["findings"]
    assert sum(found.kind == "usd-value-invalid" for found in findings) == count
    assert not [found for found in findings if found.kind == "usd-joint-target-missing"]


def test_others_are_not_walked_over(builder, stage, monkeypatch):
    """One of many takes no longer than one alone."""
    from simwright.formats.usd import prims, scan

    looked = []
    monkeypatch.setattr(
        prims, "find_sort", lambda prim, known=prims.find_sort: looked.append(prim) or known(prim)
    )
    monkeypatch.setattr(
        scan, "_find_prim", lambda *args, known=scan._find_prim: looked.append(args[2]) or known(*args)
    )
    counts = []
    for count in (2, 30):
        looked.clear()
        add_usd(builder, stage(count), root_path="/envs/env_1")
        counts.append(len(looked))
    assert counts[0] == counts[1] > 0
