"""Other engines see the robots that we write as MuJoCo sees them, and faults that are planted are found in all."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import SAMPLES, SHARED_ASSETS
from tests.fuzz.mutation import mutate
from tests.fuzz.seeds import find_main, make_seeds
from tests.prover.faults import AT, FAULTS, FOUND, MOVES, plant, write_robot
from tests.prover.twins import write_mjcf, write_stage

import simwright
from simwright.app.cli.main import run
from simwright.model.inertia import Inertial
from simwright.model.joint import Drive
from simwright.prover.asking import ReferenceRobot, choose_configurations
from simwright.prover.aspects import Told
from simwright.prover.processes import EnginePool, NotSeenError
from simwright.prover.proving import Column, compare
from simwright.prover.table import find_engine, list_engines
from simwright.prover.workers.seen import MotionOrder

pytestmark = pytest.mark.judge("prove")

SOURCES = ["quadruped/quadruped.xml", "arm/urdf/arm.urdf", "rover/model.sdf"]
REAL = [
    "mjcf/kuka_iiwa_14/iiwa14.xml",
    "mjcf/trs_so_arm100/so_arm100.xml",
    "mjcf/robotiq_2f85/2f85.xml",
    "mjcf/google_barkour_vb/barkour_vb.xml",
    "mjcf/skydio_x2/x2.xml",
]
KNOWN: dict[tuple[str, str], dict[str, str]] = {
    # MuJoCo's USD reader 4.0 has no ball joints ("Unsupported joint type")
    ("rover/model.sdf", "mujoco-usd"): {"dofs": "caster_joint: 0 DOFs instead of 3"},
    # URDF has none either: a ball is three hinges with links between them
    **{
        ("rover/model.sdf", engine): {"dofs": "caster_joint: 1 DOFs instead of 3"}
        for engine in ("drake", "pybullet", "pinocchio", "dart", "sapien")
    },
}
"""What an engine cannot read, with words of it: one that comes to be read fails the test."""

WALL = """#usda 1.0
(
    defaultPrim = "wall"
    upAxis = "Z"
)
def Xform "wall"
{
    def Cube "panel" (
        prepend apiSchemas = ["PhysicsCollisionAPI"]
    )
    {
    }
}
"""
"""A collider without a body."""

UNASKED = {"sapien": "friction"}
"""What an engine does to every robot: SAPIEN 3.0 gives all joints a friction, which has a test of its own below."""

BLANK = {
    "physx": {"mimic dropped"},
    "drake": {"missing drive", "mimic dropped"},
    "pybullet": {"missing drive", "mimic dropped"},
    "pinocchio": {"missing drive"},
    "dart": {"missing drive", "mimic dropped"},
    "sapien": {"missing drive", "mimic dropped"},
}
"""Faults that an engine or its format has no word for."""


def prove(source: Path, engine: str, *levels: str) -> Column:
    levels = levels or ("structure", "dynamics", "ros")
    (column,) = simwright.prove(source, engines=[engine], levels=levels, timeout=900.0).columns
    column.outcome.differences.pop(UNASKED.get(engine, ""), None)
    return column


def assert_known(source: str, engine: str, column: Column) -> None:
    known, found = KNOWN.get((source, engine), {}), column.outcome.differences
    assert set(found) == set(known), found
    assert all(text in found[aspect] for aspect, text in known.items())


@pytest.mark.parametrize("engine", list_engines())
@pytest.mark.parametrize("source", SOURCES)
def test_samples(source: str, engine: str) -> None:
    assert_known(source, engine, prove(SAMPLES / source, engine))


@pytest.mark.parametrize("engine", list_engines())
def test_what_only_stands_there_is_the_same_everywhere(engine: str, tmp_path: Path) -> None:
    file = tmp_path / "wall.usda"
    file.write_text(WALL)
    assert_known("wall.usda", engine, prove(file, engine))


@pytest.mark.realworld
@pytest.mark.parametrize("engine", list_engines())
@pytest.mark.parametrize("source", REAL)
def test_real_robots(source: str, engine: str) -> None:
    assert_known(source, engine, prove(SHARED_ASSETS / source, engine))


@pytest.mark.parametrize("engine", list_engines())
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(fault: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plant(fault, monkeypatch)
    column = prove(write_robot(tmp_path), engine)
    if fault in BLANK.get(engine, ()):
        assert AT[fault][0] in column.outcome.blank
        assert column.outcome.differences == {}
        return
    aspect, line = AT[fault]
    told = FOUND[fault] - set(column.outcome.blank)
    assert set(column.outcome.differences) == told
    assert column.causes[aspect].word == fault
    assert column.causes[aspect].where.line == line


CANNOT = {
    "drake": {"response"},
    "drake:tamsi": {"response", "coupled"},
    "pybullet": {"response", "coupled"},
    "pinocchio": {"swing", "response", "coupled"},
    "dart": {"response"},
    "sapien": {"response"},
}
"""Motions of the robot below that an engine, or its format, has no way to do."""

OTHERWISE = {
    "physx": {"response": "limit softened"},
    # SAPIEN 3.0 couples joints of one link, and of links that follow each other, and drops other mimics
    "sapien": {"coupled": "mimic dropped"},
}
"""Motions that differ in an engine: a slide falls onto its limit, which gives way in MuJoCo, and is harder in PhysX."""


@pytest.mark.parametrize("engine", [*list_engines(), "drake:tamsi"])
def test_the_robot_moves_alike(engine: str, tmp_path: Path) -> None:
    column = prove(write_robot(tmp_path), engine, "motion")
    assert {name: column.causes[name].word for name in column.outcome.differences} == OTHERWISE.get(
        engine, {}
    )
    assert set(column.outcome.blank) == CANNOT.get(engine, set())
    moved = [result for result in column.motions.values() if result.state in ("same", "differs")]
    assert len(moved) == 3 - len(CANNOT.get(engine, ()))
    assert all(result.remainder <= result.tolerance for result in moved if result.state == "same")


@pytest.mark.parametrize("engine", ["mujoco-usd", "newton", "physx", "drake", "pybullet", "dart", "sapien"])
@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults_move(
    fault: str, engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By motion alone; the cause is that of the structure, or what the motion itself shows."""
    plant(fault, monkeypatch)
    column = prove(write_robot(tmp_path), engine, "motion")
    known, cannot = OTHERWISE.get(engine, {}), CANNOT.get(engine, set())
    if fault == "mimic dropped":
        # nothing is coupled then: engines that could not couple joints can move them
        cannot = cannot - {"coupled"}
    assert set(column.outcome.differences) == MOVES[fault] - cannot | set(known)
    if fault in ("missing drive", "mimic dropped"):
        assert {cause.word for name, cause in column.causes.items() if name not in known} <= {fault}


