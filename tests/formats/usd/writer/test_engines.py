# SPDX-License-Identifier: Apache-2.0
"""Assets for one engine: which layers they have, and where the articulation root is."""

import math
import re

import pytest
from PIL import Image
from pxr import Usd, UsdPhysics

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
    with pytest.raises(UsageError, match="unknown engine 'gazebo'"):
        simwright.convert(source, tmp_path / "x", for_="gazebo")


SERVOS = """<mujoco model="servos">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="a"><joint name="ja" ref="0.25"/><geom type="box" size="0.1 0.1 0.1"/>
        <body name="b"><joint name="jb" type="slide"/><geom type="box" size="0.1 0.1 0.1"/>
          <body name="c"><joint name="jc"/><geom type="box" size="0.1 0.1 0.1"/>
            <body name="d"><joint name="jd"/><geom type="box" size="0.1 0.1 0.1"/></body></body></body></body>
    </body>
  </worldbody>
  <actuator>
    <position name="pa" joint="ja" kp="100" kv="5" gear="2" forcerange="-3 3" ctrlrange="1 2"/>
    <velocity name="vb" joint="jb" kv="7"/>
    <general name="gc" joint="jc" gainprm="90" biastype="affine" biasprm="0 -90 -9"/>
    <motor name="md" joint="jd"/>
  </actuator>
</mujoco>"""


def _read_drive(prim, word):
    names = ("stiffness", "damping", "maxForce", "targetPosition")
    return [prim.GetAttribute(f"drive:{word}:physics:{name}").Get() for name in names]


def test_servos_are_drives(tmp_path):
    file = tmp_path / "servos.xml"
    file.write_text(SERVOS)
    entry = simwright.convert(file, tmp_path / "out")
    stage = Usd.Stage.Open(str(entry))
    joints = {prim.GetName(): prim for prim in stage.Traverse()}
    degree = math.pi / 180
    # gear 2: gains times 4, force times 2; the command is clamped to 1, which is a target of 0.5 from ref 0.25
    assert _read_drive(joints["ja"], "angular") == pytest.approx(
        [400 * degree, 20 * degree, 6, 0.25 / degree], rel=1e-6
    )
    assert _read_drive(joints["jb"], "linear")[:2] == pytest.approx([0, 7])
    assert _read_drive(joints["jc"], "angular")[:2] == pytest.approx([90 * degree, 9 * degree])
    assert not joints["jd"].HasAPI("PhysicsDriveAPI")


def test_a_servo_does_not_drive_twice(tmp_path):
    file = tmp_path / "servos.xml"
    file.write_text(SERVOS)
    entry = simwright.convert(file, tmp_path / "out")
    asset = simwright.load(entry)
    assert all(dof.drive is None for joint in asset.joints for dof in joint.dofs)
    assert [actuator.name for actuator in asset.actuators] == ["pa", "vb", "gc", "md"]
    assert simwright.diff(file, entry).equal
    text = (entry.parent / "physics.usda").read_text()
    edited = re.sub(r"float drive:linear:physics:damping = 7", "float drive:linear:physics:damping = 8", text)
    assert edited != text
    (entry.parent / "physics.usda").write_text(edited)
    reporter = Reporter()
    asset = simwright.load(entry, reporter=reporter)
    assert all(dof.drive is None for joint in asset.joints for dof in joint.dofs)
    assert "usd-drive-twice" in {finding.kind for finding in reporter}


DYNAMICS = """<mujoco model="dynamics">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base">
      <geom name="box" type="box" size="0.1 0.1 0.1"/>
      <body name="a"><joint name="ja" armature="0.1" damping="2" frictionloss="0.3" stiffness="4" springref="0.5"/>
        <geom type="box" size="0.1 0.1 0.1"/>
        <body name="b"><joint name="jb"/><geom type="box" size="0.1 0.1 0.1"/></body></body>
    </body>
  </worldbody>
  <equality><joint name="follow" joint1="jb" joint2="ja" polycoef="0.1 2 0 0 0"/></equality>
  <tendon><fixed name="sum"><joint joint="ja" coef="1"/><joint joint="jb" coef="1"/></fixed></tendon>
  <actuator>
    <motor name="first" tendon="sum"/>
    <motor name="second" joint="ja" gear="3"/>
  </actuator>
  <keyframe><key name="home" ctrl="1 2"/></keyframe>
</mujoco>"""


