# SPDX-License-Identifier: Apache-2.0
"""A joint that a controller commands has a drive for its axis, or an actuator.

Why: set points reach the physics through the targets of PhysicsDriveAPI (or through ExtendedPhysicsActuatorAPI).
Without either, a command has nowhere to go.

Fails: a wheel joint of a diff drive without PhysicsDriveAPI; PhysicsDriveAPI:angular on a prismatic joint.
Passes: PhysicsDriveAPI:angular on a revolute joint, :linear on a prismatic one; a joint that an
ExtendedPhysicsActuatorAPI targets; joints that are only observed.

Fix: unsafe.  A drive with zero gains is applied; gains and limits must be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import ControllerPrim, find_actuated, find_controllers
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_AXES = {"PhysicsRevoluteJoint": "angular", "PhysicsPrismaticJoint": "linear"}


@rule(
    "ctrl-drive",
    "4.2.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="apply PhysicsDriveAPI for the joint's axis, with zero gains",
)
def ctrl_drive(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Each commanded joint once, however many controllers command it."""
    if not snapshot.controllers:
        return
    actuated = find_actuated(snapshot)
    # two controllers for one joint are normal, one finding is enough
    commanded: dict[str, tuple[PrimNode, ControllerPrim]] = {}
    for controller in find_controllers(snapshot):
        for target in controller.commands:
            if target.is_a("PhysicsJoint"):
                commanded.setdefault(target.path, (target, controller))
    for joint, controller in commanded.values():
        if joint.path not in actuated:
            yield from _check(joint, controller)


def _check(joint: PrimNode, controller: ControllerPrim) -> Iterator[Finding]:
    if joint.type == "PhysicsFixedJoint":
        yield Finding(
            f"{controller.node.path} commands a fixed joint, which cannot move",
            hint="target a joint that moves",
            at=joint,
        )
        return
    drives = joint.instances("PhysicsDriveAPI")
    # a D6 joint has drives per axis, and which one is commanded is not said
    axis = _AXES.get(joint.type, "")
    if not drives:
        message = f"{controller.node.path} commands the joint, but it has no drive"
    elif axis and axis not in drives:
        message = f"the joint is {joint.type} but its drive is {', '.join(drives)}, it must be {axis}"
    else:
        return
    yield Finding(
        message,
        hint=f'write prepend apiSchemas = ["PhysicsDriveAPI:{axis or "rotX"}"] and its gains',
        at=joint,
    )
