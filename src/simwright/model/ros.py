# SPDX-License-Identifier: Apache-2.0
"""ROS side of an asset: contexts, interfaces, frames and controllers (REP-0158 section 2 and 4.2.3).

At the end: optical frames of cameras, and the frame that messages of a sensor are in (REP-0158 2.7, 2.8).
"""

from __future__ import annotations

import enum
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from simwright.core.diag import NOWHERE, Where
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.display import Shown

if TYPE_CHECKING:
    from simwright.model.asset import Asset, Camera, Sensor, Site


class InterfaceKind(enum.StrEnum):
    """The three ROS communication patterns."""

    TOPIC = "topic"
    SERVICE = "service"
    ACTION = "action"


ROLES = {
    InterfaceKind.TOPIC: ("publisher", "subscription"),
    InterfaceKind.SERVICE: ("server", "client"),
    InterfaceKind.ACTION: ("server", "client"),
}


@dataclass(frozen=True, slots=True, repr=False)
class Qos(Shown):
    """Quality of service of a topic, as authored (REP-0158 2.4)."""

    reliability: str = "system_default"
    durability: str = "system_default"
    history: str = "system_default"
    depth: int = 10
    match_publisher: bool = False


@dataclass(slots=True, repr=False)
class Interface(Shown):
    """A topic, service or action.  ``at`` names the element (body, site, sensor) it sits on, if any."""

    kind: InterfaceKind
    role: str
    name: str
    type: str
    rate: float | None = None
    qos: Qos = Qos()
    frame_override: str = ""
    starts_enabled: bool = True
    at: str = ""
    path: str = ""
    source: Where = NOWHERE


@dataclass(slots=True, repr=False)
class RosContext(Shown):
    """Namespace scope (REP-0158 2.1); ``at`` names the body, site or model it sits on, ``pose`` is its place there.

    The pose counts where the context is on a frame of its own, which it is by being a context (2.7); on a body or site
    it is that of the body or site.  Of a model, or of nothing, it is in the frame of the asset.
    """

    namespace: str = ""
    domain_id: int | None = None
    parent_frame: str = "world"
    at: str = ""
    pose: Pose = IDENTITY
    path: str = ""
    source: Where = NOWHERE


CONTROLLER_ROLES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "diff_drive": (("left", "right"), ("subscriber", "odom")),
    "joint_trajectory": (("command",), ("server",)),
    "joint_state_broadcaster": (("state",), ("publisher",)),
    "rigid_body_twist": ((), ("subscriber",)),
    "external": (("command", "state"), ()),
    "ros2_control": (("command", "state"), ()),
}
"""Kind of controller -> joint roles and interface roles every reader and writer uses."""


@dataclass(slots=True, repr=False)
class Controller(Shown):
    """A controller: one of the registry's kinds, or one that is only named (ros2_control, a plugin).

    ``joints`` maps a role to joint names and ``interfaces`` a role to interface names; the roles of the known
    kinds are in :data:`CONTROLLER_ROLES`.
    """

    name: str
    kind: str
    joints: dict[str, list[str]] = field(default_factory=dict)
    interfaces: dict[str, str] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    starts_enabled: bool = True
    path: str = ""
    source: Where = NOWHERE


OPTICAL = Pose.of(q=(0.0, 1.0, 0.0, 0.0))
"""From a camera's axes to the optical frame: half a turn about X (REP-0158 2.8)."""
_SAME = 1e-6
_Element = TypeVar("_Element", "Camera", "Sensor", "Site")


def find_optical(asset: Asset, camera: Camera) -> Site | None:
    """The frame that is the camera's optical one."""
    pose = camera.pose @ OPTICAL
    for site in asset.sites:
        if site.body == camera.body and site.pose.is_close(pose, _SAME):
            return site
    return None


def find_frame(asset: Asset, interface: Interface) -> str:
    """The TF frame of what an interface says: the one it names, else that of the place it sits on."""
    if interface.frame_override:
        return interface.frame_override
    sensor = _find_named(asset.sensors, interface.at)
    camera = _find_named(asset.cameras, sensor.target or sensor.name if sensor else interface.at)
    # REP-0158 2.8: messages of a camera are in its optical frame, wherever the interface itself sits
    site = (find_optical(asset, camera) if camera else None) or _find_named(asset.sites, interface.at)
    if site is not None:
        return site.ros_frame or site.name
    return interface.at if sensor is None else sensor.body or sensor.name


def _find_named(elements: Sequence[_Element], name: str) -> _Element | None:
    return next((element for element in elements if element.name == name), None)


def list_implied_frames(asset: Asset) -> set[str]:
    """Names of the sites that only say what the ROS interfaces of sensors imply anyway.

    Those are optical frames of cameras, and frames of sensors that no link carries.
    """
    # two kinds of frames over three lists: comprehensions count as branches
    used = {interface.at for interface in asset.interfaces}
    names = {sensor.target or sensor.name for sensor in asset.sensors if sensor.name in used} | used
    optical = [find_optical(asset, camera) for camera in asset.cameras if camera.name in names]
    loose = {sensor.name for sensor in asset.sensors if not sensor.body}
    return {site.name for site in optical if site is not None} | {
        site.name for site in asset.sites if not site.body and site.name in loose
    }
