"""What asset repositories use: hooks of pre-commit, the GitHub Action with its script, the container file.

No container is built here and no runner of GitHub is started: their files are held against what they name.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from simwright.app.cli.main import run

ROOT = Path(__file__).parents[2]
CENTIMETRES = """#usda 1.0
(
    defaultPrim = "box"
    metersPerUnit = 0.01
    upAxis = "Z"
)
def Xform "box" {}
"""


@pytest.fixture
def repository(tmp_path) -> Path:
    folder = tmp_path / "repository"
    (folder / "robots").mkdir(parents=True)
    (folder / "robots" / "box.usda").write_text(CENTIMETRES)
    return folder


def check(repository: Path, **variables: str) -> tuple[subprocess.CompletedProcess[str], dict[str, str], str]:
    """Run the script as the Action does: the process, its outputs, and its summary."""
    programs = repository.parent / "programs"
    programs.mkdir(exist_ok=True)
    program = programs / "simwright"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m simwright "$@"\n')
    program.chmod(0o755)
    told, summary = repository.parent / "outputs", repository.parent / "summary"
    for file in (told, summary):
        file.write_text("")
    environment = {
        **os.environ,
        "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
        "RUNNER_TEMP": str(repository.parent / "runner"),
        "GITHUB_OUTPUT": str(told),
        "GITHUB_STEP_SUMMARY": str(summary),
        "JOBS": "1",
        **variables,
    }
    done = subprocess.run(
        ["bash", str(ROOT / "ci" / "check.sh")],
        check=False,
        cwd=repository,
        env=environment,
        capture_output=True,
        text=True,
        timeout=240,
    )
    outputs = dict(line.split("=", 1) for line in told.read_text().splitlines())
    return done, outputs, summary.read_text()


def test_the_script_of_the_action_fails_by_level_and_gives_sarif_and_a_page(repository):
    done, outputs, summary = check(repository, PATHS="robots", OPTIONS="--select units-meters")
    assert done.returncode == 1, done.stderr
    (one,) = json.loads(Path(outputs["sarif"]).read_text())["runs"]
    assert [result["ruleId"] for result in one["results"]] == ["units-meters"]
    assert "units-meters" in Path(outputs["page"]).read_text()
    assert "1 of 1 done" in summary
    done, outputs, _ = check(repository, PATHS="robots", OPTIONS="--select units-meters", FAIL_ON="never")
    assert done.returncode == 0, done.stderr
    assert Path(outputs["sarif"]).is_file()


def test_the_script_of_the_action_takes_inputs_for_names_and_not_for_commands(repository):
    done, _, _ = check(repository, PATHS="$(touch${IFS}run) ; `touch run`", OPTIONS="")
    assert done.returncode == 2, done.stderr
    assert [file.name for file in repository.iterdir()] == ["robots"]


def test_the_action_hands_its_inputs_to_the_script_as_variables():
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    steps = action["runs"]["steps"]
    # a script with an input in its text would run what a branch name says
    assert not [step for step in steps if "${{" in step.get("run", "")]
    used = json.dumps(steps)
    assert not [name for name in action["inputs"] if f"inputs.{name} " not in used]
    (last,) = (step for step in steps if step.get("id") == "check")
    script = (ROOT / "ci" / "check.sh").read_text()
    assert last["run"].endswith('/ci/check.sh"')
    assert not [name for name in last["env"] if name not in script]
    assert not [name for name in action["outputs"] if f"{name}=$out" not in script]


def test_the_hook_that_fixes_changes_the_layer_and_does_not_fail(repository, monkeypatch, capsys):
    hooks = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())}
    assert set(hooks) == {"simwright-check", "simwright-fix"}
    monkeypatch.chdir(repository)
    words = hooks["simwright-fix"]["entry"].split()[1:]
    assert run([*words, "robots/box.usda"]) == 0
    capsys.readouterr()
    fixed = Path("robots/box.usda").read_text()
    assert "kilogramsPerUnit = 1" in fixed
    assert "metersPerUnit = 0.01" in fixed  # lengths are for people to change


def test_the_container_file_names_what_is_there():
    lines = (ROOT / "ci" / "Containerfile").read_text().replace("\\\n", " ").splitlines()
    said = [line.split() for line in lines if line and not line.startswith("#")]
    copied = [name for line in said if line[0] == "COPY" for name in line[1:-1]]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    needed = {
        project["project"]["readme"],
        "pyproject.toml",
        "src",
        *(name.split("/")[0] for name in included),
    }
    assert needed <= set(copied)
    assert not [name for name in copied if not (ROOT / name).exists()]
    extras = [line[1].partition("=")[2] for line in said if line[0] == "ARG"]
    assert set(extras) <= set(project["project"]["optional-dependencies"])
    (user,) = (line[1] for line in said if line[0] == "USER")
    assert user not in ("root", "0")
    assert ["ENTRYPOINT", '["simwright"]'] in said
