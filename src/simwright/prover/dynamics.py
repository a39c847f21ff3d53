# SPDX-License-Identifier: Apache-2.0
"""Poses, mass matrix and bias of a robot in two engines, in the same configurations.

A ball, a free joint and a joint of many axes may have other axes in every engine: their own rows of the mass matrix are
not compared, but what is left of the others when they are held, and when they give way, is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from simwright.prover.aspects import EARTH, Outcome, Told
from simwright.prover.matching import FreedomPair
from simwright.prover.workers.seen import Evaluated, Seen, SeenFreedom, rotate


def compare_dynamics(
    reference: Told, told: Told, pairs: list[FreedomPair], outcome: Outcome, *, matched: bool
) -> None:
    """Where both were asked about configurations; ``matched``: each has all joints of the other."""
    _compare_poses(reference, told, outcome)
    _compare_matrices(reference, told, pairs if matched else [], outcome)


def find_pose_error(want: Sequence[float], have: Sequence[float]) -> tuple[float, float]:
    """How far apart two poses are: [m], and [rad] by the largest entry of the matrices."""
    moved = float(np.abs(np.subtract(want[:3], have[:3])).max())
    return moved, float(np.abs(rotate(want[3:]) - rotate(have[3:])).max())


def find_size(poses: Mapping[str, Sequence[float]]) -> float:
    """What errors of places are relative to [m]."""
    return max(1.0, max((abs(value) for pose in poses.values() for value in pose[:3]), default=1.0))


def name_state(number: int) -> str:
    """How configurations are told: the first one is the reference pose."""
    return "reference pose" if not number else f"configuration {number}"


def _compare_poses(reference: Told, told: Told, outcome: Outcome) -> None:
    worst, item, where = 0.0, "", ""
    if not reference.states or not told.states:
        outcome.absent.add("poses")
        return
    for number, (one, other) in enumerate(zip(reference.states, told.states, strict=True)):
        if one.poses is None or other.poses is None:
            outcome.blank.setdefault("poses", "not reported")
            return
        size = find_size(one.poses)
        for name, pose in one.poses.items():
            if name not in other.poses:
                continue
            moved, turned = find_pose_error(pose, other.poses[name])
            error = max(moved / size, turned)
            # not "error > worst": an error that is not a number is the worst
            if not error <= worst:
                worst, item = error, name
                where = f"{name} is {moved:.1e} m and {turned:.1e} rad off ({name_state(number)})"
    outcome.errors["poses"] = worst
    if not worst <= outcome.find_tolerance("poses"):
        outcome.note("poses", item, where)


def _compare_matrices(reference: Told, told: Told, pairs: list[FreedomPair], outcome: Outcome) -> None:
    """Joints of one freedom, with all others held and with all others free to give way."""
    alone = [pair for pair in pairs if pair.alone]
    if not reference.states or not told.states or not alone:
        outcome.absent |= {"matrix", "bias"}  # there is nothing to compare it with
        return
    if odd := _find_odd_matrix(reference) or _find_odd_matrix(told):
        outcome.blank |= {"matrix": odd, "bias": odd}
        return
    _leave_untold(reference.states, told.states, outcome)
    orders = [_find_order(reference.seen, [pair.wanted[0] for pair in alone])]
    orders.append(_find_order(told.seen, [pair.found[0] for pair in alone]))
    # the most that gravity could do at a joint: all of the mass at the radius that its own inertia has.  A file in
    # centimetres has 981; one without gravity still has forces of speeds, which that of the Earth is a scale for
    weight = max(reference.gravity, EARTH) * float(np.sqrt(max(sum(reference.seen.masses.values()), 1e-9)))
    for number, both in enumerate(zip(reference.states, told.states, strict=True)):
        for aspect, state, rows in _find_errors(both, orders, weight):
            name = alone[int(np.argmax(rows))].name
            _note_error(aspect, float(np.max(rows)), name, f"{name_state(number)}, others {state}", outcome)


def _find_odd_matrix(told: Told) -> str:
    """What is wrong with a mass matrix that has other rows than the engine has freedoms; empty where all are right."""
    count = len(told.seen.freedoms)
    sizes = {len(state.mass_matrix) for state in told.states if state.mass_matrix is not None} - {count}
    return f"its mass matrix has {min(sizes)} rows for {count} degrees of freedom" if sizes else ""


def _leave_untold(reference: Iterable[Evaluated], told: Iterable[Evaluated], outcome: Outcome) -> None:
    for wanted, state in zip(reference, told, strict=True):
        if wanted.mass_matrix is None or state.mass_matrix is None:
            outcome.blank.setdefault("matrix", "not reported")
        # a bias is compared by the scale of the reference's matrix
        if wanted.bias is None or state.bias is None or wanted.mass_matrix is None:
            outcome.blank.setdefault("bias", "not reported")


def _note_error(aspect: str, error: float, item: str, where: str, outcome: Outcome) -> None:
    """The largest error of all configurations is the one that is told."""
    # "not larger" would pass over an error that is not a number
    if aspect in outcome.blank or error <= outcome.errors.get(aspect, -1.0):
        return
    outcome.errors[aspect] = error
    if not error <= outcome.find_tolerance(aspect):
        words = "mass matrix" if aspect == "matrix" else "bias"
        outcome.items[aspect] = item
        outcome.differences[aspect] = f"{words} off by {error:.1e} ({where})"


def _find_order(seen: Seen, chosen: list[SeenFreedom]) -> list[int]:
    """Rows of the mass matrix."""
    places = {id(row): number for number, row in enumerate(seen.freedoms)}
    return [places[id(row)] for row in chosen]


def _find_errors(
    both: tuple[Evaluated, Evaluated], orders: list[list[int]], weight: float
) -> list[tuple[str, str, Any]]:
    """ComparedAspect, state of the other freedoms, and the error of each compared one."""
    if both[0].mass_matrix is None:
        return []
    scale = np.sqrt(np.maximum(np.abs(np.diag(_hold(np.array(both[0].mass_matrix), orders[0]))), 1e-12))
    if both[1].mass_matrix is None:
        # what others do while they give way cannot be told without it
        if both[0].bias is None or both[1].bias is None:
            return []
        one, other = (np.array(side.bias)[order] for side, order in zip(both, orders, strict=True))
        return [("bias", "held", np.abs(other - one) / (scale * weight))]
    whole = [np.array(state.mass_matrix) for state in both]
    found = []
    for state, reduce in (("held", _hold), ("free", _release)):
        one, other = (reduce(*row) for row in zip(whole, orders, strict=True))
        found.append(("matrix", state, np.abs((other - one) / np.outer(scale, scale)).max(axis=1)))
    if both[0].bias is None or both[1].bias is None:
        return found
    for state, push in (("held", _push_held), ("free", _push_free)):
        one, other = (
            push(matrix, np.array(side.bias), chosen)
            for matrix, side, chosen in zip(whole, both, orders, strict=True)
        )
        found.append(("bias", state, np.abs(other - one) / (scale * weight)))
    return found


def _push_held(matrix: Any, bias: Any, chosen: list[int]) -> Any:
    del matrix
    return bias[chosen]


def _push_free(matrix: Any, bias: Any, chosen: list[int]) -> Any:
    """What is felt at some freedoms while all others give way."""
    others = [number for number in range(len(matrix)) if number not in set(chosen)]
    if not others:
        return bias[chosen]
    gives_way = np.linalg.pinv(matrix[np.ix_(others, others)]) @ bias[others]
    return bias[chosen] - matrix[np.ix_(others, chosen)].T @ gives_way


def _hold(matrix: Any, chosen: list[int]) -> Any:
    """The rows and columns of some freedoms: the inertia of these while all others are held."""
    return matrix[np.ix_(chosen, chosen)]


def _release(matrix: Any, chosen: list[int]) -> Any:
    """The same while all others give way, whatever coordinates they are counted in (the Schur complement)."""
    others = [number for number in range(len(matrix)) if number not in set(chosen)]
    if not others:
        return _hold(matrix, chosen)
    mixed = matrix[np.ix_(others, chosen)]
    return _hold(matrix, chosen) - mixed.T @ np.linalg.pinv(matrix[np.ix_(others, others)]) @ mixed
