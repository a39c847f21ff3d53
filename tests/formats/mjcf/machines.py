"""Small machines in MJCF, each with the words that one part of MuJoCo has, for holding two models against each other."""

from __future__ import annotations

BOX = '<geom size=".1 .07 .05" type="box"/>'

JOINTS = f"""<mujoco><compiler angle="degree"/><worldbody>
 <body name="a" pos="0.1 0.2 1.3" euler="10 20 30">
  <joint name="x" type="slide" axis="1 0.3 0" range="-.01 .01" margin=".003" solreflimit=".03 .9" damping=".4"/>
  <joint name="y" axis=".1 1 0" pos=".1 .013 .027" range="-5 5" margin=".01" solimplimit=".8 .9 .01 .4 3" ref="7"
   springref="20" stiffness="3" armature=".01"/>
  <joint name="z" axis="0 .2 1" pos=".3 .11 -.07" frictionloss=".02" solreffriction=".04 1.1" actuatorfrcrange="-1 3"/>
  {BOX}
  <body name="b" pos=".3 .1 0" quat=".9 .1 .2 .3"><joint name="ball" type="ball" pos=".07 .01 .02" range="0 20" damping=".01"
   solreflimit="-300 -20"/>{BOX}
   <body name="c" pos=".2 0 .1"><joint name="sd" springdamper=".2 .7" axis="1 1 0" pos="0 .03 .1" group="2" user="1 2"/>{BOX}
   </body></body></body>
 <body name="f" pos="3 .1 .7" axisangle="1 2 3 40"><freejoint name="free" group="1"/>{BOX}</body>
 <body name="g" pos="-3 .1 .7" zaxis="1 2 3"><joint type="free" name="damped" damping=".3" armature=".02" frictionloss=".01"/>
 {BOX}</body>
</worldbody></mujoco>"""

OPTIONS = f"""<mujoco><option timestep="0.0013" gravity=".1 .2 -3.71" wind="1 2 .3" density="1.7" viscosity=".021"
 integrator="implicitfast" cone="elliptic" solver="CG" iterations="37" tolerance="1e-7" ls_iterations="23" impratio="3.3"
 jacobian="sparse" noslip_iterations="2" magnetic="1 2 3" ccd_iterations="33" o_margin=".01" actuatorgroupdisable="1 4">
 <flag warmstart="disable" eulerdamp="disable" filterparent="disable" energy="enable" midphase="disable"/></option>
 <size memory="3M" nuserdata="4" nuser_geom="2"/>
 <worldbody><geom type="plane" size="1 1 .1" friction=".7 .01 .001"/>
 <body pos="0 0 .2"><freejoint/><geom type="ellipsoid" size=".1 .05 .03" fluidshape="ellipsoid" fluidcoef=".4 .2 1.3 .9 .8"
  condim="6" friction=".6 .02 .003" solref=".015 .9" solmix="2" priority="1" user="3 4"/>
  <body pos=".2 0 0"><joint name="h" axis="0 1 0"/>{BOX}</body></body></worldbody>
 <actuator><motor joint="h" group="1" gear="2"/><motor joint="h" gear="3"/></actuator></mujoco>"""

TENDONS = """<mujoco><default><geom density="700"/></default><worldbody><site name="s0" pos="0 .3 1"/>
 <site name="side" pos=".3 .3 1"/>
 <geom name="drum" type="cylinder" size=".05 .1" pos="0 .1 .9" euler="3 87 11" contype="0" conaffinity="0"/>
 <body name="a" pos="0 0 1"><joint name="p" axis="0 1 0" pos=".01 0 0"/><geom type="capsule" fromto="0 0 0 .31 .02 0" size=".02"/>
  <site name="s1" pos=".3 0 .02"/>
  <body name="b" pos=".31 0 0"><joint name="q" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .2 .01 0" size=".02"/>
   <site name="s2" pos=".1 0 .03" euler="1 2 3"/></body></body></worldbody>
 <tendon><spatial name="sp" stiffness="7" damping=".1" springlength=".2 .33" range="0 .9" limited="true" frictionloss=".02"
   solreflimit=".03 1" margin=".01"><site site="s0"/><geom geom="drum" sidesite="side"/><site site="s1"/><pulley divisor="2"/>
   <site site="s1"/><site site="s2"/></spatial>
  <spatial name="auto" stiffness="3" armature=".01"><site site="s0"/><site site="s2"/></spatial>
  <fixed name="fx" range="-.2 .3" solimplimit=".8 .9 .01"><joint joint="p" coef=".7"/><joint joint="q" coef="-.3"/></fixed></tendon>
 <actuator><motor name="m" tendon="fx"/><muscle name="mu" tendon="sp" lengthrange=".3 .9" ctrlrange="0 1"/>
  <position name="po" tendon="sp" kp="5"/></actuator></mujoco>"""

