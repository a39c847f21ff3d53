# SPDX-License-Identifier: Apache-2.0
"""Animated bodies that physics does not drive set physics:kinematicEnabled = true.

Why: otherwise the solver and the animation both move the body.

Fails: a rigid body with time samples on `xformOp:translate` (its own, or of a prim above it).
Passes: the same with `uniform bool physics:kinematicEnabled = true`.

Fix: unsafe.  The samples could also be a recording that should go.

Reading: value clips count as samples.  Bodies carried by an animated body are not reported again.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import read_stack
from simwright.checker.rule import Finding, rule


@rule(
    "kinematic-enabled",
    "1.3",
    "should",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="author physics:kinematicEnabled = true",
)
def kinematic_enabled(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """The body itself, or a prim between it and the next body above."""
    # a stage without samples and clips needs no look at any prim
    source = _find_animated(node, snapshot) if snapshot.may_move else None
    if source is None or node.value("physics:kinematicEnabled") is True:
        return
    if node.value("physics:rigidBodyEnabled") is False:
        return
    where = "it" if source is node else source.path
    yield Finding(
        f"{node.name} is animated (time samples on {where}) but physics:kinematicEnabled is not true",
        hint="author physics:kinematicEnabled = true, or remove the samples if physics moves it",
        at=node,
        data={"animated": source.path},
    )


def _find_animated(node: PrimNode, snapshot: StageSnapshot) -> PrimNode | None:
    # bodies share their ancestors: each is asked once
    book: dict[int, bool] = snapshot.shared("animated", lambda _: {})
    if _is_animated(node, snapshot, book):
        return node
    if read_stack(node, snapshot).resets:
        return None
    for above in walk_up(node, snapshot):
        # the body above carries this one, and is reported itself
        if above.has("PhysicsRigidBodyAPI"):
            return None
        if _is_animated(above, snapshot, book):
            return above
        if read_stack(above, snapshot).resets:
            return None
    return None


def _is_animated(node: PrimNode, snapshot: StageSnapshot, book: dict[int, bool]) -> bool:
    found = book.get(id(node))
    if found is None:
        found = False
        for op in read_stack(node, snapshot).ops:
            attribute = node.prim.GetAttribute(op.name)
            if attribute and attribute.ValueMightBeTimeVarying():
                found = True
                break
        book[id(node)] = found
    return found
