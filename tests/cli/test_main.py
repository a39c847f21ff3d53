"""The command line: help, typing errors, exit codes, start-up."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from simwright import __version__
from simwright.__main__ import main as start
from simwright.app.cli import main
from simwright.app.cli.main import COMMANDS, run


def test_version(capsys):
    assert run(["--version"]) == 0
    assert __version__ in capsys.readouterr().out


def test_help_lists_every_command(capsys):
    assert run(["--help"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in COMMANDS)
    assert "Exit codes: 0 clean, 1 findings, 2 bad input or usage, 3 internal error." in text


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(name, capsys):
    assert run([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "Example" in text
    assert f"simwright {name}" in text


def test_help_imports_nothing_heavy():
    code = (
        "import sys\nfrom simwright.app.cli.main import run\nrun(['--help'])\n"
        "heavy = {'numpy', 'pxr', 'mujoco', 'lxml', 'rich', 'trimesh'} & set(sys.modules)\n"
        "sys.exit(str(heavy) if heavy else 0)"
    )
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


def test_typing_errors_get_suggestions(capsys):
    assert run(["inspct", "x"]) == 2
    assert "Did you mean 'inspect'?" in capsys.readouterr().err
    assert run(["inspect", "x", "--formt", "json"]) == 2
    assert "--format" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "code"), [(["--version"], 0), (["inspect"], 2)])
def test_the_command_exits_with_its_code(words, code, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["simwright", *words])
    with pytest.raises(SystemExit) as caught:
        start()
    assert caught.value.code == code
    assert (__version__ in capsys.readouterr().out) == (code == 0)


def test_missing_file_is_one_line_and_exit_code_2(tmp_path, capsys):
    assert run(["inspect", str(tmp_path / "no.urdf")]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert "no such file" in err


def test_control_characters_of_a_file_name_do_not_reach_the_terminal(capsys):
    assert run(["inspect", "a\x1b[31mb.urdf"]) == 2
    assert "\x1b[31m" not in capsys.readouterr().err


def test_our_own_bug_is_exit_code_3_without_a_traceback(monkeypatch, capsys):
    def broken(**_):
        raise ZeroDivisionError("oops")

    monkeypatch.setattr(main.cli, "main", broken)
    assert run([]) == 3
    err = capsys.readouterr().err
    assert "internal error: ZeroDivisionError: oops" in err
    assert "Traceback" not in err


def test_closed_pipe_is_no_error(samples):
    file = samples / "quadruped" / "quadruped.xml"
    command = f"{sys.executable} -m simwright inspect {file} --format json | head -c 10"
    result = subprocess.run(["bash", "-o", "pipefail", "-c", command], capture_output=True, check=False)
    assert result.stderr == b""
    assert result.stdout.startswith(b"{")


def test_colour_only_on_a_terminal(samples):
    command = [sys.executable, "-m", "simwright", "inspect", str(samples / "fourbar" / "fourbar.usda")]
    piped = subprocess.run(
        command, capture_output=True, check=True, env={**os.environ, "TERM": "xterm-256color"}
    )
    assert b"\x1b[" not in piped.stdout


def test_doctor(capsys):
    assert run(["doctor"]) == 0
    assert "pip install 'simwright[" in capsys.readouterr().out
    assert run(["doctor", "--format", "json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["healthy"] is True
    assert {row["name"] for row in report["packages"]} >= {"usd-core", "mujoco", "numpy"}
    extras = {
        "newton",
        "ros",
        "zenoh",
        "foxglove",
        "view",
        "gym",
        "video",
        "dataset",
        "batch",
        "learn",
        "ray",
        "serve",
        "docs",
        "planning",
        "plans",
        "warp",
        "lod",
        "decompose",
    }
    assert {row["name"] for row in report["extras"]} == extras


def test_plugin_path_prints_a_folder(capsys):
    from pathlib import Path

    assert run(["plugin-path"]) == 0
    assert (Path(capsys.readouterr().out.strip()) / "plugInfo.json").is_file()
