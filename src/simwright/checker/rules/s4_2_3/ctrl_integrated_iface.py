# SPDX-License-Identifier: Apache-2.0
"""A controller that runs in the simulator references at least one ROS interface.

Why: its commands or its results travel through a topic, service or action.  Without one, nothing outside reaches it.

Fails: RosControlIntegratedAPI, or a schema with it built in, whose relationships lead to joints only.
Passes: `rel ros:diff_drive:subscriber = </robot/Interfaces/cmd_vel>`, a prim with RosTopicAPI.

Fix: none.  Only the author knows which interface is meant.

Reading: the schema's text speaks of "all prims referenced", but wheels are joints; one interface is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import find_controller
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("ctrl-integrated-iface", "4.2.3", "must", on="api:RosControl*")
def ctrl_integrated_iface(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Any relationship of the prim counts."""
    controller = find_controller(node, snapshot)
    # an external controller talks to hardware interfaces instead
    if controller.is_integrated and not controller.interfaces:
        yield Finding(
            "no relationship of this integrated controller leads to a ROS topic, service or action",
            hint="add a relationship to a prim with RosTopicAPI, RosServiceAPI or RosActionAPI",
        )
