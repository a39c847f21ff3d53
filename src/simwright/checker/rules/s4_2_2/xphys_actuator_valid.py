# SPDX-License-Identifier: Apache-2.0
"""An actuator names the revolute or prismatic joints it acts on.

Why: the motor's effort is one number along one axis; on a fixed or a spherical joint it has no meaning, and without
a target it acts on nothing.

Fails: ExtendedPhysicsActuatorAPI without targets; with a body, a fixed joint or a missing prim as target; with a
revolute and a prismatic joint together.
Passes: `rel ext_physics:actuator:targets = </arm/shoulder>`.

Fix: none.  Only the author knows which joint is meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

TARGETS = "ext_physics:actuator:targets"
_KINDS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint")


@rule("xphys-actuator-valid", "4.2.2", "must", on="api:ExtendedPhysicsActuatorAPI")
def xphys_actuator_valid(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every target by itself, then their kinds together."""
    targets = node.targets(TARGETS)
    if not targets:
        yield Finding(
            f"{TARGETS} has no target: the actuator acts on nothing",
            hint=f"write rel {TARGETS} = </path/of/the/joint>",
            prop=TARGETS,
        )
        return
    kinds: set[str] = set()
    for path in targets:
        joint = snapshot.node(path)
        kind = next((name for name in _KINDS if joint is not None and joint.is_a(name)), "")
        if kind:
            kinds.add(kind)
            continue
        found = "is not a prim" if joint is None else f"is {joint.type or 'a prim without a type'}"
        yield Finding(
            f"{TARGETS} leads to {path}, which {found}, not a revolute or prismatic joint",
            hint="target a PhysicsRevoluteJoint or a PhysicsPrismaticJoint",
            prop=TARGETS,
        )
    # gains are per radian or per metre: one number cannot be both
    if len(kinds) > 1:
        yield Finding(
            f"{TARGETS} mixes revolute and prismatic joints: gains and ranges have one unit",
            hint="use one actuator for the revolute joints and one for the prismatic ones",
            prop=TARGETS,
        )
