"""Base frames, wheels and the sides that names tell."""

from __future__ import annotations

import pytest
from pxr import Usd

from simwright.checker.facts.bases import (
    find_base,
    find_joint_frame,
    find_opposite,
    is_sided,
    list_wheels,
    split_name,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.usd.plugins import register_plugins

register_plugins()

BODY = 'prepend apiSchemas = ["PhysicsRigidBodyAPI"]'
ROBOT = f"""#usda 1.0
def Xform "world"
{{
    def Xform "bot"
    {{
        double3 xformOp:translate = (5, 0, 0)
        quatd xformOp:orient = (0.7071067811865476, 0, 0, 0.7071067811865476)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        def Xform "base" (
            {BODY}
        )
        {{
            double3 xformOp:translate = (0, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate"]
        }}
        def Xform "left_wheel" (
            {BODY}
        ) {{}}
        def Xform "right_wheel" (
            {BODY}
        ) {{}}
        def PhysicsRevoluteJoint "l"
        {{
            uniform token physics:axis = "Z"
            rel physics:body0 = </world/bot/base>
            rel physics:body1 = </world/bot/left_wheel>
            point3f physics:localPos0 = (0, 0.5, 0)
            quatf physics:localRot0 = (0.70710677, -0.70710677, 0, 0)
        }}
        def PhysicsRevoluteJoint "r"
        {{
            rel physics:body0 = </world/bot/base>
            rel physics:body1 = </world/bot/right_wheel>
        }}
    }}
}}
"""


@pytest.mark.parametrize(
    ("name", "words", "opposite"),
    [
        ("left_leg", ("left", "leg"), ("right", "leg")),
        ("wheelLeft2", ("wheel", "left", "2"), ("wheel", "right", "2")),
        ("FL_hip", ("fl", "hip"), ("fr", "hip")),
        ("LF_HAA", ("lf", "haa"), ("rf", "haa")),
        ("hip_l", ("hip", "l"), ("hip", "r")),
        ("shell", ("shell",), None),
        ("right_leg", ("right", "leg"), None),
    ],
)
def test_words_of_names(name, words, opposite):
    assert split_name(name) == words
    assert find_opposite(words) == opposite
    assert opposite is None or is_sided(name)


def test_base_is_above_all_bodies_of_the_mechanism_and_joints_are_seen_from_it():
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().ImportFromString(ROBOT)
    snapshot = StageSnapshot(stage)
    (wheels,) = list_wheels(snapshot)
    assert [link.joint.name for link in wheels.all] == ["l", "r"]
    assert wheels.controller is None
    base = find_base(wheels.component, snapshot)
    assert base is not None
    assert base.path == "/world/bot"
    place, axis = find_joint_frame(wheels.all[0], base, snapshot)
    assert place == pytest.approx((0, 0.5, 1), abs=1e-6)
    assert axis == pytest.approx((0, 1, 0), abs=1e-6)
    in_stage, _ = find_joint_frame(wheels.all[0], None, snapshot)
    assert in_stage == pytest.approx((4.5, 0, 1), abs=1e-6)
