"""Environments of other projects: made once, made again when interrupted, replaced when versions change."""

from __future__ import annotations

import ensurepip
import importlib.util
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from simwright.prover.environments import NoEnvironmentError, find_cache, hold, name_of_pin, remove
from simwright.prover.table import list_engines

REPO = Path(__file__).resolve().parent.parent


@pytest.fixture
def environments() -> ModuleType:
    spec = importlib.util.spec_from_file_location("environments", REPO / "scripts/judge/environments.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    try:
        spec.loader.exec_module(module)
    finally:
        del sys.modules[spec.name]
    return module


@pytest.fixture
def make(environments: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """A small environment: nothing but pip, which every environment has already."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(environments, "HERE", tmp_path)
    (tmp_path / "small.txt").write_text(f"pip=={ensurepip.version()}\n")

    def build(module: str = "json", *, ready: bool = False) -> object:
        small = environments.make_environment("small", {"about": "a test", "modules": [module]})
        if ready:
            small.folder.mkdir(parents=True)
            (small.folder / ".ready").touch()
        return small

    return build


def test_the_table(environments: ModuleType) -> None:
    table = environments.list_judges()
    assert {"newton", "converters", "pyrobosim", "prove"} <= set(table)
    assert {file.stem for file in environments.HERE.glob("*.txt")} == set(table) - {"prove"}
    assert {row.name for row in table["prove"].environments} == set(list_engines())
    for judge in table.values():
        assert all((REPO / place).exists() for place in judge.tests)
        variables = judge.make_variables()
        for row in judge.environments:
            assert [name_of_pin(line) for line in row.pins]
            assert variables[f"SIMWRIGHT_PEER_{row.modules[0].upper()}"] == str(row.python)


def test_pins_of_an_environment_go_before_ours(environments: ModuleType) -> None:
    (newton,) = environments.list_judges()["newton"].environments
    names = [name_of_pin(line) for line in newton.constraints]
    assert "mujoco" not in names
    assert "numpy" in names
    assert any(line.startswith("usd-core>=") for line in newton.requirements)


@pytest.mark.parametrize(
    "line", ["newton", "newton>=1.7", "newton==1.7; python_version > '3'", "-e .", "git+x"]
)
def test_only_exact_versions_are_pins(line: str) -> None:
    with pytest.raises(ValueError, match="exact version"):
        name_of_pin(line)
    assert name_of_pin("Newton_USD.schemas[sim]==0.6.0") == "newton-usd-schemas"


def test_an_interrupted_one_is_made_again(make: Callable[..., object]) -> None:
    small, said = make(), []
    small.folder.mkdir(parents=True)
    (small.folder / "half").touch()
    with hold(small, said.append) as python:
        assert subprocess.run([python, "-c", "import pip"], check=False).returncode == 0
    assert "making the environment for a test" in said
    assert not (small.folder / "half").exists()
    assert (small.folder / ".ready").exists()


def test_one_that_cannot_be_made_is_not_ready(make: Callable[..., object]) -> None:
    small = make()
    small.folder.parent.mkdir(parents=True)
    small.folder.write_text("a file where the folder belongs")
    with (
        pytest.raises(NoEnvironmentError, match="cannot make small-"),
        hold(small, str),
    ):
        pytest.fail("there is no environment")


def test_other_versions_replace_it(make: Callable[..., object]) -> None:
    older, said = make("json", ready=True), []
    other = find_cache("judge") / "smaller-0123456789ab"
    other.mkdir()
    with hold(older, said.append):
        newer = make("csv", ready=True)
        with hold(newer, said.append):
            assert older.folder.exists()  # another run uses it
    with hold(newer, said.append):
        assert not older.folder.exists()
    assert other.exists()
    assert said == []  # nothing had to be made


def test_every_version_counts(environments: ModuleType, make: Callable[..., object]) -> None:
    first = make().folder
    pins = environments.HERE / "small.txt"
    pins.write_text("# a comment is not a version\n" + pins.read_text())
    assert make().folder == first
    pins.write_text(pins.read_text() + "numpy==2.0.0\n")
    assert make().folder != first


def test_two_runs_use_one_at_the_same_time(make: Callable[..., object]) -> None:
    small, reached = make(ready=True), threading.Event()

    def use() -> None:
        with hold(small, str):
            reached.set()

    with hold(small, str):
        threading.Thread(target=use, daemon=True).start()
        assert reached.wait(10.0)


def test_one_that_is_used_is_not_removed(make: Callable[..., object]) -> None:
    small = make(ready=True)
    with hold(small, str):
        assert not remove(small)
        assert small.ready
    assert remove(small)
    assert not small.folder.exists()
    assert remove(small)
