# SPDX-License-Identifier: Apache-2.0
"""Joints of several freedoms as chains, in assets for engines that have no such joint."""

import numpy as np
import pytest
from pxr import Usd, UsdPhysics

import simwright

ROBOT = """<mujoco model="planar">
  <compiler angle="radian"/>
  <worldbody>
    <body name="cart" pos="0 0 0.5">
      <joint name="x" type="slide" axis="1 0 0" armature="2" ref="0.1"/>
      <joint name="y" type="slide" axis="0 1 0"/>
      <joint name="yaw" axis="0 0 1" pos="0.2 0 0" damping="0.3"/>
      <geom name="box" type="box" size="0.2 0.2 0.1"/>
      <body name="toe" pos="0.3 0 0">
        <joint name="roll" axis="0 1 0" range="-0.3 0.4" pos="0.1 0 0"/>
        <joint name="slip" axis="0 1 0" pos="-0.1 0 0"/>
        <geom name="rod" type="capsule" size="0.05 0.1"/>
        <body name="tip" pos="0.2 0 0"><joint name="bend" axis="0 1 0"/><geom name="ball" size="0.05"/></body>
      </body>
    </body>
    <body name="door" pos="3 0 0">
      <joint name="post" axis="0 0 1"/>
      <geom name="leaf" type="box" size="0.5 0.02 1"/>
    </body>
  </worldbody>
  <equality><joint joint1="slip" joint2="roll" polycoef="0 0.5 0 0 0"/></equality>
</mujoco>"""


@pytest.fixture
def source(tmp_path):
    file = tmp_path / "planar.xml"
    file.write_text(ROBOT)
    return file


def _list_joints(entry):
    """Type and bodies of every joint, by name."""
    stage = Usd.Stage.Open(str(entry))
    return {
        prim.GetName(): (
            prim.GetTypeName().removeprefix("Physics").removesuffix("Joint"),
            *(
                targets[0].name if (targets := prim.GetRelationship(f"physics:body{n}").GetTargets()) else ""
                for n in (0, 1)
            ),
        )
        for prim in stage.Traverse()
        if prim.IsA(UsdPhysics.Joint)
    }


def test_for_physx_the_first_joint_is_fixed_and_each_other_has_one_freedom(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "isaac", for_="isaac")
    assert _list_joints(entry) == {
        "cart_joint_mount": ("Fixed", "", "cart_joint_link"),
        "x": ("Prismatic", "cart_joint_link", "x_link"),
        "y": ("Prismatic", "x_link", "y_link"),
        "yaw": ("Revolute", "y_link", "cart"),
        "roll": ("Revolute", "cart", "roll_link"),
        "slip": ("Revolute", "roll_link", "toe"),
        "bend": ("Revolute", "toe", "tip"),
        "post_mount": ("Fixed", "", "post_link"),
        "post": ("Revolute", "post_link", "door"),
    }


def test_for_newton_only_what_it_cannot_join(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "newton", for_="newton")
    joints = _list_joints(entry)
    # the base has one anchor and no mimic, so Newton joins its parallel joints itself
    assert [joints[name] for name in ("x", "y", "yaw")] == [
        ("Prismatic", "", "cart"), ("Prismatic", "", "cart"), ("Revolute", "", "cart"),
    ]  # fmt: skip
    assert joints["roll"] == ("Revolute", "cart", "roll_link")
    assert joints["slip"] == ("Revolute", "roll_link", "toe")
    # one joint alone is not an articulation there
    assert joints["post_mount"] == ("Fixed", "", "post_link")


@pytest.mark.parametrize("engine", ["newton", "isaac"])
def test_links_between_weigh_nothing_and_parents_do_not_touch_children(engine, source, tmp_path):
    entry = simwright.convert(source, tmp_path / engine, for_=engine)
    stage = Usd.Stage.Open(str(entry))
    mass = {
        prim.GetName(): UsdPhysics.MassAPI(prim).GetMassAttr().Get()
        for prim in stage.Traverse()
        if prim.HasAPI(UsdPhysics.RigidBodyAPI)
    }
    assert 0.0 < mass["roll_link"] < 1e-6 * mass["toe"]
    filtered = [
        {prim.GetName(), target.name}
        for prim in stage.Traverse()
        for target in prim.GetRelationship("physics:filteredPairs").GetTargets()
    ]
    assert {"cart", "toe"} in filtered


@pytest.mark.parametrize("engine", ["newton", "isaac"])
def test_the_way_back_gives_the_one_joint(engine, source, tmp_path):
    entry = simwright.convert(source, tmp_path / engine, for_=engine)
    asset, before = simwright.load(entry), simwright.load(source)
    assert [body.name for body in asset.bodies] == ["cart", "toe", "tip", "door"]
    assert [len(joint.dofs) for joint in asset.joints] == [3, 2, 1, 1]
    assert simwright.diff(source, entry).equal
    for one, other in zip(before.joints, asset.joints, strict=True):
        q = np.linspace(0.2, 0.5, one.positions)
        np.testing.assert_allclose(other.transform(q).p, one.transform(q).p, atol=1e-6)
    again = simwright.convert(entry, tmp_path / "again" / engine, for_=engine)
    assert _list_joints(again) == _list_joints(entry)


def test_links_between_that_somebody_uses_stay(source, tmp_path):
    entry = simwright.convert(source, tmp_path / "isaac", for_="isaac")
    stage = Usd.Stage.Open(str(entry))
    link = next(prim for prim in stage.Traverse() if prim.GetName() == "roll_link")
    stage.DefinePrim(link.GetPath().AppendChild("lamp"), "SphereLight")
    stage.GetRootLayer().Save()
    assert "roll_link" in {body.name for body in simwright.load(entry).bodies}
