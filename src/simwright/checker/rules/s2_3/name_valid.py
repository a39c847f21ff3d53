# SPDX-License-Identifier: Apache-2.0
"""Interface names are ROS names.

Why: ROS refuses to create a topic with any other name, and the interface is missing at run time.

Fails: `"front camera/image"`, `"2d_scan"`, `"~/scan"`, `"{robot}/scan"`.
Passes: `"front_camera/image_raw"`.

Reading: the REP asks for letters, digits, underscores and slashes, not starting with a digit: an error.  ROS 2
also refuses empty parts (`a//b`, `a/`), parts that start with a digit and double underscores, hides parts that
start with an underscore, and limits the length: a warning.

Fix: unsafe.  Illegal characters become underscores; whoever subscribes has to follow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.names import KINDS, effective_namespace
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level
from simwright.core.names import make_identifier

# rmw_validate_full_topic_name: 255 characters of DDS less the prefix that ROS 2 adds
_LONGEST = 247


@rule(
    "name-valid",
    "2.3",
    "must",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="unsafe",
    fix_title="replace what ROS does not allow by underscores",
)
def name_valid(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Missing and empty names are reported by topic-name, srv-name and act-name."""
    for api, kind in KINDS.items():
        prop = f"ros:{kind}:name"
        value = node.authored(prop) if node.has(api) else None
        if not isinstance(value, str) or not value.strip():
            continue
        fault, level = _find_fault(value)
        if not fault and len(effective_namespace(node)) + 1 + len(value) > _LONGEST:
            fault, level = (
                f"is with its namespace longer than the {_LONGEST} characters ROS 2 allows",
                Level.WARNING,
            )
        if fault:
            good = _repair(value)
            yield Finding(
                f"the {kind} name {value!r} {fault}",
                hint=f'write string {prop} = "{good}"' if good != value else "choose a shorter name",
                at=node,
                prop=prop,
                level=level,
                data={"value": value, "suggestion": good},
            )


def _find_fault(name: str) -> tuple[str, Level | None]:
    wrong = sorted(set(re.findall(r"[^A-Za-z0-9_/]", name)))
    if wrong:
        shown = " ".join(repr(c) for c in wrong)
        return f"has {shown}; letters, digits, underscores and slashes are allowed", None
    parts = name.removeprefix("/").split("/")
    if parts[0][:1].isdigit():
        return "starts with a digit", None
    if "" in parts:
        return "has an empty part, which ROS 2 refuses", Level.WARNING
    digit = next((part for part in parts if part[0].isdigit()), "")
    if digit:
        return f"has the part {digit!r}, which starts with a digit; ROS 2 refuses that", Level.WARNING
    if "__" in name:
        return "has a double underscore, which ROS 2 refuses", Level.WARNING
    if any(part.startswith("_") for part in parts):
        return "has a part that starts with an underscore, which makes it hidden in ROS 2", Level.WARNING
    return "", None


def _repair(name: str) -> str:
    parts = [make_identifier(part) for part in name.removeprefix("~").split("/") if part.strip("_")]
    parts = [re.sub(r"_{2,}", "_", part) for part in parts]
    # make_identifier puts an underscore before a digit, which ROS 2 would hide
    parts = [f"n{part}" if part[1:2].isdigit() and part[0] == "_" else part.strip("_") for part in parts]
    return ("/" if name.startswith("/") else "") + "/".join(part for part in parts if part)
