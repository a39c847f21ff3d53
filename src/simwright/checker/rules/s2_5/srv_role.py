# SPDX-License-Identifier: Apache-2.0
"""A service says its role: server or client.

Why: without it a simulator does not know whether to answer or to ask.  Simulated robots nearly always answer.

Fails: no `ros:service:role`; `"provider"`; a role declared as string.
Passes: `token ros:service:role = "server"`.

Fix: none.  Only the author knows the right role.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_token
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("srv-role", "2.5", "must", on="api:RosServiceAPI")
def srv_role(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The schema has no fallback for it."""
    yield from check_token(node, "ros:service:role", ("server", "client"), required=True)
