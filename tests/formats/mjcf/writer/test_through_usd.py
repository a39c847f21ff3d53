"""Attributes that only MuJoCo has, kept in a stage and written again."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import simwright
from simwright.core.diag import Reporter
from simwright.model.asset import Asset, Camera, Shape
from simwright.model.geometry import Box
from simwright.model.material import RenderMaterial, Texture

from .compiling import compile_quietly, write_and_compile

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
SCENE = """
<mujoco model="scene">
  <asset><mesh name="part" file="part.obj"/></asset>
  <worldbody>
    <geom name="floor" type="plane" size="2 3 0.25"/>
    <body name="target" mocap="true" pos="0 0 2"><geom size="0.1" contype="0" conaffinity="0"/></body>
    <body name="torso" pos="0 0 1">
      <joint name="root" type="free" margin="0.02"/>
      <geom name="a" type="mesh" mesh="part" contype="0" conaffinity="0" solimp="0.5 0.99 0.001 0.5 2"/>
      <geom name="b" type="mesh" mesh="part" pos="1 0 0" contype="0" conaffinity="0" solref="0.01 1"/>
      <geom name="c" type="mesh" mesh="part" pos="2 0 0" contype="0" conaffinity="0" solref="0.01 1"/>
      <camera name="eye"/>
    </body>
  </worldbody>
  <keyframe>
    <key name="home" mpos="0.5 0 1" mquat="0 1 0 0"/>
    <key name="away" mpos="0 0.5 1"/>
  </keyframe>
</mujoco>
"""


@pytest.fixture
def source(tmp_path: Path) -> Path:
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    file = tmp_path / "scene.xml"
    file.write_text(SCENE)
    return file


def send(source: Path, folder: Path) -> tuple[Path, list[str]]:
    """The file that came of a stage, and what was lost on the way back."""
    stage = simwright.convert(source, folder / "usd" / "scene.usda")
    said = Reporter()
    return simwright.convert(stage, folder / "back" / "scene.xml", reporter=said), [
        d.kind for d in said if d.loss
    ]


def test_nothing_is_lost(source, tmp_path):
    back, lost = send(source, tmp_path)
    assert lost == []
    first, second = compile_quietly(source), compile_quietly(back)
    for name in ("key_mpos", "key_mquat", "jnt_margin"):
        assert np.allclose(getattr(first, name), getattr(second, name)), name
    for geom in ("a", "b", "c"):
        assert np.allclose(first.geom(geom).solimp, second.geom(geom).solimp)
        assert np.allclose(first.geom(geom).solref, second.geom(geom).solref)


def test_lines_on_a_plane_keep_their_distance(source, tmp_path):
    back, _ = send(source, tmp_path)
    direct = simwright.convert(source, tmp_path / "direct" / "scene.xml")
    for file in (back, direct):
        assert compile_quietly(file).geom("floor").size.tolist() == [2.0, 3.0, 0.25]


def test_clip_distances_of_a_camera_are_told(tmp_path):
    """MuJoCo has one pair of them for all cameras, counted in sizes of the model."""
    usual = write_and_compile(Asset("a", cameras=[Camera("eye")]), tmp_path / "usual")
    assert "mjcf-write-look-lost" not in usual.kinds
    other = write_and_compile(Asset("a", cameras=[Camera("eye", near=0.1, far=20.0)]), tmp_path / "other")
    assert "mjcf-write-look-lost" in other.kinds


def test_what_is_seen_and_touched_is_one_geom(tmp_path):
    """Twins become one; what only looks alike stays two."""
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    file = tmp_path / "scene.xml"
    file.write_text("""
<mujoco><asset><mesh name="part" file="part.obj"/></asset><worldbody>
  <geom name="floor" type="plane" size="1 1 1" rgba="1 0 0 1"/>
  <body name="b"><freejoint/>
    <geom name="ball" size="0.1" rgba="0 1 0 1"/>
    <geom name="hull" type="mesh" mesh="part"/>
    <geom name="skin" type="mesh" mesh="part" contype="0" conaffinity="0" group="2"/>
    <geom name="bone" type="mesh" mesh="part" group="3"/>
    <geom name="ghost" size="0.2" contype="0" conaffinity="0" group="4"/>
    <geom name="pale" size="0.3" group="1"/>
  </body>
