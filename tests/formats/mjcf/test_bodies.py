"""Mass properties, gravity compensation, and what the compiler resolves before we look."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.core.math3d import quat_from_rpy, quat_multiply
from simwright.model.inertia import Inertial


def test_authored_inertia_is_carried_in_body_axes(read_text):
    asset = read_text(
        '<mujoco><compiler angle="radian"/><worldbody><body name="a"><freejoint/>'
        '<inertial mass="2" pos=".1 .2 .3" euler=".3 .2 .1" diaginertia=".3 .2 .1"/></body>'
        "</worldbody></mujoco>"
    )
    inertial = asset.body("a").inertial
    q = [1.0, 0.0, 0.0, 0.0]
    for angle, axis in ((0.3, 0), (0.2, 1), (0.1, 2)):
        turn = quat_from_rpy([angle if i == axis else 0.0 for i in range(3)])
        q = quat_multiply(q, turn)
    expected = Inertial.from_principal(2.0, (0.3, 0.2, 0.1), q, (0.1, 0.2, 0.3))
    assert inertial.mass == 2.0
    assert np.allclose(inertial.com, expected.com, atol=1e-12)
    assert np.allclose(inertial.inertia, expected.inertia, atol=1e-12)


def test_inertia_from_geoms(read_text, compare):
    asset = read_text(
        '<mujoco><worldbody><body name="a"><freejoint/><geom type="box" size="1 2 3" density="10"/>'
        '<geom size=".5" mass="4" pos="1 0 0"/></body></worldbody></mujoco>'
    )
    assert asset.body("a").inertial.mass == pytest.approx(480 + 4)
    assert asset.shapes[0].density == 10.0
    assert asset.shapes[1].mass == 4.0
    compare(asset)


def test_a_static_body_has_the_mass_zero_and_not_that_of_its_shapes(read_text):
    asset = read_text('<mujoco><worldbody><body name="a"/></worldbody></mujoco>')
    assert asset.body("a").inertial.mass == 0.0


def test_gravity_compensation(read_text):
    asset = read_text(
        '<mujoco><worldbody><body name="a" gravcomp=".75"><freejoint/><geom size="1"/></body>'
        "</worldbody></mujoco>"
    )
    assert asset.body("a").gravity_scale == 0.25


def test_user_data_is_kept(read_text):
    asset = read_text(
        '<mujoco><size nuser_body="2"/><worldbody><body name="a" user="1 2"/></worldbody></mujoco>'
    )
    assert asset.extras.get("mjc", "body/a", "user") == [1.0, 2.0]


def test_defaults_replicate_and_frames_are_resolved(read_text, compare):
    asset = read_text(
        """<mujoco>
          <default><joint axis="0 1 0" damping="3"/><geom type="capsule" size=".02 .1"/></default>
          <worldbody>
            <frame pos="0 0 1" euler="90 0 0">
              <replicate count="3" offset="0 1 0" euler="0 0 30">
                <body name="leg" pos="1 0 0"><joint name="knee"/><geom/></body>
              </replicate>
            </frame>
          </worldbody>
        </mujoco>"""
    )
    assert [body.name for body in asset.bodies] == ["leg0", "leg1", "leg2"]
    assert all(joint.dofs[0].damping == 3.0 for joint in asset.joints)
    assert {body.source.line for body in asset.bodies} == {6}
    compare(asset)


def test_unnamed_bodies_get_names(read_text):
    asset = read_text("<mujoco><worldbody><body><body/></body><body/></worldbody></mujoco>")
    assert [body.name for body in asset.bodies] == ["body", "body_body", "body_2"]


def test_every_element_has_file_and_line(read_text):
    asset = read_text(
        '<mujoco>\n<worldbody>\n<body name="a">\n<joint name="j"/>\n<geom size="1"/>\n</body>\n'
        "</worldbody>\n</mujoco>"
    )
    assert asset.body("a").source.line == 3
    assert asset.joint("j").source.line == 4
    assert asset.shapes[0].source.line == 5
    assert asset.shapes[0].source.file.endswith("model.xml")
