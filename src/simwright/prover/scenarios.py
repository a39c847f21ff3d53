# SPDX-License-Identifier: Apache-2.0
"""Runs of every scenario of motion in engines, held against the reference: what they are given, and how it starts.

Every engine gets the same variant in its own format, so that nothing has to be switched off in the engine.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array
from simwright.model.asset import Asset
from simwright.prover.asking import EngineMover, ReferenceRobot
from simwright.prover.leaving import (
    GIVE,
    POINTS,
    SOFTNESS,
    NothingToMoveError,
    has_axes,
    has_loop,
    has_softness,
    hold_base,
    leave_air,
    leave_lists,
    leave_out,
    leave_shapes,
    list_loop_hinges,
    make_bare,
    require,
)
from simwright.prover.matching import ALONE, match_freedoms, tell_joint
from simwright.prover.motion import (
    SCENARIOS,
    SMALL,
    MotionReference,
    MotionResult,
    MotionRun,
    Positions,
    compare_motion,
    find_error,
    find_sensitive,
    make_reference,
)
from simwright.prover.processes import EnginePool, NotSeenError
from simwright.prover.solids import FRICTION, make_drop, make_slope
from simwright.prover.structure import Servo, find_servos
from simwright.prover.table import REFERENCE, IsolatedEngine
from simwright.prover.workers.seen import MotionOrder, Moved, NotAbleError, Seen, name_of, rotate

_STEP_PART = 0.25
"""How much of its range a drive goes."""


_STEP_FREE = 0.3
"""How far a drive goes that has no limits [rad, m]."""


_WIDE = 6.0
"""Less than a turn, beyond which PhysX has no limits [rad, m]."""


@dataclass(slots=True)
class MotionVariant:
    """What engines are given, and how it starts.

    ``start`` is a configuration, ``targets`` are those of drives, likewise.  ``ground`` is the
    friction of the ground, none where there is no ground; formats with a place for the ground have it in the asset.
    """

    asset: Asset
    start: dict[str, dict[str, Any]] = field(default_factory=dict)
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    ground: float | None = None

    @property
    def gravity(self) -> Array | None:
        """Of the scenario [m/s^2], none where it is the asset's own."""
        return self.asset.environment.gravity


def make_variant(
    asset: Asset,
    name: str,
    seen: Seen,
    configuration: Mapping[str, Mapping[str, Any]],
    without: Collection[str],
) -> MotionVariant:
    """The variant of a scenario; ``without`` are properties that an engine has no place for.

    ``seen`` is what MuJoCo sees of the asset, ``configuration`` a seeded one.  Raises ``NothingToMoveError``.
    """
    solids = {"drop": make_drop, "slope": make_slope}
    makers = {
        "swing": _make_swing, "response": _make_response, "coupled": _make_coupled, "loop": _make_loop,
    }  # fmt: skip
    if name in solids:
        variant = MotionVariant(solids[name](asset, tilted=_LEVEL in without), ground=FRICTION)
    else:
        variant = makers[name](asset, seen, configuration)
    leave_out(variant.asset, without)
    leave_air(variant.asset)
    return variant


def _make_swing(asset: Asset, seen: Seen, configuration: Mapping[str, Mapping[str, Any]]) -> MotionVariant:
    require(any(row.kind in ALONE for row in seen.freedoms), "no joint with one degree of freedom")
    bare = make_bare(asset)
    return MotionVariant(bare, {name: dict(values) for name, values in configuration.items()})


def _make_coupled(asset: Asset, seen: Seen, configuration: Mapping[str, Mapping[str, Any]]) -> MotionVariant:
    require(bool(seen.mimics), "no joint follows another")
    bare = make_bare(asset, keep_mimics=True)
    _widen_limits(bare)
    hold_base(bare)
    # from the reference pose, in which followers are where they belong, as fast as they belong
    speeds = dict(configuration.get("speeds", {}))
    for _ in seen.mimics:  # a leader may follow another
        speeds |= {name: ratio * speeds.get(leader, 0.0) for name, (leader, ratio) in seen.mimics.items()}
    bodies = {row.body: speeds[row.joint] for row in seen.freedoms if row.joint in speeds}
    return MotionVariant(bare, {"speeds": speeds, "body_speeds": bodies})


