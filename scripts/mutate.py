# SPDX-License-Identifier: Apache-2.0
"""Change the source in one small place at a time and see whether a test notices: the mutation score per package.

``python scripts/mutate.py [--count 200] [--seed 1] [--package NAME] [--store FILE]`` chooses places by the seed, in
each package in proportion to what can be changed there.  First every test is run once under coverage, only on the
files that were chosen, to learn which tests pass each line (kept in ``--store``, so that a second run starts at once).
Then each mutant is made in a copy of the source, and the tests that pass its line are run until one fails.

A mutant is *killed* when a test fails or takes ten times too long, and *survives* otherwise; a line that no test passes
is a survivor too.  Survivors are printed with file, line and what was changed.

Changes: a comparison turned, an arithmetic operator exchanged, ``and``/``or`` exchanged, a condition negated, a number
moved by one, a truth value negated, a statement left out, a result replaced by nothing.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
MOST_TESTS = 40
"""Tests that are run for one mutant at the most: the nearest first, by the folder they share with the file."""

COMPARED = {
    ast.Lt: ast.GtE, ast.LtE: ast.Gt, ast.Gt: ast.LtE, ast.GtE: ast.Lt, ast.Eq: ast.NotEq, ast.NotEq: ast.Eq,
    ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
}  # fmt: skip
COMPUTED = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
    ast.MatMult: ast.Add,
}  # fmt: skip


@dataclass(frozen=True)
class Mutant:
    """One change: which node of which file, counted in the order of the syntax tree."""

    file: str
    node: int
    line: int
    what: str

    @property
    def package(self) -> str:
        """The package of the source that the file is in."""
        parts = Path(self.file).parts
        return parts[2] if len(parts) > 3 else parts[1]


def list_mutants(path: Path) -> Iterator[Mutant]:
    """Every change that can be made in the functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = find_function_nodes(tree)
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in inside and (what := describe_change(node)):
            yield Mutant(str(path.relative_to(ROOT)), index, getattr(node, "lineno", 0), what)


def find_function_nodes(tree: ast.Module) -> set[int]:
    """Nodes in bodies of functions: not in annotations, decorators, raised errors or texts for people."""
    found: set[int] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Raise | ast.AnnAssign | ast.JoinedStr | ast.Assert):
            return
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for child in node.body:
                visit(child)
            return
        found.add(id(node))
        for child in ast.iter_child_nodes(node):
            visit(child)

    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            visit(node)
    return found


def describe_change(node: ast.AST) -> str:
    """What would be changed at a node, empty where nothing is."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in COMPARED:
        return f"{type(node.ops[0]).__name__} becomes {COMPARED[type(node.ops[0])].__name__}"
    if isinstance(node, ast.BinOp) and type(node.op) in COMPUTED:
        return f"{type(node.op).__name__} becomes {COMPUTED[type(node.op)].__name__}"
    if isinstance(node, ast.BoolOp):
        return "And becomes Or" if isinstance(node.op, ast.And) else "Or becomes And"
    if isinstance(node, ast.If | ast.While | ast.IfExp) and not isinstance(
        node.test, ast.Compare | ast.BoolOp
    ):
        return "condition negated"
    if isinstance(node, ast.Constant) and type(node.value) in {int, float}:
        return f"{node.value} becomes {node.value + 1}"
    if isinstance(node, ast.Constant) and isinstance(node.value, bool):
        return f"{node.value} becomes {not node.value}"
    if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Constant):
        return "returns None"
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        return "statement left out"
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        return "nothing is added"
    return ""


def apply_change(node: ast.AST) -> None:
    """Make the change that :func:`describe_change` describes, in place."""
    if isinstance(node, ast.Compare):
        node.ops[0] = COMPARED[type(node.ops[0])]()
    elif isinstance(node, ast.BinOp):
        node.op = COMPUTED[type(node.op)]()
    elif isinstance(node, ast.BoolOp):
        node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    elif isinstance(node, ast.If | ast.While | ast.IfExp):
        node.test = ast.UnaryOp(ast.Not(), node.test)
    elif isinstance(node, ast.Constant):
        node.value = (not node.value) if isinstance(node.value, bool) else node.value + 1  # type: ignore[operator]
    elif isinstance(node, ast.Return | ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.AugAssign):
        # Zero of the kind that is added: a list or a text would not take a number, and dying of that proves nothing.
        node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(0))


def write_mutant(mutant: Mutant, copy: Path) -> None:
    """Write the file of a mutant into a copy of the source."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.node]
    assert describe_change(node) == mutant.what
    apply_change(node)
    (copy / Path(mutant.file).relative_to("src")).write_text(ast.unparse(ast.fix_missing_locations(tree)))


