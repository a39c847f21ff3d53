"""One asset in several engines: faults are found with their cause, an engine that breaks costs its own column."""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path

import pytest
from tests.prover.conftest import MakeEngine
from tests.prover.faults import AT, FAULTS, FOUND, MOVES, plant, write_robot

import simwright
from simwright.app.proof.formats import describe_proof
from simwright.app.proof.words import find_state
from simwright.core.errors import SimwrightError, UnknownNameError, UsageError
from simwright.prover import environments
from simwright.prover.processes import EnginePool, NotSeenError
from simwright.prover.proving import examine
from simwright.prover.table import find_engine, list_engines

QUICK = ["structure", "dynamics"]


def test_the_same_robot(tmp_path: Path, make_engine: MakeEngine) -> None:
    make_engine("twin")
    proof = simwright.prove(write_robot(tmp_path), engines=["twin"])
    (column,) = proof.columns
    assert column.outcome.differences == {}
    assert proof.same
    assert column.outcome.absent == {"armature", "friction", "drop", "slope", "loop"}
    errors = column.outcome.errors
    assert max(errors[name] for name in ("poses", "matrix", "bias")) < 1e-12
    # the reference has much smaller steps: there are errors, and all of them are of discretisation
    for name in ("swing", "response", "coupled"):
        result = column.motions[name]
        assert result.state == "same"
        assert 0.0 < result.remainder <= result.tolerance
    swing = column.motions["swing"]
    assert swing.error_half < 0.75 * swing.error
    assert swing.remainder < 0.1 * swing.error


