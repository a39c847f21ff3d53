# SPDX-License-Identifier: Apache-2.0
"""Robots of other people: URDF to URDF, through OpenUSD and from MJCF, held to the comparison and to real parsers."""

from __future__ import annotations

from pathlib import Path

import mujoco
import pytest
from lxml import etree

from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.core.errors import UnknownNameError
from simwright.formats.format import ReadOptions
from simwright.formats.table import find_near, read_asset, write_asset
from simwright.model.asset import Asset

from .writing import Written, write

pytestmark = pytest.mark.realworld

ROBOTS = "urdf/example-robot-data/robots"
ALL = [
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
    "double_pendulum_description/urdf/double_pendulum_simple.urdf",
    "hector_description/robots/quadrotor_base.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "panda_description/urdf/panda_collision.urdf",
    "solo_description/robots/solo.urdf",
    "solo_description/robots/solo12.urdf",
    "tiago_description/robots/tiago.urdf",
    "tiago_description/robots/tiago_dual.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
]
THROUGH_USD = {
    "allegro_hand_description/urdf/allegro_left_hand.urdf": (),
    "hyq_description/robots/hyq_no_sensors.urdf": (),
    "laikago_description/urdf/laikago.urdf": (
        "contacts",
    ),  # a link that is a frame in OpenUSD touches its host
    "panda_description/urdf/panda.urdf": (),
    "solo_description/robots/solo12.urdf": (),
    "tiago_description/robots/tiago.urdf": (),
}
NOT_IN_URDF = ("sensors", "cameras", "ros", "materials")
"""What Gazebo's blocks said, and friction, which URDF has no word for."""


def name(robot: str) -> str:
    return Path(robot).stem


def read_fine(path: Path) -> Asset:
    """An OpenUSD asset with the colliders of its source where it has simpler ones as well."""
    options = ReadOptions(packages=find_near(path), variants={"collision_fidelity": "advanced"})
    try:
        return read_asset(path, options=options)
    except UnknownNameError:
        return read_asset(path)


def load_with_mujoco(written: Written) -> mujoco.MjModel:
    settings = '<mujoco><compiler fusestatic="false" strippath="false" balanceinertia="true"/></mujoco>'
    root = etree.parse(str(written.path)).getroot()
    root.insert(0, etree.fromstring(settings))
    file = written.path.with_name("for_mujoco.urdf")
    file.write_bytes(etree.tostring(root))
    return mujoco.MjModel.from_xml_path(str(file))


@pytest.mark.parametrize("robot", ALL, ids=name)
def test_urdf_to_urdf(robot: str, shared_assets: Path, tmp_path: Path, accept_urdf) -> None:
    asset = read_asset(shared_assets / ROBOTS / robot)
    written = write(asset, tmp_path)
    difference = compare_assets(asset, written.again, make_settings(ignore=NOT_IN_URDF, rtol=1e-9))
    assert difference.equal, [section.name for section in difference.sections if not section.equal]
    assert written.root.find("gazebo") is None
    accept_urdf(written.path)


@pytest.mark.parametrize("robot", THROUGH_USD, ids=name)
def test_urdf_to_usd_to_urdf(robot: str, shared_assets: Path, tmp_path: Path, accept_urdf) -> None:
    asset = read_asset(shared_assets / ROBOTS / robot)
    usd = read_fine(write_asset(asset, tmp_path / "usd", format_name="usd"))
    written = write(usd, tmp_path)
    ignored = (*NOT_IN_URDF, *THROUGH_USD[robot])
    difference = compare_assets(asset, written.again, make_settings(ignore=ignored))
    assert difference.equal, [section.name for section in difference.sections if not section.equal]
    accept_urdf(written.path)


@pytest.mark.parametrize(
    "robot", ["panda_description/urdf/panda.urdf", "solo_description/robots/solo12.urdf"], ids=name
)
def test_mujoco_reads_it(
    robot: str, shared_assets: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes its log into the working folder
    asset = read_asset(shared_assets / ROBOTS / robot)
    model = load_with_mujoco(write(asset, tmp_path, mesh_format="obj"))
    assert model.nv == sum(joint.velocities for joint in asset.joints)
    masses = {body.name: body.inertial.mass for body in asset.bodies if body.inertial}
    for body, mass in masses.items():
        number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
        if number > 0:
            assert model.body_mass[number] == pytest.approx(mass, rel=1e-9)


FROM_MJCF = [
    "trs_so_arm100/so_arm100.xml",
    "shadow_hand/right_hand.xml",
]


@pytest.mark.parametrize("robot", FROM_MJCF, ids=name)
def test_mjcf_to_usd_to_urdf_to_usd(robot: str, shared_assets: Path, tmp_path: Path, accept_urdf) -> None:
    source = read_asset(shared_assets / "mjcf" / robot)
    usd = read_fine(write_asset(source, tmp_path / "usd", format_name="usd"))
    written = write(usd, tmp_path)
    accept_urdf(written.path)
    again = read_fine(write_asset(written.again, tmp_path / "again", format_name="usd"))
    for dof in (dof for joint in usd.joints for dof in joint.dofs):
        dof.armature = None  # URDF has none, and says so
    difference = compare_assets(
        usd, again, make_settings(["bodies", "order", "poses", "masses", "motion", "visuals"])
    )
    assert difference.equal, [section.name for section in difference.sections if not section.equal]
    assert "write-lost-motion" in written.kinds