def test_engine_words_of_joints_and_actuators(tmp_path):
    file = tmp_path / "dynamics.xml"
    file.write_text(DYNAMICS)
    entry = simwright.convert(file, tmp_path / "out")
    stage = Usd.Stage.Open(str(entry))
    prims = {prim.GetName(): prim for prim in stage.Traverse()}
    wanted = {
        "newton:armature": 0.1, "newton:friction": 0.3, "newton:damping": math.radians(2), "mjc:armature": 0.1,
        "mjc:frictionloss": 0.3, "mjc:damping": 2, "mjc:stiffness": 4, "mjc:springref": math.degrees(0.5),
    }  # fmt: skip
    found = {name: prims["ja"].GetAttribute(name).Get() for name in wanted}
    assert found == pytest.approx(wanted, rel=1e-6)
    follower = prims["jb"]
    assert "NewtonMimicAPI" in follower.GetPrimTypeInfo().GetAppliedAPISchemas()
    assert [str(path) for path in follower.GetRelationship("newton:mimicJoint").GetTargets()] == [
        str(prims["ja"].GetPath())
    ]
    assert follower.GetAttribute("newton:mimicCoef0").Get() == pytest.approx(math.degrees(0.1))
    assert follower.GetAttribute("mjc:coef0").Get() == pytest.approx(0.1)
    # MuJoCo counts commands by the order of prims
    assert [prim.GetName() for prim in prims["Actuators"].GetChildren()] == ["first", "second"]
    assert {prim.GetTypeName() for prim in prims["Actuators"].GetChildren()} == {"MjcActuator"}
    assert prims["second"].GetAttribute("mjc:gear").Get()[0] == 3
    assert simwright.diff(file, entry).equal
    assert len(simwright.load(entry).mimics) == 1


MANY = """<mujoco model="many">
  <compiler angle="radian"/>
  <worldbody>
    <body name="box"><freejoint name="free"/><geom name="b" type="box" size="0.1 0.1 0.1"/></body>
    <body name="base" pos="1 0 0">
      <geom name="g" type="box" size="0.1 0.1 0.1"/>
      <site name="grip" type="box" size="0.01 0.02 0.03" pos="0 0 0.1"/>
      <body name="wrist">
        <joint name="roll" axis="1 0 0" damping="1"/><joint name="slide" type="slide" axis="0 0 1" damping="2"/>
        <geom name="w" type="box" size="0.1 0.1 0.1"/>
        <body name="hand"><joint name="ball" type="ball"/><geom name="h" type="box" size="0.1 0.1 0.1"/></body>
      </body>
    </body>
  </worldbody>
  <actuator><general name="push" site="grip" gear="0 0 1 0 0 0"/></actuator>
  <keyframe><key name="home" qpos="0 0 1 1 0 0 0 0.25 0.5 0 1 0 0"/></keyframe>
</mujoco>"""


def test_sites_stacks_and_keyframes_for_mujoco(tmp_path):
    file = tmp_path / "many.xml"
    file.write_text(MANY)
    entry = simwright.convert(file, tmp_path / "out", for_="mujoco")
    stage = Usd.Stage.Open(str(entry))
    prims = {prim.GetName(): prim for prim in stage.Traverse()}
    # MuJoCo's reader knows sites as geometry, stacks as parallel joints, and no balls
    assert prims["grip"].GetTypeName() == "Cube"
    assert "MjcSiteAPI" in prims["grip"].GetPrimTypeInfo().GetAppliedAPISchemas()
    types = {name: prims[name].GetTypeName() for name in ("roll", "slide")}
    assert types == {"roll": "PhysicsRevoluteJoint", "slide": "PhysicsPrismaticJoint"}
    assert list(prims["home"].GetAttribute("mjc:qpos").Get()) == [0, 0, 1, 1, 0, 0, 0, 0.25, 0.5]
    assert simwright.diff(file, entry).equal
    asset = simwright.load(entry)
    stack = next(joint for joint in asset.joints if joint.child == "wrist")
    assert [dof.name for dof in stack.dofs] == ["roll", "slide"]
    assert list(asset.keyframes[0].positions["ball"]) == [0, 1, 0, 0]


