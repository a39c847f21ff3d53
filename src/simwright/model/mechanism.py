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

from simwright.core.math3d import IDENTITY, Array, Pose, cross, matrices_from_quats, matrix_from_quat
from simwright.model.asset import Asset
from simwright.model.joint import POSITIONS, VELOCITIES, WORLD, Dof, Joint, Motion
from simwright.model.kinematics import Edge, Tree, build_tree

SHIFT = "shift"
"""The step of a free joint that moves; the others are called like their motion."""


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
    steps: list[MotionStep] = field(default_factory=list)
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
            # steps stand behind their parents, so one pass in order is enough
            if step.parent < 0:
                world[number] = local[number]
            else:
                np.matmul(world[step.parent], local[number], out=world[number])
        # index -1 is then the world: no case is needed for what stands on it
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
        # nothing but its own recorded motion moves it
        if body.kinematic or not body.enabled:
            place[name] = (-1, body.pose)
        else:
            base = bases.get(name, IDENTITY)
            place[name] = _add_free(mechanism, name, None, body.pose, base)
    for edge in tree.edges:
        if is_free_base(edge):
            base = bases.get(edge.child, IDENTITY)
            # coordinates of a floating base are poses in the world: it starts where the joint says
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
    steps.append(MotionStep(SHIFT, -1, np.eye(4), dof, 1.0, q, v, fixed=True))
    steps.append(MotionStep(Motion.BALL, len(steps) - 1, np.eye(4), dof, 1.0, q + 3, v + 3))
    return len(steps) - 1, ~base


def _add_edge(mechanism: Mechanism, edge: Edge, holder: int, tail: Pose) -> tuple[int, Pose]:
    joint = edge.joint
    first, last = joint.parent_frame, joint.child_frame
    dofs = list(joint.dofs)
    # in the order of the joint, also where it is walked the other way: coordinates are the asset's
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


def _list_steps(dof: Dof, joint: Joint, q: int, v: int, *, turned: bool) -> list[MotionStep]:
    """One step for a dof, two for a free one; ``turned`` when walked from child to parent."""
    sign = -1.0 if turned else 1.0
    nothing = np.eye(4)
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        return [MotionStep(dof.motion, -1, nothing, dof, sign, q, v)]
    child_axes = matrix_from_quat(joint.child_frame.q).T
    if dof.motion is Motion.BALL:
        return [MotionStep(Motion.BALL, -1, nothing, dof, sign, q, v, child_axes, dof.anchor, turned)]
    parent_axes = matrix_from_quat(joint.parent_frame.q).T
    origin = (~joint.child_frame).p
    # walked backwards the turn comes first: (T R)^-1 = R^-1 T^-1
    shift = MotionStep(SHIFT, -1, nothing, dof, sign, q, v, parent_axes, fixed=not turned)
    turn = MotionStep(Motion.BALL, -1, nothing, dof, sign, q + 3, v + 3, child_axes, origin, turned)
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


@dataclass(slots=True, eq=False)
class MotionStep:
    """``before`` is the fixed 4x4 transform from the step ``parent`` (-1: the world).

    ``axes`` and ``point`` tell, for turns and shifts of several freedoms, along which axes and about which point
    velocities are counted: in the frame after the step, or before it where ``fixed`` is set.
    """

    kind: str
    parent: int
    before: Array
    dof: Dof
    sign: float
    position: int
    velocity: int
    axes: Array = field(default_factory=lambda: np.eye(3))
    point: Array = field(default_factory=lambda: np.zeros(3))
    fixed: bool = False

    @property
    def columns(self) -> int:
        """Number of velocities."""
        return 1 if self.kind in (Motion.HINGE, Motion.SLIDE) else 3


def move_steps(steps: list[MotionStep], q: Array) -> Array:
    """``(steps, n, 4, 4)``: each step's transform from the step before."""
    motion = np.zeros((len(steps), len(q), 4, 4))
    motion[..., range(4), range(4)] = 1.0
    kinds: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        kinds.setdefault(step.kind, []).append(number)
    # all hinges at once, then all slides: a Python loop over joints would dominate
    for kind, rows in kinds.items():
        chosen = [steps[row] for row in rows]
        starts = np.array([step.position for step in chosen])
        signs = np.array([step.sign for step in chosen])
        if kind == Motion.HINGE:
            _move_hinges(rows, chosen, q, motion)
        elif kind == Motion.SLIDE:
            travel = (signs * (q[:, starts] - [step.dof.ref for step in chosen])).T
            axes = np.array([step.dof.axis for step in chosen])
            motion[rows, :, :3, 3] = travel[..., None] * axes[:, None]
        elif kind == Motion.BALL:
            _turn_balls(rows, chosen, q, motion)
        else:
            shift = q[:, starts[:, None] + range(3)] * signs[:, None]
            motion[rows, :, :3, 3] = shift.transpose(1, 0, 2)
    before = np.array([step.before for step in steps]).reshape(-1, 1, 4, 4)
    return np.asarray(before @ motion)


