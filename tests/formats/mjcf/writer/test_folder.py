"""The folder as a whole: where it goes, what lies beside the MJCF, what is said to be lost."""

from __future__ import annotations

import math

import numpy as np
import pytest
import yaml
from click.testing import CliRunner

import simwright
from simwright.app.cli.main import cli
from simwright.core.diag import Reporter
from simwright.core.errors import OutputError, StrictError
from simwright.core.math3d import Pose, vec3
from simwright.formats.format import WriteOptions
from simwright.formats.mjcf.writer.entry import write
from simwright.model.asset import Asset, Body, Camera, Light, LightKind, Sensor, Shape, Site
from simwright.model.extras import CustomAttribute
from simwright.model.geometry import Box
from simwright.model.inertia import Inertial
from simwright.model.ros import Controller, Interface, InterfaceKind, RosContext

from .compiling import write_and_compile

SOLID = Inertial(1.0, vec3(), np.eye(3))


def make_prop() -> Asset:
    asset = Asset("prop", bodies=[Body("a", inertial=SOLID)])
    asset.shapes = [Shape("box", Box.of(1, 1, 1), body="a", collision=True)]
    return asset


def test_ros_lies_beside_the_model(tmp_path):
    asset = make_prop()
    asset.sites = [Site("tool", "a", ros_frame="tool0")]
    asset.interfaces = [
        Interface(InterfaceKind.TOPIC, "publisher", "scan", "sensor_msgs/msg/LaserScan", rate=10.0)
    ]
    asset.contexts = [RosContext("robot1", domain_id=3)]
    asset.controllers = [
        Controller("c", "joint_trajectory", {"command": ["j"]}, settings={"rate": np.float64(2.0)})
    ]
    written = write_and_compile(asset, tmp_path)
    assert "mjcf-write-ros-aside" in written.kinds
    content = yaml.safe_load((written.path.parent / "ros.yaml").read_text())
    assert content["frames"] == [{"site": "tool", "frame": "tool0", "static": True}]
    assert content["interfaces"][0]["name"] == "scan"
    assert content["contexts"][0]["domain_id"] == 3
    assert content["controllers"][0]["settings"] == {"rate": 2.0}
    assert written.root.find("extension") is None


def test_custom_attributes(tmp_path):
    asset = make_prop()
    asset.custom_attributes = [
        CustomAttribute("stiff", "model", "body", "float", 1.0, "lab", {"a": 2.5}),
        CustomAttribute("frame", "model", "once", "vec3", (1.0, 2.0, 3.0)),
        CustomAttribute("label", "model", "once", "string", "red"),
        CustomAttribute("table", "model", "once", "float[]", [0.0] * 501),
    ]
    written = write_and_compile(asset, tmp_path)
    assert written.model.numeric("lab:stiff/a").data[0] == 2.5
    assert np.allclose(written.model.numeric("frame").data, (1, 2, 3))
    assert written.model.ntext == 1
    assert [d.kind for d in written.said] == ["mjcf-write-not-carried"]


def test_cameras_lights_and_sensors(tmp_path):
    asset = make_prop()
    turned = Pose.from_rpy((0.1, 0, 0), (math.pi / 2, 0, 0))
    asset.cameras = [Camera("eye", "a", turned, fov_y=1.0, resolution=(64, 48))]
    asset.lights = [
        Light("sun", LightKind.DIRECTIONAL, pose=turned, color=(1.0, 0.9, 0.8), intensity=3.0),
        Light("sky", LightKind.DOME),
    ]
    asset.sensors = [
        Sensor("imu", "imu", "a", turned, rate=100.0),
        Sensor("wrench", "force_torque", "a"),
        Sensor("eye", "camera", "a", target="eye"),
        Sensor("scan", "lidar", "a"),
    ]
    written = write_and_compile(asset, tmp_path)
    model = written.model
    assert model.cam_fovy[0] == pytest.approx(math.degrees(1.0))
    assert np.allclose(model.light_dir[0], (0, 1, 0), atol=1e-12)
    assert [model.sensor(i).name for i in range(4)] == [
        "imu_accelerometer",
        "imu_gyro",
        "wrench_force",
        "wrench_torque",
    ]
    assert [d.kind for d in written.said] == ["mjcf-write-not-carried"] * 2


