# SPDX-License-Identifier: Apache-2.0
"""Steps of a mechanism: one motion each, moved for many configurations at once, kind by kind."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simwright.core.math3d import Array, cross, matrices_from_quats
from simwright.model.joint import Dof, Motion

SHIFT = "shift"
"""The step of a free joint that moves; the others are called like their motion."""


@dataclass(slots=True, eq=False)
class Step:
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


def move_steps(steps: list[Step], q: Array) -> Array:
    """``(steps, n, 4, 4)``: each step's transform from the step before."""
    motion = np.zeros((len(steps), len(q), 4, 4))
    motion[..., range(4), range(4)] = 1.0
    kinds: dict[str, list[int]] = {}
    for number, step in enumerate(steps):
        kinds.setdefault(step.kind, []).append(number)
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


def _move_hinges(rows: list[int], hinges: list[Step], q: Array, motion: Array) -> None:
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


def _turn_balls(rows: list[int], balls: list[Step], q: Array, motion: Array) -> None:
    """Rotations by quaternions about anchors."""
    starts = np.array([step.position for step in balls])
    quats = q[:, starts[:, None] + range(4)].transpose(1, 0, 2)
    lengths = np.linalg.norm(quats, axis=-1, keepdims=True)
    unit = quats / np.where(lengths > 0.0, lengths, 1.0)
    signs = np.array([step.sign for step in balls])
    unit[..., 1:] *= signs[:, None, None]
    turn = matrices_from_quats(unit.reshape(-1, 4)).reshape(*unit.shape[:2], 3, 3)
    anchors = np.array([s.dof.anchor if s.dof.motion is Motion.BALL else np.zeros(3) for s in balls])
    motion[rows, :, :3, :3] = turn
    motion[rows, :, :3, 3] = anchors[:, None] - np.einsum("snij,sj->sni", turn, anchors)


def find_screws(steps: list[Step], velocities: int, world: Array) -> Array:
    """``(velocities, n, 6)`` motion of everything behind each freedom, for a velocity of one.

    ``world`` has the transform of each step, and the world's own last.
    """
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


def _fill_hinges(screws: Array, rows: list[int], steps: list[Step], at: Array) -> None:
    axes = np.array([step.sign * step.dof.axis for step in steps])
    lengths = np.linalg.norm(axes, axis=1, keepdims=True)
    axes = axes / np.where(lengths > 0.0, lengths, 1.0)
    anchors = np.array([step.dof.anchor for step in steps])
    pitches = np.array([step.dof.pitch for step in steps])
    axis = np.einsum("snij,sj->sni", at[..., :3, :3], axes)
    point = np.einsum("snij,sj->sni", at[..., :3, :3], anchors) + at[..., :3, 3]
    screws[rows, :, :3] = axis
    screws[rows, :, 3:] = cross(point, axis) + pitches[:, None, None] * axis


def _fill_triples(screws: Array, rows: list[int], steps: list[Step], at: Array) -> None:
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
