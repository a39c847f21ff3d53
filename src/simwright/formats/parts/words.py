# SPDX-License-Identifier: Apache-2.0
"""Words that XML can hold, and words for what a finding is about."""

from __future__ import annotations

import re
from typing import Any

_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean_text(text: str) -> str:
    """The text with ``_`` for each character that XML forbids, such as a NUL."""
    return _ILLEGAL.sub("_", text)


def name_of(element: Any) -> str:
    """What an element is called in a finding."""
    if isinstance(element, str):
        return element
    return str(getattr(element, "name", "") or getattr(element, "follower", "") or getattr(element, "a", ""))
