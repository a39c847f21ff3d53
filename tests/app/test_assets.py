"""``simwright.save`` and the functions that take assets; assets put together, judged by MuJoCo's own attachment."""

from __future__ import annotations

import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from pxr import Usd

import simwright
from simwright.core.errors import StrictError, UnknownNameError, UsageError
from simwright.core.math3d import Pose, quat_from_axis_angle
from simwright.model.asset import Asset, Body, Camera
from simwright.model.kinematics import build_tree

ARM = "arm/urdf/arm.urdf"
POSE = Pose.of((0.01, 0.02, 0.05), quat_from_axis_angle((0.3, 0.2, 1.0), 0.7))


@pytest.mark.parametrize("name", ["a.urdf", "a.xml", "a.sdf", "a.glb", "a.usdz", "folder", "flat.usda"])
def test_saving_is_converting(samples, tmp_path, name):
    options = {"flatten": True} if name == "flat.usda" else {}
    asset = simwright.load(samples / ARM)
    saved = simwright.save(asset, tmp_path / "saved" / name, **options)
    assert saved.is_file()
    if name == "a.glb":
        assert saved.read_bytes()[:4] == b"glTF"
        return
    sections = ["joints", "masses", "poses", "motion"]
    assert simwright.diff(saved, asset, configurations=2, only=sections).equal


def test_saving_and_converting_write_the_same_bytes(samples, tmp_path):
    saved = simwright.save(simwright.load(samples / ARM), tmp_path / "a" / "x.xml")
    converted = simwright.convert(samples / ARM, tmp_path / "b" / "x.xml")
    assert saved.read_bytes() == converted.read_bytes()


def test_the_format_can_be_said(samples, tmp_path):
    saved = simwright.save(simwright.load(samples / ARM), tmp_path / "robot.xml", format="urdf")
    assert b"<robot" in saved.read_bytes()[:500]


def test_a_loss_stops_a_strict_save_before_anything_is_written(tmp_path, reporter):
    asset = Asset("a", bodies=[Body("b")], cameras=[Camera("eye", "b")])
    with pytest.raises(StrictError):
        simwright.save(asset, tmp_path / "a.urdf", strict=True)
    assert list(tmp_path.iterdir()) == []
    simwright.save(asset, tmp_path / "a.urdf", reporter=reporter)
    assert len(reporter) > 0


def test_what_no_writer_knows_and_no_format_has_is_told(samples, tmp_path):
    asset = simwright.load(samples / ARM)
    with pytest.raises(UsageError, match="no writer knows 'lods'"):
        simwright.save(asset, tmp_path / "x", lods=True)
    with pytest.raises(UsageError, match="in which format to write"):
        simwright.save(asset, tmp_path / "x.txt")
    with pytest.raises(UnknownNameError):
        simwright.save(asset, tmp_path / "x.xml", format="mjfc")
    with pytest.raises(UsageError, match="variants say how a file is read"):
        simwright.convert(asset, tmp_path / "x", variants={"a": "b"})


def test_a_stage_of_an_asset_that_was_never_a_file():
    asset = Asset("thing", bodies=[Body("part")])
    stage = simwright.to_stage(asset)
    assert isinstance(stage, Usd.Stage)
    assert any(prim.GetName() == "part" for prim in stage.Traverse())


def test_names_that_are_not_there_are_key_errors_too(samples):
    arm = simwright.load(samples / ARM)
    for ask, near in ((arm.joint, "joint_1"), (arm.body, "tool0"), (arm.sensor, "wrist_camera")):
        with pytest.raises(KeyError) as caught:
            ask(f"{near}x")
        assert isinstance(caught.value, simwright.SimwrightError)
        assert f"did you mean '{near}'" in str(caught.value)


def test_joints_that_can_be_moved(samples):
    arm = simwright.load(samples / ARM)
    assert [joint.name for joint in arm.actuated_joints] == [
        *(f"joint_{number}" for number in range(1, 7)),
        "left_finger_joint",
    ]
    assert set(arm.joint_names) > {"joint_1", "right_finger_joint", "base_mount"}


def test_worlds_at_the_top(samples):
    world = simwright.load_world(samples / "lab/lab.yaml", seed=5)
    assert repr(world) == "<World 'lab': 4 rooms, 4 hallways, 5 locations, 7 objects, 2 robots, seed 5>"


