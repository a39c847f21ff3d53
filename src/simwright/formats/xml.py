# SPDX-License-Identifier: Apache-2.0
"""XML without surprises: no entities, no network, no huge trees, and a line number for everything.

:func:`parse` gives the root element; :class:`XmlReader` reads typed values from elements and reports what is
wrong with them.  Used by the URDF, SDF and MJCF readers.

XML that is not well-formed and that tinyxml2 reads all the same is made well-formed first.  libsdformat (Gazebo),
urdfdom and MuJoCo read their files with tinyxml2, and public files rely on what it lets pass: ``--`` in comments,
prefixes that nobody declares (``gz:type``), names with two colons, ``&`` and ``<`` where they have to be escaped, text
or blank lines before the document.  What tinyxml2 refuses (a missing end tag, an attribute given twice, a declaration
after other content) stays refused.

Lines stay where they are, so findings point into the file as it is.  The result goes through the same parser as every
other file: nothing here expands or follows anything.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from lxml import etree

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MAX_TEXT_BYTES, read_bytes
from simwright.core.math3d import HUGE, Array

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
    hint="it is read as tinyxml2 reads it, which Gazebo, ROS and MuJoCo use; other XML tools refuse the file",
    doc="A file that XML does not allow and that the parser of Gazebo, ROS and MuJoCo reads.",
)

_HYPHENS = "two hyphens in a comment"
_NO_BLANK = "attributes without a blank between them"
SURE_REPAIRS = frozenset({_HYPHENS, _NO_BLANK})
"""Faults whose repair cannot change a name or a value; the others might, for a file that is made to deceive."""

_DEPTH_LIMIT = 250


def parse(
    path: str | Path,
    max_bytes: int = MAX_TEXT_BYTES,
    reporter: Reporter | None = None,
    faults: Collection[str] | None = None,
) -> Element:
    """Root element of an XML file; every way in which it is not well-formed is a ParseError.

    With a ``reporter``, what tinyxml2 reads all the same is read and reported there; where ``faults`` are given, only
    if there are no others.
    """
    data = read_bytes(path, max_bytes)
    try:
        return parse_bytes(data, str(path))
    except LimitError:
        raise
    except ParseError:
        mended = None if reporter is None or b"<!ENTITY" in data else repair(data)
        if reporter is None or mended is None or not mended.has_only(faults):
            raise
    root = parse_bytes(mended.data, str(path))
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


def spell(element: Element) -> str:
    """The tag as it is written: readers go by ``gz:type``, not by what ``gz`` is declared as."""
    local = str(element.tag).rpartition("}")[2]
    return f"{element.prefix}:{local}" if element.prefix else local


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

    def report_unknown(self, element: Element, known: set[str]) -> None:
        """Report children whose tag the format does not know."""
        for child in self.children(element):
            if child.tag not in known:
                self.reporter.report(UNKNOWN_ELEMENT, self.where(child), tag=child.tag, parent=element.tag)


PREFIX_URI = "urn:simwright:prefix:"
"""Namespaces made up for prefixes that a file does not declare, without the prefix."""
SPACES = {
    "gz": "http://gazebosim.org/schema",
    "ignition": "http://ignitionrobotics.org/schema",
    "drake": "http://drake.mit.edu",
}
"""Namespaces that tools give their prefixes in URDF and SDFormat."""
ROTOR_WORD, RATIO_WORD = "drake:rotor_inertia", "drake:gear_ratio"
"""Drake's words for the inertia of a motor, which it reflects to the joint by the square of the ratio."""


def find_space(prefix: str) -> str:
    """The namespace of a prefix."""
    return SPACES.get(prefix, PREFIX_URI + prefix)


