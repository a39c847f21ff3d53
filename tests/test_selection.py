"""Tests of other environments are left out, not skipped; a skip that is not on the list is a failure."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).resolve().parent.parent
MIXED = """
import pytest

def test_allowed():
    pytest.skip("git is not installed")

def test_refused():
    pytest.skip("no time today")

@pytest.mark.skip(reason="never liked it")
def test_refused_by_a_mark():
    pass

@pytest.mark.xfail(reason="broken", strict=True)
def test_expected_to_fail():
    assert False

def test_passes():
    pass
"""


def run(folder: Path, text: str, *options: str, ci: str = "") -> tuple[int, str]:
    """Exit code and output of pytest, with our hooks, on a file of its own."""
    (folder / "pytest.ini").write_text("[pytest]\nmarkers = judge\n")
    (folder / "test_it.py").write_text(text)
    plugins = ("-p", "xdist.plugin", "-p", "tests.selection")
    command = [sys.executable, "-m", "pytest", *plugins, "-q", "-ra", *options, "test_it.py"]
    path = os.pathsep.join([str(REPO), os.environ.get("PYTHONPATH", "")])
    kept = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    done = subprocess.run(
        command,
        cwd=folder,
        # other plugins, as Hypothesis, would take most of the time
        env=kept | {"PYTHONPATH": path, "CI": ci, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_skip_for_an_unlisted_reason_is_a_failure(tmp_path: Path, workers: str) -> None:
    code, text = run(tmp_path, MIXED, "-n", workers)
    assert code == 1
    assert "1 failed, 1 passed, 1 skipped, 1 xfailed, 1 error" in text  # marks skip in the set-up
    assert "tests/allowed_skips.toml does not allow: no time today" in text
    assert "tests/allowed_skips.toml does not allow: never liked it" in text


def test_what_anybody_may_lack_ci_may_not(tmp_path: Path) -> None:
    text = "import pytest\ndef test_it():\n    pytest.skip('git is not installed')\n"
    assert run(tmp_path, text)[0] == 0
    code, said = run(tmp_path, text, ci="true")
    assert code == 1
    assert "does not allow: git is not installed" in said


def test_a_whole_file_that_is_skipped_is_a_failure(tmp_path: Path) -> None:
    text = "import pytest\npytest.importorskip('no_such_module')\ndef test_it():\n    pass\n"
    code, said = run(tmp_path, text, "-n", "2")
    assert code != 0
    assert "does not allow: could not import 'no_such_module'" in said


def test_a_file_of_its_own_is_in_no_environment(tmp_path: Path) -> None:
    marked = "import pytest\n@pytest.mark.judge({})\ndef test_it():\n    pass\n"
    for name, said in (
        ("'newtn'", "'newtn') names no environment"),
        ("'newton'", "'newton' runs only tests/engines"),
    ):
        code, text = run(tmp_path, marked.format(name))
        assert code == 4
        assert said in text


def test_tests_of_an_environment_run_there_and_nowhere_else() -> None:
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "tests/worlds/test_peer_pyrobosim.py"]
    for options, code, count in (
        ([], 5, "no tests collected (1 deselected)"),
        (["--judge", "pyrobosim"], 0, "1 test collected"),
    ):
        done = subprocess.run(
            [*command, *options], cwd=REPO, capture_output=True, text=True, check=False, timeout=600
        )
        assert (done.returncode, count in done.stdout) == (code, True), done.stdout
