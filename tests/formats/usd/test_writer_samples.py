"""Every sample becomes a compliant asset, and is the same robot when it is read back."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Usd
from writing import assert_same_bodies, assert_same_joints, assert_same_shapes, make_trip

import simwright
from simwright.core.diag import Level, Reporter
from simwright.formats.usd.writer.entry import build_layers
from simwright.usd.layers import encode_layer

SAMPLES = [
    "arm/urdf/arm.urdf.xacro",
    "rover/model.sdf",
    "quadruped/quadruped.xml",
    "quadruped/scene.xml",
    "box/box.usda",
    "rack/rack.usda",
    "fourbar/fourbar.usda",
]
SHARED = [
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder", "four_link_chain_articulation",
    "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation", "simple_articulation_with_mesh",
]  # fmt: skip
ONLY_THESE = {"jname-aligned"}
"""A joint and its child link of one name cannot both keep it: they are siblings."""


def assert_good(file: Path, folder: Path) -> None:
    trip = make_trip(simwright.load(file), folder)
    assert trip.stage.GetCompositionErrors() == []
    report = simwright.check(trip.entry, profile="all")
    findings = [d for asset in report.assets for d in asset.findings]
    assert [str(d) for d in findings if d.level is Level.ERROR] == []
    assert {d.kind for d in findings if d.level is Level.WARNING} <= ONLY_THESE
    assert_same_bodies(trip)
    assert_same_joints(trip)
    assert_same_shapes(trip)


@pytest.mark.parametrize("name", SAMPLES)
def test_sample(name, samples, tmp_path):
    assert_good(samples / name, tmp_path / "out")


@pytest.mark.realworld
@pytest.mark.parametrize("name", SHARED)
def test_shared_asset(name, shared_assets, tmp_path):
    assert_good(shared_assets / "usd" / f"{name}.usda", tmp_path / "out")


def _build_files(source: Path) -> dict[str, bytes]:
    layers, images = build_layers(simwright.load(source), "x.usda", Reporter())
    return {file: encode_layer(layer.sdf, Path(file).suffix) for file, layer in layers.items()} | images.files


@pytest.mark.parametrize("name", ["arm/urdf/arm.urdf.xacro", "rover/model.sdf", "fourbar/fourbar.usda"])
def test_bytes_are_the_same_twice(name, samples):
    first, second = (_build_files(samples / name) for _ in range(2))
    assert list(first) == list(second)
    assert [file for file in first if first[file] != second[file]] == []


def test_second_conversion_changes_nothing(samples, tmp_path):
    """What was written is already compliant: writing it again gives the same bodies, joints and shapes."""
    once = make_trip(simwright.load(samples / "arm/urdf/arm.urdf.xacro"), tmp_path / "once")
    twice = make_trip(once.back, tmp_path / "twice")
    assert_same_bodies(twice)
    assert_same_joints(twice)
    assert_same_shapes(twice)
    assert "usd-write-contact-guessed" not in twice.kinds


def test_layers_of_an_arm(samples, tmp_path):
    trip = make_trip(simwright.load(samples / "arm/urdf/arm.urdf.xacro"), tmp_path / "arm")
    assert {file.name for file in trip.entry.parent.iterdir()} == {
        "simwright_arm.usda", "base.usda", "instances.usda", "geometries.usdc", "materials.usda", "physics.usda",
        "extended_physics.usda", "ros.usda", "sensors.usda", "gazebo.usda", "newton.usda", "mujoco.usda",
    }  # fmt: skip
    stage = trip.stage
    roots = [p.GetPath() for p in stage.Traverse() if "PhysicsArticulationRootAPI" in p.GetAppliedSchemas()]
    assert roots == ["/simwright_arm/base_mount"]
    assert stage.GetPrimAtPath("/simwright_arm/base_mount").GetTypeName() == "PhysicsFixedJoint"
    assert trip.back.mimics[0].leader == "left_finger_joint"
    arm, back = trip.asset.joint("joint_1").dofs[0], trip.back.joint("joint_1").dofs[0]
    for field in ("friction", "damping", "effort_limit", "velocity_limit"):
        assert getattr(back, field) == pytest.approx(getattr(arm, field), rel=1e-6)


def test_physics_is_there_without_payloads(samples, tmp_path):
    trip = make_trip(simwright.load(samples / "fourbar/fourbar.usda"), tmp_path / "out")
    bare = Usd.Stage.Open(str(trip.entry), Usd.Stage.LoadNone)
    loop = bare.GetPrimAtPath("/fourbar/base_link/crank/coupler/loop_joint")
    assert loop.GetAttribute("physics:excludeFromArticulation").Get() is True


def test_finer_colliders_are_a_choice(samples, tmp_path):
    trip = make_trip(simwright.load(samples / "arm/urdf/arm.urdf.xacro"), tmp_path / "arm")
    finger = next(s for s in trip.back.shapes if s.name == "left_finger_collision")
    assert finger.approximation.token == "convexHull"
    fine = simwright.load(trip.entry, variants={"collision_fidelity": "advanced"})
    assert next(s for s in fine.shapes if s.name == "left_finger_collision").approximation.token == "none"
