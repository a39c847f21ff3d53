# SPDX-License-Identifier: Apache-2.0
"""A broken mesh or image costs that mesh, not the robot."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.formats.mesh import load_mesh
from simwright.formats.mesh.load import load_mesh_materials
from simwright.formats.table import read_asset, write_asset

IMAGE = '<image id="skin"><init_from>skin.png</init_from></image>'
BIND = """<bind_material><technique_common><instance_material symbol="s" target="#{material}"/></technique_common>
  </bind_material>"""


def make_dae(image: str = "skin", material: str = "m", scene: str = "s") -> str:
    """Two triangles in nodes of their own: one with the material, one without."""
    effect = f"""<effect id="e"><profile_COMMON>
      <newparam sid="surface"><surface type="2D"><init_from>{image}</init_from></surface></newparam>
      <newparam sid="sampler"><sampler2D><source>surface</source></sampler2D></newparam>
      <technique sid="t"><phong><diffuse><texture texture="sampler" texcoord="UV"/></diffuse>
        <specular><color>0.1 0.2 0.3 1</color></specular></phong></technique></profile_COMMON></effect>"""
    geometry = "".join(
        f"""<geometry id="g{n}" name="g{n}"><mesh><source id="p{n}"><float_array id="a{n}" count="9">0 0 0 1 0 0 0 1 0
        </float_array><technique_common><accessor source="#a{n}" count="3" stride="3"><param name="X" type="float"/>
        <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
        <vertices id="v{n}"><input semantic="POSITION" source="#p{n}"/></vertices><triangles count="1" material="s">
        <input semantic="VERTEX" source="#v{n}" offset="0"/><p>0 1 2</p></triangles></mesh></geometry>"""
        for n in (1, 2)
    )
    nodes = "".join(
        f"""<node id="n{n}"><translate>0 0 {n}</translate><instance_geometry url="#g{n}">
        {BIND.format(material=material) if n == 1 else ""}</instance_geometry></node>"""
        for n in (1, 2)
    )
    return f"""<?xml version="1.0"?>
    <COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset><unit meter="1"/></asset>
    <library_images>{IMAGE}</library_images><library_effects>{effect}</library_effects>
    <library_materials><material id="m" name="paint"><instance_effect url="#e"/></material></library_materials>
    <library_geometries>{geometry}</library_geometries>
    <library_visual_scenes><visual_scene id="s">{nodes}</visual_scene></library_visual_scenes>
    <scene><instance_visual_scene url="#{scene}"/></scene></COLLADA>"""


@pytest.mark.parametrize("broken", [{}, {"image": "gone"}, {"material": "gone"}])
def test_faces_stay_where_they_are(tmp_path: Path, broken: dict[str, str]) -> None:
    file = tmp_path / "part.dae"
    file.write_text(make_dae(**broken))
    mesh = load_mesh(file)
    assert sorted(set(mesh.vertices[:, 2])) == [1.0, 2.0]
    names = [subset.material for subset in mesh.subsets]
    assert ("paint" in names) == ("material" not in broken)


def test_a_scene_that_is_not_there_leaves_the_library(tmp_path: Path) -> None:
    file = tmp_path / "part.dae"
    file.write_text(make_dae(scene="gone"))
    assert np.array_equal(np.unique(load_mesh(file).vertices[:, 2]), [0.0])


def test_the_image_is_told_and_the_colours_stay(tmp_path: Path, reporter: Reporter) -> None:
    file = tmp_path / "part.dae"
    file.write_text(make_dae(image="gone"))
    (paint,) = load_mesh_materials(file, Gate.around(file, reporter=reporter))
    assert (paint.name, paint.textures) == ("paint", {})
    assert paint.specular == pytest.approx((0.1, 0.2, 0.3))
    assert [finding.kind for finding in reporter] == ["mesh-image-broken"]
    assert "'gone'" in next(iter(reporter)).message


ROBOT = """<robot name="r"><link name="a">
  <inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
  <visual name="bad"><geometry><mesh filename="meshes/{name}"/></geometry></visual>
  <collision name="worse"><geometry><mesh filename="meshes/{name}"/></geometry></collision>
  <collision name="good"><geometry><box size="1 1 1"/></geometry></collision></link></robot>"""


@pytest.fixture(params=["not.stl", "short.obj", "empty.dae"])
def robot(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "not.stl").write_text("no mesh")
    (tmp_path / "meshes" / "short.obj").write_text("v 0 0 0\nf 1 2 3\n")
    (tmp_path / "meshes" / "empty.dae").touch()
    file = tmp_path / "r.urdf"
    file.write_text(ROBOT.format(name=request.param))
    return file


@pytest.mark.parametrize("word", ["usd", "mjcf", "sdf", "urdf", "gltf"])
def test_the_rest_of_the_robot_is_written(robot: Path, tmp_path: Path, word: str) -> None:
    reporter = Reporter()
    asset = read_asset(robot, reporter=reporter)
    entry = write_asset(asset, tmp_path / "out", format_name=word, reporter=reporter)
    assert entry.is_file()
    lost = [finding for finding in reporter if finding.loss and robot.stem in str(finding.where)]
    assert lost
    if word in ("usd", "mjcf"):
        broken = [finding for finding in reporter if finding.kind == "mesh-broken"]
        assert {str(finding.data["shape"]) for finding in broken} == {"bad", "worse"}
        again = read_asset(entry, reporter=Reporter())
        assert [type(shape.geometry).__name__ for shape in again.shapes if shape.collision] == ["Box"]
        assert again.body("a").inertial.mass == pytest.approx(2.0)


def test_what_is_wrong_otherwise_is_still_refused(tmp_path: Path) -> None:
    file = tmp_path / "r.urdf"
    file.write_text('<robot name="r"><link name="a">')
    with pytest.raises(ParseError):
        read_asset(file)