def ask(engine: str, file: Path, reference: ReferenceRobot) -> tuple[Told, Told]:
    seen = reference.describe()
    configurations = choose_configurations(seen, 3, 18)
    with EnginePool(900.0) as pool:
        worker = pool.find(find_engine(engine))
        worker.open(file, reference.gravity)
        told = Told(worker.describe(), worker.evaluate(configurations))
    return Told(seen, reference.evaluate(configurations)), told


@pytest.mark.parametrize(
    ("engine", "words", "root"),
    [("mujoco-usd", "mjc", "/twin/base"), ("physx", "newton", "/twin"), ("newton", "newton", "/twin")],
)
def test_a_robot_that_is_written_right_by_hand(engine: str, words: str, root: str, tmp_path: Path) -> None:
    """What is measured can be met: nothing that the other tests ask for is beyond an engine."""
    reference = ReferenceRobot(simwright.load(write_mjcf(tmp_path)))
    outcome = compare(engine, *ask(engine, write_stage(tmp_path, words, root), reference))
    assert outcome.differences == {}
    assert outcome.absent == {"mimics", "names"}
    assert 0.0 < outcome.errors["matrix"] < outcome.find_tolerance("matrix")


def test_an_articulation_root_on_the_base_lets_it_float(tmp_path: Path) -> None:
    """PhysX (ovphysx 0.7): why an asset for MuJoCo, whose root is there, is none for PhysX."""
    reference = ReferenceRobot(simwright.load(write_mjcf(tmp_path)))
    outcome = compare("physx", *ask("physx", write_stage(tmp_path, "newton", "/twin/base"), reference))
    assert outcome.differences["base"] == "base floats, should be held"
    assert outcome.differences["matrix"].startswith("mass matrix off by")


