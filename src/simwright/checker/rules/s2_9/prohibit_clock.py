# SPDX-License-Identifier: Apache-2.0
"""No asset has an interface on /clock.

Why: simulation time belongs to the simulator.  A second clock from a robot makes time jump for every node.

Fails: a topic whose resolved name is /clock (a bare `clock` without a namespace is one), or any topic of type
rosgraph_msgs/msg/Clock, whichever role it has.  A node of an execution graph that does the same is a warning.
Passes: `clock` below a context with a namespace, such as /robot/clock, with another type.

Fix: unsafe.  The interface is removed; whether something relied on it cannot be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.bridges import find_clock_nodes
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# ROS 2 and ROS 1 spelling
CLOCK = ("rosgraph_msgs/msg/Clock", "rosgraph_msgs/Clock")


@rule(
    "prohibit-clock",
    "2.9",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="remove the interface",
)
def prohibit_clock(snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the resolved name or by the type; nodes of graphs by what they do."""
    for facts in snapshot.layers:
        if facts.counts[Domain.VENDOR]:
            yield from _check_graphs(facts)
    if not snapshot.interfaces:
        return
    for interface in snapshot.names.interfaces:
        if interface.kind != "topic":
            continue
        by_type = interface.type in CLOCK
        if by_type or interface.resolved == "/clock":
            what = f"of type {interface.type}" if by_type else "called /clock"
            yield Finding(
                f"a topic {what} is in the asset; simulation time is the simulator's",
                hint="remove RosTopicAPI from this prim, or remove the prim",
                at=interface.node,
                prop="ros:topic:type" if by_type else "ros:topic:name",
            )


def _check_graphs(facts: LayerFacts) -> Iterator[Finding]:
    for path, kind in find_clock_nodes(facts):
        yield Finding(
            f"the graph node {kind} is for /clock; simulation time is the simulator's",
            hint="remove the node; the simulator that runs the asset has a clock of its own",
            at=path,
            layer=facts.layer,
            level=Level.WARNING,
        )
