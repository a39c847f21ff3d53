# SPDX-License-Identifier: Apache-2.0
"""Policies that are scripts: generators of actions, one phase after the other.

A script sees the newest observation in ``self.now``.  One that has not succeeded when it is through is played again.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np

from simwright.core.math3d import Array, matrix_from_quat, quat_from_matrix, quat_rotate
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.baselines.grasp import GraspPlan, find_closing, plan_grasp
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.scenes.door import find_knob
from simwright.tasks.scenes.drawer import HANDLE

CLOSED = -1.0
# actions after which a place that was not reached is as good as reached
_PATIENCE = 70
UP = np.array([0.0, 0.0, 1.0])
# how far above the table a gripper stays [m]
_OVER = 0.004


class ScriptedPolicy(ABC):
    """Base of scripted policies for arms with a gripper."""

    mode = ControlMode.POSITION

    def start(self, rollout: SimRollout) -> None:
        """Begin the script."""
        self.rollout = rollout
        self.options = rollout.options
        self.arm = ScriptedArm(rollout)
        # how the gripper is turned matters
        self.arm.mover.axis = None
        self.arm.turn = self.arm.down
        self.closing = find_closing(rollout, self.arm)
        self.now: Observation = {}
        self._script: Iterator[Array] = iter(())

    def act(self, observation: Observation) -> Array:
        """The next action of the script."""
        self.now = observation
        action = next(self._script, None)
        # through without success: from the beginning, with where things are now
        if action is None:
            self._script = self.play()
            action = next(self._script)
        return action

    @abstractmethod
    def play(self) -> Iterator[Array]:
        """The script."""

    def see(self, name: str) -> Array:
        """Where a thing is [m]."""
        return np.array(self.now[name][:3], dtype=np.float64)

    def move(
        self,
        place: Callable[[], Array],
        grip: float,
        *,
        pace: float = 0.012,
        near: float = 0.008,
        patience: int = _PATIENCE,
        around: bool = False,
    ) -> Iterator[Array]:
        """Go to a place that is looked up anew with each action."""
        for _ in range(patience):
            goal = place()
            yield (self.arm.travel if around else self.arm.go)(self.now, goal, pace=pace, grip=grip)
            if self.arm.is_at(self.now, goal, near):
                return

    def approach(self, place: Array, grip: float, *, near: float = 0.015) -> Iterator[Array]:
        """Go a far way, joint by joint, with the turn that is wanted; through where the arm started if need be."""
        arm, turn = self.arm, self.arm.turn
        joints = arm.try_pose(place, turn=turn)
        if joints is None or not arm.is_free(joints, [self.table]):
            again = arm.try_pose(place, arm.home, turn)
            if again is not None:
                yield from self._steer(arm.home, grip)
                joints = again
        if joints is not None:
            yield from self._steer(joints, grip)
        arm.turn = turn
        yield from self.move(lambda: place, grip, near=near, around=joints is None)

    def _steer(self, joints: Array, grip: float) -> Iterator[Array]:
        while not np.allclose(self.arm.mover.told, joints, atol=1e-6):
            yield self.arm.steer(joints, grip=grip)

    @property
    def table(self) -> int:
        """The geom of the table."""
        return int(self.rollout.model.geom("table_top").id)

    def wait(self, grip: float, actions: int) -> Iterator[Array]:
        """Stay, and open or close."""
        point = self.arm.point.copy()
        for _ in range(actions):
            yield self.arm.go(self.now, point, grip=grip)

    def face(self, yaw: float) -> None:
        """Let the fingers close along a direction of the ground (or against it, or across: what is nearest) [rad]."""
        wanted = min(
            (yaw + quarter * 0.5 * math.pi for quarter in range(4)),
            key=self._measure_twist,
        )
        self.face_exactly(wanted)

    def face_exactly(self, yaw: float) -> None:
        """Let the fingers close along this direction of the ground, or against it [rad]."""
        other = min((yaw, yaw + math.pi), key=self._measure_twist)
        self.arm.turn = self._point(other)

    def _measure_twist(self, yaw: float) -> float:
        return -abs(float(self._point(yaw) @ self.arm.down))

    def _point(self, yaw: float) -> Array:
        """The orientation in which the tool points down and its fingers close along a direction."""
        along = np.array([math.cos(yaw), math.sin(yaw), 0.0])
        down = np.array([0.0, 0.0, -1.0])
        world = np.stack([along, np.cross(down, along), down], axis=1)
        own = np.stack([self.closing, np.cross(self.arm.approach, self.closing), self.arm.approach], axis=1)
        return np.asarray(quat_from_matrix(world @ own.T))

    def find_low(self, place: Array) -> Array:
        """A place, raised where the gripper would touch the table there."""
        joints = self.arm.try_pose(place, turn=self.arm.turn)
        if joints is None:
            return place
        return np.asarray(place + max(0.0, _OVER - self.arm.measure_gap(joints, [self.table])) * UP)


def find_yaw(pose: Array) -> float:
    """How a thing is turned about the vertical [rad]."""
    turn = matrix_from_quat(pose[3:])
    return math.atan2(float(turn[1, 0]), float(turn[0, 0]))


# how high above the table things are carried [m]
_CARRY_HEIGHT = 0.10
# actions that closing and opening take
_GRASP = 22
# a gripper that is told so much less is as good as told
_TOLD = 1e-6
# how far things go in one action when they are lifted, and when they are carried [m]
_GENTLE, _CARRY = 0.004, 0.005
# a thing that is higher than where it lay was lifted [m]
_LIFTED = 0.02
# a thing that is farther from the tool is not in the hand [m]
_HELD = 0.06


class CarryPolicy(ScriptedPolicy):
    """What the three tasks share.  ``thing`` is what is carried."""

    task: str
    thing = "cube"
    above = 0.0
    """Where it is held, above its middle [m]."""
    _planned: tuple[SimRollout, GraspPlan] | None = None

    def start(self, rollout: SimRollout) -> None:
        """Plan the grasp, once for a robot: it depends on its shape alone."""
        super().start(rollout)
        if self._planned is None or self._planned[0] is not rollout:
            self._planned = (rollout, plan_grasp(rollout, self.arm, self.thing))
        self.plan = self._planned[1]

    def fetch(self) -> Iterator[Array]:
        """Get the thing into the gripper and lift it."""
        thing, grip = np.asarray(self.now[self.thing]), self.plan.grip
        self.face(find_yaw(thing))
        middle = thing[:3] + self.above * UP
        yield from self.approach(self.find_grasp(middle) + _CARRY_HEIGHT * UP, grip)
        yield from self.turn_gripper(grip)
        # looked up once: the thing moves when the fingers touch it; and now that the fingers are open, which tells how
        # low they get
        grasp = self.find_low(self.find_grasp(middle))
        over = grasp + _CARRY_HEIGHT * UP
        yield from self.move(lambda: over, grip, near=0.015)
        yield from self.move(lambda: grasp, grip, pace=_GENTLE, near=0.004)
        yield from self.turn_gripper(CLOSED)
        yield from self.wait(CLOSED, _GRASP)
        # gently: what is torn up slips out of the fingers
        yield from self.move(lambda: over, CLOSED, pace=_GENTLE, near=0.02)

    def find_grasp(self, middle: Array) -> Array:
        """Where the tool has to be for the middle of the thing to be between the fingers."""
        arm = self.arm
        joints = arm.try_pose(middle, turn=arm.turn)
        turn = arm.turn if joints is None else arm.mover.locate(self.rollout.data, joints).q
        return np.asarray(middle - quat_rotate(turn, self.plan.place))

    def turn_gripper(self, grip: float) -> Iterator[Array]:
        """Stay until the gripper is told all of what it is to be told."""
        point = self.arm.point.copy()
        while abs(self.arm.grip - grip) > _TOLD:
            yield self.arm.go(self.now, point, grip=grip)

    @property
    def has_it(self) -> bool:
        """Is the thing off the table and in the hand?"""
        away = np.asarray(self.now["tool"])[:3] - self.see(self.thing)
        return float(np.linalg.norm(away)) < _HELD

    def bring(self, place: Callable[[], Array], height: float) -> Iterator[Array]:
        """Carry the thing over a place and let it down until it is ``height`` above it, then let go and rise."""
        high = (height + _CARRY_HEIGHT) * UP
        yield from self.carry(lambda: place() + high, pace=_CARRY, near=0.006)
        low = height * UP
        # slowly, so that it is let down and not dropped
        yield from self.carry(lambda: place() + low, pace=0.004, near=0.004)
        yield from self.turn_gripper(self.plan.grip)
        yield from self.wait(self.plan.grip, _GRASP)
        point = self.arm.point + _CARRY_HEIGHT * UP
        yield from self.move(lambda: point, self.plan.grip, near=0.02)

    def carry(self, place: Callable[[], Array], *, pace: float, near: float) -> Iterator[Array]:
        """Bring the thing to a place, as long as it is in the hand."""
        for action in self.move(lambda: self.lead(place()), CLOSED, pace=pace, near=near, around=True):
            yield action
            # a hand that lost it would follow its own tail
            if not self.has_it:
                return

    def lead(self, wanted: Array) -> Array:
        """Where the tool has to be for the thing to be somewhere."""
        return np.asarray(wanted + np.asarray(self.now["tool"])[:3] - self.see(self.thing))


def count_lost(rollout: SimRollout, policy: CarryPolicy, trials: int) -> int:
    """In how many of a few trials a thing is not in the hand and off the table once it was fetched."""
    lost = 0
    for seed in range(trials):
        observation = rollout.reset(seed)
        policy.start(rollout)
        policy.now = observation
        low = policy.see(policy.thing)[2]
        for action in policy.fetch():
            policy.now = rollout.step(action).observation
        lost += not (policy.has_it and policy.see(policy.thing)[2] > low + _LIFTED)
    return lost


class PickPlacePolicy(CarryPolicy):
    """For ``pick_place``."""

    task = "pick_place"

    def play(self) -> Iterator[Array]:
        """Fetch the cube, let it fall into the tray."""
        yield from self.fetch()
        if not self.has_it:
            return
        yield from self.bring(lambda: self.see("tray"), float(self.options.cube_half) + 0.02)


class StackPolicy(CarryPolicy):
    """For ``stack``."""

    task = "stack"
    thing = "upper"

    def play(self) -> Iterator[Array]:
        """Fetch the red cube, put it on the blue one."""
        yield from self.fetch()
        if not self.has_it:
            return
        yield from self.bring(lambda: self.see("lower"), 2.0 * float(self.options.cube_half) + 0.002)


class PegInsertPolicy(CarryPolicy):
    """For ``peg_insert``."""

    task = "peg_insert"
    thing = "peg"
    above = 0.025

    def play(self) -> Iterator[Array]:
        """Fetch the peg, let it down into the hole."""
        yield from self.fetch()
        if not self.has_it:
            return
        half = 0.5 * float(self.options.peg_length)
        top = (float(self.options.block_height) + half + 0.02) * UP
        yield from self.move(lambda: self.lead(self.see("block") + top), CLOSED, around=True, near=0.002)
        deep = (half + 0.005) * UP
        yield from self.move(lambda: self.lead(self.see("block") + deep), CLOSED, pace=0.002, near=0.003)
        yield from self.turn_gripper(self.plan.grip)
        yield from self.wait(self.plan.grip, _GRASP)


CARRIERS: dict[str, type[CarryPolicy]] = {
    policy.task: policy for policy in (PickPlacePolicy, StackPolicy, PegInsertPolicy)
}
"""By the task that they are for."""

_ABOVE_HANDLE = 0.10
# open enough for the bar, and not so far that a finger stands on the drawer's front
_AJAR = -0.3


class PullPolicy(ScriptedPolicy):
    """For ``drawer``."""

    task = "drawer"

    def play(self) -> Iterator[Array]:
        """Take the handle, and pull."""
        cabinet = np.asarray(self.now["cabinet"])
        self.face_exactly(find_yaw(cabinet) + 0.5 * math.pi)
        handle = self.find_handle(0.0)
        over = handle + _ABOVE_HANDLE * UP
        yield from self.approach(over, _AJAR)
        yield from self.move(lambda: handle, _AJAR, near=0.008)
        yield from self.wait(CLOSED, 18)
        far = min(float(self.options.travel), float(self.options.opened) + 0.02)
        yield from self.move(lambda: self.find_handle(far), CLOSED, pace=0.005, near=0.005)

    def find_handle(self, opening: float) -> Array:
        """Where the handle is when the drawer is open so far [m]."""
        cabinet = np.asarray(self.now["cabinet"])
        half = self.options.cabinet_half
        local = np.array([0.0, -float(half[1]) - HANDLE - opening, float(half[2])])
        return np.asarray(cabinet[:3] + quat_rotate(cabinet[3:], local))


_ABOVE_KNOB = 0.10
# open enough for the knob, and not so far that a finger stands on the door
_KNOB_AJAR = -0.2
# how far along the arc the tool is told to be ahead of the door [rad]
_AHEAD = 0.12


class SwingPolicy(ScriptedPolicy):
    """For ``door``."""

    task = "door"

    def play(self) -> Iterator[Array]:
        """Take the knob, and pull it around the hinge."""
        # across the way of the knob: a finger on either side of it would be in front of the door
        self.face_exactly(find_yaw(np.asarray(self.now["frame"])))
        knob = self.find_goal(0.0)
        yield from self.approach(knob + _ABOVE_KNOB * UP, _KNOB_AJAR)
        yield from self.move(lambda: knob, _KNOB_AJAR, near=0.008)
        yield from self.wait(CLOSED, 18)
        far = min(float(self.options.opens_to), float(self.options.opened) + _AHEAD)
        yield from self.move(
            lambda: self.find_goal(min(far, float(self.now["door"]) + _AHEAD)),
            CLOSED,
            pace=0.004,
            near=0.0,
            patience=150,
        )

    def find_goal(self, opening: float) -> Array:
        """Where the knob is when the door is open so far [rad]."""
        return find_knob(np.asarray(self.now["frame"]), np.asarray(opening), self.options)
