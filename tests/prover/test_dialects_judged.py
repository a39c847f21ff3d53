"""Engines open what ``convert --for`` writes for them, and see in it what the asset says."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import SAMPLES

import simwright
from simwright.formats.dialects import find_dialect
from simwright.prover.processes import EnginePool, NotSeenError
from simwright.prover.table import find_engine, list_engines
from simwright.prover.workers.seen import Seen

pytestmark = pytest.mark.judge("prove")

LOOP = SAMPLES / "fourbar" / "fourbar.usda"
ARM = SAMPLES / "arm" / "urdf" / "arm.urdf"


def see(engine: str, file: Path) -> Seen:
    with EnginePool(300.0) as pool:
        worker = pool.find(find_engine(engine))
        worker.open(file, [0.0, 0.0, -9.81])
        return worker.describe()


@pytest.mark.parametrize("engine", sorted(list_engines()))
def test_engines_open_what_is_written_for_them(engine: str, tmp_path: Path) -> None:
    row = find_engine(engine)
    entry = simwright.convert(ARM, tmp_path / "arm", for_=row.dialect)
    assert find_dialect(row.dialect).usual == row.format
    assert len(see(engine, entry).freedoms) == 8


def test_drake_takes_sdf_without_loops_only(tmp_path: Path) -> None:
    whole = simwright.convert(LOOP, tmp_path / "whole.sdf", mesh_format="obj")
    with pytest.raises(NotSeenError):
        see("drake", whole)
    assert see("drake", simwright.convert(LOOP, tmp_path / "open.sdf", for_="drake")).freedoms


def test_pybullet_and_dart_make_up_no_mass(tmp_path: Path) -> None:
    weight = sum(body.inertial.mass for body in simwright.load(ARM).bodies if body.inertial)
    for engine in ("pybullet", "dart"):
        own = see(engine, simwright.convert(ARM, tmp_path / engine, for_=engine))
        assert sum(own.masses.values()) == pytest.approx(weight)
        bare = see(engine, simwright.convert(ARM, tmp_path / f"{engine}.urdf", mesh_format="obj"))
        assert sum(bare.masses.values()) > weight + 0.5


def test_mujoco_keeps_bodies_apart_that_bits_keep_apart(tmp_path: Path) -> None:
    """Its USD reader (4.0.0) has no words for bits, and refuses files with a filtered collider."""
    file = tmp_path / "robot.xml"
    bodies = "".join(
        f'<body name="b{number}" pos="0 0 {number}"><freejoint/><geom size="0.1" contype="2" conaffinity="1"/></body>'
        for number in range(3)
    )
    file.write_text(
        f'<mujoco><worldbody><geom type="plane" size="1 1 1"/>{bodies}</worldbody>'
        '<contact><exclude body1="world" body2="b1"/></contact></mujoco>'
    )
    entry = simwright.convert(file, tmp_path / "robot", for_="mujoco")
    assert see("mujoco-usd", entry).filters == [["b0", "b1"], ["b0", "b2"], ["b1", "b2"]]