HOST = """
<mujoco model="host">
  <option timestep="0.002"/>
  <default><geom density="800"/></default>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 0.1"/>
    <body name="base" pos="0 0 0.2">
      <geom name="base_geom" type="cylinder" size="0.1 0.1"/>
      <body name="arm" pos="0 0 0.2">
        <joint name="shoulder" axis="0 1 0" damping="0.3"/>
        <geom name="arm_geom" type="capsule" fromto="0 0 0 0.4 0 0" size="0.03"/>
        <body name="wrist" pos="0.4 0 0">
          <joint name="turn" axis="1 0 0" armature="0.01"/>
          <geom name="wrist_geom" type="sphere" size="0.04"/>
          <site name="flange" pos="0.05 0 0" quat="0.7071 0 0.7071 0"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator><position name="shoulder_servo" joint="shoulder" kp="20"/></actuator>
</mujoco>
"""
TOOL = """
<mujoco model="tool">
  <default><geom density="2000" friction="1.5 0.01 0.001"/><joint damping="0.2"/></default>
  <asset>
    <texture name="grid" type="2d" builtin="checker" width="16" height="16" rgb1="1 0 0" rgb2="0 0 1"/>
    <material name="skin" texture="grid"/>
  </asset>
  <worldbody>
    <geom name="flange_ring" type="cylinder" size="0.03 0.005" pos="0 0 0.005" mass="0" contype="0"
      conaffinity="0"/>
    <site name="mount"/>
    <body name="palm" pos="0 0 0.03" quat="0.9239 0 0 0.3827">
      <geom name="palm_geom" type="box" size="0.04 0.06 0.02" material="skin"/>
      <camera name="eye" pos="0 0 0.05"/>
      <body name="left" pos="0 0.04 0.04">
        <joint name="left_slide" type="slide" axis="0 1 0" range="0 0.04"/>
        <geom name="left_pad" type="box" size="0.01 0.01 0.03"/>
        <site name="tip" pos="0 0 0.03"/>
      </body>
      <body name="right" pos="0 -0.04 0.04">
        <joint name="right_slide" type="slide" axis="0 -1 0" range="0 0.04"/>
        <geom name="right_pad" type="box" size="0.01 0.01 0.03"/>
      </body>
    </body>
  </worldbody>
  <contact><exclude body1="left" body2="right"/></contact>
  <tendon><fixed name="split"><joint joint="left_slide" coef="0.5"/><joint joint="right_slide" coef="0.5"/></fixed>
  </tendon>
  <equality><joint joint1="left_slide" joint2="right_slide"/></equality>
  <actuator><general name="grip" tendon="split" gainprm="5" biastype="affine" biasprm="0 -10 -1"/></actuator>
  <sensor>
    <framepos name="tip_position" objtype="site" objname="tip" reftype="site" refname="mount"/>
    <jointpos name="left_position" joint="left_slide"/>
    <tendonpos name="opening" tendon="split"/>
    <actuatorfrc name="squeeze" actuator="grip"/>
    <gyro name="spin" site="tip"/>
  </sensor>
</mujoco>
"""


def attach_by_mujoco(host: Path, tool: Path, place: str, prefix: str) -> mujoco.MjModel:
    """The same composition by the engine's own means."""
    parent, child = (mujoco.MjSpec.from_file(str(file)) for file in (host, tool))
    site = parent.site(place)
    pose = Pose.of(site.pos, site.quat) @ POSE
    frame = site.parent.add_frame(pos=pose.p, quat=pose.q)
    for spec in (parent, child):
        for key in list(spec.keys):
            spec.delete(key)
    parent.attach(child, prefix=prefix, frame=frame)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # options of the tool that do not count
        return parent.compile()


def judge(ours: mujoco.MjModel, theirs: mujoco.MjModel, prefix: str) -> None:
    """The same masses, forces and measurements, by name, in some states."""
    order = [theirs.joint(ours.joint(i).name).id for i in range(ours.njnt)]
    assert sorted(order) == list(range(theirs.njnt))
    theirs.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    ours.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    rng = np.random.default_rng(4)
    for _ in range(5):
        q, v = rng.uniform(-0.5, 0.5, ours.nq), rng.uniform(-1, 1, ours.nv)
        control = {ours.actuator(i).name: rng.uniform(0, 1) for i in range(ours.nu)}
        seen = [measure(model, ours, q, v, control) for model in (ours, theirs)]
        assert seen[0].keys() == seen[1].keys()
        assert any(name.startswith(f"mass {prefix}") for name in seen[0])
        for name, value in seen[0].items():
            assert value == pytest.approx(seen[1][name], rel=1e-6, abs=1e-8), name


