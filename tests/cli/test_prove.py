"""``simwright prove`` and ``simwright engines``."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from lxml import etree
from pxr import Usd, UsdProfiles
from tests.prover.conftest import MakeEngine, make_engine  # noqa: F401 - a fixture
from tests.prover.faults import plant, write_robot

import simwright
from simwright.app.cli.main import run
from simwright.app.proof.formats import render_text
from simwright.prover.table import find_engine, list_engines


@pytest.fixture
def robot(tmp_path: Path) -> str:
    return str(write_robot(tmp_path))


def test_the_same(robot: str, make_engine: MakeEngine, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    make_engine("twin")
    assert run(["prove", robot, "--level", "structure,dynamics,ros"]) == 0
    text = capsys.readouterr().out
    assert "planted against mujoco" in text
    assert "the same in twin" in text
    assert "dofs      ok 3/3" in text


def test_only_what_differs_is_red_and_only_on_a_terminal(
    robot: str,
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_engine("twin")
    plant("mass", monkeypatch)
    proofs = [simwright.prove(robot, engines=["twin"], levels=["structure"])]
    assert "\x1b" not in render_text(robot, proofs)
    rows = {
        line.split()[0]: line for line in render_text(robot, proofs, color=True).splitlines() if line.strip()
    }
    red = "\x1b[31m"
    assert red in rows["masses"]
    assert red not in rows["dofs"]
    assert 0.0 < proofs[0].columns[0].seconds < 600.0


def test_a_difference_in_every_format(
    robot: str,
    tmp_path: Path,
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin", blank={"limits": "no | word"})
    plant("mass", monkeypatch)
    assert run(["prove", robot, "--level", "structure,dynamics", "--engines", "twin,drake"]) == 1
    text = capsys.readouterr().out
    assert "twin, masses: upper weighs 2.02 instead of 2" in text
    assert f"cause: mass: the link weighs something else in the engine ({robot}:6)" in text
    assert "drake, no answer: not installed: simwright engines install drake" in text
    assert "not the same in twin; no answer from drake" in text
    assert (
        run(["prove", robot, "--level", "structure,dynamics", "--engines", "twin", "--format", "json"]) == 1
    )
    assert (
        json.loads(capsys.readouterr().out)["proofs"][0]["engines"][0]["aspects"]["limits"]["blank_because"]
        == "no | word"
    )
    assert run(["prove", robot, "--level", "structure,dynamics", "--engines", "twin", "--format", "md"]) == 1
    page = capsys.readouterr().out
    assert "| twin | ok | ok 4/4 |" in page
    assert "- twin, limits: no \\| word" in page
    assert (
        run(["prove", robot, "--level", "structure,dynamics", "--engines", "twin,drake", "--format", "junit"])
        == 1
    )
    root = etree.fromstring(capsys.readouterr().out.encode())
    assert [suite.get("name") for suite in root] == ["twin", "drake"]
    assert {case.get("name") for case in root.iter("testcase") if case.find("failure") is not None} == {
        "masses",
        "matrix",
        "bias",
        "answers",
    }
    assert {case.get("name") for case in root.iter("testcase") if case.find("skipped") is not None} == {
        "armature",
        "friction",
        "limits",
    }


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["--engines", "bullet"], "unknown engine 'bullet'"),
        (["--level", "motions"], "unknown level 'motions'"),
        (["--against", "odes"], "unknown engine 'odes'"),
        ([], "no engine to compare with mujoco"),
    ],
)
def test_bad_words(
    arguments: list[str],
    told: str,
    robot: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert run(["prove", robot, *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_file_that_is_not_there(make_engine: MakeEngine, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    make_engine("twin")
    assert run(["prove", "nowhere.urdf"]) == 2
    assert "nowhere.urdf" in capsys.readouterr().err


def test_list(make_engine: MakeEngine, capsys: pytest.CaptureFixture[str]) -> None:  # noqa: F811
    make_engine("twin")
    assert run(["engines", "list", "--format", "json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["engines"]}
    assert rows["twin"]["installed"]
    assert not rows["drake"]["installed"]
    assert rows["physx"]["proprietary"]
    assert run(["engines", "list"]) == 0
    text = capsys.readouterr().out
    assert [name for name in list_engines() if name not in text] == []


def test_a_proprietary_engine_is_not_installed_unasked(
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin")
    monkeypatch.setattr("simwright.prover.environments._make", lambda *_: pytest.fail("must not be made"))
    assert run(["engines", "install", "physx"]) == 2
    said = capsys.readouterr().err
    assert "LicenseRef-NVIDIA-Omniverse" in said
    assert "--accept-licence" in said
    assert not find_engine("physx").environment.folder.exists()


def test_install_remove_and_doctor(
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    from simwright.prover.environments import NoEnvironmentError

    def fail(*_: object) -> None:
        raise NoEnvironmentError("no network")

    make_engine("twin")
    monkeypatch.setattr("simwright.prover.environments._make", fail)
    assert run(["engines", "install", "drake", "twin"]) == 1
    said = capsys.readouterr()
    assert "drake: no network" in said.err
    assert "twin is installed" in said.out  # it was there
    assert run(["engines", "doctor"]) == 0
    assert capsys.readouterr().out == "twin: ok\n"
    assert run(["engines", "doctor", "drake"]) == 1
    assert "drake: not installed" in capsys.readouterr().out
    assert run(["engines", "remove", "twin", "drake"]) == 0
    assert not find_engine("twin").environment.folder.exists()
    assert run(["engines", "doctor"]) == 0
    assert "no engine is installed" in capsys.readouterr().out
    assert run(["engines", "remove", "drke"]) == 2


SCHEMA = Path(__file__).parents[2] / "src/simwright/app/schemas/prove.v1.schema.json"


def test_every_format_to_a_file(
    robot: str,
    tmp_path: Path,
    make_engine: MakeEngine,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin", blank={"limits": "no word"})
    common = ["prove", robot, "--engines", "twin", "--level", "structure", "-o"]
    for name, start in (
        ("p.html", "<!DOCTYPE html>"), ("p.json", "{"), ("p.md", "# planted"), ("p.xml", "<?xml"), ("p.txt", "planted"),
    ):  # fmt: skip
        assert run([*common, str(tmp_path / "new" / name)]) == 0
        said = capsys.readouterr()
        assert said.out == ""
        assert said.err == f"wrote {tmp_path / 'new' / name}\n"
        assert (tmp_path / "new" / name).read_text().startswith(start)
    told = json.loads((tmp_path / "new" / "p.json").read_text())
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(told)
    # the ending of the file is not an order; an earlier report is replaced
    assert run([*common, str(tmp_path / "new" / "p.txt"), "--format", "json"]) == 0
    assert json.loads((tmp_path / "new" / "p.txt").read_text()) == told
    assert run(["prove", robot, "--engines", "twin", "--level", "structure", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == told


@pytest.mark.parametrize(
    ("output", "told"),
    [
        ("", "is a folder"),
        ("planted.xml", "is the asset itself"),
        ("planted.xml/x.html", "cannot be written"),
    ],
)
def test_places_that_cannot_be_written_are_told_before_engines_work(
    output: str,
    told: str,
    robot: str,
    tmp_path: Path,
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin")
    monkeypatch.setattr(
        "simwright.app.proving.prove_source", lambda *_, **__: pytest.fail("must not be asked")
    )
    before = Path(robot).read_bytes()
    assert run(["prove", robot, "--format", "html", "-o", str(tmp_path / output)]) == 2
    assert told in capsys.readouterr().err
    assert Path(robot).read_bytes() == before


def test_an_answer_comes_from_the_cache(
    robot: str,
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin")
    words = ["prove", robot, "--level", "structure", "--format", "json"]
    assert run(words) == 0
    first = capsys.readouterr().out
    monkeypatch.setattr(
        "simwright.prover.caching.prove_asset", lambda *_, **__: pytest.fail("must not be asked")
    )
    assert run(words) == 0
    assert capsys.readouterr().out == first
    with pytest.raises(pytest.fail.Exception):
        run([*words, "--no-cache"])


def test_a_stamp_is_for_openusd(
    robot: str,
    tmp_path: Path,
    make_engine: MakeEngine,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin", blank={"limits": "no word", "links": "no word"})
    assert run(["prove", robot, "--stamp"]) == 2
    assert "has no place for the result of a proof" in capsys.readouterr().err
    entry = str(simwright.convert(robot, tmp_path / "asset"))
    assert run(["check", entry]) == 0
    found = capsys.readouterr().out
    assert run(["prove", entry, "--engines", "twin,drake", "--level", "structure", "--stamp"]) == 1
    assert "structure is claimed for twin" in capsys.readouterr().err
    stage = Usd.Stage.Open(entry)
    prim = stage.GetDefaultPrim()
    claims = UsdProfiles.ClaimsAPI(prim)
    name = "simwright.structure.twin"
    assert list(claims.GetCompatibleProfiles()) == [name]
    assert list(claims.GetProfileExceptions(name)) == [
        "simwright.structure.links",
        "simwright.structure.limits",
    ]
    assert prim.GetCustomDataByKey("simwright:prove:twin").endswith(": structure")
    assert run(["check", entry]) == 0
    assert capsys.readouterr().out == found
    # it says the same already: the file is left alone
    before = Path(entry).stat()
    assert run(["prove", entry, "--engines", "twin", "--level", "structure", "--stamp"]) == 0
    assert Path(entry).stat().st_mtime_ns == before.st_mtime_ns
    # an engine that differs loses the claim
    plant("missing drive", monkeypatch)
    assert run(["prove", entry, "--engines", "twin", "--level", "structure", "--stamp", "--no-cache"]) == 1
    stage.Reload()
    assert list(UsdProfiles.ClaimsAPI(prim).GetCompatibleProfiles()) == []
    assert prim.GetCustomDataByKey("simwright:prove:twin") is None
    packed = str(simwright.convert(entry, tmp_path / "asset.usdz"))
    assert run(["prove", packed, "--engines", "twin", "--stamp"]) == 2
    assert "cannot be stamped" in capsys.readouterr().err


def test_a_scene_has_a_proof_for_each_kind_of_world(
    robot: str,
    tmp_path: Path,
    make_engine: MakeEngine,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    make_engine("twin")
    scene = tmp_path / "scene.yaml"
    scene.write_text(f"assets:\n  - {{type: mjcf, source: {robot}}}\n")
    assert run(["prove", str(scene), "--level", "structure", "--format", "json"]) == 0
    (proof,) = json.loads(capsys.readouterr().out)["proofs"]
    assert proof["asset"] == "scene"
    assert proof["engines"][0]["aspects"]["dofs"]["state"] == "same"
    assert run(["prove", str(scene), "--arg", "a=b"]) == 2
    assert "is a scene" in capsys.readouterr().err
