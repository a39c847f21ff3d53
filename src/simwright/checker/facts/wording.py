# SPDX-License-Identifier: Apache-2.0
"""Numbers, lists of names and counts as messages show them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simwright.checker.facts.layers import Opinion


def show_number(value: float) -> str:
    """A number for messages, short."""
    return f"{value + 0.0:.6g}"


def show_numbers(values: Any) -> str:
    """Numbers for messages: ``(1, 0.5, 0)``."""
    return f"({', '.join(show_number(float(v)) for v in values)})"


def show_value(value: Any) -> str:
    """The value of an op for messages."""
    if hasattr(value, "GetReal"):
        return show_numbers((value.GetReal(), *value.GetImaginary()))
    try:
        return show_numbers(value)
    except (TypeError, ValueError):
        return show_number(value) if isinstance(value, (int, float)) else str(value)


def join_words(words: Sequence[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1] if words else "") if part)


def tally_domains(opinions: Iterable[Opinion]) -> str:
    """``12 physics and 3 ros opinions``; vendors by their names."""
    counts: Counter[str] = Counter()
    for content, count in Counter(map(attrgetter("content"), opinions)).items():
        counts[content.vendor or content.domain] += count
    words = join_words([f"{count} {name}" for name, count in counts.most_common()])
    return f"{words} {'opinion' if counts.total() == 1 else 'opinions'}"


def tally_names(names: Iterable[str], limit: int = 4) -> str:
    """``newton:armature (12), mjc:margin and 3 more``: the most frequent ones."""
    counts = Counter(names)
    shown = [f"{name} ({count})" if count > 1 else name for name, count in counts.most_common(limit)]
    more = len(counts) - len(shown)
    return join_words([*shown, f"{more} more"] if more > 0 else shown)


def count_things(count: int, thing: str) -> str:
    """``1 body``, ``2 bodies``."""
    if count == 1:
        return f"1 {thing}"
    return f"{count} {thing[:-1]}ies" if thing.endswith("dy") else f"{count} {thing}s"
