"""Cameras and lights."""

from __future__ import annotations

import math

import numpy as np
import pytest

from simwright.model.asset import LightKind
from simwright.model.material import to_display


def test_camera(read):
    found = read(
        """
def Xform "R" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
    double3 xformOp:translate = (100, 0, 0)
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Camera "eye" {
        float focalLength = 10
        float horizontalAperture = 20
        float verticalAperture = 20
        float verticalApertureOffset = 1
        float2 clippingRange = (1, 500)
        token projection = "orthographic"
        double3 xformOp:translate = (0, 0, 50)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }
}""",
        meters=0.01,
    )
    (camera,) = found.asset.cameras
    assert camera.body == "R"
    assert camera.orthographic_height == pytest.approx(0.02)
    assert (camera.near, camera.far) == (pytest.approx(0.01), pytest.approx(5.0))
    assert (camera.focal_length, camera.aperture) == (None, None)
    np.testing.assert_allclose(camera.pose.p, (0, 0, 0.5))
    assert [d.data["what"] for d in found.reporter if d.kind == "usd-camera-loss"] == ["lens shift"]


def test_a_perspective_camera(read):
    found = read(
        """
def Xform "R" {
    def Camera "eye" {
        float focalLength = 10
        float horizontalAperture = 20
        float verticalAperture = 20
    }
}""",
        meters=0.01,
    )
    (camera,) = found.asset.cameras
    assert camera.fov_y == pytest.approx(math.pi / 2)
    assert camera.orthographic_height is None
    assert camera.focal_length == pytest.approx(0.01)
    assert camera.aperture == pytest.approx((0.02, 0.02))


def test_lights(read):
    found = read("""
def Xform "R" {
    def DistantLight "sun" { float inputs:intensity = 3\n float inputs:exposure = 2 }
    def SphereLight "bulb" { float inputs:radius = 0.25\n color3f inputs:color = (1, 0.5, 0) }
    def SphereLight "spot" ( prepend apiSchemas = ["ShapingAPI"] ) {
        float inputs:shaping:cone:angle = 30
        float inputs:shaping:cone:softness = 0.5
        bool treatAsPoint = true
    }
    def DomeLight "sky" { asset inputs:texture:file = @sky.hdr@ }
    def RectLight "panel" { float inputs:width = 2\n token visibility = "invisible" }
}""")
    sun, bulb, spot, sky, panel = found.asset.lights
    assert (sun.kind, sun.intensity) == (LightKind.DIRECTIONAL, 12.0)
    assert (bulb.kind, bulb.radius, bulb.color) == (LightKind.POINT, 0.25, (1.0, to_display(0.5), 0.0))
    assert (spot.kind, spot.radius) == (LightKind.SPOT, 0.0)
    assert spot.cone == pytest.approx((math.pi / 12, math.pi / 6))
    assert sky.kind is LightKind.DOME
    assert (panel.kind, panel.intensity) == (LightKind.AREA, 0.0)
    assert [d.data["what"] for d in found.reporter] == ["the texture", "the extent"]
