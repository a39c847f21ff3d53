# SPDX-License-Identifier: Apache-2.0
"""Driving a task by hand and keeping what was done: keys or a page move the tool, kept episodes are recorded.

Episodes are driven live first, and only their actions are kept.  What is kept is played again for recorders when the
session is over: physics is the same bit for bit, so recorders that draw pictures cost nothing while somebody drives,
and an episode that is thrown away was never written.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import Array, Pose, rotation_vector_between
from simwright.tasks.control import ActionController
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.runner import Episode, Listener, RunSummary, SimRunner

# how far one action moves and turns the tool while a key is held [m], [rad]
_PACE, _TURN = 0.004, 0.03
# a terminal repeats keys and does not tell when they are let go: a press counts this long [s]
_HELD = 0.12
# of what is left to where a page wants the tool that one action goes
_SHARE = 0.3

MOTIONS: dict[str, tuple[int, float]] = {
    "w": (1, 1.0), "s": (1, -1.0), "d": (0, 1.0), "a": (0, -1.0), "r": (2, 1.0), "f": (2, -1.0),
    "e": (5, -1.0), "q": (5, 1.0), "i": (3, 1.0), "k": (3, -1.0), "j": (4, 1.0), "l": (4, -1.0),
}  # fmt: skip
"""Keys and what they move: an axis of the world (x, y, z, and turns about them) and its direction."""
GRIPPER_KEY, KEEP_KEY, AGAIN_KEY, NEXT_ARM_KEY, END_KEY = " ", "\n", "\x7f", "\t", "\x1b"
HELP = (
    "w s: y   d a: x   r f: up, down   q e: turn   i k, j l: tilt   space: gripper\n"
    "Tab: next arm   Enter: keep this episode   Backspace: once more   Esc: end"
)
"""The keys, for people."""


class SessionEnd(Exception):  # noqa: N818 - no error: who drives asked for it
    """Who drives is done."""


class TeleopInput:
    """What somebody who drives wants, from any thread: keys that are held, a place for the tool, and decisions."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock, self._clock = threading.Lock(), clock
        self._held: dict[str, float] = {}
        self._goal: Pose | None = None
        self._wishes: list[str] = []
        self.is_open = True
        """Is the gripper to be open?"""
        self.arm = 0
        """Which tool is driven."""

    def press(self, key: str) -> None:
        """A key; those that move count for a moment, others once."""
        with self._lock:
            if key in MOTIONS:
                self._held[key] = self._clock() + _HELD
                # keys and the page do not pull at the same time
                self._goal = None
            elif key == GRIPPER_KEY:
                self.is_open = not self.is_open
            elif key == NEXT_ARM_KEY:
                self.arm, self._goal = self.arm + 1, None
            else:
                self._wishes.append(key)

    def aim(self, goal: Pose) -> None:
        """Where the tool is to go, in the world."""
        with self._lock:
            self._goal = goal

    def start(self, is_open: bool) -> None:
        """An episode begins."""
        with self._lock:
            self._held.clear()
            self._goal, self._wishes, self.is_open = None, [], is_open

    def take_wish(self) -> str:
        """The next decision: a key, or nothing."""
        with self._lock:
            return self._wishes.pop(0) if self._wishes else ""

    def find_motion(self, tool: Pose) -> Array:
        """What one action moves (3) and turns (3) of the tool that is driven."""
        with self._lock:
            if self._goal is not None:
                away = self._goal.p - tool.p
                return _SHARE * np.concatenate([away, rotation_vector_between(tool.q, self._goal.q)])
            now, motion = self._clock(), np.zeros(6)
            for key, until in self._held.items():
                if until > now:
                    axis, sign = MOTIONS[key]
                    motion[axis] += sign * (_PACE if axis < 3 else _TURN)
            return motion


class TeleopPolicy:
    """A policy that does what :class:`TeleopInput` wants, and keeps its actions."""

    mode = ControlMode.POSE
    other_modes = (ControlMode.OSC,)

    def __init__(self, inputs: TeleopInput) -> None:
        self.inputs = inputs
        self.actions: list[Array] = []
        self._rollout: SimRollout | None = None

    def start(self, rollout: SimRollout) -> None:
        """An episode begins."""
        self._rollout, self.actions = rollout, []
        hold = rollout.controller.hold()
        grips = [
            hold[rows.stop - 1] for rows in self._list_rows(rollout.controller) if rows.stop - rows.start == 7
        ]
        self._hold = hold
        self.inputs.start(is_open=not grips or bool(grips[0] >= 0.0))

    def act(self, observation: Observation) -> Array:  # noqa: ARG002 - people look at the picture
        """The next action; a decision ends the episode."""
        assert self._rollout is not None
        wish = self.inputs.take_wish()
        if wish in (KEEP_KEY, AGAIN_KEY, END_KEY):
            raise EpisodeDecision(wish)
        controller, action = self._rollout.controller, self._hold.copy()
        rows = self._list_rows(controller)
        driven = self.inputs.arm % len(rows)
        mover = controller.arms[driven].mover
        assert mover is not None
        chosen = rows[driven]
        action[chosen.start : chosen.start + 6] = self.inputs.find_motion(mover.target)
        if chosen.stop - chosen.start == 7:
            action[chosen.stop - 1] = 1.0 if self.inputs.is_open else -1.0
            self._hold[chosen.stop - 1] = action[chosen.stop - 1]
        low, high = controller.bounds
        action = np.clip(action, low, high)
        self.actions.append(action)
        return action

    @staticmethod
    def _list_rows(controller: ActionController) -> list[slice]:
        """Where each arm is in an action."""
        ends = np.cumsum([arm.size for arm in controller.arms]).tolist()
        return [slice(end - arm.size, end) for end, arm in zip(ends, controller.arms, strict=True)]


