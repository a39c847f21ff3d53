# SPDX-License-Identifier: Apache-2.0
"""What operations act on: entries by index or range, joints and shapes by label.

``range`` is ``all``, ``head:N``, ``tail:N``, ``from:N``, ``[start, end]`` (half open, null is the end) or an index.
``joint`` is an id, a label, or the unique end of a label after a slash.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator, Field, ValidationInfo, WithJsonSchema, model_validator

from simwright.core.documents.record import Record, refuse
from simwright.scenes.document_values import is_compat

_WORD = re.compile(r"\s*(?:(all)|(head|tail|from)\s*:\s*([+-]?\d{1,9}))\s*\Z")


class Span(NamedTuple):
    """A range as written: ``kind`` all, head, tail, from, between or index."""

    kind: str = "all"
    first: int = 0
    last: int | None = None

    def list_entries(self, count: int) -> range:
        """Entries of an array of ``count``; what lies beyond its ends is cut off."""
        if self.kind == "head":
            return range(max(0, min(self.first, count)))
        if self.kind == "tail":
            return range(max(0, count - max(0, self.first)), count)
        if self.kind == "from":
            return range(_from_end(self.first, count), count)
        if self.kind == "between":
            # reversed ranges are empty, as in Python
            end = count if self.last is None else _from_end(self.last, count)
            return range(_from_end(self.first, count), max(_from_end(self.first, count), end))
        if self.kind == "index":
            number = self.first + count if self.first < 0 else self.first
            return range(number, number + 1) if 0 <= number < count else range(0)
        return range(count)

    def is_beyond(self, count: int) -> bool:
        """Does it name entries that are not there?"""
        if self.kind in {"head", "tail"}:
            return self.first > count
        if self.kind == "index":
            return not -count <= self.first < count
        if self.kind == "between":
            return max(self.first, self.last or 0) > count or min(self.first, self.last or 0) < -count
        return self.kind == "from" and not -count <= self.first <= count

    def __str__(self) -> str:
        if self.kind == "between":
            return f"range [{self.first}, {'null' if self.last is None else self.last}]"
        if self.kind == "index":
            return f"index {self.first}"
        return "range all" if self.kind == "all" else f"range {self.kind}:{self.first}"


EVERYTHING = Span()


def _from_end(number: int, count: int) -> int:
    return max(0, min(count, number + count if number < 0 else number))


def read_span(value: Any) -> Any:
    """A range from what is written."""
    # one case for each spelling of the format; bool is an int to Python, and is none here
    if isinstance(value, Span):
        return value
    if isinstance(value, str) and (match := _WORD.match(value.lower())):
        return Span() if match[1] else Span(match[2], _need_count(match[2], int(match[3])))
    if isinstance(value, int) and not isinstance(value, bool):
        return Span("index", value)
    if isinstance(value, list | tuple) and len(value) == 2:
        first, last = 0 if value[0] is None else value[0], value[1]
        if _is_whole(first) and (last is None or _is_whole(last)):
            return Span("between", int(first), None if last is None else int(last))
    raise refuse("is not a range: all, head:N, tail:N, from:N or [start, end]")


def _need_count(word: str, number: int) -> int:
    if number < 0 and word != "from":
        raise refuse(f"{word}: needs a number of entries, not {number}")
    return number


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


RANGE_SCHEMA: dict[str, Any] = {
    "anyOf": [
        {"type": "string", "pattern": r"^(all|(head|tail):\d+|from:-?\d+)$"},
        {
            "type": "array",
            "items": {"type": ["integer", "null"]},
            "minItems": 2,
            "maxItems": 2,
        },
        {"type": "integer"},
    ],
    "description": "all, head:N, tail:N, from:N, [start, end] (half open; null is the end), or an index",
    "examples": ["all", "head:6", "from:6", [0, 3]],
}
Range = Annotated[Span, BeforeValidator(read_span), WithJsonSchema(RANGE_SCHEMA)]


def read_inner_span(value: Any, info: ValidationInfo) -> Any:
    """A range, also as a mapping ``{range: ...}`` or ``{index: ...}``, which is all SAP Warp takes."""
    if isinstance(value, dict):
        return EntrySelector.model_validate(value, context=info.context).span
    return read_span(value)


InnerRange = Annotated[
    Span,
    BeforeValidator(read_inner_span),
    WithJsonSchema(
        {"anyOf": [*RANGE_SCHEMA["anyOf"], {"type": "object"}], "description": RANGE_SCHEMA["description"]}
    ),
]


class EntrySelector(Record):
    """Entries of an array by index or range; all, if nothing is said."""

    index: int | None = Field(default=None, description="one entry; negative counts from the end")
    range: Range | None = Field(default=None, description=RANGE_SCHEMA["description"])

    @model_validator(mode="after")
    def _check_entries(self, info: ValidationInfo) -> EntrySelector:
        if self.index is not None and self.range is not None and not is_compat(info):
            raise refuse("says both 'index' and 'range'")
        return self

    @property
    def span(self) -> Span:
        """What is said, as a range."""
        if self.index is not None:
            return Span("index", self.index)
        return self.range or EVERYTHING

    @property
    def has_span(self) -> bool:
        """Is an index or a range said?"""
        return self.index is not None or self.range is not None


class LabelSelector(EntrySelector):
    """Shapes by range, or by their label."""

    label_prefix: str | None = Field(default=None, min_length=1, description="every label that begins so")
    match: str | None = Field(default=None, min_length=1, description="every label that has this in it")

    @model_validator(mode="after")
    def _check_ways(self, info: ValidationInfo) -> LabelSelector:
        ways = self.list_ways()
        if len(ways) > 1 and not is_compat(info):
            raise refuse(f"chooses in {len(ways)} ways: {', '.join(ways)}; say one")
        return self

    def list_ways(self) -> list[str]:
        """The kinds of choice that are said."""
        ways = [name for name in ("label_prefix", "match") if getattr(self, name) is not None]
        return [*ways, "range"] if self.has_span else ways


class JointSelector(LabelSelector):
    """Freedoms by range, or those of joints by their label."""

    joint: str | int | None = Field(default=None, description="id, label, or end of a label after a slash")
    joint_label: str | int | None = Field(default=None, description="the same as joint")
    joints: list[str | int] | None = Field(default=None, description="several joints")
    joint_labels: list[str | int] | None = Field(default=None, description="the same as joints")

    def list_ways(self) -> list[str]:
        """The kinds of choice that are said."""
        own = ("joint", "joint_label", "joints", "joint_labels")
        return [name for name in own if getattr(self, name) is not None] + super().list_ways()

    @property
    def references(self) -> list[str | int] | None:
        """The joints that are named, if any are."""
        for single in (self.joint, self.joint_label):
            if single is not None:
                return [single]
        return self.joints if self.joints is not None else self.joint_labels

    @property
    def names_joints(self) -> bool:
        """Is there any choice by joint?"""
        return self.references is not None or self.label_prefix is not None or self.match is not None


class AmbiguousLabelError(LookupError):
    """Several labels fit."""


def find_label(name: str, labels: Sequence[str]) -> int:
    """The index of a label: exactly, or by its unique end after a slash; a LookupError says what is wrong."""
    # an exact label counts before ends, or "arm" could not be named beside "left/arm"
    exact = [index for index, label in enumerate(labels) if label == name]
    found = exact or [index for index, label in enumerate(labels) if label.endswith(f"/{name}")]
    if len(found) == 1:
        return found[0]
    if found:
        shown = ", ".join(repr(labels[index]) for index in found[:3])
        raise AmbiguousLabelError(f"{name!r} fits {len(found)} labels: {shown}")
    close = difflib.get_close_matches(
        name, [part for label in labels for part in (label, label.rsplit("/", 1)[-1])], n=1
    )
    advice = f"; did you mean {close[0]!r}?" if close else ""
    raise LookupError(f"there is no {name!r}{advice}")


def match_labels(selector: LabelSelector, labels: Sequence[str]) -> list[int]:
    """Indices of labels by prefix or by a part; the prefix counts if both are said."""
    if selector.label_prefix is not None:
        return [index for index, label in enumerate(labels) if label.startswith(selector.label_prefix)]
    part = selector.match or ""
    return [index for index, label in enumerate(labels) if part in label]
