# SPDX-License-Identifier: Apache-2.0
"""Transmissions and ros2_control blocks come back; other motors become one; nothing of Gazebo is written."""

from __future__ import annotations

from pathlib import Path

from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.core.math3d import IDENTITY
from simwright.formats.table import read_asset
from simwright.model.asset import Actuator, ContactFilter
from simwright.model.joint import Dof, Motion
from simwright.model.ros import Controller, Interface, InterfaceKind

from .writing import make_pair, write

SOURCE = """<robot name="r">
  <link name="a"/><link name="b"/>
  <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/></joint>
  <transmission name="t"><type>transmission_interface/SimpleTransmission</type>
    <joint name="j"><hardwareInterface>hardware_interface/PositionJointInterface</hardwareInterface></joint>
    <actuator name="m"><mechanicalReduction>50</mechanicalReduction></actuator></transmission>
  <ros2_control name="arm" type="system" rw_rate="500">
    <hardware><plugin>my_robot/Hardware</plugin><param name="port">/dev/tty0</param></hardware>
    <joint name="j"><command_interface name="position"><param name="min">-1</param></command_interface>
      <state_interface name="position"/><param name="id">3</param></joint>
    <sensor name="ft"><state_interface name="force.z"/></sensor>
    <gpio name="io"><command_interface name="led"/></gpio>
  </ros2_control>
  <gazebo reference="b"><mu1>0.3</mu1><selfCollide>true</selfCollide></gazebo>
</robot>"""


def test_what_a_urdf_file_said_is_written_again(tmp_path: Path, accept_urdf) -> None:
    file = tmp_path / "source" / "r.urdf"
    file.parent.mkdir()
    file.write_text(SOURCE)
    asset = read_asset(file)
    written = write(asset, tmp_path)
    assert compare_assets(asset, written.again, make_settings(ignore=["materials"])).equal
    assert written.again.controllers[0].settings == asset.controllers[0].settings
    assert written.again.actuators[0].settings == asset.actuators[0].settings
    assert written.again.actuators[0].gear == (50.0,)
    assert written.root.find("gazebo") is None
    assert "urdf-write-extras" in written.kinds
    accept_urdf(written.path)


def test_motors_of_other_formats_become_a_block(tmp_path: Path, accept_urdf) -> None:
    asset = make_pair(Dof(Motion.HINGE, name="j", lower=-1.0, upper=1.0), far=IDENTITY)
    asset.actuators = [
        Actuator("servo", "position", "j", stiffness=10.0, control_range=(-1.0, 1.0)),
        Actuator("muscle", "general", "cord", transmission="tendon"),
    ]
    written = write(asset, tmp_path)
    (block,) = written.again.controllers
    assert block.settings["joints"]["j"]["command"] == {"position": {"min": "-1", "max": "1"}}
    assert set(block.settings["joints"]["j"]["state"]) == {"position", "velocity", "effort"}
    assert "urdf-write-control" in written.kinds
    assert written.lost == {"actuators.kind", "actuators.stiffness"}
    accept_urdf(written.path)


def test_ros_interfaces_are_discarded_not_injected(tmp_path: Path) -> None:
    asset = make_pair(far=IDENTITY)
    asset.interfaces = [
        Interface(InterfaceKind.TOPIC, "publisher", "/scan", "sensor_msgs/msg/LaserScan", at="tip")
    ]
    asset.controllers = [Controller("drive", "diff_drive", {"left": [], "right": []})]
    asset.contact_filters = [ContactFilter("base", "tip")]
    written = write(asset, tmp_path)
    assert written.lost == {"interfaces", "controllers.kind", "contact_filters"}
    assert {child.tag for child in written.root} == {"link", "joint"}
