"""``simwright fix`` and ``simwright check --fix``: what they write, say and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

import simwright
from simwright.app.cli.main import run
from simwright.app.fixing import FixRequest, fix_in_place

ASSET = """#usda 1.0
(
    defaultPrim = "box"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "box" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
    float xformOp:rotateZ = 90
    uniform token[] xformOpOrder = ["xformOp:rotateZ"]
}
"""


@pytest.fixture
def asset(tmp_path: Path) -> Path:
    (tmp_path / "box").mkdir()
    (tmp_path / "box/box.usda").write_text(ASSET)
    return tmp_path / "box/box.usda"


def test_several_at_once_are_fixed_by_processes_of_their_own(asset, tmp_path):
    request = FixRequest(in_place=True)
    (tmp_path / "other").mkdir()
    other = tmp_path / "other/other.usda"
    other.write_text(ASSET)
    first, second = fix_in_place([str(asset), str(other)], request, jobs=2)
    assert (first.source, second.source) == (str(asset), str(other))
    assert all(result.fixed for result in (first, second))
    assert all("rotateZ" not in path.read_text() for path in (asset, other))


def test_new_folder(asset, tmp_path, capsys):
    assert run(["fix", str(asset), "-o", str(tmp_path / "out")]) == 1
    out, err = capsys.readouterr()
    assert err == ""
    assert "  units-kilograms: 1 fixed" in out
    assert "that was not asked for (by --unsafe, --set or --select):\n  " in out
    assert "compared before and after: the machine is the same" in out
    assert out.splitlines()[-1] == f"wrote {tmp_path / 'out/box.usda'}"
    assert asset.read_text() == ASSET
    assert "xformOp:orient" in (tmp_path / "out/box.usda").read_text()


def test_dry_run_with_diff(asset, capsys):
    run(["fix", str(asset), "--dry-run", "--diff", "--select", "1.1"])
    out = capsys.readouterr().out
    assert "--- a/box.usda" in out
    assert "-    float xformOp:rotateZ = 90" in out
    assert "+    kilogramsPerUnit = 1" in out
    assert out.endswith("nothing was written: this was a dry run\n")
    assert asset.read_text() == ASSET


def test_in_place_keeps_the_old_one(asset, capsys):
    run(["fix", str(asset), "--in-place", "--ignore", "units-timecodes"])
    assert f"kept the old asset as {asset}.orig" in capsys.readouterr().out
    assert Path(f"{asset}.orig").read_text() == ASSET
    assert "timeCodesPerSecond" not in asset.read_text()


def test_report_as_json(asset, tmp_path, capsys):
    arguments = ["--report", "json", "--diff", "--unsafe", "--set", "version=3.0.0"]
    run(["fix", str(asset), "-o", str(tmp_path / "out"), *arguments])
    data = json.loads(capsys.readouterr().out)
    folder = Path(simwright.__file__).parent / "app"
    files = (folder / "schemas/fix.v1.schema.json", folder / "report/schemas/diagnostics.v1.schema.json")
    schemas = [json.loads(file.read_text()) for file in files]
    registry = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    validator = jsonschema.Draft202012Validator(schemas[0], registry=registry)
    validator.check_schema(schemas[0])
    validator.validate(data)
    assert data["status"] == "fixed"
    assert data["proven"] is True
    assert data["fixed"]["assetinfo-version"] == 1
    assert any(change["change"].endswith("'version': '3.0.0'}") for change in data["changes"])
    assert data["summary"]["after"]["error"] < data["summary"]["before"]["error"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "say where the fixed asset goes"),
        (["-o", "x", "--in-place"], "exclude each other"),
        (["--dry-run", "--select", "no-such-rule"], "unknown rule"),
        (["--dry-run", "--set", "version"], "--set takes NAME=VALUE"),
    ],
)
def test_wrong_calls(asset, capsys, arguments, words):
    assert run(["fix", str(asset), *arguments]) == 2
    assert words in capsys.readouterr().err


def test_many_refusals_are_counted(tmp_path, capsys):
    bodies = "".join(
        f'def Xform "b{number}" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n'
        f"{{\n    int physics:own{number} = 1\n}}\n"
        for number in range(5)
    )
    (tmp_path / "bodies.usda").write_text(f"#usda 1.0\n{bodies}")
    arguments = ["fix", str(tmp_path / "bodies.usda"), "--dry-run", "--select", "xphys-no-core"]
    run([*arguments, "--unsafe"])
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("--set unknown-physics=remove takes such properties away") == 3
    assert "2 more fix-refused of xphys-no-core: --report json lists them all" in out
    assert "5 of them cannot be fixed as they are" in out
    run([*arguments, "--set", "unknown-physics=remove"])
    assert "  xphys-no-core: 5 fixed" in capsys.readouterr().out
    run([*arguments, "--set", "unknown-physics=maybe"])
    assert "unknown-physics is 'remove' or 'isolate', not 'maybe'" in " ".join(
        capsys.readouterr().out.split()
    )


def test_one_fault_that_is_left_is_told_and_counted_once(tmp_path, capsys):
    look = "    asset inputs:file = @paint.mdl@\n"
    (tmp_path / "box.usda").write_text(ASSET.replace("    float xformOp", f"{look}    float xformOp"))
    run(["fix", str(tmp_path / "box.usda"), "-o", str(tmp_path / "out"), "--unsafe"])
    out = capsys.readouterr().out
    assert [
        line.split()[1] for line in out.splitlines() if line.startswith("warning[fix-refused]: path-")
    ] == ["path-self-contained"]
    left = next(line for line in out.splitlines() if " left (" in line)
    run(["check", str(tmp_path / "out/box.usda")])
    checked = next(line for line in capsys.readouterr().out.splitlines() if line.endswith("in 1 asset"))
    for word in ("error", "warning"):
        counts = [
            [part.split()[0] for part in text.replace("(", ", ").split(", ") if word in part]
            for text in (left, checked)
        ]
        assert counts[0] == counts[1]


def test_check_fixes_in_place_first(asset, capsys):
    run(["check", str(asset), "--fix", "--no-cache", "--format", "json"])
    out, err = capsys.readouterr()
    codes = {finding["rule"] for item in json.loads(out)["assets"] for finding in item["findings"]}
    assert "xform-etl-euler" not in codes
    assert "kind-component" in codes  # needs intent
    assert f"the old asset is {asset}.orig" in err
    assert Path(f"{asset}.orig").read_text() == ASSET
