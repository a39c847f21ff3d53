# SPDX-License-Identifier: Apache-2.0
"""The quadruped: MJCF with a floating base, twelve hinges, position actuators, sensors and a home pose."""

from __future__ import annotations

import math

import numpy as np

from samples.arm_shapes import LinkShape
from samples.meshfiles import write_mtl, write_obj, write_stl
from samples.palette import LOOKS, to_srgb
from samples.quadruped_shapes import CALF, FOOT, HIP_X, HIP_Y, OFFSET_Y, THIGH, quadruped_shapes
from samples.solids import Solid, inertial_of_solids
from samples.text import row, short
from simwright.model.geometry import Box, Capsule, Cylinder, Sphere
from simwright.model.inertia import Inertial

FOLDER = "quadruped"
README = ("twelve-joint walker with position actuators", "MJCF", "`scene.xml`, `quadruped.xml`")
"""What it is, its formats, where it starts."""
LEGS = {"FL": (1, 1), "FR": (1, -1), "RL": (-1, 1), "RR": (-1, -1)}
"""Leg name: front or rear, left or right."""
HOME = (0.0, 0.8, -1.6)
"""Abduction, thigh, calf [rad]: the foot stands below the hip."""
HOME_HEIGHT = THIGH * math.cos(0.8) + CALF * math.cos(0.8) + FOOT - 0.002
USED_LOOKS = ("shell", "graphite", "glass", "amber", "rubber")
Lines = list[str]


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    shapes = quadruped_shapes()
    files = {
        f"{FOLDER}/quadruped.xml": _model(shapes),
        f"{FOLDER}/scene.xml": _SCENE.encode("utf-8"),
        f"{FOLDER}/meshes/quadruped.mtl": write_mtl({"shell": LOOKS["shell"]}, "quadruped looks"),
    }
    for body, shape in shapes.items():
        for look, mesh in shape.visuals:
            stem = f"{body}_{look}"
            if look == "shell":
                files[f"{FOLDER}/meshes/{stem}.obj"] = write_obj([(look, mesh)], stem, "quadruped.mtl")
            else:
                files[f"{FOLDER}/meshes/{stem}.stl"] = write_stl(mesh, stem)
    return files


def _model(shapes: dict[str, LinkShape]) -> bytes:
    lines = [_HEAD, *_assets(shapes), "  <worldbody>"]
    lines += [
        f'    <body name="torso" pos="0 0 {short(HOME_HEIGHT)}" childclass="quadruped">',
        '      <freejoint name="root"/>',
        *_body_content("torso", shapes["torso"], 1, 6),
        '      <site name="imu" pos="-0.02 0 0.01"/>',
        '      <camera name="front" pos="0.308 0 0.03" xyaxes="0 -1 0 0 0 1" fovy="58"/>',
    ]
    for leg, (front, side) in LEGS.items():
        lines += _leg(leg, front, side, shapes)
    lines += [
        "    </body>",
        "  </worldbody>",
        *_contact(),
        *_actuators(),
        *_sensors(),
        *_keyframe(),
        "</mujoco>",
    ]
    return ("\n".join(lines) + "\n").encode("utf-8")


def _assets(shapes: dict[str, LinkShape]) -> Lines:
    lines = ["  <asset>"]
    for look in USED_LOOKS:
        surface = LOOKS[look]
        gloss = short(1.0 - surface.roughness, 3)
        color = row((*to_srgb(surface.color), 1.0))
        lines.append(f'    <material name="{look}" rgba="{color}" specular="0.4" shininess="{gloss}"/>')
    for body, shape in shapes.items():
        for look, _ in shape.visuals:
            suffix = "obj" if look == "shell" else "stl"
            lines.append(f'    <mesh name="{body}_{look}" file="{body}_{look}.{suffix}"/>')
    return [*lines, "  </asset>", ""]


def _leg(leg: str, front: int, side: int, shapes: dict[str, LinkShape]) -> Lines:
    return [
        f'      <body name="{leg}_hip" pos="{row((front * HIP_X, side * HIP_Y, 0))}">',
        f'        <joint name="{leg}_abduction" class="abduction"/>',
        *_body_content("hip", shapes["hip"], side, 8),
        f'        <body name="{leg}_thigh" pos="{row((0, side * OFFSET_Y, 0))}">',
        f'          <joint name="{leg}_thigh" class="thigh"/>',
        *_body_content("thigh", shapes["thigh"], side, 10),
        f'          <body name="{leg}_calf" pos="{row((0, 0, -THIGH))}">',
        f'            <joint name="{leg}_calf" class="calf"/>',
        *_body_content("calf", shapes["calf"], side, 12, foot=f"{leg}_foot"),
        f'            <site name="{leg}_foot" pos="{row((0, 0, -CALF))}" size="{short(FOOT + 0.003)}"/>',
        "          </body>",
        "        </body>",
        "      </body>",
    ]


def _body_content(body: str, shape: LinkShape, side: int, indent: int, foot: str = "") -> Lines:
    """Inertia and geoms.  A right leg turns its meshes half round about Z, which mirrors them here."""
    pad = " " * indent
    turn = ' quat="0 0 0 1"' if side < 0 else ""
    inertial = inertial_of_solids(shape.solids, shape.mass)
    if side < 0:
        inertial = _mirrored(inertial)
    placed = f'pos="{row(inertial.com)}" mass="{short(inertial.mass)}"'
    lines = [f'{pad}<inertial {placed} fullinertia="{row(inertial.six)}"/>']
    for look, _ in shape.visuals:
        lines.append(f'{pad}<geom class="visual" mesh="{body}_{look}" material="{look}"{turn}/>')
    for solid in shape.solids:
        if isinstance(solid.geometry, Sphere) and foot:
            lines.append(f'{pad}<geom name="{foot}" class="foot" pos="{row(solid.pose.p)}"/>')
        else:
            lines.append(f"{pad}{_collision(solid)}")
    return lines