def _move_hinges(rows: list[int], hinges: list[MotionStep], q: Array, motion: Array) -> None:
    """Rotations about axes through anchors (Rodrigues), with the travel of screws."""
    axes = np.array([step.dof.axis for step in hinges])
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0.0, lengths, 1.0)
    refs = np.array([step.dof.ref for step in hinges])
    signs = np.array([step.sign for step in hinges])
    anchors = np.array([step.dof.anchor for step in hinges])
    angle = (signs * (q[:, [step.position for step in hinges]] - refs)).T[..., None, None]
    skew = _skew(axes)[:, None]
    # the half angle keeps 1 - cos exact for small angles
    turn = np.eye(3) + np.sin(angle) * skew + 2.0 * np.sin(angle / 2.0) ** 2 * (skew @ skew)
    shift = anchors[:, None] - np.einsum("snij,sj->sni", turn, anchors)
    pitch = np.array([step.dof.pitch for step in hinges])
    shift = shift + (pitch[:, None] * angle[..., 0, 0])[..., None] * axes[:, None]
    motion[rows, :, :3, :3] = turn
    motion[rows, :, :3, 3] = shift


def _turn_balls(rows: list[int], balls: list[MotionStep], q: Array, motion: Array) -> None:
    """Rotations by quaternions about anchors."""
    starts = np.array([step.position for step in balls])
    quats = q[:, starts[:, None] + range(4)].transpose(1, 0, 2)
    lengths = np.linalg.norm(quats, axis=-1, keepdims=True)
    # quaternions of integrators drift; a zero one counts as no turn
    unit = quats / np.where(lengths > 0.0, lengths, 1.0)
    signs = np.array([step.sign for step in balls])
    unit[..., 1:] *= signs[:, None, None]
    turn = matrices_from_quats(unit.reshape(-1, 4)).reshape(*unit.shape[:2], 3, 3)
    anchors = np.array([s.dof.anchor if s.dof.motion is Motion.BALL else np.zeros(3) for s in balls])
    motion[rows, :, :3, :3] = turn
    motion[rows, :, :3, 3] = anchors[:, None] - np.einsum("snij,sj->sni", turn, anchors)


def find_screws(steps: list[MotionStep], velocities: int, world: Array) -> Array:
    """``(velocities, n, 6)`` motion of everything behind each freedom, for a velocity of one.

    ``world`` has the transform of each step, and the world's own last.
    """
    # grouped by kind of motion so that numpy works on all steps of a kind at once
    screws = np.zeros((velocities, world.shape[1], 6))
    kinds: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        kinds.setdefault(step.kind, []).append(number)
    for kind, numbers in kinds.items():
        chosen = [steps[number] for number in numbers]
        at = world[numbers]
        fixed = [place for place, step in enumerate(chosen) if step.fixed]
        if fixed:
            parents = [chosen[place].parent for place in fixed]
            # velocities of these are along the axes before the step
            at[fixed] = world[parents] @ np.array([chosen[place].before for place in fixed])[:, None]
        rows = [step.velocity for step in chosen]
        if kind == Motion.HINGE:
            _fill_hinges(screws, rows, chosen, at)
        elif kind == Motion.SLIDE:
            axes = np.array([step.sign * step.dof.axis for step in chosen])
            screws[rows, :, 3:] = np.einsum("snij,sj->sni", at[..., :3, :3], axes)
        else:
            _fill_triples(screws, rows, chosen, at)
    return screws


def _fill_hinges(screws: Array, rows: list[int], steps: list[MotionStep], at: Array) -> None:
    axes = np.array([step.sign * step.dof.axis for step in steps])
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0.0, lengths, 1.0)
    anchors = np.array([step.dof.anchor for step in steps])
    pitches = np.array([step.dof.pitch for step in steps])
    axis = np.einsum("snij,sj->sni", at[..., :3, :3], axes)
    point = np.einsum("snij,sj->sni", at[..., :3, :3], anchors) + at[..., :3, 3]
    screws[rows, :, :3] = axis
    screws[rows, :, 3:] = cross(point, axis) + pitches[:, None, None] * axis


def _fill_triples(screws: Array, rows: list[int], steps: list[MotionStep], at: Array) -> None:
    """Shifts along three axes, or turns about three axes through a point."""
    frames = np.array([step.sign * step.axes for step in steps])
    axes = at[..., :3, :3] @ frames[:, None]
    points = np.array([step.point for step in steps])
    point = np.einsum("snij,sj->sni", at[..., :3, :3], points) + at[..., :3, 3]
    for number in range(3):
        own = [row + number for row in rows]
        axis = axes[..., number]
        if steps[0].kind == SHIFT:
            screws[own, :, 3:] = axis
        else:
            screws[own, :, :3] = axis
            screws[own, :, 3:] = cross(point, axis)


def _skew(v: Array) -> Array:
    """``(n, 3, 3)`` matrices whose product with a vector is the cross product with ``v``."""
    result = np.zeros((len(v), 3, 3))
    for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
        result[:, i, j], result[:, j, i] = -v[:, k], v[:, k]
    return result
