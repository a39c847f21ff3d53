# SPDX-License-Identifier: Apache-2.0
"""Assets for one engine: which layers they have, and where the articulation root is."""

import pytest
from pxr import Usd

import simwright
from simwright.core.diag import Reporter
from simwright.core.errors import UsageError

ARM = """<mujoco model="arm">
  <worldbody>
    <body name="base">
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="link">
        <joint name="hinge" axis="0 1 0" solreflimit="0.01 1" limited="true" range="-1 1"/>
        <geom name="rod" type="capsule" size="0.05 0.2"/>
      </body>
    </body>
    <body name="cart" pos="1 0 0">
      <freejoint name="free"/>
      <geom name="box2" type="box" size="0.1 0.1 0.1"/>
      <body name="wheel"><joint name="axle"/><geom name="disc" type="cylinder" size="0.1 0.02"/></body>
    </body>
    <body name="rail" pos="2 0 0">
      <joint name="slide" type="slide" axis="1 0 0"/>
      <geom name="box3" type="box" size="0.1 0.1 0.1"/>
      <body name="pole"><joint name="pivot"/><geom name="stick" type="capsule" size="0.02 0.2"/></body>
    </body>
  </worldbody>
</mujoco>"""


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    return file


def _list_roots(entry):
    stage = Usd.Stage.Open(str(entry))
    return {
        prim.GetName()
        for prim in stage.Traverse()
        if "PhysicsArticulationRootAPI" in prim.GetAppliedSchemas()
    }


def test_roots_of_fixed_and_floating_bases(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "all")
    # a base that slides on the world has its root on the link: on the joint, PhysX would fix it
    assert _list_roots(entry) == {"base_fixed", "cart", "rail"}
    asset = simwright.load(entry)
    assert {a.name: a.root for a in asset.articulations} == {"base": "base", "cart": "cart", "rail": "rail"}
    assert simwright.diff(source, entry).equal


def test_roots_for_mujoco(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "mujoco", for_="mujoco")
    assert _list_roots(entry) == {"base", "cart", "rail"}
    assert 'delete apiSchemas = ["PhysicsArticulationRootAPI"]' in entry.read_text()
    assert simwright.diff(source, entry).equal


def test_engine_layers_are_chosen(source, tmp_path):
    reporter = Reporter()
    entry = simwright.convert(source, tmp_path / "neutral", for_="neutral", reporter=reporter)
    assert not (entry.parent / "mujoco.usda").exists()
    assert "mujoco.usda" not in entry.read_text()
    assert "usd-write-engine-left-out" in {finding.kind for finding in reporter}
    entry = simwright.convert(source, tmp_path / "mujoco", for_="mujoco")
    assert "mujoco.usda" in entry.read_text()


def test_unknown_engine(source, tmp_path):
    with pytest.raises(UsageError, match="no asset is written for 'gazebo'"):
        simwright.convert(source, tmp_path / "x", for_="gazebo")
