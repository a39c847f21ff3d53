"""Frame semantics, against closed forms worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.core.errors import ParseError
from simwright.core.math3d import Pose

QUARTER = math.pi / 2


def close(pose: Pose, p: tuple[float, ...], rpy: tuple[float, ...] = (0, 0, 0)) -> bool:
    return pose.is_close(Pose.from_rpy(p, rpy), 1e-12)


def test_model_pose_is_part_of_the_body_pose(read_text):
    asset = read_text(
        f"""<sdf version="1.7"><model name="m"><pose>1 2 3 0 0 {QUARTER}</pose>
        <link name="a"><pose>1 0 0 0 0 0</pose></link></model></sdf>"""
    )
    assert close(asset.body("a").pose, (1, 3, 3), (0, 0, QUARTER))


def test_relative_to_chain_composes(read_model):
    asset = read_model(
        f"""<link name="c"><pose relative_to="b">1 0 0 0 0 0</pose></link>
        <link name="b"><pose relative_to="a">1 0 0 0 0 {QUARTER}</pose></link>
        <link name="a"><pose>1 0 0 0 0 {QUARTER}</pose></link>"""
    )
    assert close(asset.body("a").pose, (1, 0, 0), (0, 0, QUARTER))
    assert close(asset.body("b").pose, (1, 1, 0), (0, 0, math.pi))
    assert close(asset.body("c").pose, (0, 1, 0), (0, 0, math.pi))


def test_frame_default_is_what_it_is_attached_to(read_model):
    asset = read_model(
        """<link name="a"><pose>1 0 0 0 0 0</pose></link>
        <frame name="f" attached_to="a"><pose>0 1 0 0 0 0</pose></frame>
        <frame name="g" attached_to="f"><pose relative_to="__model__">0 0 5 0 0 0</pose></frame>"""
    )
    f, g = asset.sites
    assert (f.body, g.body) == ("a", "a")
    assert close(f.pose, (0, 1, 0))
    assert close(g.pose, (-1, 0, 5))


def test_joint_frame_default_is_the_child(read_model):
    asset = read_model(
        """<link name="a"/><link name="b"><pose>0 0 1 0 0 0</pose></link>
        <frame name="hook" attached_to="b"><pose>0 0 1 0 0 0</pose></frame>
        <joint name="j" type="fixed"><pose>0 0 1 0 0 0</pose><parent>a</parent><child>hook</child></joint>"""
    )
    joint = asset.joint("j")
    assert (joint.parent, joint.child) == ("a", "b")
    assert close(joint.parent_frame, (0, 0, 3))
    assert close(joint.child_frame, (0, 0, 2))


def test_placement_frame_puts_that_frame_at_the_pose(read_text):
    asset = read_text(
        f"""<sdf version="1.8"><model name="m" placement_frame="b"><pose>5 0 0 0 0 {QUARTER}</pose>
        <link name="a"/><link name="b"><pose>1 0 0 0 0 0</pose></link></model></sdf>"""
    )
    assert close(asset.body("b").pose, (5, 0, 0), (0, 0, QUARTER))
    assert close(asset.body("a").pose, (5, -1, 0), (0, 0, QUARTER))


def test_nested_models_scopes_and_names(read_model):
    asset = read_model(
        """<link name="base"/>
        <model name="arm"><pose>1 0 0 0 0 0</pose>
          <link name="base"><pose>0 1 0 0 0 0</pose></link>
          <model name="hand"><pose relative_to="base">0 0 1 0 0 0</pose><link name="palm"/></model>
        </model>
        <link name="flag"><pose relative_to="arm::hand::palm">0 0 1 0 0 0</pose></link>"""
    )
    assert [(b.name, b.scope) for b in asset.bodies] == [
        ("base", ""),
        ("flag", ""),
        ("arm::base", "arm"),
        ("palm", "arm::hand"),
    ]
    assert close(asset.body("palm").pose, (1, 1, 1))
    assert close(asset.body("flag").pose, (1, 1, 2))


def test_nested_placement_frame(read_model):
    """The inner model is moved so that its tip, not its origin, is at the given pose."""
    asset = read_model(
        f"""<link name="base"><pose>0 0 1 0 0 {QUARTER}</pose></link>
        <model name="arm" placement_frame="tip"><pose relative_to="base">1 0 0 0 0 0</pose>
          <link name="root"/><link name="tip"><pose>0 0 2 0 0 0</pose></link></model>"""
    )
    assert close(asset.body("tip").pose, (0, 1, 1), (0, 0, QUARTER))
    assert close(asset.body("root").pose, (0, 1, -1), (0, 0, QUARTER))


def test_canonical_link_carries_the_model_frame(read_model):
    asset = read_model(
        """<link name="base"/>
        <model name="arm" canonical_link="b"><link name="a"/>
        <link name="b"><pose>0 0 1 0 0 0</pose></link></model>
        <frame name="f" attached_to="arm"/>
        <joint name="j" type="fixed"><parent>base</parent><child>arm</child></joint>"""
    )
    assert asset.sites[0].body == "b"
    assert close(asset.sites[0].pose, (0, 0, -1))
    assert asset.joint("j").child == "b"
    assert close(asset.joint("j").child_frame, (0, 0, -1))


def test_elements_on_links_may_be_relative_to_other_frames(read_model):
    asset = read_model(
        """<link name="a"><pose>1 0 0 0 0 0</pose>
          <visual name="v"><pose relative_to="b">0 0 1 0 0 0</pose>
          <geometry><sphere><radius>1</radius></sphere></geometry></visual></link>
        <link name="b"><pose>0 3 0 0 0 0</pose></link>"""
    )
    assert asset.shapes[0].body == "a"
    assert close(asset.shapes[0].pose, (-1, 3, 1))


def test_frame_attribute_of_old_poses(read_model):
    text = """<link name="a"><pose>1 0 0 0 0 0</pose></link>
        <link name="b"><pose frame="a">1 0 0 0 0 0</pose></link>"""
    assert close(read_model(text, "1.6").body("b").pose, (2, 0, 0))
    assert close(read_model(text, "1.7").body("b").pose, (1, 0, 0))


def test_degrees_and_quaternions(read_model):
    asset = read_model(
        """<link name="a"><pose degrees="true">0 0 1 0 0 90</pose></link>
        <link name="b"><pose rotation_format="quat_xyzw">0 0 1  0 0 0.7071067811865476 0.7071067811865476</pose>
        </link>"""
    )
    assert close(asset.body("a").pose, (0, 0, 1), (0, 0, QUARTER))
    assert asset.body("b").pose.is_close(asset.body("a").pose, 1e-9)


def test_euler_angles_are_fixed_axis(read_model):
    pose = read_model('<link name="a"><pose>0 0 0 0.1 0.2 0.3</pose></link>').body("a").pose
    cx, sx, cy, sy, cz, sz = (f(v) for v in (0.1, 0.2, 0.3) for f in (math.cos, math.sin))
    rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    np.testing.assert_allclose(pose.rotation, rz @ ry @ rx, atol=1e-15)


@pytest.mark.parametrize(
    ("content", "names"),
    [
        (
            '<link name="a"><pose relative_to="b"/></link><link name="b"><pose relative_to="a"/></link>',
            ("a", "b"),
        ),
        ('<link name="a"><pose relative_to="a"/></link>', ("a",)),
        (
            '<link name="l"/><frame name="f" attached_to="g"/><frame name="g" attached_to="f"/>',
            ("f", "g"),
        ),
        (
            """<link name="a"><pose relative_to="j"/></link>
            <joint name="j" type="fixed"><parent>world</parent><child>a</child></joint>""",
            ("a", "j"),
        ),
    ],
)
def test_circles_are_errors_that_show_the_chain(read_model, content, names):
    with pytest.raises(ParseError, match="in a circle") as caught:
        read_model(content)
    assert all(f"'{name}'" in caught.value.message for name in names)
    assert caught.value.where.line == 3


def test_attached_to_circle_behind_a_pose(read_model):
    """The poses are sound, only the attachment goes round."""
    with pytest.raises(ParseError, match="in a circle"):
        read_model(
            """<link name="l"/><frame name="f" attached_to="g"><pose relative_to="l"/></frame>
            <frame name="g" attached_to="f"><pose relative_to="l"/></frame>"""
        )


def test_unknown_frame_is_reported_with_the_near_name(read_model, found):
    asset = read_model(
        '<link name="forearm"/><link name="b"><pose relative_to="forarm">1 0 0 0 0 0</pose></link>'
    )
    (finding,) = found("sdf-unknown-frame")
    assert "'forarm'" in finding.message
    assert "'forearm'" in finding.hint
    assert finding.where.line == 3
    assert close(asset.body("b").pose, (1, 0, 0))


def test_duplicate_names(read_model, found):
    asset = read_model('<link name="a"/>\n<link name="a"/>\n<frame name="a"/>')
    assert [d.where.line for d in found("sdf-duplicate-name")] == [4, 5]
    assert [b.name for b in asset.bodies] == ["a", "a_2"]


def test_joint_may_share_a_links_name_before_1_7(read_model, found):
    text = """<link name="a"/><link name="b"/>
        <joint name="b" type="fixed"><parent>a</parent><child>b</child></joint>"""
    read_model(text, "1.6")
    assert not found("sdf-duplicate-name")
    read_model(text, "1.7")
    assert found("sdf-duplicate-name")


def test_long_chain_of_frames(read_model):
    count = 3000
    links = ['<link name="l0"/>'] + [
        f'<link name="l{i}"><pose relative_to="l{i - 1}">0 0 0.5 0 0 0</pose></link>' for i in range(1, count)
    ]
    asset = read_model("\n".join(reversed(links)))
    assert asset.body(f"l{count - 1}").pose.p[2] == pytest.approx(0.5 * (count - 1))
