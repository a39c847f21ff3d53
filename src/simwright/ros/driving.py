# SPDX-License-Identifier: Apache-2.0
"""Controllers that follow a twist: a differential drive with wheel odometry, and a free rigid body."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from simwright.core.math3d import Array, Pose, quat_conjugate, quat_from_axis_angle, quat_rotate
from simwright.engines.layout import LayoutDof
from simwright.model.asset import Asset
from simwright.model.joint import Motion
from simwright.model.kinematics import forward_kinematics
from simwright.ros.control import ActiveController, ControllerParts, ControllerSettings
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import are_finite, read_vector
from simwright.ros.moment import SimulationMoment
from simwright.ros.motion_sources import ODOMETRY, make_odometry_layout
from simwright.ros.serving import NoDataError
from simwright.ros.servos import JointTargets
from simwright.ros.source_parts import Read
from simwright.ros.transports.cdr import PackedMessage
from simwright.ros.transports.transport import Message, Receive

TWIST = "geometry_msgs/msg/Twist"
TWIST_STAMPED = "geometry_msgs/msg/TwistStamped"


class DifferentialDrive(ActiveController):
    """Left and right wheels that follow a twist; integrates their motion as odometry, as diff_drive_controller does."""

    def __init__(self, parts: ControllerParts) -> None:
        controller, asset, freedoms = parts.entry.controller, parts.asset, parts.freedoms
        names = {joint.name: joint.public_name for joint in asset.joints}
        sides = [[names.get(n, n) for n in controller.joints.get(side, ())] for side in ("left", "right")]
        wheels = {name: freedoms[name] for side in sides for name in side if name in freedoms}
        super().__init__(controller.name, wheels)
        self._left, self._right = ([wheels[n] for n in side if n in wheels] for side in sides)
        if not self._left or not self._right:
            raise NoDataError(f"controller {controller.name!r} has no wheels on both sides")
        # what OpenUSD, ros2_control and Gazebo call the same limits differs: each has its own words below
        said = ControllerSettings(controller)
        self._separation = said.number("wheel_separation") * said.number("wheel_separation_multiplier", 1.0)
        self._radius = said.number("wheel_radius") * said.number("left_wheel_radius_multiplier", 1.0)
        if not self._separation > 0.0 or not self._radius > 0.0:
            raise NoDataError(
                f"controller {controller.name!r} does not say wheel_separation and wheel_radius"
            )
        self._timeout = said.number("cmd_vel_timeout", math.inf)
        self._limits = [
            (said.number(f"{axis}.max_velocity", said.number(f"max_{word}_velocity", math.inf)),
             said.number(f"{axis}.max_acceleration", said.number(f"max_{word}_acceleration", math.inf)))
            for axis, word in (("linear.x", "linear"), ("angular.z", "angular"))
        ]  # fmt: skip
        self._forward = _find_signs(asset, wheels)
        self._child_frame, self.odometry = parts.base_frame, self.update_odometry
        self._command: Array = np.zeros(2)
        self._speed: Array = np.zeros(2)
        self._command_time = -math.inf
        self._last: Array | None = None
        self._heading = 0.0
        self._place: Array = np.zeros(2)
        self._moved: Array = np.zeros(2)

    def receive_by(self, endpoint: RosEndpoint) -> Receive | None:
        """See the base class."""
        if endpoint.type not in (TWIST, TWIST_STAMPED):
            return None

        def receive(message: Message) -> None:
            twist = message["twist"] if endpoint.type == TWIST_STAMPED else message
            wanted = (read_vector(twist["linear"])[0], read_vector(twist["angular"])[2])
            # NaN or infinity from a peer would make every state of the engine NaN
            if are_finite(wanted):
                self._command, self._command_time = np.array(wanted), self.now

        return receive

    def read_by(self, endpoint: RosEndpoint) -> Read | None:
        """See the base class."""
        layout = make_odometry_layout(endpoint.frame_id, self._child_frame)

        def read(moment: SimulationMoment) -> PackedMessage:
            pose = self.update_odometry()
            twist = np.array((self._moved[0], 0.0, 0.0, 0.0, 0.0, self._moved[1]))
            return layout.pack(moment.time, pose=np.concatenate([pose.p, pose.q]), twist=twist)

        return read if endpoint.type == ODOMETRY else None

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        dt = moment.simulation.dt
        wanted = self._command if self.now - self._command_time <= self._timeout else np.zeros(2)
        for row, (most, gain) in enumerate(self._limits):
            aimed = float(np.clip(wanted[row], -most, most))
            self._speed[row] += float(np.clip(aimed - self._speed[row], -gain * dt, gain * dt))
        ahead, turn = self._speed
        for side, sign in ((self._left, -1.0), (self._right, 1.0)):
            # REP 103: a positive turn is to the left, so the right wheels are faster
            rate = (ahead + sign * turn * self._separation / 2.0) / self._radius
            for wheel in side:
                targets.set_velocity(wheel, rate * self._forward[wheel.v])

    def update_odometry(self) -> Pose:
        """Integrate what the wheels have turned since the last call; gives the pose of the base in ``odom``."""
        moment = self.moment
        angles = np.array(
            [
                np.mean([moment.positions[w.q] * self._forward[w.v] for w in side])
                for side in (self._left, self._right)
            ]
        )
        rates = [
            np.mean([moment.velocities[w.v] * self._forward[w.v] for w in side])
            for side in (self._left, self._right)
        ]
        # the twist is that of the moment; only the pose is integrated, from angles, which do not drift
        left, right = (float(rate) * self._radius for rate in rates)
        self._moved = np.array(((left + right) / 2.0, (right - left) / self._separation))
        if self._last is not None:
            gone = (angles - self._last) * self._radius
            ahead, turn = float(gone.mean()), float(gone[1] - gone[0]) / self._separation
            # along an arc: in the middle of the turn, the direction is that of the chord
            half = self._heading + turn / 2.0
            chord = ahead * (math.sin(turn / 2.0) / (turn / 2.0) if abs(turn) > 1e-9 else 1.0)
            self._place = self._place + chord * np.array((math.cos(half), math.sin(half)))
            self._heading += turn
        self._last = angles
        return Pose.of((*self._place, 0.0), quat_from_axis_angle((0.0, 0.0, 1.0), self._heading))

    def reset(self) -> str:
        """Start odometry at zero."""
        self._place, self._heading, self._last = np.zeros(2), 0.0, None
        self._command, self._speed = np.zeros(2), np.zeros(2)
        return "odometry begins at zero"


def _find_signs(asset: Asset, wheels: Mapping[str, LayoutDof]) -> dict[int, float]:
    """+1 or -1 for each wheel: does a positive rotation roll it forward, as for an axis that points left (+Y)?"""
    poses = forward_kinematics(asset)
    signs = {}
    for freedom in wheels.values():
        assert freedom.dof is not None
        place = poses.get(freedom.parent, Pose.identity()) @ freedom.near
        base = poses.get(freedom.parent, Pose.identity())
        # in the frame of the chassis: the robot may stand turned in the world
        axis = quat_rotate(quat_conjugate(base.q), quat_rotate(place.q, freedom.dof.axis))
        signs[freedom.v] = -1.0 if axis[1] < 0.0 else 1.0
    return signs


class BodyTwist(ActiveController):
    """Gives one free rigid body the velocity of a twist in its own frame."""

    def __init__(self, parts: ControllerParts) -> None:
        controller, simulation = parts.entry.controller, parts.simulation
        super().__init__(controller.name, {})
        body = str(controller.settings.get("body", ""))
        self._freedom = next(
            (f for f in simulation.layout.freedoms if f.motion is Motion.FREE and f.body == body), None
        )
        if self._freedom is None:
            raise NoDataError(f"body {body!r} of controller {self.name!r} does not move freely")
        self._twist: tuple[Array, Array] | None = None

    def receive_by(self, endpoint: RosEndpoint) -> Receive | None:
        """See the base class."""
        if endpoint.type not in (TWIST, TWIST_STAMPED):
            return None

        def receive(message: Message) -> None:
            twist = message["twist"] if endpoint.type == TWIST_STAMPED else message
            linear, angular = read_vector(twist["linear"]), read_vector(twist["angular"])
            if are_finite((*linear, *angular)):
                self._twist = (np.array(linear), np.array(angular))

        return receive

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        del targets
        if self._twist is None or self._freedom is None:
            return
        simulation = moment.simulation
        turn = moment.find_pose(self._freedom.body).q
        rates = simulation.velocities
        row = np.concatenate([quat_rotate(turn, part) for part in self._twist])
        rates[:, self._freedom.velocities] = row
        simulation.set_state(velocities=rates)

    def stop(self, targets: JointTargets, positions: Array) -> None:
        """Stop setting velocities."""
        del targets, positions
        self._twist = None
