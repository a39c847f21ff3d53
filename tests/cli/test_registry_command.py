"""``simwright registry``: list, show, validate."""

from __future__ import annotations

import json
import shutil

import pytest

from simwright.app.cli.main import run
from simwright.usd.plugins import SCHEMAS


def test_list(capsys):
    assert run(["registry", "list"]) == 0
    assert "RosControlDiffDriveAPI" in capsys.readouterr().out
    assert run(["registry", "list", "--format", "json"]) == 0
    extensions = json.loads(capsys.readouterr().out)["extensions"]
    assert len(extensions) == 13
    assert extensions[0]["name"] == "ros"


def test_show_a_class(capsys):
    assert run(["registry", "show", "RosTopicAPI", "--format", "json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    properties = {p["name"]: p for p in shown["classes"][0]["properties"]}
    assert properties["ros:topic:role"]["allowed_tokens"] == ["publisher", "subscription"]
    assert properties["ros:topic:qos:depth"]["default"] == 10
    assert [c["name"] for c in shown["classes"]] == ["RosTopicAPI"]


def test_show_unknown_suggests(capsys):
    assert run(["registry", "show", "RosTopicApi"]) == 2
    assert "RosTopicAPI" in capsys.readouterr().err


def test_our_own_extensions_validate(capsys):
    assert run(["registry", "validate", str(SCHEMAS / "extended_physics_mimic")]) == 0
    assert "error" not in capsys.readouterr().out.lower().replace("0 errors", "").replace("no errors", "")


@pytest.mark.parametrize("output_format", ["text", "json", "sarif", "junit", "github", "md", "html"])
def test_broken_submission_is_reported_in_every_format(tmp_path, capsys, output_format):
    folder = tmp_path / "mine"
    shutil.copytree(SCHEMAS / "extended_physics_mimic", folder)
    (folder / "README.md").unlink()
    assert run(["registry", "validate", str(folder), "--format", output_format]) == 1
    assert "submission-" in capsys.readouterr().out
