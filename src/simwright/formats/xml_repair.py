# SPDX-License-Identifier: Apache-2.0
"""XML that is not well-formed and that tinyxml2 reads all the same, made well-formed.

libsdformat (Gazebo) and urdfdom read their files with tinyxml2, and public files rely on what it lets pass: ``--`` in
comments, prefixes that nobody declares (``gz:type``), names with two colons, ``&`` and ``<`` where they have to be
escaped, text or blank lines before the document.  What tinyxml2 refuses (a missing end tag, an attribute given twice, a
declaration after other content) stays refused.

Lines stay where they are, so findings point into the file as it is.  The result goes through the same parser as every
other file: nothing here expands or follows anything.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

PREFIX_URI = "urn:simwright:prefix:"
"""Namespaces made up for prefixes that a file does not declare, without the prefix."""

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
            self._note("two hyphens in a comment")
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
            self._note("attributes without a blank between them")
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
