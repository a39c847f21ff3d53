# SPDX-License-Identifier: Apache-2.0
"""Names that people give to frames without a body: camera_optical_frame, tool0, tcp, base_footprint."""

from __future__ import annotations

import re
from functools import cache

_WORDS = frozenset({"optical", "frame", "tool0", "tcp", "footprint"})
_SPLIT = re.compile(r"[A-Z]?[a-z]+\d*|[A-Z]+(?![a-z])\d*|\d+")


@cache
def looks_like_frame(name: str) -> bool:
    """Is one of the words of a snake_case or camelCase name a frame's?"""
    return any(word.lower() in _WORDS for word in _SPLIT.findall(name))
