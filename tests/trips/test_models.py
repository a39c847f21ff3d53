# SPDX-License-Identifier: Apache-2.0
"""Small MJCF files through OpenUSD and back, held against the source field by field, as MuJoCo compiles both.

``scripts/compare_models.py`` does the same with every file of public collections; nothing of Simwright compares.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
import trimesh

import simwright
from simwright.core.diag import Reporter

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "compare_models.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    """The script as a module."""
    spec = importlib.util.spec_from_file_location("compare_models", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # dataclasses look their module up by name
    sys.modules["compare_models"] = module
    spec.loader.exec_module(module)
    return module


CARRIED = {
    "geoms of several types in an order, a roughness that shininess says too": """
<mujoco>
<asset><mesh name="tet" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/><material name="m" shininess="1" roughness="0"/></asset>
<worldbody>
<body><freejoint/><geom size="0.1"/><geom type="mesh" mesh="tet" material="m"/><geom type="box" size="0.1 0.2 0.3"/>
</body>
</worldbody>
</mujoco>
""",
    "a body without mass and a site of the same name, with sensors": """
<mujoco>
<worldbody>
<body name="b"><freejoint name="f"/><geom name="g" size="0.1"/>
<body name="imu" pos="1 0 0" euler="90 0 0"><site name="imu" pos="0 0 1"/></body></body>
</worldbody>
<sensor><gyro name="gyro" site="imu"/><accelerometer name="accel" site="imu"/></sensor>
</mujoco>
""",
    "a geom that is seen and touched beside a visual of its name": """
<mujoco>
<worldbody>
<body name="b">
<freejoint name="f"/>
<geom name="palm_visual" type="box" size="0.1 0.2 0.3" contype="0" conaffinity="0" group="1" rgba="1 0 0 1"/>
<geom name="palm" type="sphere" size="0.1" contype="0" rgba="0 0 0 1"/>
</body>
</worldbody>
</mujoco>
""",
    "looks of fixed tendons and ranges of free joints, which mean nothing": """
<mujoco>
<default><tendon width="0.01" rgba="1 0 0 1"/><joint range="-1 1"/></default>
<worldbody>
<body name="b"><joint name="f" type="free"/><geom name="g" size="0.1"/>
<body name="c"><joint name="j"/><geom name="h" size="0.1" pos="0 0 1"/></body></body>
</worldbody>
<tendon><fixed name="t"><joint joint="j" coef="2"/></fixed></tendon>
</mujoco>
""",
    "options beside another gravity": """
<mujoco>
<option timestep="0.005" gravity="0 0 -3" integrator="RK4" cone="elliptic" solver="CG" iterations="77"
  tolerance="1e-6" impratio="3" wind="1 0 0" density="1.2" viscosity="0.1">
<flag energy="enable" contact="disable"/>
</option>
<worldbody>
<body name="b">
<freejoint name="f"/>
<geom name="g" size="0.1"/>
</body>
</worldbody>
</mujoco>
""",
    "joints that share a body": """
<mujoco>
<worldbody>
<body name="b">
<joint name="x" type="slide" axis="1 0 0" limited="true" range="-1 1" solreflimit="0.05 0.8"
  solimplimit="0.8 0.9 0.01 0.5 2" margin="0.01" group="2" solreffriction="0.03 0.9" frictionloss="0.1"/>
<joint name="y" type="slide" axis="0 1 0" limited="true" range="-1 1" margin="0.02" group="3"/>
<joint name="z" type="hinge" axis="0 0 1" solreflimit="0.07 0.7" limited="true" range="-1 1"
  stiffness="3" springref="0.2" ref="0.1" actuatorfrcrange="-3 5" user="1 2"/>
<geom name="g" size="0.1"/>
</body>
</worldbody>
</mujoco>
""",
    "lopsided efforts and free joints": """
<mujoco>
<worldbody>
<body name="b">
<joint name="h" actuatorfrcrange="-3 5"/>
<geom size=".1"/>
<body name="c">
<joint name="ba" type="ball" solreflimit=".1 1" limited="true" range="0 1" actuatorfrcrange="-1 2"
  group="3"/>
