"""Every family of MJCF elements comes back: the compiled models are the same, array by array."""

from __future__ import annotations

import mujoco
import numpy as np
import pytest

import simwright
from simwright.core.diag import Level

from .compiling import difference, list_differences, list_touching, round_trip, step, worst_dynamics

ARM = """
  <worldbody>
    <geom name="floor" type="plane" size="0 0 0.05" material="grid" condim="4" friction="0.7 0.01 0.001"/>
    <site name="anchor" pos="0 0 1" size="0.02" rgba="1 0 0 1" group="2"/>
    <body name="base" pos="0.1 0 0.5" euler="0.1 0.2 0.3">
      <inertial pos="0.01 0 0.02" mass="2" fullinertia="0.02 0.03 0.025 0.001 -0.002 0.003"/>
      <joint name="yaw" axis="0 0 1" range="-1 1.5" damping="0.4" armature="0.02" frictionloss="0.1" ref="0.2"
             springref="0.3" stiffness="5" solreflimit="0.01 0.9" margin="0.001" actuatorfrcrange="-3 4"/>
      <geom name="trunk" type="capsule" fromto="0 0 0 0.1 0 0.3" size="0.05" mass="0.3" priority="1" solmix="2"/>
      <site name="hook" pos="0 0.05 0.1" size="0.01 0.02 0.03" type="box"/>
      <camera name="eye" pos="0 0 0.2" euler="0 1 0" fovy="60" resolution="64 48"/>
      <light name="lamp" pos="0 0 0.3" dir="0 0.6 -0.8" diffuse="0.5 0.5 0.4" cutoff="30" castshadow="false"/>
      <body name="upper" pos="0 0 0.35">
        <joint name="lift" type="slide" axis="0 0 1" range="0 0.2"/>
        <joint name="roll" axis="1 0 0" pos="0 0 0.05"/>
        <geom name="rod" type="cylinder" size="0.03 0.1" pos="0 0 0.1" margin="0.002" gap="0.001" solref="0.03 1.1"/>
        <body name="hand" pos="0 0 0.25" gravcomp="0.5">
          <joint name="wrist" type="ball" range="0 0.8" damping="0.1"/>
          <geom name="palm" type="box" size="0.05 0.04 0.02" rgba="0.1 0.2 0.3 1" condim="6"/>
          <geom name="skin" type="ellipsoid" size="0.05 0.04 0.03" contype="0" conaffinity="0" group="1"/>
          <site name="tip" pos="0 0 0.03"/>
        </body>
      </body>
    </body>
    <body name="cube" pos="0.5 0 0.2"><freejoint name="cube"/><geom name="cube" type="box" size="0.1 0.1 0.1"/></body>
    <body name="ghost" mocap="true" pos="1 1 1"/>
    <body name="finger" pos="-0.5 0 0.5">
      <joint name="f1" axis="0 1 0"/><geom name="f1" size="0.05"/>
      <body name="finger2" pos="0.2 0 0"><joint name="f2" axis="0 1 0" ref="0.1"/><geom name="f2" size="0.05"/></body>
    </body>
  </worldbody>"""
ASSETS = """
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.3 0.5 0.7" rgb2="0 0 0" width="32" height="192"/>
    <texture name="grid" type="2d" builtin="checker" rgb1="0.2 0.3 0.4" rgb2="0.1 0.2 0.3" mark="edge" width="30"
             height="30"/>
    <material name="grid" texture="grid" texrepeat="5 5" texuniform="true" reflectance="0.2"/>
    <material name="steel" rgba="0.5 0.5 0.6 1" metallic="1" roughness="0.3" specular="0.9" shininess="0.1"/>
  </asset>"""


def compare(text: str, tmp_path):
    source_file = tmp_path / "source" / "model.xml"
    source_file.parent.mkdir()
    source_file.write_text(f'<mujoco model="everything">{text}</mujoco>')
    source, written = round_trip(source_file, tmp_path)
    assert list_differences(source, written.model, 1e-9) == {}
    assert max(worst_dynamics(source, written.model).values()) < 1e-9
    assert list_touching(source) == list_touching(written.model)
    assert difference(step(source, 50), step(written.model, 50)) < 1e-6
    return source, written


def test_bodies_joints_and_looks(tmp_path):
    source, written = compare(ASSETS + ARM, tmp_path)
    assert not len(written.said)
    for family, count in (
        ("body", source.nbody),
        ("joint", source.njnt),
        ("geom", source.ngeom),
        ("site", source.nsite),
    ):
        names = [
            (getattr(source, family)(i).name, getattr(written.model, family)(i).name) for i in range(count)
        ]
        assert all(a == b for a, b in names if a)


