"""Small MJCF robots, one for each family of what MuJoCo can say about a mechanism."""

from __future__ import annotations

ARM = """
<mujoco model="arm">
  <compiler angle="radian"/>
  <worldbody>
    <body name="base" pos="0 0 0.1">
      <geom name="foot" type="box" size="0.1 0.1 0.1"/>
      <body name="upper" pos="0 0 0.3333333333333333" quat="0.9 0.1 0.2 0.3">
        <joint name="shoulder" axis="0.3 0.7 -0.2" pos="0.01 0.02 0.03" range="-1.1 2.2" limited="true" damping="0.7"/>
        <inertial pos="0.012345678901 -0.02 0.1" mass="1.2345678901234567"
          fullinertia="0.0123456789 0.0223456789 0.0323456789 0.001 -0.002 0.0015"/>
        <geom name="bone" type="capsule" size="0.05 0.1" contype="2" conaffinity="5"/>
        <site name="hook" pos="0.05 0 0.1"/>
        <body name="fore" pos="0 0.05 0.3">
          <joint name="slide" type="slide" axis="0 1 1" range="-0.1 0.2" limited="true" armature="0.03"/>
          <geom name="shell" type="box" size="0.04 0.05 0.06" contype="0" conaffinity="4" condim="6"
            friction="0.8 0.02 0.003" solref="0.01 0.9" priority="2"/>
          <site name="tip" pos="0 0 0.1"/>
          <body name="hand" pos="0 0 0.2">
            <joint name="wrist" axis="1 0 0" range="-2 2" limited="true"
              frictionloss="0.1" stiffness="3" springref="0.4"/>
            <geom name="palm" type="sphere" size="0.05"/>
            <site name="palm_site" pos="0 0.05 0"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  {more}
</mujoco>
"""

STACKS = """
<mujoco model="stacks">
  <compiler angle="radian"/>
  <worldbody>
    <body name="cart" pos="0.1 0.2 0.5">
      <joint name="y" type="slide" axis="0 1 0" damping="1"/>
      <joint name="x" type="slide" axis="1 0 0" damping="2" armature="0.2"/>
      <joint name="yaw" axis="0 0 1" pos="0.05 0 0" ref="0.3" range="-1 2" limited="true"/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="neck" pos="0 0 0.2">
        <joint name="roll" axis="1 0 0"/>
        <joint name="nod" axis="0 0 1" pos="0 0 0.02"/>
        <joint name="tilt" axis="0 1 0" ref="-0.2"/>
        <geom type="capsule" size="0.03 0.1"/>
        <body name="head" pos="0 0 0.3">
          <joint name="pan" axis="0 0 1"/>
          <joint name="push" type="slide" axis="1 0 0" pos="0 0 0.1"/>
          <joint name="socket" type="ball" pos="0.01 0 0" range="0 1" limited="true" damping="0.1"/>
          <geom type="sphere" size="0.08"/>
        </body>
      </body>
      <body name="arm_b" pos="0.2 0 0">
        <joint name="b1" axis="0 1 0"/>
        <geom type="capsule" size="0.02 0.1"/>
      </body>
      <body name="arm_a" pos="-0.2 0 0">
        <joint name="a1" axis="0 1 0"/>
        <geom type="capsule" size="0.02 0.1"/>
      </body>
    </body>
    <body name="ball" pos="1 2 3" quat="0.8 0.6 0 0">
      <freejoint name="loose"/>
      <geom type="sphere" size="0.1"/>
    </body>
    <body name="heavy" pos="-1 0 1">
      <joint name="drag" type="free" damping="0.5" armature="0.01"/>
      <geom type="box" size="0.1 0.2 0.1"/>
    </body>
  </worldbody>
  {more}
</mujoco>
"""

ACTUATORS = """
  <tendon>
    <fixed name="pull" range="-1 1" limited="true" stiffness="2" springlength="0.1">
      <joint joint="shoulder" coef="0.5"/>
      <joint joint="wrist" coef="-0.25"/>
    </fixed>
    <spatial name="cord" width="0.01" damping="0.4" frictionloss="0.02">
      <site site="hook"/>
      <geom geom="palm" sidesite="tip"/>
      <site site="palm_site"/>
      <pulley divisor="2"/>
      <site site="hook"/>
      <site site="tip"/>
    </spatial>
  </tendon>
  <actuator>
    <motor name="m" joint="shoulder" gear="20" ctrlrange="-1 1" forcerange="-3 5"/>
    <position name="p" joint="wrist" kp="50" kv="2" ctrlrange="-2 1.5" gear="2"/>
    <position name="lagging" joint="wrist" kp="20" timeconst="0.1"/>
    <velocity name="v" joint="slide" kv="4"/>
    <intvelocity name="i" joint="wrist" kp="30" actrange="-1 1"/>
    <damper name="d" joint="slide" kv="3" ctrlrange="0 2"/>
    <cylinder name="c" joint="slide" timeconst="0.2" area="0.01" bias="1 2 3"/>
    <muscle name="mu" tendon="cord" lengthrange="0.2 0.9" range="0.7 1.1" force="300"/>
    <adhesion name="sticky" body="hand" gain="10" ctrlrange="0 1"/>
    <general name="g" joint="shoulder" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="0.1 0.2 0.3"
      dyntype="filterexact" dynprm="0.05" actlimited="true" actrange="-1 2" actearly="true"/>
    <general name="half" joint="wrist" gainprm="7" biastype="none" biasprm="0 -7 -1"/>
    <motor name="parent" jointinparent="wrist" gear="3"/>
    <motor name="ontendon" tendon="pull" gear="4" group="2"/>
    <position name="hold" tendon="pull" kp="8"/>
    <motor name="thrust" site="tip" gear="0 0 1 0 0 0.1"/>
    <motor name="relative" site="palm_site" refsite="hook" gear="1 0 0 0 0 0"/>
    <general name="crank" cranksite="palm_site" slidersite="hook" cranklength="0.2" gainprm="2"/>
  </actuator>
  <keyframe>
    <key name="home" qpos="0.1 0.02 -0.3" ctrl="0 0.5 0 0 0 1 0 0.1 0 0 0 0 0 0.2 0 0 0"/>
    <key name="fast move" qvel="1 2 3" time="1.5"/>
  </keyframe>
"""

