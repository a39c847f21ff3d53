# SPDX-License-Identifier: Apache-2.0
"""Systems of the world that run sensors, plugins that are several, and topics of poses."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from simwright.core.diag import Reporter
from simwright.formats.table import read_asset, write_asset

from .writing import write_text

SENSORS = {
    "camera": "gz-sim-sensors-system",
    "gpu_lidar": "gz-sim-sensors-system",
    "imu": "gz-sim-imu-system",
    "contact": "gz-sim-contact-system",
    "navsat": "gz-sim-navsat-system",
    "altimeter": "gz-sim-altimeter-system",
    "magnetometer": "gz-sim-magnetometer-system",
    "air_pressure": "gz-sim-air-pressure-system",
    "force_torque": "gz-sim-forcetorque-system",
}
USUAL = ["gz-sim-physics-system", "gz-sim-user-commands-system", "gz-sim-scene-broadcaster-system"]


def make_model(kind: str) -> str:
    return f'<model name="m"><link name="l"><sensor name="s" type="{kind}"/></link></model>'


def list_systems(written) -> list[str]:
    return [str(node.get("filename")) for node in written.root.findall("world/plugin")]


@pytest.mark.parametrize("kind", SENSORS)
def test_a_world_gets_the_system_and_the_usual_ones(kind: str, tmp_path: Path, accept_sdf) -> None:
    written = write_text(f'<world name="w">{make_model(kind)}</world>', tmp_path)
    assert list_systems(written) == [*USUAL, SENSORS[kind]]
    assert [f.kind for f in written.said if "systems" in f.kind] == ["sdf-write-systems"]
    accept_sdf(written.path)


@pytest.mark.parametrize(
    "file", ["gz-sim-imu-system", "ignition-gazebo-imu-system", "libgz-sim8-imu-system.so"]
)
def test_what_the_world_names_is_not_named_twice(file: str, tmp_path: Path) -> None:
    plugin = f'<plugin filename="{file}" name="gz::sim::systems::Imu"/>'
    written = write_text(
        f'<world name="w">{plugin}{make_model("imu")}{make_model("camera")}</world>', tmp_path
    )
    assert list_systems(written) == [file, "gz-sim-sensors-system"]


def test_a_model_says_what_its_world_needs(tmp_path: Path) -> None:
    written = write_text(make_model("imu"), tmp_path)
    (note,) = [f for f in written.said if f.kind == "sdf-write-systems-needed"]
    assert "gz-sim-imu-system" in note.message
    assert written.root.find(".//plugin") is None


def test_a_world_without_sensors_gets_none(tmp_path: Path) -> None:
    assert (
        list_systems(write_text('<world name="w"><model name="m"><link name="l"/></model></world>', tmp_path))
        == []
    )


@pytest.mark.parametrize("topic", ["", "/tf"])
def test_the_topic_of_poses(topic: str, tmp_path: Path, accept_sdf) -> None:
    said = f"<topic>{topic}</topic>" if topic else ""
    plugin = f'<plugin filename="gz-sim-pose-publisher-system" name="gz::sim::systems::PosePublisher">{said}</plugin>'
    written = write_text(f'<model name="m"><link name="l"/>{plugin}</model>', tmp_path)
    assert written.again.interfaces[0].name == (topic or "/model/m/pose")
    assert (written.root.find(".//plugin/topic") is not None) == bool(topic)
    accept_sdf(written.path)


def test_what_a_plugin_says_beside_the_topic_stays(tmp_path: Path) -> None:
    said = "<topic>/tf</topic><publish_nested_model_pose>true</publish_nested_model_pose>"
    plugin = f'<plugin filename="gz-sim-pose-publisher-system" name="gz::sim::systems::PosePublisher">{said}</plugin>'
    written = write_text(f'<model name="m"><link name="l"/>{plugin}</model>', tmp_path)
    (found,) = written.root.findall(".//plugin")
    assert found.findtext("publish_nested_model_pose") == "true"
    assert written.again.interfaces[0].name == "/tf"


def test_plugins_of_one_class_stay_apart(tmp_path: Path) -> None:
    wings = "".join(
        f'<plugin filename="gz-sim-lift-drag-system" name="gz::sim::systems::LiftDrag"><a0>{n}</a0></plugin>'
        for n in (1, 2, 3)
    )
    written = write_text(f'<model name="m"><link name="l"/>{wings}</model>', tmp_path)
    plugins = written.root.findall(".//plugin")
    assert [plugin.get("name") for plugin in plugins] == ["gz::sim::systems::LiftDrag"] * 3
    assert [plugin.findtext("a0") for plugin in plugins] == ["1", "2", "3"]


def test_a_world_that_says_nothing_has_the_gravity_of_the_specification(tmp_path: Path) -> None:
    file = tmp_path / "w.sdf"
    file.write_text(
        '<sdf version="1.9"><world name="w"><model name="m"><link name="l"/></model></world></sdf>'
    )
    asset = read_asset(file)
    assert list(asset.environment.gravity) == [0.0, 0.0, -9.8]
    entry = write_asset(asset, tmp_path / "out", format_name="mjcf", reporter=Reporter())
    assert 'gravity="0 0 -9.8"' in entry.read_text()


def test_the_type_of_an_atmosphere_comes_back_from_a_stage(tmp_path: Path, accept_sdf) -> None:
    # libsdformat refuses an atmosphere without it
    source = tmp_path / "world.sdf"
    inner = '<atmosphere type="adiabatic"><temperature>300</temperature></atmosphere>'
    models = make_model("imu") + '<model name="n"><link name="k"/></model>'
    source.write_text(f'<sdf version="1.9"><world name="w">{inner}{models}</world></sdf>')
    stage = write_asset(read_asset(source), tmp_path / "usd")
    written = write_asset(read_asset(stage), tmp_path / "back.sdf")
    (node,) = etree.parse(str(written)).getroot().findall("world/atmosphere")
    assert (node.get("type"), node.findtext("temperature")) == ("adiabatic", "300")
    accept_sdf(written)