def _widen_limits(asset: Asset) -> None:
    """Limits that nothing reaches: PhysX couples no joint that turns without limits."""
    coupled = {name for mimic in asset.mimics for name in (mimic.follower, mimic.leader)}
    for joint in asset.joints:
        for dof in joint.dofs:
            if coupled & {joint.name, dof.name}:
                dof.lower, dof.upper = -_WIDE, _WIDE


def _make_loop(asset: Asset, seen: Seen, configuration: Mapping[str, Mapping[str, Any]]) -> MotionVariant:
    del seen, configuration
    require(has_loop(asset), "no closed loop")
    bare = make_bare(asset, keep_loops=True)
    hold_base(bare)
    return MotionVariant(bare)


def _make_response(asset: Asset, seen: Seen, configuration: Mapping[str, Mapping[str, Any]]) -> MotionVariant:
    servos = {name: servo for name, servo in find_servos(seen).items() if servo.stiffness > 0.0 and name}
    require(bool(servos), "no drive that goes to a position")
    driven = asset.copy()
    leave_shapes(driven, ())
    leave_lists(driven, "sensors", "cameras", "lights", "interfaces", "contexts", "controllers", "keyframes")
    driven.actuators = [one for one in driven.actuators if name_of(one.target) in servos]
    hold_base(driven)
    # a joint may be beyond its limits in the reference pose: it begins at the nearest one
    starts = {row.joint: _clip(0.0, row.limit) for row in seen.freedoms if row.kind in ALONE}
    targets = _choose_targets(seen, servos, starts, configuration)
    return MotionVariant(driven, _name_both(seen, starts), _name_both(seen, targets))


