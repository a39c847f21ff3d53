"""Includes, attachments and places in the text."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Reporter
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.read import read

GEOM = '<geom size=".1"/>'


def test_included_elements_have_their_own_file_and_line(read_text, compare):
    asset = read_text(
        '<mujoco>\n<include file="part.xml"/>\n<worldbody/></mujoco>',
        part__xml=f'<mujoco>\n<worldbody>\n<body name="a">\n<joint name="j"/>\n{GEOM}\n{GEOM}'
        "</body></worldbody></mujoco>",
    )
    assert (Path(asset.body("a").source.file).name, asset.body("a").source.line) == ("part.xml", 3)
    assert asset.joint("j").source.line == 4
    assert [shape.source.line for shape in asset.shapes] == [5, 6]
    compare(asset)


def test_includes_are_looked_for_beside_the_main_file_and_beside_the_including_one(tmp_path: Path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "model.xml").write_text(
        '<mujoco><worldbody><body name="a"><include file="sub/one.xml"/></body></worldbody></mujoco>'
    )
    (tmp_path / "sub" / "one.xml").write_text('<mujocoinclude><include file="two.xml"/></mujocoinclude>')
    (tmp_path / "sub" / "two.xml").write_text('<mujocoinclude><geom name="deep" size="1"/></mujocoinclude>')
    asset = read(tmp_path / "model.xml", ReadOptions(), Reporter())
    assert asset.shapes[0].name == "deep"
    assert asset.shapes[0].source.file.endswith("two.xml")


def test_an_attached_model(read_text, compare):
    asset = read_text(
        '<mujoco><asset><model name="arm" file="arm.xml"/></asset><worldbody><body name="base">'
        '<attach model="arm" body="upper" prefix="left_"/></body></worldbody></mujoco>',
        arm__xml=f'<mujoco>\n<worldbody>\n<body name="upper">\n<joint name="elbow"/>{GEOM}'
        "</body></worldbody></mujoco>",
    )
    assert [body.name for body in asset.bodies] == ["base", "left_upper"]
    assert asset.joint("left_elbow").source.line == 4
    assert asset.joint("left_elbow").source.file.endswith("arm.xml")
    compare(asset)


def test_unnamed_elements_of_attachments_take_the_place_of_their_body(read_text):
    asset = read_text(
        '<mujoco>\n<asset><model name="arm" file="arm.xml"/></asset><worldbody>'
        '<attach model="arm" body="upper" prefix="left_"/></worldbody></mujoco>',
        arm__xml=f'<mujoco>\n<worldbody>\n<body name="upper">\n{GEOM}\n</body></worldbody></mujoco>',
    )
    assert asset.shapes[0].source.file.endswith("arm.xml")
    assert asset.shapes[0].source.line == 4


@pytest.mark.parametrize(
    "compiler", ['meshdir="meshes"', 'assetdir="meshes"', 'meshdir="meshes" strippath="true"']
)
def test_mesh_folders(compiler, tmp_path: Path):
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "m.obj").write_text(
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    )
    name = "elsewhere/m.obj" if "strip" in compiler else "m.obj"
    (tmp_path / "model.xml").write_text(
        f'<mujoco><compiler {compiler}/><asset><mesh file="{name}"/></asset>'
        '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
    )
    asset = read(tmp_path / "model.xml", ReadOptions(), Reporter())
    assert asset.shapes[0].geometry.file.endswith("m.obj")


def test_includes_inside_defaults(read_text):
    asset = read_text(
        '<mujoco><default><include file="d.xml"/></default><worldbody><body name="a"><joint name="j"/>'
        f"{GEOM}</body></worldbody></mujoco>",
        d__xml='<mujocoinclude><joint damping="4"/></mujocoinclude>',
    )
    assert asset.joint("j").dofs[0].damping == 4.0


@pytest.mark.parametrize(
    "inner",
    [
        '<body name="a"><geom name="g"type="box" size="1 1 1"/></body>',
        '<!-- a -- b ---><body name="a"><geom size="1"/></body>',
    ],
)
def test_what_mujoco_reads_though_it_is_not_well_formed(inner, read_text, compare, reporter):
    asset = read_text(
        '<mujoco><worldbody><include file="part.xml"/></worldbody></mujoco>',
        part__xml=f"<mujocoinclude>\n{inner}</mujocoinclude>",
    )
    assert [body.name for body in asset.bodies] == ["a"]
    compare(asset)
    (note,) = [finding for finding in reporter if finding.kind == "xml-not-well-formed"]
    assert (Path(note.where.file).name, note.where.line) == ("part.xml", 2)


@pytest.mark.parametrize("name", ["a&b", "a<b", "\udce9"])
def test_names_that_two_parsers_may_read_differently_are_refused(name, tmp_path):
    # the files that are let through have to be those that MuJoCo opens
    file = tmp_path / "model.xml"
    text = f'<mujoco><worldbody><include file="{name}"/></worldbody></mujoco>'
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ParseError, match="not well-formed"):
        read(file, ReadOptions(), Reporter())
