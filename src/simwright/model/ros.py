# SPDX-License-Identifier: Apache-2.0
"""ROS side of an asset: contexts, interfaces, frames and controllers (REP-0158 section 2 and 4.2.3)."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import NOWHERE, Where
from simwright.model.display import Shown


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
    """Namespace scope (REP-0158 2.1); ``at`` names the body, site or model it sits on."""

    namespace: str = ""
    domain_id: int | None = None
    parent_frame: str = "world"
    at: str = ""
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
