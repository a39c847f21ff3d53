# SPDX-License-Identifier: Apache-2.0
"""Physics materials are bound with the physics purpose.

Why: the all-purpose binding is the one for looks.  A physics material there takes the place of the visual one, or
the next visual material that is bound replaces the friction.

Fails: `rel material:binding = </materials/rubber>` on a collider, where rubber has PhysicsMaterialAPI.
Passes: `rel material:binding:physics`, or a collection binding `material:binding:collection:physics:NAME`.

Fix: unsafe.  The relationship is written anew with the physics purpose; the old one stays if the material has a
look as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.bindings import ALL_PURPOSE, PHYSICS, is_physics_material, read_bindings
from simwright.checker.facts.body_shapes import is_geometry
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "contact-physics-purpose",
    "1.3.4",
    "must",
    on="api:PhysicsCollisionAPI",
    fix="unsafe",
    fix_title="bind the material with material:binding:physics",
)
def contact_physics_purpose(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only colliders without a physics binding can get their material from the all-purpose one."""
    book = read_bindings(snapshot)
    # one of several instances without a physics binding is enough
    if not is_geometry(node) or None not in book.find(node, PHYSICS) or book.find_subsets(node, PHYSICS):
        return
    for binding in book.find(node, ALL_PURPOSE):
        if binding is not None and is_physics_material(binding, snapshot):
            where = "" if binding.holder is node else f" of {binding.holder.path}"
            yield Finding(
                f"the physics material {binding.target} is bound by {binding.relation}{where}, for all purposes",
                hint=f"write rel material:binding:physics = <{binding.target}>",
                at=node,
                prop=binding.relation if binding.holder is node else "",
                data={"relation": binding.relation},
            )
            return
