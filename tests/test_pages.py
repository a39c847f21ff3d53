"""The documentation: pages run and print what they show; the site builds without a warning and has no dead link."""

from __future__ import annotations

import html
import importlib.util
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from urllib.parse import unquote

import pytest

REPO = Path(__file__).resolve().parent.parent
RUN = ["README.md", "docs/start.md", "docs/json.md"]
TUTORIALS = sorted(str(path.relative_to(REPO)) for path in (REPO / "docs" / "tutorials").glob("*.md"))
NOT_RUN = {"installs packages", "opens a browser", "waits for ROS"}
"""Why a block may be shown without being run."""


def load_script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, REPO / "scripts" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


pages = load_script("pages")


def find_judged() -> list[tuple[str, str]]:
    """Pages with blocks that need an environment of ``make judge``, and its name."""
    found = {
        (name, block.judge) for name in [*RUN, *TUTORIALS] for block in pages.parse((REPO / name).read_text())
    }
    return sorted((name, judge) for name, judge in found if judge)


@pytest.mark.parametrize("name", [*RUN, *TUTORIALS])
def test_a_page_prints_what_it_shows(name, tmp_path):
    differences = list(pages.PageRun((REPO / name).read_text(), tmp_path, name).run())
    assert not differences, "\n".join(str(one) for one in differences)


@pytest.mark.parametrize("name", [*RUN, *TUTORIALS])
def test_every_block_is_run_or_says_why_not(name):
    for block in pages.parse((REPO / name).read_text()):
        assert block.notes.get("not run", "opens a browser") in NOT_RUN, block
        if block.kind == "" and "$ " in block.text:
            pytest.fail(f"{name}, line {block.line}: a block of commands has no language; write ```console")


@pytest.mark.parametrize(
    ("name", "judge"),
    [pytest.param(name, judge, marks=pytest.mark.judge(judge)) for name, judge in find_judged()],
)
def test_what_needs_another_project_prints_what_it_shows(name, judge, tmp_path):
    differences = list(pages.PageRun((REPO / name).read_text(), tmp_path, name).run(judge))
    assert not differences, "\n".join(str(one) for one in differences)


@pytest.mark.parametrize(
    "path", sorted((REPO / "docs" / "notebooks").glob("*.ipynb")), ids=lambda path: path.stem
)
def test_a_notebook_is_valid_and_runs_what_its_page_runs(path):
    import nbformat

    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    for block in pages.parse((REPO / "docs" / "tutorials" / f"{path.stem}.md").read_text()):
        if block.runs and block.kind == "python":
            assert block.text.strip() in code
        elif block.runs:
            for command in pages.split_commands(block.text):
                assert f"!{command.line}" in code
        elif "file" in block.notes:
            assert f"%%writefile {block.notes['file']}\n{block.text.rstrip()}" in code


def test_the_first_page_names_every_extra():
    project = tomllib.loads((REPO / "pyproject.toml").read_text())["project"]
    table = re.search(r"^\| extra \|.*?\n\n", (REPO / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert table is not None
    named = {
        word
        for row in table[0].strip().splitlines()[2:]
        for word in re.findall(r"`([a-z]+)`", row.split("|")[1])
    }
    assert named == set(project["optional-dependencies"]) - {"dev"}


def test_a_wrong_output_is_told(tmp_path):
    page = "```console\n$ simwright --version\nsimwright 99\n$ simwright rules --no-such-option\n```\n"
    first, second = pages.PageRun(page, tmp_path).run()
    assert "99" in first.shown
    assert "exit code 2" in second.came
    mended = pages.write(page, [first])
    assert "99" not in mended
    assert [one.command for one in pages.PageRun(mended, tmp_path).run()] == [second.command]


@pytest.mark.parametrize(
    ("shown", "came", "same"),
    [
        ("a\n...\nd", "a\nb\nc\nd\n", True),
        ("a\n...\nd", "a\nd\n", True),
        ("in ... s", "in 0.3 s\n", True),
        ("in ... s", "in 0.3 ms and more\n", False),
        ("a\nb", "a\n\nb\n", False),
        ("a", "a\nb\n", False),
    ],
)
def test_dots_stand_for_anything(shown, came, same):
    assert pages.matches(shown, came) is same


def test_the_site_builds_and_has_no_dead_link(tmp_path):
    """As ``make site`` builds it, where a warning is an error; links of HTML are looked at here, MkDocs does not."""
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet", "--site-dir", str(tmp_path)]
    variables = os.environ | {"NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(command, cwd=REPO, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    texts = {path: path.read_text() for path in tmp_path.rglob("*.html") if path.name != "404.html"}
    assert len(texts) > 250
    ids = {path: set(re.findall(r'\bid="?([^"\s>]+)', text)) for path, text in texts.items()}
    dead, loaded, reached = set(), set(), {tmp_path / "index.html"}
    for path, text in texts.items():
        for kind, target in re.findall(r'<(\w+)[^>]*?\s(?:href|src)="?([^"\s>]+)', text):
            if re.match(r"(https?:)?//", target):
                # a link is followed by a reader; anything else is fetched by the browser
                if kind != "a":
                    loaded.add((path.name, target))
                continue
            if re.match(r"\w+:", target):
                continue
            place, _, anchor = html.unescape(unquote(target)).partition("#")
            aim = (path.parent / place).resolve() if place else path
            reached.add(aim)
            if not aim.exists() or (anchor and aim in ids and anchor not in ids[aim]):
                dead.add((path.name, target))
    assert not dead
    assert not loaded
    assert set(texts) <= reached