ACTUATORS = """
  <tendon>
    <fixed name="sum" range="-1 1" stiffness="2" springlength="0.1" damping="0.3"><joint joint="f1" coef="0.5"/>
      <joint joint="f2" coef="-1.5"/></fixed>
    <spatial name="cord" width="0.01" rgba="1 0 0 1" limited="true" range="0 2" frictionloss="0.2"><site site="anchor"/>
      <geom geom="rod" sidesite="hook"/><site site="tip"/><pulley divisor="2"/><site site="anchor"/>
      <site site="hook"/></spatial>
  </tendon>
  <actuator>
    <motor name="m" joint="yaw" gear="3" ctrlrange="-1 1" forcerange="-2 2"/>
    <position name="p" joint="roll" kp="20" kv="1.5" ctrlrange="-1 1" group="2"/>
    <position name="lag" joint="lift" kp="20" timeconst="0.1"/>
    <velocity name="v" joint="f1" kv="2" ctrlrange="-3 3"/>
    <general name="g" joint="f2" gainprm="3" biastype="affine" biasprm="0.5 -2 -0.1" dyntype="integrator"
             actrange="-1 1" actearly="true"/>
    <motor name="t" tendon="sum" user="1 2 3"/>
    <motor name="thrust" site="tip" gear="0 0 1 0.1 0 0" refsite="anchor"/>
    <muscle name="muscle" tendon="cord" lengthrange="0.5 2" ctrlrange="0 1"/>
    <adhesion name="stick" body="hand" gain="5" ctrlrange="0 1"/>
    <motor name="spin" joint="wrist" gear="1 2 3"/>
    <motor name="inside" jointinparent="wrist" gear="0 0 1"/>
    <damper name="damper" joint="yaw" kv="3" ctrlrange="0 1"/>
    <cylinder name="piston" joint="lift" area="0.1" timeconst="0.3" bias="1 2 3" ctrlrange="0 1"/>
    <intvelocity name="iv" joint="roll" kp="4" actrange="-1 1"/>
  </actuator>"""


def test_tendons_and_actuators(tmp_path):
    source, written = compare(ASSETS + ARM + ACTUATORS, tmp_path)
    assert not len(written.said)
    tags = [node.tag for node in written.root.find("actuator")]
    assert tags[:4] == ["motor", "position", "general", "velocity"]
    assert "adhesion" in tags
    assert source.nu == written.model.nu


def test_special_laws(tmp_path):
    special = '<actuator><pid name="pid" joint="yaw" kp="1" ki="2"/><motor name="m" joint="roll"/></actuator>'
    source_file = tmp_path / "source" / "model.xml"
    source_file.parent.mkdir()
    source_file.write_text(f"<mujoco>{ASSETS}{ARM}{special}</mujoco>")
    _, written = round_trip(source_file, tmp_path)
    assert not len(written.said)
    assert written.model.nu == 3  # position, velocity, and the motor's
    assert [node.tag for node in written.root.find("actuator")] == ["general", "motor"]


RELATIONS = """
  <equality>
    <connect name="pin" body1="finger2" body2="base" anchor="0.1 0 0" solref="0.03 1"/>
    <weld name="glue" body1="cube" body2="hand" relpose="0.1 0 0 0.8 0 0.6 0" anchor="0.01 0 0" torquescale="0.7"
          active="false"/>
    <connect name="sites" site1="tip" site2="anchor" active="false"/>
    <joint name="couple" joint1="f2" joint2="f1" polycoef="0.1 -0.5 0.2 0.05 0" solimp="0.8 0.9 0.01 0.5 2"/>
    <joint name="still" joint1="roll" polycoef="0.05 0 0 0 0"/>
    <tendon name="same" tendon1="sum" tendon2="cord" polycoef="0.1 0.9 0 0 0" active="false"/>
  </equality>
  <contact>
    <pair name="grip" geom1="palm" geom2="cube" condim="4" friction="0.9 0.8 0.02 0.001 0.002" margin="0.01"/>
    <exclude body1="cube" body2="base"/>
  </contact>
  <sensor>
    <accelerometer name="acc" site="tip" noise="0.1" cutoff="50"/> <gyro name="gyro" site="tip"/>
    <jointpos name="jp" joint="yaw"/> <tendonpos name="tp" tendon="cord"/> <actuatorfrc name="af" actuator="m"/>
    <framepos name="fp" objtype="site" objname="tip" reftype="xbody" refname="base"/>
    <framequat name="fq" objtype="xbody" objname="hand"/> <subtreecom name="com" body="base"/> <clock name="time"/>
    <framelinvel name="flv" objtype="geom" objname="palm"/>
  </sensor>
  <keyframe>
    <key name="home" time="0.5" ctrl="0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1 0.1 0.2 0.3 0.4"
         qpos="0.1 0.05 0.2 0.8 0 0.6 0 0.5 0 0.3 1 0 0 0 0.1 0.2"/>
  </keyframe>
  <custom>
    <numeric name="gains" data="1 2.5 3"/><text name="note" data="hello"/>
    <tuple name="pair"><element objtype="body" objname="hand" prm="0.5"/><element objtype="joint" objname="f1"/></tuple>
  </custom>"""
