# SPDX-License-Identifier: Apache-2.0
"""One moment of a running simulation, read from the engine when first asked for and then kept."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, vec3
from simwright.engines.protocol import Contact, Simulation
from simwright.model.joint import WORLD
from simwright.ros.frames import GraphFrame


class SimulationMoment:
    """State of the first world at ``time`` [ns]."""

    def __init__(self, simulation: Simulation, time: int) -> None:
        self.simulation, self.time = simulation, time

    @cached_property
    def positions(self) -> Array:
        """Of the layout."""
        return np.asarray(self.simulation.positions[0])

    @cached_property
    def velocities(self) -> Array:
        """Of the layout."""
        return np.asarray(self.simulation.velocities[0])

    @cached_property
    def _poses(self) -> Array:
        return np.asarray(self.simulation.body_poses()[0])

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
        row = self._poses[self.simulation.layout.find_body(body)]
        return Pose.of(row[:3], row[3:])

    def find_frame(self, frame: GraphFrame) -> Pose:
        """The pose of a frame in the world."""
        return self.find_pose(frame.body) @ frame.pose

    def find_velocity(self, body: str, point: Array) -> tuple[Array, Array] | None:
        """Velocity of a point of the world that moves with a body, and its turning, along the axes of the world."""
        if body == WORLD:
            return vec3(), vec3()
        if self.body_velocities is None:
            return None
        row = self.body_velocities[self.simulation.layout.find_body(body)]
        arm = point - self.find_pose(body).p
        turn = row[3:]
        swept = vec3(
            turn[1] * arm[2] - turn[2] * arm[1],
            turn[2] * arm[0] - turn[0] * arm[2],
            turn[0] * arm[1] - turn[1] * arm[0],
        )
        return row[:3] + swept, turn
