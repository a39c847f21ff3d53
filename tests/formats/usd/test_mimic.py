"""Mimics in four dialects, their units, and rules that make no sense."""

from __future__ import annotations

import math

import pytest

DEG = math.pi / 180


def robot(*joints: str) -> str:
    """A base and a body per joint, all at the origin."""
    bodies = "".join(
        f'def Xform "b{n}" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{\n'
        f"float physics:mass = 1\n float3 physics:diagonalInertia = (1, 1, 1)\n }}\n"
        for n in range(len(joints) + 1)
    )
    return f'def Xform "R" {{ {bodies} {"".join(joints)} }}'


def joint(number: int, kind: str = "Revolute", apis: str = "", inside: str = "") -> str:
    applied = f"( prepend apiSchemas = [{apis}] )" if apis else ""
    return f"""
def Physics{kind}Joint "j{number}" {applied} {{
    rel physics:body0 = </R/b0>
    rel physics:body1 = </R/b{number}>
    {inside}
}}
"""


NEWTON = '"NewtonMimicAPI"'
LEADER = "rel newton:mimicJoint = </R/j1>"


def test_newton_offset_is_in_degrees_for_an_angle(read):
    rule = f"{LEADER}\n float newton:mimicCoef0 = 90\n float newton:mimicCoef1 = -2"
    (mimic,) = read(robot(joint(1), joint(2, apis=NEWTON, inside=rule))).asset.mimics
    assert (mimic.follower, mimic.leader, mimic.name) == ("j2", "j1", "j2")
    assert mimic.offset == pytest.approx(math.pi / 2)
    assert mimic.multiplier == -2
    assert mimic.polynomial == ()
    assert mimic.enabled


def test_newton_offset_is_a_length_for_a_slide(read):
    rule = f"{LEADER}\n float newton:mimicCoef0 = 90\n float newton:mimicCoef1 = -2"
    content = robot(joint(1, "Prismatic"), joint(2, "Prismatic", NEWTON, rule))
    (mimic,) = read(content, meters=0.01).asset.mimics
    assert (mimic.offset, mimic.multiplier) == (pytest.approx(0.9), pytest.approx(-2))


def test_newton_has_no_unit_between_an_angle_and_a_length(read):
    rule = f"{LEADER}\n float newton:mimicCoef1 = 3"
    found = read(robot(joint(1, "Prismatic"), joint(2, "Revolute", NEWTON, rule)))
    assert found.asset.mimics[0].multiplier == 3
    assert found.kinds == {"usd-mimic-mixed"}


def test_mujoco_higher_orders(read):
    rule = f"{LEADER}\n double mjc:coef2 = 0.5\n double mjc:coef4 = 0.25"
    (mimic,) = read(robot(joint(1), joint(2, apis='"MjcEqualityJointAPI"', inside=rule))).asset.mimics
    assert mimic.polynomial == (0.5, 0, 0.25)
    slides = robot(joint(1, "Prismatic"), joint(2, "Prismatic", '"MjcEqualityJointAPI"', rule))
    # y [cm] = x^2 / 2 [cm^2] is y [m] = 50 x^2 [m^2]
    (mimic,) = read(slides, meters=0.01).asset.mimics
    assert mimic.polynomial == pytest.approx((50, 0, 0.25e6))


def test_mujoco_older_names_are_in_radians(read):
    rule = "rel mjc:target = </R/j1>\n double mjc:coef0 = 0.5\n double mjc:coef1 = 2"
    (mimic,) = read(robot(joint(1), joint(2, apis='"MjcEqualityJointAPI"', inside=rule))).asset.mimics
    assert (mimic.offset, mimic.multiplier) == (0.5, 2)


def test_physx_puts_all_on_one_side(read):
    rule = """
    rel physxMimicJoint:rotX:referenceJoint = </R/j1>
    float physxMimicJoint:rotX:gearing = -0.5
    float physxMimicJoint:rotX:offset = 30
    """
    (mimic,) = read(robot(joint(1), joint(2, apis='"PhysxMimicJointAPI:rotX"', inside=rule))).asset.mimics
    assert (mimic.multiplier, mimic.offset) == (0.5, pytest.approx(-30 * DEG))


def test_physx_names_an_axis_of_a_generic_joint(read):
    rule = """
    rel physxMimicJoint:rotZ:referenceJoint = </R/j1>
    uniform token physxMimicJoint:rotZ:referenceJointAxis = "rotY"
    float physxMimicJoint:rotZ:gearing = 1
    """
    content = robot(joint(1, ""), joint(2, "", '"PhysxMimicJointAPI:rotZ"', rule))
    (mimic,) = read(content).asset.mimics
    assert (mimic.follower, mimic.leader, mimic.multiplier) == ("j2_rotZ", "j1_rotY", -1)


