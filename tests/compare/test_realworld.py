"""Real robots, converted to OpenUSD and read back, are the same machines as their sources."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from pxr import Sdf, Usd

import simwright
from simwright.usd.notes import SPACE, find_marks

# scripts/compare_conversions.py goes through every robot
MJCF = (
    "agility_cassie/cassie.xml", "franka_emika_panda/panda.xml", "google_barkour_vb/barkour_vb.xml",
    "kuka_iiwa_14/iiwa14.xml", "robotiq_2f85/2f85.xml", "shadow_hand/right_hand.xml", "skydio_x2/x2.xml",
    "trossen_vx300s/vx300s.xml", "trs_so_arm100/so_arm100.xml", "unitree_h1/h1.xml",
)  # fmt: skip
URDF = (
    "allegro_hand_description/urdf/allegro_left_hand.urdf",
    "double_pendulum_description/urdf/double_pendulum.urdf",
    "hector_description/robots/quadrotor_base.urdf",
    "hyq_description/robots/hyq_no_sensors.urdf",
    "kinova_description/robots/kinova.urdf",
    "laikago_description/urdf/laikago.urdf",
    "panda_description/urdf/panda.urdf",
    "tiago_description/robots/tiago_no_hand.urdf",
)
SDF = (
    "ball_prismatic_joint.sdf", "basic_shapes.sdf", "double_pendulum.sdf", "ellipsoid.sdf", "joint_parent_world.sdf",
    "lights.sdf", "model_link_relative_to.sdf", "usd_sensors.sdf",
)  # fmt: skip
NAMES = [
    *(f"mjcf/{name}" for name in (*MJCF, "google_barkour_vb/scene_hfield_mjx.xml")),
    *(f"urdf/example-robot-data/robots/{name}" for name in URDF),
    *(f"sdf/{name}" for name in SDF),
]


PLAIN = [
    *(f"mjcf/{name}" for name in MJCF),
    "urdf/example-robot-data/robots/laikago_description/urdf/laikago.urdf",
    "urdf/example-robot-data/robots/panda_description/urdf/panda.urdf",
    "sdf/double_pendulum.sdf",
]


@dataclass(frozen=True)
class Conversion:
    """A robot, and the entry layer of what became of it."""

    source: simwright.Asset
    entry: Path


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Path], Conversion]:
    """Converts a robot once."""
    known: dict[Path, Conversion] = {}

    def convert(path: Path) -> Conversion:
        if not path.exists():
            pytest.skip(f"{path.name} is absent")
        if path not in known:
            entry = simwright.convert(path, tmp_path_factory.mktemp("converted") / path.stem)
            known[path] = Conversion(simwright.load(path), entry)
        return known[path]

    return convert


@pytest.mark.realworld
@pytest.mark.parametrize("name", NAMES)
def test_the_result_is_the_same_machine(name, shared_assets, converted):
    conversion = converted(shared_assets / name)
    difference = simwright.diff(conversion.source, conversion.entry)
    told = {s.name: (s.items[:3], s.figures) for s in difference.sections if not s.equal}
    assert not told
    assert difference.section("bodies").compared > 0


@pytest.mark.realworld
@pytest.mark.parametrize("name", PLAIN)
def test_who_reads_no_notes_sees_it_in_single_precision(name, shared_assets, converted, tmp_path):
    """Other tools know nothing of notes: what UsdPhysics says has to do."""
    conversion = converted(shared_assets / name)
    folder = tmp_path / "plain"
    shutil.copytree(conversion.entry.parent, folder)
    for file in folder.rglob("*.usd*"):
        layer = Sdf.Layer.FindOrOpen(str(file))
        if layer.HasCustomLayerData():
            layer.customLayerData = {k: v for k, v in layer.customLayerData.items() if k != SPACE}
            layer.Save()
    difference = simwright.diff(
        conversion.source, folder / conversion.entry.name, only=("poses", "masses", "motion")
    )
    errors = {figure.name: figure.error for section in difference.sections for figure in section.figures}
    assert difference.equal, errors
    assert not find_marks(Usd.Stage.Open(str(folder / conversion.entry.name)).GetUsedLayers())