</worldbody></mujoco>""")
    back, _ = send(file, tmp_path)
    first, second = compile_quietly(file), compile_quietly(back)
    assert second.ngeom == first.ngeom
    for name in ("floor", "ball", "hull", "skin", "bone", "ghost", "pale"):
        a, b = first.geom(name), second.geom(name)
        for what in ("type", "contype", "group", "rgba", "size"):
            assert np.allclose(getattr(a, what), getattr(b, what)), (name, what)


WRAPPED = """
<mujoco model="wrapped">
  <asset>
    <texture name="skin" type="2d" builtin="flat" rgb1="1 0 0" width="16" height="16"/>
    <material name="skin" texture="skin"/>
  </asset>
  <default><default class="drum">
    <geom type="cylinder" size="0.03 0.05" euler="90 0 0" contype="0" conaffinity="0" mass="0" material="skin"/>
  </default></default>
  <worldbody>
    <body name="upper" pos="0 0 1">
      <geom name="bone" type="capsule" size="0.02 0.1"/>
      <geom name="first" class="drum" pos="0 0 -0.1"/>
      <site name="start" pos="0.03 0 0.1"/>
      <body name="lower" pos="0 0 -0.1">
        <joint name="elbow" axis="0 1 0"/>
        <geom name="forearm" type="capsule" size="0.02 0.1" pos="0 0 -0.15"/>
        <geom name="second" class="drum" pos="0 0 -0.2"/>
        <site name="middle" pos="0.03 0 -0.1"/>
        <site name="end" pos="-0.03 0 -0.3"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="cord">
      <site site="start"/><geom geom="first"/><site site="middle"/><geom geom="second"/><site site="end"/>
    </spatial>
  </tendon>
  <actuator><muscle name="pull" tendon="cord"/></actuator>
</mujoco>
"""


def test_tendons_round_visual_geometry_that_is_written_once_for_several(tmp_path: Path) -> None:
    source = tmp_path / "wrapped.xml"
    source.write_text(WRAPPED)
    stage = simwright.convert(source, tmp_path / "usd")
    reporter = Reporter()
    written = simwright.convert(stage, tmp_path / "result.xml", reporter=reporter)
    before, after = compile_quietly(source), compile_quietly(written)
    assert (after.ntendon, after.nu, after.nwrap) == (before.ntendon, before.nu, before.nwrap)
    assert list(after.wrap_type) == list(before.wrap_type)
    np.testing.assert_allclose(after.tendon_length0, before.tendon_length0, rtol=1e-6)
    assert "usd-tendon-invalid" not in {finding.kind for finding in reporter}


def test_a_site_whose_name_has_blanks_is_a_frame_without(tmp_path: Path) -> None:
    source = tmp_path / "spaced.xml"
    bodies = '<body name="a"><site name="Full Body"/><site name="Full_Body"/><geom size="1"/></body>'
    source.write_text(f'<mujoco model="spaced"><worldbody>{bodies}</worldbody></mujoco>')
    stage = simwright.convert(source, tmp_path / "usd")
    assert "frame-id" not in {finding.kind for _, finding in simwright.check(stage)}
    written = compile_quietly(simwright.convert(stage, tmp_path / "result.xml"))
    assert {written.site(number).name for number in range(written.nsite)} == {"Full Body", "Full_Body"}


def test_an_image_moved_by_a_whole_image_is_not_moved(tmp_path):
    Image.new("RGB", (4, 4)).save(tmp_path / "tile.png")
    for offset, is_moved in ((1.0 - 1e-9, False), (2.0 + 1e-9, False), (0.25, True), (-0.75, True)):
        texture = Texture(str(tmp_path / "tile.png"), offset=(offset, 0.0))
        asset = Asset("a", materials=[RenderMaterial("tiles", textures={"diffuse": texture})])
        asset.shapes = [Shape("box", Box.of(1, 1, 1), material="tiles")]
        written = write_and_compile(asset, tmp_path / f"{offset}")
        assert ("mjcf-write-look-lost" in written.kinds) is is_moved, offset
