# SPDX-License-Identifier: Apache-2.0
"""The two mechanisms at the same random configurations: poses, mass matrix and bias force.

Coordinates are counted alike on both sides (see :mod:`.pairing`), ball and free coordinates in axes of the bodies, so
they do not depend on how joint frames are turned.  Freedoms that only one asset has stay where the file puts them, at
rest.  Errors, the largest over all configurations:

- position: distance / size of the mechanism; orientation: angle [rad];
- mass matrix: ``|dM_ij| / sqrt(M_ii M_jj)``, which is free of units and bounds every entry by its own scale;
- bias: ``|db_i| / sqrt(M_ii)`` over the largest ``|b_j| / sqrt(M_jj)``, free of units likewise.

The mass matrix comes from composite rigid bodies, the bias (gravity and velocity products) from the recursive
Newton-Euler equations with zero accelerations, both in double precision with vectors at the world's origin.
As in MuJoCo, both are those of the tree: loops, mimics, tendons and equalities are constraints that act
elsewhere; armature is on the diagonal; gravity pulls every body, whatever its own gravity scale.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from simwright.compare.difference import (
    CompareSettings,
    DifferenceItem,
    DifferenceSection,
    MeasuredError,
    ValueComparer,
)
from simwright.compare.pairing import Pairing
from simwright.core.math3d import Array, Pose, VectorLike, cross
from simwright.model.asset import Asset
from simwright.model.filtering import find_components
from simwright.model.inertia import Inertial
from simwright.model.joint import Motion
from simwright.model.kinematics import Tree
from simwright.model.mass import body_inertials
from simwright.model.mechanism import Freedom, Mechanism, Motions, compile_mechanism

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


_ROOM = 4_000_000
"""Numbers in the mass matrices of one batch."""
_SMALL = 64
"""Velocities up to which trees go into one block."""
_NOTHING = 1e-6
"""Share of the weight of all bodies below which gravity and motion ask for no effort at all."""
_TRAVEL = 1.0


def sample(pairing: Pairing, settings: CompareSettings) -> tuple[Array, Array, Array, Array]:
    """Configurations and velocities of both sides; the first configuration moves nothing."""
    rng = np.random.default_rng(settings.seed)
    count = settings.configurations + 1
    first, second = pairing.mechanisms
    # row 0 stays neutral: the poses as the files give them
    q_a, q_b = (np.tile(mechanism.neutral(), (count, 1)) for mechanism in (first, second))
    v_a, v_b = (np.zeros((count, mechanism.velocities)) for mechanism in (first, second))
    for a, b in pairing.freedoms:
        drawn = _draw(a, count - 1, rng)
        q_a[1:, a.positions] = drawn
        if a.dof.motion in (Motion.HINGE, Motion.SLIDE):
            zero_a, zero_b = pairing.zeros(a, b)
            q_b[:, b.positions] = q_a[:, a.positions] - zero_a + zero_b
        elif a.is_base:
            q_b[:, b.positions] = q_a[:, a.positions]
        else:
            q_b[1:, b.positions] = _carry(a, b, drawn)
        # the same velocities on both sides: they are in axes of the bodies, not of joint frames
        size = a.velocities.stop - a.velocity
        v_a[:, a.velocities] = v_b[:, b.velocities] = rng.standard_normal((count, size))
    return q_a, q_b, v_a, v_b


def _draw(freedom: Freedom, count: int, rng: np.random.Generator) -> Array:
    """Coordinates within the limits; half a turn or a metre to each side where there are none."""
    dof = freedom.dof
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        reach = math.pi if dof.motion is Motion.HINGE else _TRAVEL
        low = dof.lower if math.isfinite(dof.lower) else min(dof.ref, dof.upper) - reach
        high = dof.upper if math.isfinite(dof.upper) else max(dof.ref, low) + reach
        return rng.uniform(low, max(low, high), (count, 1))
    quats = rng.standard_normal((count, 4))
    quats /= np.linalg.norm(quats, axis=1, keepdims=True)
    if dof.motion is Motion.BALL:
        return quats
    return np.concatenate((rng.uniform(-_TRAVEL, _TRAVEL, (count, 3)), quats), axis=1)


def _carry(a: Freedom, b: Freedom, drawn: Array) -> Array:
    """The same turn, or the same place of a free body, in the coordinates of the other side."""
    assert a.joint is not None
    assert b.joint is not None
    rows = []
    for row in drawn:
        if a.dof.motion is Motion.BALL:
            turn = Pose.of(q=a.joint.child_frame.q)
            back = Pose.of(q=b.joint.child_frame.q)
            # the rotation is the same in the child body; only the joint frames on it differ
            rows.append((~back @ turn @ Pose.of(q=row) @ ~turn @ back).q)
        else:
            moved = a.joint.parent_frame @ Pose.of(row[:3], row[3:]) @ ~a.joint.child_frame
            frame = ~b.joint.parent_frame @ moved @ b.joint.child_frame
            rows.append(np.concatenate((frame.p, frame.q)))
    return np.array(rows).reshape(drawn.shape)


def compare_poses(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, settings: CompareSettings
) -> None:
    """World poses of the bodies that both sides have, and where free ones begin."""
    _compare_starts(section, pairing, ruler)
    q_a, q_b, _, _ = sample(pairing, settings)
    first, second = pairing.mechanisms
    rows = {name: number for number, name in enumerate(second.bodies)}
    pairs = [
        (number, rows[pairing.bodies[name]])
        for number, name in enumerate(first.bodies)
        if name in pairing.bodies
    ]
    section.compared = len(pairs)
    if not pairs:
        _tell_nothing_shared(section, "bodies", len(first.bodies), len(second.bodies))
        return
    a, b = first.move(q_a).bodies[[x for x, _ in pairs]], second.move(q_b).bodies[[y for _, y in pairs]]
    shift = np.linalg.norm(a[..., :3, 3] - b[..., :3, 3], axis=-1) / ruler.length
    # the largest entry of the difference of two rotations is their angle, for small ones
    turn = np.linalg.norm(a[..., :3, :3] - b[..., :3, :3], axis=(-2, -1)) / math.sqrt(2.0)
    for name, found in (("position", shift), ("orientation", turn)):
        errors = np.where(np.isnan(found), np.inf, found)
        body, configuration = np.unravel_index(int(np.argmax(errors)), errors.shape)
        where = f"body {first.bodies[pairs[int(body)][0]]!r}, {_tell(int(configuration))}"
        section.figures.append(MeasuredError(name, float(errors.max()), ruler.rtol, where))


def _compare_starts(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Where the files put bodies that move freely; from there on they are compared in the same place."""
    neutral = [mechanism.neutral() for mechanism in pairing.mechanisms]
    for pair in pairing.freedoms:
        if pair[0].is_base:
            rows = [q[freedom.positions] for q, freedom in zip(neutral, pair, strict=True)]
            starts = [Pose.of(row[:3], row[3:]) for row in rows]
            ruler.compare_pose(section, f"start of body {pair[0].body!r}", *starts)


