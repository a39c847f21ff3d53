# SPDX-License-Identifier: Apache-2.0
"""Words that XML can hold."""

from __future__ import annotations

import re

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean_text(text: str) -> str:
    """The text with ``_`` for each character that XML forbids, such as a NUL."""
    return _ILLEGAL.sub("_", text)
