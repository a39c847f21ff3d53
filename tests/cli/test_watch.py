"""``simwright check --watch``: once, and again after every change."""

from __future__ import annotations

import os

import pytest

from simwright.app.cli.check import name_changes, repeat_on_change, take_stamps
from simwright.app.cli.main import run

ASSET = '#usda 1.0\n(\n    metersPerUnit = {scale}\n)\ndef Xform "a" {{}}\n'


class Pauses:
    """Stands for waiting: each pause does the next thing, the last is Ctrl-C."""

    def __init__(self, *steps):
        self.steps = list(steps)

    def __call__(self, _):
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if step:
            step()


def test_it_runs_again_after_a_change_and_not_otherwise(tmp_path):
    layer = tmp_path / "parts" / "link.usda"
    layer.parent.mkdir()
    layer.write_text("#usda 1.0\n")
    (tmp_path / "robot.usda").write_text("#usda 1.0\n")
    runs, told = [], []
    pauses = Pauses(None, lambda: layer.write_text("#usda 1.0\n# more\n"), None, None)
    inputs = [str(tmp_path / "robot.usda")]
    code = repeat_on_change(inputs, lambda: runs.append(1) or len(runs), told.append, pause=pauses)
    assert len(runs) == 2
    assert told == [[str(layer)]]
    assert code == 2, "what the last run gave"


def test_it_waits_until_nothing_moves(tmp_path):
    file = tmp_path / "robot.usda"
    file.write_text("1")
    runs = []
    writes = [lambda text=text: file.write_text(text) for text in ("12", "123", "1234")]
    repeat_on_change(
        [str(file)], lambda: runs.append(file.read_text()) or 0, lambda _: None, pause=Pauses(*writes, None)
    )
    assert runs == ["1", "1234"]


def test_new_and_removed_files_are_changes(tmp_path):
    file = tmp_path / "robot.usda"
    before = take_stamps([str(tmp_path)])
    file.write_text("x")
    after = take_stamps([str(tmp_path)])
    assert name_changes(before, after) == name_changes(after, before) == [str(file)]
    os.utime(file, ns=(1, 1))
    assert name_changes(after, take_stamps([str(tmp_path)])) == [str(file)]


def test_the_command(tmp_path, monkeypatch, capsys):
    file = tmp_path / "robot.usda"
    file.write_text(ASSET.format(scale=0.01))
    pauses = Pauses(lambda: file.write_text(ASSET.format(scale=1)), None)
    monkeypatch.setattr("simwright.app.cli.check.repeat_on_change.__kwdefaults__", {"pause": pauses})
    assert run(["check", str(file), "--select", "units-meters", "--watch", "--no-cache"]) == 0
    seen = capsys.readouterr()
    assert "metersPerUnit is 0.01" in seen.out
    assert "no findings" in seen.out
    assert "changed --" in seen.err


@pytest.mark.parametrize("option", ["--fix", "--stamp"])
def test_it_does_not_change_what_it_watches(tmp_path, capsys, option):
    assert run(["check", str(tmp_path), "--watch", option]) == 2
    assert option in capsys.readouterr().err


def test_another_format_is_to_be_converted_first(tmp_path, capsys):
    file = tmp_path / "go2.xml"
    file.write_text("<mujoco/>")
    assert run(["check", str(file)]) == 2
    assert f"simwright convert {file} go2" in capsys.readouterr().out
    assert run(["check", str(tmp_path)]) == 2
    assert f"simwright convert {file} go2" in capsys.readouterr().err
