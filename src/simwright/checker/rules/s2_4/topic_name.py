# SPDX-License-Identifier: Apache-2.0
"""A topic has a name.

Why: it is what others call it by; without one, nothing can be made.

Fails: no `ros:topic:name`, an empty one, or one declared as token.
Passes: `string ros:topic:name = "scan"`.

Reading: whether the name is a legal ROS name is asked by name-valid.

Fix: none.  A name cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("topic-name", "2.4", "must", on="api:RosTopicAPI")
def topic_name(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:topic:name", "string", "scan")