def _tell_nothing_shared(section: DifferenceSection, what: str, a: int, b: int) -> None:
    """Two machines that have nothing in common are not equal, unless there is nothing at all."""
    if a or b:
        section.items.append(DifferenceItem("asset", f"{what}, none of them shared", a, b))


def _tell(configuration: int) -> str:
    return f"configuration {configuration}" if configuration else "nothing moved"


# one function: both mechanisms step through the same batches together
def compare_motion(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, settings: CompareSettings
) -> None:
    """Mass matrix and bias over the freedoms that both assets have."""
    first, second = (
        compile_dynamics(side.asset, side.tree, bases, inertials=side.inertials)
        for side, bases in zip((pairing.a, pairing.b), pairing.bases, strict=True)
    )
    rows_a, rows_b = (_list_rows([pair[number] for pair in pairing.freedoms]) for number in (0, 1))
    section.compared = len(rows_a)
    sizes = first.mechanism.velocities, second.mechanism.velocities
    if not rows_a:
        _tell_nothing_shared(section, "freedoms", *sizes)
        return
    if sizes != (len(rows_a), len(rows_a)):
        left = sum(sizes) - 2 * len(rows_a)
        section.notes.append(f"at rest, because only one side has them: {left} degree(s) of freedom")
    names = [a.name for a, _ in pairing.freedoms for _ in range(a.velocity, a.velocities.stop)]
    # forces are divided by the root of a mass below, so the weight is too: N / sqrt(kg)
    weight = np.linalg.norm(first.gravity) * np.sqrt(np.sum(np.abs(first.masses)))
    worst = _LargestErrors(names, _NOTHING * float(weight))
    blocks = _list_blocks(pairing)
    blocks_a = [first.make_block(rows_a[number] for number in block) for block in blocks]
    blocks_b = [second.make_block(rows_b[number] for number in block) for block in blocks]
    # memory decides how many configurations go into one batch: mass matrices, and about 100 numbers per row
    size = sum(len(block) ** 2 for block in blocks) + 100 * max(len(rows_a), len(first.masses))
    step = max(1, _ROOM // size)
    states = sample(pairing, settings)
    for start in range(0, len(states[0]), step):
        q_a, q_b, v_a, v_b = (state[start : start + step] for state in states)
        moved_a, moved_b = first.mechanism.move(q_a), second.mechanism.move(q_b)
        matrices = zip(
            blocks, first.mass_blocks(moved_a, blocks_a), second.mass_blocks(moved_b, blocks_b), strict=True
        )
        bias = first.bias(moved_a, v_a)[:, rows_a], second.bias(moved_b, v_b)[:, rows_b]
        worst.add(list(matrices), bias, start)
    section.figures += worst.figures(ruler.rtol)


def _list_rows(freedoms: list[Freedom]) -> list[int]:
    """Rows of the mass matrix that some freedoms have, in their order."""
    return [row for freedom in freedoms for row in range(freedom.velocity, freedom.velocities.stop)]


def _list_blocks(pairing: Pairing) -> list[list[int]]:
    """Numbers of the matched velocities, tree by tree; small trees go together."""
    trees = find_components(pairing.a.tree)
    blocks: dict[str, list[int]] = {}
    number = 0
    for a, _ in pairing.freedoms:
        count = a.velocities.stop - a.velocity
        blocks.setdefault(trees[a.body], []).extend(range(number, number + count))
        number += count
    result: list[list[int]] = []
    for block in blocks.values():
        if result and len(result[-1]) + len(block) <= _SMALL:
            result[-1] += block
        else:
            result.append(block)
    return result


class _LargestErrors:
    """The largest scaled errors so far, and where they are.

    A bias below ``least`` [N / sqrt(kg)] is rounding.
    """

    def __init__(self, names: list[str], least: float = 0.0) -> None:
        self._names = names
        self._least = max(least, 1e-150)
        self._matrix = (0.0, "")
        self._bias = (0.0, "")

    def add(
        self, matrices: list[tuple[list[int], Array, Array]], bias: tuple[Array, Array], start: int
    ) -> None:
        """One batch of both sides: blocks of mass matrices, whole bias vectors."""
        scale = np.zeros_like(bias[0])
        for rows, a, b in matrices:
            scale[:, rows] = np.sqrt(np.maximum(*(np.einsum("nii->ni", m) for m in (a, b))).clip(0.0))
        # a massless dof has a zero on the diagonal
        scale = np.maximum(scale, scale.max(axis=1, keepdims=True) * 1e-6).clip(1e-150)
        for rows, a, b in matrices:
            part = scale[:, rows]
            self._matrix = self._keep(
                self._matrix, np.abs(a - b) / (part[:, :, None] * part[:, None, :]), rows, start
            )
        size = np.maximum(*(np.abs(f / scale).max(axis=1) for f in bias))
        errors = np.abs((bias[0] - bias[1]) / scale) / np.maximum(size, self._least)[:, None]
        self._bias = self._keep(self._bias, errors, list(range(len(self._names))), start)

    def _keep(
        self, worst: tuple[float, str], errors: Array, rows: list[int], start: int
    ) -> tuple[float, str]:
        """The larger one; what is not a number is as wrong as can be."""
        errors = np.where(np.isnan(errors), np.inf, errors)
        largest = float(errors.max())
        if largest <= worst[0]:
            return worst
        configuration, *entry = np.unravel_index(int(np.argmax(errors)), errors.shape)
        where = " x ".join(repr(self._names[rows[int(number)]]) for number in entry)
        return largest, f"{where}, {_tell(start + int(configuration))}"

    def figures(self, rtol: float) -> list[MeasuredError]:
        """The result."""
        return [
            MeasuredError("mass matrix", *_place(self._matrix, rtol)),
            MeasuredError("bias", *_place(self._bias, rtol)),
        ]


def _place(worst: tuple[float, str], rtol: float) -> tuple[float, float, str]:
    return worst[0], rtol, worst[1]
