# SPDX-License-Identifier: Apache-2.0
"""xacro: macros, properties, includes and arguments expanded to plain URDF.

The ``xacro`` package does the expansion; what it reads and evaluates goes through here:

* files (includes, YAML) have to pass the gate of the asset (``core.gate``); entities are refused, sizes and nesting
  are limited;
* ``$(find NAME)`` asks the read options' packages, ``$(arg NAME)`` their arguments;
* expressions are evaluated by ``expressions``;
* what xacro would print becomes findings.

The package keeps its state in module variables, so expansion is serialised by a lock and the variables are
put back afterwards.  Elements keep the file and line they were written at (``reader.ORIGIN``).
"""

from __future__ import annotations

import contextlib
import os
import re
import threading
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import (
    InputError,
    LimitError,
    NotFoundError,
    ParseError,
    SimwrightError,
    UsageError,
)
from simwright.core.files import MAX_TEXT_BYTES, MIB, read_bytes
from simwright.core.gate import Gate
from simwright.formats.resources import resolve_resource
from simwright.formats.urdf.expressions import Evaluator
from simwright.formats.urdf.reader import ORIGIN
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

XACRO_CALL = declare(
    "xacro-call-left-out",
    Level.WARNING,
    "{count} call(s) of xacro macros that the file neither defines nor includes are left out, the first <{name}>",
    hint="convert the xacro file that this one was made from",
    doc="A URDF file that was expanded and still calls xacro macros; parsers of URDF pass over them too.",
)

_DIRECTIVES = frozenset(
    {"arg", "attribute", "call", "element", "if", "include", "insert_block", "macro", "property", "unless"}
)
_QUOTED = re.compile(r"'([^']+)'|\"([^\"]+)\"")
# what xacro says of an argument that nobody gave, and that is declared later or not at all
_UNSET_ARGUMENT = re.compile(r"Undefined substitution argument (\w+)")
_LOCK = threading.Lock()
# functions that lead from values to classes and frames
_UNSAFE_BUILTINS = ("type", "vars", "hash", "issubclass")
# a short argument makes these run for hours
_ENDLESS_FUNCTIONS = ("factorial", "comb", "perm", "prod", "lcm")


def needs_xacro(path: Path, root: Element, reporter: Reporter) -> bool:
    """Is it a xacro file: by its name, or by an element of xacro in it that can be expanded?

    A file that was expanded already may call macros that it neither defines nor includes: parsers of URDF pass over
    these calls, and so do we, with a warning.
    """
    if path.name.lower().endswith(".xacro"):
        return True
    found = [element for element in root.iter() if element.prefix == "xacro"]
    if found and not any(etree.QName(element).localname in _DIRECTIVES for element in found):
        where = Where(str(path), found[0].sourceline)
        name = f"{found[0].prefix}:{etree.QName(found[0]).localname}"
        reporter.report(XACRO_CALL, where, count=len(found), name=name)
        return False
    return bool(found)


def expand_xacro(
    path: Path, arguments: Mapping[str, str], gate: Gate, reporter: Reporter
) -> tuple[Element, list[str]]:
    """The expanded root element, and the files that took part (see ``reader.ORIGIN``)."""
    where = Where(str(path))
    # the state of the package is in module variables
    with _LOCK:
        files = XacroFiles(path, gate)
        with _guarded_xacro(files, reporter, where) as xacro:
            try:
                document = xacro.process_file(files.start, mappings=dict(arguments))
                text = document.toxml("utf-8")
            except Exception as error:  # noqa: BLE001 - xacro lets every sort of exception through
                raise _make_error(error, files, where) from None
    if len(text) > MAX_TEXT_BYTES:
        raise LimitError(f"xacro expands to {len(text) >> 20} MiB of text", where=where)
    # xacro itself drops a misspelt argument without a word
    for name in sorted(set(arguments) - files.arguments):
        known = ", ".join(sorted(files.arguments)) or "none"
        reporter.report(XACRO_ARGUMENT, where, name=name, known=known)
    return parse_bytes(text, str(path)), files.names


def _make_error(error: Exception, files: XacroFiles, where: Where) -> SimwrightError:
    """Our own error if one is at the bottom of it, else a ParseError with xacro's words."""
    current = Where(files.current or where.file)
    for cause in _list_causes(error):
        # xacro wraps what our functions raise; the original says more
        if isinstance(cause, SimwrightError):
            if not cause.where or cause.where == current:
                cause.where = _find_line(cause.message, files) or current
            return cause
        if isinstance(cause, RecursionError):
            return LimitError(
                "xacro macros nest too deeply", hint="does a macro call itself without end?", where=current
            )
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    reason = " ".join(lines)[:300] or type(error).__name__
    place = _find_line(reason, files) or current
    missing = _UNSET_ARGUMENT.search(reason)
    if missing:
        name = missing[1]
        return ParseError(
            f"the xacro argument '{name}' has no value where it is used",
            hint=f"give it with --arg {name}=VALUE (in Python: arguments={{'{name}': ...}})",
            where=place,
        )
    return ParseError(f"xacro cannot expand the file: {reason}", where=place)


