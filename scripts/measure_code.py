# SPDX-License-Identifier: Apache-2.0
"""Measure the source: files, names with several meanings, files with one importer, comments, complexity, cycles.

``python scripts/measure_code.py [--package NAME] [--list NAME] [--format json]``
prints one table with a row per package and a row for the whole.  ``--list`` shows what a figure is made of, so that it
can be worked on.  Nothing is imported: everything is read from the syntax tree.

What is counted:

names       class names that more than one file defines (one name, one meaning)
importers   files that exactly one other file of the source imports, lazily or not, so that they could be part of it
            (``__init__`` files and files that tables find by name, such as rules, are not counted)
comments    comment lines per 100 lines of code; licence lines and instructions to tools do not count
complexity  cyclomatic complexity of every function and method, as radon counts it
cycles      groups of files that import each other in a circle, imports inside functions included
any         parameters whose type is ``Any``, per 100 parameters

``--list unused`` shows functions, methods and classes whose name nothing in the source mentions again, and whether
tests, scripts or benchmarks do.  Names are compared, not meanings, so a name that two things share hides the one that
is unused; decorated functions and names that documents mention are taken as used, since a table or a user calls them.
"""

from __future__ import annotations

import argparse
import ast
import io
import json
import re
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from radon.complexity import cc_visit

SOURCE = Path(__file__).resolve().parent.parent / "src"
TOP = "simwright"
INSTRUCTIONS = ("SPDX", "noqa", "type:", "fmt:", "pragma", "!")


@dataclass
class File:
    """One file of the source and what was counted in it."""

    name: str
    path: Path
    lines: int = 0
    classes: list[str] = field(default_factory=list)
    imports: set[str] = field(default_factory=set)
    named: set[str] = field(default_factory=set)
    parameters: int = 0
    any: int = 0

    @cached_property
    def blocks(self) -> list[Any]:
        """Every function and method, with its complexity; counted when asked for, since it takes most of the time."""
        found = cc_visit(self.path.read_text(encoding="utf-8"))
        return [function for block in found for function in getattr(block, "methods", [block])]

    @property
    def functions(self) -> list[tuple[int, str]]:
        """Complexity and name of every function and method."""
        return sorted({(block.complexity, block.name) for block in self.blocks}, reverse=True)

    @cached_property
    def counts(self) -> tuple[int, int]:
        """Lines of code and of comments."""
        return count_lines(self.path.read_text(encoding="utf-8"))

    @property
    def code(self) -> int:
        """Lines of code: no blanks, comments or docstrings."""
        return self.counts[0]

    @property
    def comments(self) -> int:
        """Lines with a comment."""
        return self.counts[1]

    @property
    def package(self) -> str:
        """The package below the top one that it belongs to."""
        parts = self.name.split(".")
        return parts[1] if len(parts) > 1 else TOP


def read_files() -> dict[str, File]:
    """Every file of the source, by its dotted name."""
    files = {}
    for path in sorted((SOURCE / TOP).rglob("*.py")):
        parts = path.relative_to(SOURCE).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        files[name] = read_file(name, path)
    for file in files.values():
        file.imports = {found for found in file.imports if found in files} - {file.name}
        file.named &= set(files)
    return files


def read_file(name: str, path: Path) -> File:
    """Count what is in one file."""
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    file = File(name, path, lines=text.count("\n"))
    nodes = list(ast.walk(tree))
    file.classes = [node.name for node in nodes if isinstance(node, ast.ClassDef)]
    types = list(list_parameter_types(nodes))
    file.parameters, file.any = len(types), types.count("Any")
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    file.imports = set(list_imports(tree, package))
    file.named = {
        node.value.partition(":")[0]
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith(f"{TOP}.")
    }
    return file


