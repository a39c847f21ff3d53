# SPDX-License-Identifier: Apache-2.0
"""QoS durability is one of system_default, transient_local, volatile.

Why: a value that is not known falls back to whatever a simulator likes, and late subscribers may get nothing.

Fails: `token ros:topic:qos:durability = "transient"` or `"latched"`; a value declared as string.
Passes: `token ros:topic:qos:durability = "transient_local"`, or none: system_default.

Fix: unsafe.  The closest of the three is written; it may not be what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_token
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "qos-durability",
    "2.4",
    "must",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="write the closest allowed value",
)
def qos_durability(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Not required; if it is there, one of three."""
    yield from check_token(
        node, "ros:topic:qos:durability", ("system_default", "transient_local", "volatile"), required=False
    )