CONSTRAINTS = """
  <contact>
    <exclude body1="base" body2="hand"/>
    <pair name="grip" geom1="foot" geom2="palm" condim="4" friction="0.5 0.6 0.01 0.02 0.03"
      solref="0.03 0.8" gap="0.01"/>
  </contact>
  <tendon>
    <fixed name="one"><joint joint="shoulder" coef="1"/></fixed>
    <fixed name="two"><joint joint="wrist" coef="2"/></fixed>
  </tendon>
  <equality>
    <connect name="pin" body1="hand" body2="base" anchor="0 0.01 0.02" solref="0.05 1"/>
    <weld name="glue" body1="fore" relpose="0.1 0.2 0.3 0.9 0.1 0.2 0.3" torquescale="0.5" active="false"/>
    <joint name="follow" joint1="wrist" joint2="shoulder" polycoef="0.1 0.5 0.25 0 0.125" solimp="0.8 0.9 0.01 0.5 2"/>
    <tendon name="tie" tendon1="one" tendon2="two" polycoef="0 0.5 0.1 0 0"/>
  </equality>
"""

OPTIONS = """
  <option timestep="0.004" integrator="implicitfast" cone="elliptic" gravity="0 0 -9.79" wind="1 0 0" iterations="50">
    <flag eulerdamp="disable" energy="enable"/>
  </option>
  <custom>
    <numeric name="gains" data="1.5 2.5"/>
    <text name="author" data="nobody"/>
    <tuple name="set"><element objtype="body" objname="hand" prm="0.5"/></tuple>
  </custom>
  <visual><global azimuth="130"/></visual>
  <sensor>
    <jointpos name="angle" joint="wrist" noise="0.01" cutoff="3"/>
    <gyro name="rate" site="tip"/>
    <framepos name="reach" objtype="site" objname="tip" reftype="body" refname="base"/>
  </sensor>
"""

STACK_PARTS = """
  <tendon>
    <fixed name="sum" range="-0.5 0.75" limited="true">
      <joint joint="y" coef="2"/><joint joint="yaw" coef="0.5"/></fixed>
  </tendon>
  <actuator>
    <position name="turn" joint="yaw" kp="10" ctrlrange="-0.5 1.5"/>
    <position name="lean" joint="tilt" kp="10" gear="3" ctrlrange="-0.5 1.5"/>
    <intvelocity name="creep" joint="tilt" kp="5" actrange="-1 1"/>
    <general name="law" joint="tilt" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6"/>
    <motor name="spin" joint="socket" gear="1 2 3"/>
    <motor name="lift" joint="loose" gear="0 0 1 0 0 0.5"/>
    <position name="servo" tendon="sum" kp="6" ctrlrange="-1 1"/>
  </actuator>
  <equality>
    <joint name="geared" joint1="yaw" joint2="x" polycoef="0.1 2 0 0 0"/>
    <joint name="folded" joint1="tilt" joint2="nod" polycoef="0 1 0.5 0 0"/>
    <joint name="twice" joint1="tilt" joint2="roll" polycoef="0 3 0 0 0" active="false"/>
  </equality>
  <keyframe>
    <key name="start" qpos="0.1 0.2 0.5 0.1 0.2 0.3 0.1 0.2 1 0 0 0 0.5 0.6 1 2 3 1 0 0 0 0 0 1 1 0 0 0"
      ctrl="0.1 0.2 0.3 0.4 0.5 0.6 0.7"/>
  </keyframe>
"""

ODDS = """
<mujoco model="odds">
  <compiler angle="degree"/>
  <size nuser_body="2"/>
  <worldbody>
    <geom name="floor" type="plane" size="0 0 0.1"/>
    <body name="target" mocap="true" pos="1 1 1">
      <geom name="ghost" type="sphere" size="0.1" contype="0" conaffinity="0"/>
    </body>
    <body name="a" pos="0 0 1" gravcomp="0.5" user="1 2">
      <joint name="swing" type="ball" pos="0 0 0.1" range="0 40" limited="true" damping="0.3" stiffness="1.5"/>
      <geom name="ga" type="capsule" size="0.05 0.2" margin="0.01" gap="0.002" solmix="0.5"/>
      <body name="b" pos="0 0 -0.4">
        <joint name="knee" axis="0 1 0" range="-90 10" limited="true" actuatorfrcrange="-5 7" margin="0.02"
          solreflimit="0.03 0.7" ref="15" springref="20" stiffness="2"/>
        <geom name="gb" type="cylinder" size="0.04 0.1"/>
        <site name="s" size="0.02 0.03 0.04" type="box" rgba="1 0 0 1" group="3"/>
      </body>
    </body>
    <body name="mount" pos="2 0 0">
      <geom name="gm" type="box" size="0.1 0.1 0.1"/>
      <body name="sub" pos="0 0 0.2"><geom name="gs" type="box" size="0.05 0.05 0.05"/></body>
    </body>
  </worldbody>
  <contact><exclude body1="world" body2="b"/><exclude body1="a" body2="sub"/></contact>
  <actuator><position name="k" joint="knee" kp="7" ctrlrange="-80 10"/></actuator>
  {more}
</mujoco>
"""
