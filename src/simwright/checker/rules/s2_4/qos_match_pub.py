# SPDX-License-Identifier: Apache-2.0
"""ros:topic:qos:match_publisher is a bool, and only authored on subscriptions.

Why: a subscription can take over the quality of service of the publisher it finds; a publisher has nothing to
match.  When it matches, explicit reliability and durability are ignored.

Fails: `bool ros:topic:qos:match_publisher = true` on a publisher, or together with a reliability.
Passes: the same on a subscription without other QoS values; false anywhere.

Fix: safe.  What has no effect is removed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import check_declared
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:topic:qos:match_publisher"
_IGNORED = ("ros:topic:qos:reliability", "ros:topic:qos:durability")


@rule(
    "qos-match-pub",
    "2.4",
    "may",
    on="api:RosTopicAPI",
    fix="safe",
    fix_title="remove what has no effect",
)
def qos_match_pub(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only authored values count: with the schema registered every topic has fallbacks."""
    value = node.authored(_NAME)
    if value is None:
        return
    faults = list(check_declared(node, _NAME, "bool"))
    yield from faults
    if faults or value is not True:
        return
    if node.authored("ros:topic:role") == "publisher":
        yield Finding(
            f"{_NAME} is true on a publisher, where it has no meaning",
            hint="remove it; only subscriptions match",
            at=node,
            prop=_NAME,
        )
        return
    for name in _IGNORED:
        said = node.authored(name)
        # system_default asks for nothing, so nothing is ignored
        if said is not None and said != "system_default":
            yield Finding(
                f"{name} = {said!r} is ignored, because match_publisher is true",
                hint="remove one of the two",
                at=node,
                prop=name,
            )
