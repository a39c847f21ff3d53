# SPDX-License-Identifier: Apache-2.0
"""An action has a type.

Why: the type says what is sent; without one, nothing can be made.

Fails: no `ros:action:type`, an empty one, or one declared as token.
Passes: `string ros:action:type = "control_msgs/action/FollowJointTrajectory"`.

Reading: whether the type is well formed and known is asked by type-resolve, whether it is a action type by
type-kind-match.

Fix: none.  A type cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("act-type", "2.6", "must", on="api:RosActionAPI")
def act_type(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:action:type", "string", "control_msgs/action/FollowJointTrajectory")