<geom size=".1"/>
<body name="d">
<joint name="s1" type="slide"/>
<joint name="ba2" type="ball" solreflimit=".1 1" limited="true" range="0 1" group="2"/>
<geom size=".1"/>
</body>
</body>
</body>
<body name="f">
<freejoint name="fr" group="4"/>
<geom size=".1"/>
</body>
<body name="f2">
<joint type="free" name="fr2" group="4" damping=".1" armature=".1" solreffriction=".1 1"
  frictionloss="0.2" stiffness="1"/>
<geom size=".1"/>
</body>
</worldbody>
</mujoco>
""",
    "every sensor": """
<mujoco>
<worldbody>
<geom name="floor" type="plane" size="1 1 .1"/>
<camera name="c" pos="0 0 2" resolution="64 48"/>
<site name="w" pos="0 0 0.5"/>
<body name="b" pos="0 0 1">
<joint name="j" type="slide" axis="0 0 1" limited="true" range="-1 1"/>
<geom name="g" size="0.1"/>
<site name="s" type="box" size=".2 .2 .2"/>
<body name="d" pos="0 0 .3">
<joint name="k"/>
<geom name="h" size=".05"/>
</body>
</body>
</worldbody>
<tendon>
<fixed name="t" limited="true" range="-1 1">
<joint joint="j" coef="1"/>
</fixed>
</tendon>
<actuator>
<motor name="m" joint="j"/>
<position name="p" tendon="t"/>
</actuator>
<sensor>
<rangefinder name="r" site="s" cutoff="3"/>
<rangefinder name="rc" camera="c"/>
<jointactuatorfrc name="ja" joint="j"/>
<tendonactuatorfrc name="ta" tendon="t"/>
<distance name="di" geom1="g" geom2="h" cutoff="1"/>
<normal name="no" geom1="g" geom2="h" cutoff="1"/>
<fromto name="ft" body1="b" geom2="floor" cutoff="2"/>
<contact name="co" geom1="g" geom2="floor" num="2" data="found force" reduce="mindist"/>
<contact name="cb" body1="b" data="found dist"/>
<contact name="cs" site="s" subtree2="b" num="1"/>
<user name="u" dim="3" needstage="vel" datatype="axis"/>
<user name="u2" objtype="body" objname="b" dim="2"/>
<camprojection name="cp" camera="c" site="s"/>
<insidesite name="is" site="s" objtype="geom" objname="h"/>
<clock name="cl"/>
<e_potential name="ep"/>
<e_kinetic name="ek"/>
<subtreecom name="sc" body="b"/>
<subtreelinvel name="sv" body="b"/>
<subtreeangmom name="sa" body="b"/>
<framepos name="fp" objtype="body" objname="b" reftype="site" refname="w"/>
<framequat name="fq" objtype="xbody" objname="b"/>
<framexaxis name="fx" objtype="geom" objname="g"/>
<framelinvel name="fl" objtype="site" objname="s" reftype="body" refname="d"/>
<frameangacc name="fa" objtype="camera" objname="c"/>
<touch name="to" site="s"/>
<accelerometer name="ac" site="s" noise="0.1"/>
<velocimeter name="ve" site="s"/>
<gyro name="gy" site="s"/>
<force name="fo" site="s"/>
<torque name="tq" site="s"/>
<magnetometer name="ma" site="s"/>
<jointpos name="jp" joint="j"/>
<jointvel name="jv" joint="j"/>
<jointlimitpos name="jl" joint="j"/>
<jointlimitvel name="jlv" joint="j"/>
<jointlimitfrc name="jlf" joint="j"/>
<tendonpos name="tp" tendon="t"/>
<tendonvel name="tv" tendon="t"/>
<tendonlimitpos name="tl" tendon="t"/>
<tendonlimitfrc name="tlf" tendon="t"/>
<actuatorpos name="ap" actuator="m"/>
<actuatorvel name="av" actuator="m"/>
<actuatorfrc name="af" actuator="m"/>
<touch site="s"/>
<clock/>
</sensor>
</mujoco>
""",
    "cameras of every projection": """