def _find_line(reason: str, files: XacroFiles) -> Where | None:
    """The line that a message of xacro is about: where what it quotes, or its last word, is written."""
    if not files.current:
        return None
    # xacro tells no line; what it quotes stands in the file it was working on
    quoted = [word for pair in _QUOTED.findall(reason) for word in pair if word]
    last = [word.strip("[].") for word in reason.rsplit(maxsplit=1)[-1:]]
    return files.find_words(word for word in (*quoted, *last) if word)


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """An exception and everything that led to it."""
    waiting, seen = [error], set[int]()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        # XacroException keeps its cause in an attribute of its own
        near = (cause.__cause__, getattr(cause, "exc", None), cause.__context__)
        waiting += [each for each in near if isinstance(each, BaseException)]


@contextlib.contextmanager
def _guarded_xacro(files: XacroFiles, reporter: Reporter, where: Where) -> Iterator[Any]:
    """The xacro module with its doors closed; everything is put back at the end."""
    import xacro
    from xacro import substitution_args

    evaluator = Evaluator((xacro.Table,), (xacro.YamlDictWrapper,))
    files.module = xacro
    expand = xacro.eval_all

    def eval_all(node: Any, macros: Any, symbols: Any) -> None:
        # every element counts, so that macros that call each other end
        evaluator.spend()
        expand(node, macros, symbols)

    def safe_eval(text: str, symbols: dict[str, Any], _locals: Any = None) -> Any:
        return evaluator.evaluate(str(text), symbols)

    def read_yaml(filename: str) -> Any:
        return xacro.YamlListWrapper.wrap(_load_yaml(files, str(filename), evaluator))

    def eval_argument(text: str, context: dict[str, Any]) -> str:
        return str(evaluator.evaluate(text, _make_eval_symbols(substitution_args, context)))

    changes = {
        "safe_eval": safe_eval,
        "load_yaml": read_yaml,
        "eval_all": eval_all,
        "abs_filename_spec": files.locate,
        "parse": files.parse,
        "tokenize": _tokenize,
        "verbosity": 0,
        **_make_print_functions(reporter, files, where),
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
        # past xacro's own dictionary class
        dict.pop(symbols["python"], name, None)
    for name in _ENDLESS_FUNCTIONS:
        dict.pop(symbols["math"], name, None)
        symbols.pop(name, None)
    return symbols


def _make_eval_symbols(substitution_args: Any, context: dict[str, Any]) -> dict[str, Any]:
    """Names of ``$(eval ...)``: arguments as values, arithmetic, and the substitution functions."""
    import math

    arguments = context.setdefault("arg", {})
    convert = substitution_args.convert_value
    # what xacro's own $(eval) offers, without what never ends
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
    # xacro builds a regular expression of the separators, which a file could make endless
    for mark in str(sep)[1:]:
        s = s.replace(mark, str(sep)[0])
    parts = s.split(str(sep)[0]) if sep else [s]
    return [part for part in parts if part] if skip_empty else parts


def _make_print_functions(reporter: Reporter, files: XacroFiles, where: Where) -> dict[str, Any]:
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
    # a door that has moved would stay open without anybody noticing
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


_MAX_INCLUDE_DEPTH = 32
_MAX_YAML_BYTES = 16 * MIB
_MAX_YAML_VALUES = 1_000_000


class XacroFiles:
    """The files of one expansion.  ``names`` are those read, ``arguments`` those they declare."""

    def __init__(self, path: Path, gate: Gate) -> None:
        self.start = os.path.abspath(path)  # noqa: PTH100 - links must stay as they are
        self.module: Any = None
        self.names: list[str] = []
        self.arguments: set[str] = set()
        self._shown = {self.start: str(path)}
        self._gate = gate

    @property
    def current(self) -> str:
        """The file that is being expanded."""
        # xacro's own stack of files, outermost first
        stack = getattr(self.module, "filestack", None)
        name = str(stack[-1]) if stack and stack[-1] else ""
        return self._shown.get(name, name)

    def locate(self, name: str) -> str:
        """The absolute path of a file name in the current file; the gate admits it."""
        where = Where(self.current)
        # a ROS address, which xacro itself does not know
        if str(name).startswith("package://"):
            return str(resolve_resource(str(name), Path(self.start).parent, self._gate, where))
        stack = self.module.filestack
        base = os.path.dirname(stack[-1]) if stack and stack[-1] else os.path.dirname(self.start)  # noqa: PTH120 - text only
        path = os.path.normpath(os.path.join(base, str(name)))  # noqa: PTH118 - text only
        self._gate.admit(path, where, str(name))
        return path

    def find_package(self, name: str) -> str:
        """The folder of ``$(find NAME)``, which may be read from then on."""
        package = self._gate.find_package(str(name), near=Path(self.start).parent)
        if package is None:
            raise self._gate.packages.make_unknown_error(str(name), Where(self.current))
        return os.path.abspath(package.path)  # noqa: PTH100 - links must stay as they are

    def parse(self, _source: Any, filename: str) -> Any:
        """The DOM of a file, its elements marked with their place; takes the place of ``xacro.parse``."""
        import xml.dom.minidom

        stack = list(self.module.filestack)
        if len(stack) > _MAX_INCLUDE_DEPTH:
            again = " and includes itself" if filename in stack[:-1] else ""
            raise LimitError(
                f"{filename!r} is included {len(stack) - 1} files deep{again}",
                hint="remove the include that leads back" if again else "",
                where=self._find_include(str(stack[-2]), filename),
            )
        try:
            content = read_bytes(filename)
        except InputError as error:
            self.module.filestack.pop()
            cause = type(error)(
                f"{filename!r} cannot be included: {error.message}",
                hint=error.hint,
                where=self._find_include(str(stack[-2]), filename) if len(stack) > 1 else Where(self.current),
            )
            # xacro lets an optional include pass when the cause is an OSError
            raise self.module.XacroException(error.message, exc=OSError(error.message)) from cause
        root = parse_bytes(content, self._shown.get(filename, filename))
        _refuse_entities(root, filename)
        self._mark(root, filename)
        # the tree was read by the careful parser; what goes on is free of document types and entities
        return xml.dom.minidom.parseString(etree.tostring(root))  # noqa: S318 - see above

    def _find_include(self, outer: str, inner: str) -> Where:
        """The line of the include of a file in another one, as far as its name tells."""
        shown = self._shown.get(outer, outer)
        name = os.path.basename(inner)  # noqa: PTH119 - a name as xacro has it
        for element in parse_bytes(read_bytes(outer), shown).iter():
            if element.prefix == "xacro" and os.path.basename(element.get("filename") or "") == name:  # noqa: PTH119
                return Where(shown, element.sourceline)
        return Where(shown)

    def find_words(self, words: Iterable[str]) -> Where:
        """The first line of the current file that holds one of the words where xacro looks; else the file alone."""
        try:
            content = read_bytes(self.current)
        except InputError:
            return Where(self.current)
        for word in words:
            text = re.escape(word.encode())
            for pattern in (rb"\$[{(][^})]*" + text, b'"' + text + b'"', b"<" + text + rb"\b"):
                match = re.search(pattern, content)
                if match:
                    return Where(self.current, content.count(b"\n", 0, match.start()) + 1)
        return Where(self.current)

    def _mark(self, root: Element, filename: str) -> None:
        number = len(self.names)
        # as the user named it, so that findings show that name
        self.names.append(self._shown.get(filename, filename))
        for element in root.iter():
            if not isinstance(element.tag, str):
                continue
            if element.prefix != "xacro":
                element.set(ORIGIN, f"{number}:{element.sourceline}")
            elif etree.QName(element).localname == "arg":
                self.arguments.add(str(element.get("name")))


def _refuse_entities(root: Element, filename: str) -> None:
    """Entities that hide from a search of the bytes (UTF-16) are seen in the parsed document type."""
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and any(True for _ in dtd.iterentities()):
        raise ParseError("refused: the XML declares entities", where=Where(filename))


def _load_yaml(files: XacroFiles, name: str, evaluator: Evaluator) -> Any:
    """The content of a YAML file, with the unit tags of xacro (``!degrees 90``)."""
    import yaml

    path = files.locate(name)
    where = Where(path)

    class Loader(yaml.SafeLoader):
        """Plain values and units, nothing else."""

    for unit in files.module.ConstructUnits:
        factor = unit.value.conversion_constant
        Loader.add_constructor(unit.value.tag, _make_unit_constructor(factor, evaluator))
    try:
        # a safe loader with xacro's units added
        value = yaml.load(read_bytes(path, _MAX_YAML_BYTES), Loader)  # noqa: S506 - a safe loader
        _count_values(value, {}, where)
    except yaml.YAMLError as error:
        raise ParseError(
            f"the YAML cannot be read: {' '.join(str(error).split())[:200]}", where=where
        ) from None
    except RecursionError:
        raise LimitError("the YAML is nested too deeply", where=where) from None
    except NotFoundError as error:
        raise NotFoundError(error.message, hint=error.hint, where=Where(files.current)) from None
    return value


def _make_unit_constructor(factor: float, evaluator: Evaluator) -> Any:
    import math

    symbols = {key: value for key, value in vars(math).items() if not key.startswith("_")}

    def construct(loader: Any, node: Any) -> float:
        return float(evaluator.evaluate(str(loader.construct_scalar(node)), dict(symbols))) * factor

    return construct


def _count_values(value: Any, known: dict[int, int], where: Where) -> int:
    """Number of values when every alias is written out; cycles and explosions are refused."""
    if not isinstance(value, (dict, list)):
        return 1
    key = id(value)
    if known.get(key) == -1:
        raise ParseError("the YAML contains itself", where=where)
    if key not in known:
        # marks what is being counted: meeting it again is a cycle
        known[key] = -1
        parts = [*value.values()] if isinstance(value, dict) else value
        known[key] = 1 + sum(_count_values(part, known, where) for part in parts)
    if known[key] > _MAX_YAML_VALUES:
        raise LimitError(f"the YAML has more than {_MAX_YAML_VALUES} values", where=where)
    return known[key]
