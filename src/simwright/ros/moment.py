# SPDX-License-Identifier: Apache-2.0
"""One moment of a running simulation, read from the engine when first asked for and then kept."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_conjugate, quat_multiply, vec3
from simwright.engines.protocol import Contact, Simulation
from simwright.model.joint import WORLD
from simwright.ros.frames import GraphFrame


class SimulationMoment:
    """State of the first world at ``time`` [ns].

    Of engines that do not tell velocities of bodies (``derives``), they are what poses changed by since the moment
    ``before``.
    """

    def __init__(
        self,
        simulation: Simulation,
        time: int,
        before: SimulationMoment | None = None,
        *,
        derives: bool = False,
    ) -> None:
        self.simulation, self.time, self._derives = simulation, time, derives
        self._before: tuple[int, Array] | None = None
        if derives:
            # kept now: when the next moment asks, the engine has moved on
            self._before = None if before is None or before.time >= time else (before.time, before.poses)
            _ = self.poses

    @cached_property
    def positions(self) -> Array:
        """Of the layout."""
        return np.asarray(self.simulation.positions[0])

    @cached_property
    def velocities(self) -> Array:
        """Of the layout."""
        return np.asarray(self.simulation.velocities[0])

    @cached_property
    def poses(self) -> Array:
        """Of all bodies in the world: position, quaternion."""
        return np.asarray(self.simulation.body_poses()[0])

    @cached_property
    def efforts(self) -> Array | None:
        """What actuators exert on each dof of the layout [N m, N]; None where the engine does not tell."""
        return self.simulation.actuator_efforts()

    @cached_property
    def body_velocities(self) -> Array | None:
        """Of all bodies (bodies x 6), along the axes of the world; None where the engine does not tell."""
        return self.simulation.body_velocities()

    @cached_property
    def contacts(self) -> list[Contact] | None:
        """What touches what."""
        return self.simulation.contacts()

    def find_pose(self, body: str) -> Pose:
        """The pose of a body in the world."""
        if body == WORLD:
            return IDENTITY
        row = self.poses[self.simulation.layout.find_body(body)]
        return Pose.of(row[:3], row[3:])

    def find_frame(self, frame: GraphFrame) -> Pose:
        """The pose of a frame in the world."""
        return self.find_pose(frame.body) @ frame.pose

    def find_velocity(self, body: str, point: Array) -> tuple[Array, Array] | None:
        """Velocity of a point of the world that moves with a body, and its turning, along the axes of the world."""
        if body == WORLD:
            return vec3(), vec3()
        number = self.simulation.layout.find_body(body)
        told = None if self._derives else self.body_velocities
        row = self._derive_velocity(number) if told is None else told[number]
        if row is None:
            return None
        arm = point - self.find_pose(body).p
        turn = row[3:]
        swept = vec3(
            turn[1] * arm[2] - turn[2] * arm[1],
            turn[2] * arm[0] - turn[0] * arm[2],
            turn[0] * arm[1] - turn[1] * arm[0],
        )
        return row[:3] + swept, turn

    def _derive_velocity(self, number: int) -> Array | None:
        """Velocity and turning of a body since the moment before; None where there was none."""
        if self._before is None:
            return None
        before, poses = self._before
        seconds = (self.time - before) * 1e-9
        old, new = poses[number], self.poses[number]
        turn = quat_multiply(new[3:], quat_conjugate(old[3:]))
        # the short way round
        turn = turn if turn[0] >= 0.0 else -turn
        sine = float(np.linalg.norm(turn[1:]))
        angle = 2.0 * np.arctan2(sine, turn[0])
        spin = turn[1:] * (angle / sine if sine > 1e-12 else 2.0)
        return np.concatenate([new[:3] - old[:3], spin]) / seconds