<mujoco>
<visual>
<global fovy="50" orthographic="true"/>
</visual>
<worldbody>
<camera name="o" projection="orthographic" fovy="2" pos="0 0 2"/>
<camera name="t" mode="targetbody" target="b" pos="1 1 1" ipd="0.07"/>
<camera name="q" pos="0 1 1" resolution="640 480" sensorsize="0.01 0.008" focal="0.02 0.02"
  principal="0.001 0.002"/>
<camera name="tc" mode="trackcom" output="depth segmentation" resolution="4 4"/>
<body name="b">
<freejoint/>
<geom size=".1"/>
<camera name="bc" projection="orthographic" fovy="1" user="1 2"/>
</body>
</worldbody>
</mujoco>
""",
    "custom numbers texts and tuples": """
<mujoco>
<worldbody>
<body name="b">
<joint name="j"/>
<geom name="g" size=".1"/>
<site name="s"/>
</body>
</worldbody>
<actuator>
<motor name="m" joint="j"/>
</actuator>
<custom>
<numeric name="n" data="1 2 3" size="5"/>
<numeric name="empty" size="3"/>
<text name="t" data="hello world"/>
<tuple name="tu">
<element objtype="body" objname="b" prm="0.5"/>
<element objtype="geom" objname="g"/>
<element objtype="joint" objname="j" prm="2"/>
<element objtype="site" objname="s"/>
<element objtype="actuator" objname="m"/>
<element objtype="text" objname="t"/>
<element objtype="numeric" objname="n"/>
</tuple>
<tuple name="tt">
<element objtype="tuple" objname="tu"/>
</tuple>
</custom>
</mujoco>
""",
    "lights pairs mocap and keyframes": """
<mujoco>
<size nuserdata="7" nuser_body="2" memory="20M"/>
<statistic extent="3" center="0 0 1" meansize="0.2" meanmass="5"/>
<visual>
<map znear="0.1" zfar="20" haze=".2"/>
<quality shadowsize="2048"/>
<rgba haze="1 0 0 1"/>
<headlight ambient=".3 .3 .3" active="0"/>
<scale forcewidth=".2"/>
</visual>
<default>
<geom solref="0.01 1" solimp=".8 .9 .01" condim="4" friction=".7 .01 .001" margin=".002" gap=".001"
  priority="1" solmix="2"/>
</default>
<worldbody>
<light name="l1" directional="true" pos="0 0 3" dir="0 .1 -1" diffuse=".5 .4 .3" ambient=".1 .1 .1"
  specular=".2 .2 .2" castshadow="false"/>
<light name="l2" mode="targetbody" target="b" cutoff="100" exponent="3" attenuation="1 .1 .01"
  pos="1 0 2" active="false" bulbradius="0.3" intensity="20" range="5"/>
<light name="l3" type="point" pos="0 0 1" cutoff="30"/>
<geom name="floor" type="plane" size="0 0 .1"/>
<body name="b" user="1 2" gravcomp=".5" pos="0 0 1">
<freejoint name="f"/>
<geom name="e" type="ellipsoid" size=".1 .2 .3" group="3" rgba="1 0 0 .5" fluidshape="ellipsoid"
  fluidcoef=".5 .25 1.5 1 1"/>
<geom name="cyl" type="cylinder" fromto="0 0 0 0 0 .3" size=".03" contype="2" conaffinity="5"/>
<site name="s1" type="capsule" size=".01 .02" rgba="0 1 0 .3" group="4" user="3"/>
<body name="c" pos="0 0 .3">
<joint name="bl" type="ball" limited="true" range="0 1" stiffness="2" damping=".1"/>
<geom name="cc" type="box" size=".1 .1 .1" mass="2"/>
</body>
</body>
<body name="m" mocap="true" pos="1 1 1" quat=".7 .7 0 0">
<geom name="mg" size=".1" contype="0" conaffinity="0"/>
</body>
</worldbody>
<contact>
<pair name="pr" geom1="e" geom2="floor" condim="6" friction=".5 .5 .01 .001 .001" solref=".03 1"
  solreffriction=".02 1" margin=".01" gap=".005"/>
