# SPDX-License-Identifier: Apache-2.0
"""Coordinates as flat builders have them, and as every engine's layout has them, for all worlds at once.

Flat builders are Newton's and the runtime arrays of scenes, which have its names and meanings: quaternions are
x, y, z, w, the linear velocity of a floating body is that of its centre of mass, and hinges and slides count from the
joint's reference.  The layout (:mod:`simwright.engines.layout`) has quaternions w, x, y, z, the velocity of the joint's
frame, and coordinates as the asset counts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import (
    Array,
    Pose,
    VectorLike,
    cross,
    quats_conjugate,
    quats_normalize,
    quats_rotate,
    to_wxyz,
    to_xyzw,
    vec3,
)
from simwright.engines.layout import Layout, LayoutDof
from simwright.model.joint import POSITIONS, VELOCITIES, Motion


@dataclass(frozen=True, slots=True)
class FlatDofPlace:
    """Where a freedom begins in the ``joint_q`` and ``joint_qd`` of one world of a flat builder.

    ``centre`` is the centre of mass of the body it carries, in that body's frame [m].
    """

    freedom: LayoutDof
    q: int
    qd: int
    centre: VectorLike = (0.0, 0.0, 0.0)


class FlatMap:
    """Translates coordinates (worlds x entries) of a flat builder with ``widths`` of joint_q and joint_qd."""

    def __init__(self, layout: Layout, places: Sequence[FlatDofPlace], widths: tuple[int, int]) -> None:
        # index arrays for each kind of motion, made once: comprehensions count as branches
        self.layout, self._widths = layout, widths
        single = [p for p in places if p.freedom.motion in (Motion.HINGE, Motion.SLIDE)]
        self._single = _index(single, 1, 1)
        self._refs = np.array([p.freedom.dof.ref if p.freedom.dof else 0.0 for p in single])
        balls = [p for p in places if p.freedom.motion is Motion.BALL]
        self._ball = _index(balls, POSITIONS[Motion.BALL], VELOCITIES[Motion.BALL])
        self._inverted = np.array([p.freedom.inverted for p in balls], dtype=bool)[:, None]
        frees = [p for p in places if p.freedom.motion is Motion.FREE]
        self._free = _index(frees, POSITIONS[Motion.FREE], VELOCITIES[Motion.FREE])
        self._centres = np.array([_find_centre(p) for p in frees]).reshape(-1, 3)
        # freedom by freedom, for targets and forces
        pairs = [
            (place.qd + number, place.freedom.v + number)
            for place in places
            for number in range(VELOCITIES[place.freedom.motion])
        ]
        self.dofs, self.entries = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
        self.single_dofs = self._single[1][:, 0]

    def to_layout(self, q: Array, qd: Array) -> tuple[Array, Array]:
        """Positions and velocities of the layout."""
        place, rate = np.zeros((len(q), self.layout.nq)), np.zeros((len(q), self.layout.nv))
        ours, our_rates, theirs, their_rates = self._single
        place[:, theirs], rate[:, their_rates] = q[:, ours] + self._refs[:, None], qd[:, our_rates]
        ours, our_rates, theirs, their_rates = self._ball
        turn, spin = to_wxyz(q[:, ours]), qd[:, our_rates]
        place[:, theirs] = np.where(self._inverted, quats_conjugate(turn), turn)
        rate[:, their_rates] = np.where(self._inverted, -quats_rotate(quats_conjugate(turn), spin), spin)
        ours, our_rates, theirs, their_rates = self._free
        pose, moving = to_wxyz(q[:, ours]), qd[:, our_rates].copy()
        # scenes hold single precision: the rounding would show as a scale in the frames below
        turn = quats_normalize(pose[..., 3:])
        moving[..., :3] -= cross(moving[..., 3:], quats_rotate(turn, self._centres))
        place[:, theirs] = np.concatenate((pose[..., :3], turn), axis=-1)
        rate[:, their_rates] = moving
        return place, rate

    def from_layout(self, place: Array, rate: Array) -> tuple[Array, Array]:
        """``joint_q`` and ``joint_qd``."""
        q, qd = (np.zeros((len(place), width)) for width in self._widths)
        ours, our_rates, theirs, their_rates = self._single
        q[:, ours], qd[:, our_rates] = place[:, theirs] - self._refs[:, None], rate[:, their_rates]
        ours, our_rates, theirs, their_rates = self._ball
        turn, spin = place[:, theirs], rate[:, their_rates]
        q[:, ours] = to_xyzw(np.where(self._inverted, quats_conjugate(turn), turn))
        qd[:, our_rates] = np.where(self._inverted, -quats_rotate(quats_conjugate(turn), spin), spin)
        ours, our_rates, theirs, their_rates = self._free
        pose, moving = place[:, theirs], rate[:, their_rates].copy()
        turn = quats_normalize(pose[..., 3:])
        moving[..., :3] += cross(moving[..., 3:], quats_rotate(turn, self._centres))
        q[:, ours] = to_xyzw(np.concatenate((pose[..., :3], turn), axis=-1))
        qd[:, our_rates] = moving
        return q, qd

    def spread(self, values: Array) -> Array:
        """An entry for each freedom of the builder (worlds x joint_qd), as the layout counts freedoms."""
        result = np.zeros((len(values), self.layout.nv))
        result[:, self.entries] = values[:, self.dofs]
        return result

    def gather(self, values: Array) -> Array:
        """The way back: an entry for each freedom of the layout, as the builder counts freedoms."""
        result = np.zeros((len(values), self._widths[1]))
        result[:, self.dofs] = values[:, self.entries]
        return result


def _index(places: list[FlatDofPlace], nq: int, nv: int) -> list[npt.NDArray[np.int64]]:
    """Entries of some freedoms: in joint_q and joint_qd, then in positions and velocities (freedoms x entries)."""
    rows = np.array([(p.q, p.qd, p.freedom.q, p.freedom.v) for p in places], dtype=np.int64).reshape(-1, 4)
    return [rows[:, i, None] + np.arange(nq if i % 2 == 0 else nv) for i in range(4)]


def _find_centre(place: FlatDofPlace) -> Array:
    """The centre of mass in the joint's frame on the body."""
    frame: Pose = ~place.freedom.far
    return frame.apply(vec3(place.centre))
