"""Whole files: worlds, versions, several models, and input that is not what it should be."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import ParseError, SimwrightError
from simwright.core.math3d import Pose
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.read import read
from simwright.formats.table import detect_format

WORLD_TEXT = """<sdf version="1.6">
<world name="w">
  <gravity>0 0 -3.7</gravity><magnetic_field>1 2 3</magnetic_field>
  <wind><linear_velocity>4 0 0</linear_velocity></wind>
  <physics name="slow" type="ode"><max_step_size>0.01</max_step_size></physics>
  <physics name="fast" default="true" type="dart"><max_step_size>0.002</max_step_size>
    <real_time_factor>2</real_time_factor><dart><solver/></dart></physics>
  <frame name="home"><pose>1 0 0 0 0 0</pose></frame>
  <gui/><actor name="walker"/><state/>
  <scene><ambient>1 1 1</ambient></scene>
  <model name="one"><link name="link"/></model>
  <model name="two"><pose relative_to="home">0 1 0 0 0 0</pose><link name="link"/></model>
</world>
<world name="other"/>
</sdf>"""


def test_world(read_text, found):
    asset = read_text(WORLD_TEXT)
    assert asset.name == "w"
    np.testing.assert_array_equal(asset.environment.gravity, (0, 0, -3.7))
    np.testing.assert_array_equal(asset.environment.magnetic_field, (1, 2, 3))
    np.testing.assert_array_equal(asset.environment.wind, (4, 0, 0))
    assert asset.environment.timestep == 0.002
    assert asset.environment.settings == {"real_time_factor": 2.0, "physics_engine": "dart"}
    assert [(b.name, b.scope) for b in asset.bodies] == [("one::link", "one"), ("two::link", "two")]
    assert asset.body("two::link").pose.is_close(Pose.of((1, 1, 0)))
    assert [(s.name, s.body) for s in asset.sites] == [("home", "")]
    assert [d.data["tag"] for d in found("sdf-not-carried")] == ["gui", "actor", "state", "world"]
    assert found("sdf-more-physics")
    assert asset.extras.get("gazebo", "w", "scene/ambient") == (1.0, 1.0, 1.0)


def test_gravity_inside_physics_of_old_worlds(read_text):
    asset = read_text(
        """<sdf version="1.5"><world name="w"><physics type="ode"><gravity>0 0 -1</gravity>
        </physics></world></sdf>"""
    )
    np.testing.assert_array_equal(asset.environment.gravity, (0, 0, -1))
    assert asset.environment.timestep is None


def test_several_models(read_text, found):
    asset = read_text(
        """<sdf version="1.6"><model name="a"><link name="l"/></model>
        <model name="b"><link name="l"/></model></sdf>"""
    )
    assert asset.name == "main"
    assert [b.name for b in asset.bodies] == ["a::l", "b::l"]
    assert found("sdf-several-models")[0].where.line == 2


@pytest.mark.parametrize("version", ["", "two", "1", "7.5", "1.99"])
def test_strange_versions(read_text, found, version):
    asset = read_text(f'<sdf version="{version}"><model name="m"><link name="a"/></model></sdf>')
    assert len(asset.bodies) == 1
    assert repr(version) in found("sdf-unknown-version")[0].message


def test_provenance(read_text):
    asset = read_text('<sdf version="1.9"><model name="m"><link name="a"/></model></sdf>')
    assert (asset.provenance.format, asset.provenance.version) == ("sdf", "1.9")
    assert asset.body("a").source.line == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<sdf version='1.2'/>", "no model"),
        ("<robot/>", "<robot>"),
        ("<sdf version='1.9'><model name='m'></sdf>", "not well-formed"),
        ("hello", "not an XML"),
        ('<!DOCTYPE x [<!ENTITY a "b">]><sdf/>', "entities"),
    ],
)
def test_files_that_cannot_be_read(read_text, text, message):
    with pytest.raises(ParseError, match=message):
        read_text(text)


def test_missing_names(read_text, found):
    asset = read_text('<sdf version="1.9"><model><link/><link/></model></sdf>')
    assert len(found("sdf-no-name")) == 3
    assert len({b.name for b in asset.bodies}) == 2


def test_format_table_finds_it(tmp_path):
    file = tmp_path / "x.world"
    file.write_text('<sdf version="1.9"><world name="w"/></sdf>')
    assert detect_format(file).name == "sdf"


FRAGMENTS = [
    *re.findall(r"<[^<>]*>[^<>]*", WORLD_TEXT),
    '<link name="a">', "</link>", '<joint name="j" type="screw">', "<parent>a</parent>", "<child>b</child>",
    "</joint>", '<pose relative_to="a">1 2', "</pose>", '<include merge="true"><uri>main.sdf</uri></include>',
    '<collision name="c">', "<geometry><box/></geometry>", "</collision>", "<axis><xyz>0 0 0</xyz></axis>",
    '<frame name="f" attached_to="j"/>', '<model name="m" placement_frame="f" canonical_link="q">',
    "</model>",
    '<sensor type="camera"><camera><image><width>-1</width></image></camera></sensor>',
    '<plugin filename="diff_drive"/>', "<inertial auto='1'><mass>x</mass></inertial>",
    '<light type="spot"/>', "<surface><friction><ode><mu>nan</mu></ode></friction></surface>",
]  # fmt: skip


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(st.sampled_from(FRAGMENTS), max_size=25), st.sampled_from(["1.4", "1.6", "1.9", "1.12"]))
def test_any_input_gives_an_asset_or_an_error(tmp_path, pieces, version):
    """Whatever is inside, a recovered tree is read or refused, never a crash."""
    from lxml import etree

    text = f'<sdf version="{version}"><model name="m">{"".join(pieces)}</model></sdf>'
    root = etree.fromstring(text.encode(), etree.XMLParser(recover=True))
    file = tmp_path / "main.sdf"
    file.write_bytes(etree.tostring(root))
    try:
        asset = read(file, ReadOptions(), Reporter())
    except SimwrightError:
        return
    names = [b.name for b in asset.bodies]
    assert len(names) == len(set(names))


def test_names_of_flattened_models_are_nested_models(tmp_path, accept_sdf):
    """Up to 1.7 a nested model was flattened into names; libsdformat takes it apart again, and so do we."""
    file = tmp_path / "flat.sdf"
    file.write_text(
        """<sdf version="1.7"><model name="m"><link name="base"/>
        <link name="arm::hand::palm"><pose>1 0 0 0 0 0</pose></link><link name="arm::palm"/>
        <joint name="arm::wrist" type="revolute"><parent>base</parent><child>arm::hand::palm</child>
        <axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
    )
    asset = simwright.load(file)
    assert [(body.name, body.scope) for body in asset.bodies] == [
        ("base", ""), ("arm::hand::palm", "arm::hand"), ("arm::palm", "arm"),
    ]  # fmt: skip
    assert [joint.name for joint in asset.joints] == ["wrist"]
    written = simwright.convert(file, tmp_path / "out" / "flat.sdf")
    assert accept_sdf(written) == ""
    text = written.read_text()
    assert '<model name="hand">' in text
    assert text.count('<link name="palm">') == 2