def list_parameter_types(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The annotation of every parameter of every function, "" without one; ``self`` and ``cls`` are left out."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            given = node.args
            for one in (*given.posonlyargs, *given.args, *given.kwonlyargs):
                if one.arg not in {"self", "cls"}:
                    yield ast.unparse(one.annotation) if one.annotation else ""


def count_lines(text: str) -> tuple[int, int]:
    """Lines of code (no blanks, comments or docstrings) and comment lines."""
    silent: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            silent.update(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    code: set[int] = set()
    comments = 0
    skipped = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            comments += not token.string.lstrip("# ").startswith(INSTRUCTIONS)
        elif token.type not in skipped:
            code.update(range(token.start[0], token.end[0] + 1))
    return len(code - silent), comments


def list_imports(tree: ast.Module, package: str) -> Iterator[str]:
    """Names that a file imports, wherever in it, but not those for type checkers alone."""
    for node in walk_run(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = package.split(".")
                base = ".".join(
                    [*parts[: len(parts) - node.level + 1], *([node.module] if node.module else [])]
                )
            yield base
            yield from (f"{base}.{alias.name}" for alias in node.names)


def walk_run(tree: ast.AST) -> Iterator[ast.AST]:
    """Every node but the bodies of ``if TYPE_CHECKING``."""
    left = [tree]
    while left:
        for child in ast.iter_child_nodes(left.pop()):
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.dump(child.test):
                continue
            yield child
            # a statement may hold others; an expression holds no import
            if not isinstance(child, ast.expr):
                left.append(child)


def find_shared_names(files: Iterable[File]) -> dict[str, list[str]]:
    """Class names with the files that define them, where there are several."""
    places: dict[str, list[str]] = defaultdict(list)
    for file in files:
        for name in file.classes:
            places[name].append(file.name)
    return {name: found for name, found in sorted(places.items()) if len(found) > 1}


def find_single_importers(files: dict[str, File]) -> dict[str, str]:
    """Files that exactly one other file imports, with that file.

    ``from package import name`` names the package as well; the package counts as an importer of what its ``__init__``
    imports only.
    """
    importers: dict[str, set[str]] = defaultdict(set)
    for file in files.values():
        for name in file.imports:
            importers[name].add(file.name)
    named = {name for file in files.values() for name in file.named}
    return {
        name: next(iter(found))
        for name, found in sorted(importers.items())
        if len(found) == 1 and files[name].path.name != "__init__.py" and name not in named
    }


def find_cycles(files: dict[str, File]) -> list[list[str]]:
    """Groups of files that reach each other by imports (strongly connected components of more than one file).

    A package's ``__init__`` that is imported only on the way to a name in it still counts: Python runs it.
    """
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(start: str) -> None:
        work: list[tuple[str, Iterator[str]]] = [(start, iter(sorted(files[start].imports)))]
        index[start] = low[start] = len(index)
        stack.append(start)
        while work:
            name, rest = work[-1]
            for other in rest:
                if other not in index:
                    index[other] = low[other] = len(index)
                    stack.append(other)
                    work.append((other, iter(sorted(files[other].imports))))
                    break
                if other in stack:
                    low[name] = min(low[name], index[other])
            else:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == index[name]:
                    at = stack.index(name)
                    if len(stack) - at > 1:
                        groups.append(sorted(stack[at:]))
                    del stack[at:]

    for name in files:
        if name not in index:
            visit(name)
    return groups


def find_unused(files: Iterable[File]) -> Iterator[tuple[str, str]]:
    """Functions, methods and classes that the source defines and never names again, with who else names them."""
    inside = Counter(word for file in files for word in list_words(file.path))
    folder = SOURCE.parent
    beside = {
        name: {word for path in (folder / name).rglob("*.py") for word in list_words(path)}
        for name in ("scripts", "benchmarks", "samples", "tests")
    }
    documents = [folder / "README.md", *(folder / "docs").rglob("*.md")]
    # the source map is made from the source itself: it would make everything look documented
    told = {
        word
        for path in documents
        if path.name != "source-map.md"
        for word in re.findall(r"\w+", path.read_text(encoding="utf-8"))
    }
    for file in files:
        for node in ast.walk(ast.parse(file.path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                continue
            name = node.name
            if inside[name] or name in told or name.startswith("__") or calls_by_table(node):
                continue
            users = [who for who, words in beside.items() if name in words]
            yield f"{file.name}.{name}", ", ".join(users) or "nobody"


def calls_by_table(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    """Is it decorated by something that may keep it (a command, a rule, a fix, a validator)?"""
    plain = {
        "staticmethod",
        "classmethod",
        "property",
        "cached_property",
        "dataclass",
        "cache",
        "contextmanager",
    }
    names = {ast.unparse(mark).partition("(")[0].rpartition(".")[2] for mark in node.decorator_list}
    return bool(names - plain)


def list_words(path: Path) -> Iterator[str]:
    """Every name that a file uses: variables, attributes, imports, and words of its strings but not of docstrings."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.alias):
            yield node.name.rpartition(".")[2]
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.arg
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in silent:
            yield from re.findall(r"\w+", node.value)


def measure(files: dict[str, File], package: str | None) -> dict[str, Any]:
    """The figures of one package, or of everything."""
    chosen = [file for file in files.values() if package in (None, file.package)]
    inside = {file.name for file in chosen}
    shared = {name: found for name, found in find_shared_names(files.values()).items() if inside & set(found)}
    complexity = sorted(value for file in chosen for value, _ in file.functions) or [0]
    code = sum(file.code for file in chosen)
    return {
        "package": package or "all",
        "files": len(chosen),
        "lines": sum(file.lines for file in chosen),
        "names": len(shared),
        "importers": sum(name in inside for name in find_single_importers(files)),
        "comments": round(100 * sum(file.comments for file in chosen) / max(code, 1), 2),
        "complexity_90": complexity[int(0.90 * (len(complexity) - 1))],
        "complexity_99": complexity[int(0.99 * (len(complexity) - 1))],
        "complexity_max": complexity[-1],
        "above_12": sum(value > 12 for value in complexity),
        "above_15": sum(value > 15 for value in complexity),
        "cycles": sum(bool(inside & set(group)) for group in find_cycles(files)),
        "any": round(
            100 * sum(file.any for file in chosen) / max(sum(file.parameters for file in chosen), 1), 1
        ),
    }


def list_parts(files: dict[str, File], what: str, package: str | None) -> Iterator[str]:
    """The lines that a figure is made of."""
    chosen = [file for file in files.values() if package in (None, file.package)]
    inside = {file.name for file in chosen}
    if what == "names":
        for name, found in find_shared_names(files.values()).items():
            if inside & set(found):
                yield f"{name}: {', '.join(found)}"
    elif what == "importers":
        for name, owner in find_single_importers(files).items():
            if name in inside:
                yield f"{files[name].lines:5} {name} <- {owner} ({files[owner].lines})"
    elif what == "complexity":
        rows = [(value, file.name, name) for file in chosen for value, name in file.functions if value > 12]
        yield from (f"{value:3} {file}.{name}" for value, file, name in sorted(rows, reverse=True))
    elif what == "comments":
        rows = [
            (file.code, file.comments, file.name) for file in chosen if file.comments * 100 < 3 * file.code
        ]
        yield from (
            f"{code:5} lines {count:3} comments  {name}" for code, count, name in sorted(rows, reverse=True)
        )
    elif what == "unused":
        yield from (
            f"{name}: {users}"
            for name, users in find_unused(list(files.values()))
            if any(name.startswith(f"{file}.") for file in inside)
        )
    else:
        yield from (" ".join(group) for group in find_cycles(files) if inside & set(group))


def show_table(rows: Sequence[dict[str, Any]]) -> str:
    """The rows as text in columns."""
    heads = list(rows[0])
    cells = [heads, *[[str(row[head]) for head in heads] for row in rows]]
    widths = [max(len(line[column]) for line in cells) for column in range(len(heads))]
    return "\n".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in cells
    )


def main() -> None:
    """Print the table, or what a figure is made of."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--package", help="only this package, such as formats")
    parser.add_argument(
        "--list", choices=["names", "importers", "complexity", "cycles", "comments", "unused"]
    )
    parser.add_argument("--format", choices=["text", "json"], default="text")
    options = parser.parse_args()
    files = read_files()
    if options.list:
        print("\n".join(list_parts(files, options.list, options.package)))
        return
    names = (
        [options.package] if options.package else [*sorted({file.package for file in files.values()}), None]
    )
    rows = [measure(files, name) for name in names]
    print(json.dumps(rows, indent=2) if options.format == "json" else show_table(rows))


if __name__ == "__main__":
    main()