ACTUATORS = """<mujoco><worldbody><site name="fix" pos=".1 0 .2" euler="0 30 0"/>
 <body name="a" pos="0 0 1"><joint name="p" axis="0 1 0" limited="true" range="-.7 .9"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
  <site name="tip" pos=".3 0 0"/>
  <body name="b" pos=".3 0 0" euler="0 0 20"><joint name="q" axis="0 1 .3"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
   <site name="end" pos=".3 0 0"/>
   <body name="c" pos=".3 0 0"><joint name="s" type="slide" axis="1 0 0" range="-.1 .1"/><geom size=".03"/>
    <body name="d" pos=".1 0 0"><joint name="w" type="ball"/><geom size=".03" pos="0 .1 0"/></body></body></body></body>
 <body name="crank" pos="1 0 1"><joint name="cr" axis="0 1 0"/><geom size=".05" pos=".05 0 0"/><site name="cs" pos=".1 0 0"/></body>
 <body name="slider" pos="1.4 0 1"><joint name="sl" axis="1 0 0" type="slide"/><geom size=".05"/><site name="ss" zaxis="1 0 0"/></body>
 </worldbody><actuator>
 <motor name="m" joint="p" gear="1.7" ctrlrange="-2 3" forcerange="-1 1"/>
 <position name="po" joint="q" kp="3.3" dampratio=".7" inheritrange="0"/><position name="lag" joint="s" kp="30" kv="2" timeconst=".03"/>
 <velocity name="ve" joint="p" kv=".2"/><intvelocity name="iv" joint="s" kp="20" actrange="-.05 .05"/>
 <damper name="da" joint="q" kv=".3" ctrlrange="0 1"/><cylinder name="cy" joint="s" timeconst=".2" area=".3" bias=".1 .2 .3"/>
 <muscle name="mu" joint="q" lengthrange="-1 1" range=".7 1.1" force="12"/>
 <general name="ge" joint="p" gaintype="affine" gainprm=".3 .2 .1" biastype="affine" biasprm=".01 -.3 -.02" dyntype="filterexact"
   dynprm=".07" actlimited="true" actrange="-.5 .5" actearly="true"/>
 <general name="in" joint="s" dyntype="integrator" gainprm="3" biastype="affine" biasprm="0 -3"/>
 <general name="us" joint="s" dyntype="user" actdim="3"/>
 <motor name="si" site="tip" gear="0 0 1 .1 0 0"/><motor name="re" site="end" refsite="fix" gear="1 0 0 0 .2 0"/>
 <motor name="jp" jointinparent="w" gear=".1 .2 .3"/><motor name="ba" joint="w" gear=".1 .2 .3"/>
 <motor name="sc" cranksite="cs" slidersite="ss" cranklength=".45" gear="2"/>
 <motor name="de" joint="p" delay=".01" nsample="8" interp="linear"/>
 <pid name="pid" joint="p" kp="2" ki=".3" kv=".1" posrange="-1 1" velrange="-2 2" slewmax="3" imax="2"/>
 <dcmotor name="dc" joint="q" motorconst=".1" resistance="2" inductance=".1"/><orientation name="so" joint="w" kp=".1" kv=".01"/>
 <orientation name="qu" joint="w" kp=".1" input="quat"/>
 </actuator></mujoco>"""