def test_newton_follows_no_follower(tmp_path):
    file = tmp_path / "chain.xml"
    file.write_text(
        DYNAMICS.replace(
            "</body></body>\n    </body>",
            '<body name="c"><joint name="jc"/><geom type="box" size="0.1 0.1 0.1"/></body></body></body>\n    </body>',
            1,
        ).replace(
            "</equality>", '<joint name="next" joint1="jc" joint2="jb" polycoef="0.5 3 0 0 0"/></equality>'
        )
    )
    entry = simwright.convert(file, tmp_path / "out", for_="newton")
    stage = Usd.Stage.Open(str(entry))
    prims = {prim.GetName(): prim for prim in stage.Traverse()}
    last = prims["jc"]
    assert last.GetRelationship("newton:mimicJoint").GetTargets() == [prims["ja"].GetPath()]
    # the chain in one: jc is 0.5 and three times jb, which is 0.1 and twice ja
    assert last.GetAttribute("newton:mimicCoef0").Get() == pytest.approx(math.degrees(0.8))
    assert last.GetAttribute("newton:mimicCoef1").Get() == pytest.approx(6)
    assert "MjcActuator" in {prim.GetTypeName() for prim in prims.values()}
    assert {(m.follower, m.leader) for m in simwright.load(entry).mimics} == {("jb", "ja"), ("jc", "jb")}


FLOOR = """<mujoco model="floor">
  <asset>
    <texture name="squares" type="2d" builtin="checker" rgb1="0 0 0" rgb2="1 1 1" width="32" height="32"/>
    <material name="ground" texture="squares"/>
  </asset>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1" material="ground"/>
    <body name="box"><freejoint/><geom name="box" type="box" size="0.1 0.1 0.1"/></body>
  </worldbody>
</mujoco>"""


def test_a_floor_is_no_flat_mesh_for_mujoco(tmp_path):
    file = tmp_path / "floor.xml"
    file.write_text(FLOOR)
    kinds = {}
    for engine in ("mujoco", "newton"):
        stage = Usd.Stage.Open(str(simwright.convert(file, tmp_path / engine, for_=engine)))
        kinds[engine] = {str(prim.GetTypeName()) for prim in stage.Traverse() if "floor" in prim.GetName()}
    # its reader refuses the whole asset for a mesh without volume; elsewhere the image needs coordinates
    assert "Mesh" not in kinds["mujoco"]
    assert "Mesh" in kinds["newton"]


def test_mujoco_finds_options_and_friction(source, tmp_path):
    """MuJoCo's own reader looks for options at a physics scene, and for friction at materials of all purposes.

    Newton (1.7) looks for the options of its MuJoCo solver there too.
    """
    text = ARM.replace("<worldbody>", '<option integrator="implicitfast" cone="elliptic"/><worldbody>', 1)
    text = text.replace('name="rod"', 'name="rod" group="3" friction="0.7 0.01 0.001"')
    source.write_text(text)
    entry = simwright.convert(source, tmp_path / "mujoco", for_="mujoco")
    stage = Usd.Stage.Open(str(entry))
    (scene,) = [prim for prim in stage.Traverse() if prim.GetTypeName() == "PhysicsScene"]
    assert scene.GetAttribute("mjc:option:integrator").Get() == "implicitfast"
    assert scene.GetAttribute("mjc:option:cone").Get() == "elliptic"
    assert simwright.diff(source, entry).equal
    bound = [
        prim.GetRelationship("material:binding").GetTargets()
        for prim in stage.Traverse()
        if prim.GetRelationship("material:binding:physics").GetTargets()
        and "collision" in str(prim.GetPath())
    ]
    assert len(bound) == 6
    assert all(targets for targets in bound)
    stage = Usd.Stage.Open(str(simwright.convert(source, tmp_path / "newton", for_="newton")))
    (scene,) = [prim for prim in stage.Traverse() if prim.GetTypeName() == "PhysicsScene"]
    assert scene.GetAttribute("mjc:option:cone").Get() == "elliptic"
    stage = Usd.Stage.Open(str(simwright.convert(source, tmp_path / "isaac", for_="isaac")))
    assert not [prim for prim in stage.Traverse() if prim.GetTypeName() == "PhysicsScene"]


