# SPDX-License-Identifier: Apache-2.0
"""The joint tree compiled to flat steps: poses of all bodies at many configurations at once.

Every freedom becomes a *step*: a fixed transform from the step before it, then its motion.  A free joint is two
steps, a shift and a turn.  A body stands at a fixed transform after a step.  All configurations of a batch are
moved together, so the cost per body is a few array operations.

Generalised velocities do not depend on how joint frames are turned:

- hinge [rad/s] and slide [m/s]: the rate of the coordinate;
- ball: angular velocity of the child body against the parent, in axes of the child body [rad/s];
- free: velocity of the child's origin in axes of the parent body (the world) [m/s], then angular velocity in
  axes of the child body [rad/s].

A body that no joint holds is free: it has a freedom of its own with the coordinates of its world pose.  Loops,
mimics and other constraints are not solved: coordinates are those of the tree.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, matrix_from_quat
from simwright.model.asset import Asset
from simwright.model.joint import POSITIONS, VELOCITIES, WORLD, Dof, Joint, Motion
from simwright.model.kinematics import Edge, Tree, build_tree
from simwright.model.steps import SHIFT, Step, find_screws, move_steps


@dataclass(slots=True, eq=False)
class Freedom:
    """Where the coordinates and velocities of a dof are.

    ``is_base`` marks the freedom of a body that nothing holds; ``joint`` is then the floating joint that says so, or
    None.
    """

    name: str
    body: str
    dof: Dof
    joint: Joint | None
    position: int
    velocity: int
    is_base: bool = False

    @property
    def positions(self) -> slice:
        """Its part of a configuration."""
        return slice(self.position, self.position + POSITIONS[self.dof.motion])

    @property
    def velocities(self) -> slice:
        """Its part of a velocity."""
        return slice(self.velocity, self.velocity + VELOCITIES[self.dof.motion])


@dataclass(slots=True, eq=False)
class Motions:
    """A batch of configurations, moved: ``(steps, n, 4, 4)`` and ``(bodies, n, 4, 4)`` world transforms.

    ``screws`` is ``(velocities, n, 6)``: angular, then linear at the world's origin, for each velocity.
    """

    steps: Array
    bodies: Array
    screws: Array


@dataclass(slots=True, eq=False)
class Mechanism:
    """A compiled tree.  ``holders`` gives the step that each body stands on (-1: the world)."""

    bodies: list[str] = field(default_factory=list)
    freedoms: list[Freedom] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    holders: list[int] = field(default_factory=list)
    tails: list[Array] = field(default_factory=list)
    positions: int = 0
    velocities: int = 0

    def neutral(self) -> Array:
        """The configuration in which no joint is moved and free bodies stand where the file puts them."""
        parts = [_neutral(freedom) for freedom in self.freedoms]
        return np.concatenate(parts) if parts else np.zeros(0)

    def move(self, q: Array) -> Motions:
        """World transforms and screws at ``(n, positions)`` configurations."""
        q = np.atleast_2d(np.asarray(q, dtype=np.float64))
        assert q.shape[1] == self.positions, f"{self.positions} coordinates are wanted, {q.shape[1]} given"
        local = move_steps(self.steps, q)
        world = np.empty_like(local)
        for number, step in enumerate(self.steps):
            if step.parent < 0:
                world[number] = local[number]
            else:
                np.matmul(world[step.parent], local[number], out=world[number])
        with_ground = np.concatenate((world, np.broadcast_to(np.eye(4), (1, len(q), 4, 4))))
        tails = np.array(self.tails).reshape(-1, 1, 4, 4)
        bodies = with_ground[np.array(self.holders, dtype=np.intp)] @ tails
        return Motions(world, bodies, find_screws(self.steps, self.velocities, with_ground))


def compile_mechanism(
    asset: Asset, tree: Tree | None = None, bases: Mapping[str, Pose] | None = None
) -> Mechanism:
    """Steps, freedoms and body places of an asset.

    ``bases`` may give, for bodies that are free, a frame on them that their freedom is counted for instead of
    the body's own: coordinates are then those of that frame.
    """
    tree = tree or build_tree(asset)
    bases = bases or {}
    mechanism = Mechanism()
    place: dict[str, tuple[int, Pose]] = {WORLD: (-1, IDENTITY)}
    bodies = {body.name: body for body in asset.bodies}
    for name in tree.roots:
        body = bodies[name]
        if body.kinematic or not body.enabled:
            place[name] = (-1, body.pose)
        else:
            base = bases.get(name, IDENTITY)
            place[name] = _add_free(mechanism, name, None, body.pose, base)
    for edge in tree.edges:
        if is_free_base(edge):
            base = bases.get(edge.child, IDENTITY)
            rest = edge.transform(edge.joint.initial())
            place[edge.child] = _add_free(mechanism, edge.child, edge.joint, rest, base)
        else:
            place[edge.child] = _add_edge(mechanism, edge, *place[edge.parent])
    for body in asset.bodies:
        holder, tail = place[body.name]
        mechanism.bodies.append(body.name)
        mechanism.holders.append(holder)
        mechanism.tails.append(tail.matrix)
    return mechanism


def is_free_base(edge: Edge) -> bool:
    """Is it a joint that holds nothing: one free dof between the world and a body?"""
    dofs = edge.joint.dofs
    return edge.parent == WORLD and len(dofs) == 1 and dofs[0].motion is Motion.FREE and not edge.reversed


def _add_free(
    mechanism: Mechanism, body: str, joint: Joint | None, rest: Pose, base: Pose
) -> tuple[int, Pose]:
    """The freedom of a base: coordinates are the world pose of ``base`` on the body."""
    start = rest @ base
    dof = Dof(Motion.FREE, name=body, position=[*start.p.tolist(), *start.q.tolist()])
    if joint is not None:
        dof.armature = joint.dofs[0].armature
    q, v = _claim(mechanism, body, body, dof, joint)
    mechanism.freedoms[-1].is_base = True
    steps = mechanism.steps
    steps.append(Step(SHIFT, -1, np.eye(4), dof, 1.0, q, v, fixed=True))
    steps.append(Step(Motion.BALL, len(steps) - 1, np.eye(4), dof, 1.0, q + 3, v + 3))
    return len(steps) - 1, ~base


def _add_edge(mechanism: Mechanism, edge: Edge, holder: int, tail: Pose) -> tuple[int, Pose]:
    joint = edge.joint
    first, last = joint.parent_frame, joint.child_frame
    dofs = list(joint.dofs)
    starts = {id(dof): _claim(mechanism, dof.name or joint.name, edge.child, dof, joint) for dof in dofs}
    if edge.reversed:
        first, last = last, first
        dofs.reverse()
    before = tail @ first
    for dof in dofs:
        for step in _list_steps(dof, joint, *starts[id(dof)], turned=edge.reversed):
            step.parent, step.before = holder, before.matrix
            mechanism.steps.append(step)
            holder, before = len(mechanism.steps) - 1, IDENTITY
    return holder, before @ ~last


def _list_steps(dof: Dof, joint: Joint, q: int, v: int, *, turned: bool) -> list[Step]:
    """One step for a dof, two for a free one; ``turned`` when walked from child to parent."""
    sign = -1.0 if turned else 1.0
    nothing = np.eye(4)
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return [Step(dof.motion, -1, nothing, dof, sign, q, v)]
    child_axes = matrix_from_quat(joint.child_frame.q).T
    if dof.motion is Motion.BALL:
        return [Step(Motion.BALL, -1, nothing, dof, sign, q, v, child_axes, dof.anchor, turned)]
    parent_axes = matrix_from_quat(joint.parent_frame.q).T
    origin = (~joint.child_frame).p
    shift = Step(SHIFT, -1, nothing, dof, sign, q, v, parent_axes, fixed=not turned)
    turn = Step(Motion.BALL, -1, nothing, dof, sign, q + 3, v + 3, child_axes, origin, turned)
    return [turn, shift] if turned else [shift, turn]


def _claim(mechanism: Mechanism, name: str, body: str, dof: Dof, joint: Joint | None) -> tuple[int, int]:
    freedom = Freedom(name, body, dof, joint, mechanism.positions, mechanism.velocities)
    mechanism.freedoms.append(freedom)
    mechanism.positions += POSITIONS[dof.motion]
    mechanism.velocities += VELOCITIES[dof.motion]
    return freedom.position, freedom.velocity


def _neutral(freedom: Freedom) -> Array:
    dof = freedom.dof
    if dof.motion is Motion.FREE and dof.position is not None:
        return np.asarray(dof.position, dtype=np.float64)
    return dof.neutral()
