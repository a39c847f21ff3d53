# SPDX-License-Identifier: Apache-2.0
"""What engines are given for each scenario of motion, and how it starts.

Every engine gets the same variant in its own format, so that nothing has to be switched off in the engine.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright.core.math3d import Array
from simwright.model.asset import Asset
from simwright.prover.leaving import (
    has_loop,
    hold_base,
    leave_air,
    leave_lists,
    leave_out,
    leave_shapes,
    make_bare,
    require,
)
from simwright.prover.matching import ALONE
from simwright.prover.solids import FRICTION, make_drop, make_slope
from simwright.prover.structure import Servo, find_servos
from simwright.prover.workers.seen import Seen, name_of

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
        variant = MotionVariant(solids[name](asset), ground=FRICTION)
    else:
        variant = makers[name](asset, seen, configuration)
    leave_out(variant.asset, without)
    leave_air(variant.asset)
    return variant


def _make_swing(asset: Asset, seen: Seen, configuration: Mapping[str, Mapping[str, Any]]) -> MotionVariant:
    require(any(row.kind in ALONE for row in seen.freedoms), "no joint of one freedom")
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
