"""Sites, cameras, lights, sensors, keyframes, options and custom data."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest

from simwright.model.asset import LightKind

BODY = """<body name="a" pos="0 0 1"><freejoint name="root"/><geom name="g" size=".1"/>
<site name="s" pos=".1 0 0" euler="0 0 90" type="box" size=".1 .2 .3" group="2"/>
<body name="b"><joint name="j" pos="0 0 .1"/><geom size=".1"/></body></body>"""


def model(inside: str = "", more: str = "") -> str:
    return f"<mujoco>{more}<worldbody>{BODY}{inside}</worldbody></mujoco>"


def test_sites(read_text):
    asset = read_text(model())
    (site,) = asset.sites
    assert (site.name, site.body) == ("s", "a")
    assert np.allclose(site.pose.rotation @ (1, 0, 0), (0, 1, 0), atol=1e-12)
    assert np.allclose(site.geometry.size, (0.2, 0.4, 0.6))
    assert asset.extras.get("mjc", "site/s", "group") == 2


def test_cameras(read_text):
    asset = read_text(
        model(
            '<camera name="c" fovy="60" pos="1 2 3"/>'
            '<camera name="d" sensorsize=".02 .01" focal=".03 .03" resolution="640 320"/>',
            '<statistic extent="2"/><visual><map znear=".1" zfar="7"/></visual>',
        )
    )
    plain, lens = asset.cameras
    assert plain.fov_y == pytest.approx(math.radians(60))
    assert plain.resolution == (0, 0)
    assert (plain.near, plain.far) == pytest.approx((0.2, 14.0))
    assert (lens.resolution, lens.aperture, lens.focal_length) == ((640, 320), (0.02, 0.01), 0.03)
    assert lens.fov_y == pytest.approx(2 * math.atan(0.01 / 2 / 0.03), rel=1e-6)


def test_an_orthographic_camera_has_a_height(read_text, reporter):
    new = hasattr(mujoco.MjModel, "cam_projection")
    attribute = 'projection="orthographic"' if new else 'orthographic="true"'
    asset = read_text(model(f'<camera name="c" {attribute} fovy="3"/>'))
    assert list(reporter) == []
    assert asset.cameras[0].orthographic_height == 3.0


def test_a_tracking_camera_keeps_its_mode(read_text):
    asset = read_text(model('<camera name="c" mode="targetbody" target="a"/>'))
    assert asset.extras.values()["mjc"]["camera/c"] == {"mode": "targetbody", "target": "a"}


def test_lights(read_text):
    directional = 'type="directional"' if hasattr(mujoco.MjModel, "light_type") else 'directional="true"'
    sun, lamp = read_text(
        model(
            f'<light name="sun" {directional} dir="1 0 0" diffuse=".1 .2 .3" castshadow="false"/>'
            '<light name="lamp" pos="0 0 2" cutoff="30"/>'
        )
    ).lights
    assert (sun.kind, sun.color, sun.cast_shadows) == (LightKind.DIRECTIONAL, (0.1, 0.2, 0.3), False)
    assert np.allclose(sun.pose.rotation @ (0, 0, -1), (1, 0, 0), atol=1e-12)
    assert lamp.kind is LightKind.SPOT
    # MuJoCo fades a light over the outer fifth of its cone unless the file says otherwise
    fading = 0.2 if hasattr(mujoco.MjModel, "light_softness") else 0.0
    assert lamp.cone == pytest.approx((math.radians(30 * (1 - fading)), math.radians(30)))
    assert lamp.intensity == 1.0


def test_sensors(read_text):
    sensors = read_text(
        model().replace(
            "</mujoco>",
            '<sensor><accelerometer name="imu" site="s" noise=".1" cutoff="5"/><jointpos joint="j"/>'
            '<framepos objtype="xbody" objname="b" reftype="site" refname="s"/><clock/>'
            '<framequat objtype="body" objname="b"/></sensor></mujoco>',
        )
    ).sensors
    imu, position, frame, clock, inertial = sensors
    assert (imu.name, imu.kind, imu.body, imu.target) == ("imu", "accelerometer", "a", "s")
    assert np.allclose(imu.pose.p, (0.1, 0, 0))
    assert (imu.settings["noise"], imu.settings["cutoff"], imu.settings["dimension"]) == (0.1, 5.0, 3)
    assert (position.kind, position.target, position.body) == ("jointpos", "j", "b")
    assert (frame.body, frame.target) == ("b", "")
    assert (frame.settings["reference_type"], frame.settings["reference"]) == ("site", "s")
    assert (clock.kind, clock.body, clock.target) == ("clock", "", "")
    assert inertial.settings["object_type"] == "body"


def test_keyframes(read_text):
    asset = read_text(
        model().replace(
            "</mujoco>",
            '<actuator><motor name="m" joint="j"/></actuator><keyframe>'
            '<key name="home" time="2" qpos="1 2 3 1 0 0 0 .5" qvel="1 2 3 4 5 6 7" ctrl=".25"/>'
            "</keyframe></mujoco>",
        )
    )
    (key,) = asset.keyframes
    assert (key.name, key.time) == ("home", 2.0)
    assert key.positions == {"root": [1, 2, 3, 1, 0, 0, 0], "j": 0.5}
    assert key.velocities == {"root": [1, 2, 3, 4, 5, 6], "j": 7}
    assert key.controls == {"m": 0.25}


def test_options(read_text):
    asset = read_text(
        model(
            more='<option timestep=".005" gravity="0 0 -1" wind="1 0 0" integrator="RK4" cone="elliptic"'
            ' iterations="7"><flag warmstart="disable" energy="enable"/></option>'
        )
    )
    environment = asset.environment
    assert environment.timestep == 0.005
    assert np.allclose(environment.gravity, (0, 0, -1))
    assert np.allclose(environment.wind, (1, 0, 0))
    assert environment.settings == {
        "integrator": "rk4",
        "cone": "elliptic",
        "iterations": 7,
        "disable": ["warmstart"],
        "enable": ["energy"],
    }


def test_default_options_are_no_settings(read_text):
    asset = read_text(model())
    assert asset.environment.settings == {}
    assert np.allclose(asset.environment.gravity, (0, 0, -9.81))


def test_gravity_switched_off(read_text):
    asset = read_text(model(more='<option><flag gravity="disable"/></option>'))
    assert not np.any(asset.environment.gravity)
    assert asset.extras.get("mjc", "option", "gravity") == [0.0, 0.0, -9.81]


def test_visual_and_statistic_settings_are_extras(read_text):
    asset = read_text(model(more='<statistic extent="3"/><visual><headlight ambient=".3 .3 .3"/></visual>'))
    assert asset.extras.values()["mjc"]["visual"] == {"headlight.ambient": [0.3, 0.3, 0.3]}
    assert asset.extras.get("mjc", "statistic", "extent") == 3.0


def test_custom_data(read_text):
    asset = read_text(
        model(
            more='<custom><numeric name="n" data="1 2"/><text name="t" data="hello"/>'
            '<tuple name="u"><element objtype="body" objname="a" prm="4"/></tuple></custom>'
        )
    )
    kept = asset.extras.values()["mjc"]
    assert kept["numeric/n"]["data"] == [1.0, 2.0]
    assert kept["text/t"]["data"] == "hello"
    assert kept["tuple/u"]["elements"] == [{"type": "body", "name": "a", "value": 4.0}]


def test_a_flex_is_reported(read_text, reporter):
    asset = read_text(
        model(
            '\n<flexcomp name="cloth" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" radius=".01"'
            ' mass="1"/>'
        )
    )
    assert {d.kind for d in reporter} <= {"mjcf-not-carried", "mjcf-mujoco-warning"}
    (finding,) = [d for d in reporter if d.kind == "mjcf-not-carried"]
    assert "'cloth'" in finding.message
    assert finding.where.line == 4
    assert len(asset.bodies) == 2 + 9


def test_name_and_identity(read_text):
    asset = read_text(model().replace("<mujoco>", '<mujoco model="thing">'))
    assert (asset.name, asset.provenance.identifier) == ("thing", "thing")
    assert asset.provenance.version == mujoco.__version__


def test_a_skin_and_a_plugin_are_reported_and_the_rest_is_read(read_text, reporter):
    asset = read_text(
        """<mujoco><extension><plugin plugin="mujoco.pid"><instance name="p"><config key="kp" value="4"/></instance>
        </plugin></extension><worldbody><body name="b"><joint name="j"/><geom size="1"/></body></worldbody>
        <actuator><plugin joint="j" plugin="mujoco.pid" instance="p" actdim="0"/></actuator>
        <deformable><skin name="s" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="b" bindpos="0 0 0"
        bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable></mujoco>"""
    )
    assert [body.name for body in asset.bodies] == ["b"]
    assert len(asset.actuators) == 1
    lost = [d.message for d in reporter if d.kind == "mjcf-not-carried"]
    assert any("skin" in text for text in lost)
    assert any("plugin" in text for text in lost)


def test_every_sensor_is_read(read_text):
    kinds = [
        "touch",
        "accelerometer",
        "velocimeter",
        "gyro",
        "force",
        "torque",
        "magnetometer",
        "rangefinder",
    ]
    on_site = "".join(f'<{kind} site="s"/>' for kind in kinds)
    asset = read_text(
        f"""<mujoco><worldbody><body name="b"><joint name="j" range="-1 1"/><geom name="g" size="1"/><site name="s"/>
        <camera name="c"/></body></worldbody><sensor>{on_site}<camprojection site="s" camera="c"/><jointpos joint="j"/>
        <jointvel joint="j"/><jointlimitpos joint="j"/><framepos objtype="body" objname="b"/><subtreecom body="b"/>
        <framequat objtype="site" objname="s" reftype="body" refname="b"/><frameangvel objtype="body" objname="b"/>
        <clock/><user dim="2"/></sensor></mujoco>"""
    )
    expected = (
        "camprojection jointpos jointvel jointlimitpos framepos subtreecom framequat frameangvel clock user"
    )
    assert [sensor.kind for sensor in asset.sensors] == [*kinds, *expected.split()]
