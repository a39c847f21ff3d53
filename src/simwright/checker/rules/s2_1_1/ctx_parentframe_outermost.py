# SPDX-License-Identifier: Apache-2.0
"""ros:context:parent_frame is only authored on the outermost context.

Why: it names the frame in which the true pose of the whole robot is sent.  On a nested context simulators
have to ignore it, so the line does nothing and misleads the reader.

Fails: a camera context inside a robot context with `string ros:context:parent_frame = "map"`.
Passes: the same line on the robot; two robots side by side, each with its own.

Reading: a warning.  A part that says it for standalone use and is nested by a reference is only mentioned
(info): the part is right by itself.

Fix: safe.  The opinion has no effect, so removing it changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import is_local
from simwright.checker.facts.names import nearest_context
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_NAME = "ros:context:parent_frame"


@rule(
    "ctx-parentframe-outermost",
    "2.1.1",
    "must",
    on="api:RosContextAPI",
    fix="safe",
    fix_title="remove the opinion, which has no effect here",
)
def ctx_parentframe_outermost(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only an authored value counts: the schema's fallback is on every context."""
    value = node.authored(_NAME)
    if value is None:
        return
    above = nearest_context(node)
    if above is not None:
        yield Finding(
            f"{_NAME} = {value!r} has no effect: this context is inside the context {above.path}",
            hint=f"remove it here; the frame of the robot is said on {above.path} or above",
            at=node,
            prop=_NAME,
            # a part that is right on its own is not at fault for being mounted
            level=Level.WARNING if is_local(node, _NAME) else Level.INFO,
            data={"value": str(value), "above": above.path},
        )
