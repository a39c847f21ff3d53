"""The interface database: bundled, environment, settings; malformed names; suggestions."""

from __future__ import annotations

import pytest

from simwright.checker.facts.interfaces import (
    MAP_TYPES,
    ROBOT_WIDE_TYPES,
    SENSOR_TYPES,
    InterfaceTypes,
    bundled_types,
    is_well_formed,
    kind_of,
    repair,
)


def test_bundled_list_is_sorted_unique_and_well_formed():
    names = sorted(bundled_types())
    assert len(names) > 600
    assert all(is_well_formed(name) for name in names)


@pytest.mark.parametrize(
    "name",
    [
        "sensor_msgs/msg/Image",
        "std_srvs/srv/SetBool",
        "control_msgs/action/FollowJointTrajectory",
        "nav2_msgs/action/NavigateToPose",
        "simulation_interfaces/srv/SpawnEntity",
        "moveit_msgs/srv/GetPlanningScene",
        "rosgraph_msgs/msg/Clock",
    ],
)
def test_standard_interfaces_are_known(name):
    assert InterfaceTypes().knows(name)


def test_roles_of_types_are_known_types_and_do_not_overlap():
    for group in (SENSOR_TYPES, ROBOT_WIDE_TYPES, MAP_TYPES):
        assert group <= bundled_types()
    assert not SENSOR_TYPES & ROBOT_WIDE_TYPES


@pytest.mark.parametrize(
    "name",
    ["sensor_msgs/Image", "sensor_msgs/msg/image", "Sensor/msg/Image", "a__b/msg/C", "a_/msg/C", "", "a/b/C"],
)
def test_malformed(name):
    assert not is_well_formed(name)


def test_kind():
    assert kind_of("std_srvs/srv/SetBool") == "srv"
    assert not kind_of("std_srvs/SetBool")


@pytest.mark.parametrize(
    ("name", "kind", "meant"),
    [
        ("sensor_msgs/Image", "msg", "sensor_msgs/msg/Image"),
        ("std_srvs/SetBool", "srv", "std_srvs/srv/SetBool"),
        ("sensor_msgs::msg::Image", "msg", "sensor_msgs/msg/Image"),
        ("sensor_msgs.msg.Image", "msg", "sensor_msgs/msg/Image"),
        ("/sensor_msgs/msg/Image/", "msg", "sensor_msgs/msg/Image"),
        ("Image", "msg", ""),
    ],
)
def test_repair(name, kind, meant):
    assert repair(name, kind) == meant


@pytest.mark.parametrize(
    ("name", "meant"),
    [
        ("sensor_msgs/msg/LaserScann", "sensor_msgs/msg/LaserScan"),
        ("sensor_msgs/msg/IMU", "sensor_msgs/msg/Imu"),
        ("sensor_msg/msg/Image", "sensor_msgs/msg/Image"),
        ("acme_things/msg/Widget", ""),
    ],
)
def test_suggest(name, meant):
    assert InterfaceTypes().suggest(name) == meant


def test_sourced_environment_by_index_and_by_folder(tmp_path):
    index = tmp_path / "share/ament_index/resource_index/rosidl_interfaces"
    index.mkdir(parents=True)
    (index / "acme_msgs").write_text("msg/Widget.idl\nmsg/Widget.msg\nsrv/Make.srv\n")
    folder = tmp_path / "share/other_msgs/action"
    folder.mkdir(parents=True)
    (folder / "Go.action").write_text("---\n---\n")
    types = InterfaceTypes([tmp_path])
    assert types.knows("acme_msgs/msg/Widget")
    assert types.knows("acme_msgs/srv/Make")
    assert types.knows("other_msgs/action/Go")
    assert not types.knows("acme_msgs/msg/Gadget")
    assert types.knows_package("acme_msgs")
    assert types.suggest("acme_msgs/msg/Widgets") == "acme_msgs/msg/Widget"


def test_settings_folders_and_package_xml_names(tmp_path):
    package = tmp_path / "src/checkout"
    (package / "msg").mkdir(parents=True)
    (package / "msg/Cargo.msg").write_text("float32 mass\n")
    (package / "package.xml").write_text("<package><name>cargo_msgs</name></package>")
    types = InterfaceTypes(folders=[tmp_path])
    assert types.knows("cargo_msgs/msg/Cargo")
    assert not types.knows("checkout/msg/Cargo")


def test_missing_folders_and_odd_package_names_are_quiet(tmp_path):
    types = InterfaceTypes([tmp_path / "none"], [tmp_path / "nothing"])
    assert not types.knows("acme_msgs/msg/Widget")
    assert not types.knows("../../etc/msg/Passwd")
