# SPDX-License-Identifier: Apache-2.0
"""An action says its role: server or client.

Why: without it a simulator does not know whether to answer or to ask.  Simulated robots nearly always answer.

Fails: no `ros:action:role`; `"provider"`; a role declared as string.
Passes: `token ros:action:role = "server"`.

Fix: none.  Only the author knows the right role.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_token
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("act-role", "2.6", "must", on="api:RosActionAPI")
def act_role(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """The schema has no fallback for it."""
    yield from check_token(node, "ros:action:role", ("server", "client"), required=True)
