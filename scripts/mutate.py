# SPDX-License-Identifier: Apache-2.0
"""Change the source in one small place at a time and see whether a test notices: the mutation score per package.

``python scripts/mutate.py [--count 200] [--seed 1] [--package NAME ...] [--tests FOLDER ...] [--again]`` chooses by
the seed, in each package in proportion to what can be changed.  First the tests are run once on a copy of the source
that tells when it passes a statement that will be changed, to learn which tests come there and how long they take;
what is learned is kept in ``out/mutation``, and only test files that have changed are run again.  Then each mutant is
made in a copy of the source, and the tests that pass its statement are run until one fails.

A mutant is *killed* when a test fails or takes far longer than it did, and *survives* otherwise.  At the end the tests
that killed are run on the source as it is: what fails there too kills nothing.  Survivors are printed with file, line
and what was changed, and kept: ``--again`` runs only them, with the tests as they are now, and ``--rest`` those that a
stopped run did not come to.

``mutate_equivalent.toml`` lists changes that no test can notice, each with the reason.  They count as survivors; the
score without them is printed on a line of its own.

Changes: a comparison turned, an arithmetic operator exchanged, ``and``/``or`` exchanged, a condition negated, a number
moved by one, a truth value negated, a statement left out, a result replaced by nothing.

Tests of real robots are left out, so that the score is the same where these are absent; so are those that damage
files at random or kill processes, which would take most of the time and fail at nothing small.  Tests that need another
project run with ``--judge NAME`` and no others, in its environment of ``make judge``: after a run without it,
``--again --judge newton --package engines`` tries what survived.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import faulthandler
import gc
import hashlib
import importlib.util
import itertools
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from threading import Lock
from types import CodeType, FunctionType

import pytest

from simwright.core.files import write_atomic

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
STORE = ROOT / "out" / "mutation"
EQUIVALENT = Path(__file__).with_name("mutate_equivalent.toml")
LEFT_OUT = ("tests/fuzz/", "tests/kills/", "tests/prover/test_engines.py", "tests/test_")
MOST_SECONDS = 90.0
"""Tests that are run for one mutant take this long together at the most; the nearest and shortest go first."""
PATIENCE = 20
"""A test is stopped after this many times the seconds that it took: other work may slow the machine down."""

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
    """One change: which node of which file, counted in the order of the syntax tree; ``code`` is what stands there."""

    file: str
    function: str
    node: int
    line: int
    statement_line: int
    what: str
    code: str = ""

    @property
    def package(self) -> str:
        """The package of the source that the file is in."""
        parts = Path(self.file).parts
        return parts[2] if len(parts) > 3 else parts[1]

    @property
    def place(self) -> tuple[str, str, str, str]:
        """What ``mutate_equivalent.toml`` names it by: this stays where functions move between files."""
        text = (ROOT / self.file).read_text(encoding="utf-8").splitlines()[self.line - 1].strip()
        return self.function, text, self.code, self.what

    @property
    def is_there(self) -> bool:
        """Has its file not changed since it was chosen?"""
        found = find_node(self) if (ROOT / self.file).exists() else None
        return found is not None and ast.unparse(found).partition("\n")[0] == self.code


def list_mutants(path: Path) -> Iterator[Mutant]:
    """Every change that can be made in the functions of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    inside = find_function_nodes(tree)
    for index, node in enumerate(ast.walk(tree)):
        if id(node) in inside and (what := describe_change(node)):
            function, statement_line = inside[id(node)]
            line = getattr(node, "lineno", statement_line)
            yield Mutant(str(path.relative_to(ROOT)), function, index, line, statement_line, what)