@pytest.mark.parametrize("fault", FAULTS)
def test_planted_faults(
    fault: str, tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    plant(fault, monkeypatch)
    proof = simwright.prove(write_robot(tmp_path), engines=["twin"])
    (column,) = proof.columns
    aspect, line = AT[fault]
    assert set(column.outcome.differences) == FOUND[fault] | MOVES[fault]
    assert column.causes[aspect].word == fault
    assert {column.causes[name].word for name in MOVES[fault]} <= {fault}
    assert column.causes[aspect].where.line == line
    if fault in ("axis flipped", "mass"):  # what follows from it is told with the same cause
        assert {cause.word for cause in column.causes.values()} == {fault}


def test_levels(tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    make_engine("twin")
    plant("axis flipped", monkeypatch)
    robot = write_robot(tmp_path)
    assert simwright.prove(robot, engines=["twin"], levels=["structure"]).same
    proof = simwright.prove(robot, engines=["twin"], levels=["dynamics"])
    assert not proof.same
    assert proof.aspects == ["poses", "matrix", "bias"]


@pytest.mark.parametrize("fault", ["missing drive", "mimic dropped"])
def test_faults_by_motion_alone(
    fault: str, tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    plant(fault, monkeypatch)
    proof = simwright.prove(write_robot(tmp_path), engines=["twin"], levels=["motion"])
    (column,) = proof.columns
    assert proof.aspects == ["swing", "response", "coupled", "drop", "slope", "loop"]
    assert set(column.outcome.differences) == MOVES[fault]
    assert {cause.word for cause in column.causes.values()} == {fault}


def test_any_engine_may_be_the_one_that_others_are_held_against(
    tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    make_engine("other")
    plant("mass", monkeypatch)
    proof = simwright.prove(write_robot(tmp_path), engines=["mujoco", "other"], against="twin", levels=QUICK)
    first, second = (column.outcome for column in proof.columns)
    assert first.differences["masses"] == "upper weighs 2 instead of 2.02"
    assert second.right  # both have the fault


def test_a_command_that_fails_is_a_problem_with_what_it_said() -> None:
    with pytest.raises(environments.NoEnvironmentError, match=r"cannot do it:\nno such thing"):
        environments._run([sys.executable, "-c", "import sys; sys.exit('no such thing')"], "cannot do it")


@pytest.mark.parametrize(
    ("script", "told"),
    [
        ("echo 'ValueError: bad' >&2; echo ' thing' >&2; exit 1", "bad thing"),
        ("kill -SEGV $$", "crashes with signal 11"),
        ("exec sleep 60", "no answer after 1 s"),
        ("echo no JSON; exec sleep 60", "the worker answers b'no JSON'"),
        ("exit 3", "ends with 3"),
        ("""read line; echo '{"error": "mesh not found"}'; exec sleep 60""", "mesh not found"),
    ],
)
def test_an_engine_that_fails_costs_its_own_column(
    script: str, told: str, tmp_path: Path, make_engine: MakeEngine
) -> None:
    make_engine("broken", script)
    make_engine("twin")
    robot = write_robot(tmp_path)
    proof = simwright.prove(
        robot,
        engines=["broken", "twin", "drake"],
        levels=QUICK,
        timeout=60 if "sleep" not in script else 1,
    )
    broken, twin, absent = (column.outcome for column in proof.columns)
    assert broken.differences == {"loads": told}
    # a second is little for an interpreter that starts
    assert twin.right or twin.reason == "no answer after 1 s"
    assert absent.reason == "not installed: simwright engines install drake"
    assert not proof.same
    assert all(find_state(proof.columns[0], name) == "blank" for name in proof.aspects)
    assert all(0.0 <= column.seconds < 600.0 for column in proof.columns)
    with pytest.raises(UsageError, match="gives no answer to compare the others with"):
        simwright.prove(robot, engines=["twin"], against="broken", timeout=1)


def test_a_worker_that_is_killed(tmp_path: Path, make_engine: MakeEngine) -> None:
    with EnginePool(60.0) as pool:
        worker = pool.find(make_engine("twin"))
        assert worker.open(write_robot(tmp_path), [0.0, 0.0, -9.81]).startswith("MuJoCo ")
        os.kill(worker.process.pid, signal.SIGKILL)
        with pytest.raises(NotSeenError, match="signal 9"):
            worker.describe()
        with pytest.raises(NotSeenError, match="signal 9"):
            worker.evaluate([{}])


def test_a_worker_passes_on_what_its_engine_says(tmp_path: Path, make_engine: MakeEngine) -> None:
    bad = tmp_path / "bad.xml"
    bad.write_text("<mujoco><worldbody><body/><geom size='1'/></mujoco>")
    with EnginePool(60.0) as pool:
        worker = pool.find(make_engine("twin"))
        with pytest.raises(NotSeenError, match="nothing is open"):
            worker.describe()
        with pytest.raises(NotSeenError, match="XML"):
            worker.open(bad, [0.0, 0.0, 0.0])
        worker.open(write_robot(tmp_path), [0.0, 0.0, 0.0])
        assert worker.describe().mimics == {"bend": ["turn", 2.0]}


def test_an_asset_that_no_format_of_an_engine_holds(
    tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_rest: object, **_more: object) -> Path:
        raise SimwrightError("no place for it")

    make_engine("twin")
    monkeypatch.setattr("simwright.prover.proving.write_asset", refuse)
    (column,) = simwright.prove(write_robot(tmp_path), engines=["twin"]).columns
    assert column.outcome.reason == "not written: no place for it"


def test_no_engine_comes_into_this_process(tmp_path: Path, make_engine: MakeEngine) -> None:
    make_engine("twin")
    simwright.prove(write_robot(tmp_path), engines=["twin", "drake", "physx"], levels=QUICK)
    assert not {"pydrake", "pybullet", "pinocchio", "ovphysx", "newton", "dartpy", "sapien"} & set(
        sys.modules
    )


def test_names_that_are_not_there(tmp_path: Path, make_engine: MakeEngine) -> None:
    make_engine("twin")
    robot = write_robot(tmp_path)
    with pytest.raises(UnknownNameError, match="did you mean 'drake'"):
        simwright.prove(robot, engines=["drke"])
    with pytest.raises(UnknownNameError, match="unknown level 'motions'"):
        simwright.prove(robot, levels=["motions"])
    with pytest.raises(UsageError, match="no engine to compare with mujoco"):
        simwright.prove(robot, engines=["mujoco"])
    # all that are installed
    assert [column.outcome.engine for column in simwright.prove(robot, levels=QUICK).columns] == ["twin"]


def test_the_table_of_engines() -> None:
    assert list(list_engines())[:3] == ["mujoco-usd", "newton", "physx"]
    workers = Path(simwright.__file__).parent / "prover" / "workers"
    for name, row in list_engines().items():
        assert row.precision in ("single", "double")
        assert (workers / f"{row.worker}.py").is_file()
        assert row.environment.name == name
    assert find_engine("physx").proprietary


def test_the_doctor_lets_an_engine_open_a_robot(make_engine: MakeEngine) -> None:
    assert examine(make_engine("twin")) == ""
    assert examine(make_engine("broken", "exit 3")) == "ends with 3"


def test_what_engines_were_given_can_be_kept(tmp_path: Path, make_engine: MakeEngine) -> None:
    make_engine("twin")
    simwright.prove(write_robot(tmp_path), engines=["twin"], levels=["structure"], keep=tmp_path / "kept")
    assert (tmp_path / "kept" / "mjcf" / "planted.xml").is_file()


def test_plain_data(tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    make_engine("twin", blank={"friction": "no word for it"})
    plant("mass", monkeypatch)
    told = describe_proof(simwright.prove(write_robot(tmp_path), engines=["twin"], seed=7, levels=QUICK))
    assert (told["same"], told["seed"], told["configurations"]) == (False, 7, 20)
    aspects = told["engines"][0]["aspects"]
    assert aspects["masses"]["state"] == "differs"
    assert aspects["masses"]["cause"]["word"] == "mass"
    assert aspects["masses"]["tolerance"] == 1e-9
    assert aspects["drives"]["state"] == "same"
    assert aspects["armature"]["state"] == "none"


def test_a_worker_ends_with_the_process_that_asks(make_engine: MakeEngine) -> None:
    """Also one that is killed, in the middle of what takes long."""
    import subprocess
    import time

    row = make_engine(
        "slow", f"exec {sys.executable} -c \"import workers, os, time; os.write(1, b'.'); time.sleep(60)\""
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(simwright.__file__).parent / "prover")}
    parent = (
        "import subprocess, sys\n"
        f"worker = subprocess.Popen([{str(row.environment.python)!r}], stdout=subprocess.PIPE)\n"
        "worker.stdout.read(1)\n"
        "print(worker.pid, flush=True)\n"
        "worker.wait()\n"
    )
    asking = subprocess.Popen([sys.executable, "-c", parent], stdout=subprocess.PIPE, env=environment)
    assert asking.stdout is not None
    worker = int(asking.stdout.readline())
    asking.kill()
    asking.wait()
    asking.stdout.close()
    end = time.monotonic() + 20
    while time.monotonic() < end and Path(f"/proc/{worker}").exists():
        time.sleep(0.02)
    assert not Path(f"/proc/{worker}").exists()