def measure(model, named, q, v, control):
    """State by the joints of ``named``; everything that is measured by name."""
    data = mujoco.MjData(model)
    joints = [model.joint(named.joint(i).name).id for i in range(named.njnt)]
    for row, joint in enumerate(joints):
        data.qpos[model.jnt_qposadr[joint]] = q[row]
        data.qvel[model.jnt_dofadr[joint]] = v[row]
    for name, value in control.items():
        data.ctrl[model.actuator(name).id] = value
    mujoco.mj_forward(model, data)
    mass = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, mass)
    dofs = [int(model.jnt_dofadr[joint]) for joint in joints]
    found = {}
    for joint, dof in zip(joints, dofs, strict=True):
        name = model.joint(joint).name
        found[f"mass {name}"] = mass[dof, dofs]
        found[f"bias {name}"] = data.qfrc_bias[dof]
        found[f"passive {name}"] = data.qfrc_passive[dof]
        found[f"motor {name}"] = data.qfrc_actuator[dof]
        found[f"acceleration {name}"] = data.qacc[dof]
    for number in range(model.nsensor):
        sensor = model.sensor(number)
        start = int(sensor.adr[0])
        found[f"sensor {sensor.name}"] = data.sensordata[start : start + int(sensor.dim[0])]
    for number in range(model.nsite):
        found[f"site {model.site(number).name}"] = data.site_xpos[number].copy()
    found["weight"] = model.body_mass.sum()
    return found


@pytest.fixture
def files(tmp_path):
    for name, text in (("host.xml", HOST), ("tool.xml", TOOL)):
        (tmp_path / name).write_text(text)
    return tmp_path / "host.xml", tmp_path / "tool.xml"


def test_mujoco_attaches_the_same_way(files, tmp_path):
    host, tool = (simwright.load(file) for file in files)
    host.attach(tool, at="flange", pose=POSE, prefix="tool/")
    written = simwright.save(host, tmp_path / "out" / "robot.xml", strict=True)
    ours = mujoco.MjModel.from_xml_path(str(written))
    theirs = attach_by_mujoco(*files, "flange", "tool/")
    assert (ours.nsensor, ours.ntendon, ours.neq, ours.nu) == (5, 1, 1, 2)
    assert ours.material("tool/skin").texid.max() >= 0
    judge(ours, theirs, "tool/")


REAL = [
    ("franka_emika_panda/panda_nohand.xml", "franka_emika_panda/hand.xml", "attachment_site"),
    ("kuka_iiwa_14/iiwa14.xml", "robotiq_2f85/2f85.xml", "attachment_site"),
    ("kuka_iiwa_14/iiwa14.xml", "shadow_hand/left_hand.xml", "attachment_site"),
]


@pytest.mark.realworld
@pytest.mark.parametrize(("arm", "hand", "place"), REAL)
def test_mujoco_attaches_real_hands_the_same_way(shared_assets, tmp_path, arm, hand, place):
    files = shared_assets / "mjcf" / arm, shared_assets / "mjcf" / hand
    host, tool = (simwright.load(file) for file in files)
    before = host.copy()
    added = host.attach(tool, at=place, pose=POSE, prefix="hand/")
    ours = mujoco.MjModel.from_xml_path(str(simwright.save(host, tmp_path / "out" / "robot.xml")))
    judge(ours, attach_by_mujoco(*files, place, "hand/"), "hand/")
    whole = host.copy()
    part = host.detach(added)
    assert simwright.diff(host, before, configurations=3).equal
    # options are the world's: what is attached and detached has those of its host
    apart = simwright.diff(part, tool, configurations=3).sections
    assert not [item for section in apart if section.name != "options" for item in section.items]
    host.attach(part, at=place, pose=POSE, prefix="hand/")
    assert simwright.diff(host, whole, configurations=3).equal


def test_tools_of_one_format_go_onto_arms_of_another(samples, files, tmp_path, reporter):
    arm = simwright.load(samples / ARM)
    arm.attach(simwright.load(files[1]), at="wrist_camera_link", prefix="tool_", reporter=reporter)
    for name in ("a.urdf", "a.xml", "a.sdf", "usd"):
        saved = simwright.save(arm, tmp_path / name / name)
        difference = simwright.diff(
            saved, arm, only=["joints", "masses", "poses", "motion"], configurations=3
        )
        assert difference.equal, name


@pytest.mark.parametrize(
    "source", ["quadruped/quadruped.xml", "fourbar/fourbar.usda", "rover/model.sdf", ARM]
)
def test_every_body_can_be_taken_off_and_put_back(samples, source):
    """Equal but for the order, and for what was told to be in neither part."""
    whole = simwright.load(samples / source)
    for edge in [edge for edge in build_tree(whole).edges if edge.parent]:
        asset, reporter = whole.copy(), simwright.Reporter()
        place = ~asset.body(edge.parent).pose @ asset.body(edge.child).pose
        part = asset.detach(edge.child, reporter=reporter)
        asset.attach(part, at=edge.parent, pose=place, reporter=reporter)
        lost = [item for found in reporter for item in found.data["severed"]]
        sections = simwright.diff(asset, whole, ignore=["order"], configurations=2).sections
        differing = [section.name for section in sections if not section.equal]
        assert set(differing) <= {"ros", "contacts", "constraints", "joints"}
        assert bool(differing) <= bool(lost), (edge.child, differing)
        if not lost:
            assert asset.extras.values() == whole.extras.values()