_NAME = rb"[A-Za-z_:\x80-\xff][\w.:\x80-\xff-]*"
# Possessive: every alternative begins with another byte, so there is nothing to come back to.
_TOKEN = re.compile(
    rb"(?P<comment><!--.*?-->)|(?P<cdata><!\[CDATA\[.*?\]\]>)|(?P<instruction><\?.*?\?>)|(?P<other><!(?!--|\[CDATA\[)[^>]*>)"
    rb"|(?P<end></\s*(?:" + _NAME + rb")\s*>)"
    rb"|(?P<start><" + _NAME + rb"(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*+>)"
    rb"|(?P<text>[^<]++)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"(\s*+)(" + _NAME + rb")(\s*=\s*)(\"[^\"]*\"|'[^']*')", re.DOTALL)
_TAG = re.compile(rb"(</?\s*)(" + _NAME + rb")(.*?)(\s*/?>)$", re.DOTALL)
_BARE = re.compile(rb"&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9A-Fa-f]{1,6});)")
_CONTROL = re.compile(rb"[\x00-\x08\x0b\x0c\x0e-\x1f]")
_DECLARED = re.compile(rb"xmlns:([\w.-]+)\s*=")


@dataclass(slots=True)
class Repaired:
    """The bytes that can be parsed, and what was wrong: a line and a few words, one for each kind of fault."""

    data: bytes
    faults: list[tuple[int, str]]

    def has_only(self, faults: Collection[str] | None) -> bool:
        """Is every fault one of these?  Without any, all are allowed."""
        return faults is None or all(text in faults for _, text in self.faults)


def repair(data: bytes) -> Repaired | None:
    """The document that tinyxml2 would see; None where it would see none either."""
    return _Repair(data).run()


@dataclass(slots=True)
class _Repair:
    data: bytes
    parts: list[bytes] = field(default_factory=list)
    faults: dict[str, int] = field(default_factory=dict)
    prefixes: dict[bytes, int] = field(default_factory=dict)
    line: int = 1
    depth: int = 0
    root_at: int = -1
    has_content: bool = False

    @property
    def is_over(self) -> bool:
        """Has the root element ended?"""
        return self.root_at >= 0 and not self.depth

    def run(self) -> Repaired | None:
        self._clean_bytes()
        place = 0
        while place < len(self.data):
            match = _TOKEN.match(self.data, place)
            # A document of tinyxml2 may have several roots.
            if match is not None and self.is_over and match.lastgroup == "start":
                self._note("more than one root element, of which the first is read")
                break
            # Here tinyxml2 stops too: a tag or a comment that never ends.
            if match is None or not self._take(str(match.lastgroup), match.group()):
                return None
            self.line += match.group().count(b"\n")
            place = match.end()
        if self.root_at < 0 or self.depth:
            return None
        self._declare()
        faults = [(line, text) for text, line in self.faults.items()]
        return Repaired(b"".join(self.parts), faults)

    def _clean_bytes(self) -> None:
        self.data = self.data.removeprefix(b"\xef\xbb\xbf")
        try:
            self.data.decode("utf-8")
        except UnicodeDecodeError as error:
            self._note("bytes that are not UTF-8", self.data[: error.start].count(b"\n") + 1)
            self.data = self.data.decode("utf-8", "replace").encode("utf-8")
        match = _CONTROL.search(self.data)
        if match:
            self._note("control characters", self.data[: match.start()].count(b"\n") + 1)
            self.data = _CONTROL.sub(b" ", self.data)

    def _note(self, text: str, line: int = 0) -> None:
        self.faults.setdefault(text, line or self.line)

    def _take(self, kind: str, token: bytes) -> bool:
        """Add one token as it has to be; False if the document cannot be read."""
        if kind != "instruction":
            self.has_content = self.has_content or bool(token.strip())
        match kind:
            case "comment":
                self._take_comment(token)
            case "instruction":
                return self._take_instruction(token)
            case "start":
                return self._take_start(token)
            case "end":
                return self._take_end(token)
            case "other":
                # A document type says nothing to tinyxml2.
                self._drop(token)
            case _:
                self._take_text(kind, token)
        return True

    def _drop(self, token: bytes) -> None:
        """Only its line ends stay, which count."""
        self.parts.append(b"\n" * token.count(b"\n"))

    def _take_comment(self, token: bytes) -> None:
        inner = token[4:-3]
        if b"--" in inner or inner.endswith(b"-"):
            self._note(_HYPHENS)
        self._drop(token)

    def _take_instruction(self, token: bytes) -> bool:
        # A declaration has to come before everything else, also for tinyxml2; blanks before it are allowed there.
        if self.has_content:
            return False
        if self.parts:
            self._note("blanks before the XML declaration")
        self._drop(token)
        return True

    def _take_text(self, kind: str, token: bytes) -> None:
        if self.depth == 0:
            if token.strip():
                self._note("text outside the root element")
            self._drop(token)
            return
        if kind == "text":
            if _BARE.search(token):
                self._note("an & that is not escaped")
            # "]]>" may stand in text for tinyxml2.
            token = _BARE.sub(b"&amp;", token).replace(b"]]>", b"]]&gt;")
        self.parts.append(token)

    def _take_start(self, token: bytes) -> bool:
        match = _TAG.match(token)
        assert match is not None
        opening, name, inside, closing = match.groups()
        attributes, place, known = [], 0, set()
        while place < len(inside):
            attribute = _ATTRIBUTE.match(inside, place)
            if attribute is None or attribute.group(2) in known:
                return False
            known.add(attribute.group(2))
            attributes.append(self._mend_attribute(*attribute.groups()))
            place = attribute.end()
        is_root = self.depth == 0
        if closing.strip() == b">":
            self.depth += 1
        tag = self._mend_name(name)
        if is_root:
            self.root_at = len(self.parts)
        self.parts.append(opening + tag + b"".join(attributes) + closing)
        return True

    def _mend_attribute(self, blank: bytes, name: bytes, equals: bytes, value: bytes) -> bytes:
        text = value[1:-1]
        if b"<" in text or _BARE.search(text):
            self._note("an & or < that is not escaped")
        if not blank:
            self._note(_NO_BLANK)
        mended = _BARE.sub(b"&amp;", text).replace(b"<", b"&lt;")
        return (blank or b" ") + self._mend_name(name) + equals + value[:1] + mended + value[-1:]

    def _take_end(self, token: bytes) -> bool:
        if not self.depth:
            return False
        self.depth -= 1
        match = _TAG.match(token)
        assert match is not None
        self.parts.append(b"</" + self._mend_name(match.group(2)) + match.group(3) + match.group(4))
        return True

    def _mend_name(self, name: bytes) -> bytes:
        """The name as XML with namespaces allows it: one colon, with something before and after it."""
        if b":" not in name:
            return name
        prefix, _, rest = name.partition(b":")
        if not prefix or not rest or b":" in rest or not _can_begin(rest):
            mended = (prefix or b"_") + b":_" + rest.replace(b":", b"_").lstrip(b"_")
            shown = (text.decode("utf-8", "replace") for text in (name, mended))
            self._note("the name {!r}, which is read as {!r}".format(*shown))
            name, prefix = mended, prefix or b"_"
        if prefix not in (b"xml", b"xmlns"):
            self.prefixes.setdefault(prefix, self.line)
        return name

    def _declare(self) -> None:
        """Give every prefix that the root does not declare a namespace; a declaration further in still counts there."""
        root = self.parts[self.root_at]
        declared = set(_DECLARED.findall(root))
        anywhere = set(_DECLARED.findall(b"".join(self.parts)))
        missing = [prefix for prefix in self.prefixes if prefix not in declared]
        for prefix in missing:
            if prefix not in anywhere:
                text = prefix.decode("utf-8", "replace")
                self._note(f"the prefix {text!r}, which is not declared", self.prefixes[prefix])
        words = b"".join(b' xmlns:%s="%s%s"' % (prefix, PREFIX_URI.encode(), prefix) for prefix in missing)
        match = _TAG.match(root)
        assert match is not None
        self.parts[self.root_at] = b"".join(
            (match.group(1), match.group(2), words, match.group(3), match.group(4))
        )


def _can_begin(text: bytes) -> bool:
    """May a name begin like this?  A digit, a dot and a hyphen may only follow."""
    return not (text[:1].isdigit() or text[:1] in b".-")