def find_function_nodes(tree: ast.Module) -> dict[int, tuple[str, int]]:
    """Nodes in bodies of functions, with the function's name and the line of the statement they stand in.

    Not those in annotations, decorators, raised errors, assertions (``strict`` of ``zip`` is one) or texts for people.
    """
    found: dict[int, tuple[str, int]] = {}

    def visit(node: ast.AST, name: str, line: int, inside: bool) -> None:
        if isinstance(node, ast.Raise | ast.JoinedStr | ast.Assert):
            return
        if isinstance(node, ast.keyword) and node.arg == "strict":
            return
        if isinstance(node, ast.stmt):
            line = node.lineno
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            for child in node.body:
                visit(child, f"{name}.{node.name}".lstrip("."), line, not isinstance(node, ast.ClassDef))
            return
        if inside:
            found[id(node)] = name, line
        for part, value in ast.iter_fields(node):
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and part != "annotation":
                    visit(child, name, line, inside)

    visit(tree, "", 0, False)
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
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return f"{node.value} becomes {not node.value if isinstance(node.value, bool) else node.value + 1}"
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
    elif isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        node.value = not node.value if isinstance(node.value, bool) else node.value + 1
    elif isinstance(node, ast.Return | ast.Expr):
        node.value = ast.Constant(None)
    elif isinstance(node, ast.AugAssign):
        # Zero of the kind that is added: a list or a text would not take a number, and dying of that proves nothing.
        node.value = ast.BinOp(node.value, ast.Mult(), ast.Constant(0))


def change_source(mutant: Mutant) -> ast.Module:
    """The syntax tree of a file with the change of a mutant."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    node = list(ast.walk(tree))[mutant.node]
    assert describe_change(node) == mutant.what, f"{mutant.file} has changed since the mutants were chosen"
    apply_change(node)
    return ast.fix_missing_locations(tree)


def choose_mutants(count: int, seed: int) -> list[Mutant]:
    """Places spread over the packages in proportion to what can be changed there, five at least in each."""
    found: dict[str, list[Mutant]] = defaultdict(list)
    for path in sorted((SOURCE / "simwright").rglob("*.py")):
        for mutant in list_mutants(path):
            found[mutant.package].append(mutant)
    total = sum(len(mutants) for mutants in found.values())
    chosen: list[Mutant] = []
    for package, mutants in sorted(found.items()):
        share = min(len(mutants), max(5, round(count * len(mutants) / total)))
        chosen += random.Random(f"{seed} {package}").sample(mutants, share)
    chosen.sort(key=lambda mutant: (mutant.file, mutant.line, mutant.node))
    return [
        replace(mutant, code=ast.unparse(node).partition("\n")[0])
        for mutant in chosen
        if (node := find_node(mutant)) is not None
    ]


def choose_once(place: Path, count: int, seed: int) -> list[Mutant]:
    """The mutants of a count and a seed, as they were chosen when these were first asked for."""
    if not place.exists():
        write_atomic(place, json.dumps([asdict(mutant) for mutant in choose_mutants(count, seed)]).encode())
    return [Mutant(**row) for row in json.loads(place.read_text())]


def find_node(mutant: Mutant) -> ast.AST | None:
    """The part of the syntax tree that a mutant changes; None where the file has become too short."""
    tree = ast.parse((ROOT / mutant.file).read_text(encoding="utf-8"))
    return next(itertools.islice(ast.walk(tree), mutant.node, None), None)


# What the copy that tests are learned with calls: each process tells of a place once, in a file that all append to.
PROBE = r"""
import os

_seen = set()
_told = os.environ["MUTATION_FOLDER"] + "/passed.txt"


def tell(place):
    if place not in _seen:
        _seen.add(place)
        # opened each time, for processes that close what they inherit
        with open(_told, "ab", 0) as told:
            told.write(f"{place}\n".encode())


def forget():
    _seen.clear()
"""
PROBED = """
try:
    from mutation_probe import tell as _tell_mutation
except (ImportError, KeyError):  # a process that a test starts with an environment of its own
    def _tell_mutation(place): pass
