# SPDX-License-Identifier: Apache-2.0
"""The base class of controllers that run beside a simulation, and the one that forwards commands to joints.

A controller takes commands from its endpoints and writes targets of joints before every step.  Two active controllers
never command one joint.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose
from simwright.core.registry import Registry
from simwright.engines.layout import LayoutDof
from simwright.engines.protocol import Simulation
from simwright.model.asset import Asset
from simwright.model.ros import Controller
from simwright.ros.graph import GraphController, RosEndpoint
from simwright.ros.messages import NANO, are_finite
from simwright.ros.moment import SimulationMoment
from simwright.ros.serving import NoDataError
from simwright.ros.servos import COMMAND_ROLES, JointTargets
from simwright.ros.source_parts import Read
from simwright.ros.transports.transport import ActionBehaviour, Message, Receive


@dataclass(frozen=True, slots=True)
class ControllerParts:
    """What a controller is built from: its entry in the graph, the simulation, and dofs of the robot by ROS name."""

    entry: GraphController
    asset: Asset
    simulation: Simulation
    freedoms: Mapping[str, LayoutDof]
    base_frame: str = ""

    def list_commanded(self) -> list[str]:
        """ROS names of the joints it commands."""
        names = {joint.name: joint.public_name for joint in self.asset.joints}
        joints = self.entry.controller.joints
        return [names.get(name, name) for role in COMMAND_ROLES for name in joints.get(role, ())]


CONTROLLERS: Registry[Callable[[ControllerParts], ActiveController]] = Registry(
    "controller",
    "simwright.controllers",
    {
        "diff_drive": "simwright.ros.driving:DifferentialDrive",
        "rigid_body_twist": "simwright.ros.driving:BodyTwist",
        "joint_trajectory": "simwright.ros.following:TrajectoryFollower",
        "gripper_action": "simwright.ros.following:GripperMover",
    },
)
"""Kind of controller -> what runs it; packages add rows through entry points."""
_ELSEWHERE = frozenset({"joint_state_broadcaster", "ros2_control", "external"})
"""Kinds that command no joints here: they only publish, or run in another process."""
NUMBERS = "std_msgs/msg/Float64MultiArray"
JOINT_COMMANDS = "sensor_msgs/msg/JointState"


class ActiveController(abc.ABC):
    """A running controller: its ``name``, the ``joints`` it commands, and whether it ``is_enabled``."""

    moment: SimulationMoment
    """The present state, kept up to date by the bridge."""
    odometry: Callable[[], Pose] | None = None
    """Gives the odometry pose of a base, for controllers that integrate it."""

    def __init__(self, name: str, freedoms: Mapping[str, LayoutDof]) -> None:
        self.name, self.freedoms, self.is_enabled = name, dict(freedoms), True

    @property
    def joints(self) -> frozenset[str]:
        """Joints it commands, by the names of the asset."""
        return frozenset(f.joint.name for f in self.freedoms.values() if f.joint is not None)

    def receive_by(self, endpoint: RosEndpoint) -> Receive | None:
        """The callback for messages of a subscription; None if the controller does not take them."""
        del endpoint
        return None

    def act_by(self, endpoint: RosEndpoint) -> ActionBehaviour | None:
        """The behaviour behind an action; None if the controller does not offer it."""
        del endpoint
        return None

    def read_by(self, endpoint: RosEndpoint) -> Read | None:
        """The source of a topic that the controller publishes itself; None if it does not."""
        del endpoint
        return None

    @property
    def now(self) -> float:
        """Time of the simulation [s]."""
        return self.moment.time / NANO

    @abc.abstractmethod
    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """Set targets for the next step; called before each one while enabled."""

    def reset(self) -> str:
        """Reset internal state; gives a description of what was reset, "" if there is none."""
        return ""

    def stop(self, targets: JointTargets, positions: Array) -> None:
        """Hold the present positions: called when the controller is disabled."""
        for freedom in self.freedoms.values():
            targets.set_position(freedom, float(positions[freedom.q]))


class ControllerSettings:
    """Settings of a controller, read leniently: ROS parameter files hold numbers as text, too."""

    def __init__(self, controller: Controller) -> None:
        self._said = controller.settings

    def number(self, name: str, default: float = 0.0) -> float:
        """A setting as a number; ``default`` if it is missing or not a number."""
        value = self._said.get(name)
        try:
            found = float(value) if value is not None else default
        except (TypeError, ValueError):
            return default
        return found if not math.isnan(found) else default

    def group(self, name: str) -> dict[str, Any]:
        """A setting that is a table; empty if it is missing or not a table."""
        value = self._said.get(name)
        return value if isinstance(value, dict) else {}


class PlainCommands(ActiveController):
    """Forwards commanded positions, velocities or efforts to joints."""

    def __init__(self, name: str, freedoms: Mapping[str, LayoutDof], what: str) -> None:
        super().__init__(name, freedoms)
        if not self.freedoms:
            raise NoDataError(f"{name!r} names no joints that can be moved")
        self._waiting: list[Callable[[JointTargets], None]] = []
        self._what = what

    def receive_by(self, endpoint: RosEndpoint) -> Receive | None:
        """See the base class."""
        if endpoint.type == NUMBERS:
            return self._receive_numbers
        return self._receive_states if endpoint.type == JOINT_COMMANDS else None

    def _receive_numbers(self, message: Message) -> None:
        values = np.asarray(message["data"], dtype=np.float64)
        if len(values) == len(self.freedoms) and are_finite(values):
            self._put(self._what, dict(zip(self.freedoms, values.tolist(), strict=True)))

    def _receive_states(self, message: Message) -> None:
        for part, what in (("position", "position"), ("velocity", "velocity"), ("effort", "effort")):
            values = np.asarray(message[part], dtype=np.float64)
            names = list(message["name"])
            if len(values) == len(names) and names and are_finite(values):
                known = {n: v for n, v in zip(names, values.tolist(), strict=True) if n in self.freedoms}
                self._put(what, known)

    def _put(self, what: str, values: Mapping[str, float]) -> None:
        def write(targets: JointTargets) -> None:
            for name, value in values.items():
                freedom = self.freedoms[name]
                if what == "velocity":
                    targets.set_velocity(freedom, value)
                elif what == "effort":
                    targets.set_effort(freedom, value)
                else:
                    targets.set_position(freedom, value)

        self._waiting.append(write)

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        del moment
        waiting, self._waiting = self._waiting, []
        for write in waiting:
            write(targets)


def make_controller(parts: ControllerParts) -> ActiveController | None:
    """Build the controller of an entry; None for kinds that command nothing here.

    Raises :class:`NoDataError` with the reason if the asset lacks what the controller needs.
    """
    kind = parts.entry.controller.kind
    if kind in _ELSEWHERE:
        return None
    if kind in CONTROLLERS:
        return CONTROLLERS.get(kind)(parts)
    names = parts.list_commanded()
    if not names:
        return None
    what = str(parts.entry.controller.settings.get("interface_name") or "")
    what = what or next((word for word in ("velocity", "effort") if word in kind), "position")
    known = {name: parts.freedoms[name] for name in names if name in parts.freedoms}
    return PlainCommands(parts.entry.controller.name, known, what)
