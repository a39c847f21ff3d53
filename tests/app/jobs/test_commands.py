"""Commands as jobs: state, resuming, manifests, reports in a stable order, exit codes as for one."""

from __future__ import annotations

import io
import json
from pathlib import Path

import jsonschema
import pytest
from job_things import RULES, write_boxes
from lxml import etree

import simwright
from simwright.app.cli.main import run
from simwright.app.jobs.model import ItemOutcome, JobItem, JobSpec, number_items
from simwright.app.jobs.ray import pack_item
from simwright.app.jobs.reports import write_report
from simwright.app.jobs.store import JobStore, create_store
from simwright.core.pool import JobLimits

SCHEMA = Path(simwright.__file__).parent / "app" / "schemas" / "job.v1.schema.json"
PLAIN = {
    "kind": "k", "level": "error", "message": "", "hint": "", "where": ["", None, None, "", ""], "section": "",
    "data": {}, "fix": None,
}  # fmt: skip


@pytest.fixture
def boxes(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_boxes(tmp_path / "boxes", 7)
    return tmp_path / "boxes"


def report(capsys, *arguments: str) -> str:
    assert run(["jobs", "report", "job", *arguments]) in (0, 1, 2)
    return capsys.readouterr().out


def test_a_job_says_what_the_check_says_whatever_the_number_of_workers(
    boxes, capsys, sarif_validator, junit_schema
):
    """One test of all reports: what costs is to start workers."""
    assert run(["check", "boxes", *RULES, "--format", "json"]) == 1
    alone = json.loads(capsys.readouterr().out)
    names = ("text", "json", "json-lines", "junit", "sarif", "html")
    found = []
    for jobs in ("1", "2"):
        assert run(["check", "boxes", *RULES, "--job", f"job{jobs}", "--jobs", jobs]) == 1
        assert capsys.readouterr().out.startswith("7 of 7 done: 4 clean, 3 findings\n3 errors\n")
        Path("job").unlink(missing_ok=True)
        Path("job").symlink_to(f"job{jobs}")
        found.append({name: report(capsys, "--format", name) for name in names})
    assert found[0] == found[1]
    told = json.loads(found[0]["json"])
    jsonschema.validate(told, json.loads(SCHEMA.read_text()))
    assert [one["path"] for one in told["assets"]] == [one["path"] for one in alone["assets"]]
    assert [one["findings"] for one in told["assets"]] == [one["findings"] for one in alone["assets"]]
    assert told["summary"]["code"] == 1
    assert [json.loads(line) for line in found[0]["json-lines"].splitlines()] == told["assets"]
    suite = etree.fromstring(found[0]["junit"].encode())
    junit_schema.assertValid(suite)
    assert (suite.get("tests"), suite.get("failures")) == ("7", "3")
    log = json.loads(found[0]["sarif"])
    sarif_validator.validate(log)
    (only,) = log["runs"]
    assert [rule["id"] for rule in only["tool"]["driver"]["rules"]] == ["units-meters"]
    assert [result["ruleIndex"] for result in only["results"]] == [0, 0, 0]
    assert len({result["partialFingerprints"]["simwrightFinding/v1"] for result in only["results"]}) == 3
    counters = report(capsys, "--format", "prometheus")
    assert 'simwright_job_findings{command="check",level="error",rule="units-meters"} 3\n' in counters
    assert 'simwright_job_status{command="check",status="clean"} 4\n' in counters
    page = found[0]["html"]
    data = json.loads(page.partition('id="data">')[2].partition("</script>")[0])
    assert data["folders"] == ["boxes/part0", "boxes/part1"]
    assert [rule[0] for rule in data["rules"]] == ["units-meters"]
    assert sum(len(row[4]) for row in data["rows"]) == 3


def test_names_of_assets_cannot_become_code(tmp_path):
    item = JobItem(0, "/a/</script><script>alert(1)</script>.usda", {})
    with create_store(tmp_path, JobSpec("diff"), [item], {}) as store:
        finding = {**PLAIN, "message": "<img src=x onerror=alert(1)></script>"}
        store.keep(item, ItemOutcome("different", 1, [finding]))
        out = io.StringIO()
        write_report(store, "html", out)
    page = out.getvalue()
    assert "<script>alert" not in page
    assert "<img" not in page
    assert page.count("</script>") == 2


def test_what_is_done_is_not_done_again(boxes, capsys):
    run(["check", "boxes", *RULES, "--job", "job", "--jobs", "1"])
    # as after a kill: two of the seven have no result
    with JobStore(Path("job"), writing=True) as store:
        store._base.execute("DELETE FROM results WHERE number IN (2, 5)")
    capsys.readouterr()
    before = report(capsys, "--format", "json")
    assert json.loads(before)["summary"]["done"] == 5
    assert run(["check", "boxes", *RULES, "--job", "job"]) == 2
    assert "unfinished job" in capsys.readouterr().err
    assert run(["check", "boxes", *RULES, "--job", "job", "--resume", "--fail-on", "never"]) == 2
    assert "other options" in capsys.readouterr().err
    assert run(["check", "boxes", *RULES, "--job", "job", "--resume"]) == 1
    capsys.readouterr()
    with JobStore(Path("job")) as store:
        attempts = store.count_attempts()
        assert store.count_done() == store.count_items()
    assert {number for number, count in attempts.items() if count > 1} == {2, 5}
    assert run(["jobs", "show", "job", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["repeated"] == 2


def test_trend_against_the_run_before(boxes, capsys):
    run(["check", "boxes", *RULES, "--job", "job"])
    good = (boxes / "part1" / "box_001.usda").read_text()
    (boxes / "part0" / "box_000.usda").write_text(good)
    (boxes / "part1" / "box_001.usda").write_text(good.replace('upAxis = "Z"', 'upAxis = "Y"'))
    write_boxes(boxes / "more", 1)
    capsys.readouterr()
    assert run(["check", "boxes", *RULES, "--job", "job"]) == 1
    assert "since the last run: 1 new, 1 gone\n" in capsys.readouterr().out
    trend = json.loads(report(capsys, "--format", "json"))["summary"]["trend"]
    assert trend == {"new": {"error axis-up-z": 1}, "gone": {"error units-meters": 1}, "assets": 1}
    assert "Since the last run" in report(capsys, "--format", "html")


def test_options_of_an_asset_go_before_those_of_the_job(boxes, capsys):
    Path("fleet.yaml").write_text(
        "- boxes/part0/box_000.usda\n"
        "- {asset: boxes/part1/box_003.usda, ignore: [units-meters]}\n"
        "- {asset: boxes/part0/box_006.usda, select: [no-such-rule]}\n"
        "- gone.usda\n"
    )
    assert run(["check", "--manifest", "fleet.yaml", *RULES, "--format", "json-lines"]) == 1
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    lines.sort(key=lambda line: line["number"])
    assert [(line["status"], [one["rule"] for one in line["findings"]]) for line in lines] == [
        ("findings", ["units-meters"]),
        ("clean", []),
        ("failed", ["unknown-name"]),
        ("failed", ["not-found"]),
    ]


def test_exit_codes_are_those_of_one(boxes, capsys):
    assert run(["check", "boxes", *RULES, "--job", "a", "--fail-on", "never"]) == 0
    assert run(["check", "gone.usda", *RULES, "--job", "b"]) == 2
    assert run(["check", "boxes", *RULES, "--job", "d", "--stamp"]) == 2
    assert run(["check", "boxes", "--select", "nothing-at-all", "--job", "e"]) == 2
    assert run(["check", "boxes", *RULES, "--resume"]) == 2
    assert run(["check", "boxes", *RULES, "--address", "here:1"]) == 1  # it is for jobs only
    assert run(["check", "boxes", *RULES, "--job", "f", "--address", "here:1"]) == 2
    assert run(["jobs", "show", "nowhere"]) == 2
    assert run(["jobs", "list", "nowhere"]) == 2
    capsys.readouterr()
    assert run(["jobs", "list", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)["jobs"]
    assert [row["folder"] for row in listed] == ["a", "b"]


URDF = """<robot name="arm"><link name="base"/><link name="tip"><inertial><mass value="{mass}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""


@pytest.fixture
def arms(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arms").mkdir()
    for number in range(3):
        (tmp_path / "arms" / f"arm{number}.urdf").write_text(URDF.format(mass=number + 1))
    (tmp_path / "arms" / "broken.urdf").write_text("<robot name='b'><link")
    return tmp_path / "arms"


def test_converting_and_comparing_as_jobs(arms, capsys):
    options = ["--no-check", "--jobs", "1", "--timeout", "100"]
    assert (
        run(["convert", "arms/*.urdf", "out", "--to", "mjcf", *options, "--job", "job", "--report", "json"])
        == 1
    )
    told = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in told["assets"]] == ["written", "written", "written", "failed"]
    assert told["assets"][3]["findings"][0]["rule"] == "parse-error"
    for number, one in enumerate(told["assets"][:3]):
        assert Path(one["result"]["entry"]).is_file(), number
    Path("pairs.jsonl").write_text(
        "\n".join(
            json.dumps({"asset": f"arms/arm{number}.urdf", "other": told["assets"][other]["result"]["entry"]})
            for number, other in ((0, 0), (1, 2))
        )
    )
    chosen = ["--only", "masses", "--jobs", "1"]
    assert run(["diff", "--manifest", "pairs.jsonl", *chosen, "--job", "diff", "--format", "json"]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in told["assets"]] == ["equal", "different"]
    assert {one["data"]["section"] for one in told["assets"][1]["findings"]} == {"masses"}
    assert run(["diff", "--manifest", "pairs.jsonl", "arms"]) == 2
    assert run(["diff"]) == 2


def test_a_manifest_says_where_results_go(arms, capsys):
    Path("fleet.yaml").write_text(
        "- {asset: arms/arm0.urdf, target: elsewhere/a.xml}\n- {asset: arms/arm1.urdf, to: sdf}\n"
    )
    assert run(["convert", "--manifest", "fleet.yaml", "out", "--to", "mjcf", "--jobs", "1"]) == 0
    capsys.readouterr()
    assert Path("elsewhere/a.xml").is_file()
    assert [file.suffix for file in Path("out/arms/arm1").iterdir()] == [".sdf"]


def test_fixing_several_assets(boxes, capsys):
    for file in list(boxes.rglob("*.usda"))[3:]:
        file.unlink()
    wanted = ["--select", "units-kilograms", "--report", "json"]
    assert run(["fix", "boxes", "-o", "fixed", *wanted]) == 1  # errors are left
    told = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in told["assets"]] == ["fixed"] * 3
    assert [one["result"]["fixed"] for one in told["assets"]] == [{"units-kilograms": 1}] * 3
    assert run(["check", "fixed", "--select", "units-kilograms", "--no-cache"]) == 0
    assert run(["fix", "boxes", "boxes"]) == 2


def test_proving_needs_an_engine_which_is_told_once(arms, capsys):
    names = ["--level", "structure", "--jobs", "1", "--no-cache"]
    assert run(["prove", "arms/arm0.urdf", "arms/arm1.urdf", *names, "--engines", "nobody"]) == 2
    assert "nobody" in capsys.readouterr().err
    assert run(["prove", "arms/arm0.urdf", "arms/arm1.urdf", *names, "--stamp"]) == 2


def test_drawing_several_files(arms, capsys):
    shown = ["--size", "64x48", "--jobs", "1", "--format", "json"]
    (arms / "arm2.urdf").unlink()
    assert run(["render", "arms", "-o", "pictures", *shown]) == 1
    told = json.loads(capsys.readouterr().out)
    assert [one["status"] for one in told["assets"]] == ["drawn", "drawn", "failed"]
    assert sorted(file.name for file in Path("pictures").iterdir()) == ["arm0.png", "arm1.png"]
    assert run(["render", "arms", "-o", "picture.png", *shown]) == 2


def test_episodes_are_the_same_however_they_are_spread(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("simwright.app.jobs.kinds.EPISODES", 2)
    asked = ["task", "run", "reach", "--robot", "sample_arm", "--policy", "random", "--max-steps", "5"]
    asked += ["--episodes", "5", "--seed", "3", "--format", "json"]
    assert run(asked) == 0
    alone = json.loads(capsys.readouterr().out)
    assert run([*asked, "--jobs", "2", "--job", "job"]) == 0
    spread = json.loads(capsys.readouterr().out)
    for episode in alone["episodes"]:
        # how long a policy takes is no number of the task
        for name in ("mean_latency_ms", "max_latency_ms"):
            episode.pop(name)
    assert spread == alone
    assert run([*asked, "--jobs", "2", "--num-worlds", "2"]) == 2


def test_worlds_drawn_by_a_job_are_those_drawn_at_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    asked = ["world", "generate", "--rooms", "3", "--style", "home", "--seed", "5", "--count", "5"]
    assert run([*asked, "-o", "once"]) == 0
    assert run([*asked, "-o", "many", "--job", "job", "--jobs", "2"]) == 0
    once, many = (
        {str(file.relative_to(name)): file.read_bytes() for file in Path(name).rglob("*.yaml")}
        for name in ("once", "many")
    )
    assert once == many
    assert len({name.partition("/")[0] for name in once}) == 5
    capsys.readouterr()
    rows = [json.loads(line) for line in report(capsys, "--format", "json-lines").splitlines()]
    assert [row["result"]["seed"] for row in rows if "result" in row] == [5, 6, 7, 8, 9]
    assert run([*asked, "-o", "once", "--format", "junit"]) == 2
    assert run([*asked, "-o", "once", "--manifest", "x.yaml"]) == 2


def test_an_asset_is_packed_with_the_bytes_of_all_its_files(samples):
    """Layers as text and as crates, each at its place: another machine has none of them."""
    folder = samples / "rack"
    (item,) = number_items([(file := str(folder / "rack.usda"), {"asset": file})])
    shipment = pack_item(JobSpec("check", {}, JobLimits()), item)
    (part,) = shipment.parts.values()
    assert shipment.problem is None
    assert set(part.files) >= {"rack.usda", "base.usda", "physics.usda", "geometries.usdc"}
    assert part.files == {place: (folder / place).read_bytes() for place in part.files}
