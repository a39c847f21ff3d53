"""``simwright diff``: text, JSON by its schema, exit codes."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest

from simwright.app.cli.main import run

SCHEMA = Path(__file__).parents[2] / "src/simwright/app/schemas/diff.v1.schema.json"


@pytest.fixture
def arm(samples):
    return samples / "arm/urdf/arm.urdf"


@pytest.fixture
def changed(arm, tmp_path):
    text = arm.read_text()
    assert 'value="' in text
    package = arm.parents[1]
    (tmp_path / "arm").symlink_to(package)
    file = tmp_path / "arm.urdf"
    start = text.rindex("<mass value=") + len('<mass value="')
    file.write_text(text[:start] + "9" + text[start:])
    return file


def test_equal_files(arm, capsys):
    assert run(["diff", str(arm), str(arm.with_suffix(".urdf.xacro"))]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert "equal in all 22 sections" in out
    assert "mass matrix to" in out


def test_different_files(arm, changed, capsys):
    package = f"simwright_samples={arm.parents[2]}"
    assert run(["diff", str(arm), str(changed), "--only", "dynamics", "--package", package]) == 1
    out = capsys.readouterr().out
    assert "different in: masses, motion" in out
    assert "mass matrix: largest error" in out
    assert "poses" not in out
    first, second = re.search(r"'\w+': mass: ([\d.]+) -> ([\d.]+)", out).groups()
    assert second == f"9{first}"  # the digit that was put before it


@pytest.mark.parametrize("group", ["structure", "kinematics", "dynamics", "geometry"])
def test_json_follows_its_schema(arm, changed, group, capsys):
    package = f"simwright_samples={arm.parents[2]}"
    code = run(["diff", str(arm), str(changed), "--only", group, "--format", "json", "--package", package])
    data = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text())).validate(data)
    assert code == (0 if data["equal"] else 1)
    assert {section["group"] for section in data["sections"]} == {group}
    assert data["equal"] == (group != "dynamics")


def test_bad_input(arm, tmp_path, capsys):
    assert run(["diff", str(arm), str(tmp_path / "absent.urdf")]) == 2
    assert run(["diff", str(arm), str(arm), "--only", "colours"]) == 2
    assert run(["diff", str(arm), str(arm), "--rtol", "-1"]) == 2
    broken = tmp_path / "broken.urdf"
    broken.write_text("<robot name='x'><link")
    assert run(["diff", str(arm), str(broken)]) == 2
    assert capsys.readouterr().err.count("error: ") == 4


def test_strange_names_are_harmless(tmp_path, capsys):
    files = []
    for number, name in enumerate(("a[red]&#10;b", "c")):
        file = tmp_path / f"{number}.urdf"
        file.write_text(f"<robot name='r'><link name='{name}'><inertial><mass value='1'/><inertia ixx='1' ixy='0' "
                        "ixz='0' iyy='1' iyz='0' izz='1'/></inertial></link></robot>")  # fmt: skip
        files.append(str(file))
    assert run(["diff", *files]) == 1
    out = capsys.readouterr().out
    assert "body" in out