EQUALITIES = f"""<mujoco><worldbody><site name="w" pos=".1 .2 1" euler="10 20 30"/>
 <body name="a" pos="0 0 1" euler="0 11 0"><joint name="p" ref=".3" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>
  <site name="sa" pos=".3 .013 0" euler="1 2 3"/>
  <body name="b" pos=".3 0 0"><joint name="q" ref="-.2" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/></body></body>
 <body name="c" pos=".61 0 1.1" euler="0 20 0"><joint name="r" axis="0 1 0"/><joint name="t" type="slide" axis="0 0 1"/>
  <geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="sc" pos=".2 0 .01"/></body>
 <body name="d" pos="0 1 1"><freejoint/>{BOX}</body><body name="e" pos=".5 1 1" euler="3 2 1"><freejoint/>{BOX}</body>
 <body name="m" mocap="true" pos="0 1.5 1.2" euler="0 0 45"><geom size=".02" contype="0" conaffinity="0"/></body>
 </worldbody><tendon><fixed name="t1"><joint joint="r" coef=".9"/></fixed><fixed name="t2"><joint joint="p" coef="1"/></fixed></tendon>
 <equality><joint name="j1" joint1="q" joint2="p" polycoef=".1 .7 .03 .01 0" solref=".03 1.2"/>
  <connect name="c1" body1="b" body2="c" anchor=".29 0 .01" solimp=".8 .91 .002 .4 1.5"/>
  <joint name="j2" joint1="t" polycoef=".02 0 0 0 0"/>
  <weld name="w1" body1="d" body2="m" solref=".05 1" torquescale=".3"/>
  <weld name="w2" body1="d" body2="e" relpose=".4 .1 0 .9 .1 .2 .1" anchor=".1 0 .02"/>
  <connect name="c2" site1="sa" site2="sc" active="false"/><weld name="w3" site1="sa" site2="w" active="false"/>
  <tendon name="e1" tendon1="t1" tendon2="t2" polycoef="0 .3 .1 0 0"/><tendon name="e2" tendon1="t1" polycoef=".1 0 0 0 0" active="false"/>
  <connect name="c3" body1="c" anchor=".3 .01 0"/></equality></mujoco>"""

CONTACTS = f"""<mujoco><default><geom margin=".001" gap=".0005"/><pair condim="4"/></default><worldbody>
 <geom name="floor" type="plane" size="0 0 .05" euler="2 1 0"/>
 <body name="a" pos="0 0 .3"><freejoint/><geom name="ga" size=".1" contype="0" conaffinity="0"/>
  <body name="b" pos=".19 0 0"><joint axis="0 1 0"/><geom name="gb" size=".1" contype="2" conaffinity="4"/>
   <body name="c" pos=".15 0 .1"><joint axis="0 1 0"/><geom name="gc" type="capsule" size=".05 .1" contype="5" conaffinity="3"/></body></body></body>
 <body name="d" pos=".5 0 .2"><freejoint/><geom name="gd" type="box" size=".1 .05 .1"/>
  <body name="fixed" pos="0 0 .2"><geom name="ge" size=".07"/></body></body>
 <body name="e" pos=".52 .02 .6" gravcomp=".3"><freejoint/>{BOX}</body></worldbody>
 <contact><pair name="one" geom1="ga" geom2="floor" friction=".5 .4 .01 .001 .002" solref=".01 1" margin=".02"/>
  <pair geom1="gb" geom2="floor" solreffriction=".02 1" condim="3"/><exclude body1="c" body2="d"/><exclude name="ex" body1="b" body2="d"/>
 </contact></mujoco>"""

INERTIAS = {
    "auto": "",
    "total": 'settotalmass="7.3"',
    "bounds": 'boundmass=".3" boundinertia=".02"',
    "from_geoms": 'inertiafromgeom="true" inertiagrouprange="0 1"',
    "balanced": 'balanceinertia="true"',
}


def make_inertias(words: str) -> str:
    """Bodies whose inertia is written in every way there is, under compiler settings."""
    return f"""<mujoco><compiler angle="radian" {words}/><worldbody>
 <body name="diagonal" pos="0 0 1"><inertial pos=".1 .02 .03" mass="1.3" diaginertia=".03 .02 .041" quat=".3 .2 .9 .11"/>
  <joint axis="0 1 0"/>{BOX}
  <body name="full" pos=".3 0 0"><inertial pos=".1 .02 .03" mass=".7" fullinertia=".03 .02 .04 .001 .002 -.003"/><joint axis="1 1 0"/>{BOX}
   <body name="turned" pos=".3 0 0"><inertial pos=".1 .02 .03" mass=".7" diaginertia=".01 .02 .022" euler=".1 .2 .3"/><joint/>{BOX}
    <body name="geoms" pos=".3 0 0" euler=".1 .2 .3"><joint axis="0 1 .1"/><geom type="capsule" fromto="0 0 0 .2 .1 .03" size=".03" mass=".2"/>
     <geom type="cylinder" size=".05 .1" pos=".1 .02 0" euler=".3 .2 .1" density="321"/><geom type="ellipsoid" size=".1 .05 .02" group="2"/>
     <geom type="box" size=".1 .2 .03" shellinertia="true" density="3"/>
     <body name="fixed" pos=".03 .01 .2"><geom size=".05"/></body></body></body></body></body></worldbody></mujoco>"""


