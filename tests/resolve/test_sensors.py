# SPDX-License-Identifier: Apache-2.0
"""Sensors in the words of the registry: every kind there and back, edits that count, stages that others write."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import mujoco
import numpy as np
import pytest
from pxr import Sdf, Usd

import simwright
from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Sensor
from simwright.resolve.sensors import FORMS, NEUTRAL, express, generalize, to_radians, understand
from simwright.usd.registry import find_class

FOLDER = Path(simwright.__file__).parent / "usd" / "schemas"
SETTINGS: dict[str, dict[str, object]] = {
    "camera": {"image_width": 640, "image_height": 480, "image_format": "R8G8B8", "noise_type": "gaussian",
               "noise_mean": 0.0, "noise_stddev": 0.01, "distortion_p1": 0.1, "distortion_p2": 0.2},
    "depth_camera": {"image_width": 64, "image_height": 48, "depth_camera_clip_near": 0.1},
    "rgbd_camera": {"image_width": 64, "image_height": 48, "depth_camera_clip_far": 9.0},
    "lidar": {"scan_horizontal_samples": 640, "scan_horizontal_min_angle": -1.047, "scan_vertical_max_angle": 0.26,
              "scan_horizontal_max_angle": math.pi / 2, "range_min": 0.1, "range_max": math.inf},
    "imu": {f"angular_velocity_{axis}_noise_{word}": value for axis in "xyz"
            for word, value in (("type", "gaussian"), ("stddev", 0.01), ("bias_mean", 7e-6))},
    "navsat": {"position_sensing_horizontal_noise_type": "gaussian", "position_sensing_horizontal_noise_stddev": 1.5},
    "contact": {"min_force": 0.5},
    "force_torque": {"frame": "child", "measure_direction": "parent_to_child"},
    "joint_encoder": {"measures": ["position"], "resolution": 0.001},
    "range": {"min": 0.02, "max": 4.0, "field_of_view": 0.26, "radiation": "ultrasound"},
    "sonar": {"min": 0.02, "max": 4.0, "radius": 0.5},
    **{word: {"noise": 0.01} for word in ("accelerometer", "gyro", "force", "torque", "touch", "jointpos", "jointvel")},
    "rangefinder": {"noise": 0.01, "cutoff": 5.0},
}  # fmt: skip


@pytest.mark.parametrize("kind", FORMS)
def test_every_kind_there_and_back(kind: str) -> None:
    sensor = Sensor("s", kind, rate=20.0, settings=SETTINGS[kind])
    neutral = express(sensor)
    assert neutral is not None
    assert neutral.left.keys() <= {"radius"}
    values = {said.name: said.value for said in neutral.opinions}
    assert understand(kind, values) == (SETTINGS[kind], 20.0)
    # and every word is one of the registry, of its type
    for said in neutral.opinions:
        owner = next(find_class(form.api) for form in neutral.forms if said.name.startswith(f"{form.space}:"))
        assert next(prop.type for prop in owner.properties if prop.name == said.name) == said.type


def test_what_has_no_word_is_left() -> None:
    noise = {"noise_type": "gaussian_quantized", "noise_stddev": 0.1, "noise_precision": 0.5}
    neutral = express(Sensor("s", "lidar", settings={**noise, "visualize": True}))
    assert neutral is not None
    assert neutral.left == {"noise_type": "gaussian_quantized", "noise_precision": 0.5, "visualize": True}
    # noise that is none says no deviation, and half a size no size
    neutral = express(
        Sensor("s", "camera", settings={"noise_type": "none", "noise_stddev": 1.0, "image_width": 5})
    )
    assert neutral is not None
    assert neutral.opinions == []


def test_queries_are_no_devices() -> None:
    assert express(Sensor("s", "contact", settings={"dimension": 1})) is None
    assert express(Sensor("s", "rangefinder", settings={"object_type": "camera"})) is None
    assert express(Sensor("s", "framequat", settings={"object_type": "site"})) is None


def test_an_engines_word_gives_way_to_an_edit() -> None:
    even, odd = (0.5, 0.5, 0.5), (0.5, 0.5, 0.7)
    assert understand("accelerometer", {"sensor:imu:accelerometer:noiseStdDev": even}) == (
        {"noise": 0.5},
        None,
    )
    assert understand("accelerometer", {"sensor:imu:accelerometer:noiseStdDev": odd}) is None
    assert understand("gyro", {"sensor:imu:measures": ["angularVelocity", "orientation"]}) is None


@pytest.mark.parametrize("radians", [1.047, math.pi / 2, -3.14, 2.0943951023931953, 1e-5])
def test_angles_are_those_that_were_written(radians: float) -> None:
    assert to_radians(radians / (math.pi / 180.0)) == radians


def test_a_single_beam_looks_along_x_here() -> None:
    ahead = generalize(Sensor("s", "rangefinder", settings={"object_type": "site", "cutoff": 5.0}))
    assert (ahead.kind, ahead.settings) == ("range", {"max": 5.0})
    np.testing.assert_allclose(ahead.pose.rotation @ (1, 0, 0), (0, 0, 1), atol=1e-12)


def open_example(name: str) -> Asset:
    return simwright.load(FOLDER / name / "example.usda")


@pytest.mark.parametrize("api", NEUTRAL)
def test_the_examples_of_the_registry_are_read(api: str) -> None:
    folder = next(f for f in FOLDER.iterdir() if f.is_dir() and f'"{api}"' in (f / "schema.usda").read_text())
    asset = open_example(folder.name)
    (sensor,) = asset.sensors
    assert (sensor.kind, sensor.body) == (NEUTRAL[api], "housing")
    assert sensor.rate
    assert [interface.at for interface in asset.interfaces] == [sensor.name]
    assert sensor.pose.is_close(Pose.of((0.03, 0, 0)), 1e-6)


def test_a_camera_knows_its_pixels() -> None:
    (camera,) = open_example("sensor_camera").cameras
    assert camera.resolution == (640, 480)


MJCF = """<mujoco><worldbody><body name="arm"><geom size=".1" mass="1"/><joint name="j" axis="0 1 0" damping="1"/>
<site name="s" pos="0 0 .3"/></body></worldbody><sensor>{}</sensor></mujoco>"""
SENSORS = """<gyro name="g" site="s" noise="0.01"/><accelerometer name="a" site="s" interval="0.01"/>
<rangefinder name="r" site="s" cutoff="5"/><jointpos name="p" joint="j" noise="0.001"/><touch name="t" site="s"/>
<magnetometer name="m" site="s"/><force name="f" site="s"/><framequat name="q" objtype="site" objname="s"/>"""


def make_robot(tmp_path: Path) -> Asset:
    file = tmp_path / "robot.xml"
    file.write_text(MJCF.format(SENSORS))
    return simwright.load(file)


def list_sensors(asset: Asset) -> list[tuple[object, ...]]:
    return [(s.name, s.kind, s.body, s.target, s.rate, s.settings) for s in asset.sensors]


def test_mjcf_there_and_back(tmp_path: Path) -> None:
    robot = make_robot(tmp_path)
    entry = simwright.convert(robot, tmp_path / "usd")
    stage = Usd.Stage.Open(str(entry))
    root = stage.GetDefaultPrim().GetPath()
    apis = {
        prim.GetName(): prim.GetAppliedSchemas() for prim in stage.GetPrimAtPath(f"{root}/arm").GetChildren()
    }
    assert {name: found[0] for name, found in apis.items() if found and found[0].startswith("Sensor")} == {
        "g": "SensorImuAPI", "a": "SensorImuAPI", "r": "SensorRangeAPI", "p": "SensorJointEncoderAPI",
        "t": "SensorContactAPI", "f": "SensorForceTorqueAPI",
    }  # fmt: skip
    assert list_sensors(simwright.load(entry)) == list_sensors(robot)


def test_an_edit_of_the_neutral_layer_counts(tmp_path: Path) -> None:
    entry = simwright.convert(make_robot(tmp_path), tmp_path / "usd")
    layer = Sdf.Layer.FindOrOpen(str(Path(entry).parent / "sensors.usda"))
    root = layer.defaultPrim
    layer.GetAttributeAtPath(f"/{root}/arm/p.sensor:joint_encoder:position:noiseStdDev").default = 1.0
    layer.GetAttributeAtPath(f"/{root}/arm/g.sensor:imu:gyroscope:noiseStdDev").default = (1.0, 1.0, 2.0)
    layer.Save()
    edited = {sensor.name: sensor for sensor in simwright.load(entry).sensors}
    assert edited["p"].settings["noise"] == pytest.approx(math.radians(1.0))
    assert edited["g"].kind == "imu"
    assert edited["g"].settings["angular_velocity_z_noise_stddev"] == pytest.approx(math.radians(2.0))


def test_mjcf_as_sdformat(tmp_path: Path) -> None:
    file = simwright.convert(make_robot(tmp_path), tmp_path / "robot.sdf")
    kinds = {sensor.name: sensor.kind for sensor in simwright.load(file).sensors}
    assert kinds == {
        "g": "imu",
        "a": "imu",
        "r": "lidar",
        "t": "contact",
        "m": "magnetometer",
        "f": "force_torque",
    }


def test_neutral_sensors_run_in_mujoco(tmp_path: Path) -> None:
    robot = make_robot(tmp_path)
    where = Pose.of((0.0, 0.0, 0.3))
    robot.sensors = [
        Sensor("imu", "imu", "arm", where, settings=SETTINGS["imu"], rate=100.0),
        Sensor("encoder", "joint_encoder", "arm", target="j"),
        Sensor("range", "range", "arm", replace(where, p=np.array((0.0, 0.0, 0.5))), settings={"max": 3.0}),
        Sensor("bumper", "contact", "arm"),
    ]
    file = simwright.convert(robot, tmp_path / "out.xml")
    model = mujoco.MjModel.from_xml_path(str(file))
    words = [mujoco.mjtSensor(kind).name.removeprefix("mjSENS_") for kind in model.sensor_type]
    assert words == ["ACCELEROMETER", "GYRO", "JOINTPOS", "JOINTVEL", "RANGEFINDER", "CONTACT"]
    assert model.sensor_noise[1] == pytest.approx(0.01)
    assert model.sensor_cutoff[4] == 3.0
    # the beam goes along +X of the neutral frame, which is +Z of the site
    site = model.sensor_objid[4]
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.site_quat[site])
    np.testing.assert_allclose(turn.reshape(3, 3)[:, 2], (1, 0, 0), atol=1e-12)
