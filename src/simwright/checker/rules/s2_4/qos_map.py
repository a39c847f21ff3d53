# SPDX-License-Identifier: Apache-2.0
"""Map publishers keep their last message for late subscribers.

Why: a map is sent once or rarely.  Only with transient_local durability does a planner that starts later get
it (REP 2003).

Fails: a publisher of nav_msgs/msg/OccupancyGrid without durability, or with `"volatile"`.
Passes: `token ros:topic:qos:durability = "transient_local"`.  Subscriptions are not asked.

Fix: unsafe.  Setting the durability changes what late subscribers get.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.interfaces import MAP_TYPES
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAME = "ros:topic:qos:durability"


@rule(
    "qos-map",
    "2.4",
    "should",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="set durability to transient_local",
)
def qos_map(node: PrimNode, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """Map types are known by name."""
    type_name = node.authored("ros:topic:type")
    # a subscription follows its publisher
    if type_name not in MAP_TYPES or node.authored("ros:topic:role") != "publisher":
        return
    value = node.authored(_NAME)
    if value != "transient_local":
        said = "no durability" if value is None else f"the durability {value!r}"
        yield Finding(
            f"the map publisher ({type_name}) has {said}",
            hint=f'write token {_NAME} = "transient_local"',
            at=node,
            prop=_NAME,
            data={"type": type_name},
        )
