# SPDX-License-Identifier: Apache-2.0
"""What sources of messages are made from: the asset, its simulation, the robot, and places and sensors in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.math3d import Array
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.protocol import Simulation
from simwright.model.asset import Asset, Sensor
from simwright.resolve.sensors import generalize
from simwright.ros.frames import FrameTree, GraphFrame
from simwright.ros.graph import GraphRobot, RosEndpoint
from simwright.ros.moment import SimulationMoment
from simwright.ros.serving import NoDataError, Sendable
from simwright.ros.transports.cdr import STAMP
from simwright.ros.transports.transport import Message

Read: TypeAlias = Callable[[SimulationMoment], Sendable | None]


@dataclass(slots=True)
class SourceContext:
    """What sources are made from; ``random`` is for the noise of sensors."""

    asset: Asset
    simulation: Simulation
    robot: GraphRobot
    reporter: Reporter
    gravity: Array
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(0))

    @property
    def frames(self) -> FrameTree:
        """Of the robot."""
        return self.robot.frames

    @property
    def layout(self) -> Layout:
        """Of the simulation."""
        return self.simulation.layout

    def find_place(self, endpoint: RosEndpoint) -> GraphFrame:
        """The frame that an endpoint measures in: that of its messages, else where it sits."""
        frame = self.frames.find(endpoint.frame_id)
        if frame is not None and frame.why != "odometry":
            return frame
        sensor = self.find_sensor(endpoint)
        if sensor is not None:
            return GraphFrame(endpoint.frame_id, "", True, "site", sensor.body, sensor.pose)
        at = endpoint.interface.at if endpoint.interface is not None else ""
        site = next((site for site in self.asset.sites if site.name == at), None)
        if site is not None:
            return GraphFrame(endpoint.frame_id, "", True, "site", site.body, site.pose)
        if at in self.layout.bodies:
            return GraphFrame(endpoint.frame_id, "", True, "link", at)
        raise NoDataError("it is attached to no body and no frame")

    def find_sensor(self, endpoint: RosEndpoint, *kinds: str) -> Sensor | None:
        """The sensor an endpoint speaks for: the one it is at, else the only one of its kind on its body."""
        interface = endpoint.interface
        if interface is None:
            return None
        named = next((sensor for sensor in self.asset.sensors if sensor.name == interface.at), None)
        if named is not None:
            return generalize(named)
        near = [
            sensor
            for sensor in map(generalize, self.asset.sensors)
            if sensor.kind in kinds
            and (
                (sensor.path and interface.path.startswith(f"{sensor.path.rpartition('/')[0]}/"))
                or (interface.at and sensor.body == interface.at)
            )
        ]
        return near[0] if len(near) == 1 else None


def find_freedoms(layout: Layout, robot: GraphRobot) -> dict[str, LayoutDof]:
    """Dofs of a robot's joints with a single coordinate, by the name ROS has for the joint."""
    wanted = {joint.name: joint.public_name for joint in robot.joints if len(joint.dofs) == 1}
    return {
        wanted[freedom.joint.name]: freedom
        for freedom in layout.freedoms
        if freedom.joint is not None
        and freedom.joint.name in wanted
        and freedom.positions.stop - freedom.positions.start == 1
    }


def read_noise(sensor: Sensor | None, name: str = "") -> tuple[float, float]:
    """Mean and standard deviation of a sensor's Gaussian noise."""
    settings = {} if sensor is None else sensor.settings
    prefix = f"{name}_" if name else ""
    if not str(settings.get(f"{prefix}noise_type", "none")).startswith("gaussian"):
        return 0.0, 0.0
    values = (settings.get(f"{prefix}noise_{word}", 0.0) for word in ("mean", "stddev"))
    mean, deviation = (float(value) for value in values)
    return mean, abs(deviation)


def make_stamped(frame: str) -> Message:
    """``std_msgs/Header`` of a layout: the time of the message, and a frame."""
    return {"stamp": STAMP, "frame_id": frame}