<pair geom1="cc" geom2="floor"/>
<exclude name="ex" body1="b" body2="c"/>
<exclude body1="m" body2="c"/>
</contact>
<equality>
<weld name="w" body1="b" body2="m" solref=".1 1" torquescale=".5" active="false"/>
<connect name="cn" body1="c" body2="world" anchor="0 0 .1"/>
</equality>
<keyframe>
<key name="k0" time="1" qpos="0 0 2 1 0 0 0 1 0 0 0" qvel="1 0 0 0 0 0 0 0 0" mpos="2 2 2"/>
<key qpos="0 0 3 1 0 0 0 1 0 0 0"/>
</keyframe>
</mujoco>
""",
    "every actuator": """
<mujoco>
<worldbody>
<body name="b">
<joint name="j" range="-1 1" limited="true" actuatorgravcomp="true"/>
<geom name="g" size=".1" pos=".2 0 0"/>
<site name="s" pos=".4 0 0"/>
<body name="c">
<joint name="k" type="slide"/>
<geom name="h" size=".1"/>
<site name="s2" pos="0 0 .4"/>
</body>
</body>
</worldbody>
<tendon>
<spatial name="sp" limited="true" range="0 2" stiffness="10" damping="1" frictionloss=".1"
  springlength=".1 .3" width=".01" rgba="1 0 0 1" group="2" margin=".01" solreflimit=".04 1"
  actuatorfrcrange="-5 6">
<site site="s"/>
<geom geom="g" sidesite="s2"/>
<site site="s2"/>
<pulley divisor="2"/>
<site site="s"/>
<site site="s2"/>
</spatial>
</tendon>
<actuator>
<position name="p" joint="j" kp="10" kv="1" ctrlrange="-1 1" forcerange="-5 5" group="3" user="1 2"/>
<velocity name="v" joint="k" kv="3"/>
<intvelocity name="iv" joint="j" kp="10" actrange="-1 1"/>
<damper name="d" joint="j" kv="2" ctrlrange="0 1"/>
<cylinder name="cy" joint="k" area="2" timeconst=".1" bias="1 2 3"/>
<muscle name="mu" tendon="sp" timeconst=".01 .04" lengthrange="0.1 1" ctrlrange="0 1"/>
<adhesion name="ad" body="c" ctrlrange="0 1" gain="5"/>
<general name="ge" site="s" gear="1 2 3 4 5 6" refsite="s2" gaintype="affine" gainprm="1 2 3"
  biastype="affine" biasprm="1 2 3" dyntype="filterexact" dynprm=".2" actlimited="true" actrange="-1 1"
  actearly="true"/>
<motor name="jp" jointinparent="j" gear="2"/>
<motor name="sc" slidersite="s" cranksite="s2" cranklength="0.5"/>
<motor joint="j"/>
</actuator>
<equality>
<joint name="eq" joint1="j" joint2="k" polycoef="0 1 .1 0 0" solref=".05 1"/>
<joint name="hold" joint1="k"/>
<tendon name="te" tendon1="sp" polycoef=".1 0 0 0 0"/>
</equality>
<keyframe>
<key name="k" act="0 0 0 0 " ctrl="0 1 0 0 0 0 0 0 0 0 0"/>
</keyframe>
</mujoco>
""",
    "a base without mass that is called as its free joint": """
<mujoco><worldbody><body name="root" pos="0 0 1" euler="0 0 -90"><freejoint name="root"/>
<body name="torso" pos=".1 0 .2"><geom name="t" type="box" size=".1 .1 .1" pos="0 0 .3"/>
<body name="arm" pos="0 .2 0"><joint name="sh" axis="0 1 0"/><geom name="a" size=".05" pos="0 .2 0"/></body></body>
<body name="pelvis" quat=".8 .6 0 0"><geom name="p" size=".1"/>
<body name="leg" pos="0 -.3 0"><joint name="hip"/><geom name="l" size=".05" pos="0 .2 0"/></body></body>
</body></worldbody><keyframe><key name="up" qpos="0 0 .92 1 0 0 0 .1 .2"/></keyframe></mujoco>
""",
    "a loop that sites of rounded places close": """
