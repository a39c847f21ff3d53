"""Joint types, axes, limits, screws, gearboxes, mimics and loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.diag import Level
from simwright.core.math3d import Pose
from simwright.model.joint import INF, WORLD, JointKind, Motion
from simwright.model.kinematics import forward_kinematics

TWO = '<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>\n'


def joint(kind: str, inner: str = "", name: str = "j", parent: str = "a", child: str = "b") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent>{parent}</parent><child>{child}</child>{inner}</joint>\n'
    )


def axis(xyz: str = "0 0 1", inner: str = "", tag: str = "axis", attribute: str = "") -> str:
    return f"<{tag}><xyz {attribute}>{xyz}</xyz>{inner}</{tag}>"


@pytest.mark.parametrize(
    ("text", "kind", "motions"),
    [
        ("revolute", JointKind.REVOLUTE, [Motion.HINGE]),
        ("continuous", JointKind.REVOLUTE, [Motion.HINGE]),
        ("prismatic", JointKind.PRISMATIC, [Motion.SLIDE]),
        ("ball", JointKind.BALL, [Motion.BALL]),
        ("universal", JointKind.UNIVERSAL, [Motion.HINGE, Motion.HINGE]),
        ("revolute2", JointKind.UNIVERSAL, [Motion.HINGE, Motion.HINGE]),
        ("screw", JointKind.SCREW, [Motion.HINGE]),
        ("gearbox", JointKind.GEARBOX, [Motion.HINGE, Motion.HINGE]),
        ("fixed", JointKind.FIXED, []),
    ],
)
def test_types(read_model, reporter, text, kind, motions):
    asset = read_model(TWO + joint(text, axis() + axis("1 0 0", tag="axis2")))
    made = asset.joint("j")
    assert made.kind is kind
    assert [dof.motion for dof in made.dofs] == motions
    assert made.source.line == 4
    assert not reporter.has(Level.ERROR)


def test_unknown_type(read_model, found):
    asset = read_model(TWO + joint("revolut", axis()))
    assert "'revolute'" in found("sdf-unknown-joint-type")[0].hint
    assert asset.joint("j").kind is JointKind.FIXED


def test_double_pendulum_forward_kinematics(read_model):
    """Two unit rods swinging about X; the second joint's frame is at the end of the first rod."""
    asset = read_model(
        """<link name="base"/><link name="upper"><pose>0 0 2 0 0 0</pose></link>
        <link name="lower"><pose>0 0 1 0 0 0</pose></link>"""
        + joint("continuous", axis("1 0 0"), "shoulder", "base", "upper")
        + joint("continuous", axis("1 0 0"), "elbow", "upper", "lower")
    )
    a, b = 0.7, -0.4
    poses = forward_kinematics(asset, {"shoulder": [a], "elbow": [b]})
    # hanging down the rod's end is at (0, sin a, -cos a) from the shoulder
    assert poses["upper"].is_close(Pose.from_rpy((0, 0, 2), (a, 0, 0)), 1e-12)
    expected = Pose.from_rpy((0, math.sin(a), 2 - math.cos(a)), (a + b, 0, 0))
    assert poses["lower"].is_close(expected, 1e-12)


def test_rest_pose_is_the_described_one(read_model):
    asset = read_model(
        """<link name="a"><pose>1 2 3 0.1 0.2 0.3</pose></link>
        <link name="b"><pose>-1 0 2 1 0 0</pose></link>"""
        + joint("universal", "<pose>0 0 1 0 0.5 0</pose>" + axis() + axis("1 0 0", tag="axis2"))
    )
    poses = forward_kinematics(asset)
    assert poses["b"].is_close(asset.body("b").pose, 1e-12)


def test_axis_expressed_in(read_model):
    quarter = math.pi / 2
    asset = read_model(
        f"""<link name="a"/><link name="b"><pose>0 0 0 0 0 {quarter}</pose></link>
        <frame name="f"><pose>0 0 0 {quarter} 0 0</pose></frame>"""
        + joint("revolute", axis("1 0 0", attribute='expressed_in="__model__"'), "j1")
        + joint("revolute", axis("0 1 0", attribute='expressed_in="f"'), "j2")
        + joint("revolute", axis("2 0 0"), "j3")
    )
    np.testing.assert_allclose(asset.joint("j1").dofs[0].axis, (0, -1, 0), atol=1e-12)
    np.testing.assert_allclose(asset.joint("j2").dofs[0].axis, (0, 0, 1), atol=1e-12)
    np.testing.assert_allclose(asset.joint("j3").dofs[0].axis, (1, 0, 0), atol=1e-12)


