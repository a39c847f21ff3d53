"""A converted asset that is converted again stays what it is, and nothing of it is lost."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_colliders import make_asset, make_bowl
from writing import make_trip

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.model.asset import Camera, Sensor, Shape
from simwright.model.geometry import Mesh
from simwright.model.material import RenderMaterial

SAMPLES = (
    "arm/urdf/arm.urdf.xacro", "box/box.usda", "floor/floor.usda", "fourbar/fourbar.usda", "quadruped/quadruped.xml",
    "quadruped/scene.xml", "rack/rack.usda", "rover/model.sdf", "warehouse/warehouse.sdf",
)  # fmt: skip
ROBOTS = (
    "mjcf/agility_cassie/cassie.xml", "mjcf/google_barkour_vb/barkour_vb.xml", "mjcf/robotiq_2f85/2f85.xml",
    "mjcf/shadow_hand/right_hand.xml", "mjcf/skydio_x2/x2.xml", "mjcf/trossen_vx300s/vx300s.xml",
    "mjcf/trs_so_arm100/so_arm100.xml", "urdf/example-robot-data/robots/kinova_description/robots/kinova.urdf",
    "sdf/empty.sdf", "sdf/usd_sensors.sdf",
)  # fmt: skip


def assert_stays(source: Path, folder: Path) -> None:
    first = simwright.convert(source, folder / "first")
    reporter = Reporter()
    second = simwright.convert(first, folder / "second", reporter=reporter)
    assert [d.message for d in reporter if d.loss] == []
    difference = simwright.diff(first, second)
    assert {s.name: s.items[:3] for s in difference.sections if not s.equal} == {}


@pytest.mark.parametrize("name", SAMPLES)
def test_samples_stay(name, samples, tmp_path):
    assert_stays(samples / name, tmp_path)


@pytest.mark.realworld
@pytest.mark.parametrize("name", ROBOTS)
def test_robots_stay(name, shared_assets, tmp_path):
    if not (shared_assets / name).exists():
        pytest.skip(f"{name} is absent")
    assert_stays(shared_assets / name, tmp_path)


def test_what_mujoco_alone_says_of_looks_cameras_and_sensors_stays(tmp_path):
    """Also of a visual that is an instance, where it is said at the root of the instance."""
    bowl = make_bowl()
    shapes = [Shape(f"bowl_{n}", Mesh(bowl.data), material="paint") for n in range(4)]
    asset = make_asset(*shapes)
    asset.provenance.format = "mjcf"
    asset.materials = [RenderMaterial("paint")]
    asset.cameras = [Camera("eye", "part")]
    asset.sensors = [Sensor("gyro", "gyro", "part")]
    said = {
        "material/paint": ("shininess", 0.3), "camera/eye": ("mode", "track"), "sensor/gyro": ("user", [1.0, 2.0]),
        "geom/bowl_1": ("solref", [0.005, 1.0]),
    }  # fmt: skip
    for element, (attribute, value) in said.items():
        asset.extras.keep("mjc", element, attribute, value)
    first = make_trip(asset, tmp_path / "first")
    again = make_trip(first.back, tmp_path / "second")
    assert [d.message for d in again.said if d.loss] == []
    told = [_list_extras(trip.back) for trip in (first, again)]
    assert told[0] == told[1]
    assert len(told[0]) >= len(said)


def _list_extras(asset: simwright.Asset) -> dict[tuple[str, str], str]:
    return {
        (element, name): str(extra.value) for space, element, name, extra in asset.extras if space == "mjc"
    }


@pytest.mark.parametrize("name", ["base", "Physics", "mujoco"])
def test_an_asset_with_the_name_of_a_layer(name, tmp_path):
    file = tmp_path / "source" / "robot.urdf"
    file.parent.mkdir()
    file.write_text(f'<robot name="{name}"><link name="a"/></robot>')
    entry = simwright.convert(file, tmp_path / "out")
    assert entry.name == f"{name}_asset.usda"
    again = simwright.load(entry)
    assert (again.name, [body.name for body in again.bodies]) == (name, ["a"])
    with pytest.raises(UsageError, match="cannot be called"):
        simwright.convert(file, tmp_path / "other" / f"{name.lower()}.usda")
