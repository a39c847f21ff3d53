# SPDX-License-Identifier: Apache-2.0
"""The geometry each rigid body carries, and what form a collider has for a solver (REP-0158 1.3.1).

One walk below every body, nested bodies left out; shapes in instanced geometry count for each body that shows them.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from simwright.checker.facts.meshes import read_mesh

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


# prims that only group or place others
_GROUPS = frozenset({"", "Xform", "Scope", "SkelRoot"})


def is_geometry(node: PrimNode) -> bool:
    """Is it more than a group?  Types that OpenUSD does not know count as geometry where they collide."""
    return node.type not in _GROUPS


class BodyShape(NamedTuple):
    """A collider or a piece of visible geometry of a body."""

    node: PrimNode
    is_collider: bool
    trail: tuple[str, ...]
    """Names from the body's child down to the shape itself; empty where the body is the shape."""


@dataclass(slots=True)
class BodyShapes:
    """Everything one body carries; not ``complete`` where a payload is not loaded."""

    shapes: list[BodyShape] = field(default_factory=list)
    complete: bool = True

    @property
    def colliders(self) -> list[BodyShape]:
        """Those that collide."""
        return [shape for shape in self.shapes if shape.is_collider]

    @property
    def visuals(self) -> list[BodyShape]:
        """Those that do not collide."""
        return [shape for shape in self.shapes if not shape.is_collider]


def find_shapes(body: PrimNode, snapshot: StageSnapshot) -> BodyShapes:
    """Shapes of a body (remembered on the snapshot)."""
    book: dict[int, BodyShapes] = snapshot.shared("body shapes", _gather_all)
    if id(body) not in book:
        book[id(body)] = _gather(body, has_payloads=_has_payloads(snapshot))
    return book[id(body)]


# one function, written for speed: its body runs once per prim of the stage
def _gather_all(snapshot: StageSnapshot) -> dict[int, BodyShapes]:
    """Shapes of every body in one pass; empty for a stage with instances or payloads, where each body is walked."""
    book: dict[int, BodyShapes] = {}
    if _has_payloads(snapshot) or any(node.in_prototype for node in snapshot.nodes[-1:]):
        return book
    kinds: dict[int, tuple[bool, bool, bool]] = {}
    homes: dict[int, tuple[BodyShapes, tuple[str, ...]]] = {}
    trails: dict[tuple[str, ...], tuple[str, ...]] = {}  # links are alike: one trail for all shapes of a name
    for node in snapshot.nodes:  # parents come before their children
        facts = node.kind_facts
        known = kinds.get(id(facts))
        if known is None:
            collides = "PhysicsCollisionAPI" in facts.heads and is_geometry(node)
            shows = collides or "Gprim" in facts.bases or node.type == "PointInstancer"
            known = kinds[id(facts)] = ("PhysicsRigidBodyAPI" in facts.heads, collides, shows)
        is_body, is_collider, is_shape = known
        if is_body:
            home: tuple[BodyShapes, tuple[str, ...]] = (BodyShapes(), ())
            book[id(node)] = home[0]
        else:
            above = homes.get(id(node.parent))
            if above is None:
                body = book.get(id(node.parent))
                if body is None:
                    continue
                above = (body, ())
            trail = (*above[1], node.name)
            home = (above[0], trails.setdefault(trail, trail))
        if node.children and not is_body:
            homes[id(node)] = home
        if is_shape:
            home[0].shapes.append(BodyShape(node, is_collider, home[1]))
    return book


def _has_payloads(snapshot: StageSnapshot) -> bool:
    return snapshot.shared("has payloads", lambda s: any(facts.has_payloads for facts in s.layers))


def _gather(body: PrimNode, *, has_payloads: bool) -> BodyShapes:
    found = BodyShapes()
    stack: list[tuple[PrimNode, tuple[str, ...]]] = [(body, ())]
    while stack:
        node, trail = stack.pop()
        is_collider = "PhysicsCollisionAPI" in node.kind_facts.heads and is_geometry(node)
        if is_collider or "Gprim" in node.kind_facts.bases or node.type == "PointInstancer":
            found.shapes.append(BodyShape(node, is_collider, trail))
        below = node.below()
        if has_payloads and not below and not node.prim.IsLoaded():
            found.complete = False
        # a nested body carries its own shapes
        stack.extend(
            [
                (c, (*trail, c.name))
                for c in reversed(below)
                if "PhysicsRigidBodyAPI" not in c.kind_facts.heads
            ]
        )
    return found


PRIMITIVES = frozenset({"Cube", "Sphere", "Capsule", "Capsule_1", "Cylinder", "Cylinder_1", "Cone", "Plane"})
CONVEX_FORMS = frozenset({"convexHull", "boundingCube", "boundingSphere"})


class CollisionForm(enum.StrEnum):
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


def read_approximation(node: PrimNode) -> str | None:
    """``physics:approximation`` as authored, None where nothing is said or the API is not applied."""
    if not node.has("PhysicsMeshCollisionAPI"):
        return None
    value = node.authored("physics:approximation")
    return value if isinstance(value, str) and value else None


def find_form(node: PrimNode, snapshot: StageSnapshot) -> CollisionForm:
    """The form of a collider (remembered on the snapshot)."""
    book: dict[int, CollisionForm] = snapshot.shared("collision forms", lambda _: {})
    if id(node) not in book:
        book[id(node)] = _find(node, snapshot)
    return book[id(node)]


def _find(node: PrimNode, snapshot: StageSnapshot) -> CollisionForm:
    if node.type in PRIMITIVES:
        return CollisionForm.PRIMITIVE
    if node.type != "Mesh":
        return CollisionForm.COMPLEX if "Gprim" in node.bases else CollisionForm.UNKNOWN
    # UsdPhysics: the fallback of physics:approximation is none, the triangles as they are
    said = read_approximation(node) or "none"
    if said in CONVEX_FORMS:
        return CollisionForm.HULL
    if said != "none":
        return CollisionForm.COMPLEX
    facts = read_mesh(node, snapshot)
    if facts.problem:
        return CollisionForm.UNKNOWN
    return CollisionForm.CONVEX if facts.is_convex else CollisionForm.COMPLEX
