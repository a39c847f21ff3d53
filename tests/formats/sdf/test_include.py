"""Includes: folders, overrides, merging, circles and limits."""

from __future__ import annotations

import pytest

from simwright.core.errors import LimitError
from simwright.core.math3d import Pose

ARM = """<sdf version="1.9"><model name="arm"><pose>7 7 7 0 0 0</pose>
<link name="base"/><link name="tip"><pose>0 0 1 0 0 0</pose></link>
<joint name="elbow" type="revolute"><parent>base</parent><child>tip</child>
<axis><xyz>1 0 0</xyz></axis></joint></model></sdf>"""


def include(inner: str) -> str:
    return f'<link name="base"/><include>{inner}</include>'


def test_name_pose_and_placement_frame_override(read_model):
    asset = read_model(
        include(
            "<uri>arm</uri><name>left</name><pose>0 0 2 0 0 0</pose><placement_frame>tip</placement_frame>"
        ),
        files={"arm/model.sdf": ARM},
    )
    assert [(b.name, b.scope) for b in asset.bodies] == [
        ("base", ""),
        ("left::base", "left"),
        ("tip", "left"),
    ]
    assert asset.body("tip").pose.is_close(Pose.of((0, 0, 2)))
    assert asset.body("left::base").pose.is_close(Pose.of((0, 0, 1)))
    assert asset.joint("elbow").parent == "left::base"


def test_own_pose_without_override(read_model):
    asset = read_model(include("<uri>arm/model.sdf</uri>"), files={"arm/model.sdf": ARM})
    assert asset.body("tip").pose.is_close(Pose.of((7, 7, 8)))
    assert asset.body("tip").source.file.endswith("model.sdf")
    assert asset.body("tip").source.line == 2


def test_model_config_chooses_the_newest_known_version(read_model):
    config = """<model><name>arm</name><sdf version="1.4">old.sdf</sdf><sdf version="1.9">new.sdf</sdf>
    <sdf version="9.9">future.sdf</sdf></model>"""
    files = {
        "arm/model.config": config,
        "arm/old.sdf": "<sdf/>",
        "arm/new.sdf": ARM,
        "arm/future.sdf": "<sdf/>",
    }
    asset = read_model(include("<uri>model://arm</uri>"), files=files)
    assert asset.body("tip").source.file.endswith("new.sdf")


def test_model_config_may_not_lead_elsewhere(read_model, found):
    files = {"arm/model.config": '<model><sdf version="1.4">../secret.sdf</sdf></model>', "secret.sdf": ARM}
    asset = read_model(include("<uri>arm</uri>"), files=files)
    assert len(asset.bodies) == 1
    assert found("sdf-include-failed")


def test_merge_shares_the_names_of_the_parent(read_model):
    asset = read_model(
        """<link name="root"><pose>1 0 0 0 0 0</pose></link>
        <include merge="true"><uri>arm</uri><pose relative_to="root">0 1 0 0 0 0</pose></include>
        <joint name="hold" type="fixed"><parent>root</parent><child>tip</child></joint>""",
        files={"arm/model.sdf": ARM},
    )
    assert [(b.name, b.scope) for b in asset.bodies] == [("root", ""), ("base", ""), ("tip", "")]
    assert asset.body("tip").pose.is_close(Pose.of((1, 1, 1)))
    assert asset.joint("hold").child == "tip"


def test_static_and_plugin_of_the_include(read_text):
    asset = read_text(
        """<sdf version="1.9"><world name="w"><include><uri>arm</uri><static>true</static>
        <plugin name="p" filename="libx.so"><speed>3</speed></plugin></include></world></sdf>""",
        {"arm/model.sdf": ARM},
    )
    assert not asset.bodies
    assert not asset.joints
    assert {s.name for s in asset.sites} == {"base", "tip"}
    assert asset.extras.get("gazebo", "arm", "plugin:p/speed") == 3


def test_included_light(read_text):
    light = """<sdf version="1.6"><light name="sun" type="directional"><pose>0 0 10 0 0 0</pose>
    <direction>0 0 -1</direction></light></sdf>"""
    asset = read_text(
        """<sdf version="1.6"><world name="w"><include><uri>model://sun</uri></include>
        <include><uri>model://sun</uri><name>second</name><pose>1 0 0 0 0 0</pose></include></world></sdf>""",
        {"sun/model.sdf": light},
    )
    assert [light.name for light in asset.lights] == ["sun", "second"]
    assert asset.lights[0].pose.is_close(Pose.of((0, 0, 10)))
    assert asset.lights[1].pose.is_close(Pose.of((1, 0, 0)))


@pytest.mark.parametrize(
    ("uri", "reason"),
    [
        ("nowhere", "does not exist"),
        ("model://../../etc", "refused"),
        ("https://fuel.example/arm", "refused"),
        ("", "no <uri>"),
        ("broken.sdf", "not well-formed"),
        ("world.sdf", "holds a world"),
        ("emptyfolder", "no model.config"),
    ],
)
def test_failures_leave_the_rest(read_model, found, uri, reason):
    files = {
        "broken.sdf": "<sdf><model",
        "world.sdf": '<sdf version="1.9"><world name="w"/></sdf>',
        "emptyfolder/readme.txt": "x",
    }
    asset = read_model(include(f"<uri>{uri}</uri>"), files=files)
    assert [b.name for b in asset.bodies] == ["base"]
    (finding,) = found("sdf-include-failed")
    assert reason in finding.message
    assert finding.where.line == 3


