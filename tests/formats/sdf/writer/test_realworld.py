# SPDX-License-Identifier: Apache-2.0
"""Models and robots of other people: SDFormat to SDFormat, through OpenUSD, from URDF and MJCF, held to libsdformat."""

from __future__ import annotations

from pathlib import Path

import pytest

import simwright
from simwright.compare.difference import make_settings
from simwright.compare.run import compare_assets
from simwright.formats.table import read_asset
from simwright.model.asset import Asset

from .writing import Written, write

pytestmark = pytest.mark.realworld

CASSIE = "urdf/example-robot-data/robots/cassie_description/robots"
ROBOTS = "urdf/example-robot-data/robots"
ALL = {
    **{f"sdf/{name}.sdf": () for name in (
        "ball_prismatic_joint", "basic_shapes", "double_pendulum", "ellipsoid", "ellipsoid_model", "empty",
        "joint_parent_world", "lights", "model_link_relative_to",
    )},
    "sdf/usd_sensors.sdf": ("sensors",),  # an element that is spelled wrong is not written again
    **{f"{CASSIE}/{name}.sdf": () for name in (
        "cassie_reduced", "cassie_v2",
    )},
    f"{CASSIE}/cassie.sdf": ("masses", "motion"),  # two inertias that libsdformat refuses are corrected
}  # fmt: skip
FROM_URDF = {
    "double_pendulum_description/urdf/double_pendulum.urdf": (),
    "hector_description/robots/quadrotor_base.urdf": (),
    "kinova_description/robots/kinova.urdf": ("actuators",),
    "panda_description/urdf/panda.urdf": ("limits",),  # safety controllers have no place
    "solo_description/robots/solo12.urdf": (),
}
FROM_MJCF = {
    "google_barkour_vb/barkour_vb.xml": (),
    "robotiq_2f85/2f85.xml": (),
    "shadow_hand/right_hand.xml": (),
    "trs_so_arm100/so_arm100.xml": (),
}
MACHINE = (
    "bodies",
    "joints",
    "order",
    "limits",
    "poses",
    "gravity",
    "masses",
    "motion",
    "collisions",
    "contacts",
)


def name(path: str) -> str:
    return Path(path).stem


def check(
    source: Asset, written: Written, *, only: tuple[str, ...] = (), ignore: tuple[str, ...] = ()
) -> None:
    difference = compare_assets(source, written.again, make_settings(only, ignore))
    assert difference.equal, [(s.name, s.items[:3]) for s in difference.sections if not s.equal]


@pytest.mark.parametrize("path", ALL, ids=name)
def test_sdf_to_sdf(path: str, shared_assets: Path, tmp_path: Path, accept_sdf) -> None:
    source = read_asset(shared_assets / path)
    written = write(source, tmp_path)
    check(source, written, ignore=ALL[path])
    assert accept_sdf(written.path) == ""


@pytest.mark.parametrize("path", ALL, ids=name)
def test_sdf_to_usd_to_sdf(path: str, shared_assets: Path, tmp_path: Path, accept_sdf) -> None:
    source = read_asset(shared_assets / path)
    usd = simwright.convert(shared_assets / path, tmp_path / "usd")
    file = simwright.convert(usd, tmp_path / "again" / "robot.sdf")
    difference = compare_assets(source, read_asset(file), make_settings(ignore=ALL[path]))
    assert difference.equal, [(s.name, s.items[:3]) for s in difference.sections if not s.equal]
    assert accept_sdf(file) == ""


@pytest.mark.parametrize("path", FROM_URDF, ids=name)
def test_urdf_to_sdf(path: str, shared_assets: Path, tmp_path: Path, accept_sdf) -> None:
    source = read_asset(shared_assets / ROBOTS / path)
    written = write(source, tmp_path)
    check(source, written, ignore=FROM_URDF[path])
    oldest = write(source, tmp_path, sdf_version="1.9")
    assert accept_sdf(oldest.path) == ""


@pytest.mark.parametrize("path", FROM_MJCF, ids=name)
def test_mjcf_to_sdf(path: str, shared_assets: Path, tmp_path: Path, accept_sdf) -> None:
    source = read_asset(shared_assets / "mjcf" / path)
    written = write(source, tmp_path, sdf_version="1.9")
    check(source, written, only=MACHINE, ignore=FROM_MJCF[path])
    assert accept_sdf(written.path) == ""
