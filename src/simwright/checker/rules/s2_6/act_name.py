# SPDX-License-Identifier: Apache-2.0
"""An action has a name.

Why: it is what others call it by; without one, nothing can be made.

Fails: no `ros:action:name`, an empty one, or one declared as token.
Passes: `string ros:action:name = "arm/follow_joint_trajectory"`.

Reading: whether the name is a legal ROS name is asked by name-valid.

Fix: none.  A name cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("act-name", "2.6", "must", on="api:RosActionAPI")
def act_name(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:action:name", "string", "arm/follow_joint_trajectory")
