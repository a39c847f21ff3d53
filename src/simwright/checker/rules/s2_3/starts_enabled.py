# SPDX-License-Identifier: Apache-2.0
"""ros:*:starts_enabled, if given, is a bool.

Why: a simulator that asks for a bool and finds a string or a number takes the default, true, and starts what
was meant to wait.

Fails: `int ros:topic:starts_enabled = 0`.
Passes: `bool ros:topic:starts_enabled = false`, or none: enabled.

Fix: safe.  0 and 1, "true" and "false" become bools.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.names import KINDS
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "starts-enabled",
    "2.3",
    "may",
    on=("api:RosTopicAPI", "api:RosServiceAPI", "api:RosActionAPI"),
    fix="safe",
    fix_title="declare it as bool",
)
def starts_enabled(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the layers for the declared type."""
    for api, kind in KINDS.items():
        if node.has(api):
            # a registered schema answers with its own type, so the declaration in the layers is read
            yield from check_declared(node, f"ros:{kind}:starts_enabled", "bool")