class EpisodeDecision(Exception):  # noqa: N818 - no error: who drives decided
    """Who drives keeps the episode, starts it again, or ends the session."""

    def __init__(self, key: str) -> None:
        super().__init__(key)
        self.key = key


class ReplayPolicy:
    """Plays actions again."""

    def __init__(self, actions: Sequence[Array]) -> None:
        self._actions = actions
        self._left: Iterator[Array] = iter(())

    def start(self, rollout: SimRollout) -> None:
        """From the first."""
        self._left, self._hold = iter(self._actions), rollout.controller.hold()

    def act(self, observation: Observation) -> Array:  # noqa: ARG002 - it looks at nothing
        """The next; at the end nothing moves any more."""
        return next(self._left, self._hold)


@dataclass(frozen=True, slots=True)
class Demonstration:
    """An episode that was kept."""

    seed: int
    actions: list[Array]
    success: bool


@dataclass(slots=True)
class TeleopSession:
    """Episodes driven by hand; those that succeed or are kept by hand stay in ``kept``.

    ``wait(seconds)`` is called before each action where nothing else sets the pace.
    """

    rollout: SimRollout
    inputs: TeleopInput
    tell: Callable[[str], None] = print
    wait: Callable[[float], None] | None = None
    kept: list[Demonstration] = field(default_factory=list)
    restarts: tuple[type[Exception], ...] = ()
    """What is raised where somebody who watches wants the episode from its beginning."""

    def __post_init__(self) -> None:
        if not self.rollout.mode.moves_tools:
            raise UsageError("tools are driven by hand in the control modes pose and osc")

    def drive(self, episodes: int, seed: int) -> None:
        """Drive until so many episodes are kept, or until the session is ended."""
        while len(self.kept) < episodes:
            try:
                self._drive_one(seed + len(self.kept))
            except SessionEnd:
                return
            except self.restarts:
                continue

    def _drive_one(self, seed: int) -> None:
        rollout, policy = self.rollout, TeleopPolicy(self.inputs)
        observation = rollout.reset(seed=seed)
        policy.start(rollout)
        self.tell(f"episode {len(self.kept) + 1}, seed {seed}: {rollout.scene.instruction}")
        while True:
            if self.wait is not None:
                self.wait(rollout.composed.period)
            try:
                result = rollout.step(policy.act(observation))
            except EpisodeDecision as decision:
                if decision.key == END_KEY:
                    raise SessionEnd from None
                if decision.key == KEEP_KEY and policy.actions:
                    self._keep(seed, policy.actions, success=rollout.success)
                return
            observation = result.observation
            if result.terminated:
                if result.info.get("success"):
                    self._keep(seed, policy.actions, success=True)
                else:
                    self.tell("lost; once more")
                return

    def _keep(self, seed: int, actions: list[Array], *, success: bool) -> None:
        self.kept.append(Demonstration(seed, list(actions), success))
        self.tell(f"kept: {len(actions)} actions, {'done' if success else 'not done'}")

    def record(self, listeners: Sequence[Listener]) -> RunSummary:
        """Play what was kept again, for recorders; where nothing was kept, nothing is written."""
        rollout = self.rollout
        summary = RunSummary(
            rollout.scene.name,
            rollout.robot.id,
            "teleoperation",
            rollout.mode.value,
            self.kept[0].seed if self.kept else 0,
        )
        try:
            for index, demonstration in enumerate(self.kept):
                summary.episodes.append(self._play(index, demonstration, listeners))
        except BaseException:
            for listener in listeners:
                listener.discard()
            raise
        for listener in listeners:
            if self.kept:
                listener.close()
            else:
                listener.discard()
        return summary

    def _play(self, index: int, demonstration: Demonstration, listeners: Sequence[Listener]) -> Episode:
        runner = SimRunner(
            self.rollout,
            ReplayPolicy(demonstration.actions),
            name="teleoperation",
            listeners=listeners,
            max_steps=len(demonstration.actions),
        )
        # people take longer than the task allows
        allowed, self.rollout.max_steps = self.rollout.max_steps, len(demonstration.actions) + 1
        try:
            return runner.run_episode(index, demonstration.seed)
        finally:
            self.rollout.max_steps = allowed
