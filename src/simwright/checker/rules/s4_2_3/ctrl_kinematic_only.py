# SPDX-License-Identifier: Apache-2.0
"""A controller that sets the pose or velocity of a body acts on a kinematic body.

Why: writing poses or velocities into a dynamic body fights the solver: contacts and joints are overruled at every
step, and forces become arbitrary.

Fails: RosControlRigidBodyTwistAPI on a body without `physics:kinematicEnabled = true`.
Passes: the same body with `bool physics:kinematicEnabled = true`.

Fix: none.  Making a body kinematic changes how it behaves.

Reading: the twist controller sets velocities and not transforms, so a dynamic body can be meant (a drone); the
finding is only an info.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from simwright.checker.facts.controllers import find_controller
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_MOVES_BODIES = re.compile(r"RosControl\w*(RigidBody|Twist|Pose|Transform|Kinematic)")


@rule("ctrl-kinematic-only", "4.2.3", "should", on="api:RosControl*", heuristic=True)
def ctrl_kinematic_only(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Bodies that the controller targets directly."""
    controller = find_controller(node, snapshot)
    api = next((name for name in controller.apis if _MOVES_BODIES.match(name)), "")
    if not api:
        return
    for body in controller.commands:
        # a commanded joint has a drive, which does not fight the solver
        if body.has("PhysicsRigidBodyAPI") and body.value("physics:kinematicEnabled") is not True:
            yield Finding(
                f"{api} moves {body.path}, which is a dynamic body",
                hint="write bool physics:kinematicEnabled = true on the body if nothing else may move it",
                data={"body": body.path},
            )
