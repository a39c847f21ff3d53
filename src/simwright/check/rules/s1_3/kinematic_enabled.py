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

from pxr import UsdGeom

from simwright.check.lineage import walk_up
from simwright.check.rule import Finding, rule
from simwright.check.snapshot import Node, Snapshot


@rule(
    "kinematic-enabled",
    "1.3",
    "should",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="author physics:kinematicEnabled = true",
)
def kinematic_enabled(node: Node, snapshot: Snapshot) -> Iterator[Finding]:
    """The body itself, or a prim between it and the next body above."""
    source = _find_animated(node, snapshot)
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


def _find_animated(node: Node, snapshot: Snapshot) -> Node | None:
    book: dict[int, bool] = snapshot.shared("animated", lambda _: {})
    if _is_animated(node, book):
        return node
    if _resets(node):
        return None
    for above in walk_up(node, snapshot):
        if above.has("PhysicsRigidBodyAPI"):
            return None
        if _is_animated(above, book):
            return above
        if _resets(above):
            return None
    return None


def _is_animated(node: Node, book: dict[int, bool]) -> bool:
    if id(node) not in book:
        is_xform = "Xformable" in node.bases
        book[id(node)] = is_xform and UsdGeom.Xformable(node.prim).TransformMightBeTimeVarying()
    return book[id(node)]


def _resets(node: Node) -> bool:
    order = node.authored("xformOpOrder") if "Xformable" in node.bases else None
    return order is not None and "!resetXformStack!" in order
