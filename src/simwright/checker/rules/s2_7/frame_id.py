# SPDX-License-Identifier: Apache-2.0
"""A ros:frame:id that is authored is a frame id that tf2 accepts.

Why: tf2 has no leading slash; lookups of "/tool0" are refused, and an empty id is dropped.

Fails: `string ros:frame:id = "/tool0"`, an empty id, an id with spaces.
Passes: `string ros:frame:id = "tool0"`, or none at all: then the prim name is the id.

Fix: safe.  tf2 itself removes a leading slash when a transform arrives, so the id stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable


@rule(
    "frame-id",
    "2.7",
    "must",
    on="api:RosFrameAPI",
    fix="safe",
    fix_title="remove the leading slash",
)
def frame_id(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Absence is fine: the attribute is optional."""
    value = node.authored("ros:frame:id")
    if value is None:
        return
    problem = _find_problem(value)
    if problem:
        yield Finding(
            f"ros:frame:id {problem}",
            hint='write string ros:frame:id = "name", or leave it out to use the prim name',
            prop="ros:frame:id",
            data={"value": str(value)},
            # a leading slash can go; another name is for the author to choose
            fix=None if isinstance(value, str) and not _find_problem(value.lstrip("/")) else Fixable.NO,
        )


def _find_problem(value: object) -> str:
    if not isinstance(value, str):
        return f"is {value!r}, which is not text"
    if not value.strip():
        return "is empty"
    # tf2 strips the slash on arrival and refuses it in look-ups
    if value.startswith("/"):
        return f"is {value!r}: tf2 allows no leading slash"
    if any(character.isspace() for character in value):
        return f"is {value!r}: frame ids have no spaces"
    return ""
