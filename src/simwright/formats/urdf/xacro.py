# SPDX-License-Identifier: Apache-2.0
"""xacro: macros, properties, includes and arguments expanded to plain URDF.

The ``xacro`` package does the expansion; what it reads and evaluates goes through here:

* files (includes, YAML) have to pass the gate of the asset (``core.gate``); entities are refused, sizes and nesting
  are limited;
* ``$(find NAME)`` asks the read options' packages, ``$(arg NAME)`` their arguments;
* expressions are evaluated by ``expressions``;
* what xacro would print becomes findings.

The package keeps its state in module variables, so expansion is serialised by a lock and the variables are
put back afterwards.  Elements keep the file and line they were written at (``document.ORIGIN``).
"""

from __future__ import annotations

import contextlib
import re
import threading
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError, ParseError, SimwrightError, UsageError
from simwright.core.files import MAX_TEXT_BYTES
from simwright.core.gate import Gate
from simwright.formats.urdf.expressions import Evaluator
from simwright.formats.urdf.xacro_files import XacroFiles, load_yaml
from simwright.formats.xml import Element, parse_bytes

XACRO_MESSAGE = declare(
    "xacro-message",
    Level.INFO,
    "xacro says: {text}",
    doc="A message that the xacro file asks to be shown.",
)
XACRO_WARNING = declare(
    "xacro-warning",
    Level.WARNING,
    "xacro warns: {text}",
    doc="Something xacro finds doubtful, or a warning the xacro file asks to be shown.",
)
XACRO_ARGUMENT = declare(
    "xacro-argument-unused",
    Level.WARNING,
    "the xacro argument {name!r} was given, but the file declares no such argument",
    hint="declared: {known}",
    doc="An argument for xacro that no <xacro:arg> declares.",
)

_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
_LOCK = threading.Lock()
_UNSAFE_BUILTINS = ("type", "vars", "hash", "issubclass")
_ENDLESS_FUNCTIONS = ("factorial", "comb", "perm", "prod", "lcm")


def needs_xacro(path: Path, root: Element) -> bool:
    """Is it a xacro file: by its name, or by an element of xacro in it?"""
    return path.name.lower().endswith(".xacro") or any(e.prefix == "xacro" for e in root.iter())


def expand_xacro(
    path: Path, arguments: Mapping[str, str], gate: Gate, reporter: Reporter
) -> tuple[Element, list[str]]:
    """The expanded root element, and the files that took part (see ``document.ORIGIN``)."""
    where = Where(str(path))
    with _LOCK:
        files = XacroFiles(path, gate)
        with _prepared(files, reporter, where) as xacro:
            try:
                document = xacro.process_file(files.start, mappings=dict(arguments))
                text = document.toxml("utf-8")
            except Exception as error:  # noqa: BLE001 - xacro lets every sort of exception through
                raise _translate(error, files, where) from None
    if len(text) > MAX_TEXT_BYTES:
        raise LimitError(f"xacro expands to {len(text) >> 20} MiB of text", where=where)
    for name in sorted(set(arguments) - files.arguments):
        known = ", ".join(sorted(files.arguments)) or "none"
        reporter.report(XACRO_ARGUMENT, where, name=name, known=known)
    return parse_bytes(text, str(path)), files.names


def _translate(error: Exception, files: XacroFiles, where: Where) -> SimwrightError:
    """Our own error if one is at the bottom of it, else a ParseError with xacro's words."""
    current = Where(files.current or where.file)
    for cause in _causes(error):
        if isinstance(cause, SimwrightError):
            if not cause.where or cause.where == current:
                cause.where = _place(cause.message, files) or current
            return cause
        if isinstance(cause, RecursionError):
            return LimitError(
                "xacro macros nest too deeply", hint="does a macro call itself without end?", where=current
            )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = " ".join(lines)[:300] or type(error).__name__
    return ParseError(f"xacro cannot expand the file: {reason}", where=_place(reason, files) or current)


def _place(reason: str, files: XacroFiles) -> Where | None:
    """The line that a message of xacro is about: where what it quotes, or its last word, is written."""
    if not files.current:
        return None
    quoted = [word for pair in _QUOTED.findall(reason) for word in pair if word]
    last = [word.strip("[].") for word in reason.rsplit(maxsplit=1)[-1:]]
    return files.find_words(word for word in (*quoted, *last) if word)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        near = (cause.__cause__, getattr(cause, "exc", None), cause.__context__)
        waiting += [each for each in near if isinstance(each, BaseException)]


