# SPDX-License-Identifier: Apache-2.0
"""Comments of a text layer that is written again: OpenUSD forgets them, here they are put back.

A comment belongs to the declaration that follows it, one at the end of a line to the declaration on that line, and one
at the end of a block or inside of metadata to the declaration before it.  Where that declaration is gone from the layer
the comment is dropped, and counted.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import NamedTuple

from pxr import Sdf, Tf

from simwright.usd.locate import outline_text
from simwright.usd.text import LITERAL

_LITERAL = re.compile(LITERAL, re.DOTALL)
_MARKS = (b"#", b"//", b"/*")
_INDENT = re.compile(rb"[ \t]*")
_END = re.compile(rb"[)}\]]")


class Remark(NamedTuple):
    """A comment: its text, the path of the declaration it belongs to, and whether it stands behind it on the line."""

    text: bytes
    path: str
    is_behind: bool


# one function: where a comment belongs follows from what is before it, on its line, and behind it
def list_remarks(data: bytes) -> list[Remark]:
    """The comments of a text layer in their order; the line that names the format is none."""
    spans = [(m.start(), m.end()) for m in _LITERAL.finditer(data) if m.group().startswith(_MARKS)]
    spans = [span for span in spans if span[0] > 0]
    if not spans:
        return []
    places = sorted((offset, path) for path, offset in outline_text(data).items())
    offsets = [offset for offset, _ in places]
    found = []
    for start, end in spans:
        line = data.rfind(b"\n", 0, start) + 1
        before = bisect_right(offsets, start) - 1
        is_behind = bool(data[line:start].strip()) and offsets[before] >= line
        after = before + 1
        follows = after < len(places) and before > 0 and not _ends_block(data, end, offsets[after])
        at = after if follows and not is_behind else before
        found.append(Remark(data[start:end], places[at][1], is_behind and before > 0))
    return found


def _ends_block(data: bytes, start: int, end: int) -> bool:
    """Does a bracket close between two places, outside of literals?"""
    return _END.search(_LITERAL.sub(b"", data[start:end])) is not None


def carry_remarks(old: bytes, new: bytes) -> tuple[bytes, int]:
    """The new text with the comments of the old one, and how many have no place in it any more."""
    remarks = list_remarks(old)
    if not remarks:
        return new, 0
    places = outline_text(new)
    inserts: dict[int, list[bytes]] = {}
    lost = 0
    for remark in remarks:
        if remark.path not in places:
            lost += 1
            continue
        line = new.rfind(b"\n", 0, places[remark.path]) + 1 if remark.path != "/" else new.find(b"\n") + 1
        blank = _INDENT.match(new, line) if remark.path != "/" else None
        indent = blank[0] if blank else b""
        if remark.is_behind:
            end = new.find(b"\n", line)
            inserts.setdefault(end if end >= 0 else len(new), []).append(b"  " + remark.text)
        else:
            inserts.setdefault(line, []).append(indent + remark.text + b"\n")
    merged = _insert(new, inserts)
    # a comment must not change a byte of what the layer says
    return (merged, lost) if _says_the_same(merged, new) else (new, len(remarks))


def _insert(text: bytes, inserts: dict[int, list[bytes]]) -> bytes:
    parts, done = [], 0
    for offset, pieces in sorted(inserts.items()):
        parts += [text[done:offset], *pieces]
        done = offset
    return b"".join([*parts, text[done:]])


def _says_the_same(merged: bytes, plain: bytes) -> bool:
    texts = []
    for data in (merged, plain):
        layer = Sdf.Layer.CreateAnonymous(".usda")
        try:
            if not layer.ImportFromString(data.decode("utf-8", "surrogateescape")):
                return False
        except (Tf.ErrorException, UnicodeError):
            return False
        texts.append(layer.ExportToString())
    return bool(texts[0] == texts[1])
