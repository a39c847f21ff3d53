"""Real robots, written: no errors, only warnings that a person has to decide on, and OpenUSD's validators are silent.

Every warning that is left is named when the robot is converted.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Usd, UsdValidation

import simwright
from simwright.core.diag import Reporter

PACKAGE = "urdf/example-robot-data"
MJCF = (
    "agility_cassie/cassie.xml", "franka_emika_panda/panda.xml", "google_barkour_vb/barkour_vb.xml",
    "google_barkour_vb/scene_hfield_mjx.xml", "kuka_iiwa_14/iiwa14.xml", "robotiq_2f85/2f85.xml",
    "shadow_hand/right_hand.xml", "skydio_x2/x2.xml", "trossen_vx300s/vx300s.xml", "trs_so_arm100/so_arm100.xml",
    "unitree_h1/h1.xml",
)  # fmt: skip
URDF = (
    "allegro_hand_description/urdf/allegro_left_hand.urdf", "double_pendulum_description/urdf/double_pendulum.urdf",
    "hector_description/robots/quadrotor_base.urdf", "hyq_description/robots/hyq_no_sensors.urdf",
    "kinova_description/robots/kinova.urdf", "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf", "solo_description/robots/solo12.urdf",
    "tiago_description/robots/tiago_dual.urdf",
)  # fmt: skip
SDF = (
    "ball_prismatic_joint.sdf", "basic_shapes.sdf", "double_pendulum.sdf", "ellipsoid.sdf", "ellipsoid_model.sdf",
    "empty.sdf", "joint_parent_world.sdf", "lights.sdf", "model_link_relative_to.sdf", "usd_sensors.sdf",
)  # fmt: skip
FILES = (
    *(f"mjcf/{name}" for name in MJCF),
    *(f"{PACKAGE}/robots/{name}" for name in URDF),
    *(f"sdf/{name}" for name in SDF),
)
NAMED = {
    "name-absolute": "usd-write-topic-absolute",
    "dummy-no-rigidbody": "usd-write-body-bare",
    "joint-limits": "usd-write-slide-endless",
    "light-colocate": "usd-write-light-bare",
    "light-no-emissive-illum": "usd-write-glow-dark",
}
"""Warning of the checker -> what the conversion said about it."""


@pytest.mark.realworld
@pytest.mark.parametrize("file", FILES, ids=lambda file: file.rpartition("/")[2])
def test_robot(file: str, shared_assets: Path, tmp_path: Path) -> None:
    said = Reporter()
    packages = {"example-robot-data": shared_assets / PACKAGE}
    entry = simwright.convert(shared_assets / file, tmp_path / "out", packages=packages, reporter=said)
    kinds = {d.kind for d in said}
    (report,) = simwright.check(entry).assets
    found = [finding for finding in report.findings if finding.level.name != "INFO"]
    assert [f"{f.kind}: {f.message}" for f in found if f.level.name == "ERROR"] == []
    assert {f.kind for f in found} <= set(NAMED)
    assert {NAMED[f.kind] for f in found} <= kinds
    stage = Usd.Stage.Open(str(entry))
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    assert len(validators) >= 30
    errors = UsdValidation.ValidationContext(validators).Validate(stage)
    assert [f"{error.GetName()}: {error.GetMessage()}" for error in errors] == []


@pytest.mark.realworld
@pytest.mark.parametrize("file", [FILES[2], f"{PACKAGE}/robots/hyq_description/robots/hyq_no_sensors.urdf"])
def test_same_bytes_twice(file: str, shared_assets: Path, tmp_path: Path) -> None:
    packages = {"example-robot-data": shared_assets / PACKAGE}
    first, second = (
        simwright.convert(shared_assets / file, tmp_path / name, packages=packages).parent for name in "ab"
    )
    names = sorted(str(path.relative_to(first)) for path in first.rglob("*") if path.is_file())
    assert names == sorted(str(path.relative_to(second)) for path in second.rglob("*") if path.is_file())
    assert [name for name in names if (first / name).read_bytes() != (second / name).read_bytes()] == []
