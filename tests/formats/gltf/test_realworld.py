"""Real robots and scenes: Khronos' validator finds nothing, and the mass is still there."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest

import simwright
from simwright.model.mass import body_inertials

from .reading import open_gltf

USD = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder", "four_link_chain_articulation",
    "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation", "simple_articulation_with_mesh",
)  # fmt: skip
ROBOTS = (
    "mjcf/franka_emika_panda/panda.xml", "mjcf/unitree_h1/h1.xml", "mjcf/skydio_x2/x2.xml",
    "urdf/example-robot-data/robots/tiago_description/robots/tiago.urdf", "sdf/basic_shapes.sdf", "sdf/lights.sdf",
)  # fmt: skip
SCHEMA = Path(simwright.__file__).parent / "formats" / "gltf" / "physics.v1.schema.json"


def check(source, folder, accept_gltf, **writing):
    file = simwright.convert(source, folder / "out.glb", **writing)
    report = json.loads(accept_gltf(file))
    assert (report["issues"]["numErrors"], report["issues"]["numWarnings"]) == (0, 0)
    document = open_gltf(file)
    block = document.rows.get("extras", {}).get("simwright", {}).get("physics")
    if block is not None:
        jsonschema.validate(block, json.loads(SCHEMA.read_text()))
        inertials = body_inertials(simwright.load(source))
        expected = sum(inertial.mass for inertial in inertials.values() if inertial.mass > 0)
        assert sum(body.get("mass", 0.0) for body in block["bodies"]) == pytest.approx(expected)
    return document


@pytest.mark.realworld
@pytest.mark.parser
@pytest.mark.parametrize("name", USD)
def test_stages(name, shared_assets, tmp_path, accept_gltf):
    check(shared_assets / "usd" / f"{name}.usda", tmp_path, accept_gltf)


@pytest.mark.realworld
@pytest.mark.parser
@pytest.mark.parametrize("name", ROBOTS, ids=lambda name: Path(name).stem)
def test_robots(name, shared_assets, tmp_path, accept_gltf):
    check(shared_assets / name, tmp_path, accept_gltf)


@pytest.mark.realworld
@pytest.mark.parser
def test_fewer_bits_of_a_robot(shared_assets, tmp_path, accept_gltf):
    source = shared_assets / "mjcf/franka_emika_panda/panda.xml"
    check(source, tmp_path, accept_gltf, quantize=True, collision=True)


@pytest.mark.parser
@pytest.mark.parametrize(
    "name",
    [
        "arm/urdf/arm.urdf.xacro", "quadruped/quadruped.xml", "rover/model.sdf", "box/box.usda", "floor/floor.usda",
        "fourbar/fourbar.usda", "rack/rack.usda", "warehouse/warehouse.usda",
    ],
)  # fmt: skip
def test_samples(name, samples, tmp_path, accept_gltf):
    check(samples / name, tmp_path, accept_gltf)


@pytest.mark.realworld
def test_through_openusd(shared_assets, tmp_path):
    """MJCF -> OpenUSD -> glTF shows the same bodies at the same places as MJCF -> glTF."""
    source = shared_assets / "mjcf/franka_emika_panda/panda.xml"
    direct = open_gltf(simwright.convert(source, tmp_path / "direct.glb"))
    stage = simwright.convert(source, tmp_path / "usd" / "panda.usda")
    trip = open_gltf(simwright.convert(stage, tmp_path / "trip.glb"))
    for body in direct["extras"]["simwright"]["physics"]["bodies"]:
        there = trip.world(trip.find(body["name"]))
        assert there == pytest.approx(direct.world(body["node"]), abs=1e-6)
    looks = [{m["name"] for m in document["materials"]} for document in (direct, trip)]
    assert looks[0] == looks[1]
