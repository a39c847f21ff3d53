# SPDX-License-Identifier: Apache-2.0
"""Collision geometry has the purpose guide, authored explicitly.

Why: otherwise renderers draw the colliders over the visuals, and cameras in the simulation see them.

Fails: a collider whose purpose nobody authored, or with the purpose `render`.
Passes: `uniform token purpose = "guide"` on the collider or on the scope above it.

Fix: unsafe.  A collider that is also the only visible geometry of its link gets a copy without physics to be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.body_shapes import find_shapes, is_geometry
from simwright.checker.facts.lineage import find_body, find_purposes
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "coll-purpose-guide",
    "1.3.1",
    "should",
    on="api:PhysicsCollisionAPI",
    fix="unsafe",
    fix_title='author purpose = "guide" on the collider',
)
def coll_purpose_guide(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Opinions of the prim and above, through every instance."""
    # a type that OpenUSD does not know has no purpose attribute
    if "Imageable" not in node.bases or not is_geometry(node):
        return
    wrong = find_purposes(node, snapshot) - {"guide"}
    if not wrong:
        return
    # a prototype can have several; the first by name makes the message stable
    said = min(wrong)
    found = f'has the purpose "{said}"' if said else "has no authored purpose"
    if _is_seen(node, snapshot):
        hint = 'add separate visual geometry, then author purpose = "guide" here; alone it would become invisible'
    else:
        hint = 'author uniform token purpose = "guide" on it, or on the scope above it'
    yield Finding(f"the collider {found}; it should be guide", hint=hint, at=node, prop="purpose")


def _is_seen(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Is there nothing else to see of its body (of itself, without a body)?"""
    body = find_body(node, snapshot)
    return body is not None and not find_shapes(body, snapshot).visuals
