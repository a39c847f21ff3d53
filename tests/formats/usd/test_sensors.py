"""Sensor prims of other tools."""

from __future__ import annotations

import math

import numpy as np
import pytest

BODY = """def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {{
    float physics:mass = 1
    float3 physics:diagonalInertia = (1, 1, 1)
    {}
}}"""


def test_isaac_sensors_on_a_body(read):
    found = read(
        BODY.format("""
    def IsaacImuSensor "imu" {
        double3 xformOp:translate = (0, 0, 10)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        float sensorPeriod = 0.005
        int linearAccelerationFilterWidth = 4
    }
    def IsaacContactSensor "foot" { float radius = 5\n float2 threshold = (0, 1000)\n bool enabled = true }
    def Lidar "scan" { float maxRange = 200\n float horizontalFov = 90 }
    """),
        meters=0.01,
    )
    imu, foot, scan = found.asset.sensors
    assert (imu.name, imu.kind, imu.body, imu.rate) == ("imu", "imu", "R", pytest.approx(200))
    np.testing.assert_allclose(imu.pose.p, (0, 0, 0.1))
    assert imu.settings == {"linear_acceleration_filter_width": 4}
    assert (foot.kind, foot.rate, foot.settings["enabled"]) == ("contact", None, True)
    assert foot.settings["radius"] == pytest.approx(0.05)
    assert foot.settings["threshold"] == pytest.approx([0, 10])
    assert scan.kind == "lidar"
    assert scan.settings == {"max_range": pytest.approx(2), "horizontal_fov": pytest.approx(math.pi / 2)}
    assert found.kinds == set()


def test_sensors_without_a_neutral_form_are_kept(read):
    found = read(
        BODY.format(
            'def IsaacLightBeamSensor "beam" { int numRays = 5 }\n def MjcSensor "m" { double mjc:noise = 2 }'
        )
    )
    assert found.asset.sensors == []
    assert found.asset.extras.get("sensor", "/R/beam", "numRays") == 5
    assert found.asset.extras.get("mjc", "/R/m", "mjc:noise") == 2
    assert {d.data["type"] for d in found.reporter if d.kind == "usd-sensor-unknown"} == {
        "IsaacLightBeamSensor",
        "MjcSensor",
    }


def test_a_sensor_on_nothing_is_reported(read):
    found = read('def Xform "R" { def IsaacImuSensor "imu" {} }')
    assert found.asset.sensors[0].body == ""
    assert found.kinds == {"usd-sensor-bodiless"}


def test_site_schemas_are_sites_not_sensors(read):
    found = read(
        BODY.format('def Sphere "s" ( prepend apiSchemas = ["NewtonSiteAPI"] ) { double radius = 1 }')
    )
    assert [site.name for site in found.asset.sites] == ["s"]
    assert found.asset.sensors == []


@pytest.mark.parametrize("kind", ["Capsule", "Cylinder", "Cone"])
@pytest.mark.parametrize(
    ("axis", "scale", "radius", "height"),
    [
        ("X", (2, 3, 4), 0.4, 1.0),
        ("Y", (2, 4, 3), 0.3, 2.0),
        ("Z", (3, 4, 2), 0.4, 1.0),
        ("Z", (3, -4, 2), 0.4, 1.0),
        ("Z", (2, 2, 2), 0.2, 1.0),
    ],
)
def test_the_scale_of_a_site_goes_into_its_size(read, kind, axis, scale, radius, height):
    """Sites have no scale of their own: an uneven one across the axis is that of the larger radius, and said."""
    found = read(
        BODY.format(
            f"""def {kind} "s" ( prepend apiSchemas = ["NewtonSiteAPI"] ) {{
                uniform token axis = "{axis}"
                double radius = 0.1
                double height = 0.5
                float3 xformOp:scale = {scale}
                uniform token[] xformOpOrder = ["xformOp:scale"]
            }}"""
        )
    )
    geometry = found.asset.sites[0].geometry
    assert (geometry.radius, geometry.length) == pytest.approx((radius, height))
    assert ("usd-site-uneven" in found.kinds) == (scale != (2, 2, 2))
