# SPDX-License-Identifier: Apache-2.0
"""The geometry each rigid body carries: its colliders and what is to be seen, nested bodies left out.

One walk below every body; shapes in instanced geometry count for each body that shows them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


_GROUPS = frozenset({"", "Xform", "Scope", "SkelRoot"})


def is_geometry(node: Node) -> bool:
    """Is it more than a group?  Types that OpenUSD does not know count as geometry where they collide."""
    return node.type not in _GROUPS


class Shape(NamedTuple):
    """A collider or a piece of visible geometry of a body."""

    node: Node
    is_collider: bool
    trail: tuple[str, ...]
    """Names from the body's child down to the shape itself; empty where the body is the shape."""


@dataclass(slots=True)
class BodyShapes:
    """Everything one body carries; not ``complete`` where a payload is not loaded."""

    shapes: list[Shape] = field(default_factory=list)
    complete: bool = True

    @property
    def colliders(self) -> list[Shape]:
        """Those that collide."""
        return [shape for shape in self.shapes if shape.is_collider]

    @property
    def visuals(self) -> list[Shape]:
        """Those that do not collide."""
        return [shape for shape in self.shapes if not shape.is_collider]


def find_shapes(body: Node, snapshot: Snapshot) -> BodyShapes:
    """Shapes of a body (remembered on the snapshot)."""
    book: dict[int, BodyShapes] = snapshot.shared("body shapes", lambda _: {})
    if id(body) not in book:
        book[id(body)] = _gather(body, has_payloads=_has_payloads(snapshot))
    return book[id(body)]


def _has_payloads(snapshot: Snapshot) -> bool:
    return snapshot.shared("has payloads", lambda s: any(facts.has_payloads for facts in s.layers))


def _gather(body: Node, *, has_payloads: bool) -> BodyShapes:
    found = BodyShapes()
    stack: list[tuple[Node, tuple[str, ...]]] = [(body, ())]
    while stack:
        node, trail = stack.pop()
        is_collider = "PhysicsCollisionAPI" in node.sort.heads and is_geometry(node)
        if is_collider or "Gprim" in node.sort.bases or node.type == "PointInstancer":
            found.shapes.append(Shape(node, is_collider, trail))
        below = node.prototype.children if node.prototype else node.children
        if has_payloads and not below and not node.prim.IsLoaded():
            found.complete = False
        stack.extend(
            [(c, (*trail, c.name)) for c in reversed(below) if "PhysicsRigidBodyAPI" not in c.sort.heads]
        )
    return found
