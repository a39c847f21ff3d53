"""What holds for the whole source: no import cycles, one meaning per class name, bounded complexity, listed modules."""

from __future__ import annotations

import ast
import importlib.util
import re
from functools import cache
from pathlib import Path
from types import ModuleType

REPO = Path(__file__).resolve().parent.parent
SOURCE = REPO / "src" / "simwright"
ONE_FILE_PER_ITEM = ("app/cli", "app/report", "checker/rules", "scenes/ops", "tasks/scenes", "usd/schemas")


@cache
def load_script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("measure_code", REPO / "scripts" / "measure_code.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    import sys

    sys.modules["measure_code"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@cache
def read_files() -> dict[str, object]:
    files: dict[str, object] = load_script().read_files()
    return files


def test_files_do_not_import_each_other_in_circles_lazily_or_not():
    assert load_script().find_cycles(read_files()) == []


def test_a_class_name_stands_for_one_class():
    assert load_script().find_shared_names(read_files().values()) == {}


def test_no_function_is_more_complex_than_15():
    rows = [
        (value, f"{file.name}.{name}") for file in read_files().values() for value, name in file.functions
    ]
    assert [row for row in rows if row[0] > 15] == []


def test_a_function_above_12_says_why_it_is_one():
    silent = []
    for file in read_files().values():
        for block in file.blocks:
            if block.complexity <= 12:
                continue
            lines = file.path.read_text().splitlines()
            # the line before the function counts too
            near = lines[max(block.lineno - 2, 0) : block.endline]
            if not any(line.lstrip().startswith("#") for line in near):
                silent.append(f"{file.name}.{block.name} ({block.complexity})")
    assert silent == [], "say in a comment what the branches follow from, or split by meaning"


def test_few_files_serve_one_other_file_alone():
    assert len(load_script().find_single_importers(read_files())) < 60


def test_every_folder_lists_its_modules():
    missing = []
    for start in SOURCE.rglob("__init__.py"):
        folder = start.parent
        if folder == SOURCE or any(
            str(folder.relative_to(SOURCE)).startswith(name) for name in ONE_FILE_PER_ITEM
        ):
            continue
        listed = set(re.findall(r"\w+", ast.get_docstring(ast.parse(start.read_text())) or ""))
        names = {path.stem for path in folder.glob("*.py")} - {"__init__"}
        missing += [f"{folder.relative_to(SOURCE)}/{name}.py" for name in sorted(names - listed)]
    assert missing == [], (
        "name these modules, with a line each, in the docstring of their folder's __init__.py"
    )


def test_files_that_the_architecture_page_names_exist():
    text = (REPO / "docs" / "architecture.md").read_text()
    packages = {path.name for path in SOURCE.iterdir() if path.is_dir()}
    named = re.findall(r"`((?:" + "|".join(sorted(packages)) + r")/[\w/]+(?:\.py)?)`", text)
    assert len(named) > 40
    lost = [
        name
        for name in named
        if not any((SOURCE / f"{name}{end}").exists() for end in ("", ".py")) and not (SOURCE / name).is_dir()
    ]
    assert lost == []
