# SPDX-License-Identifier: Apache-2.0
"""An arm as scripted policies drive it: its tool is told to go somewhere, and the joints' targets are the action.

The policy's own inverse kinematics goes on from what was told last; what servos carry and what their damping holds them
back by is told ahead, and what is left of it where the tool stays is made up for slowly.  Poses
can be tried out before they are driven to: can they be reached, and what would be touched there?
"""

from __future__ import annotations

import math

import numpy as np

from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind
from simwright.engines.mujoco.queries import compute_forward, measure_gap, read_site
from simwright.tasks.control import measure_mass
from simwright.tasks.inverse import DOWN, ToolMover, find_approach, list_touching, point_along
from simwright.tasks.rollout import Observation, SimRollout

# how far the tool goes in one action where nothing is touched [m]
_PACE = 0.014
# how far the set point may run ahead of the tool [m]
_LAG = 0.05
# at most this is made up for [m]
_SAG = 0.08
_LEARN = 0.06
# how fast the speed that servos are told ahead of follows that of the targets
_SMOOTH = 0.4
# how far a joint goes in one action on a far way, and at most [rad or m]
_TURN = 0.035
_FASTEST = 0.08
# a gripper's servo that would chatter is told to go so much of what its force pulls
_CALM = 0.7
# at how many places a way is looked at, and how far from things it stays there [m]
_LOOKS = 6
_PASS = 0.004
# a pose whose place is missed by more cannot be reached [m]
_MISSED = 0.006
# distances are measured up to this [m]
_FAR = 0.2


