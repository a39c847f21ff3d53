# SPDX-License-Identifier: Apache-2.0
"""Which prims of the stage hold properties of a namespace, found without asking every prim.

The layers are searched (once, for all rules); a layer's path need not be the stage's, because of references,
so prims are matched by their own name, and by nothing where the opinion is on a layer's root prim, which a
reference renames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.schemas import JOINT_NAME

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


def find_holders(snapshot: Snapshot, namespace: str, *domains: Domain) -> list[tuple[Node, list[str]]]:
    """Nodes with authored properties in a namespace (``"ext_physics"``), and their names.

    ``domains`` are those that the layer facts file such properties under.
    """
    return snapshot.shared(f"holders {namespace}", lambda s: _find(s, namespace, domains))


def find_joint_names(snapshot: Snapshot) -> dict[str, Any]:
    """Values of ``ros:joint:name`` by joint path; joints without it are not in it."""
    return snapshot.shared("holders.joint names", _read_joint_names)


def _read_joint_names(snapshot: Snapshot) -> dict[str, Any]:
    return {
        node.path: node.authored(JOINT_NAME)
        for node, names in find_holders(snapshot, "ros", Domain.ROS, Domain.CONTROL)
        if JOINT_NAME in names and node.is_a("PhysicsJoint")
    }


def _find(snapshot: Snapshot, namespace: str, domains: tuple[Domain, ...]) -> list[tuple[Node, list[str]]]:
    prefix = f"{namespace}:"
    names: set[str] = set()
    anywhere = False
    for facts in snapshot.layers:
        for opinion in facts.of(*domains):
            if opinion.kind == "property" and opinion.what.startswith(prefix):
                place = opinion.path.GetPrimPath().StripAllVariantSelections()
                anywhere = anywhere or place.IsRootPrimPath()
                names.add(place.name)
    if not names:
        return []
    candidates = (node for node in snapshot.nodes if anywhere or node.name in names)
    held = ((node, node.property_names(namespace)) for node in candidates)
    return [(node, found) for node, found in held if found]