MESHES = """<mujoco><compiler angle="degree"/><asset>
 <mesh name="file" file="wedge.obj" scale="1.1 -.9 .7"/><mesh name="hull" file="wedge.obj" inertia="convex" maxhullvert="5"/>
 <mesh name="moved" file="wedge.obj" refpos=".1 .2 .03" refquat=".9 .1 .2 .3"/><mesh name="shell" file="wedge.obj" inertia="shell"/>
 <mesh name="exact" file="wedge.obj" inertia="exact"/>
 <mesh name="points" vertex="0 0 0 .2 0 .01 .03 .17 0 .01 .02 .13 .1 .1 .09"/>
 <mesh name="faces" vertex="0 0 0 .2 0 .01 .03 .17 0 .01 .02 .13" face="0 2 1 0 1 3 1 2 3 2 0 3" refpos=".01 0 0"/>
 <mesh name="ball" builtin="sphere" params="2" scale=".1 .07 .06"/></asset><worldbody>
 <geom type="plane" size="2 2 .1"/><body pos="0 0 .3" euler="3 4 5"><freejoint/><geom type="mesh" mesh="file" euler="7 8 9" pos=".1 .2 .3"/>
  <frame pos=".1 .02 .03" euler="5 6 7"><geom type="mesh" mesh="moved" axisangle="1 2 3 30" mass=".3"/></frame></body>
 <body pos="1 0 .3"><freejoint/><geom type="mesh" mesh="hull"/><geom type="mesh" mesh="shell" pos="0 0 .2" density="2"/></body>
 <body pos="-1 0 .3" quat=".8 .1 .2 .3"><joint axis="1 0 .3"/><geom type="mesh" mesh="exact" quat=".9 .1 0 .1"/>
  <geom type="mesh" mesh="points" quat=".9 .1 .3 .1" pos=".01 0 .02"/></body>
 <body pos="0 1 .4"><freejoint/><geom type="mesh" mesh="faces" xyaxes="1 .1 0 0 1 .2"/></body>
 <body pos="1 1 .4"><freejoint/><geom type="mesh" mesh="ball" zaxis="0 1 2"/></body>
 <body pos="2 1 .4"><freejoint/><geom type="capsule" mesh="file"/><geom type="box" mesh="hull" pos=".1 0 0" contype="0" conaffinity="0"/></body>
 </worldbody></mujoco>"""

WEDGE = "v 0 0 0\nv .3 0 .01\nv .03 .27 0\nv .02 .03 .23\nv .31 .02 .2\nf 1 3 2\nf 1 2 5 4\nf 3 4 5\nf 2 3 5\nf 1 4 3\n"

TREE = f"""<mujoco><compiler angle="degree" eulerseq="zyx"/><default><joint damping=".1"/><default class="arm"><joint axis="0 1 0"
 armature=".03"/><geom type="capsule" size=".03 .1" density="300"/></default></default>
 <asset><model name="other" file="other.xml"/></asset><worldbody><geom type="plane" size="3 3 .1"/>
 <frame pos=".1 .2 .9" euler="10 20 30"><body name="root" childclass="arm"><joint/><geom/><frame euler="0 30 0" pos=".1 0 .2">
  <body name="tip"><joint pos="0 .01 -.1"/><geom euler="0 20 0"/></body></frame></body></frame>
 <replicate count="3" offset=".5 0 0" euler="0 0 20"><body name="copy" pos="0 1 .4"><freejoint/>{BOX}</body></replicate>
 <body name="carrier" pos="-1 0 .5" euler="0 0 33"><joint type="slide" axis="0 0 1"/>{BOX}<frame pos="0 0 .3" euler="5 6 7">
  <attach model="other" body="base" prefix="o_"/></frame></body></worldbody></mujoco>"""

