# SPDX-License-Identifier: Apache-2.0
"""Coordinates of the neutral model and MuJoCo's, for all worlds at once.

Hinges and slides have the same numbers on both sides.  MuJoCo counts the pose of a free *body* and turns balls in the
axes of the body; linear velocity of a free joint is that of the body's origin along the axes of the world, angular
velocity of free joints and balls is along the axes of the body.  A free dof inside the tree is three slides and a ball,
a screw a hinge and a slide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import (
    Array,
    cross,
    poses_compose,
    poses_invert,
    quats_conjugate,
    quats_multiply,
    quats_normalize,
    quats_rotate,
)
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.mujoco.queries import MjModel
from simwright.formats.mjcf.memory import MujocoNames
from simwright.model.joint import Motion

Index = npt.NDArray[np.int64]
_AT_ORIGIN = np.array((0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0))


@dataclass(frozen=True, slots=True)
class _RotatingDofs:
    """Ball and free dofs of one kind: their places on both sides (rows) and their frames."""

    freedoms: tuple[LayoutDof, ...]
    q: Index
    v: Index
    qpos: Index
    qvel: Index
    near: Array
    far: Array
    inverted: npt.NDArray[np.bool_]


class CoordinateMap:
    """Translates positions and velocities (worlds x entries) of a layout and of a compiled model."""

    def __init__(self, layout: Layout, names: MujocoNames, model: MjModel) -> None:
        self.nq, self.nv = int(model.nq), int(model.nv)
        self._sizes = (layout.nq, layout.nv)
        self.width = layout.nv
        self._bodies = (model, [names.bodies.get(name, "") for name in layout.bodies])
        scalars: list[tuple[int, int, int, int]] = []
        screws: list[tuple[int, int, int, int, float, float]] = []
        turning: dict[str, list[tuple[LayoutDof, list[int], list[int]]]] = {"free": [], "ball": []}
        for freedom in layout.freedoms:
            joints = [model.joint(name) for name in _find_joints(freedom, names)]
            # the writer had no joint for it: what it left out it has reported
            if not joints:
                continue
            first = (int(joints[0].qposadr[0]), int(joints[0].dofadr[0]))
            if freedom.motion in (Motion.HINGE, Motion.SLIDE):
                scalars.append((freedom.q, freedom.v, *first))
                # MuJoCo has no screws: an equality couples the slide to its hinge
                for slide in joints[1:]:
                    assert freedom.dof is not None
                    place = (int(slide.qposadr[0]), int(slide.dofadr[0]))
                    screws.append((freedom.q, freedom.v, *place, freedom.dof.pitch, freedom.dof.ref))
            elif freedom.motion is Motion.FREE and len(joints) == 1:
                turning["free"].append((freedom, _count(first[0], 7), _count(first[1], 6)))
            else:  # a ball, alone or behind three slides
                shift = len(joints) - 1
                for number, joint in enumerate(joints[:-1]):
                    scalars.append(
                        (freedom.q + number, freedom.v + number, int(joint.qposadr[0]), int(joint.dofadr[0]))
                    )
                last = (int(joints[-1].qposadr[0]), int(joints[-1].dofadr[0]))
                moved = _shift(freedom, shift)
                turning["ball"].append((moved, _count(last[0], 4), _count(last[1], 3)))
        self._scalars = np.array(scalars, dtype=np.int64).reshape(-1, 4).T
        self._screws = screws
        self._free = _collect(turning["free"], 7, 6)
        self._ball = _collect(turning["ball"], 4, 3)
        frames = np.concatenate((self._free.near, self._free.far))
        self._is_plain = bool(np.all(frames == _AT_ORIGIN)) and not self._free.inverted.any()
        """Are free dofs those of MuJoCo, number by number?"""
        self.dof_of = np.full(layout.nv, -1, dtype=np.int64)
        self.dof_of[self._scalars[1]] = self._scalars[3]

    @cached_property
    def body_ids(self) -> list[int]:
        """MuJoCo's numbers of the layout's bodies."""
        model, names = self._bodies
        return [int(model.body(name).id) for name in names]

    def to_engine(self, q: Array, v: Array) -> tuple[Array, Array]:
        """``qpos`` and ``qvel`` from positions and velocities."""
        qpos, qvel = np.zeros((len(q), self.nq)), np.zeros((len(q), self.nv))
        ours, rates, theirs, dofs = self._scalars
        qpos[:, theirs], qvel[:, dofs] = q[:, ours], v[:, rates]
        for at, rate, place, dof, pitch, ref in self._screws:
            qpos[:, place], qvel[:, dof] = pitch * (q[:, at] - ref), pitch * v[:, rate]
        self._turn_to_engine(q, v, qpos, qvel)
        return qpos, qvel

    def _turn_to_engine(self, q: Array, v: Array, qpos: Array, qvel: Array) -> None:
        if len(self._ball.freedoms):
            ball = self._ball
            turn, spin = quats_normalize(q[:, ball.q]), v[:, ball.v]
            # MuJoCo's angular velocity of balls is in the body, ours in the parent's frame
            local = quats_rotate(quats_conjugate(turn), spin)
            turn, local = _invert_turn(turn, local, spin, ball.inverted)
            # MuJoCo turns the body itself, ours turns the joint frame on it: conjugated by that frame
            inner = quats_multiply(quats_multiply(ball.far[:, 3:], turn), quats_conjugate(ball.far[:, 3:]))
            qpos[:, ball.qpos] = inner
            qvel[:, ball.qvel] = quats_rotate(ball.far[:, 3:], local)
        if len(self._free.freedoms):
            free = self._free
            pose, rate = q[:, free.q], v[:, free.v]
            pose[..., 3:] = quats_normalize(pose[..., 3:])
            pose, rate = _invert_motion(pose, rate, free.inverted)
            # from joint frames to the pose of the body's origin, which is what MuJoCo's free joint has
            body = poses_compose(poses_compose(free.near, pose), poses_invert(free.far))
            spin = quats_rotate(free.near[:, 3:], rate[..., 3:])
            arm = quats_rotate(body[..., 3:], free.far[:, :3])
            held = np.empty_like(rate)
            # from the joint frame's origin to the body's: v + w x r
            held[..., :3] = quats_rotate(free.near[:, 3:], rate[..., :3]) - cross(spin, arm)
            held[..., 3:] = quats_rotate(quats_conjugate(body[..., 3:]), spin)
            qpos[:, free.qpos] = body
            qvel[:, free.qvel] = held

    def positions(self, qpos: Array) -> Array:
        """Positions of the layout from ``qpos``."""
        q = np.zeros((len(qpos), self._sizes[0]))
        q[:, self._scalars[0]] = qpos[:, self._scalars[2]]
        if len(self._ball.freedoms):
            ball = self._ball
            q[:, ball.q] = self._read_turns(qpos)
        if len(self._free.freedoms):
            q[:, self._free.q] = self._read_poses(qpos)
        return q

    def _read_turns(self, qpos: Array) -> Array:
        ball = self._ball
        inner = qpos[:, ball.qpos]
        turn = quats_multiply(quats_multiply(quats_conjugate(ball.far[:, 3:]), inner), ball.far[:, 3:])
        return np.where(ball.inverted[:, None], quats_conjugate(turn), turn)

    def _read_poses(self, qpos: Array) -> Array:
        free = self._free
        body: Array = qpos[:, free.qpos]
        if self._is_plain:
            return body
        pose = poses_compose(poses_invert(free.near), poses_compose(body, free.far))
        return np.where(free.inverted[:, None], poses_invert(pose), pose)

    def velocities(self, qpos: Array, qvel: Array) -> Array:
        """Velocities of the layout from ``qpos`` and ``qvel``."""
        v = np.zeros((len(qvel), self._sizes[1]))
        v[:, self._scalars[1]] = qvel[:, self._scalars[3]]
        if len(self._ball.freedoms):
            ball = self._ball
            turn = self._read_turns(qpos)
            local = quats_rotate(quats_conjugate(ball.far[:, 3:]), qvel[:, ball.qvel])
            # an inverted ball turns the other way, along the axes of the frame it is walked to
            v[:, ball.v] = np.where(ball.inverted[:, None], -local, quats_rotate(turn, local))
        if len(self._free.freedoms):
            free = self._free
            body = qpos[:, free.qpos]
            rate = qvel[:, free.qvel]
            spin = quats_rotate(body[..., 3:], rate[..., 3:])
            moved = np.empty_like(rate)
            back = quats_conjugate(free.near[:, 3:])
            moved[..., :3] = quats_rotate(
                back, rate[..., :3] + cross(spin, quats_rotate(body[..., 3:], free.far[:, :3]))
            )
            moved[..., 3:] = quats_rotate(back, spin)
            pose = poses_compose(poses_invert(free.near), poses_compose(body, free.far))
            _, moved = _invert_motion(pose, moved, free.inverted)
            v[:, free.v] = moved
        return v

    def jacobian(self, qpos: Array) -> Array:
        """The matrix (nv of MuJoCo x nv of the layout) that turns velocities of the layout into ``qvel``."""
        count = self._sizes[1]
        # column by column: the map is linear in velocities
        place = np.repeat(self.positions(qpos[None]), count, axis=0)
        return np.ascontiguousarray(self.to_engine(place, np.eye(count))[1].T)

    def pull(self, qpos: Array, forces: Array) -> Array:
        """Forces on dofs of the layout from forces on dofs of MuJoCo: the transposed :meth:`jacobian` times them.

        Dofs do not mix beyond balls and free ones, so six columns tell the whole matrix.
        """
        pulled = np.zeros(self._sizes[1])
        _, rates, _, dofs = self._scalars
        pulled[rates] = forces[dofs]
        for _, rate, _, dof, pitch, _ in self._screws:
            pulled[rate] += pitch * forces[dof]
        turning = [part for part in (self._ball, self._free) if len(part.freedoms)]
        if not turning:
            return pulled
        basis, made = np.zeros((6, self._sizes[1])), np.zeros((6, self.nv))
        for part in turning:
            for column in range(part.v.shape[1]):
                basis[column, part.v[:, column]] = 1.0
        place = np.repeat(self.positions(qpos[None]), 6, axis=0)
        self._turn_to_engine(place, basis, np.zeros((6, self.nq)), made)
        for part in turning:
            blocks = made[:, part.qvel][: part.v.shape[1]]
            pulled[part.v] = np.einsum("kfj,fj->fk", blocks, forces[part.qvel])
        return pulled

    def drift(self, qpos: Array, qvel: Array) -> Array:
        """What ``qvel`` accelerates by while velocities of the layout stay (nv of MuJoCo).

        Only free bodies whose joint frame is off their origin have it: their origin circles that frame.
        """
        drift = np.zeros(self.nv)
        free = self._free
        if len(free.freedoms):
            body = qpos[free.qpos]
            spin = quats_rotate(body[..., 3:], qvel[free.qvel][..., 3:])
            drift[free.qvel[:, :3]] = -cross(spin, cross(spin, quats_rotate(body[..., 3:], free.far[:, :3])))
        return drift


def _find_joints(freedom: LayoutDof, names: MujocoNames) -> Sequence[str]:
    if freedom.joint is None:
        return [names.free_joints[freedom.body]] if freedom.body in names.free_joints else []
    return names.joints.get(freedom.name, ())


def _count(first: int, number: int) -> list[int]:
    return list(range(first, first + number))


def _shift(freedom: LayoutDof, slides: int) -> LayoutDof:
    """The rotation of a free dof whose position is in slides."""
    if not slides:
        return freedom
    values = {name: getattr(freedom, name) for name in freedom.__slots__}
    return LayoutDof(**{**values, "motion": Motion.BALL, "q": freedom.q + slides, "v": freedom.v + slides})


def _collect(rows: list[tuple[LayoutDof, list[int], list[int]]], nq: int, nv: int) -> _RotatingDofs:
    freedoms = tuple(row[0] for row in rows)
    return _RotatingDofs(
        freedoms,
        np.array([_count(f.q, nq) for f in freedoms], dtype=np.int64).reshape(-1, nq),
        np.array([_count(f.v, nv) for f in freedoms], dtype=np.int64).reshape(-1, nv),
        np.array([row[1] for row in rows], dtype=np.int64).reshape(-1, nq),
        np.array([row[2] for row in rows], dtype=np.int64).reshape(-1, nv),
        np.array([(*f.near.p, *f.near.q) for f in freedoms]).reshape(-1, 7),
        np.array([(*f.far.p, *f.far.q) for f in freedoms]).reshape(-1, 7),
        np.array([f.inverted for f in freedoms], dtype=bool),
    )


def _invert_turn(
    turn: Array, local: Array, spin: Array, inverted: npt.NDArray[np.bool_]
) -> tuple[Array, Array]:
    """Turns, and rates along the axes of the turned frame, of balls that are walked the other way."""
    which = inverted[:, None]
    return np.where(which, quats_conjugate(turn), turn), np.where(which, -spin, local)


def _invert_motion(pose: Array, rate: Array, inverted: npt.NDArray[np.bool_]) -> tuple[Array, Array]:
    """Poses and rates of free dofs that are walked the other way; its own inverse."""
    if not inverted.any():
        return pose, rate
    back = quats_conjugate(pose[..., 3:])
    moved = np.empty_like(rate)
    moved[..., :3] = quats_rotate(back, cross(rate[..., 3:], pose[..., :3]) - rate[..., :3])
    moved[..., 3:] = -quats_rotate(back, rate[..., 3:])
    which = inverted[:, None]
    return np.where(which, poses_invert(pose), pose), np.where(which, moved, rate)