class ScriptedArm:
    """Drives the tool of a rollout's robot by joint positions."""

    def __init__(self, rollout: SimRollout) -> None:
        mover = rollout.controller.mover
        assert mover is not None, "pre-flight: the task needs a tool"
        self.rollout = rollout
        self.approach = find_approach(rollout.model, rollout.home.qpos, mover.site, mover.joints)
        self.mover = ToolMover(rollout.model, mover.site, mover.joints, axis=self.approach)
        self.mover.reset(rollout.data)
        self.home = self.mover.rest.copy()
        start = read_site(rollout.data, mover.site)
        self.straight = point_along(start, self.approach, DOWN)
        self.down = self.straight.copy()
        self.point = start.p.copy()
        """Where the tool is told to be [m]."""
        self.turn = start.q.copy()
        self._sag = np.zeros(3)
        self._speed = np.zeros_like(self.home)
        self._hold = rollout.controller.hold()
        self._action = self._hold.copy()
        self._calm = self._find_calm()
        self._centre = rollout.read_base().p[:2]

    def go(
        self,
        observation: Observation,
        goal: Array,
        *,
        pace: float = _PACE,
        grip: float = -1.0,
        lag: float = _LAG,
    ) -> Array:
        """An action towards a place, pointing down, straight on; ``lag`` bounds how far the tool stays behind."""
        tool = np.asarray(observation["tool"])[:3]
        way = goal - self.point
        far = float(np.linalg.norm(way))
        if far > 0:
            self.point = self.point + way * min(1.0, pace / far)
        ahead = self.point - tool
        self.point = tool + ahead * min(1.0, lag / max(float(np.linalg.norm(ahead)), 1e-9))
        if far < pace:
            # only where it is to stay: on the way it lags behind, which is no sag
            self._sag = np.clip(self._sag + _LEARN * (self.point - tool), -_SAG, _SAG)
        return self._tell(grip)

    def travel(
        self, observation: Observation, goal: Array, *, pace: float = _PACE, grip: float = -1.0
    ) -> Array:
        """An action towards a place around the base, not through it: by angle and distance from it."""
        here, there = self.point[:2] - self._centre, goal[:2] - self._centre
        angle = math.atan2(here[1], here[0])
        left = (math.atan2(there[1], there[0]) - angle + math.pi) % (2.0 * math.pi) - math.pi
        near, far = float(np.linalg.norm(here)), float(np.linalg.norm(there))
        length = max(abs(left) * max(near, far), abs(far - near), 1e-9)
        share = min(1.0, 2.0 * pace / length)
        radius, angle = near + share * (far - near), angle + share * left
        spot = self._centre + radius * np.array([math.cos(angle), math.sin(angle)])
        return self.go(observation, np.array([*spot, goal[2]]), pace=pace, grip=grip)

    def is_at(self, observation: Observation, goal: Array, tolerance: float) -> bool:
        """Is the tool there?"""
        return float(np.linalg.norm(np.asarray(observation["tool"])[:3] - goal)) < tolerance

    def rest(self, *, grip: float = -1.0) -> Array:
        """An action towards where the arm started, joint by joint."""
        return self.steer(self.home, grip=grip)

    def steer(self, joints: Array, *, pace: float = _TURN, grip: float = -1.0) -> Array:
        """An action towards a posture, all joints in step.

        Far ways are gone like this: along a straight line of the tool, joints run into their limits.
        """
        away = joints - self.mover.told
        before = self.mover.told
        self.mover.told = before + away / max(1.0, float(np.abs(away).max()) / pace)
        self._follow_speed(before)
        pose = self.mover.locate(self.rollout.data, self.mover.told)
        self.point, self.turn, self._sag = pose.p.copy(), pose.q.copy(), np.zeros(3)
        action = self._hold.copy()
        self._write(action, grip)
        return action

    @property
    def is_home(self) -> bool:
        """Is the arm told to be where it started?"""
        return bool(np.allclose(self.mover.told, self.home, atol=1e-6))

    def is_free(self, joints: Array, geoms: list[int]) -> bool:
        """Does the way of :meth:`steer` to a posture pass given geoms, and the arm itself, without touching them?"""
        shares = np.linspace(0.0, 1.0, _LOOKS + 1)[1:]
        ways = [self.mover.told + share * (joints - self.mover.told) for share in shares]
        return all(self.measure_gap(way, geoms) > _PASS and not self.is_folded(way) for way in ways)

    def try_pose(self, goal: Array, start: Array | None = None, turn: Array | None = None) -> Array | None:
        """The joints that bring the tool there, pointing as well down as they can; None where it cannot be reached.

        ``turn`` is how the tool is to be turned where that matters (a quaternion).
        """
        first = self.mover.told if start is None else start
        self.mover.rest = self.home
        wanted = Pose.of(goal, self.straight if turn is None else turn)
        joints = self.mover.find(self.rollout.data, wanted, first, rounds=60)
        found = self.mover.locate(self.rollout.data, joints)
        return joints if float(np.linalg.norm(found.p - goal)) < _MISSED else None

    def adopt(self, joints: Array) -> None:
        """From now on, keep to the posture of these joints: its turn, and what it does with spare freedom."""
        self.mover.rest = joints.copy()
        self.down = self.mover.locate(self.rollout.data, joints).q

    def measure_gap(self, joints: Array, geoms: list[int]) -> float:
        """How far from given geoms the robot would be at a pose; negative inside [m]."""
        posed = self.mover.pose(self.rollout.data, joints)
        least = _FAR
        for geom in self.list_own():
            for other in geoms:
                least = min(least, measure_gap(self.rollout.model, posed, geom, other, least))
        return least

    def is_folded(self, joints: Array) -> bool:
        """Would parts of the robot touch each other that do not where it starts?"""
        mover, last = self.mover, self.rollout.composed.robot_nbody
        found = list_touching(mover.model, mover.pose(self.rollout.data, joints), last)
        return bool(found - list_touching(mover.model, mover.pose(self.rollout.data, self.home), last))

    def list_own(self) -> list[int]:
        """Geoms of the robot that collide and that its joints move."""
        model, first = self.rollout.model, int(self.mover.joints[0])
        top = int(model.jnt_bodyid[first])
        last = self.rollout.composed.robot_nbody
        return [
            geom
            for geom in range(model.ngeom)
            if top < model.geom_bodyid[geom] <= last
            and (model.geom_contype[geom] or model.geom_conaffinity[geom])
        ]

    def _tell(self, grip: float) -> Array:
        action = self._hold.copy()
        turn = self.down if self.mover.axis is not None else self.turn
        before = self.mover.told
        self.mover.follow(self.rollout.data, Pose.of(self.point + self._sag, turn))
        # a tool that is to point elsewhere would be thrown there: inverse kinematics knows no speeds
        way = self.mover.told - before
        self.mover.told = before + way / max(1.0, float(np.abs(way).max()) / _FASTEST)
        self._follow_speed(before)
        self._write(action, grip)
        return action

    def _follow_speed(self, before: Array) -> None:
        """How fast the targets move, smoothed: no arm follows every step of theirs."""
        speed = (self.mover.told - before) / self.rollout.composed.period
        self._speed = self._speed + _SMOOTH * (speed - self._speed)

    def _lead(self, actuator: ActuatorInfo, speed: float) -> float:
        """How far the control of a servo has to be ahead of a place for the joint to be there, not to hang below it.

        A servo pushes with its spring, so it is off by what it carries; and its damping holds it back on the way.
        """
        if actuator.kind is not ActuatorKind.POSITION:
            return 0.0
        model, data = self.rollout.model, self.rollout.data
        dof, gear = int(model.jnt_dofadr[actuator.joint]), float(model.actuator_gear[actuator.index, 0])
        gain = float(model.actuator_gainprm[actuator.index, 0])
        if not gain or not gear:
            return 0.0
        damping = float(model.dof_damping[dof])
        # of what passes through the joint only the damping belongs to the speed, which is to be the wanted one
        passive = float(data.qfrc_passive[dof] + damping * data.qvel[dof])
        carried = (float(data.qfrc_bias[dof]) - passive + damping * speed) / gear
        held = -float(model.actuator_biasprm[actuator.index, 2]) * speed * gear
        return (carried + held) / gain

    @property
    def grip(self) -> float:
        """How far the gripper is told to be open: 1 is open, -1 closed."""
        controller = self.rollout.controller
        if controller.grip is None:
            return -1.0
        indices, opened, closed = controller.grip
        rows = [row for row, found in enumerate(controller.actuators) if found.index in indices]
        share = (
            (float(self._action[rows[0]]) - closed) / (opened - closed) if rows and opened != closed else 0.0
        )
        return float(np.clip(2.0 * share - 1.0, -1.0, 1.0))

    def _find_calm(self) -> Array:
        """How far the control of a gripper may go in one action, by actuator.

        A servo whose damping stops its joint within a time step, and whose force is bounded, chatters on the spot when
        it is told to go farther than its force pulls: full force forwards makes it faster within a time step than it
        is to be, and full force backwards is the answer.
        """
        model, controller = self.rollout.model, self.rollout.controller
        actuators, gripping = controller.actuators, () if controller.grip is None else controller.grip[0]
        data = compute_forward(model, self.rollout.home.qpos)
        found = np.full(len(actuators), np.inf)
        for number, actuator in enumerate(actuators):
            index = actuator.index
            if index not in gripping or actuator.kind is not ActuatorKind.POSITION or actuator.joint < 0:
                continue
            force = self._find_force(index)
            share = float(model.opt.timestep) / measure_mass(model, data, index)
            damped = -float(model.actuator_biasprm[index, 2]) * share > 1.0
            if damped and np.isfinite(force) and force * share > _TURN / self.rollout.composed.period:
                found[number] = _CALM * force / float(model.actuator_gainprm[index, 0])
        return found

    def _find_force(self, index: int) -> float:
        """The largest force of an actuator both ways."""
        model = self.rollout.model
        limited = bool(model.actuator_forcelimited[index])
        return float(np.abs(model.actuator_forcerange[index]).min()) if limited else np.inf

    def _write(self, action: Array, grip: float) -> None:
        told = zip(self.mover.told.tolist(), self._speed.tolist(), strict=True)
        by_joint = dict(zip(self.mover.joints.tolist(), told, strict=True))
        controller = self.rollout.controller
        for number, actuator in enumerate(controller.actuators):
            if actuator.joint in by_joint:
                place, speed = by_joint[actuator.joint]
                action[number] = actuator.scale * place + actuator.offset + self._lead(actuator, speed)
            elif controller.grip is not None and actuator.index in controller.grip[0]:
                _, opened, closed = controller.grip
                action[number] = closed + 0.5 * (grip + 1.0) * (opened - closed)
        action[:] = self._action = self._action + np.clip(action - self._action, -self._calm, self._calm)