"""


def add_probes(file: str, mutants: list[Mutant], numbers: dict[Mutant, int]) -> str:
    """The text of a file that tells its own name in each function, and a mutant's number before its statement."""
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    statements = {mutant.statement_line: set[int]() for mutant in mutants}
    for mutant in mutants:
        statements[mutant.statement_line].add(numbers[mutant])

    def tell(place: object) -> ast.stmt:
        return ast.parse(f"_tell_mutation({place!r})").body[0]

    for node in list(ast.walk(tree)):
        for part in ("body", "orelse", "finalbody"):
            block = getattr(node, part, None)
            if not isinstance(block, list) or isinstance(node, ast.Module | ast.ClassDef):
                continue
            told: list[ast.stmt] = []
            for statement in block:
                told += [tell(number) for number in sorted(statements.get(statement.lineno, ()))]
                told.append(statement)
            if part == "body" and isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                told.insert(0 if ast.get_docstring(node) is None else 1, tell(file))
            setattr(node, part, told)
    first = 0 if ast.get_docstring(tree) is None else 1
    while isinstance(tree.body[first], ast.ImportFrom) and tree.body[first].module == "__future__":  # type: ignore[attr-defined]
        first += 1
    tree.body[first:first] = ast.parse(PROBED).body
    return ast.unparse(ast.fix_missing_locations(tree))


# Hooks: this file is a plugin of the pytest processes that it starts.  Where their folder holds trials.json, they try
# mutants on tests that it names; else they learn from all tests.
FOLDER = Path(os.environ.get("MUTATION_FOLDER", STORE))
COPY = Path(os.environ.get("MUTATION_SOURCE", SOURCE))
TRIALS = FOLDER / "trials.json"
FORKS = "MUTATION_FORKS" not in os.environ
LEARNING = "MUTATION_FOLDER" in os.environ and not TRIALS.exists()
SURVIVED, KILLED, UNTRIED = 0, 1, 3

learned: dict[str, tuple[float, list[str]]] = {}
"""For each test its seconds and the places that it passes; an empty name stands for before the first test."""
failed: set[str] = set()
read_to = 0


def take_passed() -> list[str]:
    """The places that were passed since this was last asked, here and in processes that have ended or go on."""
    global read_to  # noqa: PLW0603
    place = FOLDER / "passed.txt"
    with place.open("rb") if place.exists() else open(os.devnull, "rb") as lines:  # noqa: PTH123
        lines.seek(read_to)
        found = lines.read()
    read_to += len(found)
    if "mutation_probe" in sys.modules:
        sys.modules["mutation_probe"].forget()
    return sorted(set(found.decode().split()))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Learn which places a test passes and how long it takes."""
    if LEARNING and not learned:
        learned[""] = 0.0, take_passed()
    start = time.perf_counter()
    result = yield
    if LEARNING:
        learned[item.nodeid] = time.perf_counter() - start, take_passed()
    return result


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remember what fails, or is skipped, without any mutant: it can kill none."""
    if not report.passed:
        failed.add(report.nodeid)


def pytest_sessionfinish() -> None:
    """Write what was learned."""
    if LEARNING:
        passed = {name: told for name, told in learned.items() if name not in failed}
        (FOLDER / "learned.json").write_text(json.dumps(passed))


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool | None:
    """Make each trial in a process that is forked here, where all is imported and collected: that takes longest."""
    if LEARNING:
        return None
    items = {item.nodeid: item for item in session.items}
    with (FOLDER / "outcomes.jsonl").open("a") as output:
        for trial in json.loads(TRIALS.read_text()):
            mutant = Mutant(**trial["mutant"]) if trial["mutant"] else None
            limits = {name: limit for name, limit in trial["tests"].items() if name in items}
            chosen = [items[name] for name in limits]
            outcome = fork_trial(mutant, chosen, limits) if FORKS else run_trial(chosen, limits)
            output.write(f"{json.dumps(outcome)}\n")
            output.flush()
    return True


def run_trial(items: list[pytest.Item], limits: dict[str, float]) -> tuple[int, str]:
    """Run tests in this process until one fails: how it ended, and the last test."""
    return run_until_failure(items, limits), (FOLDER / "now.txt").read_text()


