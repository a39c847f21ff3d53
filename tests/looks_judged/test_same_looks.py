"""The GLB of a textured robot has the colours that MuJoCo shows of its source, by Blender's eyes.

``SIMWRIGHT_MENAGERIE`` may name a copy of MuJoCo Menagerie, of which more robots are looked at.
"""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scripts.looks.comparing import SIZE, Outcome, View, compare, draw_copies, draw_source, save_pair
from tests.conftest import SAMPLES, SHARED_ASSETS

import simwright

MEAN, REGION, SHARE = 6.0, 8.0, 0.8
"""Levels of 255 between single pixels (edges of images are drawn differently) and of a geom, and the part compared."""
SHAPES = """<mujoco model="shapes">
  <asset>
    <texture name="cross" type="2d" builtin="gradient" mark="cross" rgb1="0.9 0.3 0.1" rgb2="0.1 0.2 0.9"
             markrgb="0.8 0.9 0.2" width="64" height="48"/>
    <texture name="check" type="2d" builtin="checker" mark="edge" rgb1="0.2 0.3 0.4" rgb2="0.1 0.6 0.3"
             markrgb="0.8 0.8 0.8" width="64" height="64"/>
    <texture name="photo" type="2d" file="photo.png"/>
    <texture name="upside" type="2d" file="photo.png" vflip="true"/>
    <texture name="skin" type="cube" builtin="gradient" mark="cross" rgb1="0.8 0.3 0.4" rgb2="0.1 0.2 0.3"
             markrgb="0.8 0.8 0.8" width="64" height="384"/>
    <material name="floor" texture="check" texrepeat="5 5" texuniform="true" rgba="0.5 0.6 0.7 1"/>
    <material name="checked" texture="check" texrepeat="2 3.5"/>
    <material name="crossed" texture="cross"/>
    <material name="printed" texture="photo"/>
    <material name="turned" texture="upside"/>
    <material name="skinned" texture="skin"/>
    <material name="wrapped" texture="skin" texuniform="true"/>
    <material name="grey" rgba="0.5 0.5 0.5 1"/>
    <mesh name="wedge" vertex="0 0 0  .4 0 0  0 .3 0  .4 .3 0  0 0 .3  0 .3 .3"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 .1" material="floor" pos="0 0 -.3"/>
    <geom name="sheet" type="plane" size=".5 .3 .1" material="crossed" pos="1 0 .01"/>
    <geom name="box" type="box" size=".1 .2 .3" material="checked"/>
    <geom name="ball" size=".2" pos="0 .5 .1" material="checked"/>
    <geom name="cylinder" type="cylinder" size=".1 .2" pos="0 1 0" material="checked"/>
    <geom name="capsule" type="capsule" size=".1 .2" pos="0 1.4 0" material="crossed"/>
    <geom name="egg" type="ellipsoid" size=".1 .2 .3" pos="0 -.5 0" material="crossed"/>
    <geom name="wedge" type="mesh" mesh="wedge" pos=".4 .6 -.1" material="printed"/>
    <geom name="card" type="box" size=".2 .2 .01" pos=".8 .6 -.2" material="turned"/>
    <geom name="cube box" type="box" size=".1 .2 .3" pos="-.6 0 0" material="skinned"/>
    <geom name="cube ball" size=".2" pos="-.6 .5 .1" material="skinned"/>
    <geom name="cube cylinder" type="cylinder" size=".1 .2" pos="-.6 1 0" material="skinned"/>
    <geom name="cube capsule" type="capsule" size=".1 .2" pos="-.6 1.4 0" material="wrapped"/>
    <geom name="tinted" type="box" size=".1 .1 .1" pos=".5 -.5 0" material="checked" rgba="1 .4 .4 1"/>
    <geom name="painted" type="box" size=".1 .1 .1" pos=".8 -.5 0" material="grey" rgba=".2 .7 .3 1"/>
    <geom name="grey" type="box" size=".1 .1 .1" pos="1.1 -.5 0" material="grey"/>
  </worldbody>
</mujoco>"""
ROBOTS = (
    "agility_cassie/scene.xml", "skydio_x2/scene.xml", "unitree_a1/scene.xml", "hello_robot_stretch/scene.xml",
    "trossen_vx300s/scene.xml", "google_robot/scene.xml", "umi_gripper/scene.xml", "pndbotics_adam_lite/scene.xml",
    "trossen_wx250s/scene.xml", "trossen_wxai/scene.xml",
)  # fmt: skip
MENAGERIE = Path(os.environ.get("SIMWRIGHT_MENAGERIE", SHARED_ASSETS / "mjcf"))


def look(source: Path, folder: Path, *, by_stage: bool = False) -> Outcome:
    view = draw_source(source)
    given = simwright.convert(source, folder / "stage", to="usd") if by_stage else source
    copy = simwright.convert(given, folder / f"{source.parent.name}.glb")
    python = Path(os.environ["SIMWRIGHT_PEER_BPY"])
    (picture,) = draw_copies(python, [(copy, view, folder / "copy.png")])
    save_pair(view, picture, folder / "pair.png")
    return compare(view, picture)


def check(outcome: Outcome) -> None:
    assert outcome.share > SHARE
    assert outcome.mean < MEAN
    assert {name: gap for name, gap in outcome.regions.items() if gap > REGION} == {}


@pytest.mark.judge("blender")
@pytest.mark.parametrize("by_stage", [False, True], ids=["from the source", "from OpenUSD"])
def test_every_way_in_which_images_lie_on_shapes(by_stage: bool, tmp_path: Path) -> None:
    x, y = np.meshgrid(np.arange(64), np.arange(64))
    Image.fromarray(np.stack((4 * x, 4 * y, 128 + 0 * x), axis=-1).astype(np.uint8)).save(
        tmp_path / "photo.png"
    )
    source = tmp_path / "shapes.xml"
    source.write_text(SHAPES)
    outcome = look(source, tmp_path, by_stage=by_stage)
    check(outcome)
    assert len(outcome.regions) > 10


@pytest.mark.judge("blender")
def test_the_samples(tmp_path: Path) -> None:
    check(look(SAMPLES / "quadruped" / "quadruped.xml", tmp_path))


@pytest.mark.judge("blender")
@pytest.mark.realworld
@pytest.mark.parametrize("robot", [robot for robot in ROBOTS if (MENAGERIE / robot).is_file()] or ROBOTS[:1])
def test_real_robots(robot: str, tmp_path: Path) -> None:
    check(look(MENAGERIE / robot, tmp_path))


def test_another_colour_is_seen() -> None:
    """What is measured can be missed: a picture that is brighter in one place."""
    width, height = SIZE
    geoms = np.full((height, width), -1)
    geoms[100:200, 100:200], geoms[250:350, 100:200] = 0, 1
    picture = np.full((height, width, 3), 128, np.uint8)
    view = View(picture, geoms, ["left", "right"], {})
    copy = np.dstack((picture, np.full((height, width), 255, np.uint8)))
    same = compare(view, copy)
    assert dataclasses.astuple(same) == (0.0, 0.0, {"left": 0.0, "right": 0.0}, 1.0)
    copy[250:350, 100:200, :3] = 188
    other = compare(view, copy)
    assert other.regions == {"left": 0.0, "right": 60.0}
    assert other.mean == pytest.approx(30.0)
