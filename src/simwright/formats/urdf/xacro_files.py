# SPDX-License-Identifier: Apache-2.0
"""The files a xacro expansion may read, and how: through the gate only, no entities, limited nesting."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.core.diag import Where
from simwright.core.errors import InputError, LimitError, NotFoundError, ParseError
from simwright.core.files import MIB, read_bytes
from simwright.core.gate import Gate
from simwright.formats.resources import resolve_resource
from simwright.formats.urdf.document import ORIGIN
from simwright.formats.urdf.expressions import Evaluator
from simwright.formats.xml import Element, parse_bytes

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
        stack = getattr(self.module, "filestack", None)
        name = str(stack[-1]) if stack and stack[-1] else ""
        return self._shown.get(name, name)

    def locate(self, name: str) -> str:
        """The absolute path of a file name in the current file; the gate admits it."""
        where = Where(self.current)
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
            raise self._gate.packages.unknown(str(name), Where(self.current))
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


def load_yaml(files: XacroFiles, name: str, evaluator: Evaluator) -> Any:
    """The content of a YAML file, with the unit tags of xacro (``!degrees 90``)."""
    import yaml

    path = files.locate(name)
    where = Where(path)

    class Loader(yaml.SafeLoader):
        """Plain values and units, nothing else."""

    for unit in files.module.ConstructUnits:
        factor = unit.value.conversion_constant
        Loader.add_constructor(unit.value.tag, _unit_constructor(factor, evaluator))
    try:
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


def _unit_constructor(factor: float, evaluator: Evaluator) -> Any:
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
        known[key] = -1
        parts = [*value.values()] if isinstance(value, dict) else value
        known[key] = 1 + sum(_count_values(part, known, where) for part in parts)
    if known[key] > _MAX_YAML_VALUES:
        raise LimitError(f"the YAML has more than {_MAX_YAML_VALUES} values", where=where)
    return known[key]