OPTIONS = """
  <option timestep="0.004" gravity="0 0.1 -9" wind="1 0 0" integrator="implicitfast" cone="elliptic" impratio="10"
          iterations="50" density="1.2" viscosity="0.00002"><flag eulerdamp="disable" energy="enable"/></option>
  <visual><global offwidth="800" ellipsoidinertia="true"/><headlight ambient="0.2 0.3 0.4"/><rgba haze="0.1 0.2 0.3 1"/>
  </visual>
  <statistic center="0 0 0.5" extent="2.5"/>
  <size nkey="1"/>"""


def test_constraints_sensors_keys_and_options(tmp_path):
    source, written = compare(OPTIONS + ASSETS + ARM + ACTUATORS + RELATIONS, tmp_path)
    model = written.model
    assert not written.said.has(Level.WARNING)
    for name in ("timestep", "gravity", "wind", "integrator", "cone", "impratio", "iterations", "disableflags",
                 "enableflags", "density", "viscosity"):  # fmt: skip
        assert np.array_equal(getattr(source.opt, name), getattr(model.opt, name)), name
    assert (model.vis.global_.offwidth, model.vis.global_.ellipsoidinertia) == (800, 1)
    assert np.allclose(model.vis.headlight.ambient, (0.2, 0.3, 0.4))
    assert (model.stat.extent, model.stat.center[2]) == (2.5, 0.5)
    assert np.allclose(model.numeric("gains").data, (1, 2.5, 3))
    assert model.ntext == 1
    assert np.allclose(model.key("home").qpos, source.key("home").qpos)


def test_defaults_are_factored_out(tmp_path):
    links = "".join(
        f'<body name="l{i}"><joint name="j{i}" axis="0 1 0" damping="0.5" armature="0.1"/>'
        f'<geom name="v{i}" size="0.1" contype="0" conaffinity="0" group="2"/>'
        f'<geom name="c{i}" size="0.2" group="3" condim="4"/></body>'
        for i in range(4)
    )
    drives = "".join(f'<position name="j{i}" joint="j{i}" kp="50" kv="2"/>' for i in range(4))
    text = f"<worldbody>{links}</worldbody><actuator>{drives}</actuator>"
    _, written = compare(text, tmp_path)
    section = written.root.find("default")
    assert dict(section.find("joint").attrib) == {"damping": "0.5", "armature": "0.1"}
    classes = {node.get("class"): node[0] for node in section.findall("default")}
    assert set(classes) == {"visual", "collision", "position"}
    assert dict(classes["position"].attrib) == {"kp": "50", "kv": "2"}
    joint = written.root.find(".//worldbody/body/joint")
    assert set(joint.attrib) == {"name", "axis"}


def test_text_is_the_same_every_time(tmp_path):
    _, first = compare(ASSETS + ARM + ACTUATORS + RELATIONS, tmp_path)
    second_folder = tmp_path / "again"
    second_folder.mkdir()
    _, second = compare(ASSETS + ARM + ACTUATORS + RELATIONS, second_folder)
    assert first.path.read_bytes() == second.path.read_bytes()


def test_mocap_moves_from_outside(tmp_path):
    _, written = compare(ASSETS + ARM, tmp_path)
    data = mujoco.MjData(written.model)
    data.mocap_pos[0] = (3, 2, 1)
    mujoco.mj_forward(written.model, data)
    assert data.body("ghost").xpos == pytest.approx((3, 2, 1))


@pytest.mark.parametrize("interface", ["Position", "Velocity"])
def test_a_servo_without_gains_gets_none(interface, tmp_path):
    """MuJoCo's own default is a gain of one, which no transmission of URDF says."""
    links = "".join(
        f'<link name="{name}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>'
        for name in ("base", "wheel")
    )
    file = tmp_path / "cart.urdf"
    file.write_text(
        f'<robot name="cart">{links}<joint name="j" type="continuous"><parent link="base"/><child link="wheel"/>'
        '<limit effort="6" velocity="10"/></joint><transmission name="t">'
        '<type>transmission_interface/SimpleTransmission</type><actuator name="motor"/><joint name="j">'
        f"<hardwareInterface>hardware_interface/{interface}JointInterface</hardwareInterface></joint>"
        "</transmission></robot>"
    )
    reporter = simwright.Reporter()
    model = mujoco.MjModel.from_xml_path(
        str(simwright.convert(file, tmp_path / "cart.xml", reporter=reporter))
    )
    assert model.nu == 1
    assert not model.actuator_gainprm.any()
    assert not model.actuator_biasprm.any()
    assert "mjcf-write-servo-idle" in {finding.kind for finding in reporter}


def test_memory_and_the_older_sizes_stay_in_elements_of_their_own(tmp_path):
    file = tmp_path / "source.xml"
    sizes = '<size memory="10M"/><size njmax="500" nconmax="100" nuser_jnt="1"/>'
    file.write_text(f'<mujoco>{sizes}<worldbody><geom size="1"/></worldbody></mujoco>')
    written = simwright.convert(file, tmp_path / "result.xml")
    before, after = (mujoco.MjModel.from_xml_path(str(path)) for path in (file, written))
    for name in ("narena", "njmax", "nconmax", "nuser_jnt"):
        assert getattr(after, name) == getattr(before, name)
    assert after.narena == 10 * 2**20