def test_a_file_that_an_engine_refuses(tmp_path: Path) -> None:
    file = tmp_path / "robot.urdf"
    file.write_text("<robot/>")
    with EnginePool(60.0) as pool, pytest.raises(NotSeenError, match="robot"):
        pool.find(find_engine("drake")).open(file, [0.0, 0.0, -9.81])


@pytest.mark.parametrize("engine", list_engines())
def test_a_joint_that_is_not_zero_in_the_reference_pose(engine: str, tmp_path: Path) -> None:
    file = write_robot(tmp_path)
    file.write_text(file.read_text().replace('range="-1 2"', 'range="-1 2" ref="0.5"'))
    assert prove(file, engine).outcome.differences == {}


@pytest.mark.parametrize("engine", ["mujoco-usd", "drake", "pinocchio", "dart"])
def test_a_scene(engine: str) -> None:
    """Boxes that float beside a robot, joints that start elsewhere than at zero, drives that are no actuators."""
    assert prove(SAMPLES / "playground" / "playground.yaml", engine).outcome.differences == {}


OVERLAP = """
<mujoco>
  <worldbody>
    <body name="trunk" pos="0 0 1">
      <freejoint/>
      <geom type="box" size="0.2 0.1 0.05"/>
      <body name="leg" pos="0.15 0 -0.04">
        <joint name="hip" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" size="0.03" fromto="0 0 0 0 0 -0.2"/>
        <body name="foot" pos="0 0 0.01">
          <joint name="ankle" axis="0 1 0"/>
          <geom type="box" size="0.05 0.05 0.05"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_shapes_that_overlap_push_no_base_while_forces_are_told(tmp_path: Path) -> None:
    """PhysX (ovphysx 0.7) makes a step when it is first read: the base had a velocity, and Coriolis forces of it."""
    file = tmp_path / "robot.xml"
    file.write_text(OVERLAP)
    assert prove(file, "physx").outcome.differences == {}


ARMATURE = """
<mujoco>
  <worldbody>
    <body name="base">
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="roll" pos="0 0 1">
        <joint name="roll" axis="1 0 0" range="-180 180" armature="0.6"/>
        <inertial pos="0.1 0 0.001" mass="0.5" diaginertia="1e-3 1e-3 1e-3"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_joints_with_much_armature_are_rounded_in_physx(tmp_path: Path) -> None:
    """The smallest robot that shows it: with armature, the error grows while steps get smaller."""
    file = tmp_path / "robot.xml"
    file.write_text(ARMATURE)
    rounded = prove(file, "physx", "motion").motions["swing"]
    assert rounded.error_half > 2.0 * rounded.error
    file.write_text(ARMATURE.replace('armature="0.6"', ""))
    plain = prove(file, "physx", "motion").motions["swing"]
    assert plain.error_half < plain.error


PAIR = """
<mujoco>
  <worldbody>
    <body name="base">
      <inertial pos="0 0 0" mass="1" diaginertia="0.1 0.1 0.1"/>
      <body name="left" pos="0 0.1 1">
        <joint name="left" axis="0 1 0" range="-90 90"/>
        <inertial pos="0.1 0 0" mass="0.5" diaginertia="1e-3 1e-3 1e-3"/>
      </body>
      <body name="right" pos="0 -0.1 1">
        <joint name="right" axis="0 1 0" range="-90 90"/>
        <inertial pos="-0.1 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/>
      </body>
    </body>
  </worldbody>
  <equality><joint joint1="right" joint2="left" polycoef="0 1 0 0 0"/></equality>
</mujoco>
"""


def test_couplings_of_dart_act_one_way(tmp_path: Path) -> None:
    """DART 6.20: a mimic joint is moved, and its leader does not feel it."""
    file = tmp_path / "robot.xml"
    file.write_text(PAIR)
    column = prove(file, "dart", "motion")
    assert {name: cause.word for name, cause in column.causes.items()} == {"coupled": "reaction ignored"}


