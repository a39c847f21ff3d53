"""One attribute changed in a file is one finding, and the copy of a file through OpenUSD has none."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import simwright

ROBOT = """<mujoco model="one">
  <option timestep="0.004" integrator="implicitfast" cone="elliptic" solver="CG" iterations="7" tolerance="1e-5"
          impratio="3" density="1.2" viscosity="0.1" wind="1 0 0">
    <flag contact="disable" energy="enable"/>
  </option>
  <asset>
    <texture name="check" type="2d" builtin="checker" rgb1="0.2 0.3 0.4" rgb2="0.1 0.6 0.3" width="8" height="8"/>
    <texture name="skin" type="cube" builtin="gradient" rgb1="0.8 0.3 0.4" rgb2="0.1 0.2 0.3" width="8" height="48"/>
    <texture name="photo" type="2d" file="photo.png"/>
    <material name="checked" texture="check" texrepeat="2 3" texuniform="true" rgba="0.5 0.6 0.7 1"/>
    <material name="skinned" texture="skin"/>
    <material name="printed" texture="photo" rgba="1 1 1 0.9"/>
  </asset>
  <worldbody>
    <body name="b" pos="0 0 1">
      <joint name="j" axis="0 1 0" range="-1 1" limited="true" solreflimit="0.03 1"
             solimplimit="0.8 0.9 0.01 0.5 2" frictionloss="0.1" solreffriction="0.05 1"/>
      <geom name="box" type="box" size=".1 .2 .3" material="checked" solref="0.01 1" solimp="0.8 0.9 0.01 0.5 2"
            condim="4" priority="1" solmix="2"/>
      <geom name="ball" size=".1" pos="0 0 .5" material="skinned"/>
      <geom name="plate" type="box" size=".1 .1 .01" pos="0 0 -.5" material="printed" rgba="1 0.5 0.5 1"/>
      <geom name="fin" type="ellipsoid" size=".1 .2 .02" pos="0 0 .8" fluidshape="ellipsoid" fluidcoef="0.4 0.2 1 1 1"/>
      <site name="s" type="box" size=".05 .06 .07"/>
      <camera name="flat" projection="orthographic" fovy="2.5"/>
      <camera name="lens" focal="0.02 0.02" sensorsize="0.04 0.03" resolution="640 480" principal="0.001 0.002"/>
      <body name="c" pos="0 0 1">
        <joint name="k" type="slide" range="-1 1" solreflimit="0.06 1" margin="0.01"/>
        <joint name="l" axis="1 0 0" range="-1 1" actuatorgravcomp="true" solimplimit="0.7 0.9 0.01 0.5 2"/>
        <geom name="end" size=".1"/>
      </body>
    </body>
  </worldbody>
  <equality><connect name="pin" body1="c" anchor="0 0 0" solref="0.07 1" active="false"/>
    <weld name="glue" body1="c" body2="b" torquescale="0.3" active="false"/></equality>
  <tendon>
    <fixed name="belt" limited="true" range="-1 1" frictionloss="0.2" solreflimit="0.09 1"
           solimpfriction="0.6 0.9 0.01 0.5 2" margin="0.02" actuatorfrclimited="true" actuatorfrcrange="-3 4">
      <joint joint="j" coef="1"/><joint joint="k" coef="2"/>
    </fixed>
  </tendon>
  <actuator><general name="slow" joint="j" dyntype="filter" dynprm="0.1"/></actuator>
  <keyframe><key name="go" time="1.5" qpos="0.1 0.2 0.3" qvel="0.4 0.5 0.6" act="0.7" ctrl="0.8"/></keyframe>
  <sensor><touch name="t" site="s" cutoff="3"/><accelerometer name="acc" site="s" noise="0.1"/></sensor>
