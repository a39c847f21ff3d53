# SPDX-License-Identifier: Apache-2.0
"""An asset with moving joints brings its own articulation root.

Why: a gripper or arm that is loaded alone should simulate in reduced coordinates without further editing.

Fails: an arm with driven joints and no PhysicsArticulationRootAPI.
Passes: the same with the API on its base link, or on the fixed joint that holds it to the world; the composing stage
prunes it where the arm is mounted.

Fix: unsafe.  The API goes to the fixed joint to the world, else to the base link; whether it should be an articulation
is a choice.

Reading: a prop with one passive joint (a door, a lid) simulates as well without; there it is an info.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "artic-self-contained",
    "1.3",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="apply PhysicsArticulationRootAPI to the fixed joint to the world, else to the base link",
)
def artic_self_contained(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per mechanism without a root."""
    for component in snapshot.graph.components:
        moving = component.moving
        if not moving or component.roots:
            continue
        # one passive joint is simulated equally well in maximal coordinates
        simple = len(moving) == 1 and not moving[0].joint.has("PhysicsDriveAPI")
        what = "1 moving joint" if len(moving) == 1 else f"{len(moving)} moving joints"
        place = (component.anchor or component.base).path
        yield Finding(
            f"the mechanism of {component.base.name} has {what} and no articulation root",
            hint=f'add "PhysicsArticulationRootAPI" to the apiSchemas of {place}',
            at=component.base,
            level=Level.INFO if simple else None,
            data={"joints": [edge.joint.path for edge in moving], "place": place},
        )