def test_newton_gets_the_stops_of_mujoco(source, tmp_path):
    """Where nothing is said of a stop, Newton (1.7) has a spring that throws the joint back."""
    source.write_text(ARM.replace('name="axle"', 'name="axle" limited="true" range="-1 1"'))
    stops = {}
    for engine in ("newton", "isaac", "mujoco"):
        stage = Usd.Stage.Open(str(simwright.convert(source, tmp_path / engine, for_=engine)))
        prims = {prim.GetName(): prim.GetAttribute("mjc:solreflimit").Get() for prim in stage.Traverse()}
        stops[engine] = {name: list(value) for name, value in prims.items() if value is not None}
    # what the source says of a stop stays, a joint that turns freely has none
    assert stops["newton"] == {"hinge": [0.01, 1.0], "axle": [0.02, 1.0]}
    assert stops["mujoco"] == {"hinge": [0.01, 1.0]}
    assert stops["isaac"] == {}


FEET = """<mujoco model="feet">
  <asset><mesh name="foot" vertex="0 0 0  0.1 0 0  0 0.1 0  0 0 0.1"/></asset>
  <worldbody><body name="trunk"><freejoint/>
    <geom name="one" type="mesh" mesh="foot" friction="0.4"/>
    <geom name="two" type="mesh" mesh="foot" pos="1 0 0" friction="0.4"/>
    <geom name="three" type="mesh" mesh="foot" pos="2 0 0" friction="0.4"/>
  </body></worldbody>
</mujoco>"""


@pytest.mark.parametrize(("engine", "shared"), [("newton", False), ("isaac", True)])
def test_newton_finds_the_friction_of_feet_that_share_a_mesh(engine, shared, tmp_path):
    """Newton (1.7) looks at the collider itself: not above it, where the material of an instance is bound."""
    file = tmp_path / "feet.xml"
    file.write_text(FEET)
    stage = Usd.Stage.Open(str(simwright.convert(file, tmp_path / "out", for_=engine)))
    colliders = [
        prim for prim in stage.Traverse() if str(prim.GetPath().GetParentPath()).endswith("collision")
    ]
    assert len(colliders) == 3
    assert all(prim.GetRelationship("material:binding:physics").GetTargets() for prim in colliders)
    assert {prim.IsInstance() for prim in colliders} == {shared}
    assert all(prim.HasAPI(UsdPhysics.CollisionAPI) is not shared for prim in colliders)
    # and leaves 64 corners of a hull where nothing else is said
    corners = [prim.GetAttribute("newton:maxHullVertices").Get() for prim in colliders]
    assert corners == ([-1] * 3 if engine == "newton" else [None] * 3)


TREES = """<sdf version="1.9"><model name="trees">
  <link name="a"/><link name="b"/><link name="c"/><link name="d"/>
  <joint name="ab" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis></joint>
  <joint name="cd" type="revolute"><parent>c</parent><child>d</child><axis><xyz>0 0 1</xyz></axis></joint>
</model></sdf>"""


@pytest.mark.parametrize("engine", ["newton", "isaac"])
def test_every_tree_that_moves_is_an_articulation(engine, tmp_path):
    file = tmp_path / "trees.sdf"
    file.write_text(TREES)
    asset = simwright.load(file)
    entry = simwright.convert(asset, tmp_path / "out", for_=engine)
    stage = Usd.Stage.Open(str(entry))
    roots = [prim.GetName() for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.ArticulationRootAPI)]
    assert sorted(roots) == ["a", "c"]


