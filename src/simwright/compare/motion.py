# SPDX-License-Identifier: Apache-2.0
"""The two machines at the same random configurations: body poses, mass matrix and bias force.

Coordinates are measured from each side's reference, ball and free coordinates in axes of the bodies, so they do not
depend on how joint frames are turned.  Freedoms that only one side has stay where the file puts them, at rest.

Errors, the largest over all configurations:

- position: distance / size of the machine; orientation: angle [rad];
- mass matrix: ``|dM_ij| / sqrt(M_ii M_jj)``, which is free of units and bounds every entry by its own scale;
- bias: ``|db_i| / sqrt(M_ii)`` over the largest ``|b_j| / sqrt(M_jj)``, free of units likewise.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.compare.difference import Figure, Section
from simwright.compare.pairing import Pairing
from simwright.compare.settings import Settings
from simwright.compare.values import Ruler
from simwright.core.math3d import Array, Pose
from simwright.model.dynamics import Dynamics, compile_dynamics
from simwright.model.joint import Motion
from simwright.model.mechanism import Freedom

_ROOM = 4_000_000
"""Numbers of one mass matrix batch."""
_TRAVEL = 1.0


def sample(pairing: Pairing, settings: Settings) -> tuple[Array, Array, Array, Array]:
    """Configurations and velocities of both sides; the first configuration moves nothing."""
    rng = np.random.default_rng(settings.seed)
    count = settings.configurations + 1
    first, second = pairing.mechanisms
    q_a, q_b = (np.tile(mechanism.neutral(), (count, 1)) for mechanism in (first, second))
    v_a, v_b = (np.zeros((count, mechanism.velocities)) for mechanism in (first, second))
    for a, b in pairing.freedoms:
        drawn = _draw(a, count - 1, rng)
        q_a[1:, a.positions] = drawn
        q_b[1:, b.positions] = _carry(a, b, drawn)
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
    """The same motion in the coordinates of the other side."""
    if a.dof.motion in (Motion.HINGE, Motion.SLIDE):
        return drawn - a.dof.ref + b.dof.ref
    if a.is_base or a.joint is None or b.joint is None:
        return drawn
    rows = []
    for row in drawn:
        if a.dof.motion is Motion.BALL:
            turn = Pose.of(q=a.joint.child_frame.q)
            back = Pose.of(q=b.joint.child_frame.q)
            rows.append((~back @ turn @ Pose.of(q=row) @ ~turn @ back).q)
        else:
            moved = a.joint.parent_frame @ Pose.of(row[:3], row[3:]) @ ~a.joint.child_frame
            frame = ~b.joint.parent_frame @ moved @ b.joint.child_frame
            rows.append(np.concatenate((frame.p, frame.q)))
    return np.array(rows).reshape(len(drawn), -1)


def compare_poses(section: Section, pairing: Pairing, ruler: Ruler, settings: Settings) -> None:
    """World poses of the bodies that both sides have."""
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
        section.notes.append("no body is on both sides")
        return
    a, b = first.move(q_a).bodies[[x for x, _ in pairs]], second.move(q_b).bodies[[y for _, y in pairs]]
    shift = np.linalg.norm(a[..., :3, 3] - b[..., :3, 3], axis=-1) / ruler.length
    # the largest entry of the difference of two rotations is their angle, for small ones
    turn = np.linalg.norm(a[..., :3, :3] - b[..., :3, :3], axis=(-2, -1)) / math.sqrt(2.0)
    for name, errors in (("position", shift), ("orientation", turn)):
        body, configuration = np.unravel_index(int(np.argmax(errors)), errors.shape)
        where = f"body {first.bodies[pairs[int(body)][0]]!r}, {_tell(int(configuration))}"
        section.figures.append(Figure(name, float(errors.max()), ruler.rtol, where))


def _tell(configuration: int) -> str:
    return f"configuration {configuration}" if configuration else "nothing moved"


def compare_motion(section: Section, pairing: Pairing, ruler: Ruler, settings: Settings) -> None:
    """Mass matrix and bias over the freedoms that both sides have."""
    first, second = (
        compile_dynamics(side.asset, side.tree, bases, inertials=side.inertials)
        for side, bases in zip((pairing.a, pairing.b), pairing.bases, strict=True)
    )
    q_a, q_b, v_a, v_b = sample(pairing, settings)
    rows_a = [row for a, _ in pairing.freedoms for row in range(a.velocity, a.velocities.stop)]
    rows_b = [row for _, b in pairing.freedoms for row in range(b.velocity, b.velocities.stop)]
    names = [a.name for a, _ in pairing.freedoms for _ in range(a.velocity, a.velocities.stop)]
    section.compared = len(rows_a)
    if not rows_a:
        section.notes.append("no freedom is on both sides")
        return
    worst = _Worst(names)
    step = max(1, _ROOM // max(1, max(d.mechanism.velocities for d in (first, second)) ** 2))
    for start in range(0, len(q_a), step):
        part = slice(start, start + step)
        a = _evaluate(first, q_a[part], v_a[part], rows_a)
        b = _evaluate(second, q_b[part], v_b[part], rows_b)
        worst.add(a, b, start)
    for figure in worst.figures(ruler.rtol):
        section.figures.append(figure)


def _evaluate(dynamics: Dynamics, q: Array, v: Array, rows: list[int]) -> tuple[Array, Array]:
    motions = dynamics.mechanism.move(q)
    return dynamics.mass_matrix(motions)[:, rows][:, :, rows], dynamics.bias(motions, v)[:, rows]


class _Worst:
    """Keeps the largest scaled errors."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._matrix = (0.0, "")
        self._bias = (0.0, "")

    def add(self, a: tuple[Array, Array], b: tuple[Array, Array], start: int) -> None:
        """One batch of both sides."""
        diagonal = np.maximum(*(np.einsum("nii->ni", m) for m in (a[0], b[0])))
        floor = diagonal.max(axis=1, keepdims=True) * 1e-12
        scale = np.sqrt(np.maximum(np.maximum(diagonal, floor), 1e-300))
        entries = np.abs(a[0] - b[0]) / (scale[:, :, None] * scale[:, None, :])
        n, i, j = np.unravel_index(int(np.argmax(entries)), entries.shape)
        where = f"{self._names[int(i)]!r} x {self._names[int(j)]!r}, {_tell(start + int(n))}"
        self._matrix = max(self._matrix, (float(entries.max()), where), key=lambda pair: pair[0])
        size = np.maximum(*(np.abs(f / scale).max(axis=1) for f in (a[1], b[1])))
        rows = np.abs((a[1] - b[1]) / scale) / np.maximum(size, 1e-300)[:, None]
        n, i = np.unravel_index(int(np.argmax(rows)), rows.shape)
        where = f"{self._names[int(i)]!r}, {_tell(start + int(n))}"
        self._bias = max(self._bias, (float(rows.max()), where), key=lambda pair: pair[0])

    def figures(self, rtol: float) -> list[Figure]:
        """The result."""
        return [Figure("mass matrix", self._matrix[0], rtol, self._matrix[1]),
                Figure("bias", self._bias[0], rtol, self._bias[1])]  # fmt: skip