@contextlib.contextmanager
def _prepared(files: XacroFiles, reporter: Reporter, where: Where) -> Iterator[Any]:
    """The xacro module with its doors closed; everything is put back at the end."""
    import xacro
    from xacro import substitution_args

    evaluator = Evaluator((xacro.Table,), (xacro.YamlDictWrapper,))
    files.module = xacro
    expand = xacro.eval_all

    def eval_all(node: Any, macros: Any, symbols: Any) -> None:
        evaluator.spend()
        expand(node, macros, symbols)

    def safe_eval(text: str, symbols: dict[str, Any], _locals: Any = None) -> Any:
        return evaluator.evaluate(str(text), symbols)

    def read_yaml(filename: str) -> Any:
        return xacro.YamlListWrapper.wrap(load_yaml(files, str(filename), evaluator))

    def eval_argument(text: str, context: dict[str, Any]) -> str:
        return str(evaluator.evaluate(text, _eval_symbols(substitution_args, context)))

    changes = {
        "safe_eval": safe_eval,
        "load_yaml": read_yaml,
        "eval_all": eval_all,
        "abs_filename_spec": files.locate,
        "parse": files.parse,
        "tokenize": _tokenize,
        "verbosity": 0,
        **_speakers(reporter, files, where),
    }
    with _replaced(xacro, changes):
        symbols = _make_symbols(xacro)
        doors = {
            "_eval": eval_argument,
            "_eval_find": files.find_package,
            "_eval_dirname": lambda _name: str(Path(files.current).parent),
        }
        state: dict[str, Any] = {
            "_global_symbols": symbols,
            "substitution_args_context": {},
            "filestack": None,
            "macrostack": None,
            "root_dir": ".",
            "all_includes": [],
        }
        with _replaced(xacro, state), _replaced(substitution_args, doors):
            yield xacro


def _make_symbols(xacro: Any) -> dict[str, Any]:
    """Names of xacro without those that lead out or never end."""
    symbols: dict[str, Any] = xacro.create_global_symbols()
    for name in _UNSAFE_BUILTINS:
        dict.pop(symbols["python"], name, None)
    for name in _ENDLESS_FUNCTIONS:
        dict.pop(symbols["math"], name, None)
        symbols.pop(name, None)
    return symbols


def _eval_symbols(substitution_args: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Names of ``$(eval ...)``: arguments as values, arithmetic, and the substitution functions."""
    import math

    arguments = context.setdefault("arg", {})
    convert = substitution_args.convert_value
    symbols = {k: v for k, v in vars(math).items() if k[0] != "_" and k not in _ENDLESS_FUNCTIONS}
    symbols |= {kind.__name__: kind for kind in (list, dict, map, str, float, int)}
    symbols |= {"true": True, "false": False}
    symbols |= {name: convert(str(value), "auto") for name, value in arguments.items()}
    symbols["arg"] = lambda name: convert(str(arguments[name]), "auto")
    symbols["env"] = substitution_args._eval_env
    symbols["optenv"] = substitution_args._eval_optenv
    symbols["find"] = substitution_args._eval_find
    symbols["dirname"] = lambda: substitution_args._eval_dirname("")
    return symbols


def _tokenize(s: str, sep: str = ",; ", skip_empty: bool = True) -> list[str]:
    """Split at any of the characters of ``sep``."""
    for mark in str(sep)[1:]:
        s = s.replace(mark, str(sep)[0])
    parts = s.split(str(sep)[0]) if sep else [s]
    return [part for part in parts if part] if skip_empty else parts


def _speakers(reporter: Reporter, files: XacroFiles, where: Where) -> dict[str, Any]:
    """The print functions of xacro, as findings; xacro sees their names, which must stay."""

    def tell(kind: Any, parts: tuple[Any, ...]) -> None:
        text = " ".join(str(part) for part in parts)[:500]
        reporter.report(kind, Where(files.current or where.file), text=text)

    def message(*parts: Any, **_: Any) -> None:
        tell(XACRO_MESSAGE, parts)

    def warning(*parts: Any, **_: Any) -> None:
        tell(XACRO_WARNING, parts)

    def error(*parts: Any, **_: Any) -> None:
        tell(XACRO_WARNING, parts)

    def print_location() -> None:
        """Findings have their place already."""

    return {"message": message, "warning": warning, "error": error, "print_location": print_location}


@contextlib.contextmanager
def _replaced(module: Any, changes: dict[str, Any]) -> Iterator[None]:
    """Set attributes of a module for a while; all of them have to exist."""
    missing = [name for name in changes if not hasattr(module, name)]
    if missing:
        raise UsageError(
            f"this version of the package xacro cannot be used safely: it has no {', '.join(missing)}",
            hint="install xacro 2.1",
        )
    before = {name: getattr(module, name) for name in changes}
    try:
        for name, value in changes.items():
            setattr(module, name, value)
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)