@pytest.mark.parametrize(
    ("version", "inner", "expected"),
    [
        ("1.4", "", (0, -1, 0)),
        ("1.5", "", (1, 0, 0)),
        ("1.5", "<use_parent_model_frame>true</use_parent_model_frame>", (0, -1, 0)),
        ("1.6", "<use_parent_model_frame>1</use_parent_model_frame>", (0, -1, 0)),
        ("1.7", "", (1, 0, 0)),
    ],
)
def test_axis_of_old_versions(read_model, version, inner, expected):
    asset = read_model(
        f'<link name="a"/><link name="b"><pose>0 0 0 0 0 {math.pi / 2}</pose></link>'
        + joint("revolute", axis("1 0 0", inner)),
        version,
    )
    np.testing.assert_allclose(asset.joint("j").dofs[0].axis, expected, atol=1e-12)


def test_limits_and_dynamics(read_model):
    inner = """<limit><lower>-1.5</lower><upper>1e16</upper><effort>20</effort><velocity>-1</velocity>
        <stiffness>1e7</stiffness><dissipation>2</dissipation></limit>
        <dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness>
        <spring_reference>0.4</spring_reference></dynamics>"""
    dof = read_model(TWO + joint("revolute", axis(inner=inner))).joint("j").dofs[0]
    assert (dof.lower, dof.upper) == (-1.5, INF)
    assert (dof.effort_limit, dof.velocity_limit) == (20.0, None)
    assert (dof.damping, dof.friction, dof.stiffness, dof.spring_ref) == (0.1, 0.2, 3.0, 0.4)
    assert (dof.limit_stiffness, dof.limit_damping) == (1e7, 2.0)
    assert dof.name == "j"


def test_infinite_limits_and_continuous(read_model, reporter):
    inner = "<limit><lower>-inf</lower><upper>inf</upper><effort>inf</effort></limit>"
    dof = read_model(TWO + joint("revolute", axis(inner=inner))).joint("j").dofs[0]
    assert not dof.is_limited
    assert dof.effort_limit is None
    inner = "<limit><lower>-1</lower><upper>1</upper></limit>"
    assert not read_model(TWO + joint("continuous", axis(inner=inner))).joint("j").dofs[0].is_limited
    assert not reporter.has(Level.WARNING)


def test_bad_axes(read_model, found):
    asset = read_model(
        TWO
        + joint("revolute", axis("0 0 0"), "j1")
        + joint("revolute", "", "j2")
        + joint("revolute", axis(inner="<limit><lower>1</lower><upper>-1</upper></limit>"), "j3")
        + joint("revolute", axis("1 2"), "j4")
    )
    assert found("sdf-zero-axis")[0].where.line == 4
    assert found("sdf-no-axis")[0].where.line == 5
    assert found("sdf-limits-swapped")[0].where.line == 6
    assert found("xml-bad-number")[0].where.line == 7
    assert all(tuple(j.dofs[0].axis) == (0, 0, 1) for j in asset.joints)
    assert not asset.joint("j3").dofs[0].is_limited


def test_screw_pitch_has_two_conventions(read_model):
    """0.5 m per turn, right-handed, is -2 pi / 0.5 rad per metre in the older convention."""
    new = "<screw_thread_pitch>0.5</screw_thread_pitch>"
    old = f"<thread_pitch>{-2 * math.pi / 0.5}</thread_pitch>"
    asset = read_model(TWO + joint("screw", axis() + new, "new") + joint("screw", axis() + old, "old"))
    for name in ("new", "old"):
        made = asset.joint(name)
        assert made.dofs[0].pitch == pytest.approx(0.5 / (2 * math.pi))
        assert made.transform([2 * math.pi]).p[2] == pytest.approx(1.5)


def test_gearbox(read_model):
    """The output turns half as fast and against the motor: theta2 = -0.5 theta1."""
    asset = read_model(
        '<link name="base"/><link name="motor"/><link name="out"/>'
        + joint("revolute", axis(), "m", "base", "motor")
        + joint("revolute", axis(), "o", "base", "out")
        + joint(
            "gearbox",
            axis()
            + axis(tag="axis2")
            + "<gearbox_ratio>0.5</gearbox_ratio><gearbox_reference_body>base</gearbox_reference_body>",
            "g",
            "motor",
            "out",
        )
    )
    gear = asset.joint("g").gear
    assert gear.reference == "base"
    theta1 = 1.0
    theta2 = -0.5 * theta1
    assert theta1 == pytest.approx(-gear.ratio * theta2)
    assert [j.closes_loop for j in asset.joints] == [False, False, True]


def test_gearbox_that_holds_a_link_stays_in_the_tree(read_model):
    asset = read_model(TWO + joint("gearbox", axis() + axis(tag="axis2")))
    assert not asset.joint("j").closes_loop


def test_loop_is_marked(read_model):
    links = "".join(f'<link name="{n}"/>' for n in "abcd")
    ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    asset = read_model(links + "".join(joint("revolute", axis(), p + c, p, c) for p, c in ring))
    assert sum(j.closes_loop for j in asset.joints) == 1


