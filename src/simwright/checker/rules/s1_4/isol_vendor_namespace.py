# SPDX-License-Identifier: Apache-2.0
"""Engine parameters carry a vendor's prefix.

Why: nobody can tell which engine `solverIterations` on a body is for.  `physx:solverIterations` says so, and other
engines can skip it.

Fails: `custom float solverIterations` on a rigid body or a joint.
Passes: `custom float mujoco:solverIterations` in a vendor layer; `userProperties:` for private notes.

Reading: only prims with physics are looked at.  A namespace that is not known here may be a vendor's: an info; the
setting `vendor_namespaces` makes it known.

Fix: no.  Only the author knows whose parameter it is.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinematics import list_physics_nodes
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule("isol-vendor-namespace", "1.4", "must", on="stage", heuristic=True)
def isol_vendor_namespace(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Unknown attributes on physics prims, once per name."""
    names = {name for facts in snapshot.layers for name in facts.unknown}
    if not names:
        return
    places: dict[str, list[PrimNode]] = {}
    for node in list_physics_nodes(snapshot):
        for name in names.intersection(node.property_names()):
            # a schema plugin of this installation may define a name that we do not list
            if not node.prim.GetPrimDefinition().GetPropertyDefinition(name):
                places.setdefault(name, []).append(node)
    for name, nodes in sorted(places.items()):
        more = f" ({len(nodes)} prims)" if len(nodes) > 1 else ""
        head, colon, _ = name.partition(":")
        yield Finding(
            f"the attribute {name} has {f'the unknown prefix {head!r}' if colon else 'no vendor prefix'}{more}",
            hint="give engine parameters a vendor prefix (mujoco:, physx:), private notes userProperties:",
            at=nodes[0],
            prop=name,
            level=Level.INFO if colon else None,
        )