def _mirrored(inertial: Inertial) -> Inertial:
    signs = np.array((1.0, -1.0, 1.0))
    return Inertial(inertial.mass, inertial.com * signs, inertial.inertia * np.outer(signs, signs))


def _collision(solid: Solid) -> str:
    match solid.geometry:
        case Box() as box:
            shape = f'type="box" size="{row(box.size / 2)}"'
        case Cylinder() as cylinder:
            shape = f'type="cylinder" size="{short(cylinder.radius)} {short(cylinder.length / 2)}"'
        case Capsule() as capsule:
            shape = f'type="capsule" size="{short(capsule.radius)} {short(capsule.length / 2)}"'
        case other:
            raise AssertionError(other)
    return f'<geom class="collision" {shape} pos="{row(solid.pose.p)}" quat="{row(solid.pose.q, 10)}"/>'


def _contact() -> Lines:
    lines = ["", "  <contact>"]
    for leg in LEGS:
        lines.append(f'    <exclude body1="torso" body2="{leg}_thigh"/>')
        lines.append(f'    <exclude body1="{leg}_hip" body2="{leg}_calf"/>')
    return [*lines, "  </contact>"]


def _actuators() -> Lines:
    lines = ["", "  <actuator>"]
    for leg in LEGS:
        lines += [
            f'    <position name="{leg}_{joint}" class="{joint}" joint="{leg}_{joint}"/>'
            for joint in ("abduction", "thigh", "calf")
        ]
    return [*lines, "  </actuator>"]


def _sensors() -> Lines:
    lines = [
        "",
        "  <sensor>",
        '    <accelerometer name="imu_acceleration" site="imu" noise="0.02"/>',
        '    <gyro name="imu_angular_velocity" site="imu" noise="0.002"/>',
        '    <framequat name="imu_orientation" objtype="site" objname="imu"/>',
    ]
    lines += [f'    <touch name="{leg}_contact" site="{leg}_foot"/>' for leg in LEGS]
    for leg in LEGS:
        for joint in ("abduction", "thigh", "calf"):
            lines.append(f'    <jointpos name="{leg}_{joint}_position" joint="{leg}_{joint}"/>')
    return [*lines, "  </sensor>"]


def _keyframe() -> Lines:
    legs = row(HOME * 4)
    return [
        "",
        "  <keyframe>",
        f'    <key name="home" qpos="0 0 {short(HOME_HEIGHT)} 1 0 0 0 {legs}" ctrl="{legs}"/>',
        "  </keyframe>",
    ]


_HEAD = """<?xml version="1.0"?>
<!-- Generated by scripts/make_samples.py -->
<mujoco model="quadruped">
  <compiler angle="radian" meshdir="meshes" autolimits="true"/>
  <option timestep="0.002" cone="elliptic" impratio="10" integrator="implicitfast"/>

  <default>
    <default class="quadruped">
      <joint damping="0.6" armature="0.012" frictionloss="0.15"/>
      <position kp="140" kv="3" inheritrange="1"/>
      <site group="3"/>
      <default class="abduction">
        <joint axis="1 0 0" range="-0.8 0.8"/>
        <position forcerange="-24 24"/>
      </default>
      <default class="thigh">
        <joint axis="0 1 0" range="-1.2 2.8"/>
        <position forcerange="-24 24"/>
      </default>
      <default class="calf">
        <joint axis="0 1 0" range="-2.65 -0.75"/>
        <position forcerange="-38 38"/>
      </default>
      <default class="visual">
        <geom type="mesh" group="2" contype="0" conaffinity="0" density="0"/>
      </default>
      <default class="collision">
        <geom group="3" friction="0.6"/>
        <default class="foot">
          <geom type="sphere" size="@foot@" friction="0.9 0.02 0.001" condim="6" priority="1"
            solimp="0.9 0.95 0.023"/>
        </default>
      </default>
    </default>
  </default>
""".replace("@foot@", short(FOOT))

_SCENE = """<?xml version="1.0"?>
<!-- Generated by scripts/make_samples.py -->
<mujoco model="quadruped scene">
  <include file="quadruped.xml"/>
  <statistic center="0 0 0.2" extent="0.8"/>
  <visual>
    <headlight ambient="0.3 0.3 0.3" diffuse="0.5 0.5 0.5" specular="0.1 0.1 0.1"/>
    <global azimuth="140" elevation="-18" offwidth="1280" offheight="960"/>
  </visual>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="0.82 0.86 0.9" rgb2="0.45 0.52 0.6" width="256"
      height="256"/>
    <texture name="floor" type="2d" builtin="checker" rgb1="0.62 0.64 0.66" rgb2="0.56 0.58 0.6" width="256"
      height="256"/>
    <material name="floor" texture="floor" texrepeat="8 8" texuniform="true" reflectance="0.05"/>
  </asset>
  <worldbody>
    <light name="lamp" pos="0.8 -0.8 2.5" dir="-0.3 0.3 -1" diffuse="0.6 0.6 0.6" castshadow="true"/>
    <geom name="floor" type="plane" size="0 0 0.05" material="floor"/>
  </worldbody>
</mujoco>
"""
