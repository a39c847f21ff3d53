# SPDX-License-Identifier: Apache-2.0
"""The visible list of transports; packages add rows through entry points in the group ``simwright.transports``."""

from __future__ import annotations

import importlib.util
import os
from typing import Any, Protocol

from simwright.core.errors import SimwrightError
from simwright.core.registry import Registry
from simwright.ros.transports.transport import Transport, TransportOptions


class TransportOpener(Protocol):
    """What a row of the table names: opens a transport, or raises an error with the line that installs it."""

    def __call__(self, options: TransportOptions) -> Transport:
        """Open it."""
        ...


TRANSPORTS: Registry[TransportOpener] = Registry(
    "transport",
    "simwright.transports",
    {
        "rclpy": "simwright.ros.transports.rclpy:open_rclpy",
        "zenoh": "simwright.ros.transports.zenoh:open_zenoh",
        "foxglove": "simwright.ros.transports.foxglove:open_foxglove",
        "bag": "simwright.ros.transports.bag:open_bag",
    },
)
INSTALL = {
    "rclpy": "source a ROS 2 distribution (source /opt/ros/<distro>/setup.bash), or: "
    "pip install ros-rclpy ros-rmw-fastrtps-cpp ros-sensor-msgs ros-nav-msgs ros-std-srvs ros-trajectory-msgs",
    "zenoh": "pip install 'simwright[zenoh]'",
    "foxglove": "pip install 'simwright[foxglove]'",
    "bag": "pip install 'simwright[ros]'",
}
_ABOUT = {
    "rclpy": ("rclpy", "ROS 2 itself: topics, services, actions, parameters"),
    "zenoh": ("zenoh", "nodes with rmw_zenoh, without ROS here: topics, services, actions, parameters"),
    "foxglove": ("foxglove", "viewers that speak Foxglove's websocket: topics, services, commands"),
    "bag": ("rosbags", "bags that 'ros2 bag play' plays: MCAP, or sqlite3"),
}
_PACKAGES = ("sensor_msgs", "nav_msgs", "geometry_msgs", "std_srvs", "rosgraph_msgs", "tf2_msgs", "control_msgs",
    "trajectory_msgs", "simulation_interfaces")  # fmt: skip


class NoTransportError(SimwrightError):
    """A transport is not installed; the hint says how to get it."""

    code = "no-transport"


def open_transport(name: str, options: TransportOptions) -> Transport:
    """Open the transport of that name; an unknown one is an error that names those there are."""
    return TRANSPORTS.get(name)(options)


def examine_transports() -> list[dict[str, Any]]:
    """For each of ours: whether it works here, and what is missing."""
    rows = []
    for name, (module, about) in _ABOUT.items():
        found = importlib.util.find_spec(module) is not None
        notes = [] if found else [f"missing: {INSTALL[name]}"]
        if found and name == "rclpy":
            missing = [package for package in _PACKAGES if importlib.util.find_spec(package) is None]
            if missing:
                lines = " ".join(f"ros-$ROS_DISTRO-{name.replace('_', '-')}" for name in missing)
                notes.append(f"without {', '.join(missing)}: interfaces of these types are disabled")
                notes.append(f"get them by: apt install {lines}")
            middleware = os.environ.get("RMW_IMPLEMENTATION", "the default middleware")
            notes.append(f"domain {os.environ.get('ROS_DOMAIN_ID', '0')}, {middleware}")
        rows.append({"name": name, "works": found, "about": about, "notes": notes})
    return rows
