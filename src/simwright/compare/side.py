# SPDX-License-Identifier: Apache-2.0
"""One of the two assets, made ready: its tree, its masses, and which bodies are one rigid piece.

Bodies that fixed joints hold together are a *group*; what is fixed to the world (or stands still) is the group of
the world.  Whether a file says a frame as a massless link or as a site, what hangs on it is in the same group at
the same place.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial, combine
from simwright.model.joint import WORLD
from simwright.model.kinematics import Edge, Tree, build_tree
from simwright.model.mass import body_inertials


@dataclass(slots=True, eq=False)
class Side:
    """``places`` gives the group of each body (named by its first body) and the body's pose in it."""

    asset: Asset
    tree: Tree
    inertials: dict[str, Inertial]
    edges: dict[str, Edge]
    places: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    groups: dict[str, list[str]] = field(default_factory=dict)

    def place(self, body: str, pose: Pose) -> tuple[str, Pose]:
        """The group that a frame on a body belongs to, and its pose there."""
        group, at = self.places.get(body, (WORLD, IDENTITY))
        return group, at @ pose

    def lump(self, group: str) -> Inertial:
        """Mass properties of a whole group, in its frame."""
        return combine(self.inertials[name].moved(self.places[name][1]) for name in self.groups[group])

    def carve(self, bodies: list[str]) -> str:
        """Make a group of its own of some bodies of one group; gives its name."""
        first = bodies[0]
        old, base = self.places[first]
        if set(bodies) == set(self.groups.get(old, ())) and old:
            return old
        name = first if first != old else f"{first} (part)"
        for body in bodies:
            self.groups[old].remove(body)
            self.places[body] = (name, ~base @ self.places[body][1])
        self.groups[name] = list(bodies)
        return name


def prepare_side(asset: Asset) -> Side:
    """Everything the sections ask for."""
    tree = build_tree(asset)
    side = Side(asset, tree, body_inertials(asset), tree.parents())
    side.places[WORLD] = (WORLD, IDENTITY)
    bodies = {body.name: body for body in asset.bodies}
    for root in tree.roots:
        body = bodies[root]
        still = body.kinematic or not body.enabled
        side.places[root] = (WORLD, body.pose) if still else (root, IDENTITY)
    for edge in tree.edges:
        if edge.joint.dofs:
            side.places[edge.child] = (edge.child, IDENTITY)
        else:
            side.places[edge.child] = side.place(edge.parent, edge.transform(()))
    for body in asset.bodies:
        side.groups.setdefault(side.places[body.name][0], []).append(body.name)
    return side
