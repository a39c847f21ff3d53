"""Real robots: MJCF to MJCF, through OpenUSD, from URDF and from USD stages, as MuJoCo sees them."""

from __future__ import annotations

from pathlib import Path

import mujoco
import numpy as np
import pytest
from lxml import etree

import simwright
from simwright.core.diag import Level, Reporter
from simwright.model.joint import Joint, JointKind
from simwright.model.kinematics import build_tree

from .compiling import (
    compile_quietly,
    difference,
    list_differences,
    list_touching,
    round_trip,
    step,
    worst_dynamics,
    write_and_compile,
)

pytestmark = pytest.mark.realworld

ROBOTS = (
    "agility_cassie/cassie", "franka_emika_panda/panda", "google_barkour_vb/barkour_vb", "kuka_iiwa_14/iiwa14",
    "robotiq_2f85/2f85", "shadow_hand/left_hand", "skydio_x2/x2", "trossen_vx300s/vx300s", "trs_so_arm100/so_arm100",
    "unitree_h1/h1",
)  # fmt: skip
SCENES = ("skydio_x2/scene", "google_barkour_vb/scene_hfield_mjx", "shadow_hand/scene_right")
CHAOTIC = ("trossen_vx300s/vx300s",)
"""Starts in contact with itself: the last bit decides where it goes."""
THROUGH_USD = ("kuka_iiwa_14/iiwa14", "robotiq_2f85/2f85", "skydio_x2/x2", "trs_so_arm100/so_arm100")
URDFS = (
    "laikago_description/urdf/laikago", "solo_description/robots/solo12", "kinova_description/robots/kinova",
    "double_pendulum_description/urdf/double_pendulum_continuous",
)  # fmt: skip
EXACT = 1e-9


@pytest.mark.parametrize("name", [*ROBOTS, *SCENES])
def test_mjcf_comes_back(name, shared_assets, tmp_path):
    source, written = round_trip(shared_assets / "mjcf" / f"{name}.xml", tmp_path / "out")
    assert not written.said.has(Level.WARNING)
    assert "mjcf-write-extras" not in written.kinds
    assert list_differences(source, written.model) == {}
    assert max(worst_dynamics(source, written.model).values()) < EXACT
    assert list_touching(source) == list_touching(written.model)
    for kind in ("joint", "body"):
        count = {"joint": source.njnt, "body": source.nbody}[kind]
        names = [(getattr(source, kind)(i).name, getattr(written.model, kind)(i).name) for i in range(count)]
        assert [a for a, b in names if a and a != b] == []
    if name not in CHAOTIC:
        assert difference(step(source, 200), step(written.model, 200)) < 1e-6


@pytest.mark.parametrize("name", THROUGH_USD)
def test_mjcf_comes_back_through_usd(name, shared_assets, tmp_path):
    path = shared_assets / "mjcf" / f"{name}.xml"
    entry = simwright.convert(path, tmp_path / "usd" / "robot.usda")
    result = simwright.convert(entry, tmp_path / "out" / "robot.xml")
    source, back = compile_quietly(path), compile_quietly(result)
    names = [(source.joint(i).name, back.joint(i).name) for i in range(source.njnt)]
    assert [a for a, b in names if a and a != b] == []
    assert difference(source.qpos0, back.qpos0) < 1e-6
    assert max(worst_dynamics(source, back).values()) < 1e-6
    assert difference(source.jnt_range, back.jnt_range) < 1e-6


def compile_urdf(path: Path):
    """MuJoCo's own reading of the links and joints of a URDF."""
    root = etree.parse(str(path), etree.XMLParser(remove_comments=True)).getroot()
    for child in list(root):
        if child.tag not in ("link", "joint"):
            root.remove(child)
    for shape in root.xpath("//visual | //collision"):
        shape.getparent().remove(shape)
    block = etree.SubElement(root, "mujoco")
    etree.SubElement(block, "compiler", fusestatic="false")
    return mujoco.MjModel.from_xml_string(etree.tostring(root).decode())


@pytest.mark.parametrize("name", URDFS)
def test_urdf_as_mujoco_reads_it(name, shared_assets, tmp_path):
    path = shared_assets / "urdf" / "example-robot-data" / "robots" / f"{name}.urdf"
    asset = simwright.load(path)
    for root in build_tree(asset).roots:  # MuJoCo holds the root of a URDF
        asset.joints.append(Joint(f"{root}_hold", JointKind.FIXED, "", root, asset.body(root).pose))
    ours, theirs = write_and_compile(asset, tmp_path / "out").model, compile_urdf(path)
    assert [theirs.joint(i).name for i in range(theirs.njnt)] == [
        ours.joint(i).name for i in range(ours.njnt)
    ]
    assert np.allclose(theirs.jnt_range, ours.jnt_range)
    worst = worst_dynamics(theirs, ours)
    assert max(worst[key] for key in ("mass", "bias", "places")) < EXACT


@pytest.mark.parametrize(
    "name",
    ["ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder", "four_link_chain_articulation",
     "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation", "simple_articulation_with_mesh"],
)  # fmt: skip
def test_usd_stage_runs(name, shared_assets, tmp_path):
    """Compiles without a warning and does not blow up."""
    reporter = Reporter()
    entry = simwright.convert(
        shared_assets / "usd" / f"{name}.usda", tmp_path / "out" / "robot.xml", reporter=reporter
    )
    model = compile_quietly(entry)
    data = mujoco.MjData(model)
    for _ in range(100):
        mujoco.mj_step(model, data)
    assert np.all(np.isfinite(data.qpos))
    assert not any(warning.number for warning in data.warning)
