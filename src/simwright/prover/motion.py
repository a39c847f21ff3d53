# SPDX-License-Identifier: Apache-2.0
"""How an asset moves in engines: scenarios, what each engine did, and whether that is the same motion.

Every engine makes a scenario twice, at a timestep and at half of it.  What is left of the difference to the reference
when both are extrapolated to a timestep of zero is not discretisation error: it is another machine, or other physics.

The reference is the engine that others are held against, at much smaller timesteps, extrapolated likewise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

import numpy as np

from simwright.core.math3d import Array

Positions = Mapping[str, Sequence[float]]
"""By joint of one freedom, counted from the reference pose [rad, m]; and by axis of a body that floats:
``trunk.x``, ``.y``, ``.z`` [m] and ``.rx``, ``.ry``, ``.rz``, the turn since the start [rad].  A value for each time.
"""


@dataclass(frozen=True, slots=True)
class MotionScenario:
    """One motion: ``seconds`` long at timesteps of ``step`` and half of it, ``samples`` moments are recorded.

    ``since`` is the part of the time that is not compared: what comes to rest is compared at rest.  ``floor`` is what
    may be left besides discretisation, relative to ``scale``: for single and for double precision.  ``shrinks`` is
    the part of the discretisation that an extrapolation may leave.
    """

    title: str
    needs: str
    seconds: float
    step: float
    samples: int
    single: float
    double: float
    reason: str
    since: float = 0.0
    shrinks: float = 0.25
    finer: tuple[int, int] = (8, 16)
    """How many times smaller than the others' the two timesteps of the reference are; contacts give way by more than
    a finer one would show."""


SCENARIOS = {
    "swing": MotionScenario(
        "free swing: gravity alone, from a seeded state", "a joint", 0.3, 0.001, 30, 2e-3, 1e-4,
        "rounding of single precision adds up over 1,000 steps; extrapolation leaves errors of second order",
    ),
    "response": MotionScenario(
        "drives step to new targets", "a servo", 0.5, 0.001, 50, 1e-2, 1e-2,
        "drives, friction and limits are constraints that give way a little in every engine, each in its own way",
    ),
    "coupled": MotionScenario(
        "free swing of joints that follow others", "a mimic joint", 0.3, 0.001, 30, 2e-2, 2e-2,
        "a coupling gives way a little in every engine, each in its own way",
    ),
    "drop": MotionScenario(
        "dropped by 2 cm with joints held, at rest", "a floating base with colliders", 1.0, 0.001, 50, 5e-2, 5e-2,
        "contacts sink in by millimetres, each engine by its own", since=0.8, finer=(4, 8),
    ),
    "slope": MotionScenario(
        "slides down a slope with joints held", "a floating base with colliders", 0.6, 0.001, 50, 5e-2, 5e-2,
        "contacts give way, each engine by its own, and friction is a pyramid in some", finer=(4, 8),
    ),
    "loop": MotionScenario(
        "free swing with closed loops", "a closed loop", 0.3, 0.001, 30, 2e-2, 2e-2,
        "a loop closure gives way a little in every engine, each in its own way",
    ),
}  # fmt: skip
"""In the order of the columns."""

SCALE = "the way that the joint goes, at least 0.1 rad or m"


@dataclass(frozen=True, slots=True)
class MotionRun:
    """What an engine did at one timestep [s]."""

    step: float
    positions: Positions


@dataclass(frozen=True, slots=True)
class MotionReference:
    """A scenario in the engine that others are held against.

    ``times`` [s] are those of all positions of the scenario.  ``positions`` are extrapolated from small timesteps, of
    which ``step`` is the smaller one [s]; ``uncertainty`` is how far the extrapolation moved it, relative.  ``runs``
    are its own at the timesteps of the others.  ``without`` has the properties that were left out, because an engine
    or its format has no place for them.
    """

    engine: str
    times: Sequence[float]
    step: float
    positions: Positions
    uncertainty: float
    runs: Sequence[MotionRun] = ()
    without: Sequence[str] = ()
    small: Positions = field(default_factory=dict)
    """What was extrapolated: positions at ``step``."""


@dataclass(slots=True)
class MotionResult:
    """One engine in one scenario.

    ``state`` is ``same``, ``differs``, ``none`` where the asset has nothing of the kind, or ``blank`` where the engine
    cannot do it; ``reason`` says why it is blank or none, and what differs.  All errors are relative to the way that
    the joint goes, at least 0.1 rad or m: ``error`` and ``error_half`` those at the timestep and at half of it,
    ``discretisation`` how far these two runs are apart, ``expected`` the error that an integrator of first order would
    have by that (twice as much), ``remainder`` what is left of the error when the timestep goes to zero, ``tolerance``
    what may be left.  ``worst`` is the joint with the largest remainder.  ``reference`` is what it is held against,
    ``until`` the time [s] that was compared: a motion that no timestep is small enough for is compared until then.
    """

    scenario: str
    state: str
    reason: str = ""
    runs: Sequence[MotionRun] = ()
    reference: MotionReference | None = None
    worst: str = ""
    until: float = 0.0
    error: float = 0.0
    error_half: float = 0.0
    discretisation: float = 0.0
    expected: float = 0.0
    remainder: float = 0.0
    tolerance: float = 0.0
    without: Mapping[str, str] = field(default_factory=dict)
    """Properties that were left out of both sides, with the reason."""

    ignored: str = ""
    """A property of the asset without which the reference moves as the engine does."""

    error_small: float | None = None
    """The error of ``worst`` at a ``SMALL`` part of the timestep, asked where the motion differs: it tells an engine
    that is not yet stable (it goes away) from single precision that loses what each step adds (it grows)."""

    sensitive: Mapping[str, float] = field(default_factory=dict)
    """What is not compared, because a start that is tilted by next to nothing moves it by more than may be left in the
    reference itself, with how far that is: where contacts give way decides it, and not the asset."""

    error_held: float | None = None
    """The error of ``worst`` at half the timestep while joints of several axes are held on both sides, asked where the
    motion differs and the asset has such joints."""

    error_undamped: float | None = None
    """The same without damping of joints on both sides, asked where the asset has some."""


SMALL = 8
"""How many times smaller the timestep is by which a motion that differs is explained."""

_LEAST = 0.1
"""A joint that goes less far than this is held against this [rad, m]."""

_UNSURE = 0.01
"""Motion is compared until extrapolation moves the reference by more: from there on no timestep is small enough."""

_MOST_LEFT = 0.1
"""What may be left at most, however far apart two runs are."""

_SHORTEST = 0.2
"""Part of the time that has to be left for it."""

_TOPPLED = 0.3
"""What has turned by more at the end has fallen over [rad]."""

_UNREST = 0.02
"""What moves by more at the end, of which rest is compared, is not at rest."""


def extrapolate(coarse: Positions, fine: Positions) -> dict[str, list[float]]:
    """Where an integrator of first order goes with its timestep, of runs at one and at half of it."""
    return {name: (2.0 * np.array(fine[name]) - np.array(coarse[name])).tolist() for name in fine}


def make_reference(
    engine: str,
    times: Sequence[float],
    small: Sequence[MotionRun],
    runs: Sequence[MotionRun],
    without: Sequence[str],
) -> MotionReference:
    """Of runs at two small timesteps, the larger one first, and its runs at the timesteps of the others."""
    coarse, fine = small
    positions = extrapolate(coarse.positions, fine.positions)
    moved = [
        float(np.abs(np.subtract(values, fine.positions[name])).max()) / _find_scale(values)
        for name, values in positions.items()
    ]
    return MotionReference(
        engine, times, fine.step, positions, max(moved, default=0.0), runs, without, fine.positions
    )


def find_sensitive(name: str, reference: MotionReference, tilted: MotionReference) -> dict[str, float]:
    """What moves in the reference by more than engines may be off, where it starts tilted by next to nothing."""
    scenario = SCENARIOS[name]
    start = int(scenario.since * scenario.samples)
    apart = {
        key: float(np.abs(np.subtract(tilted.positions[key], values)[start:]).max()) / _find_scale(values)
        for key, values in reference.positions.items()
    }
    return {key: far for key, far in apart.items() if far > scenario.double}


def compare_motion(
    name: str,
    reference: MotionReference,
    runs: Sequence[MotionRun],
    precision: str,
    sensitive: Mapping[str, float] = MappingProxyType({}),
) -> MotionResult:
    """Hold runs of an engine, at the timestep and at half of it, against the reference.

    What is ``sensitive`` to how it starts, with how far that is, is left out.
    """
    scenario, (coarse, fine) = SCENARIOS[name], runs
    floor = scenario.single if precision == "single" else scenario.double
    result = MotionResult(name, "same", runs=runs, reference=reference, sensitive=sensitive)
    start, end = int(scenario.since * scenario.samples), _find_end(reference)
    common = [key for key in reference.positions if key in fine.positions and key not in sensitive]
    result.reason = _find_blank(scenario, reference, common, sensitive)
    if result.reason:
        result.state = "blank"
        return result
    rows = [_measure(key, reference, runs, slice(start, end + 1)) for key in common]
    result.until = float(reference.times[end])
    for row in rows:
        # runs that are far apart tell that the engine is not stable, not that anything may be left
        row.tolerance = min(
            floor + scenario.shrinks * (row.discretisation + row.unsure), max(floor, _MOST_LEFT)
        )
    # "not smaller" would pass over what is not a number
    worst = max(
        rows, key=lambda row: row.remainder / row.tolerance if row.remainder == row.remainder else np.inf
    )
    result.worst, result.error, result.error_half = worst.key, worst.error, worst.error_half
    result.discretisation, result.expected = worst.discretisation, 2.0 * worst.discretisation
    result.remainder, result.tolerance = worst.remainder, worst.tolerance
    if not worst.remainder <= worst.tolerance:
        result.state = "differs"
        result.reason = (
            f"{worst.key} is off by {worst.error:.1e} at {coarse.step:g} s and {worst.error_half:.1e} at "
            f"{fine.step:g} s: {worst.remainder:.1e} is not discretisation"
        )
    elif worst.error > floor:
        result.reason = (
            f"discretisation: {worst.key} is off by {worst.error:.1e} at {coarse.step:g} s and "
            f"{worst.error_half:.1e} at half of it"
        )
    elif sensitive:
        result.reason = _tell_sensitive(reference, sensitive)
    return result


def _find_blank(
    scenario: MotionScenario,
    reference: MotionReference,
    common: Sequence[str],
    sensitive: Mapping[str, float],
) -> str:
    """Why a motion cannot be compared; empty where it can."""
    start, end = int(scenario.since * scenario.samples), _find_end(reference)
    if not common and sensitive:
        return _tell_sensitive(reference, sensitive)
    if not common:
        return "no joint or body of both can be followed"
    if start and _is_restless(reference, start):
        return f"it is not at rest after {scenario.seconds:g} s in {reference.engine}"
    if start and _topples(reference):
        return f"it topples in {reference.engine}: how contacts give way decides where it comes to rest"
    if end < max(start, _SHORTEST * scenario.samples):
        return f"the motion depends on the timestep at {reference.step:.0e} s still"
    return ""


def _tell_sensitive(reference: MotionReference, sensitive: Mapping[str, float]) -> str:
    key, far = max(sensitive.items(), key=lambda row: row[1])
    told = f"{', '.join(sorted(sensitive))} not compared: a start that is tilted by 0.1 degrees moves {key}"
    return f"{told} by {far:.1e} in {reference.engine} itself"


def find_error(reference: MotionReference, run: MotionRun, worst: str) -> tuple[str, float]:
    """How far one joint, or the worst of all where none is named, is off in a run that no tolerance is for."""
    end = _find_end(reference) + 1
    found = {
        key: float(np.abs(np.subtract(run.positions[key], want)[:end]).max()) / _find_scale(want)
        for key, want in reference.positions.items()
        if key in run.positions and worst in ("", key)
    }
    return max(found.items(), key=lambda row: row[1], default=(worst, 0.0))


@dataclass(slots=True)
class _MotionError:
    """How far one joint is off, relative to its way."""

    key: str
    error: float
    error_half: float
    discretisation: float
    remainder: float
    unsure: float
    tolerance: float = 0.0


def _measure(key: str, reference: MotionReference, runs: Sequence[MotionRun], part: slice) -> _MotionError:
    want = np.array(reference.positions[key])
    coarse, fine = (np.array(run.positions[key]) for run in runs)
    scale = _find_scale(want)

    def far(values: Array) -> float:
        return float(np.abs(values[part]).max()) / scale

    # contacts do not come to lie more exactly by extrapolating: then half the timestep counts
    remainder = min(far(2.0 * fine - coarse - want), far(fine - want))
    unsure = 0.0
    if reference.small:
        unsure = far(want - np.array(reference.small[key]))
    return _MotionError(key, far(coarse - want), far(fine - want), far(coarse - fine), remainder, unsure)


def _find_end(reference: MotionReference) -> int:
    """The last moment at which the reference is sure of all joints."""
    end = len(reference.times) - 1
    for name, values in reference.small.items():
        want = np.array(reference.positions[name])
        unsure = np.abs(want - np.array(values)) > _UNSURE * _find_scale(want)
        end = min(end, int(np.argmax(unsure)) - 1 if unsure.any() else end)
    return end


def _is_restless(reference: MotionReference, start: int) -> bool:
    return any(np.ptp(np.array(values)[start:]) > _UNREST for values in reference.positions.values())


def _topples(reference: MotionReference) -> bool:
    turns = [
        values[-1] for name, values in reference.positions.items() if name.endswith((".rx", ".ry", ".rz"))
    ]
    return bool(np.abs(turns).max(initial=0.0) > _TOPPLED)


def _find_scale(values: Sequence[float] | Array) -> float:
    return max(float(np.abs(np.array(values) - values[0]).max()), _LEAST)


def describe_motion(result: MotionResult) -> dict[str, Any]:
    """One engine in one scenario as plain data."""
    told: dict[str, Any] = {"state": result.state, "reason": result.reason, "without": dict(result.without)}
    if result.reference is None:
        return told
    names = (
        "error",
        "error_half",
        "error_small",
        "error_held",
        "error_undamped",
        "discretisation",
        "expected",
        "remainder",
        "tolerance",
        "worst",
        "until",
    )
    told |= {name: getattr(result, name) for name in names}
    told["sensitive"] = dict(result.sensitive)
    told["reference"] = _describe_reference(result.reference)
    told["runs"] = [_describe_run(run) for run in result.runs]
    return told


def _describe_reference(reference: MotionReference) -> dict[str, Any]:
    return {
        "engine": reference.engine,
        "step": reference.step,
        "uncertainty": reference.uncertainty,
        "times": [float(time) for time in reference.times],
        "positions": _round(reference.positions),
        "runs": [_describe_run(run) for run in reference.runs],
        "without": list(reference.without),
    }


def _describe_run(run: MotionRun) -> dict[str, Any]:
    return {"step": run.step, "positions": _round(run.positions)}


def _round(positions: Positions) -> dict[str, list[float]]:
    """To what can be seen: reports hold thousands of numbers."""
    return {name: [round(float(value), 9) for value in values] for name, values in positions.items()}