def test_nothing_brakes_bodies_in_physx(source, tmp_path):
    """PhysX brakes turning bodies by 0.05 1/s where nothing is said, and no other engine does."""
    entry = simwright.convert(source, tmp_path / "isaac", for_="isaac")
    stage = Usd.Stage.Open(str(entry))
    link = next(prim for prim in stage.Traverse() if prim.GetName() == "link")
    assert link.GetAttribute("physxRigidBody:angularDamping").Get() == 0.0
    assert "PhysxRigidBodyAPI" in str(link.GetMetadata("apiSchemas"))
    stage = Usd.Stage.Open(str(simwright.convert(source, tmp_path / "all")))
    link = next(prim for prim in stage.Traverse() if prim.GetName() == "link")
    assert not link.HasAttribute("physxRigidBody:angularDamping")


def test_friction_of_contacts_in_words_of_engines(source, tmp_path):
    source.write_text(ARM.replace('name="rod"', 'name="rod" condim="6" friction="0.7 0.02 0.003"'))
    entry = simwright.convert(source, tmp_path / "all")
    stage = Usd.Stage.Open(str(entry))
    told = {
        name: prim.GetAttribute(name).Get()
        for prim in stage.Traverse()
        for name in prim.GetAuthoredPropertyNames()
        if "riction" in name and not name.startswith("physics:")
    }
    for engine, torsional, rolling in (("mjc", "torsionalfriction", "rollingfriction"),
                                       ("newton", "torsionalFriction", "rollingFriction")):  # fmt: skip
        assert told[f"{engine}:{torsional}"] == pytest.approx(0.02)
        assert told[f"{engine}:{rolling}"] == pytest.approx(0.003)
    assert simwright.diff(source, entry).equal
    assert not [
        f for asset in simwright.check(entry).assets for f in asset.findings if f.level.value == "error"
    ]


def test_planes_of_moving_links_are_boxes_for_mujoco(tmp_path):
    file = tmp_path / "sign.sdf"
    file.write_text(
        """<sdf version="1.9"><model name="sign"><link name="board"><pose>0 0 1 0 0 0</pose>
        <visual name="logo"><geometry><plane><normal>0 0 1</normal><size>0.2 0.1</size></plane></geometry></visual>
        </link></model></sdf>"""
    )
    reporter = Reporter()
    stage = Usd.Stage.Open(
        str(simwright.convert(file, tmp_path / "mujoco", for_="mujoco", reporter=reporter))
    )
    assert "usd-write-plane-thick" in {finding.kind for finding in reporter}
    assert "Plane" not in {prim.GetTypeName() for prim in stage.TraverseAll()}
    stage = Usd.Stage.Open(str(simwright.convert(file, tmp_path / "all")))
    assert "Plane" in {prim.GetTypeName() for prim in stage.TraverseAll()}


def test_images_for_mujoco_are_png(tmp_path):
    Image.new("RGB", (4, 4), (200, 30, 60)).save(tmp_path / "image.jpg")
    (tmp_path / "box.urdf").write_text(
        """<robot name="box"><link name="box"><inertial><mass value="1"/>
        <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
        <visual><geometry><box size="1 1 1"/></geometry>
        <material name="m"><texture filename="image.jpg"/></material></visual></link></robot>"""
    )
    for engine, ending in (("mujoco", ".png"), ("newton", ".jpg")):
        entry = simwright.convert(tmp_path / "box.urdf", tmp_path / engine, for_=engine)
        assert [file.suffix for file in (entry.parent / "textures").iterdir()] == [ending]