SOFT_LOOP = """
<mujoco>
  <worldbody>
    <body name="crank" pos="0 0 1">
      <joint name="crank" axis="0 1 0" damping="0.01"/>
      <inertial pos="0.1 0 0" mass="0.5" diaginertia="2e-3 2e-3 2e-3"/>
      <body name="rod" pos="0.2 0 0">
        <joint name="rod" axis="0 1 0" damping="0.01"/>
        <inertial pos="0.2 0 0" mass="0.5" diaginertia="4e-3 4e-3 4e-3"/>
      </body>
    </body>
    <body name="rocker" pos="0.4 0 0.7">
      <joint name="rocker" axis="0 1 0" damping="0.01"/>
      <inertial pos="0.1 0 0.15" mass="0.5" diaginertia="4e-3 4e-3 4e-3"/>
    </body>
  </worldbody>
  <equality><connect body1="rod" body2="rocker" anchor="0.4 0 0" solref="0.4 1" solimp="0.5 0.6 0.001"/></equality>
</mujoco>
"""


def test_loops_are_as_soft_as_the_asset_says(tmp_path: Path) -> None:
    """In engines that have words for it; PhysX has none, and closes them rigidly."""
    file = tmp_path / "fourbar.xml"
    file.write_text(SOFT_LOOP)
    for engine in ("mujoco-usd", "newton"):
        assert prove(file, engine, "motion").outcome.right
    column = prove(file, "physx", "motion")
    assert {name: cause.word for name, cause in column.causes.items()} == {"loop": "loop softness ignored"}


STOP = """
<mujoco>
  <worldbody>
    <body name="base">
      <inertial pos="0 0 0" mass="5" diaginertia="0.1 0.1 0.1"/>
      <body name="slider" pos="0 0 1">
        <joint name="push" type="slide" axis="0 0 1" range="-0.1 0.2"/>
        <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


def test_stops_of_newton_throw_joints_back_unless_they_are_written_out(tmp_path: Path) -> None:
    """Newton 1.7: 1 kg that falls by 10 cm onto a stop; 'convert --for newton' writes the stops of MuJoCo."""
    file = tmp_path / "robot.xml"
    file.write_text(STOP)
    order = MotionOrder(0.001, 20, 30)
    lowest = {}
    for target, words in (("plain", {}), ("written", {"for_": "newton"})):
        entry = simwright.convert(file, tmp_path / target, **words)
        with EnginePool(900.0) as pool:
            worker = pool.find(find_engine("newton"))
            worker.open(entry, [0.0, 0.0, -9.81])
            heights = [height for (height,) in worker.move(order).joints]
        lowest[target] = min(heights), max(heights[20:])
    assert lowest["written"][0] > -0.115
    assert lowest["written"][1] < -0.095
    # through the stop by centimetres, and up again
    assert lowest["plain"][0] < -0.15
    assert lowest["plain"][1] > -0.05


def test_sapien_gives_all_joints_a_friction(tmp_path: Path) -> None:
    """SAPIEN 3.0: its URDF loader drops the friction of a joint, and every joint has 0.05 of PhysX.

    Motion is compared without it, and without the damping of all links.
    """
    file = tmp_path / "robot.xml"
    file.write_text(PAIR[: PAIR.index("  <equality>")] + "</mujoco>")
    (column,) = simwright.prove(file, engines=["sapien"], timeout=900.0).columns
    assert column.outcome.differences == {"friction": "left: friction 0.05 instead of 0"}
    assert "joint.set_friction()" in column.causes["friction"].text
    assert column.motions["swing"].state == "same"
    assert "friction" in column.motions["swing"].without


AXES = """
<mujoco>
  <worldbody>
    <body name="base">
      <freejoint/>
      <inertial pos="0 0 0" mass="5" diaginertia="0.05 0.05 0.05"/>
      <body name="hip" pos="0 0.1 0">
        <joint name="hip_x" axis="1 0 0"/>
        <joint name="hip_y" axis="0 1 0"/>
        <inertial pos="0 0.05 -0.2" mass="3" diaginertia="0.05 0.05 0.005"/>
        <body name="knee" pos="0 0 -0.4">
          <joint name="knee" axis="0 1 0"/>
          <inertial pos="0.1 0 -0.2" mass="2" diaginertia="0.02 0.02 0.002"/>
        </body>
      </body>
    </body>
  </worldbody>
