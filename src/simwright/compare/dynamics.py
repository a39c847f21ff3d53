# SPDX-License-Identifier: Apache-2.0
"""Gravity, mass properties, and the two mechanisms at the same random configurations: poses, mass matrix, bias force.

Mass properties are compared body by body, or group by group where the two assets cut a rigid group differently.

Coordinates are counted alike on both sides (see :mod:`.pairing`), ball and free coordinates in axes of the bodies, so
they do not depend on how joint frames are turned.  Freedoms that only one asset has stay where the file puts them, at
rest.  Errors, the largest over all configurations:

- position: distance / size of the mechanism; orientation: angle [rad];
- mass matrix: ``|dM_ij| / sqrt(M_ii M_jj)``, which is free of units and bounds every entry by its own scale;
- bias: ``|db_i| / sqrt(M_ii)`` over the largest ``|b_j| / sqrt(M_jj)``, free of units likewise.
"""

from __future__ import annotations

import math

import numpy as np

from simwright.compare.difference import (
    DifferenceItem,
    DifferenceSection,
    MeasuredError,
    ValueComparer,
    measure,
)
from simwright.compare.pairing import Pairing
from simwright.compare.settings import CompareSettings
from simwright.core.math3d import Array, Pose
from simwright.model.dynamics import GRAVITY, compile_dynamics
from simwright.model.filtering import find_components
from simwright.model.inertia import Inertial
from simwright.model.joint import WORLD, Motion
from simwright.model.mechanism import Freedom


def compare_gravity(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """The vector; where a file says nothing it is 9.81 m/s^2 downwards."""
    section.compared = 1
    values = []
    for side, name in ((pairing.a, "first"), (pairing.b, "second")):
        gravity = side.asset.environment.gravity
        # URDF has no word for gravity, and every engine assumes this value
        values.append(np.asarray(GRAVITY if gravity is None else gravity, dtype=np.float64))
        if gravity is None:
            section.notes.append(f"not said by the {name}")
    ruler.compare(section, "world", "gravity", values[0], values[1])


def compare_masses(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Mass, centre of mass and inertia; the centre against the size of the body, inertia by its norm."""
    worst = {"mass": (0.0, ""), "centre of mass": (0.0, ""), "inertia": (0.0, "")}
    for element, a, b in _list_pieces(section, pairing):
        section.compared += 1
        for what, found in zip(worst, measure_inertials(a, b), strict=True):
            error = math.inf if math.isnan(found) else found
            worst[what] = max(worst[what], (error, element), key=lambda pair: pair[0])
            if error > ruler.rtol:
                values = {"mass": a.mass, "centre of mass": a.com, "inertia": a.six}[what]
                others = {"mass": b.mass, "centre of mass": b.com, "inertia": b.six}[what]
                section.items.append(DifferenceItem(element, what, values, others, error=error))
    for what, (error, where) in worst.items():
        section.figures.append(MeasuredError(what, error, ruler.rtol, where))
    totals = [math.fsum(part.mass for part in side.inertials.values()) for side in (pairing.a, pairing.b)]
    section.figures.append(
        MeasuredError("total mass", measure(*totals), ruler.rtol, f"{totals[0]:g} and {totals[1]:g} kg")
    )


def _list_pieces(section: DifferenceSection, pairing: Pairing) -> list[tuple[str, Inertial, Inertial]]:
    pieces = []
    lumped = 0
    for group, (other, frame_a, frame_b) in pairing.anchors.items():
        bodies = pairing.a.groups.get(group, [])
        twins = pairing.b.groups.get(other, [])
        same = {pairing.bodies.get(name, WORLD) for name in bodies} == set(twins)
        if same:
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
            ]
        elif group and other:
            lumped += 1
            a, b = pairing.a.lump(group), pairing.b.lump(other)
            pieces.append((f"piece of {group!r}", a.moved(~frame_a), b.moved(~frame_b)))
        else:
            # what stands on the world does not move: only bodies that both sides have are held together
            pieces += [
                (f"body {name!r}", pairing.a.inertials[name], pairing.b.inertials[pairing.bodies[name]])
                for name in bodies
                if name in pairing.bodies
            ]
    if lumped:
        section.notes.append(f"cut into bodies differently, compared as a whole: {lumped} rigid piece(s)")
    return pieces


def measure_inertials(a: Inertial, b: Inertial) -> tuple[float, float, float]:
    """Relative errors of mass, centre and inertia."""
    heavy = max(abs(a.mass), abs(b.mass))
    if heavy == 0.0:
        return 0.0, 0.0, _norm_error(a.inertia, b.inertia)
    # the radius of gyration: the size of a body as seen from its mass
    spread = max(math.sqrt(max(float(np.trace(i.inertia)), 0.0) / heavy) for i in (a, b))
    # 1e-300 keeps a point mass at the origin from dividing by zero
    size = max(spread, float(np.abs(a.com).max()), float(np.abs(b.com).max()), 1e-300)
    center = float(np.linalg.norm(a.com - b.com)) / size
    return abs(a.mass - b.mass) / heavy, center, _norm_error(a.inertia, b.inertia)


def _norm_error(a: np.ndarray, b: np.ndarray) -> float:
    size = max(float(np.linalg.norm(a)), float(np.linalg.norm(b)))
    return float(np.linalg.norm(a - b)) / size if size > 0.0 else 0.0


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
        section.notes.append(f"at rest, because only one side has them: {left} freedom(s)")
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
        """The larger one; what is no number is as wrong as can be."""
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
