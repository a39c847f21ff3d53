"""Answers of earlier runs: the same report, and never for something that has changed."""

from __future__ import annotations

import json
from pathlib import Path

import mujoco
import pytest
import trimesh
from tests.prover.conftest import MakeEngine
from tests.prover.faults import plant, write_robot

import simwright
from simwright.app.cli.main import run
from simwright.app.proof.formats import describe_proofs
from simwright.app.proof.page import render_page
from simwright.app.proving import prove_source
from simwright.checker.cache import Cache
from simwright.core.diag import Diagnostic, Level, Where
from simwright.model.asset import Asset
from simwright.prover.answers import AnswerCache, open_answers
from simwright.prover.asking import ReferenceRobot
from simwright.prover.aspects import Outcome
from simwright.prover.caching import decode, digest_asset, encode
from simwright.prover.causes import DifferenceCause
from simwright.prover.motion import MotionReference, MotionResult, MotionRun
from simwright.prover.processes import Worker
from simwright.prover.proving import Column, Proof, ProofSettings, Watch
from simwright.prover.workers.mujoco import MujocoRobot
from simwright.prover.workers.seen import MotionOrder

STRUCTURE = ("structure",)


def ask(robot: Path, *engines: str, **more: object) -> tuple[Proof, list[str]]:
    """A proof with the user's cache, and which engines were asked for it."""
    asked: list[str] = []
    settings = ProofSettings(engines, **{"levels": STRUCTURE, **more})  # type: ignore[arg-type]
    (proof,) = prove_source(robot, settings, progress=asked.append)
    return proof, [name for name in asked if name != "mujoco"]


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Engines that answer at once: what is asked of whom does not depend on the answers."""

    def answer(
        asset: Asset, settings: ProofSettings, watch: Watch | None, *_: object, **more: object
    ) -> Proof:
        assert watch is not None
        columns = []
        for name in settings.list_columns():
            watch(name)
            columns.append(Column(Outcome(name, counts={"dofs": str(len(asset.joints))}, version="1")))
        return Proof(asset.name, settings.against, "MuJoCo", settings, columns)

    monkeypatch.setattr("simwright.prover.caching.prove_asset", answer)


def test_answers_outlive_a_change_of_what_is_made_of_them(
    tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    robot = write_robot(tmp_path)
    levels = ("structure", "dynamics")
    first, _ = ask(robot, "twin", levels=levels)
    with monkeypatch.context() as changed:
        # as by a new version of Simwright, the column is not known any more; the same files are given
        changed.setattr("simwright.prover.caching._find", lambda *_: None)
        changed.setattr(Worker, "_ask_engine", lambda *_: pytest.fail("the answer is known"))
        again, asked = ask(robot, "twin", levels=levels)
    assert asked == ["twin"]
    assert again.columns[0].outcome == first.columns[0].outcome
    plant("mass", monkeypatch)
    heavier, _ = ask(robot, "twin", levels=levels, seed=1)
    assert "masses" in heavier.columns[0].outcome.differences


def test_the_reference_is_not_moved_again_for_a_further_engine(
    tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    make_engine("other")
    robot = write_robot(tmp_path)
    first, _ = ask(robot, "twin", levels=("motion",))
    with monkeypatch.context() as changed:
        changed.setattr(MujocoRobot, "move", lambda *_: pytest.fail("the motion is known"))
        again, asked = ask(robot, "other", levels=("motion",))
    assert asked == ["other"]
    assert again.columns[0].motions == first.columns[0].motions
    heavy = tmp_path / "heavy.xml"
    heavy.write_text(robot.read_text().replace('mass="2"', 'mass="20"'))
    order, answers = MotionOrder(0.001, 10, 3), open_answers()
    ends = [ReferenceRobot(simwright.load(file), answers).move(order).joints[-1] for file in (robot, heavy)]
    assert ends[0] != ends[1]


def test_an_answer_is_found_however_its_question_is_put(tmp_path: Path) -> None:
    answers = AnswerCache(Cache(tmp_path))
    answers.keep("context", {"ask": "poses", "seed": 1, "file": "a.xml"}, {"poses": [1.0]})
    assert answers.find("context", {"file": "b.xml", "seed": 1, "ask": "poses"}) == {"poses": [1.0]}
    assert answers.find("context", {"ask": "poses", "seed": 2}) is None
    assert answers.find("other", {"ask": "poses", "seed": 1}) is None
    answers.keep("context", {"ask": "bias"}, {"error": "out of memory"})
    assert answers.find("context", {"ask": "bias"}) is None


def test_zeros_are_those_of_joints_of_one_freedom() -> None:
    model = mujoco.MjModel.from_xml_string(
        """<mujoco><compiler angle="radian"/><worldbody><body name="base" pos="1 2 3">
        <freejoint name="root"/><geom size="0.1"/>
        <body><joint name="knee" ref="0.5"/><joint name="hip"/><geom size="0.1"/></body></body></worldbody></mujoco>"""
    )
    assert MujocoRobot(model).list_zeros() == pytest.approx({"knee": 0.5})


def tell(robot: Path, proof: Proof) -> str:
    return json.dumps(describe_proofs(str(robot), [proof])) + render_page(str(robot), [proof])


def test_a_hit_is_the_same_report(
    tmp_path: Path, make_engine: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin", blank={"limits": "no word"})
    plant("mass", monkeypatch)
    robot = write_robot(tmp_path)
    levels = ("structure", "dynamics")
    first, asked = ask(robot, "twin", levels=levels)
    assert asked == ["twin"]
    assert first.columns[0].measured
    again, asked = ask(robot, "twin", levels=levels)
    assert asked == []
    assert not again.same
    assert again.columns == first.columns
    assert tell(robot, again) == tell(robot, first)


def test_only_what_is_missing_is_asked(tmp_path: Path, make_engine: MakeEngine, quick: None) -> None:
    make_engine("twin")
    make_engine("other")
    robot = write_robot(tmp_path)
    ask(robot, "twin")
    proof, asked = ask(robot, "other", "twin")
    assert asked == ["other"]
    assert [column.outcome.engine for column in proof.columns] == ["other", "twin"]


def test_what_changes_a_result_asks_again(
    tmp_path: Path, make_engine: MakeEngine, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_engine("twin")
    robot = write_robot(tmp_path)
    ask(robot, "twin")
    assert ask(robot, "twin", seed=1)[1] == ["twin"]
    assert ask(robot, "twin", levels=("structure", "dynamics"), configurations=1)[1] == ["twin"]
    text = robot.read_text()
    robot.write_text(text.replace('mass="2"', 'mass="2.5"'))
    assert ask(robot, "twin")[1] == ["twin"]
    # only a line lower: causes tell lines
    robot.write_text(text.replace("<worldbody>", "\n<worldbody>"))
    assert ask(robot, "twin")[1] == ["twin"]
    robot.write_text(text)
    assert ask(robot, "twin")[1] == []
    # another worker, or anything else of the program
    monkeypatch.setattr("simwright.checker.cache.hash_tool", lambda rooms: f"other {rooms}")
    assert ask(robot, "twin")[1] == ["twin"]


def test_other_packages_of_an_engine_ask_again(tmp_path: Path, make_engine: MakeEngine, quick: None) -> None:
    import dataclasses

    from simwright.prover.table import list_engines

    row = make_engine("twin")
    robot = write_robot(tmp_path)
    ask(robot, "twin")
    newer = dataclasses.replace(row.environment, pins=("json==2.0.0",))
    newer.python.parent.mkdir(parents=True)
    newer.python.write_bytes(row.environment.python.read_bytes())
    newer.python.chmod(0o755)
    (newer.folder / ".ready").touch()
    list_engines()["twin"] = dataclasses.replace(row, environment=newer)  # type: ignore[index]
    assert ask(robot, "twin")[1] == ["twin"]


def test_a_mesh_is_a_part_of_the_asset(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text(
        '<mujoco><asset><mesh name="part" file="part.stl"/></asset>'
        '<worldbody><body><geom type="mesh" mesh="part"/></body></worldbody></mujoco>'
    )
    mesh = tmp_path / "part.stl"
    trimesh.creation.box((0.1, 0.1, 0.1)).export(mesh)
    first = digest_asset(simwright.load(file))
    assert digest_asset(simwright.load(file)) == first
    trimesh.creation.box((0.1, 0.1, 0.2)).export(mesh)
    assert digest_asset(simwright.load(file)) != first


@pytest.mark.parametrize(
    "source", ["arm/urdf/arm.urdf", "warehouse/warehouse.usda", "quadruped/quadruped.xml"]
)
def test_the_same_file_has_the_same_digest(source: str) -> None:
    file = Path(__file__).parents[2] / "samples" / "simwright_samples" / source
    asset = simwright.load(file)
    first = digest_asset(asset)
    for shape in asset.shapes:
        _ = getattr(shape.geometry, "data", None)  # loaded or not, it is the same asset
    assert digest_asset(asset) == first == digest_asset(simwright.load(file))


def test_an_engine_that_is_removed_is_forgotten(
    tmp_path: Path, make_engine: MakeEngine, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    make_engine("twin")
    make_engine("other")
    ask(write_robot(tmp_path), "twin", "other")
    assert run(["engines", "remove", "twin"]) == 0
    (entry,) = (tmp_path / "cache" / "simwright" / "prove").rglob("*.json")
    assert b'"other"' in entry.read_bytes()


def test_a_damaged_entry_counts_as_absent(tmp_path: Path, make_engine: MakeEngine, quick: None) -> None:
    make_engine("twin")
    robot = write_robot(tmp_path)
    first, _ = ask(robot, "twin")
    (entry,) = (tmp_path / "cache" / "simwright" / "prove").rglob("*.json")
    whole = entry.read_bytes()
    for damaged in (whole[:-40], whole.replace(b"twin", b"tvin"), b"", b"\0" * 50):
        entry.write_bytes(damaged)
        proof, asked = ask(robot, "twin")
        assert asked == ["twin"]
        assert proof.columns[0].outcome == first.columns[0].outcome
    assert ask(robot, "twin")[1] == []


def test_an_entry_of_another_make_counts_as_absent(
    tmp_path: Path, make_engine: MakeEngine, quick: None
) -> None:
    from simwright.checker.cache import Cache

    make_engine("twin")
    robot = write_robot(tmp_path)
    ask(robot, "twin")
    (entry,) = (tmp_path / "cache" / "simwright" / "prove").rglob("*.json")
    cache = Cache(tmp_path / "cache" / "simwright" / "prove")
    for data in ({}, {"column": 3, "version": ""}, {"column": {"=": "Popen", "args": "ls"}, "version": ""},
                 {"column": {"=": "Column", "no": 1}, "version": ""}):  # fmt: skip
        cache.put(entry.stem, data)
        assert ask(robot, "twin")[1] == ["twin"]


def test_no_answer_is_not_kept(tmp_path: Path, make_engine: MakeEngine) -> None:
    make_engine("broken", "exit 3")
    robot = write_robot(tmp_path)
    for _ in range(2):
        proof, asked = ask(robot, "broken", "drake")
        assert asked == ["broken", "drake"]
        assert not proof.columns[0].outcome.loads


def test_without_a_cache_and_with_files_to_keep_everybody_is_asked(
    tmp_path: Path, make_engine: MakeEngine, quick: None
) -> None:
    make_engine("twin")
    robot = write_robot(tmp_path)
    ask(robot, "twin")
    asked: list[str] = []
    settings = ProofSettings(("twin",), STRUCTURE)
    prove_source(robot, settings, keep=tmp_path / "kept", progress=asked.append)
    prove_source(robot, settings, cache=False, progress=asked.append)
    assert asked.count("twin") == 2


def test_everything_in_a_column_is_kept_as_it_is() -> None:
    outcome = Outcome("e", differences={"masses": "é\ud800"}, absent={"a", "b"}, errors={"x": 0.1 + 0.2})
    reference = MotionReference("mujoco", (0.0, 0.1), 1e-5, {"j": [1.0, float("inf")]}, 1e-9)
    motion = MotionResult("swing", "same", runs=(MotionRun(0.001, {"j": (1.0, 2.0)}),), reference=reference)
    note = Diagnostic("k", Level.WARNING, "m", where=Where("f", 3), data={"n": [1, (2, 3)]}, loss=True)
    column = Column(
        outcome, {"masses": DifferenceCause("w", "t", Where("f", 1))}, (note,), 1.5, {"swing": motion}, "now"
    )
    assert decode(json.loads(json.dumps(encode(column)))) == column
    with pytest.raises(TypeError):
        encode(object())
    with pytest.raises(TypeError):
        encode({"=": "tuple"})
    with pytest.raises(KeyError):
        decode({"=": "Path", "x": 1})
