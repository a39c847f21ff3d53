# SPDX-License-Identifier: Apache-2.0
"""Every collider is bound to a material with PhysicsMaterialAPI.

Why: friction and bounce that are not said are each engine's own default, and the same gripper holds in one
simulator and drops in the next.

Fails: a collider without a physics binding on itself or above; one bound to a material that is not there or that
has no PhysicsMaterialAPI.
Passes: `rel material:binding:physics = </robot/physics_materials/rubber>` on the collider or its scope, a
collection binding that includes it, or bindings of its subsets.

Fix: unsafe.  A default material can be made and bound on the collision scope; its values are a guess.

Reading: OpenUSD falls back to the all-purpose binding.  Where that leads to a physics material, the purpose is
what is wrong (`contact-physics-purpose`).
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.bindings import ALL_PURPOSE, PHYSICS, Binding, is_physics_material, read_bindings
from simwright.checker.facts.body_shapes import is_geometry
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_HINT = (
    "author rel material:binding:physics to a Material with PhysicsMaterialAPI, on it or on the scope above"
)


@rule(
    "contact-material-bound",
    "1.3.4",
    "must",
    on="api:PhysicsCollisionAPI",
    fix="unsafe",
    fix_title="bind a default physics material on the collision scope",
)
def contact_material_bound(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Which relationship answers, and what is at its end."""
    if not is_geometry(node):
        return
    book = read_bindings(snapshot)
    for binding in book.find(node, PHYSICS):
        finding = _judge(node, binding, snapshot)
        if finding is not None:
            # asked last: most colliders pass before
            if node.value("physics:collisionEnabled") is not False and not _has_subsets(node, snapshot):
                yield finding
            return


# one function: the stations from the collider to the material, the first that fails is told
def _judge(node: PrimNode, binding: Binding | None, snapshot: StageSnapshot) -> Finding | None:
    if is_physics_material(binding, snapshot):
        return None
    if binding is None:
        others = read_bindings(snapshot).find(node, ALL_PURPOSE)
        # reported by contact-physics-purpose: the material is there, only the purpose is wrong
        if others and all(is_physics_material(other, snapshot) for other in others):
            return None
        return Finding("the collider is bound to no physics material", hint=_HINT, at=node)
    if _is_unloaded(binding, snapshot):
        return None
    material = snapshot.node(binding.target)
    where = "" if binding.holder is node else f" of {binding.holder.path}"
    if material is None:
        problem = "where there is no prim"
    elif material.type != "Material":
        problem = f"which is a {material.type or 'prim without a type'} and no Material"
    else:
        problem = "which has no PhysicsMaterialAPI"
    return Finding(
        f"{binding.relation}{where} leads to {binding.target}, {problem}",
        hint="apply PhysicsMaterialAPI to it, or bind a material that has it"
        if material is not None
        else _HINT,
        at=node,
        prop=binding.relation if binding.holder is node else "",
        data={"target": binding.target.pathString},
    )


def _is_unloaded(binding: Binding, snapshot: StageSnapshot) -> bool:
    """Is the target behind a payload that is not loaded?"""
    for path in binding.target.GetAncestorsRange():
        prim = snapshot.stage.GetPrimAtPath(path)
        if prim:
            return not prim.IsLoaded()
    return False


def _has_subsets(node: PrimNode, snapshot: StageSnapshot) -> bool:
    bound = read_bindings(snapshot).find_subsets(node, PHYSICS)
    return bool(bound) and all(is_physics_material(binding, snapshot) for binding in bound)