def test_solver_attributes_of_others_are_discarded_and_said(tmp_path):
    asset = make_prop()
    asset.extras.keep("physx", "/a", "physxRigidBody:sleepThreshold", 0.1)
    asset.extras.keep("mjc", "/a", "mjc:unheard", 1.0)
    asset.shapes[0].path = "/a/box"
    asset.extras.keep("mjc", "/a/box", "mjc:solref", [0.04, 1.5])
    asset.extras.keep("mjc", "/a/box", "mjc:condim", 4)
    written = write_and_compile(asset, tmp_path)
    assert np.allclose(written.model.geom_solref[0], (0.04, 1.5))
    assert written.model.geom_condim[0] == 4
    lost = [d for d in written.said if d.kind == "mjcf-write-extras"]
    assert len(lost) == 2
    assert b"physx" not in written.path.read_bytes()


def test_elements_without_a_prim_are_spoken_of_elsewhere(tmp_path):
    """As the OpenUSD writer notes them: at the root, by kind and name."""
    asset = make_prop()
    asset.lights = [Light("top-light", LightKind.DIRECTIONAL, path="/prop/top_light")]
    for name, value in (
        ("light:top_light:mode", "targetbody"),
        ("light:top_light:target", "a"),
        ("visual:headlight:ambient", [0.1, 0.2, 0.3]),
        ("statistic:extent", 3.0),
        ("texture:grid:builtin", "checker"),
        ("texture:grid:width", 8),
        ("texture:grid:height", 8),
    ):
        asset.extras.keep("mjc", "/prop", f"mjc:{name}", value)
    written = write_and_compile(asset, tmp_path)
    assert not len(written.said)
    assert written.model.light_targetbodyid[0] == written.model.body("a").id
    assert np.allclose(written.model.vis.headlight.ambient, (0.1, 0.2, 0.3))
    assert written.model.stat.extent == 3.0
    assert written.model.ntex == 1


def test_where_it_goes(tmp_path):
    folder = tmp_path / "robot"
    path = write(make_prop(), folder, WriteOptions(), Reporter())
    assert path == folder / "prop.xml"
    assert write(make_prop(), folder, WriteOptions(), Reporter()) == path  # replaced whole
    (folder / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        write(make_prop(), folder, WriteOptions(), Reporter())
    with pytest.raises(OutputError, match="is a file"):
        write(make_prop(), folder / "notes.txt", WriteOptions(), Reporter())


def test_the_source_is_never_overwritten(tmp_path):
    (tmp_path / "in").mkdir()
    source = tmp_path / "in" / "robot.xml"
    source.write_text("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    with pytest.raises(OutputError, match="source"):
        simwright.convert(source, tmp_path / "in" / "robot.xml")


def test_names_that_leave_the_folder_stay_in_it(tmp_path):
    asset = make_prop()
    asset.name = "../../evil\x01"
    asset.bodies[0].name = asset.shapes[0].body = "a\x02<&"
    asset.custom_attributes = [CustomAttribute("label", "model", "once", "string", "bell\x07")]
    path = write(asset, tmp_path / "robot", WriteOptions(), Reporter())
    assert path.parent == tmp_path / "robot"
    assert path.exists()


def test_convert_command(samples, tmp_path):
    source = next(p for p in sorted(samples.rglob("*.usda")) if "PhysicsRevoluteJoint" in p.read_text())
    result = CliRunner().invoke(cli, ["convert", str(source), str(tmp_path / "out" / "robot.xml")])
    assert result.exit_code in (0, 1), result.output
    assert (tmp_path / "out" / "robot.xml").exists()


def test_strict_writes_nothing(tmp_path):
    source = tmp_path / "in.xml"
    source.write_text(
        "<mujoco><asset><texture name='sky' type='cube' builtin='flat' width='8' height='8'/></asset>"
        "<worldbody><light type='image' texture='sky'/><geom size='1'/></worldbody></mujoco>"
    )
    with pytest.raises(StrictError):
        simwright.convert(source, tmp_path / "out" / "robot.xml", strict=True)
    assert not (tmp_path / "out").exists()
