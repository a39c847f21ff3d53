"""Drives of joints as MuJoCo's servos: the same force at any state."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

from simwright.core.math3d import vec3
from simwright.model.asset import Actuator, Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Equality, EqualityKind, Joint, JointKind, Motion

from .compiling import write_and_compile


def make_asset(drive: Drive | None) -> Asset:
    asset = Asset("m", bodies=[Body("a", inertial=Inertial(1.0, vec3(), np.eye(3)))])
    dof = Dof(Motion.HINGE, name="j", drive=drive)
    asset.joints = [Joint("j", JointKind.REVOLUTE, "", "a", dofs=[dof])]
    return asset


@pytest.mark.parametrize(
    "drive",
    [
        Drive(30.0, 2.0, target_position=0.4, max_force=9.0),
        Drive(30.0, 2.0, target_position=0.4, target_velocity=1.5),
        Drive(30.0, 0.0, target_position=-0.4),
        Drive(0.0, 2.0, target_velocity=1.5, max_force=1.0),
    ],
)
def test_a_drive_makes_its_force(drive, tmp_path):
    written = write_and_compile(make_asset(drive), tmp_path)
    model = written.model
    data = mujoco.MjData(model)
    mujoco.mj_resetDataKeyframe(model, data, 0)  # its controls are the targets
    for q, v in ((0.0, 0.0), (0.3, -1.0), (-0.7, 2.0)):
        data.qpos[0], data.qvel[0] = q, v
        mujoco.mj_forward(model, data)
        force = drive.stiffness * (drive.target_position - q) + drive.damping * (drive.target_velocity - v)
        expected = float(np.clip(force, -drive.max_force, drive.max_force))
        assert data.qfrc_actuator[0] == pytest.approx(expected)
    assert model.actuator(0).name == "j"
    assert ("mjcf-write-integrator" in written.kinds) is bool(drive.damping)


def test_a_drive_without_gains_is_a_motor(tmp_path):
    written = write_and_compile(make_asset(Drive(max_force=3.0)), tmp_path)
    assert written.root.find("actuator")[0].tag == "motor"
    assert np.allclose(written.model.actuator_forcerange[0], (-3.0, 3.0))


def test_accelerations_are_reported(tmp_path):
    written = write_and_compile(make_asset(Drive(30.0, 2.0, acceleration=True)), tmp_path)
    assert [d.kind for d in written.said] == ["mjcf-write-drive-acceleration"]
    assert written.model.nu == 0


def test_plain_actuators_of_other_formats(tmp_path):
    asset = make_asset(None)
    asset.actuators = [
        Actuator("servo", "position", "j", stiffness=5.0, damping=0.5, control_range=(-1.0, 1.0)),
        Actuator("speed", "velocity", "j", damping=2.0),
        Actuator("motor", "motor", "j", gear=(10.0,), force_range=(-2.0, 2.0)),
        Actuator("table", "motor", "j", settings={"effort_table": {"positions": [0.0], "efforts": [1.0]}}),
        Actuator("lost", "motor", "nothing"),
    ]
    written = write_and_compile(asset, tmp_path)
    model = written.model
    assert model.nu == 4
    assert np.allclose(model.actuator("servo").gainprm[0], 5.0)
    assert np.allclose(model.actuator("servo").biasprm[:3], (0.0, -5.0, -0.5))
    assert np.allclose(model.actuator("speed").biasprm[:3], (0.0, 0.0, -2.0))
    assert model.actuator_gear[2, 0] == 10.0
    assert {d.kind for d in written.said} == {"mjcf-write-not-carried", "mjcf-write-setting-lost"}


def test_a_law_that_says_only_its_gain(tmp_path):
    asset = make_asset(None)
    asset.actuators = [Actuator("a", "general", "j", settings={"gain_type": "fixed", "gain": [3.0]})]
    model = write_and_compile(asset, tmp_path).model
    assert model.actuator_gainprm[0, 0] == 3.0
    assert not model.actuator_biasprm.any()


def test_a_motor_on_a_body_is_told(tmp_path):
    asset = make_asset(None)
    asset.actuators = [Actuator("a", "motor", "a", transmission="body")]
    written = write_and_compile(asset, tmp_path)
    assert written.model.nu == 0
    assert "mjcf-write-not-carried" in written.kinds


def test_ends_that_stay_together(tmp_path):
    asset = make_asset(None)
    asset.equalities = [Equality("e", EqualityKind.DISTANCE, "a", "")]
    model = write_and_compile(asset, tmp_path).model
    assert model.tendon_range[0].tolist() == [0.0, 1e-9]
