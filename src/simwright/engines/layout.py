# SPDX-License-Identifier: Apache-2.0
"""How the coordinates of an asset stand in flat arrays: the same for every engine.

Bodies that float without a joint come first, then the joints of the kinematic tree in the order of the asset, dof by
dof.  Numbers are those of the neutral model:

========= ============================================= ==============================================
motion    position                                      velocity
========= ============================================= ==============================================
hinge     angle [rad]                                   rate [rad/s]
slide     distance [m]                                  rate [m/s]
ball      quaternion w, x, y, z                         angular velocity [rad/s]
free      position [m], quaternion w, x, y, z           linear velocity [m/s], angular velocity [rad/s]
========= ============================================= ==============================================

Positions of ball and free dofs are those of the joint's frame on the child, seen in its frame on the parent.
Velocities are along the axes of the frame on the parent; the linear one is that of the origin of the child's frame.
Joints that close loops have no coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from simwright.core.errors import UnknownNameError
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset
from simwright.model.joint import POSITIONS, VELOCITIES, WORLD, Dof, Joint, Motion
from simwright.model.kinematics import Edge, Tree, build_tree
from simwright.model.mass import body_inertials

_LEAST_MASS = 1e-15
"""A body that nothing holds floats if it, with all that is fixed to it, weighs more than this [kg]."""
_TURN = ("qw", "qx", "qy", "qz")
_SPIN = ("wx", "wy", "wz")
_POSITION_PARTS = {Motion.BALL: _TURN, Motion.FREE: ("x", "y", "z", *_TURN)}
_VELOCITY_PARTS = {Motion.BALL: _SPIN, Motion.FREE: ("vx", "vy", "vz", *_SPIN)}


@dataclass(frozen=True, slots=True)
class LayoutDof:
    """One dof in the flat arrays.

    ``q`` and ``v`` are its first entries in positions and velocities.  ``body`` is the body it carries, ``parent`` the
    body it moves against.  ``near`` and ``far`` are the joint's frames on those two.  ``inverted`` tells that the joint
    is walked from its child to its parent, so that ``body`` is what the asset calls the parent.  ``joint`` and ``dof``
    are None for a body that floats without a joint.
    """

    name: str
    motion: Motion
    q: int
    v: int
    body: str
    parent: str = WORLD
    near: Pose = IDENTITY
    far: Pose = IDENTITY
    inverted: bool = False
    joint: Joint | None = None
    dof: Dof | None = None

    @property
    def positions(self) -> slice:
        """Its entries in positions."""
        return slice(self.q, self.q + POSITIONS[self.motion])

    @property
    def velocities(self) -> slice:
        """Its entries in velocities."""
        return slice(self.v, self.v + VELOCITIES[self.motion])


class Layout:
    """The dofs and bodies of an asset with their places in flat arrays; ``nq`` positions, ``nv`` velocities."""

    def __init__(self, asset: Asset, tree: Tree | None = None) -> None:
        tree = build_tree(asset) if tree is None else tree
        self.bodies = tuple(body.name for body in asset.bodies)
        self.freedoms = tuple(_list_freedoms(asset, tree))
        last = self.freedoms[-1] if self.freedoms else None
        self.nq = last.positions.stop if last else 0
        self.nv = last.velocities.stop if last else 0
        self._by_name = {freedom.name: freedom for freedom in self.freedoms}
        self._body_rows = {name: row for row, name in enumerate(self.bodies)}

    def find(self, name: str) -> LayoutDof:
        """The dof of that name; a joint of one dof may be named instead."""
        found = self._by_name.get(name)
        if found is None:
            raise UnknownNameError("freedom", name, self._by_name)
        return found

    def find_body(self, name: str) -> int:
        """The row of a body."""
        row = self._body_rows.get(name)
        if row is None:
            raise UnknownNameError("body", name, self._body_rows)
        return row

    def list_position_names(self) -> list[str]:
        """A name for each entry of positions: ``elbow``, or ``base.x`` ... ``base.qz`` for a free dof."""
        return list(_name_entries(self.freedoms, _POSITION_PARTS))

    def list_velocity_names(self) -> list[str]:
        """A name for each entry of velocities: ``elbow``, or ``base.vx`` ... ``base.wz`` for a free dof."""
        return list(_name_entries(self.freedoms, _VELOCITY_PARTS))


def _name_entries(freedoms: tuple[LayoutDof, ...], parts: dict[Motion, tuple[str, ...]]) -> Iterator[str]:
    for freedom in freedoms:
        if freedom.motion in parts:
            yield from (f"{freedom.name}.{part}" for part in parts[freedom.motion])
        else:
            yield freedom.name


def _list_freedoms(asset: Asset, tree: Tree) -> Iterator[LayoutDof]:
    q = v = 0
    edges = {id(edge.joint): edge for edge in tree.edges}
    for body in find_floating(asset, tree):
        # no joint has named it
        yield LayoutDof(f"{body}_free", Motion.FREE, q, v, body)
        q, v = q + POSITIONS[Motion.FREE], v + VELOCITIES[Motion.FREE]
    for joint in asset.joints:
        edge = edges.get(id(joint))
        # joints that close loops, and those that are off, have no coordinates
        if edge is None:
            continue
        near, far = joint.parent_frame, joint.child_frame
        # the tree leads from the asset's child to its parent: what is carried is the parent
        if edge.reversed:
            near, far = far, near
        for number, dof in enumerate(joint.dofs):
            name = dof.name or (joint.name if len(joint.dofs) == 1 else f"{joint.name}_{number}")
            yield LayoutDof(
                name, dof.motion, q, v, edge.child, edge.parent, near, far, edge.reversed, joint, dof
            )
            q, v = q + POSITIONS[dof.motion], v + VELOCITIES[dof.motion]


def find_floating(asset: Asset, tree: Tree) -> list[str]:
    """Bodies that no joint holds and that move: enabled, not kinematic, and with a mass that they carry rigidly."""
    inertials = body_inertials(asset)
    mass = {
        body.name: inertials[body.name].mass if inertials.get(body.name) else 0.0 for body in asset.bodies
    }
    edges: list[Edge] = tree.edges
    for edge in reversed(edges):  # leaves first
        if edge.parent != WORLD and not edge.joint.dofs:
            mass[edge.parent] += mass[edge.child]
    bodies = {body.name: body for body in asset.bodies}
    return [
        name
        for name in tree.roots
        if bodies[name].enabled and not bodies[name].kinematic and mass[name] > _LEAST_MASS
    ]
