# SPDX-License-Identifier: Apache-2.0
"""The mass of bodies as authored, and from what it could be derived where it is not (REP-0158 1.3)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from simwright.checker.facts.attributes import read_number
from simwright.checker.facts.bindings import PHYSICS, read_bindings
from simwright.checker.facts.body_shapes import find_shapes
from simwright.checker.rule import Finding
from simwright.core.diag import Level

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

NO_MASS = "a mass that no body can have"
"""The fault that this REP and OpenUSD's own validators see alike."""


def is_dynamic(body: PrimNode) -> bool:
    """Does the solver move it: enabled, and not kinematic?"""
    return (
        body.value("physics:rigidBodyEnabled") is not False
        and body.value("physics:kinematicEnabled") is not True
    )


def read_mass(node: PrimNode) -> float | None:
    """Authored ``physics:mass`` [kg], whatever its sign; None where there is no number."""
    return read_number(node, "physics:mass")


def has_mass(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Does the prim say a finite mass above 0, with PhysicsMassAPI applied?  Remembered on the snapshot."""
    book: dict[int, bool] = snapshot.shared("has mass", lambda _: {})
    if id(node) not in book:
        book[id(node)] = node.has("PhysicsMassAPI") and _is_positive(read_mass(node))
    return book[id(node)]


def derive_mass(body: PrimNode, snapshot: StageSnapshot) -> str:
    """What a solver could compute the mass from, "" for nothing but its own default density."""
    if body.has("PhysicsMassAPI") and _is_positive(read_number(body, "physics:density")):
        return "physics:density of the body"
    book = read_bindings(snapshot)
    for shape in find_shapes(body, snapshot).colliders:
        node = shape.node
        if node is not body and node.has("PhysicsMassAPI"):
            for name in ("physics:mass", "physics:density"):
                if _is_positive(read_number(node, name)):
                    return f"{name} of the collider {node.name}"
        # UsdPhysics: the mass follows from the colliders' density, which the physics material may give
        for binding in book.find(node, PHYSICS):
            material = snapshot.node(binding.target) if binding is not None else None
            if material is not None and _is_positive(read_number(material, "physics:density")):
                return f"physics:density of the material {material.name}"
    return ""


def _is_positive(value: float | None) -> bool:
    return value is not None and 0 < value < math.inf


def is_anchored(node: PrimNode, snapshot: StageSnapshot) -> bool:
    """Does an enabled fixed joint hold the body to the world?"""
    edges = snapshot.graph.edges_of.get(node.path, ())
    return any(edge.is_fixed and edge.to_world and edge.enabled for edge in edges)


def describe_missing_mass(node: PrimNode, snapshot: StageSnapshot, what: str) -> Finding:
    """Say what is missing, milder where the mass follows from something else."""
    mass = read_mass(node)
    if mass is not None and not node.has("PhysicsMassAPI"):
        return Finding(
            f"physics:mass is {mass:g} on {what}, but PhysicsMassAPI is not applied, so it is not read",
            hint='add "PhysicsMassAPI" to apiSchemas',
            at=node,
            prop="physics:mass",
            data={"fault": "PhysicsMassAPI is not applied"},
        )
    if mass is not None:
        return Finding(
            f"physics:mass of {what} is {mass:g}, it must be a number above 0",
            hint="author float physics:mass [kg]",
            at=node,
            prop="physics:mass",
        )
    source = derive_mass(node, snapshot)
    if source:
        return Finding(
            f"{what} authors no mass of its own; it follows from {source}",
            hint="author float physics:mass [kg] on the body, so that it is the same in every engine",
            at=node,
            level=Level.WARNING,
        )
    return Finding(
        f"{what} authors no mass, so every engine computes one with its own density",
        hint="apply PhysicsMassAPI and author float physics:mass [kg]",
        at=node,
    )
