# SPDX-License-Identifier: Apache-2.0
"""Rigid-body dynamics of the joint tree: joint-space mass matrix and bias force, at many configurations at once.

The mass matrix comes from composite rigid bodies, the bias (gravity and velocity products) from the recursive
Newton-Euler equations with zero accelerations, both in double precision with vectors at the world's origin.
As in MuJoCo, both are those of the tree: loops, mimics, tendons and equalities are constraints that act
elsewhere; armature is on the diagonal; gravity pulls every body, whatever its own gravity scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, Pose, VectorLike, cross
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial
from simwright.model.kinematics import Tree
from simwright.model.mass import body_inertials
from simwright.model.mechanism import Mechanism, Motions, compile_mechanism

GRAVITY = (0.0, 0.0, -9.81)
"""Where the file says nothing [m/s^2]."""


@dataclass(slots=True, eq=False)
class Block:
    """Some velocities; ``relatives[i, j]``: is j the step of i, or on the way from it to the world?"""

    rows: list[int]
    relatives: npt.NDArray[np.bool_]


@dataclass(slots=True, eq=False)
class Dynamics:
    """A mechanism with masses.  ``owners`` gives the step of each velocity."""

    mechanism: Mechanism
    masses: Array
    centers: Array
    inertias: Array
    armature: Array
    gravity: Array
    owners: list[int] = field(default_factory=list)
    _whole: Block | None = None
    _kept: tuple[Motions, Array] | None = None

    def mass_matrix(self, motions: Motions) -> Array:
        """``(n, velocities, velocities)`` joint-space inertia [kg m^2, kg m, kg]."""
        if self._whole is None:
            self._whole = self.make_block(range(self.mechanism.velocities))
        return self.mass_blocks(motions, [self._whole])[0]

    def mass_blocks(self, motions: Motions, blocks: Sequence[Block]) -> list[Array]:
        """Parts of the mass matrix: velocities of different trees do not act on each other, so a crowd is cheap."""
        composite = self._add_up(self._spatial_inertias(motions))
        # composite rigid bodies (Featherstone, chapter 6): all behind a freedom moves as one
        force = (composite[self.owners] @ motions.screws[..., None])[..., 0]
        return [self._fill_block(force, motions.screws, block) for block in blocks]

    def make_block(self, rows: Iterable[int]) -> Block:
        """A block of velocities that keep their order."""
        chosen = list(rows)
        place = {row: number for number, row in enumerate(chosen)}
        steps = self.mechanism.steps
        needed: set[int] = set()
        for row in chosen:
            # only steps on the way to the world are looked at: a crowd of robots has many more
            at = self.owners[row]
            while at >= 0 and at not in needed:
                needed.add(at)
                at = steps[at].parent
        reach: dict[int, npt.NDArray[np.bool_]] = {-1: np.zeros(len(chosen), dtype=bool)}
        relatives = np.zeros((len(chosen), len(chosen)), dtype=bool)
        for at in sorted(needed):
            step = steps[at]
            own = [place[row] for row in range(step.velocity, step.velocity + step.columns) if row in place]
            reach[at] = reach[step.parent].copy()
            reach[at][own] = True
            relatives[own] = reach[at]
        return Block(chosen, relatives)

    def _fill_block(self, force: Array, screws: Array, block: Block) -> Array:
        # row: the later freedom, whose composite body is moved; column: any on the way to the root
        full = force[block.rows].transpose(1, 0, 2) @ screws[block.rows].transpose(1, 2, 0)
        lower = np.where(block.relatives, full, 0.0)
        upper = np.where(block.relatives & ~block.relatives.T, full, 0.0)
        matrix: Array = lower + upper.transpose(0, 2, 1)
        diagonal = np.arange(len(block.rows))
        matrix[:, diagonal, diagonal] += self.armature[block.rows]
        return matrix

    def bias(self, motions: Motions, velocity: Array) -> Array:
        """``(n, velocities)`` generalised force that gravity and velocities alone ask for [N m, N]."""
        steps = self.mechanism.steps
        count = motions.screws.shape[1]
        rates = np.asarray(velocity, dtype=np.float64).reshape(count, -1).T[..., None]
        moved = motions.screws * rates
        own = np.zeros((len(steps), count, 6))
        for number, step in enumerate(steps):
            own[number] = moved[step.velocity : step.velocity + step.columns].sum(axis=0)
        before = np.zeros((len(steps) + 1, count, 6))
        speed = np.zeros((len(steps) + 1, count, 6))
        for number, step in enumerate(steps):
            before[number] = speed[step.parent]
            speed[number] = before[number] + own[number]
        # a step's own motion is carried along by what is before it
        growth = _cross_motion(before[:-1], own)
        acceleration = np.zeros((len(steps) + 1, count, 6))
        # gravity as an acceleration of the ground: no force on each body is needed
        acceleration[-1, :, 3:] = -self.gravity
        for number, step in enumerate(steps):
            acceleration[number] = acceleration[step.parent] + growth[number]
        holders = self.mechanism.holders
        inertias = self._spatial_inertias(motions)
        momentum = (inertias @ speed[holders][..., None])[..., 0]
        force = (inertias @ acceleration[holders][..., None])[..., 0]
        force += _cross_force(speed[holders], momentum)
        total = self._add_up(force)
        result: Array = np.einsum("vni,vni->nv", motions.screws, total[self.owners])
        return result

    def _spatial_inertias(self, motions: Motions) -> Array:
        """``(bodies, n, 6, 6)`` about the world's origin; those of the last motions are kept."""
        # mass matrix and bias are asked for at the same configuration, one after the other
        if self._kept is not None and self._kept[0] is motions:
            return self._kept[1]
        rotation = motions.bodies[..., :3, :3]
        center = np.einsum("bnij,bj->bni", rotation, self.centers) + motions.bodies[..., :3, 3]
        result = np.zeros((*rotation.shape[:2], 6, 6))
        mass = self.masses[:, None]
        turned = rotation @ self.inertias[:, None] @ rotation.swapaxes(-1, -2)
        square = np.einsum("bni,bni->bn", center, center)[..., None, None] * np.eye(3)
        outer = center[..., :, None] * center[..., None, :]
        result[..., :3, :3] = turned + mass[..., None, None] * (square - outer)
        # the off-diagonal blocks are the cross-product matrix of m c
        moment = mass[..., None] * center
        for i, j, k in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            result[..., i, 3 + j], result[..., j, 3 + i] = -moment[..., k], moment[..., k]
            result[..., 3 + i, 3 + i] = mass
        result[..., 3:, :3] = result[..., :3, 3:].swapaxes(-1, -2)
        self._kept = (motions, result)
        return result

    def _add_up(self, of_bodies: Array) -> Array:
        """Sums over everything behind each step, the last row being the world's."""
        steps = self.mechanism.steps
        total = np.zeros((len(steps) + 1, *of_bodies.shape[1:]))
        for body, holder in enumerate(self.mechanism.holders):
            total[holder] += of_bodies[body]
        # steps stand behind their parents: backwards, every sum is complete when it is added on
        for number in range(len(steps) - 1, -1, -1):
            total[steps[number].parent] += total[number]
        return total


