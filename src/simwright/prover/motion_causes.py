# SPDX-License-Identifier: Apache-2.0
"""What can be seen of a motion that differs in an engine: explanations are the word of a cause and a sentence.

Called by ``causes`` where nothing of the structure or the dynamics explains the motion already.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simwright.prover.aspects import Told
from simwright.prover.motion import SCENARIOS, SMALL, MotionResult, Positions, find_error
from simwright.prover.solids import FRICTION
from simwright.prover.workers.seen import SeenFreedom

DROPPED, ONE_WAY = "mimic dropped", "reaction ignored"
NOT_EXPLAINED = "not explained"
NOT_KEPT_UP = "the joint does not keep up with the joint that it follows"
_SHRINKING = 0.75
"""An error that is this part of itself at half the timestep shrinks."""

_BASE_AXES = ("x", "y", "z", "rx", "ry", "rz")
_STANDS = 1e-9
"""What moves by less [m] does not move."""

_AS_FAR = 0.5
"""A reference that is off by this part of the error at the same timestep explains it."""

_GOES_AWAY = 0.25
_GROWS = 2.0
"""An error that is this part of itself at a much smaller timestep goes away, or grows."""

_GIVES_WAY = 1e-3
"""A coupling that is off by more gives way [rad, m]."""

_LOOSE = 0.02
_NEAR_LIMIT = 0.01
"""[rad, m]"""

_AT_LIMIT = 1.05
"""A joint that is no faster than this part of its speed limit keeps to it."""

_TURNED = 0.3
"""What has turned by more has fallen over [rad]."""

_ROCKS = 0.25
"""What moves at the end by this part of what it is off is not at rest."""

_FALLEN = 0.1
"""Below the reference by more than this [m], nothing held it."""


def explain_speed(limit: float | None, result: MotionResult) -> tuple[str, str] | None:
    """By the speed limit of the asset, which the engine keeps to and MuJoCo has no place for."""
    if limit is None or result.reference is None or result.scenario != "response":
        return None
    runs = (result.reference.positions[result.worst], result.runs[-1].positions[result.worst])
    wanted, found = (_find_fastest(values, result.reference.times) for values in runs)
    if wanted <= limit or found > _AT_LIMIT * limit:
        return None
    told = f"the asset limits the speed of the joint to {limit:.3g}, the engine keeps to it"
    return "speed limit", f"{told}, and {result.reference.engine} goes up to {wanted:.3g}"


def _find_fastest(values: Sequence[float], times: Sequence[float]) -> float:
    return float(np.abs(np.diff(values) / np.diff(times)).max())


# one function: a line for each thing that is tried, by how certain it is
def explain_runs(result: MotionResult, reference: Told) -> tuple[str, str]:
    """By what was recorded, the most certain first."""
    if result.scenario in ("drop", "slope"):
        return _explain_contact(result)
    if result.scenario == "coupled" and comes_loose(result, reference):
        return DROPPED, NOT_KEPT_UP
    told = _explain_held_base(result) or _explain_reference(result)
    if told is not None:
        return told
    if result.scenario == "response" and (told := _explain_response(result, reference)) is not None:
        return told
    if result.error_half < _SHRINKING * result.error:
        return (
            "integrator",
            "the error shrinks with the timestep, but not as that of first order: take smaller steps",
        )
    if (smaller := explain_smaller(result)) is not None:
        return smaller
    if (less := _explain_by_less(result)) is not None:
        return less
    if result.scenario == "coupled" and (apart := _find_gap(result, reference)) > _GIVES_WAY:
        return "constraint", f"a coupling gives way by {apart:.1e} in the engine"
    return NOT_EXPLAINED, "masses, inertias and forces are the same, and no cause was found"


def _explain_by_less(result: MotionResult) -> tuple[str, str] | None:
    """By what is right where both engines go without something."""
    if result.error_held is not None and result.error_held <= result.tolerance:
        evidence = f"while joints of several axes are held, the error is {result.error_held:.1e}"
        return "several axes", f"the engine moves joints that have several axes otherwise: {evidence}"
    if result.error_undamped is not None and result.error_undamped <= max(
        result.tolerance, _GOES_AWAY * result.error_half
    ):
        evidence = f"without damping of joints on both sides, the error is {result.error_undamped:.1e}"
        return "damping law", f"the engine damps joints otherwise: {evidence}"
    return None


def _explain_held_base(result: MotionResult) -> tuple[str, str] | None:
    """By a base that falls in the reference and does not move at all in the engine."""
    body, _, axis = result.worst.rpartition(".")
    places = result.runs[-1].positions.get(f"{body}.z", ()) if body and axis in _BASE_AXES else ()
    if not len(places) or np.ptp(places) > _STANDS:
        return None
    return "held base", "the base stays where it is in the engine"


def _explain_reference(result: MotionResult) -> tuple[str, str] | None:
    """By the reference itself at the timestep of the engine, where that is as far off."""
    reference = result.reference
    own = (
        next((run for run in reference.runs if run.step == result.runs[-1].step), None) if reference else None
    )
    if reference is None or own is None:
        return None
    _, error = find_error(reference, own, result.worst)
    if error < _AS_FAR * result.error_half:
        return None
    told = f"{reference.engine} itself is off by {error:.1e} at {own.step:g} s"
    return "timestep", f"{told}, and comes to its motion at {reference.step:.1e} s"


def explain_smaller(result: MotionResult) -> tuple[str, str] | None:
    """By the error at a much smaller timestep, where that was asked."""
    if result.error_small is None:
        return None
    step = SCENARIOS[result.scenario].step
    told = f"{result.error_small:.1e} at {step / SMALL:g} s"
    # without runs there is no tolerance either: no numbers at all are worse than any
    least = min(result.error, result.error_half) if result.runs else 1.0
    if result.error_small < _GOES_AWAY * least or (result.runs and result.error_small <= result.tolerance):
        return "timestep", f"the engine is not stable at {step:g} s: the error is {told}"
    if result.discretisation > 1.0:
        apart = f"runs at {step:g} s and at half of it are {result.discretisation:.1e} of the way apart"
        return "timestep", f"the engine is not stable: {apart}, and the error is {told}"
    if result.runs and result.error_small > _GROWS * max(result.error, result.error_half):
        return "rounding", f"the error grows while steps get smaller, to {told}: each of them is rounded"
    return None


def _explain_response(result: MotionResult, reference: Told) -> tuple[str, str] | None:
    # a joint without a drive may end near its start too, thrown back by a soft limit
    if reference.is_driven(result.worst) and _stays(result):
        return "missing drive", "the joint does not reach the target of its drive"
    rows = reference.list_freedoms(result.worst)
    if rows and _reaches_limit(result, rows[0]):
        return "limit softened", "the joint is at its limit, which gives way otherwise in the engine"
    if any(row.friction for row in reference.seen.freedoms):
        return "friction model", "joints have friction, which every engine has a law of its own for"
    return None


def _explain_contact(result: MotionResult) -> tuple[str, str]:
    height = (
        next((name for name in result.reference.positions if name.endswith(".z")), "")
        if result.reference
        else ""
    )
    if _find_rise(result, height) < -_FALLEN:
        return "collision pair", "it falls through the ground: nothing touches in the engine"
    if not _turns(result.reference.positions if result.reference else {}) and _turns(
        result.runs[-1].positions
    ):
        return (
            "contact model",
            "it falls over in the engine: how contacts give way decides whether it stays up",
        )
    if result.scenario == "slope":
        rise = _find_rise(result, height)
        if result.worst == height and rise > 0.0:
            return "friction model", (
                f"it rises by {rise:.1e} m while it slides: a friction law that is convex pushes what slides away"
            )
        return (
            "friction model",
            f"with a friction of {FRICTION:g} everywhere, it slides otherwise in the engine",
        )
    if (rocking := _find_rocking(result)) is not None:
        return "contact model", (
            f"it rocks still, by {rocking:.1e} rad or m at the end, where the reference lies still: contacts take "
            "less energy in the engine"
        )
    return "contact model", "it lies otherwise on the ground: shapes or contacts are others in the engine"


def _find_rocking(result: MotionResult) -> float | None:
    """How far the engine still moves while the reference is at rest, where that is most of the difference."""
    if result.reference is None or result.worst not in result.reference.positions:
        return None
    start = int(SCENARIOS[result.scenario].since * SCENARIOS[result.scenario].samples)
    wanted, found = (
        np.array(positions[result.worst])[start:]
        for positions in (result.reference.positions, result.runs[-1].positions)
    )
    moving = float(np.ptp(found))
    apart = float(np.abs(found - wanted).max())
    return moving if moving > max(_ROCKS * apart, 2.0 * float(np.ptp(wanted))) else None


def _find_rise(result: MotionResult, height: str) -> float:
    """How much higher it is at the end than it should be [m]; zero where that is not told."""
    if result.reference is None or height not in result.runs[-1].positions:
        return 0.0
    return result.runs[-1].positions[height][-1] - result.reference.positions[height][-1]


def _turns(positions: Positions) -> bool:
    ends = [values[-1] for name, values in positions.items() if name.endswith((".rx", ".ry", ".rz"))]
    return bool(np.abs(ends).max(initial=0.0) > _TURNED)


def comes_loose(result: MotionResult, reference: Told) -> bool:
    """Whether a follower of the engine is far from where its leader puts it."""
    return _find_gap(result, reference) > _LOOSE


def _find_gap(result: MotionResult, reference: Told) -> float:
    """How far followers of the engine are from where their leaders put them [rad, m]."""
    positions = result.runs[-1].positions
    worst = 0.0
    for name, (leader, ratio) in reference.seen.mimics.items():
        if name in positions and leader in positions:
            apart = np.subtract(positions[name], ratio * np.array(positions[leader]))
            worst = max(worst, float(np.abs(apart - apart[0]).max()))
    return worst


def _stays(result: MotionResult) -> bool:
    """Whether the joint goes less than half as far as it should."""
    if result.reference is None:
        return False
    ends = [run[result.worst] for run in (result.reference.positions, result.runs[-1].positions)]
    wanted, found = (values[-1] - values[0] for values in ends)
    return bool(abs(wanted) > _LOOSE and found * np.sign(wanted) < 0.5 * abs(wanted))


def _reaches_limit(result: MotionResult, row: SeenFreedom) -> bool:
    assert result.reference is not None
    values = result.reference.positions[result.worst]
    low, high = row.limit
    near = _NEAR_LIMIT
    return (low is not None and min(values) < low + near) or (high is not None and max(values) > high - near)