def fork_trial(mutant: Mutant | None, items: list[pytest.Item], limits: dict[str, float]) -> tuple[int, str]:
    """Run tests in a process of their own until one fails: how it ended, and the last test."""
    tree = change_source(mutant) if mutant else None
    if mutant and tree:
        # For what is imported later, and for processes that a test starts.
        locate(mutant, COPY).write_text(ast.unparse(tree))
    child = os.fork()
    if child == 0:
        code = UNTRIED
        try:
            if mutant and tree:
                swap_functions(tree, str(locate(mutant, COPY)))
            code = run_until_failure(items, limits)
        finally:
            os._exit(code)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if mutant:
        restore(mutant, COPY)
    now = FOLDER / "now.txt"
    return code, now.read_text() if now.exists() else ""


def swap_functions(tree: ast.Module, path: str) -> None:
    """Give all functions of a file that is imported already the code that they have in a changed syntax tree.

    Raises ``ValueError`` where a function no longer uses a name of the function around it.
    """
    changed: dict[tuple[str, int], CodeType] = {}

    def collect(code: CodeType) -> None:
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                changed[constant.co_qualname, constant.co_firstlineno] = constant
                collect(constant)

    collect(compile(tree, path, "exec"))
    gc.unfreeze()  # tests/conftest.py freezes what is collected, and get_objects leaves that out
    for function in gc.get_objects():
        if isinstance(function, FunctionType) and function.__code__.co_filename == path:
            code = function.__code__
            # Two of these may stand on one line; none is changed but through the function that it stands in.
            if code.co_name != "<lambda>" and (code.co_qualname, code.co_firstlineno) in changed:
                function.__code__ = changed[code.co_qualname, code.co_firstlineno]


def run_until_failure(items: list[pytest.Item], limits: dict[str, float]) -> int:
    """Run tests until one fails or takes too long."""
    failed.clear()
    for item, after in zip(items, [*items[1:], None], strict=False):
        (FOLDER / "now.txt").write_text(item.nodeid)
        # This ends the process with the code 1, even where it is in a loop of a library, which hears no signal.
        faulthandler.dump_traceback_later(limits[item.nodeid], exit=True)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
        faulthandler.cancel_dump_traceback_later()
        if item.session.testsfailed:
            return KILLED
    return SURVIVED


def locate(mutant: Mutant, copy: Path) -> Path:
    """The file of a mutant in a copy of the source."""
    return copy / Path(mutant.file).relative_to("src")


def restore(mutant: Mutant, copy: Path) -> None:
    """Put the file of a mutant right again, with its old time; what was compiled of the mutant may not stay."""
    place = locate(mutant, copy)
    Path(importlib.util.cache_from_source(str(place))).unlink(missing_ok=True)
    shutil.copy2(ROOT / mutant.file, place)


@dataclass
class TestRunner:
    """What runs the tests: the interpreter and options that choose among them."""

    python: str = sys.executable
    options: tuple[str, ...] = ("-m", "not realworld")
    variables: dict[str, str] = field(default_factory=dict)
    forks: bool = True
    """Other projects have threads (Warp, ROS), which do not live on in a process that is forked."""


RUNNER = TestRunner()


