# SPDX-License-Identifier: Apache-2.0
"""A topic has a type.

Why: the type says what is sent; without one, nothing can be made.

Fails: no `ros:topic:type`, an empty one, or one declared as token.
Passes: `string ros:topic:type = "sensor_msgs/msg/LaserScan"`.

Reading: whether the type is well formed and known is asked by type-resolve, whether it is a msg type by
type-kind-match.

Fix: none.  A type cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("topic-type", "2.4", "must", on="api:RosTopicAPI")
def topic_type(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:topic:type", "string", "sensor_msgs/msg/LaserScan")
