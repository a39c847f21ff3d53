# SPDX-License-Identifier: Apache-2.0
"""Small robots and manifests for tests."""

from __future__ import annotations

from pathlib import Path
from textwrap import dedent

ARM = """
<mujoco model="toy">
  <compiler angle="degree"/>
  <option timestep="0.003" integrator="implicitfast"/>
  <worldbody>
    <body name="base" pos="0 0 0.1">
      <geom type="cylinder" size="0.05 0.05" mass="2"/>
      <site name="plate" pos="0 0 -0.05" euler="0 0 90"/>
      <body name="turret" pos="0 0 0.1">
        <joint name="turn" axis="0 0 1" range="-170 170"/><geom size="0.04" mass="1"/>
        <body name="upper"><joint name="lift" axis="0 1 0" range="-120 120"/>
          <geom type="capsule" fromto="0 0 0.05 0 0 0.25" size="0.03" mass="1"/>
          <body name="lower" pos="0 0 0.3"><joint name="bend" axis="0 1 0" range="-150 150"/>
            <geom type="capsule" fromto="0 0 0.05 0 0 0.2" size="0.025" mass="0.5"/>
            <body name="wrist" pos="0 0 0.25"><joint name="tip" axis="0 1 0" range="-120 120"/>
              <geom type="capsule" fromto="0 0 0 0 0 0.03" size="0.02" mass="0.2"/>
              <site name="flange" pos="0 0 0.05" euler="90 0 0"/>
              <body name="left" pos="0.02 0 0.06"><joint name="left" type="slide" axis="1 0 0" range="0 0.03"/>
                <geom type="box" size="0.005 0.01 0.02" mass="0.05"/></body>
              <body name="right" pos="-0.02 0 0.06"><joint name="right" type="slide" axis="-1 0 0" range="0 0.03"/>
                <geom type="box" size="0.005 0.01 0.02" mass="0.05"/></body>
            </body>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="right" joint2="left"/></equality>
  <actuator>
    <position name="a_turn" joint="turn" kp="100" kv="10" ctrlrange="-170 170"/>
    <general name="a_lift" joint="lift" gear="2" gainprm="20" biastype="affine" biasprm="0 -20 -1"/>
    <motor name="a_lift_more" joint="lift"/>
    <position name="a_bend" joint="bend" kp="80" kv="8"/>
    <position name="a_tip" joint="tip" kp="20" kv="2"/>
    <position name="grip" joint="left" kp="100" kv="10" ctrlrange="0 0.03"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0 0.5 1 1 0.03 0.03" ctrl="0 0.5 1 1 1 0.03"/>
    <key name="rest" qpos="0 -0.5 1 1 0 0" ctrl="0 0 0 1 1 0"/>
  </keyframe>
</mujoco>
"""


def write_arm(folder: Path, manifest: str = "", *, name: str = "robot.yaml") -> Path:
    """The toy arm and a manifest of it: the lines given, and the address of its file unless they have a ``sim``."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "arm.xml").write_text(ARM)
    text = "id: toy\n" + dedent(manifest).lstrip("\n")
    if "sim:" not in text:
        text += "sim: {mjcf_uri: arm.xml}\n"
    file = folder / name
    file.write_text(text)
    return file
