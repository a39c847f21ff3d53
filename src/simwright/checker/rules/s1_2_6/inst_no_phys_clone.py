# SPDX-License-Identifier: Apache-2.0
"""Native instancing is not used to clone articulated physics.

Why: what is inside an instance cannot be told apart or edited: a joint's target, a frame's name or a topic would
be the same for all copies.  Instancing is for geometry.

Fails: `instanceable = true` on a reference to a robot; a PointInstancer with a robot as prototype.
Passes: instanced visuals and colliders; PhysicsRigidBodyAPI on the instance's own prim, with geometry inside.

Fix: unsafe.  `instanceable = false` makes the copies real prims.

Reading: bodies without joints, articulation roots or ROS schemas inside are not articulated; there it is a warning.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from simwright.checker.facts.lineage import find_top, list_copies
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "inst-no-phys-clone",
    "1.2.6",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="set instanceable = false",
)
# one function: prototypes and point instancers are two ways of cloning with one verdict
def inst_no_phys_clone(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per prototype, at its first instance."""
    groups: dict[int, list[PrimNode]] = {}
    roots: dict[int, PrimNode] = {}
    for node in snapshot.nodes:
        if node.in_prototype and _find_kind(node):
            root = find_top(node)
            roots[id(root)] = root
            groups.setdefault(id(root), []).append(node)
    for key, nodes in groups.items():
        copies = list_copies(roots[key], snapshot)
        if copies:
            times = "1 instance" if len(copies) == 1 else f"{len(copies)} instances"
            yield _describe(copies[0], nodes, f"{times} of it", "set instanceable = false on it")
    for instancer in snapshot.of_type("PointInstancer"):
        for target in instancer.targets("prototypes"):
            model = snapshot.node(target)
            nodes = [n for n in (model, *model.descendants()) if _find_kind(n)] if model is not None else []
            if nodes:
                yield _describe(
                    instancer, nodes, "a point instancer", "place real prims instead of point instances"
                )


def _find_kind(node: PrimNode) -> str:
    if node.is_a("PhysicsJoint"):
        return "joint"
    if node.has("PhysicsArticulationRootAPI"):
        return "articulation root"
    if any(api.startswith("Ros") for api in node.apis):
        return "ROS schema"
    return "rigid body" if node.has("PhysicsRigidBodyAPI") else ""


def _describe(at: PrimNode, nodes: Iterable[PrimNode], how: str, hint: str) -> Finding:
    # reversed, so that the first node of each kind stays
    kinds = {_find_kind(node): node for node in reversed(list(nodes))}
    worst = next(kind for kind in ("joint", "articulation root", "ROS schema", "rigid body") if kind in kinds)
    return Finding(
        f"{at.name} is cloned by instancing ({how}) and holds a {worst} ({kinds[worst].name})",
        hint=hint,
        at=at,
        level=Level.WARNING if worst == "rigid body" else None,
        data={"inside": sorted(kinds)},
    )
