# SPDX-License-Identifier: Apache-2.0
"""Text of untrusted input, made safe to show.

Control characters could drive a terminal, bidirectional marks could reorder a line, zero-width characters hide a
difference, and half a surrogate pair cannot be encoded.  :func:`make_visible` shows them instead.  What is *kept* of an
input, in files and in the fields of findings, stays as it is.
"""

from __future__ import annotations

import re
import unicodedata

_CONTROL_PICTURES = 0x2400
_DELETE_PICTURE = "\u2421"
_HIDDEN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_SUSPECTS = re.compile(r"[^ -~]")


def make_visible(text: str, keep: str = "") -> str:
    """The text with every control, format and surrogate character shown; those in ``keep`` stay."""
    # nearly all texts are plain, and this runs for each of them
    if text.isascii() and text.isprintable():
        return text
    return "".join(char if char in keep else show_character(char) for char in text)


def show_character(char: str) -> str:
    """The character, or a visible stand-in: a control picture, or ``<U+202E>`` for a hidden one."""
    code = ord(char)
    if code < 0x20:
        return chr(_CONTROL_PICTURES + code)
    if code == 0x7F:
        return _DELETE_PICTURE
    return f"<U+{code:04X}>" if is_hidden(char) else char


def is_hidden(char: str) -> bool:
    """Does the character steer how others are shown, or not show at all?"""
    return unicodedata.category(char) in _HIDDEN


def escape_json(text: str) -> str:
    """JSON text that means the same, without hidden characters: all that are in it are inside of strings."""
    if text.isascii():
        return text.replace("\x7f", "\\u007f")
    return _SUSPECTS.sub(_escape, text)


def _escape(found: re.Match[str]) -> str:
    char = found[0]
    if char in "\n\t\r" or not is_hidden(char):
        return char
    code = ord(char)
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
