# SPDX-License-Identifier: Apache-2.0
"""The present state of a running simulation, each value read from the engine once per step and only if asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, quat_conjugate, quat_multiply, vec3
from simwright.engines.protocol import Contact, Simulation
from simwright.model.joint import WORLD
from simwright.ros.frames import GraphFrame

Value = TypeVar("Value")


class SimulationMoment:
    """State of the first world at simulated ``time`` [ns]; :meth:`advance` follows each step.

    For engines that give no velocities of bodies, these are finite differences of poses between two steps.
    """

    def __init__(self, simulation: Simulation, time: int) -> None:
        self.simulation, self.time = simulation, time
        self._known: dict[object, Any] = {}
        self._derives = simulation.body_velocities() is None
        self._before: tuple[int, Array] | None = None

    def advance(self, time: int) -> None:
        """Take over a new time and drop the values of the step before."""
        if self._derives:
            # the engine has moved on already: what was not read before is lost
            past = self._known.get("poses")
            self._before = (self.time, past) if past is not None and self.time < time else None
        self._known.clear()
        self.time = time
        if self._derives:
            _ = self.poses

    def ask(self, key: object, compute: Callable[[], Value]) -> Value:
        """A value of this step, computed when first asked for."""
        if key not in self._known:
            self._known[key] = compute()
        value: Value = self._known[key]
        return value

    @property
    def positions(self) -> Array:
        """Positions in the order of the layout (nq)."""
        return self.ask("positions", lambda: np.asarray(self.simulation.positions[0]))

    @property
    def velocities(self) -> Array:
        """Velocities in the order of the layout (nv)."""
        return self.ask("velocities", lambda: np.asarray(self.simulation.velocities[0]))

    @property
    def poses(self) -> Array:
        """Poses of all bodies in the world (bodies x 7): position [m], quaternion w, x, y, z."""
        return self.ask("poses", lambda: np.asarray(self.simulation.body_poses()[0]))

    @property
    def efforts(self) -> Array | None:
        """Efforts of actuators on each dof of the layout [N m, N]; None if the engine does not give them."""
        return self.ask("efforts", self.simulation.actuator_efforts)

    @property
    def body_velocities(self) -> Array | None:
        """Linear and angular velocities of all bodies in world axes (bodies x 6) [m/s, rad/s]; None if not given."""
        return self.ask("rates", self.simulation.body_velocities)

    @property
    def contacts(self) -> list[Contact] | None:
        """Contacts of this step; None if the engine does not give them."""
        return self.ask("contacts", self.simulation.contacts)

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
        """Linear velocity of a world point that is fixed to a body, and the angular velocity, in world axes."""
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
        """Velocity of a body (6) by finite differences since the step before; None at the first step."""
        if self._before is None:
            return None
        before, poses = self._before
        seconds = (self.time - before) * 1e-9
        old, new = poses[number], self.poses[number]
        turn = quat_multiply(new[3:], quat_conjugate(old[3:]))
        # q and -q are the same rotation: take the one below half a turn
        turn = turn if turn[0] >= 0.0 else -turn
        sine = float(np.linalg.norm(turn[1:]))
        angle = 2.0 * np.arctan2(sine, turn[0])
        spin = turn[1:] * (angle / sine if sine > 1e-12 else 2.0)
        return np.concatenate([new[:3] - old[:3], spin]) / seconds
