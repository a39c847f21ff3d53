# SPDX-License-Identifier: Apache-2.0
"""What shape a collider has for a solver: a primitive, a convex form, or a triangle mesh (REP-0158 1.3.1)."""

from __future__ import annotations

import enum
from typing import TYPE_CHECKING

from simwright.checker.facts.meshes import read_mesh

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot

PRIMITIVES = frozenset({"Cube", "Sphere", "Capsule", "Capsule_1", "Cylinder", "Cylinder_1", "Cone", "Plane"})
CONVEX_FORMS = frozenset({"convexHull", "boundingCube", "boundingSphere"})


class Form(enum.StrEnum):
    """Kinds of colliders."""

    PRIMITIVE = "primitive"
    HULL = "hull"
    """A mesh that is approximated by one convex form."""
    CONVEX = "convex"
    """A triangle mesh that is convex by itself."""
    COMPLEX = "complex"
    """A concave triangle mesh, a decomposition, a distance field, another kind of geometry."""
    UNKNOWN = "unknown"
    """Not geometry, or geometry that is not there (unloaded, broken)."""


def read_approximation(node: Node) -> str | None:
    """``physics:approximation`` as authored, None where nothing is said or the API is not applied."""
    if not node.has("PhysicsMeshCollisionAPI"):
        return None
    value = node.authored("physics:approximation")
    return value if isinstance(value, str) and value else None


def find_form(node: Node, snapshot: Snapshot) -> Form:
    """The form of a collider (remembered on the snapshot)."""
    book: dict[int, Form] = snapshot.shared("collision forms", lambda _: {})
    if id(node) not in book:
        book[id(node)] = _find(node, snapshot)
    return book[id(node)]


def _find(node: Node, snapshot: Snapshot) -> Form:
    if node.type in PRIMITIVES:
        return Form.PRIMITIVE
    if node.type != "Mesh":
        return Form.COMPLEX if "Gprim" in node.bases else Form.UNKNOWN
    said = read_approximation(node) or "none"
    if said in CONVEX_FORMS:
        return Form.HULL
    if said != "none":
        return Form.COMPLEX
    facts = read_mesh(node, snapshot)
    if facts.problem:
        return Form.UNKNOWN
    return Form.CONVEX if facts.is_convex else Form.COMPLEX
