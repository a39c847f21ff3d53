# SPDX-License-Identifier: Apache-2.0
"""A topic says its role: publisher or subscription.

Why: without it a simulator does not know whether to send or to listen, and there is no default.

Fails: no `ros:topic:role`; `"subscriber"`; a role declared as string.
Passes: `token ros:topic:role = "publisher"`.

Fix: safe.  "subscriber", "pub", "Publisher" and the like have one meaning, and a string becomes a token; a
missing role is not guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_token
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

# words of ROS 1, of ROS 2 client libraries and of graph editors
_ALIASES = {
    "pub": "publisher", "publish": "publisher", "sender": "publisher", "output": "publisher",
    "sub": "subscription", "subscriber": "subscription", "subscribe": "subscription", "input": "subscription",
    "listener": "subscription",
}  # fmt: skip


@rule(
    "topic-role",
    "2.4",
    "must",
    on="api:RosTopicAPI",
    fix="safe",
    fix_title="write the role as ROS 2 spells it",
)
def topic_role(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The schema has no fallback for it."""
    yield from check_token(
        node, "ros:topic:role", ("publisher", "subscription"), required=True, aliases=_ALIASES
    )