<mujoco><worldbody><body name="a" pos="0 0 1"><joint name="j" axis="0 1 0"/><geom size=".05"/>
<site name="s" pos=".2123457 .0123 .0345679"/>
<body name="b" pos=".1 0 .1" euler="0 33 0"><joint name="k" axis="0 1 0"/><geom size=".05"/>
<site name="t" pos=".12985788 .0123 .00631192"/></body></body></worldbody>
<equality><connect site1="s" site2="t"/><weld site1="t" site2="s"/></equality></mujoco>
""",
    "rests of springs without stiffness": """
<mujoco><worldbody><site name="w" pos="0 0 1"/><body name="a">
<joint name="j" axis="0 1 0" springref="20"/><geom size=".1"/><site name="s"/>
<body name="b"><joint name="k" type="slide" springref=".2"/><geom size=".1"/></body></body></worldbody>
<tendon><fixed name="t" springlength=".3"><joint joint="j" coef="1"/></fixed>
<fixed name="u"><joint joint="j" coef="1"/></fixed>
<fixed name="p" stiffness="0 2" springlength="0"><joint joint="j" coef="1"/></fixed>
<fixed name="q" stiffness="0 2"><joint joint="j" coef="1"/></fixed>
<spatial name="v" springlength=".1 .4"><site site="s"/><site site="w"/></spatial></tendon></mujoco>
""",
    "a body without mass that moves": """
<mujoco><worldbody><body name="a"><joint name="x" type="slide" axis="1 0 0" armature="1"/>
<body name="b"><geom name="g" size=".1"/><body name="tip" pos="0 0 .2"><site name="end"/></body></body></body>
<body name="stand" pos="1 0 0"><body name="post" pos="0 0 1"><geom name="p" size=".1" mass="1"/></body></body>
</worldbody></mujoco>
""",
    "geoms that are seen and touched in turns": """
<mujoco><worldbody><body name="b"><freejoint/><geom size=".1"/><geom type="box" size=".1 .1 .1" contype="0"
 conaffinity="0"/><geom size=".2" group="3" rgba="1 0 0 1"/><geom type="box" size=".2 .1 .1" contype="0"
 conaffinity="0"/><geom type="ellipsoid" size=".1 .2 .3" quat="1 1 0 0"/></body></worldbody></mujoco>
""",
    "a swimmer in water": """
<mujoco><option density="4000" viscosity="0.1"/><worldbody><body name="b"><freejoint name="root"/>
<geom name="g" type="capsule" fromto="0 0 0 1 0 0" size=".1"/><body name="c" pos="1 0 0">
<joint name="j" axis="0 0 1"/><geom name="h" type="capsule" fromto="0 0 0 1 0 0" size=".1"/></body></body></worldbody>
<actuator><motor name="m" joint="j" gear="10" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>
""",
    "reach of a light that shines along one direction": """
<mujoco><worldbody><light type="directional" range="7" pos="0 0 3"/><body><joint/><geom size=".1"/></body></worldbody>
</mujoco>
""",
    "a material with a roughness and no shininess": """
<mujoco><asset><material name="m" roughness=".3"/></asset><worldbody><geom size=".1" material="m"/></worldbody></mujoco>
""",
    "looks of geoms with materials": """
<mujoco><asset><material name="odd (1,2)" rgba="1 0 0 1" shininess=".225"/><material name="m"/></asset><worldbody>
<geom name="g" size=".1" material="odd (1,2)" rgba="0 0 1 .5"/><geom name="h" size=".1" material="m" group="4"/>
</worldbody></mujoco>
""",
}


@pytest.mark.parametrize("route", ["usd", "mjcf"])
@pytest.mark.parametrize("name", CARRIED)
def test_every_field_comes_back(script: ModuleType, tmp_path: Path, name: str, route: str) -> None:
    file = tmp_path / "model.xml"
    file.write_text(CARRIED[name])
    (line,) = script.compare_file(file, "test", tmp_path, 50, [route])
    assert [str(change) for change in line.changes] == []
    assert line.verdict == "same", line.text


TOLD = {
    "flex": """<mujoco><worldbody><body name="r" pos="0 0 1"><flexcomp type="grid" count="3 3 1" spacing=".1 .1 .1"
 dim="2" name="cloth" radius=".01"><edge equality="true"/></flexcomp></body></worldbody></mujoco>""",
    "skin": """<mujoco><deformable><skin name="fur" vertex="0 0 0 1 0 0 0 1 0" face="0 1 2"><bone body="b"
 bindpos="0 0 0" bindquat="1 0 0 0" vertid="0 1 2" vertweight="1 1 1"/></skin></deformable>