def compile_dynamics(
    asset: Asset,
    tree: Tree | None = None,
    bases: dict[str, Pose] | None = None,
    gravity: VectorLike | None = None,
    inertials: dict[str, Inertial] | None = None,
) -> Dynamics:
    """The asset's tree with its masses; see :func:`~simwright.model.mechanism.compile_mechanism` for ``bases``.

    ``gravity`` [m/s^2] is the asset's own unless given, 9.81 downwards where it has none; ``inertials`` may give
    mass properties that were computed already.
    """
    mechanism = compile_mechanism(asset, tree, bases)
    inertials = body_inertials(asset) if inertials is None else inertials
    parts = [inertials[name] for name in mechanism.bodies]
    armature = np.zeros(mechanism.velocities)
    for freedom in mechanism.freedoms:
        # reflected inertia of a rotor: on the diagonal only, it does not move with the links
        armature[freedom.velocities] = freedom.dof.armature or 0.0
    if gravity is None:
        gravity = GRAVITY if asset.environment.gravity is None else asset.environment.gravity
    owners = [-1] * mechanism.velocities
    for number, step in enumerate(mechanism.steps):
        owners[step.velocity : step.velocity + step.columns] = [number] * step.columns
    return Dynamics(
        mechanism=mechanism,
        masses=np.array([part.mass for part in parts]),
        centers=np.array([part.com for part in parts]).reshape(-1, 3),
        inertias=np.array([part.inertia for part in parts]).reshape(-1, 3, 3),
        armature=armature,
        gravity=np.asarray(gravity, dtype=np.float64),
        owners=owners,
    )


def _cross_motion(v: Array, m: Array) -> Array:
    """Change of motion ``m`` carried along by motion ``v``."""
    w = v[..., :3]
    return np.concatenate(
        (cross(w, m[..., :3]), cross(w, m[..., 3:]) + cross(v[..., 3:], m[..., :3])), axis=-1
    )


def _cross_force(v: Array, f: Array) -> Array:
    """Change of momentum ``f`` carried along by motion ``v``."""
    w = v[..., :3]
    return np.concatenate(
        (cross(w, f[..., :3]) + cross(v[..., 3:], f[..., 3:]), cross(w, f[..., 3:])), axis=-1
    )
