# SPDX-License-Identifier: Apache-2.0
"""Which prims of the stage hold certain properties, found through the layers without asking every prim.

A prim keeps its name on the stage unless an arc leads to it or it is relocated, so the names of the prims that a
layer gives a property are enough to leave all others alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.schemas import JOINT_NAME

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


class Owners(NamedTuple):
    """Names of prims; ``anywhere`` where some of them have another name on the stage."""

    names: frozenset[str]
    anywhere: bool

    def may_be(self, node: PrimNode) -> bool:
        """May a prim be one of them?  False is certain."""
        return self.anywhere or node.name in self.names


def find_owners(paths: Iterable[Sdf.Path], snapshot: StageSnapshot) -> Owners:
    """The owners of properties at some paths of the stage's layers (session layers are not looked at)."""
    owners = {path.GetPrimPath().StripAllVariantSelections() for path in paths}
    return Owners(frozenset(path.name for path in owners), _are_renamed(owners, snapshot))


def _are_renamed(owners: set[Sdf.Path], snapshot: StageSnapshot) -> bool:
    if not owners:
        return False
    arcs = [arc for facts in snapshot.layers for arc in facts.arcs if arc.kind != "sublayer"]
    # a reference to a layer leads to its root prim and gives it another name
    if arcs and any(path.IsRootPrimPath() for path in owners):
        return True
    targets = {arc.target for arc in arcs}
    moved = any(facts.layer.HasRelocates() for facts in snapshot.layers)
    return moved or not targets.isdisjoint(owners)


def find_holders(
    snapshot: StageSnapshot, namespace: str, *domains: Domain
) -> list[tuple[PrimNode, list[str]]]:
    """Nodes with authored properties in a namespace (``"ext_physics"``), and their names.

    ``domains`` are those that the layer facts file such properties under.
    """
    return snapshot.shared(f"holders {namespace}", lambda s: _find(s, namespace, domains))


def find_joint_names(snapshot: StageSnapshot) -> dict[str, Any]:
    """Values of ``ros:joint:name`` by joint path; joints without it are not in it."""
    return snapshot.shared("holders.joint names", _read_joint_names)


def _read_joint_names(snapshot: StageSnapshot) -> dict[str, Any]:
    return {
        node.path: node.authored(JOINT_NAME)
        for node, names in find_holders(snapshot, "ros", Domain.ROS, Domain.CONTROL)
        if JOINT_NAME in names and node.is_a("PhysicsJoint")
    }


# one function: names from the layers first, then the few prims that may be meant
def _find(
    snapshot: StageSnapshot, namespace: str, domains: tuple[Domain, ...]
) -> list[tuple[PrimNode, list[str]]]:
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