def test_the_neutral_rule_wins_and_physx_comes_last(read):
    rule = f"""
    {LEADER}
    float newton:mimicCoef1 = 2
    rel physxMimicJoint:rotX:referenceJoint = </R/j1>
    float physxMimicJoint:rotX:gearing = 3
    rel ext_physics:mimic:joint = </R/j1>
    float ext_physics:mimic:multiplier = 4
    """
    apis = f'{NEWTON}, "PhysxMimicJointAPI:rotX"'
    assert read(robot(joint(1), joint(2, apis=apis, inside=rule))).asset.mimics[0].multiplier == 2
    apis += ', "ExtendedPhysicsMimicAPI"'
    assert read(robot(joint(1), joint(2, apis=apis, inside=rule))).asset.mimics[0].multiplier == 4


def test_a_disabled_rule_is_kept_out_of_force(read):
    found = read(
        robot(joint(1), joint(2, apis=NEWTON, inside=f"{LEADER}\n bool newton:mimicEnabled = false"))
    )
    assert not found.asset.mimics[0].enabled
    assert found.kinds == {"usd-mimic-disabled"}


def test_a_chain_is_kept_and_named(read):
    second = "rel newton:mimicJoint = </R/j2>"
    found = read(robot(joint(1), joint(2, apis=NEWTON, inside=LEADER), joint(3, apis=NEWTON, inside=second)))
    assert [(m.follower, m.leader) for m in found.asset.mimics] == [("j2", "j1"), ("j3", "j2")]
    (finding,) = found.reporter
    assert (finding.kind, finding.data["next"]) == ("usd-mimic-chain", "j1")


def test_a_loop_is_cut(read):
    first = "rel newton:mimicJoint = </R/j2>"
    found = read(robot(joint(1, apis=NEWTON, inside=first), joint(2, apis=NEWTON, inside=LEADER)))
    assert [(m.follower, m.leader) for m in found.asset.mimics] == [("j1", "j2")]
    (finding,) = found.reporter
    assert finding.kind == "usd-mimic-invalid"
    assert (finding.where.prim, finding.where.prop) == ("/R/j2", "newton:mimicJoint")


@pytest.mark.parametrize(
    ("kind", "inside", "why"),
    [
        ("Revolute", "", "0 leaders"),
        ("Revolute", "rel newton:mimicJoint = [</R/j1>, </R/j2>]", "2 leaders"),
        ("Revolute", "rel newton:mimicJoint = </R/nothing>", "not a joint"),
        ("Revolute", "rel newton:mimicJoint = </R/b1>", "not a joint"),
        ("Revolute", "rel newton:mimicJoint = </R/j2>", "itself"),
        ("Spherical", LEADER, "one degree of freedom"),
        ("Fixed", LEADER, "one degree of freedom"),
        ("", LEADER, "one degree of freedom"),
    ],
)
def test_rules_that_make_no_sense(read, kind, inside, why):
    found = read(robot(joint(1), joint(2, kind, NEWTON, inside)))
    assert found.asset.mimics == []
    (finding,) = found.reporter
    assert finding.kind == "usd-mimic-invalid"
    assert why in finding.message


def test_joints_of_the_same_freedoms_follow_each_other_freedom_by_freedom(read):
    limits = "\n".join(
        f"float limit:{axis}:physics:low = -1\n float limit:{axis}:physics:high = 1" for axis in AXES
    )
    locked = "\n".join(
        f"float limit:{axis}:physics:low = 1\n float limit:{axis}:physics:high = -1" for axis in LOCKED
    )
    apis = ", ".join(f'"PhysicsLimitAPI:{axis}"' for axis in (*AXES, *LOCKED))
    rule = f"{LEADER}\n float newton:mimicCoef0 = 0.5\n float newton:mimicCoef1 = -2"
    leader = joint(1, "", apis, limits + "\n" + locked)
    follower = joint(2, "", f"{apis}, {NEWTON}", f"{limits}\n{locked}\n{rule}")
    found = read(robot(leader, follower))
    first, second = found.asset.joints
    pairs = [(mimic.follower, mimic.leader) for mimic in found.asset.mimics]
    assert pairs == [(b.name, a.name) for a, b in zip(first.dofs, second.dofs, strict=True)]
    assert len(pairs) == 2
    # one number cannot be degrees and metres
    assert {(mimic.offset, mimic.multiplier) for mimic in found.asset.mimics} == {(0.5, -2)}
    assert "usd-mimic-unitless" in found.kinds


AXES = ("transX", "rotZ")
LOCKED = ("transY", "transZ", "rotX", "rotY")