</mujoco>
"""


@pytest.mark.parametrize(("engine", "word"), [("physx", "several axes"), ("newton", ""), ("sapien", "")])
def test_joints_of_several_axes_push_a_base_that_floats_in_physx(
    engine: str, word: str, tmp_path: Path
) -> None:
    """ovphysx 0.7: the base drifts by 1 mm/s at any timestep, and does not while these joints are held."""
    file = tmp_path / "robot.xml"
    file.write_text(AXES)
    column = prove(file, engine, "motion")
    assert {name: cause.word for name, cause in column.causes.items()} == ({"swing": word} if word else {})


def test_stiff_drives_in_mujocos_usd_reader(tmp_path: Path) -> None:
    """They are not stable with MuJoCo's own integrator: the one that MJCF gets is written at the scene."""
    asset = simwright.load(write_robot(tmp_path))
    asset.actuators, asset.mimics = [], []
    (dof,) = asset.joint("turn").dofs
    dof.drive = Drive(stiffness=1000.0, damping=300.0)
    asset.body("upper").inertial = Inertial(0.01, inertia=np.eye(3) * 1e-5)
    (column,) = simwright.prove(asset, engines=["mujoco-usd"], levels=["motion"], timeout=900.0).columns
    assert column.outcome.differences == {}
    assert column.motions["response"].state == "same"


@pytest.mark.parametrize("engine", ["mujoco-usd", "newton", "physx", "drake"])
def test_a_joint_that_cannot_move(engine: str, tmp_path: Path) -> None:
    """MuJoCo's USD reader refuses a range without width; a URDF without limits has one."""
    asset = simwright.load(write_robot(tmp_path))
    (dof,) = asset.joint("push").dofs
    dof.lower = dof.upper = 0.05
    (column,) = simwright.prove(asset, engines=[engine], levels=["structure"], timeout=900.0).columns
    assert column.outcome.differences == {}


def test_joints_of_several_axes_that_begin_elsewhere_in_newton(tmp_path: Path) -> None:
    """The file has their first positions; robots are compared in the reference pose."""
    file = tmp_path / "robot.xml"
    file.write_text(AXES)
    asset = simwright.load(file)
    for joint in asset.joints:
        for dof in joint.dofs:
            if dof.name.startswith("hip"):
                dof.position = 0.3
    (column,) = simwright.prove(asset, engines=["newton"], levels=["dynamics"], timeout=900.0).columns
    assert column.outcome.differences == {}


@pytest.mark.parametrize("engine", ["newton:xpbd", "newton:featherstone", "drake:tamsi"])
def test_other_solvers_of_an_engine(engine: str, tmp_path: Path) -> None:
    """Every one finishes all motions of a small robot; what differs has a cause."""
    column = prove(write_robot(tmp_path), engine, "motion")
    assert column.outcome.loads
    assert any(result.runs for result in column.motions.values())
    assert set(column.outcome.differences) == set(column.causes)


def test_damaged_files_are_proved_or_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seeds = make_seeds(tmp_path / "seeds")
    ends: Counter[int] = Counter()
    for number in range(20):
        rng = random.Random(number)
        kind = rng.choice(["mjcf", "urdf", "sdf", "tiny"])
        main = find_main(Path(shutil.copytree(seeds / kind, tmp_path / str(number))))
        main.write_bytes(mutate(main.read_bytes(), rng, main.suffix))
        code = run(["prove", str(main), "--engines", "pinocchio", "--level", "structure", "--no-cache"])
        said = capsys.readouterr()
        assert code in (0, 1, 2), said.err
        assert "Traceback" not in said.out + said.err
        ends[code] += 1
    # damage that is always fatal, or never noticed, would test nothing
    assert ends[2] > 0
    assert ends[0] + ends[1] > 0