def _name_both(seen: Seen, positions: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """Positions of joints as a configuration has them: by joint, and by the body that it moves."""
    rows = [row for row in seen.freedoms if row.joint in positions]
    return {"joints": dict(positions), "bodies": {row.body: positions[row.joint] for row in rows}}


def _clip(value: float, limit: tuple[float | None, float | None]) -> float:
    low, high = limit
    value = value if low is None else max(value, low)
    return value if high is None else min(value, high)


def _choose_targets(
    seen: Seen,
    servos: Mapping[str, Servo],
    starts: Mapping[str, float],
    configuration: Mapping[str, Mapping[str, Any]],
) -> dict[str, float]:
    """A part of the way to a seeded position, within limits and what the motor may be commanded."""
    found = {}
    followers = set(seen.mimics)
    commands = {row.target: row for row in seen.actuators}
    for row in seen.freedoms:
        if row.joint not in servos or row.joint in followers:
            continue
        start = starts[row.joint]
        way = configuration.get("joints", {}).get(row.joint, 0.0) - start
        low, high = row.limit
        width = high - low if low is not None and high is not None else _STEP_FREE / _STEP_PART
        target = start + math.copysign(min(abs(way), _STEP_PART * width), way)
        command = commands.get(row.joint)
        if command is not None and command.control_range is not None:
            ends = sorted(end / command.gear[0] for end in command.control_range)
            target = min(max(target, ends[0]), ends[1])
        found[row.joint] = target
    return found


WriteFor = Callable[[Asset, IsolatedEngine, str], Path]
"""Writes an asset as an engine reads it, into a folder of that name."""


_COLUMNS = {
    "armature": "armature", "damping": "passive_damping", "friction": "friction", "springs": "passive_stiffness",
}  # fmt: skip
"""Properties that motion can be compared without, and where they are told."""

_OF_LOOPS: Mapping[str, Callable[[Asset], bool]] = {
    SOFTNESS: has_softness,
    POINTS: lambda asset: bool(list_loop_hinges(asset)),
    GIVE: has_loop,
}
"""Properties of loops, and whether an asset has them."""

_SCENARIO_OF = {"friction": "response", **dict.fromkeys(_OF_LOOPS, "loop")}
"""Properties that only one scenario is asked without."""


_LEVEL = "level start"
"""What the reference of a drop goes without where it starts tilted by next to nothing."""


_OF_JOINTS = ("swing", "response", "coupled", "loop")
"""Scenarios in which joints move."""


@dataclass(slots=True)
class _Prepared:
    """A variant with what MuJoCo sees of it, and coordinates that are not zero in the reference pose."""

    variant: MotionVariant
    robot: ReferenceRobot
    seen: Seen
    zeros: Mapping[str, float]


@dataclass(slots=True)
class ScenarioRuns:
    """All scenarios of one asset; variants and references are made once.

    ``seen`` is what MuJoCo sees of the asset, ``configuration`` a seeded one; ``against`` the engine that others are
    held against, none for MuJoCo in this process.
    """

    asset: Asset
    seen: Seen
    configuration: Mapping[str, Mapping[str, Any]]
    against: IsolatedEngine | None
    pool: EnginePool
    write: WriteFor
    _prepared: dict[tuple[str, tuple[str, ...]], _Prepared] = field(default_factory=dict)
    _references: dict[tuple[str, tuple[str, ...]], MotionReference | str] = field(default_factory=dict)

    def run(self, row: IsolatedEngine | None, precision: str) -> dict[str, MotionResult]:
        """Every scenario in one engine (none: MuJoCo in this process)."""
        mover = EngineMover(row, self.pool) if row is not None else None
        return {name: self._run_scenario(name, mover, precision) for name in SCENARIOS}

    def _run_scenario(self, name: str, mover: EngineMover | None, precision: str) -> MotionResult:
        try:
            return self._compare_scenario(name, mover, precision)
        except NothingToMoveError as missing:
            return MotionResult(name, "none", str(missing))
        except NotAbleError as error:
            return MotionResult(name, "blank", str(error))
        except NotSeenError as error:
            result = MotionResult(name, "differs", f"no motion: {error}")
            self._try_smaller(result, mover)
            return result
        except SimwrightError as error:
            return MotionResult(name, "blank", f"not written: {error}")

    def _compare_scenario(self, name: str, mover: EngineMover | None, precision: str) -> MotionResult:
        rows = [self.against] if self.against is not None else []
        rows += [mover.row] if mover is not None else []
        lacks = self._list_lacks(mover)
        prepared = self._prepare(name, tuple(lacks))
        for row in rows:
            if name in row.blank:
                raise NotAbleError(row.blank[name])
        reference = self._find_reference(name, tuple(lacks))
        step = SCENARIOS[name].step
        runs = [self._move(name, prepared, step / part, mover) for part in (1, 2)]
        result = compare_motion(name, reference, runs, precision)
        if result.state == "differs" and name not in _OF_JOINTS:
            tilted = self._find_reference(name, (*lacks, _LEVEL))
            sensitive = find_sensitive(name, reference, tilted)
            result = compare_motion(name, reference, runs, precision, sensitive)
        result.without = {**lacks, **{word: reason for row in rows for word, reason in row.adds.items()}}
        if result.state == "differs":
            result.ignored = self._find_ignored(name, runs, precision, tuple(lacks))
            if not result.ignored:
                self._try_smaller(result, mover)
                result.error_held = self._try_without(result, mover, "axes")
                result.error_undamped = self._try_without(result, mover, "damping")
        return result

    def _try_smaller(self, result: MotionResult, mover: EngineMover | None) -> None:
        """Do a motion of joints that differs again at a much smaller timestep, which tells why it does."""
        if mover is None or result.scenario not in _OF_JOINTS:
            return
        without = tuple(self._list_lacks(mover))
        try:
            prepared = self._prepare(result.scenario, without)
            reference = self._find_reference(result.scenario, without)
            run = self._move(result.scenario, prepared, SCENARIOS[result.scenario].step / SMALL, mover)
        except (NotSeenError, NotAbleError):
            return
        result.worst, result.error_small = find_error(reference, run, result.worst)

    def _try_without(self, result: MotionResult, mover: EngineMover | None, word: str) -> float | None:
        """How far the worst joint of a motion is off at half the timestep where both go without a property."""
        if mover is None or result.scenario not in _OF_JOINTS:
            return None
        lacks = tuple(self._list_lacks(mover))
        if word in lacks or not (has_axes(self.asset) if word == "axes" else self._has(word)):
            return None
        without = (*lacks, word)
        try:
            prepared = self._prepare(result.scenario, without)
            reference = self._find_reference(result.scenario, without)
            run = self._move(result.scenario, prepared, SCENARIOS[result.scenario].step / 2, mover, word)
        except (NotSeenError, NotAbleError):
            return None
        is_there = result.worst in reference.positions and result.worst in run.positions
        return find_error(reference, run, result.worst)[1] if is_there else None

    def _list_lacks(self, mover: EngineMover | None) -> dict[str, str]:
        """What motion is compared without: what one of the two engines has no place for, with the reason."""
        rows = [self.against] if self.against is not None else []
        rows += [mover.row] if mover is not None else []
        return {word: reason for one in rows for word, reason in one.lacks.items() if self._has(word)}

    def _find_ignored(
        self, name: str, runs: Sequence[MotionRun], precision: str, without: tuple[str, ...]
    ) -> str:
        """The property without which the reference moves as the engine does, if there is one."""
        if name not in _OF_JOINTS:
            return ""
        for word in (*_COLUMNS, *_OF_LOOPS):
            if word in without or not self._has(word) or _SCENARIO_OF.get(word, name) != name:
                continue
            try:
                other = self._find_reference(name, (*without, word))
            except NotAbleError:
                continue
            if compare_motion(name, other, runs, precision).state == "same":
                return word
        return "reaction" if name == "coupled" and self._leads_freely(runs, precision, without) else ""

    def _leads_freely(self, runs: Sequence[MotionRun], precision: str, without: tuple[str, ...]) -> bool:
        """Whether joints that others follow move in the engine as if nothing followed them."""
        try:
            alone = self._find_reference("coupled", (*without, "mimics"))
        except NotAbleError:
            return False

        # others may feel that followers move otherwise than alone
        leaders = {leader for leader, _ in self.seen.mimics.values()} - set(self.seen.mimics)

        def leave(positions: Positions) -> Positions:
            return {name: values for name, values in positions.items() if name in leaders}

        alone = replace(alone, positions=leave(alone.positions), small=leave(alone.small))
        return compare_motion("coupled", alone, runs, precision).state == "same"

    def _has(self, word: str) -> bool:
        if word in _OF_LOOPS:
            return _OF_LOOPS[word](self.asset)
        return any(getattr(row, _COLUMNS[word]) for row in self.seen.freedoms)

    def _prepare(self, name: str, without: tuple[str, ...]) -> _Prepared:
        key = name, without
        if key not in self._prepared:
            variant = make_variant(self.asset, name, self.seen, self.configuration, without)
            robot = ReferenceRobot(variant.asset, self.pool.answers)
            (first,) = robot.evaluate([{}])
            variant.start["roots"] = dict(first.poses or {})
            self._prepared[key] = _Prepared(variant, robot, robot.describe(), robot.list_zeros())
        return self._prepared[key]

    def _find_reference(self, name: str, without: tuple[str, ...]) -> MotionReference:
        """The motion that others are held against; raises ``NotAbleError``, and asks once only."""
        key = name, without
        if key not in self._references:
            try:
                self._references[key] = self._make_reference(name, without)
            except (NotSeenError, NotAbleError, SimwrightError) as error:
                told = self.against.name if self.against else REFERENCE
                self._references[key] = f"{told} gives no motion to compare the others with: {error}"
        found = self._references[key]
        if isinstance(found, str):
            raise NotAbleError(found)
        return found

    def _make_reference(self, name: str, without: tuple[str, ...]) -> MotionReference:
        scenario, prepared = SCENARIOS[name], self._prepare(name, without)
        mover = EngineMover(self.against, self.pool) if self.against is not None else None
        runs = [self._move(name, prepared, scenario.step / part, mover) for part in (1, 2, *scenario.finer)]
        times = np.linspace(0.0, scenario.seconds, scenario.samples + 1).tolist()
        return make_reference(mover.row.name if mover else REFERENCE, times, runs[2:], runs[:2], without)

    def _move(
        self, name: str, prepared: _Prepared, step: float, mover: EngineMover | None, less: str = ""
    ) -> MotionRun:
        """A scenario at one timestep; ``less`` names a variant of it that lacks more than the engine needs."""
        scenario, variant = SCENARIOS[name], prepared.variant
        # URDF has the coordinates of the asset, others those from the reference pose
        zeros = prepared.zeros if mover is not None and mover.row.format == "urdf" else {}
        order = MotionOrder(
            step,
            round(scenario.seconds / scenario.samples / step),
            scenario.samples,
            _shift(variant.start, zeros),
            variant.targets,
            prepared.seen.floating,
        )
        if mover is None:
            seen, moved = prepared.seen, prepared.robot.move(order)
        else:
            row = mover.row
            world = prepared.robot.gravity, variant.ground
            key = f"{name}-{less}" if less else name
            seen, moved = mover.move(key, order, lambda: self.write(variant.asset, row, key), world)
        return MotionRun(step, _name_positions(prepared.seen, seen, moved, zeros))


def _shift(start: Mapping[str, Mapping[str, Any]], zeros: Mapping[str, float]) -> dict[str, dict[str, Any]]:
    """A start in coordinates that are not zero in the reference pose."""
    joints = start.get("joints", {})
    moved = {name: joints.get(name, 0.0) + zero for name, zero in zeros.items()}
    return {**{name: dict(values) for name, values in start.items()}, "joints": {**joints, **moved}}


def _name_positions(
    wanted: Seen, seen: Seen, moved: Moved, zeros: Mapping[str, float]
) -> dict[str, Sequence[float]]:
    """Positions by the reference's names of joints, and of bodies that float by axis."""
    places = {id(row): number for number, row in enumerate(seen.freedoms)}
    found: dict[str, Sequence[float]] = {}
    for pair in match_freedoms(wanted, seen)[0]:
        if not pair.alone:
            continue
        column, zero = places[id(pair.found[0])], zeros.get(pair.found[0].joint, 0.0)
        values = [row[column] for row in moved.joints]
        if all(value is not None for value in values):
            found[tell_joint(pair.wanted)] = [float(value or 0.0) - zero for value in values]
    for body, poses in moved.bodies.items():
        rows = np.array([[*pose[:3], *_find_turn(poses[0], pose)] for pose in poses])
        for number, axis in enumerate(("x", "y", "z", "rx", "ry", "rz")):
            found[f"{body}.{axis}"] = rows[:, number].tolist()
    return found


def _find_turn(first: Sequence[float], pose: Sequence[float]) -> Sequence[float]:
    """The turn from a pose to another, as the vector of its axis with the length of its angle [rad]."""
    matrix = rotate(pose[3:]) @ rotate(first[3:]).T
    axis = (
        np.array([matrix[2, 1] - matrix[1, 2], matrix[0, 2] - matrix[2, 0], matrix[1, 0] - matrix[0, 1]])
        / 2.0
    )
    sine = float(np.linalg.norm(axis))
    angle = float(np.arctan2(sine, (np.trace(matrix) - 1.0) / 2.0))
    turned: list[float] = (axis * (angle / sine if sine > 1e-12 else 1.0)).tolist()
    return turned