def test_mimic(read_model):
    """follower = 2 (leader - 0.1) + 0.5 = 2 leader + 0.3."""
    mimic = """<mimic joint="lead" axis="axis2"><multiplier>2</multiplier><offset>0.5</offset>
        <reference>0.1</reference></mimic>"""
    asset = read_model(
        TWO
        + '<link name="c"/>'
        + joint("revolute", axis(inner=mimic))
        + joint("universal", axis() + axis(tag="axis2"), "lead", "b", "c"),
        "1.11",
    )
    (made,) = asset.mimics
    assert (made.follower, made.leader) == ("j", "lead_axis2")
    assert (made.multiplier, made.offset) == (2.0, pytest.approx(0.3))


def test_mimic_of_nothing(read_model, found):
    mimic = '<mimic joint="nobody"><multiplier>2</multiplier></mimic>'
    asset = read_model(TWO + joint("revolute", axis(inner=mimic)), "1.11")
    assert not asset.mimics
    assert "'nobody'" in found("sdf-unknown-leader")[0].message


def test_world_ends(read_text):
    asset = read_text(
        """<sdf version="1.9"><model name="m"><pose>1 0 0 0 0 0</pose>
        <link name="a"><pose>0 0 1 0 0 0</pose></link>
        <joint name="j" type="fixed"><pose>0 0 3 0 0 0</pose><parent>world</parent><child>a</child></joint>
        <joint name="k" type="fixed"><parent>a</parent><child>world</child></joint></model></sdf>"""
    )
    made = asset.joint("j")
    assert (made.parent, made.child) == (WORLD, "a")
    assert made.parent_frame.is_close(Pose.of((1, 0, 4)))
    assert made.child_frame.is_close(Pose.of((0, 0, 3)))
    assert asset.joint("k").child == WORLD


def test_unknown_and_equal_ends(read_model, found):
    asset = read_model(
        TWO
        + joint("fixed", child="bb", name="x")
        + joint("fixed", child="a", name="y")
        + joint("fixed", name="z")
    )
    assert [j.name for j in asset.joints] == ["z"]
    assert "'b'" in found("sdf-unknown-link")[0].hint
    assert found("sdf-joint-same-link")[0].where.line == 5


def test_joints_of_static_models(read_text, found):
    asset = read_text(
        """<sdf version="1.9"><model name="m"><model name="wall"><static>true</static><link name="w"/>
        <link name="v"/><joint name="s" type="fixed"><parent>w</parent><child>v</child></joint></model>
        <link name="a"/><joint name="j" type="fixed"><parent>wall::w</parent><child>a</child></joint>
        </model></sdf>"""
    )
    assert [(j.name, j.parent) for j in asset.joints] == [("j", WORLD)]
    assert len(found("sdf-static-joint")) == 1


def test_names_of_equal_joints_in_nested_models(read_model):
    arm = (
        '<model name="{0}"><link name="p"/><link name="q"/>' + joint("fixed", "", "j", "p", "q") + "</model>"
    )
    asset = read_model(arm.format("left") + arm.format("right"))
    assert [j.name for j in asset.joints] == ["left::j", "right::j"]
    assert asset.joint("right::j").child == "right::q"


def test_engine_settings_are_kept(read_model, found):
    physics = "<physics><ode><cfm>0.1</cfm></ode></physics>"
    asset = read_model(TWO + joint("fixed", physics))
    assert asset.extras.get("gazebo", "j", "physics/ode/cfm") == 0.1
    assert found("sdf-kept-as-extra")[0].where.line == 4


REFLECTED = "<drake:rotor_inertia>0.01</drake:rotor_inertia><drake:gear_ratio>10</drake:gear_ratio>"


@pytest.mark.parametrize("kind", ["revolute", "prismatic", "continuous", "screw"])
def test_what_drake_reflects_is_an_armature(kind, read_model, reporter):
    asset = read_model(TWO + joint(kind, axis("0 1 0") + REFLECTED))
    assert asset.joint("j").dofs[0].armature == pytest.approx(1.0)
    assert "sdf-kept-as-extra" not in [finding.kind for finding in reporter]


@pytest.mark.parametrize(
    ("kind", "inner"),
    [
        # Drake makes no actuator for these
        ("revolute", axis("0 1 0", "<limit><effort>0</effort></limit>")),
        ("universal", axis("0 1 0") + axis("1 0 0", tag="axis2")),
        ("ball", ""),
    ],
)
def test_what_drake_does_not_reflect_is_kept(kind, inner, read_model, found):
    asset = read_model(TWO + joint(kind, inner + REFLECTED))
    assert not any(dof.armature for dof in asset.joint("j").dofs)
    assert len(found("sdf-kept-as-extra")) == 2


def test_a_rotor_without_sense_is_said(read_model, found):
    asset = read_model(TWO + joint("revolute", axis() + "<drake:rotor_inertia>-1</drake:rotor_inertia>"))
    assert asset.joint("j").dofs[0].armature is None
    assert len(found("xml-bad-number")) == 1