def test_links_that_are_only_fixed_to_each_other_are_an_articulation_for_newton(tmp_path):
    file = tmp_path / "raft.urdf"
    weight = (
        '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    )
    file.write_text(
        f"""<robot name="raft"><link name="hull">{weight}</link><link name="mast">{weight}</link>
        <joint name="step" type="fixed"><parent link="hull"/><child link="mast"/></joint></robot>"""
    )
    assert _list_roots(simwright.convert(file, tmp_path / "newton", for_="newton")) == {"hull"}
    assert _list_roots(simwright.convert(file, tmp_path / "all")) == set()


def test_a_joint_that_cannot_move_has_a_range_that_mujoco_reads(tmp_path):
    """MuJoCo's reader refuses a lower limit that is not below the upper one; other engines hold the joint by it."""
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in ("base", "arm")
    )
    file = tmp_path / "held.urdf"
    file.write_text(
        f'<robot name="held">{links}<joint name="j" type="revolute"><parent link="base"/><child link="arm"/>'
        '<limit lower="0.5" upper="0.5" effort="1" velocity="1"/></joint></robot>'
    )
    for engine, width in (("mujoco", 2.4e-7), ("newton", 0.0)):
        reporter = simwright.Reporter()
        stage = Usd.Stage.Open(
            str(simwright.convert(file, tmp_path / engine, for_=engine, reporter=reporter))
        )
        (joint,) = (prim for prim in stage.Traverse() if prim.GetName() == "j")
        lower, upper = (
            math.radians(joint.GetAttribute(f"physics:{word}Limit").Get()) for word in ("lower", "upper")
        )
        assert upper - lower == pytest.approx(width, rel=0.5)
        assert (upper > lower) == (engine == "mujoco")
        assert (lower + upper) / 2.0 == pytest.approx(0.5, rel=1e-6)
        assert ("usd-write-lock-wide" in {finding.kind for finding in reporter}) == (engine == "mujoco")


def test_tiny_links_borrow_moments_from_the_link_they_are_fixed_to(tmp_path):
    """Newton adds 1e-6 kg m^2 to a body with a moment below 1e-10; the two bodies as one stay what they are."""
    file = tmp_path / "hand.xml"
    file.write_text(
        """<mujoco model="hand"><worldbody><body name="palm">
        <inertial pos="0 0 0" mass="0.1" diaginertia="3e-5 2e-5 2e-5"/>
        <body name="finger" pos="0.1 0 0"><joint name="bend"/>
          <inertial pos="0 0 0" mass="0.01" diaginertia="3e-6 2e-6 2e-6"/>
          <body name="pad" pos="0.01 0 0" euler="10 20 30">
            <inertial pos="0 0 0" mass="1e-6" diaginertia="2e-11 2e-11 1e-11"/></body></body>
        </body></worldbody></mujoco>"""
    )
    moments = {}
    for engine in ("newton", "mujoco"):
        stage = Usd.Stage.Open(str(simwright.convert(file, tmp_path / engine, for_=engine)))
        moments[engine] = {
            prim.GetName(): sum(UsdPhysics.MassAPI(prim).GetDiagonalInertiaAttr().Get())
            for prim in stage.Traverse()
            if prim.HasAPI(UsdPhysics.MassAPI)
        }
        pad = next(prim for prim in stage.Traverse() if prim.GetName() == "pad")
        least = min(UsdPhysics.MassAPI(pad).GetDiagonalInertiaAttr().Get())
        assert (least >= 1e-10) == (engine == "newton")
    before, after = moments["mujoco"], moments["newton"]
    assert after["pad"] - before["pad"] == pytest.approx(before["finger"] - after["finger"], rel=1e-2)
    assert after["palm"] == before["palm"]


TWO_WAYS = """<mujoco model="two">
  <compiler angle="radian"/>
  <worldbody><body name="base"><geom name="box" type="box" size="0.1 0.1 0.1"/>
    <body name="hand">
      <joint name="x" axis="1 0 0" armature="0.1" damping="2" springref="0.5"/>
      <joint name="y" axis="0 1 0" armature="0.3" damping="2" springref="0.5"/>
      <geom type="box" size="0.1 0.1 0.1"/>
    </body></body></worldbody>
</mujoco>"""


def test_a_joint_prim_of_two_freedoms_says_only_what_both_have(tmp_path):
    file = tmp_path / "two.xml"
    file.write_text(TWO_WAYS)
    stage = Usd.Stage.Open(str(simwright.convert(file, tmp_path / "out")))
    (prim,) = (prim for prim in stage.Traverse() if prim.GetTypeName() == "PhysicsJoint")
    words = {"damping", "armature", "springref", "stiffness", "frictionloss", "friction"}
    engines = {f"{space}:{word}" for space in ("mjc", "newton") for word in words}
    # their armature differs, and a spring without stiffness rests nowhere
    assert engines & set(prim.GetAuthoredPropertyNames()) == {"mjc:damping", "newton:damping"}
    assert prim.GetAttribute("mjc:damping").Get() == 2
