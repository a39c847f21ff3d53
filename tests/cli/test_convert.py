"""``simwright convert``: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from referencing import Registry, Resource

import simwright
from simwright.app.cli.main import run
from simwright.core.errors import StrictError, UsageError
from simwright.formats.table import FORMATS


def test_xacro_to_a_folder(samples, tmp_path, capsys):
    file = samples / "arm/urdf/arm.urdf.xacro"
    assert run(["convert", str(file), str(tmp_path / "arm"), "--arg", "gripper=false"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.splitlines()[-1] == f"wrote {tmp_path / 'arm' / 'simwright_arm.usda'}"
    names = {body.name for body in simwright.load(tmp_path / "arm/simwright_arm.usda").bodies}
    assert "wrist_3_link" in names
    assert "left_finger" not in names


def test_usd_to_an_entry_layer(samples, tmp_path, capsys):
    assert run(["convert", str(samples / "box/box.usda"), str(tmp_path / "box/crate.usda")]) == 0
    assert run(["check", str(tmp_path / "box/crate.usda"), "--profile", "core", "--no-cache"]) in (0, 1)
    assert simwright.load(tmp_path / "box/crate.usda").bodies[0].name == "box"


def read_report(capsys):
    data = json.loads(capsys.readouterr().out)
    check_report(data)
    return data


def check_report(data):
    folder = Path(simwright.__file__).parent / "app"
    files = (folder / "schemas/convert.v1.schema.json", folder / "report/schemas/diagnostics.v1.schema.json")
    schemas = [json.loads(file.read_text()) for file in files]
    registry = Registry().with_resources([(s["$id"], Resource.from_contents(s)) for s in schemas])
    validator = jsonschema.Draft202012Validator(schemas[0], registry=registry)
    validator.check_schema(schemas[0])
    validator.validate(data)


@pytest.mark.parametrize("option", ["--report", "--format"])
def test_report_as_json(option, samples, tmp_path, capsys):
    source = str(samples / "rover/model.sdf")
    assert run(["convert", source, str(tmp_path / "rover"), option, "json"]) in (0, 1)
    (found,) = read_report(capsys)["conversions"]
    assert found["source"] == source
    assert found["status"] == "written"
    assert found["entry"] == str(tmp_path / "rover/rover.usda")
    written = sorted(p.relative_to(tmp_path / "rover").as_posix() for p in (tmp_path / "rover").rglob("*.*"))
    assert found["files"] == written
    assert "usd-write-rate-guessed" in {finding["rule"] for finding in found["findings"]}
    assert found["check"] is not None


def test_losses_are_apart(tmp_path, capsys):
    (tmp_path / "in.sdf").write_text(
        '<sdf version="1.9"><model name="m"><link name="l"><inertial><mass>1</mass></inertial><visual name="v">'
        "<geometry><sphere><radius>1</radius></sphere></geometry><material><script><name>Look</name></script>"
        "</material></visual></link></model></sdf>"
    )
    arguments = [str(tmp_path / "in.sdf"), str(tmp_path / "out"), "--no-check"]
    assert run(["convert", *arguments, "--report", "json"]) == 0
    data = read_report(capsys)
    (found,) = data["conversions"]
    assert [finding["rule"] for finding in found["losses"]] == ["sdf-material-script"]
    assert data["summary"]["losses"] == 1
    assert "sdf-material-script" not in {finding["rule"] for finding in found["findings"]}
    assert run(["convert", *arguments]) == 0
    assert "sdf-material-script" in capsys.readouterr().out


def test_strict_writes_nothing(samples, tmp_path, capsys):
    file = str(samples / "rover/model.sdf")
    assert run(["convert", file, str(tmp_path / "rover"), "--strict"]) == 1
    assert "strict mode" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StrictError):
        simwright.convert(file, tmp_path / "rover", strict=True)
    assert run(["convert", file, str(tmp_path / "rover"), "--strict", "--report", "json"]) == 1
    (found,) = read_report(capsys)["conversions"]
    assert (found["status"], found["entry"], found["files"]) == ("refused", None, [])
    assert found["findings"]


def test_the_result_is_checked_unless_told_otherwise(samples, tmp_path, capsys):
    source = str(samples / "fourbar/fourbar.usda")
    run(["convert", source, str(tmp_path / "a")])
    assert "checked: " in capsys.readouterr().out
    run(["convert", source, str(tmp_path / "a"), "--no-check"])
    assert "checked: " not in capsys.readouterr().out
    run(["convert", source, str(tmp_path / "a"), "--no-check", "--report", "json"])
    assert read_report(capsys)["conversions"][0]["check"] is None


def test_what_the_check_finds_is_fixed_in_what_was_written(tmp_path, capsys):
    mesh = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (tmp_path / "flat.obj").write_text(mesh)
    (tmp_path / "in.urdf").write_text(
        '<robot name="r"><link name="l"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" '
        'ixz="0" iyz="0"/></inertial><collision><geometry><mesh filename="flat.obj"/></geometry></collision>'
        "</link></robot>"
    )
    run(["convert", str(tmp_path / "in.urdf"), str(tmp_path / "out")])
    told = capsys.readouterr().out
    assert f"1 can be fixed: simwright fix {tmp_path / 'out/r.usda'} -o " in told


@pytest.mark.parametrize("options", [[], ["--exact"]])
def test_doubles_beside_floats_on_request(options, samples, tmp_path):
    run(["convert", str(samples / "quadruped/quadruped.xml"), str(tmp_path / "out"), "--no-check", *options])
    text = "".join(file.read_text() for file in (tmp_path / "out").glob("*.usda"))
    assert (" exact = " in text) is bool(options)


def test_twice_the_same_bytes(samples, tmp_path):
    for name in ("one", "two"):
        simwright.convert(samples / "arm/urdf/arm.urdf.xacro", tmp_path / name)
    assert read_tree(tmp_path / "one") == read_tree(tmp_path / "two")


def read_tree(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_strict_is_content_with_a_whole_asset(samples, tmp_path):
    entry = simwright.convert(samples / "fourbar/fourbar.usda", tmp_path / "out", strict=True)
    assert entry == tmp_path / "out" / "fourbar.usda"


def test_unknown_target_lists_what_can_be_written(samples, tmp_path, capsys):
    assert run(["convert", str(samples / "box/box.usda"), str(tmp_path / "robot.step")]) == 2
    assert "OpenUSD" in capsys.readouterr().err
    with pytest.raises(UsageError):
        simwright.convert(samples / "box/box.usda", tmp_path / "robot.step")


@pytest.mark.parametrize(
    ("arguments", "advice"),
    [
        (["robt.urdf", "out"], "robot.urdf"),
        (["robot.urdf", "out", "--to", "usda"], "did you mean 'usd'"),
        (["robot.urdf", "out", "--strct"], "--strict"),
        (["robot.urdf", "robot2.urdf", "out"], "robot.urdf"),
        (["*.sdf", "out"], "no file matches"),
        (["robot.urdf", "robot.urdf", "out.usda"], "name a folder"),
        (["empty", "out"], "nothing to convert"),
        (["robot.urdf", "out", "--package", "a=nowhere"], "not a folder"),
    ],
)
def test_typing_errors_get_advice(arguments, advice, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("robot.urdf").write_text('<robot name="r"><link name="l"/></robot>')
    Path("empty").mkdir()
    assert run(["convert", *arguments]) == 2
    assert advice in capsys.readouterr().err
    assert not Path("out").exists()


def test_unknown_format_name(samples, tmp_path, capsys):
    assert run(["convert", str(samples / "box/box.usda"), str(tmp_path / "x"), "--to", "ucd"]) == 2
    assert "usd" in capsys.readouterr().err


@pytest.mark.parametrize(
    "content", ["", "<robot", "<robot name='r'><link name='a'/><link name='a'/></robot>"]
)
def test_broken_input_is_no_traceback(content, tmp_path, capsys):
    (tmp_path / "in.urdf").write_text(content)
    assert run(["convert", str(tmp_path / "in.urdf"), str(tmp_path / "out")]) in (1, 2)
    assert "Traceback" not in capsys.readouterr().err


def test_bad_pair(samples, tmp_path, capsys):
    assert run(["convert", str(samples / "box/box.usda"), str(tmp_path / "x"), "--arg", "novalue"]) == 2
    assert "--arg" in capsys.readouterr().err


def test_a_chain_too_deep_to_nest_is_refused(tmp_path, capsys):
    links = "".join(f'<link name="l{i}"/>' for i in range(500))
    joints = "".join(
        f'<joint name="j{i}" type="fixed"><parent link="l{i}"/><child link="l{i + 1}"/></joint>'
        for i in range(499)
    )
    (tmp_path / "chain.urdf").write_text(f'<robot name="chain">{links}{joints}</robot>')
    assert run(["convert", str(tmp_path / "chain.urdf"), str(tmp_path / "out")]) == 2
    assert "499 links cannot be nested" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_help_names_every_format(capsys):
    """By what the table of formats can read and write."""
    assert run(["convert", "--help"]) == 0
    words = " ".join(capsys.readouterr().out.split())
    read, written = words.partition("Convert IN (")[2].partition(") to OUT (")[::2]
    for name, row in FORMATS.items():
        title = row.title.split()[0]
        assert (title in read) is bool(row.reader), title
        assert (title in written.partition(")")[0]) is bool(row.writer), title
        assert (name in words.partition("The format to write: ")[2].partition(".")[0]) is bool(row.writer), (
            name
        )
