# SPDX-License-Identifier: Apache-2.0
"""XML without surprises: no entities, no network, no huge trees, and a line number for everything.

:func:`parse` gives the root element; :class:`XmlReader` reads typed values from elements and reports what is
wrong with them.  Used by the URDF, SDF and MJCF readers.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MAX_TEXT_BYTES, read_bytes
from simwright.core.math3d import HUGE, Array
from simwright.formats.xml_repair import repair

Element: TypeAlias = Any
"""An lxml element; lxml has no usable types of its own."""

BAD_NUMBER = declare(
    "xml-bad-number",
    Level.ERROR,
    "{what} is {text!r}, which is not {expected}",
    hint="{default} is used; correct the value",
    doc="An attribute or element that must hold finite numbers does not.",
)
UNKNOWN_ELEMENT = declare(
    "xml-unknown-element",
    Level.INFO,
    "<{tag}> inside <{parent}> is not part of the format and is ignored",
    doc="An element the format does not define; it may be a typing error or another tool's extension.",
)

NOT_WELL_FORMED = declare(
    "xml-not-well-formed",
    Level.INFO,
    "the XML is not well-formed: {faults}",
    hint="it is read as tinyxml2 reads it, which Gazebo and ROS use; other XML tools refuse the file",
    doc="A file that XML does not allow and that the parser of Gazebo and ROS reads.",
)

_DEPTH_LIMIT = 250


def parse(path: str | Path, max_bytes: int = MAX_TEXT_BYTES, reporter: Reporter | None = None) -> Element:
    """Root element of an XML file; every way in which it is not well-formed is a ParseError.

    With a ``reporter``, what tinyxml2 reads all the same (``xml_repair``) is read and reported there.
    """
    data = read_bytes(path, max_bytes)
    try:
        return parse_bytes(data, str(path))
    except LimitError:
        raise
    except ParseError:
        mended = repair(data) if reporter is not None else None
        if mended is None or b"<!ENTITY" in data:
            raise
        root = parse_bytes(mended.data, str(path))
        assert reporter is not None
        first = min(line for line, _ in mended.faults) if mended.faults else 1
        listed = "; ".join(f"{text} (line {line})" for line, text in mended.faults[:8])
        reporter.report(NOT_WELL_FORMED, Where(str(path), first), faults=listed)
        return root


def parse_bytes(data: bytes, name: str) -> Element:
    """Root element of XML text; ``name`` is used in messages and as the elements' file."""
    # Before the parser sees it: entities can unfold without end, or name files.
    if re.search(rb"<!ENTITY", data[:MAX_TEXT_BYTES]):
        line = data[: data.index(b"<!ENTITY")].count(b"\n") + 1
        raise ParseError(
            "refused: the XML declares entities",
            hint="write the text out; entities are never expanded",
            where=Where(name, line),
        )
    # libxml2's own message for a binary file is of no help.
    if data[:1] == b"\0" or (b"<" not in data[:4096] and b"<" not in data):
        raise ParseError("this is not an XML file", hint="is it the right file?", where=Where(name, 1))
    parser = etree.XMLParser(
        resolve_entities=False,
        no_network=True,
        load_dtd=False,
        dtd_validation=False,
        huge_tree=False,
        remove_comments=True,
        remove_pis=True,
        remove_blank_text=True,
    )
    try:
        return etree.fromstring(data, parser, base_url=name)
    except etree.XMLSyntaxError as error:
        line, column = error.position
        text = (error.msg or "not well-formed").split(", line ")[0]
        where = Where(name, line or None, column or None)
        # Without its first letter, which may be upper or lower case.
        if "xcessive depth" in text:
            message = f"elements are nested more than {_DEPTH_LIMIT} deep"
            raise LimitError(message, hint="is it the right file?", where=where) from None
        raise ParseError(f"the XML is not well-formed: {text}", where=where) from None


class XmlReader:
    """Typed access to the elements of one file."""

    def __init__(self, file: str, reporter: Reporter) -> None:
        self.file = file
        self.reporter = reporter

    def where(self, element: Element) -> Where:
        """The line of an element."""
        return Where(self.file, element.sourceline)

    def error(self, element: Element, message: str, hint: str = "") -> ParseError:
        """An error at an element, to be raised."""
        return ParseError(message, hint=hint, where=self.where(element))

    def children(self, element: Element, tag: str | None = None) -> Iterator[Element]:
        """Child elements, of one tag if given."""
        for child in element:
            if isinstance(child.tag, str) and (tag is None or child.tag == tag):
                yield child

    def numbers(self, element: Element, text: str | None, count: int, default: Any, what: str) -> Array:
        """``count`` finite numbers, none above :data:`HUGE`; anything else is reported and gives the default."""
        if text is None or not text.strip():
            return np.array(default, dtype=np.float64)
        try:
            # Commas are tolerated: files with them exist.
            values = np.array([float(part) for part in text.replace(",", " ").split()])
        except ValueError:
            values = np.zeros(0)
        # Also catches NaN: its comparison is false.
        if len(values) != count or not np.all(np.abs(values) <= HUGE):
            expected = "a finite number" if count == 1 else f"{count} finite numbers"
            self.reporter.report(
                BAD_NUMBER,
                self.where(element),
                what=what,
                text=text.strip()[:80],
                expected=expected,
                default=" ".join(f"{v:g}" for v in np.atleast_1d(np.asarray(default, float))),
            )
            return np.array(default, dtype=np.float64)
        return values

    def vector(self, element: Element, attribute: str, count: int, default: Any) -> Array:
        """Numbers of an attribute."""
        what = f"{attribute!r} of <{element.tag}>"
        return self.numbers(element, element.get(attribute), count, default, what)

    def number(self, element: Element, attribute: str, default: float) -> float:
        """One finite number of an attribute."""
        return float(self.vector(element, attribute, 1, (default,))[0])

    def optional(self, element: Element, attribute: str) -> float | None:
        """One finite number of an attribute, None if it is absent or wrong."""
        if element.get(attribute) is None:
            return None
        value = float(self.vector(element, attribute, 1, (math.nan,))[0])
        return None if math.isnan(value) else value

    def unknown(self, element: Element, known: set[str]) -> None:
        """Report children whose tag the format does not know."""
        for child in self.children(element):
            if child.tag not in known:
                self.reporter.report(UNKNOWN_ELEMENT, self.where(child), tag=child.tag, parent=element.tag)
