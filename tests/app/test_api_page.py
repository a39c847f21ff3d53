"""Every example of ``docs/api.md`` runs and prints what the page says."""

from __future__ import annotations

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest

import simwright

REPO = Path(__file__).resolve().parents[2]
PAGE = (REPO / "docs" / "api.md").read_text()
BLOCK = re.compile(r"^```(python|pycon)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def test_the_examples_run_in_order(tmp_path, monkeypatch):
    (tmp_path / "samples").symlink_to(REPO / "samples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    blocks = BLOCK.findall(PAGE)
    assert {kind for kind, _ in blocks} == {"python", "pycon"}
    for kind, text in blocks:
        if kind == "python":
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(text, "docs/api.md", "exec"), names)
            continue
        heard = io.StringIO()
        test = doctest.DocTestParser().get_doctest(text, names, "docs/api.md", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=heard.write, clear_globs=False)
        names |= test.globs
        assert runner.failures == 0, heard.getvalue()


def test_the_table_lists_the_public_names():
    listed = PAGE.partition("## All of it")[2]
    for name in set(simwright.__all__) - {"__version__"}:
        assert re.search(rf"`{name}\b", listed), name


@pytest.mark.parametrize("name", simwright.__all__)
def test_every_public_name_is_there(name):
    assert getattr(simwright, name) is not None
    assert name in dir(simwright)


RECIPES = (REPO / "docs" / "recipes.md").read_text()


@pytest.mark.parametrize("number", range(10))
def test_each_of_ten_jobs_runs_alone(number, tmp_path, monkeypatch):
    (tmp_path / "samples").symlink_to(REPO / "samples" / "simwright_samples")
    monkeypatch.chdir(tmp_path)
    blocks = BLOCK.findall(RECIPES)
    assert len(blocks) == 10
    with contextlib.redirect_stdout(io.StringIO()) as heard:
        exec(compile(blocks[number][1], f"docs/recipes.md, job {number + 1}", "exec"), {})
    assert heard.getvalue() or "print" not in blocks[number][1]