def test_include_circle_is_reported(read_text, found):
    loop = """<sdf version="1.9"><model name="{0}"><link name="l"/>
        <include><uri>{1}.sdf</uri></include></model></sdf>"""
    asset = read_text(
        loop.format("main", "a"), {"a.sdf": loop.format("a", "b"), "b.sdf": loop.format("b", "a")}
    )
    assert len(asset.bodies) == 3
    (finding,) = found("sdf-include-cycle")
    assert "a.sdf -> b.sdf -> a.sdf" in finding.message


def test_includes_of_includes_are_bounded(read_text):
    two = "<include><uri>{0}.sdf</uri><name>x</name></include><include><uri>{0}.sdf</uri></include>"
    files = {
        f"f{i}.sdf": f'<sdf version="1.9"><model name="m{i}">{two.format(f"f{i + 1}")}</model></sdf>'
        for i in range(20)
    }
    files["f20.sdf"] = '<sdf version="1.9"><model name="leaf"/></sdf>'
    with pytest.raises(LimitError, match="includes"):
        read_text(f'<sdf version="1.9"><model name="m">{two.format("f0")}</model></sdf>', files)


def test_second_include_needs_a_name(read_model, found):
    twice = include("<uri>arm</uri>") + "\n<include><uri>arm</uri></include>"
    asset = read_model(twice, files={"arm/model.sdf": ARM})
    (finding,) = found("sdf-duplicate-name")
    assert finding.where.line == 4
    assert finding.where.file.endswith("main.sdf")
    assert len({body.name for body in asset.bodies}) == len(asset.bodies) == 5


def test_nesting_is_bounded(read_text):
    text = '<model name="m">' * 80 + "</model>" * 80
    with pytest.raises(LimitError, match="nested"):
        read_text(f'<sdf version="1.9">{text}</sdf>')


HAND = """<robot name="hand">
<material name="red"><color rgba="1 0 0 1"/></material>
<link name="palm"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><origin xyz="0 0 0.5"/><geometry><box size="1 1 1"/></geometry><material name="red"/></visual></link>
<link name="finger"/>
<joint name="knuckle" type="revolute"><parent link="palm"/><child link="finger"/><origin xyz="0 0 1"/>
<axis xyz="0 1 0"/><limit lower="-1" upper="2" effort="3" velocity="4"/></joint>
<transmission name="t"><joint name="knuckle"/><actuator name="motor"/></transmission>
</robot>"""


def test_a_urdf_file_is_a_model_like_any_other(read_model, reporter):
    asset = read_model(
        """<link name="palm"><pose>1 0 0 0 0 0</pose></link>
        <include><uri>hand.urdf</uri><name>left</name><pose relative_to="palm">0 2 0 0 0 0</pose></include>
        <joint name="wrist" type="fixed"><parent>palm</parent><child>left::palm</child></joint>
        <frame name="tip" attached_to="left::finger"><pose>0 0 0.1 0 0 0</pose></frame>""",
        files={"hand.urdf": HAND},
    )
    assert [(b.name, b.scope) for b in asset.bodies] == [
        ("palm", ""),
        ("left::palm", "left"),
        ("finger", "left"),
    ]
    assert asset.body("left::palm").inertial.mass == 2.0
    assert asset.body("finger").pose.is_close(Pose.of((1, 2, 1)))
    assert asset.body("finger").source.file.endswith("hand.urdf")
    knuckle = asset.joint("knuckle")
    assert (knuckle.parent, knuckle.child, knuckle.dofs[0].upper) == ("left::palm", "finger", 2.0)
    assert (asset.joint("wrist").parent, asset.joint("wrist").child) == ("palm", "left::palm")
    assert asset.sites[0].body == "finger"
    assert asset.shapes[0].body == "left::palm"
    assert asset.materials[0].diffuse == (1.0, 0.0, 0.0)
    assert asset.actuators[0].target == "knuckle"
    assert not [d for d in reporter if d.level == "error"]


def test_two_of_the_same_urdf_keep_apart(read_text):
    inside = "".join(
        f"<include><uri>hand.urdf</uri><name>{name}</name><pose>{x} 0 0 0 0 0</pose></include>"
        for x, name in enumerate(("a", "b"))
    )
    asset = read_text(f'<sdf version="1.9"><world name="w">{inside}</world></sdf>', {"hand.urdf": HAND})
    assert [b.name for b in asset.bodies] == ["a::palm", "a::finger", "b::palm", "b::finger"]
    assert asset.joint("b::knuckle").dofs[0].name == "b::knuckle"
    assert {a.target for a in asset.actuators} == {"a::knuckle", "b::knuckle"}
    assert len({s.name for s in asset.shapes}) == 2
    assert asset.body("b::finger").pose.is_close(Pose.of((1, 0, 1)))


def test_a_static_urdf_stands_in_the_world(read_text):
    asset = read_text(
        """<sdf version="1.9"><world name="w"><include><uri>hand.urdf</uri><static>true</static>
        <pose>0 0 3 0 0 0</pose></include></world></sdf>""",
        {"hand.urdf": HAND},
    )
    assert not asset.bodies
    assert not asset.joints
    assert (asset.shapes[0].body, asset.shapes[0].pose.p.tolist()) == ("", [0.0, 0.0, 3.5])
    assert [site.name for site in asset.sites] == ["palm", "finger"]


def test_a_broken_urdf_is_left_out(read_model, found):
    asset = read_model(include("<uri>hand.urdf</uri>"), files={"hand.urdf": '<robot name="r">\n<link'})
    assert len(asset.bodies) == 1
    assert "not well-formed" in found("sdf-include-failed")[0].message
