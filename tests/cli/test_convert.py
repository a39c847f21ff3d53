"""``simwright convert``: what it writes, what it says, and what it refuses."""

from __future__ import annotations

import json

import pytest

import simwright
from simwright.app.cli.main import run
from simwright.core.errors import StrictError, UsageError


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


def test_report_as_json(samples, tmp_path, capsys):
    run(["convert", str(samples / "rover/model.sdf"), str(tmp_path / "rover"), "--report", "json"])
    data = json.loads(capsys.readouterr().out)
    codes = {finding["rule"] for asset in data["assets"] for finding in asset["findings"]}
    assert "usd-write-rate-guessed" in codes


def test_strict_writes_nothing(samples, tmp_path, capsys):
    file = str(samples / "rover/model.sdf")
    assert run(["convert", file, str(tmp_path / "rover"), "--strict"]) == 2
    assert "strict mode" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(StrictError):
        simwright.convert(file, tmp_path / "rover", strict=True)


def test_strict_is_content_with_a_whole_asset(samples, tmp_path):
    entry = simwright.convert(samples / "fourbar/fourbar.usda", tmp_path / "out", strict=True)
    assert entry == tmp_path / "out" / "fourbar.usda"


@pytest.mark.parametrize("target", ["robot.urdf", "robot.sdf", "robot.xml", "robot.step"])
def test_unknown_target_lists_what_can_be_written(target, samples, tmp_path, capsys):
    assert run(["convert", str(samples / "box/box.usda"), str(tmp_path / target)]) == 2
    assert "OpenUSD" in capsys.readouterr().err
    with pytest.raises(UsageError):
        simwright.convert(samples / "box/box.usda", tmp_path / target)


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