</mujoco>"""

CHANGES = {
    'timestep="0.004"': ('timestep="0.005"', "options: world: timestep"),
    'integrator="implicitfast"': ('integrator="RK4"', "options: world: integrator"),
    'cone="elliptic"': ('cone="pyramidal"', "options: world: cone"),
    'solver="CG"': ('solver="PGS"', "options: world: solver"),
    'iterations="7"': ("", "options: world: iterations"),
    'tolerance="1e-5"': ('tolerance="1e-6"', "options: world: tolerance"),
    'impratio="3"': ('impratio="4"', "options: world: impratio"),
    'density="1.2"': ('density="1.3"', "options: world: density"),
    'viscosity="0.1"': ("", "options: world: viscosity"),
    'wind="1 0 0"': ('wind="1 1 0"', "options: world: wind"),
    'contact="disable"': ("", "options: world: disable"),
    'energy="enable"': ("", "options: world: enable"),
    'rgb1="0.2 0.3 0.4"': ('rgb1="0.3 0.3 0.4"', "materials: visual 'box': diffuse: image"),
    'rgb2="0.1 0.2 0.3"': ('rgb2="0.1 0.2 0.9"', "materials: visual 'ball': diffuse: image"),
    'texrepeat="2 3"': ('texrepeat="2 4"', "materials: visual 'box': diffuse: repeat"),
    'texuniform="true"': ("", "materials: visual 'box': diffuse: coordinates"),
    'rgba="0.5 0.6 0.7 1"': ('rgba="0.5 0.6 0.8 1"', "materials: visual 'box': diffuse: tint"),
    'material="printed" rgba="1 0.5 0.5 1"': (
        'material="printed" rgba="1 0.6 0.5 1"',
        "materials: visual 'plate': diffuse: tint",
    ),
    'solref="0.01 1"': ('solref="0.02 1"', "materials: collision 'box': solref"),
    'solimp="0.8 0.9 0.01 0.5 2"': ("", "materials: collision 'box': solimp"),
    'priority="1"': ('priority="2"', "materials: collision 'box': priority"),
    'solmix="2"': ('solmix="3"', "materials: collision 'box': solmix"),
    'solreflimit="0.03 1"': ('solreflimit="0.04 1"', "drives: DOF 'j': solreflimit"),
    'solimplimit="0.8 0.9 0.01 0.5 2"': ("", "drives: DOF 'j': solimplimit"),
    'solreffriction="0.05 1"': ("", "drives: DOF 'j': solreffriction"),
    'solreflimit="0.06 1"': ('solreflimit="0.05 1"', "drives: DOF 'k': solreflimit"),
    'margin="0.01"': ("", "drives: DOF 'k': margin"),
    'solimplimit="0.7 0.9 0.01 0.5 2"': ("", "drives: DOF 'l': solimplimit"),
    'solref="0.07 1"': ('solref="0.08 1"', "constraints: equality 'pin': solref"),
    'fluidcoef="0.4 0.2 1 1 1"': ('fluidcoef="0.4 0.2 1 1 2"', "materials: collision 'fin': fluid"),
    'rgba="1 0.5 0.5 1"': ('rgba="1 0.5 0.5 0.8"', "materials: visual 'plate': opacity"),
    'size=".05 .06 .07"': ('size=".05 .06 .08"', "frames: frame 's': size"),
    'type="box" size=".05': ('type="ellipsoid" size=".05', "frames: frame 's': shape"),
    'fovy="2.5"': ('fovy="2.6"', "cameras: camera 'flat': orthographic height"),
    'principal="0.001 0.002"': ('principal="0.001 0.003"', "cameras: camera 'lens': principal"),
    'actuatorgravcomp="true"': ("", "drives: DOF 'l': actuatorgravcomp"),
    'torquescale="0.3"': ('torquescale="0.4"', "constraints: equality 'glue': torque scale"),
    'solreflimit="0.09 1"': ('solreflimit="0.08 1"', "constraints: tendon 'belt': solreflimit"),
    'solimpfriction="0.6 0.9 0.01 0.5 2"': ("", "constraints: tendon 'belt': solimpfriction"),
    'margin="0.02"': ('margin="0.03"', "constraints: tendon 'belt': margin"),
    'actuatorfrcrange="-3 4"': ('actuatorfrcrange="-3 5"', "constraints: tendon 'belt': actuatorfrcrange"),
    'time="1.5"': ('time="1.6"', "keyframes: keyframe 'go': time"),
    'qvel="0.4 0.5 0.6"': ('qvel="0.4 0.5 0.7"', "keyframes: keyframe 'go': velocity of 'l'"),
    'act="0.7"': ('act="0.6"', "keyframes: keyframe 'go': act"),
    'cutoff="3"': ('cutoff="4"', "sensors: sensor 't': cutoff"),
    'noise="0.1"': ('noise="0.2"', "sensors: sensor 'acc': noise"),
}


def write_robot(folder: Path, text: str = ROBOT, shade: int = 0) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    pixels = np.arange(192, dtype=np.uint8).reshape(8, 8, 3)
    pixels[0, 0] = shade
    stream = io.BytesIO()
    Image.fromarray(pixels).save(stream, "PNG")
    (folder / "photo.png").write_bytes(stream.getvalue())
    file = folder / "robot.xml"
    file.write_text(text)
    return file


def list_findings(a: Path, b: Path) -> list[str]:
    difference = simwright.diff(a, b)
    return [f"{s.name}: {item.element}: {item.what}" for s in difference.sections for item in s.items]


@pytest.mark.parametrize("before", CHANGES)
def test_one_attribute_is_one_finding(before: str, tmp_path: Path) -> None:
    after, expected = CHANGES[before]
    assert ROBOT.count(before) == 1
    changed = write_robot(tmp_path / "b", ROBOT.replace(before, after))
    assert list_findings(write_robot(tmp_path / "a"), changed) == [expected]


def test_the_dimension_of_contacts_is_one_finding(tmp_path: Path) -> None:
    """Torsional friction acts from dimension 4 on: where one side has none, only the dimension differs."""
    changed = write_robot(tmp_path / "b", ROBOT.replace('condim="4"', 'condim="3"'))
    found = simwright.diff(write_robot(tmp_path / "a"), changed)
    assert [f"{s.name}: {i.element}: {i.what}" for s in found.sections for i in s.items] == [
        "materials: collision 'box': condim"
    ]


def test_a_pixel_of_an_image_is_a_finding(tmp_path: Path) -> None:
    changed = write_robot(tmp_path / "b", shade=9)
    assert list_findings(write_robot(tmp_path / "a"), changed) == [
        "materials: visual 'plate': diffuse: image"
    ]


def test_the_same_image_in_another_file_is_no_finding(tmp_path: Path) -> None:
    first, second = write_robot(tmp_path / "a"), write_robot(tmp_path / "b")
    (tmp_path / "b" / "photo.png").rename(tmp_path / "b" / "picture.png")
    second.write_text(ROBOT.replace("photo.png", "picture.png"))
    assert list_findings(first, second) == []


def test_a_trip_through_openusd_changes_nothing(tmp_path: Path) -> None:
    source = write_robot(tmp_path / "a")
    stage = simwright.convert(source, tmp_path / "stage", to="usd")
    back = simwright.convert(stage, tmp_path / "back" / "robot.xml")
    assert list_findings(source, stage) == []
    assert list_findings(source, back) == []
    assert list_findings(stage, back) == []
