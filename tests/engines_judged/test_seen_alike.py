"""Other engines see the robots that we write as MuJoCo sees their source.

The reference of a robot that is no MJCF is the MJCF that we write of it, which other tests hold to its source.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from scripts.engines.asking import NotSeenError, ask, convert, see_reference
from scripts.engines.comparing import TOLERANCE, Outcome, compare
from tests.conftest import SAMPLES, SHARED_ASSETS
from tests.engines_judged.twins import write_mjcf, write_stage

import simwright

SOURCES = ["quadruped/quadruped.xml", "arm/urdf/arm.urdf", "rover/model.sdf"]
REAL = [
    "mjcf/kuka_iiwa_14/iiwa14.xml",
    "mjcf/trs_so_arm100/so_arm100.xml",
    "mjcf/robotiq_2f85/2f85.xml",
    "mjcf/google_barkour_vb/barkour_vb.xml",
    "mjcf/skydio_x2/x2.xml",
]
KNOWN = {
    # MuJoCo's USD reader 4.0 has no ball joints ("Unsupported joint type") ...
    ("rover/model.sdf", "mujoco_usd"): "caster_joint: 0 DOFs instead of 3",
    # ... and does not take an actuator whose target is a site of our assets
    ("mjcf/skydio_x2/x2.xml", "mujoco_usd"): "invalid transmission type in actuator",
}
"""What an engine cannot read, with the words it says it in: one that comes to be read fails the test."""
ENGINES = [pytest.param(name, marks=pytest.mark.judge(name), id=name) for name in ("mujoco_usd", "physx")]


def judge(source: Path, engine: str, folder: Path) -> Outcome:
    mjcf = source
    if source.suffix != ".xml":
        mjcf = simwright.convert(source, folder / "reference" / "robot.xml")
    reference, configurations = see_reference(mjcf)
    asset = convert(source, folder / engine, engine)
    return compare(engine, reference, ask(engine, asset, configurations))


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", SOURCES)
def test_samples(source: str, engine: str, tmp_path: Path) -> None:
    known = {"dofs": KNOWN[source, engine]} if (source, engine) in KNOWN else {}
    assert judge(SAMPLES / source, engine, tmp_path).differences == known


@pytest.mark.realworld
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", REAL)
def test_real_robots(source: str, engine: str, tmp_path: Path) -> None:
    if (source, engine) in KNOWN:
        with pytest.raises(NotSeenError, match=KNOWN[source, engine]):
            judge(SHARED_ASSETS / source, engine, tmp_path)
        return
    assert judge(SHARED_ASSETS / source, engine, tmp_path).differences == {}


@pytest.mark.parametrize(
    ("engine", "words", "root"),
    [
        pytest.param("mujoco_usd", "mjc", "/twin/base", marks=pytest.mark.judge("mujoco_usd")),
        pytest.param("physx", "newton", "/twin", marks=pytest.mark.judge("physx")),
    ],
)
def test_a_robot_that_is_written_right_by_hand(engine: str, words: str, root: str, tmp_path: Path) -> None:
    """What is measured can be met: nothing that the other tests ask for is beyond an engine."""
    reference, configurations = see_reference(write_mjcf(tmp_path))
    outcome = compare(engine, reference, ask(engine, write_stage(tmp_path, words, root), configurations))
    assert outcome.differences == {}
    assert outcome.absent == set()
    assert outcome.matrix_error is not None
    assert 0.0 < outcome.matrix_error < TOLERANCE


@pytest.mark.judge("physx")
def test_an_articulation_root_on_the_base_lets_it_float(tmp_path: Path) -> None:
    """PhysX (ovphysx 0.7): why an asset for MuJoCo, whose root is there, is none for PhysX."""
    reference, configurations = see_reference(write_mjcf(tmp_path))
    seen = ask("physx", write_stage(tmp_path, "newton", "/twin/base"), configurations)
    outcome = compare("physx", reference, seen)
    assert outcome.differences["base"] == "base floats, should be held"
    assert outcome.differences["matrix"].startswith("mass matrix off by")
