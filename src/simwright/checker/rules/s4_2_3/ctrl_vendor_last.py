# SPDX-License-Identifier: Apache-2.0
"""A vendor's actuator is used only where no standard one is enough.

Why: PhysicsDriveAPI moves revolute and prismatic joints in every engine.  A joint that has a vendor's motor alone
stands still everywhere else.

Fails: an MjcActuator whose target joint has neither PhysicsDriveAPI nor an ExtendedPhysicsActuatorAPI; a
joint with a vendor's motor API alone.
Passes: the vendor's actuator beside PhysicsDriveAPI, as a refinement; vendor APIs that do not actuate; muscles and
other laws that no drive has.

Fix: none.  Gains do not translate without knowing the vendor's model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.actuation import MJC, has_neutral_form
from simwright.checker.facts.controllers import find_actuated
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.vendors import vendor_of_schema
from simwright.checker.rule import Finding, rule

_ACTUATES = re.compile(r"Actuator|Motor|Servo|PDControl|PIDControl|Controller")
_TYPES = ("type:NewtonActuator", "type:MjcActuator", "type:PhysxActuator")
_APIS = ("api:Newton*", "api:Mjc*", "api:Physx*", "api:Isaac*", "api:Omni*", "api:Gazebo*", "api:Drake*")


@rule("ctrl-vendor-last", "4.2.3", "must", on=(*_TYPES, *_APIS), heuristic=True)
def ctrl_vendor_last(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the word in the schema's name; the joint is the prim itself or a target of one of its relationships."""
    names = (node.type, *(api.partition(":")[0] for api in node.apis))
    schema = next((name for name in names if vendor_of_schema(name) and _ACTUATES.search(name)), "")
    if not schema:
        return
    # muscles and motors on tendons: no drive could replace them
    if node.type == MJC and not has_neutral_form(node, snapshot):
        return
    actuated = snapshot.shared("ctrl.actuated", find_actuated)
    for joint in _find_joints(node, snapshot):
        if not joint.has("PhysicsDriveAPI") and joint.path not in actuated:
            yield Finding(
                f"{schema} is the only actuation of {joint.path}, which PhysicsDriveAPI could drive",
                hint="apply PhysicsDriveAPI, or target the joint with ExtendedPhysicsActuatorAPI",
                data={"joint": joint.path},
            )


def _find_joints(node: PrimNode, snapshot: StageSnapshot) -> list[PrimNode]:
    places = [node]
    for paths in node.relationships().values():
        targets = (snapshot.node(path) for path in paths)
        places.extend(target for target in targets if target is not None)
    kinds = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")
    found = {place.path: place for place in places if place.type in kinds}
    return list(found.values())
