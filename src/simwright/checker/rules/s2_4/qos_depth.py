# SPDX-License-Identifier: Apache-2.0
"""QoS depth is a positive int, authored together with keep_last.

Why: the depth is the length of the queue, and is used only when history is keep_last.  Zero or less is no
queue; with another history the number does nothing.

Fails: `int ros:topic:qos:depth = 0`; a depth without `history = "keep_last"`.
Passes: `token ros:topic:qos:history = "keep_last"` with `int ros:topic:qos:depth = 5`, or no depth: 10.

Fix: none.  How many messages are to wait is a choice.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:topic:qos:depth"


@rule("qos-depth", "2.4", "may", on="api:RosTopicAPI")
def qos_depth(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only an authored depth counts."""
    value = node.authored(_NAME)
    if value is None:
        return
    faults = list(check_declared(node, _NAME, "int"))
    if faults or not isinstance(value, int):
        yield from faults
        return
    history = node.authored("ros:topic:qos:history")
    if value <= 0:
        yield Finding(
            f"{_NAME} is {value}, it must be positive",
            hint=f"write the queue length, for example int {_NAME} = 10",
            at=node,
            prop=_NAME,
            data={"value": value},
        )
    # rmw reads the depth for keep_last only; system_default may be keep_all
    elif history != "keep_last":
        said = "not said" if history is None else repr(history)
        yield Finding(
            f"{_NAME} = {value} is not used: history is {said}",
            hint='write token ros:topic:qos:history = "keep_last", or remove the depth',
            at=node,
            prop=_NAME,
            data={"value": value},
        )
