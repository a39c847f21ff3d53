"""``simwright samples``, ``simwright init`` and the list of commands by job."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from simwright.app.cli.main import COMMANDS, JOBS, run
from simwright.checker.config import Config, read_config


def test_samples_are_listed_with_the_file_to_start_with(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["samples", "list", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert {row["name"] for row in told["samples"]} == {
        path.name for path in Path(told["folder"]).iterdir() if path.is_dir()
    }
    assert all(Path(row["file"]).is_file() for row in told["samples"])
    assert run(["samples", "list"]) == 0
    assert "arm/urdf/arm.urdf.xacro" in capsys.readouterr().out


def test_samples_are_copied_whole_and_work_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["samples", "copy", str(tmp_path / "mine")]) == 0
    assert "simwright inspect" in capsys.readouterr().out
    assert run(["inspect", str(tmp_path / "mine" / "arm" / "urdf" / "arm.urdf.xacro")]) == 0
    assert run(["inspect", str(tmp_path / "mine" / "warehouse" / "warehouse.usda")]) == 0
    capsys.readouterr()
    assert run(["samples", "copy", str(tmp_path / "mine"), "box"]) == 2
    assert "there already" in capsys.readouterr().err
    assert run(["samples", "copy", str(tmp_path / "one"), "boks"]) == 2
    assert "box" in capsys.readouterr().err
    assert not (tmp_path / "one").exists()


def test_settings_are_written_once_and_are_the_defaults(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "new" / "simwright.toml"
    assert run(["init", str(target.parent)]) == 0
    assert read_config(target) == Config(target)
    # with every comment sign of a setting taken away it is sound too
    text = target.read_text()
    lines = [
        line[2:] if line.startswith("# ") and ("=" in line or "[[" in line) else line
        for line in text.splitlines()
    ]
    assert set(tomllib.loads("\n".join(lines))) == {"check", "fix"}
    target.write_text("\n".join(lines))
    read_config(target)
    assert run(["init", str(target.parent)]) == 2
    assert "already" in capsys.readouterr().err


def test_every_command_has_its_job(capsys: pytest.CaptureFixture[str]) -> None:
    assert [name for names in JOBS.values() for name in names] == list(COMMANDS)
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(f"{title}:" in text for title in JOBS)
