"""Robots of other people: everything resolves, and MuJoCo's URDF reader sees the same machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lxml import etree

from simwright.core.diag import Level, Reporter
from simwright.formats.table import read_asset
from simwright.model.joint import JointKind
from simwright.model.kinematics import forward_kinematics

pytestmark = pytest.mark.realworld

COLLECTION = "urdf/example-robot-data/robots"
ROBOTS = [
    f"{COLLECTION}/allegro_hand_description/urdf/allegro_left_hand.urdf",
    f"{COLLECTION}/allegro_hand_description/urdf/allegro_right_hand.urdf",
    f"{COLLECTION}/double_pendulum_description/urdf/double_pendulum.urdf",
    f"{COLLECTION}/double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    f"{COLLECTION}/double_pendulum_description/urdf/double_pendulum_simple.urdf",
    f"{COLLECTION}/hector_description/robots/quadrotor_base.urdf",
    f"{COLLECTION}/hyq_description/robots/hyq_no_sensors.urdf",
    f"{COLLECTION}/kinova_description/robots/kinova.urdf",
    f"{COLLECTION}/laikago_description/urdf/laikago.urdf",
    f"{COLLECTION}/panda_description/urdf/panda.urdf",
    f"{COLLECTION}/panda_description/urdf/panda_collision.urdf",
    f"{COLLECTION}/solo_description/robots/solo.urdf",
    f"{COLLECTION}/solo_description/robots/solo12.urdf",
    f"{COLLECTION}/tiago_description/robots/tiago.urdf",
    f"{COLLECTION}/tiago_description/robots/tiago_dual.urdf",
    f"{COLLECTION}/tiago_description/robots/tiago_no_hand.urdf",
    "mjcf/google_barkour_vb/barkour_vb_rev_1_0_head_straight.urdf",
]
UNIT_MASS = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'


def test_the_list_is_complete(shared_assets: Path) -> None:
    found = {str(file.relative_to(shared_assets)) for file in (shared_assets / "urdf").rglob("*.urdf")}
    assert found <= set(ROBOTS)


def strip_for_mujoco(file: Path, *, masses: bool) -> str:
    """The file without shapes and extensions; without ``masses``, with the same unit mass everywhere.

    MuJoCo refuses inertias that are not positive definite, which some of these files have.
    """
    root = etree.fromstring(file.read_bytes())
    for tag in ("visual", "collision", "gazebo", "transmission", "material", "mujoco"):
        for element in list(root.iter(tag)):
            parent = element.getparent()
            if parent is not None:
                parent.remove(element)
    if not masses:
        for link in root.iter("link"):
            for element in link.findall("inertial"):
                link.remove(element)
            link.append(etree.fromstring(UNIT_MASS))
    settings = '<mujoco><compiler fusestatic="false" balanceinertia="true"/></mujoco>'
    root.insert(0, etree.fromstring(settings))
    return str(etree.tostring(root, encoding="unicode"))


def compile_for_mujoco(file: Path) -> tuple[Any, bool]:
    """The compiled model, and whether its masses are those of the file."""
    import mujoco

    try:
        return mujoco.MjModel.from_xml_string(strip_for_mujoco(file, masses=True)), True
    except ValueError:
        return mujoco.MjModel.from_xml_string(strip_for_mujoco(file, masses=False)), False


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: Path(robot).stem)
def test_mujoco_sees_the_same_machine(
    robot: str, shared_assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mujoco

    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the working folder
    reporter = Reporter()
    asset = read_asset(shared_assets / robot, reporter=reporter)
    assert not reporter.has(Level.ERROR), [str(found) for found in reporter if found.level is Level.ERROR]
    assert asset.shapes
    model, with_masses = compile_for_mujoco(shared_assets / robot)

    names = [model.joint(i).name for i in range(model.njnt)]
    assert sorted(names) == sorted(j.name for j in asset.joints if j.kind is not JointKind.FIXED)
    assert model.nbody - 1 == len(asset.bodies)
    if with_masses:
        total = sum(body.inertial.mass for body in asset.bodies if body.inertial)
        assert model.body_mass.sum() == pytest.approx(total, abs=1e-9)

    data = mujoco.MjData(model)
    random = np.random.default_rng(7)
    for _ in range(3):
        q = {name: random.uniform(-2.0, 2.0) for name in names}
        for i, name in enumerate(names):
            data.qpos[model.jnt_qposadr[i]] = q[name]
        mujoco.mj_kinematics(model, data)
        ours = forward_kinematics(asset, q)
        for body in asset.bodies:
            theirs = data.body(body.name)
            assert np.allclose(ours[body.name].p, theirs.xpos, atol=1e-9)
            assert np.allclose(ours[body.name].rotation.ravel(), theirs.xmat, atol=1e-9)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: Path(robot).stem)
def test_mujoco_sees_the_same_inertia(
    robot: str, shared_assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import mujoco

    monkeypatch.chdir(tmp_path)
    asset = read_asset(shared_assets / robot)
    model, with_masses = compile_for_mujoco(shared_assets / robot)
    if not with_masses:
        pytest.skip("MuJoCo refuses an inertia of this file")
    compared = 0
    for body in asset.bodies:
        assert body.inertial is not None
        if body.inertial.mass == 0 or not body.inertial.is_physical(1e-9):
            continue  # MuJoCo balances what is not physical
        theirs = model.body(body.name)
        assert np.allclose(body.inertial.com, theirs.ipos, atol=1e-9)
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, theirs.iquat)
        matrix = turn.reshape(3, 3)
        inertia = matrix * theirs.inertia @ matrix.T
        assert np.allclose(body.inertial.inertia, inertia, rtol=1e-6, atol=1e-9)
        compared += 1
    assert compared


def test_tiago_keeps_its_sensors_motors_and_topics(shared_assets: Path) -> None:
    asset = read_asset(shared_assets / COLLECTION / "tiago_description/robots/tiago.urdf")
    assert [sensor.kind for sensor in asset.sensors] == ["imu", "imu", "depth_camera"]
    assert [camera.body for camera in asset.cameras] == ["xtion_rgb_frame"]
    assert "xtion/rgb/image_raw" in {interface.name for interface in asset.interfaces}
    assert len(asset.actuators) == 48
    assert {shape.body for shape in asset.shapes} <= {body.name for body in asset.bodies}


def test_meshes_are_shared_and_unread(shared_assets: Path) -> None:
    asset = read_asset(shared_assets / COLLECTION / "panda_description/urdf/panda.urdf")
    meshes = [shape.geometry for shape in asset.shapes if shape.geometry.kind == "mesh"]
    assert len({id(mesh) for mesh in meshes}) < len(meshes)
    assert not any(mesh.is_loaded for mesh in meshes)  # type: ignore[union-attr]


def test_packages_without_a_manifest_are_found_by_their_folder_name(shared_assets: Path) -> None:
    reporter = Reporter()
    folder = shared_assets / "mjcf" / "google_barkour_vb"
    read_asset(folder / "barkour_vb_rev_1_0_head_straight.urdf", reporter=reporter)
    assert "mesh-missing" not in {found.kind for found in reporter}
