"""Controllers from the parameter file that a ros2_control plugin names."""

from __future__ import annotations

import pytest

from simwright.core.diag import Reporter
from simwright.formats.table import read_asset

URDF = """<robot name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="left" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="right" type="continuous"><parent link="a"/><child link="c"/></joint>
<gazebo><plugin filename="gz_ros2_control-system" name="ctl"><parameters>{file}</parameters></plugin></gazebo>
</robot>"""
SDF = """<sdf version="1.9"><model name="r"><link name="a"/><link name="b"/><link name="c"/>
<joint name="left" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 1 0</xyz></axis></joint>
<joint name="right" type="revolute"><parent>a</parent><child>c</child><axis><xyz>0 1 0</xyz></axis></joint>
<plugin filename="gz_ros2_control-system" name="ctl"><parameters>{file}</parameters></plugin></model></sdf>"""
PARAMETERS = """
controller_manager:
  ros__parameters:
    update_rate: 100
    base: {type: diff_drive_controller/DiffDriveController}
    states: {type: joint_state_broadcaster/JointStateBroadcaster}
    arm: {type: joint_trajectory_controller/JointTrajectoryController}
    odd: {type: somebody/Else}
base:
  ros__parameters: {left_wheel_names: [left], right_wheel_names: [right], publish_rate: 50.0, wheel_radius: 0.1}
arm:
  ros__parameters: {joints: [left, ghost]}
"""


@pytest.fixture(params=["urdf", "sdf"])
def read(request, tmp_path):
    def make(parameters: str | None):
        if parameters is not None:
            (tmp_path / "p.yaml").write_text(parameters)
        file = tmp_path / f"r.{request.param}"
        file.write_text({"urdf": URDF, "sdf": SDF}[request.param].format(file="p.yaml"))
        reporter = Reporter()
        return read_asset(file, reporter=reporter), reporter

    return make


def test_controllers_and_interfaces(read):
    asset, reporter = read(PARAMETERS)
    found = {c.name: c for c in asset.controllers}
    assert found["base"].kind == "diff_drive"
    assert found["base"].joints == {"left": ["left"], "right": ["right"]}
    assert found["base"].interfaces == {"subscriber": "base/cmd_vel", "odom": "base/odom"}
    assert found["base"].settings["wheel_radius"] == 0.1
    assert found["arm"].kind == "joint_trajectory"
    assert found["arm"].joints == {"command": ["left"]}
    assert found["odd"].kind == "somebody/Else"
    names = {(i.kind, i.role, i.name, i.type, i.rate) for i in asset.interfaces}
    assert ("topic", "publisher", "joint_states", "sensor_msgs/msg/JointState", None) in names
    assert ("topic", "publisher", "base/odom", "nav_msgs/msg/Odometry", 50.0) in names
    action = (
        "action",
        "server",
        "arm/follow_joint_trajectory",
        "control_msgs/action/FollowJointTrajectory",
        None,
    )
    assert action in names
    assert [d.data["joint"] for d in reporter if d.kind == "ros2-control-joint"] == ["ghost"]


@pytest.mark.parametrize(
    "text",
    [
        None,
        "a: [unclosed",
        "- just\n- a list",
        "a: &x [1]\nb: *x",
        "!!python/object/apply:os.system ['true']",
    ],
)
def test_unreadable_parameters_are_a_warning(read, text):
    asset, reporter = read(text)
    assert [d.level for d in reporter if d.kind == "ros2-control-parameters"] == ["warning"]
    assert [c.kind for c in asset.controllers] == ["ros2_control"]


def test_other_notations(read):
    entry = "s: {type: joint_state_broadcaster/JointStateBroadcaster}"
    text = f"/**:\n  /controller_manager:\n    ros__parameters:\n      {entry}\n"
    asset, _ = read(text)
    assert "joint_states" in [i.name for i in asset.interfaces]
