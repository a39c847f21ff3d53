# SPDX-License-Identifier: Apache-2.0
"""A service has a type.

Why: the type says what is sent; without one, nothing can be made.

Fails: no `ros:service:type`, an empty one, or one declared as token.
Passes: `string ros:service:type = "std_srvs/srv/SetBool"`.

Reading: whether the type is well formed and known is asked by type-resolve, whether it is a srv type by
type-kind-match.

Fix: none.  A type cannot be guessed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_required
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("srv-type", "2.5", "must", on="api:RosServiceAPI")
def srv_type(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Authored, not empty, a string."""
    yield from check_required(node, "ros:service:type", "string", "std_srvs/srv/SetBool")