<worldbody><body name="b"><joint/><geom size=".1"/></body></worldbody></mujoco>""",
}


@pytest.mark.parametrize("to", ["usd", "mjcf", "sdf", "urdf"])
@pytest.mark.parametrize("name", TOLD)
def test_what_cannot_be_carried_is_told(tmp_path: Path, name: str, to: str) -> None:
    file = tmp_path / "model.xml"
    file.write_text(TOLD[name])
    reporter = Reporter()
    target = tmp_path / "out" / ("model" if to == "usd" else f"model.{to}")
    simwright.convert(file, target, to=to, reporter=reporter)
    assert any(finding.loss and name in finding.message for finding in reporter)


@pytest.mark.parametrize("to", ["sdf", "urdf"])
@pytest.mark.parametrize("name", CARRIED)
def test_other_formats_take_it_too(tmp_path: Path, name: str, to: str) -> None:
    file = tmp_path / "model.xml"
    file.write_text(CARRIED[name])
    assert simwright.convert(file, tmp_path / "out" / f"model.{to}", to=to, reporter=Reporter()).is_file()


def test_no_layer_names_a_folder_of_the_machine(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (12, 16), (200, 10, 10)).save(tmp_path / "grid.png")
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><asset><texture name="c" type="cube" file="grid.png" gridsize="4 3" gridlayout=".U..LFRB.D.."/>
<material name="m" texture="c"/></asset><worldbody><geom size=".1" material="m"/></worldbody></mujoco>"""
    )
    reporter = Reporter()
    simwright.convert(file, tmp_path / "usd" / "model", to="usd", reporter=reporter)
    layers = list((tmp_path / "usd").rglob("*.usda"))
    assert layers
    assert not [layer.name for layer in layers if str(tmp_path) in layer.read_text()]
    # the cube comes along as one image of its six sides
    assert not [finding for finding in reporter if finding.loss and "cube" in finding.message]
    assert [image.name for image in (tmp_path / "usd").rglob("*.png")] == ["c.png"]


def test_textures_keep_their_channels_and_are_shared_as_before(tmp_path: Path, script: ModuleType) -> None:
    from PIL import Image

    for mode in ("L", "RGB", "RGBA"):
        Image.new(mode, (8, 4)).save(tmp_path / f"{mode}.png")
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><asset><texture name="one" type="2d" file="L.png" nchannel="1"/>
<texture name="four" type="2d" file="RGBA.png" nchannel="4"/><texture name="three" type="2d" file="RGB.png"/>
<texture name="again" type="2d" file="RGB.png" colorspace="linear"/>
<material name="a" texture="three" texuniform="true"/>
<material name="b"><layer role="rgb" texture="three"/><layer role="roughness" texture="one"/></material>
<material name="c" texture="four"/><material name="d" texture="again"/></asset>
<worldbody><geom size=".1" material="a"/><geom size=".1" material="b"/><geom size=".1" material="c"/>
<geom size=".1" material="d"/></worldbody></mujoco>"""
    )
    for line in script.compare_file(file, "", tmp_path, 1, ["mjcf", "usd"]):
        assert [str(change) for change in line.changes] == []
        assert line.verdict == "same", line.text


def test_an_image_of_the_sky_that_openusd_does_not_take_is_told(tmp_path: Path) -> None:
    from PIL import Image

    Image.new("RGB", (12, 16), (200, 10, 10)).save(tmp_path / "grid.png")
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><asset><texture name="sky" type="skybox" file="grid.png" gridsize="4 3" gridlayout=".U..LFRB.D.."/>
</asset><worldbody><geom size=".1"/></worldbody></mujoco>"""
    )
    reporter = Reporter()
    simwright.convert(file, tmp_path / "usd" / "model", to="usd", reporter=reporter)
    assert any(finding.loss and "'sky'" in finding.message for finding in reporter)


