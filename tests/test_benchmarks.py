"""``python -m benchmarks``: what is chosen, stored and told; the measurements themselves are for ``make bench``."""

from __future__ import annotations

import io
import json
import sys
from types import ModuleType

import pytest
from benchmarks import __main__ as bench
from benchmarks import peers
from benchmarks.measure import Result, compare_times
from rich.console import Console


@pytest.fixture
def run_module(monkeypatch):
    def run(*results: object) -> dict:
        module = ModuleType("benchmarks.bench_made")
        module.run = lambda: iter(results)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        return {"made": bench._run("made", Console(file=io.StringIO()))}

    return run


def test_rows_within_their_limit_are_no_failure(run_module):
    modules = run_module(Result("a", 1.0, "b", 2.0, 0.7), Result("read", 9.0, "b", 1.0), "a remark")
    assert [row["verdict"] for row in modules["made"]["rows"]] == ["ok", ""]
    assert modules["made"]["remarks"] == ["a remark"]
    assert bench._list_failures(modules) == []


def test_a_row_over_its_limit_is_told(run_module):
    (told,) = bench._list_failures(run_module(Result("a", 2.0, "b", 1.0, 0.7)))
    assert told == "over the limit: a against b: 2.000 (limit 0.7)"


def test_a_module_that_fails_is_told(run_module):
    modules = run_module(Result("a", 1.0, "b", 2.0), Result("c", 1.0, "d", 0.0))
    (told,) = bench._list_failures(modules)
    assert told.startswith("failed: made: ZeroDivisionError")
    assert len(modules["made"]["rows"]) == 1


def test_figures_of_other_modules_stay(run_module, tmp_path):
    file = tmp_path / "figures.json"
    for name in ("one", "two"):
        bench._store({"seed": 1, "modules": {name: {"rows": []}}}, file)
    assert list(json.loads(file.read_text())["modules"]) == ["one", "two"]


def test_modules_are_chosen_by_name_or_by_a_part_of_it(capsys):
    assert bench._choose(["import"]) == ["import"]
    assert bench._choose(["floor", "mass"]) == ["import_floor", "mass"]
    assert bench._choose([]) == bench._list_modules()
    with pytest.raises(SystemExit) as stopped:
        bench._choose(["nonsense"])
    assert stopped.value.code == 2
    assert "nonsense" in capsys.readouterr().err


def test_functions_take_turns():
    calls: list[str] = []
    compare_times(lambda: calls.append("a"), lambda: calls.append("b"), 4)
    assert "".join(calls) == "ab" + "abbaabba"


def test_figures_of_another_environment_are_read_beside_what_its_packages_print(tmp_path, monkeypatch):
    row = Result("a", 1.0, "b", 2.0)
    told = {
        "modules": {
            "made": {"rows": [vars(row) | {"ratio": 0.5, "verdict": ""}], "remarks": ["r"], "error": ""}
        }
    }
    (tmp_path / "told.json").write_text(json.dumps(told))
    python = tmp_path / "python"
    # the last argument is the file for the results
    python.write_text(
        f'#!/bin/sh\necho "Module x loaded"\nfor last; do :; done\ncp "{tmp_path}/told.json" "$last"\n'
    )
    python.chmod(0o755)
    monkeypatch.setattr(peers, "find_peer", lambda name: str(python))
    assert list(peers.run_in_environment("newton", "made")) == [row, "r"]
