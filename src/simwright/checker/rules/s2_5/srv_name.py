# SPDX-License-Identifier: Apache-2.0
"""A service has a name.

Why: it is what others call it by; without one, nothing can be made.

Fails: no `ros:service:name`, an empty one, or one declared as token.
Passes: `string ros:service:name = "set_light"`.

Reading: whether the name is a legal ROS name is asked by name-valid.

Fix: none.  A name cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("srv-name", "2.5", "must", on="api:RosServiceAPI")
def srv_name(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:service:name", "string", "set_light")
