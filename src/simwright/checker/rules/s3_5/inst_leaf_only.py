# SPDX-License-Identifier: Apache-2.0
"""Only leaf geometry is instanced, never bodies, joints or ROS interfaces.

Why: what is below an instance is a proxy: relationships cannot name it reliably and opinions on it are ignored.  A
joint or topic in there cannot be reached, renamed or switched off.

Fails: `instanceable = true` on a prim that holds a rigid body, a joint or a prim with a Ros API, on itself or below;
a joint whose `physics:body1` names a prim below an instance.
Passes: `instanceable = true` on the visual or collision geometry of a link.

Fix: unsafe.  `instanceable = false` shows the same prims, but opinions that were ignored take effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.types import find_bases
from simwright.checker.rule import Finding, rule

_LOGIC = ("PhysicsRigidBodyAPI", "PhysicsArticulationRootAPI")


@rule(
    "inst-leaf-only",
    "3.5",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="set instanceable = false on the instances",
)
def inst_leaf_only(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Each prim of a prototype once; then targets into instances."""
    # no instances at all: most assets
    if all(node.prototype is None for node in snapshot.nodes):
        return
    seen: set[int] = set()
    for node in snapshot.nodes:
        if not node.in_prototype:
            if node.prototype is None or id(node.prototype) in seen:
                continue
            seen.add(id(node.prototype))
        if node.in_prototype and node.parent is None:
            continue  # the prototype's root is asked as the instance it stands for
        found = _name_logic(node)
        if found:
            where = "below an instance" if node.in_prototype else "on an instance"
            yield Finding(
                f"{found} is {where}, but only geometry may be instanced",
                hint="set instanceable = false, and instance the visual and collision geometry below it instead",
                at=node,
            )
    yield from _find_targets(snapshot)


def _name_logic(node: PrimNode) -> str:
    return _name_kind(*node.kind_facts.kind)


@lru_cache(maxsize=4096)
def _name_kind(type_name: str, apis: tuple[str, ...]) -> str:
    """What prims of a kind are, beside geometry."""
    if "PhysicsJoint" in find_bases(type_name):
        return f"a joint ({type_name})"
    for api in apis:
        head = api.partition(":")[0]
        if head in _LOGIC or (head.startswith("Ros") and head.endswith("API")):
            return head
    return ""


def _find_targets(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Relationships of joints and logical prims that name a prim below an instance."""
    for node in snapshot.nodes:
        if node.in_prototype or not (_name_logic(node) or node.has("PhysicsFilteredPairsAPI")):
            continue
        for relationship in node.prim.GetAuthoredRelationships():
            name = relationship.GetName()
            # materials may be shared, also those in an instance
            if name.startswith("material:binding"):
                continue
            for target in relationship.GetTargets():
                known = snapshot.node(target.GetPrimPath())
                # most targets stand on the stage itself
                if known is not None and not known.in_prototype:
                    continue
                prim = snapshot.stage.GetPrimAtPath(target.GetPrimPath())
                if prim and prim.IsInstanceProxy():
                    yield Finding(
                        f"{name} names {target}, which is below an instance",
                        hint="name the instance itself or a prim above it, or do not instance that part",
                        at=node,
                        prop=name,
                    )
