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
from simwright.engines.mujoco.queries import SLIDE, pose_bodies
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.manifest import ControlMode
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.scenes.drawer import HANDLE

OPEN, CLOSED = 1.0, -1.0
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
        table = int(self.rollout.model.geom("table_top").id)
        joints = self.arm.try_pose(place)
        if joints is None:
            return place
        return np.asarray(place + max(0.0, _OVER - self.arm.measure_gap(joints, [table])) * UP)


def find_closing(rollout: SimRollout, arm: ScriptedArm) -> Array:
    """The direction in which the fingers close, in the tool's frame, at right angles to its approach."""
    model, data = rollout.model, pose_bodies(rollout.model, rollout.home.qpos)
    frame = np.asarray(data.site_xmat[rollout.tool_site]).reshape(3, 3)
    grip = rollout.robot.facts.grip
    heads = () if grip is None else grip.fingers
    axis = np.zeros(3)
    for body in heads:
        joint = int(model.body_jntadr[body])
        if joint >= 0 and model.jnt_type[joint] == SLIDE:
            axis = frame.T @ np.asarray(data.xaxis[joint])
        elif joint >= 0:
            # a hinged finger moves across its axis
            axis = frame.T @ np.cross(data.xaxis[joint], frame @ arm.approach)
    # only the part across the approach tells how the tool is to be turned
    axis = axis - arm.approach * float(axis @ arm.approach)
    size = float(np.linalg.norm(axis))
    # no fingers, or they close along the approach: any direction across it will do
    if size < 1e-6:
        spare = np.eye(3)[int(np.argmin(np.abs(arm.approach)))]
        axis = np.cross(arm.approach, spare)
        size = float(np.linalg.norm(axis))
    return np.asarray(axis / size)


def find_yaw(pose: Array) -> float:
    """How a thing is turned about the vertical [rad]."""
    turn = matrix_from_quat(pose[3:])
    return math.atan2(float(turn[1, 0]), float(turn[0, 0]))


# how high above the table things are carried [m]
_CARRY_HEIGHT = 0.10
# actions that closing and opening take
_GRASP = 18


class CarryPolicy(ScriptedPolicy):
    """What the three tasks share.  ``thing`` is what is carried."""

    thing = "cube"
    above = 0.0
    """Where it is held, above its middle [m]."""

    def fetch(self) -> Iterator[Array]:
        """Get the thing into the gripper and lift it."""
        thing = np.asarray(self.now[self.thing])
        self.face(find_yaw(thing))
        grasp = self.find_low(thing[:3] + self.above * UP)
        # looked up once: the thing moves when the fingers touch it
        over = grasp + _CARRY_HEIGHT * UP
        yield from self.move(lambda: over, OPEN, around=True, near=0.015)
        yield from self.move(lambda: grasp, OPEN, near=0.006)
        yield from self.wait(CLOSED, _GRASP)
        yield from self.move(lambda: over, CLOSED, near=0.02)

    def bring(self, place: Callable[[], Array], height: float) -> Iterator[Array]:
        """Carry the thing over a place and let it down until it is ``height`` above it, then let go and rise."""
        high = (height + _CARRY_HEIGHT) * UP
        yield from self.move(lambda: self.lead(place() + high), CLOSED, around=True, near=0.006)
        low = height * UP
        # slowly, so that it is let down and not dropped
        yield from self.move(lambda: self.lead(place() + low), CLOSED, pace=0.004, near=0.004)
        yield from self.wait(OPEN, _GRASP)
        point = self.arm.point + _CARRY_HEIGHT * UP
        yield from self.move(lambda: point, OPEN, near=0.02)

    def lead(self, wanted: Array) -> Array:
        """Where the tool has to be for the thing to be somewhere."""
        return np.asarray(wanted + np.asarray(self.now["tool"])[:3] - self.see(self.thing))


class PickPlacePolicy(CarryPolicy):
    """For ``pick_place``."""

    task = "pick_place"

    def play(self) -> Iterator[Array]:
        """Fetch the cube, let it fall into the tray."""
        yield from self.fetch()
        yield from self.bring(lambda: self.see("tray"), float(self.options.cube_half) + 0.02)


class StackPolicy(CarryPolicy):
    """For ``stack``."""

    task = "stack"
    thing = "upper"

    def play(self) -> Iterator[Array]:
        """Fetch the red cube, put it on the blue one."""
        yield from self.fetch()
        yield from self.bring(lambda: self.see("lower"), 2.0 * float(self.options.cube_half) + 0.002)


class PegInsertPolicy(CarryPolicy):
    """For ``peg_insert``."""

    task = "peg_insert"
    thing = "peg"
    above = 0.025

    def play(self) -> Iterator[Array]:
        """Fetch the peg, let it down into the hole."""
        yield from self.fetch()
        half = 0.5 * float(self.options.peg_length)
        top = (float(self.options.block_height) + half + 0.02) * UP
        yield from self.move(lambda: self.lead(self.see("block") + top), CLOSED, around=True, near=0.002)
        deep = (half + 0.005) * UP
        yield from self.move(lambda: self.lead(self.see("block") + deep), CLOSED, pace=0.002, near=0.003)
        yield from self.wait(OPEN, _GRASP)


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
        yield from self.move(lambda: over, _AJAR, around=True, near=0.015)
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