def choose_mutants(count: int, seed: int, package: str | None) -> list[Mutant]:
    """Places spread over the packages in proportion to what can be changed there, five at least in each."""
    chooser = random.Random(seed)
    found: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted((SOURCE / "simwright").rglob("*.py")):
        for mutant in list_mutants(path):
            if package in (None, mutant.package):
                found[mutant.package].append(mutant)
    total = sum(len(mutants) for mutants in found.values())
    chosen: list[Mutant] = []
    for _, mutants in sorted(found.items()):
        share = min(len(mutants), max(5, round(count * len(mutants) / total)))
        chosen += chooser.sample(mutants, share)
    return sorted(chosen, key=lambda mutant: (mutant.file, mutant.line, mutant.node))


def learn_tests(files: set[str], store: Path) -> dict[str, dict[str, list[str]]]:
    """Which tests pass which line of the files: by coverage of one run of all tests."""
    if store.exists():
        kept: dict[str, dict[str, list[str]]] = json.loads(store.read_text())
        if files <= set(kept):
            return kept
    with tempfile.TemporaryDirectory() as folder:
        settings = Path(folder, "coverage.ini")
        listed = "\n".join(f"    {ROOT / file}" for file in sorted(files))
        settings.write_text(f"[run]\ndata_file = {folder}/coverage\ninclude =\n{listed}\n")
        command = [
            sys.executable, "-m", "pytest", "-q", "-n", str(os.cpu_count() or 2), "-p", "no:cacheprovider",
            "--cov", f"--cov-config={settings}", "--cov-context=test", "--cov-report=", str(ROOT / "tests"),
        ]  # fmt: skip
        subprocess.run(command, cwd=ROOT, check=False)
        from coverage import CoverageData

        data = CoverageData(f"{folder}/coverage")
        data.read()
        lines: dict[str, dict[str, list[str]]] = {file: {} for file in files}
        for file in files:
            for line, contexts in data.contexts_by_lineno(str(ROOT / file)).items():
                names = sorted({context.split("|")[0] for context in contexts if context})
                lines[file][str(line)] = names
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps(lines))
    return lines


def order_tests(names: list[str], package: str) -> list[str]:
    """The nearest tests first, and not more than make sense for one mutant."""
    near = [name for name in names if name.startswith(f"tests/{package}/")]
    far = [name for name in names if not name.startswith(f"tests/{package}/")]
    return [*near[:MOST_TESTS], *far[: max(10, MOST_TESTS - len(near))]]


def is_killed(mutant: Mutant, tests: list[str]) -> bool:
    """Does one of the tests fail with this mutant?"""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "src")
        shutil.copytree(SOURCE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        write_mutant(mutant, copy)
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
        try:
            done = subprocess.run(
                command, cwd=ROOT, env=environment, capture_output=True, timeout=600, check=False
            )
        except subprocess.TimeoutExpired:
            return True
        return done.returncode == 1 or done.returncode == 2  # 2: a test file could not be imported


def main() -> int:
    """Make the mutants one by one and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", help="only this package, such as model")
    parser.add_argument("--store", type=Path, default=ROOT / "out" / "mutation_tests.json")
    options = parser.parse_args()
    mutants = choose_mutants(options.count, options.seed, options.package)
    lines = learn_tests({mutant.file for mutant in mutants}, options.store)
    killed: Counter[str] = Counter()
    total: Counter[str] = Counter()
    start = time.perf_counter()
    for number, mutant in enumerate(mutants, 1):
        tests = order_tests(lines[mutant.file].get(str(mutant.line), []), mutant.package)
        dead = bool(tests) and is_killed(mutant, tests)
        total[mutant.package] += 1
        killed[mutant.package] += dead
        if not dead:
            why = f"survived {len(tests)} tests" if tests else "no test passes this line"
            print(f"{mutant.file}:{mutant.line}: {mutant.what}: {why}", flush=True)
        if number % 20 == 0:
            print(
                f"  {number} of {len(mutants)} after {time.perf_counter() - start:.0f} s",
                file=sys.stderr,
                flush=True,
            )
    for package in sorted(total):
        print(f"{package:10} {killed[package]:4} of {total[package]:4} killed")
    score = sum(killed.values()) / max(1, sum(total.values()))
    print(f"{'all':10} {sum(killed.values()):4} of {sum(total.values()):4} killed: {score:.1%}")
    return 0 if score >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