def test_a_model_file_is_found_beside_the_file_that_includes_it(tmp_path: Path, script: ModuleType) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "child.xml").write_text(
        """<mujoco model="child"><worldbody><body name="k"><joint name="j"/><geom name="g" size=".05"/></body>
</worldbody></mujoco>"""
    )
    (tmp_path / "parts" / "models.xml").write_text(
        '<mujoco><asset><model name="child" file="child.xml"/></asset></mujoco>'
    )
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><include file="parts/models.xml"/><worldbody><frame pos="1 0 0"><attach model="child" body="k"
 prefix="p_"/></frame></worldbody></mujoco>"""
    )
    (line,) = script.compare_file(file, "", tmp_path, 5, ["mjcf"])
    assert line.verdict == "same", line.text


def test_objects_that_mujoco_leaves_out_of_an_obj_file_are_left_out(
    tmp_path: Path, script: ModuleType
) -> None:
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 5 5 5\n"
    first, second = "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n", "f 1 2 5\nf 2 3 5\nf 3 1 5\n"
    (tmp_path / "two.obj").write_text(f"{points}o first\n{first}o second\n{second}")
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><asset><mesh name="two" file="two.obj"/></asset><worldbody><body name="b"><joint name="j"/>
<inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/><geom name="g" type="mesh" mesh="two"/>
</body></worldbody></mujoco>"""
    )
    lines = script.compare_file(file, "", tmp_path, 5, ["usd"])
    assert [(line.verdict, line.changes) for line in lines] == [("same", [])]


def test_a_mesh_may_lie_beside_an_included_file(tmp_path: Path) -> None:
    (tmp_path / "part" / "meshes").mkdir(parents=True)
    points = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (tmp_path / "part" / "meshes" / "tet.obj").write_text(points)
    asset = '<asset><mesh name="tet" file="meshes/tet.obj"/></asset>'
    (tmp_path / "part" / "part.xml").write_text(f"<mujocoinclude>{asset}</mujocoinclude>")
    file = tmp_path / "model.xml"
    file.write_text(
        """<mujoco><include file="part/part.xml"/><worldbody><body name="b"><joint name="j"/>
<geom name="g" type="mesh" mesh="tet"/></body></worldbody></mujoco>"""
    )
    assert simwright.convert(file, tmp_path / "usd" / "model", to="usd", reporter=Reporter()).is_file()


@pytest.mark.parametrize("target", ["back.urdf", "back.sdf", "back.glb"])
def test_words_of_mimics_in_engine_layers_are_no_loss(target: str, samples: Path, tmp_path: Path) -> None:
    """Engine layers tell of a mimic once more; the writer takes it from the model."""
    entry = simwright.convert(samples / "arm" / "urdf" / "arm.urdf", tmp_path / "usd", to="usd")
    assert "newton:mimicJoint" in (entry.parent / "newton.usda").read_text()
    reporter = Reporter()
    simwright.convert(entry, tmp_path / target, reporter=reporter)
    assert not [d.message for d in reporter if "mimic" in d.message.lower() and d.kind.endswith("-extras")]
    assert not [d.message for d in reporter if "mjc:coef" in d.message or "mjc:target" in d.message]


def test_normals_that_rounding_decides_are_left_out(script: ModuleType) -> None:
    """All corners of a cube are sharp for MuJoCo, those of a ball are not."""
    cube = trimesh.creation.box()
    ball = trimesh.creation.icosphere(subdivisions=2)
    for mesh, settled in ((cube, False), (ball, True)):
        found = script.find_settled(
            mesh.faces, mesh.face_normals * mesh.area_faces[:, None], len(mesh.vertices), 1e-9
        )
        assert (found == settled).all()


def test_normals_that_mujoco_does_not_find_are_left_out(script: ModuleType) -> None:
    """Those of the corners of a triangle that is too small."""
    ball = trimesh.creation.icosphere(subdivisions=2)
    normals = ball.face_normals * ball.area_faces[:, None]
    normals[0] *= 1e-9
    found = script.find_settled(ball.faces, normals, len(ball.vertices), 1e-8)
    assert (found == ~np.isin(ball.faces, ball.faces[0]).any(axis=1)).all()