def start_pytest(folder: Path, source: Path, files: list[str]) -> subprocess.Popen[bytes]:
    """Start pytest on a copy of the source, with this file as a plugin."""
    (folder / "mutation_plugin.py").symlink_to(Path(__file__).resolve())
    environment = {
        **os.environ, **RUNNER.variables, "PYTHONPATH": f"{source}{os.pathsep}{folder}", "MUTATION_FOLDER": str(folder),
        "MUTATION_SOURCE": str(source), "PXR_WORK_THREAD_LIMIT": "1", "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip  # threads do not live on in a process that is forked
    command = [
        RUNNER.python, "-m", "pytest", "-q", "-n0", "-p", "no:cacheprovider", "-p", "mutation_plugin",
        *RUNNER.options, "--tb=short", f"--basetemp={folder / 'temporary'}", *files,
    ]  # fmt: skip
    with Path(folder, "output.txt").open("w") as output:
        return subprocess.Popen(command, cwd=ROOT, env=environment, stdout=output, stderr=output)


class KnownTests:
    """Which tests pass the statement of which mutant, and how long each takes; kept from one run to the next."""

    def __init__(self, place: Path, mutants: list[Mutant]) -> None:
        self.place = place
        self.numbers = {mutant: number for number, mutant in enumerate(mutants)}
        self.known: dict[str, dict[str, tuple[float, list[str]]]] = {}
        """For each test file and its digest, the seconds of its tests that pass and the places that they pass."""
        if place.exists():
            self.known = json.loads(place.read_text())

    def learn(self, places: list[str], jobs: int, at_once: int = 12) -> None:
        """Run the test files that have changed, some at a time, and keep what is learned after each lot."""
        files = list(dict.fromkeys(file for place in places for file in list_test_files(ROOT / place)))
        digests = {file: hash_test_file(file) for file in files}
        self.known = {key: taken for key, taken in self.known.items() if not is_old(key, digests)}
        new = [file for file in files if digests[file] not in self.known]
        start = time.perf_counter()
        lock = Lock()
        done = 0

        def learn_lot(first: int) -> None:
            nonlocal done
            lot = new[first : first + at_once]
            with tempfile.TemporaryDirectory() as name:
                folder = Path(name)
                (folder / "mutation_probe.py").write_text(PROBE)
                copy = copy_source(folder)
                for file in {mutant.file for mutant in self.numbers if mutant.is_there}:
                    own = [mutant for mutant in self.numbers if mutant.file == file]
                    locate(own[0], copy).write_text(add_probes(file, own, self.numbers))
                start_pytest(folder, copy, lot).wait()
                if not (folder / "learned.json").exists():
                    raise RuntimeError((folder / "output.txt").read_text()[-3000:])
                learned: dict[str, tuple[float, list[str]]] = json.loads(
                    (folder / "learned.json").read_text()
                )
                with lock:
                    self.add(learned, {file: digests[file] for file in lot})
                    done += len(lot)
                    taken = time.perf_counter() - start
                    print(
                        f"  learned {done} of {len(new)} test files after {taken:.0f} s",
                        file=sys.stderr,
                        flush=True,
                    )

        with ThreadPoolExecutor(jobs) as pool:
            list(pool.map(learn_lot, range(0, len(new), at_once)))

    def add(self, learned: dict[str, tuple[float, list[str]]], digests: dict[str, str]) -> None:
        """Keep what one run of pytest told of some test files."""
        for file, digest in digests.items():
            own = {test: told for test, told in learned.items() if test.partition("::")[0] == file}
            self.known[digest] = own | {"": learned[""]} if "" in learned else own
        if self.place.exists():  # another run may have learned other files since
            self.known = json.loads(self.place.read_text()) | self.known
        write_atomic(self.place, json.dumps(self.known).encode())

    def list_seconds(self) -> dict[str, float]:
        """How long each test takes."""
        return {test: told[0] for own in self.known.values() for test, told in own.items() if test}

    def list_passing(self, place: str) -> set[str]:
        """The tests that pass a place: a mutant's number or a file."""
        return {test for own in self.known.values() for test, told in own.items() if place in told[1]}

    def is_passed_early(self, mutant: Mutant) -> bool:
        """Is the statement of a mutant passed before the first test, as files are imported?"""
        return "" in self.list_passing(str(self.numbers[mutant]))

    def find(self, mutant: Mutant) -> dict[str, float]:
        """Tests that may notice a mutant, with the seconds each may take, file by file, the nearest first.

        Tests that pass its statement come before those that only use its file, or stand beside one that passes it: a
        statement may be passed in a process that tells nothing, or only by the first test that asks for a shared
        fixture.
        """
        passing = self.list_passing(str(self.numbers[mutant])) - {""}
        all_seconds = self.list_seconds()
        homes = {test.partition("::")[0] for test in passing}
        using = self.list_passing(mutant.file) - {""}
        using |= {test for test in all_seconds if test.partition("::")[0] in homes}

        def order(test: str) -> tuple[bool, bool, bool, float]:
            home = test.partition("::")[0]
            return (
                test not in passing,
                home not in homes,
                not is_near(home, mutant.package),
                all_seconds[test],
            )

        chosen: list[str] = []
        left = MOST_SECONDS
        for test in sorted(using & all_seconds.keys(), key=order):
            left -= all_seconds[test]
            if left < 0 and chosen:
                break
            chosen.append(test)
        total: Counter[tuple[bool, str]] = Counter()
        for test in chosen:
            total[test not in passing, test.partition("::")[0]] += all_seconds[test]  # type: ignore[assignment]

        def order_files(test: str) -> tuple[bool, bool, float, str]:
            home = test.partition("::")[0]
            far = test not in passing
            return far, not is_near(home, mutant.package), total[far, home], home

        return {test: 30 + PATIENCE * all_seconds[test] for test in sorted(chosen, key=order_files)}


OF_PAGES = (
    "tests/checker/test_cases.py",
    "tests/sanitizer/test_fix_cases.py",
    "tests/sanitizer/test_all_at_once.py",
)
"""Files of tests that are made of the case pages."""


def list_test_files(place: Path) -> list[str]:
    """Files of tests below a folder that are run against mutants, as pytest names them."""
    files = sorted(place.rglob("test_*.py")) if place.is_dir() else [place]
    names = [str(file.relative_to(ROOT)) for file in files]
    return [name for name in names if not name.startswith(LEFT_OUT)]


def hash_test_file(file: str) -> str:
    """Name and digest of a test file, and of the case pages where it makes tests of them."""
    found = hashlib.sha256((ROOT / file).read_bytes())
    if file in OF_PAGES:
        for page in sorted((ROOT / "tests" / "checker" / "cases").glob("*.md")):
            found.update(page.read_bytes())
    return f"{file} {found.hexdigest()[:12]}"


def is_old(key: str, digests: dict[str, str]) -> bool:
    """Was a test file changed since it was learned?"""
    file = key.partition(" ")[0]
    return not (ROOT / file).exists() or digests.get(file, key) != key


def is_near(home: str, package: str) -> bool:
    """Is a test file in the folder that has the name of a package?"""
    return home.startswith(f"tests/{package}/")


@dataclass(frozen=True)
class Trial:
    """Tests to run until one fails, with the seconds each may take, on a mutant or on the source as it is."""

    mutant: Mutant | None
    tests: dict[str, float]


def make_trials(trials: list[Trial], source: Path) -> Iterator[tuple[Trial, str | None]]:
    """For each trial the test that failed, in their order, as soon as it is known.

    Where a trial could not be made on functions that were imported already, it is made in a new process.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "trials.json").write_text(json.dumps([asdict(trial) for trial in trials]))
        outcomes = folder / "outcomes.jsonl"
        outcomes.touch()
        files = sorted({test.partition("::")[0] for trial in trials for test in trial.tests})
        if not files:  # without any, pytest would collect all there are
            yield from ((trial, None) for trial in trials)
            return
        process = start_pytest(folder, source, files)
        with outcomes.open() as lines:
            for trial in trials:
                line = ""
                while not line.endswith("\n"):
                    has_ended = process.poll() is not None
                    line += lines.readline()
                    if has_ended and not line:
                        sys.exit((folder / "output.txt").read_text()[-3000:])
                    if not line:
                        time.sleep(0.1)
                code, test = json.loads(line)
                if code == UNTRIED and trial.mutant:
                    yield trial, try_afresh(trial.mutant, trial.tests, source)
                else:
                    yield trial, None if code == SURVIVED else test
        process.wait()


def copy_source(folder: Path, source: Path = SOURCE) -> Path:
    """A copy of the source in a folder, with the samples where the source looks for them."""
    (folder / "samples").symlink_to(ROOT / "samples")
    return Path(shutil.copytree(source, folder / "src"))


def try_afresh(mutant: Mutant | None, tests: dict[str, float], source: Path) -> str | None:
    """Try a mutant, or the source as it is, in a new process, which imports it: the test that failed."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy = copy_source(folder, source)
        (folder / "trials.json").write_text(json.dumps([asdict(Trial(None, tests))]))
        if mutant:
            locate(mutant, copy).write_text(ast.unparse(change_source(mutant)))
        start_pytest(folder, copy, sorted({test.partition("::")[0] for test in tests})).wait()
        outcomes, now = folder / "outcomes.jsonl", folder / "now.txt"
        told = outcomes.read_text() if outcomes.exists() else ""
        if not told:  # it ended before or within a test: one that takes too long ends the process
            return now.read_text() if now.exists() else "collection"
        code, test = json.loads(told)
        return None if code == SURVIVED else str(test)


def find_false_killers(killers: set[str], known: KnownTests) -> set[str]:
    """Of tests that killed a mutant, those that fail without any."""
    taken = known.list_seconds()
    trials = [Trial(None, {test: 30 + PATIENCE * taken[test]}) for test in sorted(killers & taken.keys())]
    if not RUNNER.forks:
        return {test for trial in trials for test in trial.tests if try_afresh(None, trial.tests, SOURCE)}
    # in a copy, as the mutants are: a test that fails only because of where the source stands kills nothing either
    with tempfile.TemporaryDirectory() as folder:
        outcomes = list(make_trials(trials, copy_source(Path(folder))))
    return {killer for _, killer in outcomes if killer is not None}


def try_mutants(
    mutants: list[Mutant], known: KnownTests, jobs: int, keep: Callable[[Mutant, str | None], None]
) -> dict[Mutant, str | None]:
    """For each mutant the test that kills it; ``keep`` is given each as soon as it is known."""
    trials = [Trial(mutant, known.find(mutant)) for mutant in mutants]
    killers: dict[Mutant, str | None] = {}
    start = time.perf_counter()

    def attempt(number: int) -> None:
        with tempfile.TemporaryDirectory() as folder:
            copy = copy_source(Path(folder))
            own = trials[number::jobs]
            tried = make_trials(own, copy) if RUNNER.forks else ((trial, None) for trial in own)
            for trial, killer in tried:
                assert trial.mutant
                if killer is None and (not RUNNER.forks or known.is_passed_early(trial.mutant)):
                    killer = try_afresh(trial.mutant, trial.tests, SOURCE)  # noqa: PLW2901
                killers[trial.mutant] = killer
                keep(trial.mutant, killer)
                report(trial, killer)

    def report(trial: Trial, killer: str | None) -> None:
        mutant = trial.mutant
        if killer is None and mutant:
            why = f"survived {len(trial.tests)} tests" if trial.tests else "no test uses this file"
            print(f"{mutant.file}:{mutant.line}: {mutant.code}: {mutant.what}: {why}", flush=True)
        if len(killers) % 10 == 0:
            dead = sum(each is not None for each in killers.values())
            taken = time.perf_counter() - start
            print(
                f"  {len(killers)} of {len(mutants)} after {taken:.0f} s, {dead} killed",
                file=sys.stderr,
                flush=True,
            )

    with ThreadPoolExecutor(jobs) as pool:
        list(pool.map(attempt, range(jobs)))
    return killers


def read_equivalents() -> set[tuple[str, str, str, str]]:
    """Changes that no test can notice."""
    rows = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))["equivalent"]
    return {(row["function"], row["line"], row["code"], row["what"]) for row in rows}


