# SPDX-License-Identifier: Apache-2.0
"""Controllers that work on goals: joint trajectories, and grippers.

At the end: what is refused of a trajectory, and where joints should be at a time.  Between points that is a straight
line where only positions are given, a cubic with velocities, a quintic with accelerations, as ros2_control does it.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.ros.control import ActiveController, ControllerParts, ControllerSettings
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import NANO, are_finite, make_header, read_seconds
from simwright.ros.moment import SimulationMoment
from simwright.ros.serving import NoDataError
from simwright.ros.servos import JointTargets
from simwright.ros.transports.transport import ActionBehaviour, GoalHandle, Message, Receive

TRAJECTORY = "trajectory_msgs/msg/JointTrajectory"
SUCCESSFUL, INVALID_JOINTS, PATH_VIOLATED, GOAL_VIOLATED = 0, -2, -4, -5
"""Error codes of ``control_msgs/action/FollowJointTrajectory``."""
_GOAL_TOLERANCE = 0.01
"""Of joints whose goal tolerance nobody says [rad, m]."""
_GOAL_TIME = 10.0
"""How long after its end a goal may take to arrive where nobody says [s]."""
_MONITOR_RATE = 20.0
_STALLED_SPEED, _STALLED_TIME = 1e-3, 0.5


class TrajectoryFollower(ActiveController, ActionBehaviour):
    """Follows joint trajectories, as goals of an action or as messages."""

    def __init__(self, parts: ControllerParts) -> None:
        entry, freedoms, names = parts.entry, parts.freedoms, parts.list_commanded()
        super().__init__(entry.controller.name, {n: freedoms[n] for n in names if n in freedoms})
        if not self.freedoms:
            raise NoDataError(f"controller {self.name!r} names no joints that can be moved")
        said = ControllerSettings(entry.controller)
        limits = said.group("constraints")
        self._partial = bool(entry.controller.settings.get("allow_partial_joints_goal", False))
        self._tolerances = {
            name: _as_number(limits[name].get("goal")) if isinstance(limits.get(name), dict) else None
            for name in self.freedoms
        }
        self._goal_time = said.number("timeout", _as_number(limits.get("goal_time")) or _GOAL_TIME)
        still = _as_number(limits.get("stopped_velocity_tolerance"))
        self._still = said.number("stopped_velocity_tolerance", math.inf if still is None else still)
        self._period = 1.0 / max(said.number("action_monitor_rate", _MONITOR_RATE), 1e-3)
        self._path: JointPath | None = None
        self._handle: GoalHandle | None = None
        self._started = self._told = 0.0

    def receive_by(self, endpoint: RosEndpoint) -> Receive | None:
        """See the base class."""
        if endpoint.type != TRAJECTORY:
            return None

        def receive(message: Message) -> None:
            if not explain_refusal(message, self.freedoms, partial=self._partial):
                self._end("aborted", GOAL_VIOLATED, "another trajectory took its place")
                self._follow(message)

        return receive

    def act_by(self, endpoint: RosEndpoint) -> ActionBehaviour | None:
        """See the base class."""
        return self if endpoint.type == "control_msgs/action/FollowJointTrajectory" else None

    def refuse(self, goal: Message) -> str:
        """See :class:`ActionBehaviour`."""
        if not self.is_enabled:
            return f"controller {self.name!r} is not enabled"
        reason = explain_refusal(goal["trajectory"], self.freedoms, partial=self._partial)
        stamp = read_seconds(goal["trajectory"]["header"]["stamp"])
        if not reason and stamp > 0.0:
            last = goal["trajectory"]["points"][-1]["time_from_start"]
            if stamp + read_seconds(last) < self.now:
                return "it ended in the past"
        return reason

    def begin(self, handle: GoalHandle) -> None:
        """See :class:`ActionBehaviour`; a goal that is worked on gives way."""
        self._end("aborted", GOAL_VIOLATED, "another goal took its place")
        self._handle = handle
        self._follow(handle.goal["trajectory"])

    def _follow(self, trajectory: Message) -> None:
        rows = [self.freedoms[name] for name in trajectory["joint_names"]]
        place, rate = self.moment.positions, self.moment.velocities
        self._path = make_path(trajectory, [place[f.q] for f in rows], [rate[f.v] for f in rows])
        # trajectory_msgs: a stamp of zero means now
        stamp = read_seconds(trajectory["header"]["stamp"])
        self._started = self._told = stamp if stamp > 0.0 else self.now

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        path, handle = self._path, self._handle
        if path is None:
            return
        rows = [self.freedoms[name] for name in path.joints]
        if handle is not None and handle.is_cancelled:
            # hold where the joints are: the point that was aimed at may be far ahead
            for freedom in rows:
                targets.set_position(freedom, float(moment.positions[freedom.q]))
            self._end("canceled", SUCCESSFUL, "")
            return
        time = self.now - self._started
        wanted, rates = path.sample(time)
        for freedom, place, rate in zip(rows, wanted, rates, strict=True):
            targets.set_position(freedom, float(place), float(rate))
        if handle is not None:
            self._judge(moment, handle, path, time)
        elif time >= path.duration:
            self._path = None

    def _judge(self, moment: SimulationMoment, handle: GoalHandle, path: JointPath, time: float) -> None:
        """Tell how far a goal is, and end it where it has arrived or cannot."""
        rows = [self.freedoms[name] for name in path.joints]
        place = np.array([moment.positions[f.q] for f in rows])
        rate = np.array([moment.velocities[f.v] for f in rows])
        wanted, rates = path.sample(time)
        error = wanted - place
        if self.now - self._told >= self._period:
            self._told = self.now
            handle.tell(_make_feedback(moment.time, path.joints, (wanted, rates), (place, rate)))
        path_limits = self._read_limits(handle.goal["path_tolerance"], path.joints, {})
        if time < path.duration and bool((np.abs(error) > path_limits).any()):
            worst = int(np.argmax(np.abs(error) - path_limits))
            self._end("aborted", PATH_VIOLATED, f"{path.joints[worst]} is {error[worst]:.4g} off its path")
            return
        if time < path.duration:
            return
        limits = self._read_limits(handle.goal["goal_tolerance"], path.joints, self._tolerances)
        if bool((np.abs(error) <= limits).all()) and bool((np.abs(rate) <= self._still).all()):
            self._end("succeeded", SUCCESSFUL, "")
            return
        allowed = read_seconds(handle.goal["goal_time_tolerance"]) or self._goal_time
        if time > path.duration + allowed:
            worst = int(np.argmax(np.abs(error) - limits))
            self._end("aborted", GOAL_VIOLATED, f"{path.joints[worst]} is {error[worst]:.4g} off its goal")

    @staticmethod
    def _read_limits(
        said: Sequence[Message], joints: Sequence[str], known: Mapping[str, float | None]
    ) -> Array:
        """How far joints may be off: what the goal says, then the controller; below zero is without limit."""
        given = {entry["name"]: float(entry["position"]) for entry in said}
        found = []
        for name in joints:
            value = given.get(name, 0.0)
            # control_msgs/JointTolerance: 0 means the default, and a path has none
            if value == 0.0:
                own = known.get(name)
                value = (_GOAL_TOLERANCE if own is None else own) if known else math.inf
            found.append(math.inf if value < 0.0 else value)
        return np.array(found)

    def _end(self, state: str, code: int, reason: str) -> None:
        """Finish the goal that is worked on, if there is one."""
        handle, self._handle = self._handle, None
        self._path = None
        if handle is not None:
            handle.finish(state, {"error_code": code, "error_string": reason})

    def stop(self, targets: JointTargets, positions: Array) -> None:
        """End the goal, and stand still."""
        self._end("aborted", GOAL_VIOLATED, f"controller {self.name!r} was turned off")
        super().stop(targets, positions)

    def reset(self) -> str:
        """Forget the trajectory."""
        was = self._path is not None
        self._end("aborted", GOAL_VIOLATED, "the simulation was reset")
        return "the trajectory is forgotten" if was else ""


def _as_number(value: Any) -> float | None:
    try:
        return None if value is None else float(value)
    except (TypeError, ValueError):
        return None


def _make_feedback(
    time: int, joints: Sequence[str], wanted: tuple[Array, Array], actual: tuple[Array, Array]
) -> Message:
    rows = {"desired": wanted, "actual": actual, "error": (wanted[0] - actual[0], wanted[1] - actual[1])}
    return {
        "header": make_header(time, ""),
        "joint_names": list(joints),
        **{name: {"positions": place, "velocities": rate} for name, (place, rate) in rows.items()},
    }


class GripperMover(ActiveController, ActionBehaviour):
    """Opens and closes a gripper: one joint that goes to a position, or stalls on what it holds."""

    def __init__(self, parts: ControllerParts) -> None:
        entry, freedoms, names = parts.entry, parts.freedoms, parts.list_commanded()
        super().__init__(entry.controller.name, {n: freedoms[n] for n in names[:1] if n in freedoms})
        if not self.freedoms:
            raise NoDataError(f"controller {self.name!r} names no joint that can be moved")
        said = ControllerSettings(entry.controller)
        self._tolerance = said.number("goal_tolerance", _GOAL_TOLERANCE)
        self._slow = said.number("stall_velocity_threshold", _STALLED_SPEED)
        self._patience = said.number("stall_timeout", _STALLED_TIME)
        self._may_stall = bool(entry.controller.settings.get("allow_stalling", False))
        self._handle: GoalHandle | None = None
        self._goal = 0.0
        self._moving_since = self._told = 0.0
        self._is_parallel = False

    def act_by(self, endpoint: RosEndpoint) -> ActionBehaviour | None:
        """See the base class."""
        self._is_parallel = endpoint.type.endswith("/ParallelGripperCommand")
        return self if endpoint.type.endswith("GripperCommand") else None

    def _read_goal(self, goal: Message) -> float:
        place = goal["command"]["position"]
        return float(place[0]) if self._is_parallel else float(place)

    def refuse(self, goal: Message) -> str:
        """See :class:`ActionBehaviour`."""
        if not self.is_enabled:
            return f"controller {self.name!r} is not enabled"
        if self._is_parallel and len(goal["command"]["position"]) != 1:
            return "one position is taken"
        return "" if are_finite([self._read_goal(goal)]) else "the position is not a number"

    def begin(self, handle: GoalHandle) -> None:
        """See :class:`ActionBehaviour`."""
        self._finish("aborted", None)
        self._handle, self._goal, self._moving_since = handle, self._read_goal(handle.goal), -1.0

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        (freedom,) = self.freedoms.values()
        now, handle = moment.time / NANO, self._handle
        if handle is None:
            return
        place, rate = float(moment.positions[freedom.q]), float(moment.velocities[freedom.v])
        if handle.is_cancelled:
            targets.set_position(freedom, place)
            self._finish("canceled", moment)
            return
        targets.set_position(freedom, self._goal)
        # the first moments of a motion are slow, too
        if abs(rate) > self._slow or self._moving_since < 0.0:
            self._moving_since = now
        if now - self._told >= 1.0 / _MONITOR_RATE:
            self._told = now
            # control_msgs: the feedback of ParallelGripperCommand is the state alone, its result has all
            handle.tell(self._report(moment, full=not self._is_parallel))
        # somewhat faster than standing still is enough: a servo settles slowly near its goal
        if abs(place - self._goal) <= self._tolerance and abs(rate) <= 10 * self._slow:
            self._finish("succeeded", moment)
        elif now - self._moving_since > self._patience:
            self._finish("succeeded" if self._may_stall else "aborted", moment)

    def _report(self, moment: SimulationMoment, *, full: bool = True) -> Message:
        ((name, freedom),) = self.freedoms.items()
        place = float(moment.positions[freedom.q])
        reached = abs(place - self._goal) <= self._tolerance
        ends = {"stalled": not reached, "reached_goal": reached} if full else {}
        if self._is_parallel:
            return {"state": {"name": [name], "position": np.array([place])}, **ends}
        return {"position": place, "effort": 0.0, **ends}

    def _finish(self, state: str, moment: SimulationMoment | None) -> None:
        handle, self._handle = self._handle, None
        if handle is not None:
            handle.finish(state, self._report(moment) if moment is not None else {})

    def stop(self, targets: JointTargets, positions: Array) -> None:
        """End the goal, and stand still."""
        self._finish("aborted", None)
        super().stop(targets, positions)


MOST_POINTS = 100_000


@dataclass(frozen=True, slots=True)
class JointPath:
    """Points over time [s] from its start: positions, velocities and accelerations (points x joints).

    Velocities and accelerations are None where no point gives them.
    """

    joints: tuple[str, ...]
    times: Array
    positions: Array
    velocities: Array | None
    accelerations: Array | None

    @property
    def duration(self) -> float:
        """Time of the last point [s]."""
        return float(self.times[-1])

    def sample(self, time: float) -> tuple[Array, Array]:
        """Positions and velocities at a time; after the end, the last point at rest."""
        if time >= self.duration:
            return self.positions[-1], np.zeros(len(self.joints))
        row = max(int(np.searchsorted(self.times, time, side="right")) - 1, 0)
        if time <= self.times[0]:
            return self.positions[0], np.zeros(len(self.joints))
        span = float(self.times[row + 1] - self.times[row])
        share = (time - float(self.times[row])) / span
        return _blend(self, row, share, span)


def _blend(path: JointPath, row: int, share: float, span: float) -> tuple[Array, Array]:
    """The polynomial between two points; ``share`` from 0 to 1."""
    start, end = path.positions[row], path.positions[row + 1]
    # As joint_trajectory_controller: as many derivatives as the points give are met at both ends.
    if path.velocities is None:
        return start + share * (end - start), (end - start) / span
    first, last = path.velocities[row] * span, path.velocities[row + 1] * span
    gap = end - start
    if path.accelerations is None:
        # the cubic with position and velocity given at both ends (Hermite)
        a2, a3 = 3 * gap - 2 * first - last, -2 * gap + first + last
        place = start + share * (first + share * (a2 + share * a3))
        rate = first + share * (2 * a2 + share * 3 * a3)
        return place, rate / span
    # the quintic with position, velocity and acceleration given at both ends, in powers of the share
    begun, ended = path.accelerations[row] * span**2, path.accelerations[row + 1] * span**2
    a2 = begun / 2
    a3 = 10 * gap - 6 * first - 4 * last - (3 * begun - ended) / 2
    a4 = -15 * gap + 8 * first + 7 * last + (3 * begun - 2 * ended) / 2
    a5 = 6 * gap - 3 * (first + last) - (begun - ended) / 2
    place = start + share * (first + share * (a2 + share * (a3 + share * (a4 + share * a5))))
    rate = first + share * (2 * a2 + share * (3 * a3 + share * (4 * a4 + share * 5 * a5)))
    return place, rate / span


def explain_refusal(trajectory: Message, known: Collection[str], *, partial: bool) -> str:
    """Why a ``trajectory_msgs/JointTrajectory`` cannot be followed; "" where it can."""
    # one check after another, in the order in which a person would read what is wrong
    names, points = list(trajectory["joint_names"]), trajectory["points"]
    unknown = [name for name in names if name not in known]
    missing = [name for name in known if name not in names]
    if unknown:
        return f"joint {unknown[0]!r} is none of {', '.join(known)}"
    if len(set(names)) != len(names):
        return "a joint is named twice"
    if not names or (missing and not partial):
        return f"joint {missing[0]!r} is missing"
    if not points or len(points) > MOST_POINTS:
        return f"it has {len(points)} points; 1 to {MOST_POINTS} are taken"
    before = -1.0
    for number, point in enumerate(points):
        time = read_seconds(point["time_from_start"])
        if time <= before:
            return f"point {number} is not after the one before"
        before = time
        reason = _explain_point(point, len(names))
        if reason:
            return f"point {number} has {reason}"
    return ""


def _explain_point(point: Message, count: int) -> str:
    """What is wrong with the numbers of one point."""
    for part in ("positions", "velocities", "accelerations"):
        # positions have to be there; the rest may be left out
        allowed = (count,) if part == "positions" else (0, count)
        if len(point[part]) not in allowed:
            return f"{len(point[part])} {part} for {count} joints"
        if not are_finite(point[part]):
            return f"{part} that are not numbers"
    return ""


def make_path(
    trajectory: Message, now: Sequence[float] | Array, moving: Sequence[float] | Array
) -> JointPath:
    """A trajectory that was not refused, from where the joints are now unless it begins at once."""
    names, points = tuple(trajectory["joint_names"]), trajectory["points"]
    times = [read_seconds(point["time_from_start"]) for point in points]
    rows = {
        part: [np.asarray(point[part], dtype=np.float64) for point in points]
        for part in ("positions", "velocities", "accelerations")
    }
    has_velocities = all(len(row) == len(names) for row in rows["velocities"])
    has_accelerations = has_velocities and all(len(row) == len(names) for row in rows["accelerations"])
    # without a point at zero the way begins where the joints are, moving as they do
    if times[0] > 0.0:
        times.insert(0, 0.0)
        rows["positions"].insert(0, np.asarray(now, dtype=np.float64))
        rows["velocities"].insert(0, np.asarray(moving, dtype=np.float64))
        rows["accelerations"].insert(0, np.zeros(len(names)))
    return JointPath(
        names,
        np.array(times),
        np.array(rows["positions"]),
        np.array(rows["velocities"]) if has_velocities else None,
        np.array(rows["accelerations"]) if has_accelerations else None,
    )
