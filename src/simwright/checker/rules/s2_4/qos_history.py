# SPDX-License-Identifier: Apache-2.0
"""QoS history is one of system_default, keep_last, keep_all.

Why: a value that is not known falls back to whatever a simulator likes, and with it the depth is used or not.

Fails: `token ros:topic:qos:history = "keeplast"` or `"last"`; a value declared as string.
Passes: `token ros:topic:qos:history = "keep_last"`, or none: system_default.

Fix: unsafe.  The closest of the three is written; it may not be what was meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_token
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "qos-history",
    "2.4",
    "must",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="write the closest allowed value",
)
def qos_history(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Not required; if it is there, one of three."""
    yield from check_token(
        node, "ros:topic:qos:history", ("system_default", "keep_last", "keep_all"), required=False
    )
