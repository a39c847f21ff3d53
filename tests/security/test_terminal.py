# SPDX-License-Identifier: Apache-2.0
"""Characters that drive a terminal, or reorder a line, are shown and never sent: in text, tables, trees and reports."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path

import pytest

import simwright
from simwright.app.cli.main import run
from simwright.app.cli.options import define_console
from simwright.app.report.report import RENDERERS
from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.errors import InputError
from simwright.core.visible import escape_json, make_visible

BAD = "a\u202eb\u2066c\u200bd\x9b31me"
"""What XML, YAML and names of files may hold."""
INERTIA = "<inertial><mass value='1'/><inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
URDF = (
    f"<robot name='{BAD}'><link name='{BAD}'>{INERTIA}<visual><geometry><mesh filename='{BAD}.stl'/></geometry>"
    f"</visual></link><link name='tip'>{INERTIA}</link><joint name='{BAD}j' type='revolute'><parent link='{BAD}'/>"
    f"<child link='tip'/><limit lower='-1' upper='1' effort='1' velocity='1'/></joint></robot>"
)
MJCF = (
    f"<mujoco model='{BAD}'><worldbody><body name='{BAD}'><joint name='{BAD}'/><geom name='{BAD}' size='1'/></body>"
    f"</worldbody><sensor><jointpos name='{BAD}' joint='{BAD}'/></sensor></mujoco>"
)
SDF = f"<sdf version='1.9'><model name='{BAD}'><link name='{BAD}'/><joint name='{BAD}j' type='x'/></model></sdf>"
USDA = (
    '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\ndef Xform "R" '
    f'(references = @missing.usda@\n assetInfo = {{ string name = "{BAD}" }})\n{{\n'
    f'    custom string ros:topic:name = "{BAD}\x1b[2J"\n    custom string mjc:{"x"} = "{BAD}"\n}}\n'
)
WORLD = (
    f'params: {{name: "{BAD}"}}\nrooms:\n  - name: "{BAD}\\e[2J"\n    footprint: {{type: box, dims: [4, 4]}}\n'
    f'    nav_poses: [[0, 0]]\nrobots:\n  - {{name: "{BAD}", radius: 0.1, location: "{BAD}"}}\n'
    f'  - {{name: ok, radius: 0.1, location: "{BAD}\\e[2J"}}\n'
)
SCENE = f'name: "{BAD}"\n"{BAD}\\e[2J": 1\nassets: [{{id: "{BAD}", type: mjcf, source: "{BAD}.xml"}}]\n'
FILES = {"r.urdf": URDF, "r.xml": MJCF, "r.sdf": SDF, "r.usda": USDA, "w.yaml": WORLD, "s.yaml": SCENE}
COMMANDS = (
    *(f"inspect {name}" for name in ("r.urdf", "r.xml", "r.sdf", "r.usda")),
    *(f"inspect {name} --format json" for name in ("r.urdf", "r.xml", "r.usda")),
    *(f"convert {name} out/{name}" for name in ("r.urdf", "r.xml", "r.sdf", "r.usda")),
    "convert r.urdf r.xml out/many", "convert r.urdf out/j.xml --format json",
    *(f"check r.usda --no-cache --format {name}" for name in RENDERERS.names()),
    "resolve r.usda", "resolve r.usda --format json", "fix r.usda --dry-run --diff",
    "fix r.usda --dry-run --format json", "diff r.urdf r.xml", "diff r.urdf r.xml --format json",
    "robots inspect r.xml", "robots inspect r.urdf", "robots show r.xml", "robots show r.xml --format json",
    "run r.xml --frames 1", "run r.xml --frames 1 --format json", "world check w.yaml",
    "world check w.yaml --format json", "world plan w.yaml --robot ok --to 1,1", "scene check s.yaml",
    "scene check s.yaml --format json", "run s.yaml --frames 1", "task check reach --robot r.xml",
)  # fmt: skip


@pytest.fixture
def assets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files with such names, in a folder with such a name."""
    folder = tmp_path / f"{BAD}\x1b[31m"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(folder)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return folder


def test_no_command_prints_hidden_characters(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = 0
    for command in COMMANDS:
        code = run(command.split())
        said = "".join(capsys.readouterr())
        assert code in (0, 1, 2), (command, said)
        assert make_visible(said, keep="\n") == said, command
        shown += "<U+202E>" in said or "\\u202e" in said
        if "--format json" in command and code != 2:
            json.loads(said)
    assert shown > 20  # the others name nothing of the file


def test_reports_in_files_have_none(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in RENDERERS.names():
        run(["check", "r.usda", "--no-cache", "--format", name, "--output", f"report.{name}"])
        text = (assets / f"report.{name}").read_text(encoding="utf-8")
        assert make_visible(text, keep="\n") == text, name


def test_errors_and_findings_show_them_and_keep_them() -> None:
    error = InputError(f"the name {BAD}", hint=BAD, where=Where(f"{BAD}.xml"))
    finding = Diagnostic("kind", Level.ERROR, BAD, where=Where(prim=BAD))
    for text in (str(error), str(finding)):
        assert make_visible(text) == text
        assert "<U+202E>" in text
    assert error.message.endswith(BAD)
    assert finding.message == BAD


def test_files_keep_them(assets: Path) -> None:
    asset = simwright.load(assets / "r.urdf")
    assert asset.bodies[0].name == BAD
    simwright.convert(assets / "r.xml", assets / "again" / "r.xml")
    assert "\u202e" in (assets / "again" / "r.xml").read_text(encoding="utf-8")


def test_names_of_files_that_the_shell_gave(assets: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["inspect", f"{BAD}\x1b[2J.urdf"],
        ["check", f"{BAD}\x1b[2J"],
        ["convert", f"{BAD}.x", "y"],
        [f"{BAD}\x07"],
    ):
        assert run(arguments) == 2
        said = capsys.readouterr().err
        assert make_visible(said, keep="\n") == said
        assert "\x1b" not in said


def test_json_means_the_same() -> None:
    value = {BAD: ["\x7f", "\U000e0001", "é 机 \ud83e"]}
    text = escape_json(json.dumps(value, ensure_ascii=False))
    assert make_visible(text) == text
    assert "é 机" in text
    assert json.loads(text) == value


def test_consoles_send_their_own_codes_only() -> None:
    from rich.table import Table
    from rich.text import Text

    stream = io.StringIO()
    console = define_console()(file=stream, force_terminal=True, color_system="standard", width=80)
    table = Table("name")
    table.add_row("x\x1b[2Jy\u202e")
    console.print(table)
    console.print(Text("x\x1b[2Jy\u202e", "bold"))
    said = stream.getvalue()
    assert "\x1b[2J" not in said
    assert "\u202e" not in said
    assert "\u241b[2J" in said
    assert "\x1b[1m" in said  # a style of ours
    assert os.linesep in said
