# SPDX-License-Identifier: Apache-2.0
"""The mass of bodies as authored, and from what it could be derived where it is not (REP-0158 1.3)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pxr import Usd

from simwright.check.bindings import PHYSICS, read_bindings
from simwright.check.body_shapes import find_shapes

if TYPE_CHECKING:
    from simwright.check.snapshot import Node, Snapshot


def is_dynamic(body: Node) -> bool:
    """Does the solver move it: enabled, and not kinematic?"""
    return (
        body.value("physics:rigidBodyEnabled") is not False
        and body.value("physics:kinematicEnabled") is not True
    )


def read_authored(node: Node, name: str) -> Any:
    """An authored value; the first sample where it is only time-sampled."""
    value = node.authored(name)
    if value is None:
        value = node.authored(name, Usd.TimeCode.EarliestTime())
    return value


def read_mass(node: Node) -> float | None:
    """Authored ``physics:mass`` [kg], whatever its sign; None where there is no number."""
    value = read_authored(node, "physics:mass")
    return float(value) if isinstance(value, int | float) else None


def has_mass(node: Node) -> bool:
    """Does the prim say a finite mass above 0, with PhysicsMassAPI applied?"""
    mass = read_mass(node) if node.has("PhysicsMassAPI") else None
    return mass is not None and mass > 0 and math.isfinite(mass)


def derive_mass(body: Node, snapshot: Snapshot) -> str:
    """What a solver could compute the mass from, "" for nothing but its own default density."""
    if body.has("PhysicsMassAPI") and _is_positive(read_authored(body, "physics:density")):
        return "physics:density of the body"
    book = read_bindings(snapshot)
    for shape in find_shapes(body, snapshot).colliders:
        node = shape.node
        if node is not body and node.has("PhysicsMassAPI"):
            for name in ("physics:mass", "physics:density"):
                if _is_positive(read_authored(node, name)):
                    return f"{name} of the collider {node.name}"
        for binding in book.find(node, PHYSICS):
            material = snapshot.node(binding.target) if binding is not None else None
            if material is not None and _is_positive(read_authored(material, "physics:density")):
                return f"physics:density of the material {material.name}"
    return ""


def _is_positive(value: Any) -> bool:
    return isinstance(value, int | float) and 0 < value < math.inf