def read_results(file: Path) -> dict[Mutant, str | None]:
    """What earlier runs found: for each mutant the test that killed it."""
    rows = json.loads(file.read_text()) if file.exists() else []
    return {Mutant(**row["mutant"]): row["killer"] for row in rows}


def print_score(killers: dict[Mutant, str | None]) -> float:
    """Print how many were killed in each package, and all together with and without those that cannot be."""
    equivalents = read_equivalents()
    total = Counter(mutant.package for mutant in killers)
    killed = Counter(mutant.package for mutant, killer in killers.items() if killer is not None)
    for package in sorted(total):
        print(f"{package:10} {killed[package]:4} of {total[package]:4} killed")
    score = killed.total() / max(1, total.total())
    print(f"{'all':10} {killed.total():4} of {total.total():4} killed: {score:.1%}")
    hopeless = sum(
        killer is None and mutant.is_there and mutant.place in equivalents
        for mutant, killer in killers.items()
    )
    if hopeless:
        able = total.total() - hopeless
        print(
            f"without {hopeless} that nothing can notice: {killed.total()} of {able}: {killed.total() / able:.1%}"
        )
    return score


def main() -> int:
    """Make the mutants one by one and print the score."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--package", nargs="*", help="only the mutants in these packages, such as model")
    parser.add_argument("--tests", nargs="*", default=["tests"], help="folders or files of tests")
    parser.add_argument("--jobs", type=int, default=1, help="processes at the same time")
    parser.add_argument(
        "--again", action="store_true", help="only the survivors of the last run of this seed"
    )
    parser.add_argument("--rest", action="store_true", help="only those that a stopped run did not come to")
    parser.add_argument("--learn", action="store_true", help="only learn which tests pass which line")
    parser.add_argument("--judge", help="tests of this environment of make judge, such as newton")
    options = parser.parse_args()
    with contextlib.ExitStack() as stack:
        if options.judge:
            options.tests = use_judge(options.judge, stack)
        return run(options)


def use_judge(name: str, stack: contextlib.ExitStack) -> list[str]:
    """Run tests in the environment of a judge from now on; gives the folders where they are."""
    sys.path.insert(0, str(ROOT / "scripts" / "judge"))
    from environments import hold_all, list_judges

    judge = list_judges()[name]
    pythons = stack.enter_context(hold_all(judge, lambda text: print(f"{name}: {text}", file=sys.stderr)))
    RUNNER.python = str(pythons[0]) if judge.inside else sys.executable
    RUNNER.options = ("--judge", name)
    RUNNER.variables = judge.make_variables() | {"MUTATION_FORKS": "no"}
    RUNNER.forks = False
    return list(judge.tests)


def run(options: argparse.Namespace) -> int:
    """Learn, try and print the score."""
    # A shell has jobs in the background ignore Ctrl-C: tests that send it would wait for ever.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    STORE.mkdir(parents=True, exist_ok=True)
    chosen = f"{options.seed}-{options.count}"
    mutants = choose_once(STORE / f"mutants-{chosen}.json", options.count, options.seed)
    judge = f"-{options.judge}" if options.judge else ""
    known = KnownTests(STORE / f"tests-{chosen}{judge}.json", mutants)
    known.learn(options.tests, options.jobs)
    if options.learn:
        return 0
    results = STORE / f"results-{chosen}.json"
    killers = read_results(results)
    if options.again:
        mutants = list(killers)

    found: dict[Mutant, str | None] = {}
    lock = Lock()  # two jobs may end at the same time

    def keep(mutant: Mutant, killer: str | None) -> None:
        with lock:
            found[mutant] = killer
            killers.update(read_results(results))  # another run may have tried others since
            killers.update(found)
            rows = [{"mutant": asdict(each), "killer": killers[each]} for each in mutants if each in killers]
            write_atomic(results, json.dumps(rows, indent=1).encode())

    wanted = [mutant for mutant in mutants if not options.package or mutant.package in options.package]
    tried = [mutant for mutant in wanted if not options.again or killers[mutant] is None]
    if options.rest:
        tried = [mutant for mutant in wanted if mutant not in killers]
    for mutant in [mutant for mutant in tried if not mutant.is_there]:
        print(
            f"{mutant.file}:{mutant.line}: {mutant.code}: the file has changed, so it cannot be tried again"
        )
        tried.remove(mutant)
    tried_killers = try_mutants(tried, known, options.jobs, keep)
    false = find_false_killers({killer for killer in tried_killers.values() if killer}, known)
    for mutant, killer in tried_killers.items():
        if killer in false:
            print(f"{mutant.file}:{mutant.line}: {mutant.what}: {killer} fails without the change too")
            keep(mutant, None)
    return 0 if print_score({mutant: killers[mutant] for mutant in wanted}) >= 0.9 else 1


if __name__ == "__main__":
    sys.exit(main())