OTHER = f"""<mujoco><compiler angle="radian"/><option timestep=".01"/><worldbody><body name="base" euler=".1 .2 .3">
 <joint name="turn" axis="1 0 0" range="-.3 .4"/>{BOX}<body name="end" pos=".2 0 0"><joint name="end" axis="0 1 0"/>{BOX}</body></body></worldbody>
 <actuator><position name="servo" joint="turn" kp="3"/></actuator></mujoco>"""

FIELDS = f"""<mujoco><asset><hfield name="ground" nrow="3" ncol="4" size="2 3 .37 .1" elevation="0 1 2 .3 .7 1.1 .2 .9 0 .4 .35 2.3"/></asset>
 <worldbody><geom type="hfield" hfield="ground" pos="0 0 .1" euler="1 2 3"/><body pos=".3 .2 .8" euler="10 20 0"><freejoint/>{BOX}</body>
 <body pos="-.3 .2 .8" sleep="never"><freejoint/><geom size=".1"/></body></worldbody></mujoco>"""

SENSORS = f"""<mujoco><size nuser_sensor="1"/><worldbody><camera name="cam" pos="0 -1 1" euler="80 0 0" resolution="20 10"/><site name="zone" type="box" size="1 1 1"/>
 <body name="a" pos="0 0 1"><joint name="p" axis="0 1 0" range="-1 1"/><geom name="g" type="capsule" fromto="0 0 0 .3 0 0" size=".02"/><site name="s" pos=".3 0 0"/>
 <body name="b" pos=".3 0 0"><joint name="w" type="ball"/>{BOX}</body></body></worldbody>
 <tendon><fixed name="t" range="-1 1"><joint joint="p" coef="1"/></fixed></tendon><actuator><motor name="m" joint="p"/></actuator><sensor>
 <accelerometer name="acc" site="s" noise=".1" cutoff="3" user="2"/><gyro site="s"/><force site="s"/><torque site="s"/><magnetometer site="s"/>
 <velocimeter site="s"/><touch site="s"/><rangefinder site="s"/><jointpos joint="p"/><jointvel joint="p"/><ballquat joint="w"/><ballangvel joint="w"/>
 <tendonpos tendon="t"/><tendonvel tendon="t"/><actuatorpos actuator="m"/><actuatorvel actuator="m"/><actuatorfrc actuator="m"/><jointactuatorfrc joint="p"/>
 <jointlimitpos joint="p"/><jointlimitfrc joint="p"/><tendonlimitpos tendon="t"/><framepos objtype="body" objname="b"/>
 <framequat objtype="xbody" objname="b" reftype="site" refname="s"/><framelinvel objtype="geom" objname="g"/><framelinacc objtype="site" objname="s"/>
 <subtreecom body="a"/><subtreelinvel body="a"/><subtreeangmom body="a"/><clock/><e_potential/><e_kinetic/><camprojection site="s" camera="cam"/>
 <distance geom1="g" body2="b" cutoff="1"/><normal geom1="g" body2="b" cutoff="1"/><fromto body1="a" body2="b" cutoff="1"/>
 <insidesite site="zone" objtype="body" objname="b"/><contact name="touching" geom1="g" num="2" data="found force dist" reduce="mindist"/>
 <contact site="zone" subtree2="a"/><user name="own" dim="3" needstage="pos" datatype="real"/><jointpos name="late" joint="p" delay=".01" nsample="5" interp="zoh"/>
 </sensor><keyframe><key name="home" qpos=".3 1 0 0 0" ctrl=".1" time="1"/><key qvel="1 2 3 4"/></keyframe>
 <custom><numeric name="n" data="1 2 3"/><text name="t" data="hello"/><tuple name="u"><element objtype="body" objname="a" prm=".3"/></tuple></custom></mujoco>"""

MACHINES = {
    "joints": JOINTS,
    "options": OPTIONS,
    "tendons": TENDONS,
    "actuators": ACTUATORS,
    "equalities": EQUALITIES,
    "contacts": CONTACTS,
    "meshes": MESHES,
    "tree": TREE,
    "fields": FIELDS,
    "sensors": SENSORS,
    **{f"inertias_{name}": make_inertias(words) for name, words in INERTIAS.items()},
}
FILES = {"wedge.obj": WEDGE, "other.xml": OTHER}
"""Beside the main file."""
