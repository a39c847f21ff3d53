# SPDX-License-Identifier: Apache-2.0
"""A namespace is a bare name that can be joined to others.

Why: the effective namespace is the segments from the top down, joined by slashes.  A trailing slash gives an
empty part, `~` and `{}` are runtime substitutions that no simulator can resolve, and ROS refuses anything
but letters, digits and underscores.

Fails: `"robot_1/"`, `"{robot}"`, `"my robot"`, `"1st_robot"`.
Passes: `"robot_1"`; an empty string, which adds nothing; `"/robot_1"`, which starts again at the root.

Reading: whether a bare name may have an inner slash (`"fleet/robot_1"`) is not said: a warning.  The parts of
an absolute namespace have to be valid names too.

Fix: safe.  Trailing slashes are dropped; other characters are for the author to choose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.names import own_namespace
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level
from simwright.core.names import is_identifier, make_identifier

_NAME = "ros:context:namespace"


@rule(
    "ns-composable",
    "2.1.1",
    "must",
    on="api:RosContextAPI",
    fix="safe",
    fix_title="drop the trailing slash",
)
def ns_composable(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Check the text of one segment."""
    text = own_namespace(node)
    # empty adds nothing, and a bare slash is the root: both are legal (ns-absolute mentions the latter)
    if not text or text == "/":
        return
    fault, level = _find_fault(text)
    if fault:
        parts = [make_identifier(part) for part in text.split("/") if part.strip()]
        good = ("/" if text.startswith("/") else "") + "/".join(parts)
        yield Finding(
            f"the namespace {text!r} {fault}",
            hint=f'write string {_NAME} = "{good}"'
            if level is None
            else "give each part a context of its own",
            at=node,
            prop=_NAME,
            level=level,
            data={"value": text, "suggestion": good},
        )


def _find_fault(text: str) -> tuple[str, Level | None]:
    bare = text.removeprefix("/")
    # ROS expands these per node at run time; an asset has no node
    if re.search(r"[~{}]", text):
        return "has a runtime substitution (~ or {}), which assets cannot use", None
    if bare.endswith("/"):
        return "ends with a slash", None
    if "" in bare.split("/"):
        return "has an empty part", None
    wrong = next((part for part in bare.split("/") if not is_identifier(part)), None)
    if wrong is not None:
        return (
            f"is not a ROS name: {wrong!r} is not letters, digits and underscores, not starting with a digit",
            None,
        )
    if "__" in text:
        return "has a double underscore, which ROS 2 reserves", Level.WARNING
    if "/" in bare and not text.startswith("/"):
        return "has an inner slash, so it is not one bare name", Level.WARNING
    return "", None
