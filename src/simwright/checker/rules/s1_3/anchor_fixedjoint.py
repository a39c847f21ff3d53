# SPDX-License-Identifier: Apache-2.0
"""A fixed base is anchored by a PhysicsFixedJoint with an empty physics:body0.

Why: an empty body0 is the world for every reader.  With the bodies swapped, or a scenery prim as body0, parsers
disagree about which end is the parent, and some take the base for a moving one.

Fails: body0 = the base and body1 empty; body0 = a prim that is not a rigid body; body0 = a prim that is not there.
Passes: `rel physics:body1 = </robot/base_link>` alone.

Fix: unsafe.  Bodies and local frames are swapped together; a prim that is not a body is replaced by the world and
its place moves into `physics:localPos0` and `physics:localRot0`.

Reading: a mobile robot has no anchor, so only malformed anchors are reported.  A prim that is not a body means the
world too, but the REP asks for an empty relationship.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.graph import JointEdge
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "anchor-fixedjoint",
    "1.3",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="swap the bodies and their local frames, so that body0 is empty",
)
def anchor_fixedjoint(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Fixed joints with the world at one end."""
    for edge in snapshot.graph.edges:
        if edge.is_fixed and edge.to_world and edge.enabled:
            yield from _check_anchor(edge)


def _check_anchor(edge: JointEdge) -> Iterator[Finding]:
    joint, base = edge.joint, edge.held
    assert base is not None
    # exactly one end is the world here, so the other one names the base
    world_end = "physics:body0" if edge.body0 is None else "physics:body1"
    targets = joint.targets(world_end)
    if edge.missing:
        yield Finding(
            f"{world_end} leads to {edge.missing[0]}, where there is no prim, so {base.name} hangs on the world",
            hint=f"remove {world_end} if that is meant, else correct the target",
            at=joint,
            prop=world_end,
        )
    elif edge.body0 is not None:
        yield Finding(
            f"the anchor of {base.name} has the world as body1; it must be body0 that is empty",
            hint=f"physics:body1 = <{base.path}>, no physics:body0, and swap localPos0/1 and localRot0/1",
            at=joint,
            prop="physics:body0",
        )
    elif targets:
        yield Finding(
            f"physics:body0 of the anchor is {targets[0]}, which is not a rigid body and so means the world",
            hint="remove physics:body0 and give localPos0 and localRot0 in the world's frame",
            at=joint,
            prop="physics:body0",
        )
