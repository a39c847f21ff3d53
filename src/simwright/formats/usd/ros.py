# SPDX-License-Identifier: Apache-2.0
"""ROS schemas: contexts, topics, services, actions and controllers (REP-0158 2 and 4.2.3).

Attributes are read by name, so it does not matter whether the schema plugins are registered.
"""

from __future__ import annotations

import re
from typing import Any

from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.formats.usd.attributes import make_plain
from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.prims import Found
from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source
from simwright.model.ros import ROLES, Controller, Interface, InterfaceKind, Qos, RosContext

INTERFACE_ROLE = declare(
    "usd-ros-role",
    Level.ERROR,
    "the role of {kind} {name!r} is {role!r}; it is left out",
    hint="author one of: {roles}",
    doc="A ROS interface has no role, or one that its kind does not have.",
    section="2.4",
    loss=True,
)
CONTROLLER_TARGET = declare(
    "usd-controller-target",
    Level.WARNING,
    "{relationship} of controller {name!r} names {target}, which is no joint, interface or body",
    hint="correct the relationship",
    doc="A controller refers to something that was not read.",
    section="4.2.3",
)

_SCHEMAS = (
    ("RosTopicAPI", InterfaceKind.TOPIC),
    ("RosServiceAPI", InterfaceKind.SERVICE),
    ("RosActionAPI", InterfaceKind.ACTION),
)
_JOINT_ROLES = {
    "left_wheels": "left",
    "right_wheels": "right",
    "command_joints": "command",
    "joints": "state",
}
"""Relationship of the registry's schemas -> joint role of the model."""
_CONTROLLER = re.compile(r"RosControl(\w+)API\Z")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_ros(source: Source, scan: Scan) -> None:
    """Add contexts and interfaces, then the controllers that refer to them."""
    interfaces: dict[str, Interface] = {}
    for found in scan.ros:
        if "RosContextAPI" in found.apis:
            source.asset.contexts.append(_read_context(source, scan, found))
        for api, kind in _SCHEMAS:
            if api in found.apis:
                interface = _read_interface(source, scan, found, kind)
                if interface is not None:
                    interfaces.setdefault(found.path, interface)
                    source.asset.interfaces.append(interface)
    names = name_prims(scan.controllers, noted=source.noted)
    for found in scan.controllers:
        for word in list_controller_kinds(found):
            controller = _read_controller(source, found, names[found.path], word, interfaces)
            source.asset.controllers.append(controller)


def _read_context(source: Source, scan: Scan, found: Found) -> RosContext:
    prim = found.prim
    domain = source.get_optional(prim, "ros:context:domain_id")
    return RosContext(
        namespace=source.get_text(prim, "ros:context:namespace"),
        domain_id=None if domain is None else int(domain),
        parent_frame=source.get_text(prim, "ros:context:parent_frame", "world"),
        at=_find_place(source, scan, found),
        path=found.path,
        source=source.where(prim),
    )


def _read_interface(source: Source, scan: Scan, found: Found, kind: InterfaceKind) -> Interface | None:
    prim, space = found.prim, f"ros:{kind}"
    role, name = source.get_text(prim, f"{space}:role"), source.get_text(prim, f"{space}:name")
    if role not in ROLES[kind]:
        source.reporter.report(
            INTERFACE_ROLE,
            source.where(prim, f"{space}:role"),
            kind=kind.value,
            name=name or prim.GetName(),
            role=role,
            roles=", ".join(ROLES[kind]),
        )
        return None
    interface = Interface(
        kind=kind,
        role=role,
        name=name,
        type=source.get_text(prim, f"{space}:type"),
        starts_enabled=source.get_flag(prim, f"{space}:starts_enabled", True),
        at=_find_place(source, scan, found),
        path=found.path,
        source=source.where(prim),
    )
    if kind is InterfaceKind.TOPIC:
        interface.rate = source.get_optional(prim, "ros:topic:publish_rate")
        interface.frame_override = source.get_text(prim, "ros:topic:override_frame_id")
        interface.qos = _read_qos(source, prim)
    return interface


def _read_qos(source: Source, prim: Usd.Prim) -> Qos:
    space = "ros:topic:qos"
    return Qos(
        reliability=source.get_text(prim, f"{space}:reliability", "system_default"),
        durability=source.get_text(prim, f"{space}:durability", "system_default"),
        history=source.get_text(prim, f"{space}:history", "system_default"),
        depth=int(source.get_number(prim, f"{space}:depth", 10)),
        match_publisher=source.get_flag(prim, f"{space}:match_publisher", False),
    )


def _find_place(source: Source, scan: Scan, found: Found) -> str:
    """The nearest site or body at or above a prim; the asset itself for its default prim."""
    at: Found | None = found
    while at is not None:
        if at.path in source.sites:
            return source.sites[at.path]
        if at.path in source.bodies:
            return source.bodies[at.path].name
        if at.prim == source.stage.GetDefaultPrim():
            return source.asset.name if at is found else ""
        at = scan.all.get(at.path.rpartition("/")[0])
    return ""


def list_controller_kinds(found: Found) -> list[str]:
    """Controller kinds applied to a prim in snake case; "integrated" alone says nothing."""
    matches = (_CONTROLLER.match(api) for api in sorted(found.apis))
    kinds = [_WORD.sub("_", match.group(1)).lower() for match in matches if match]
    return [kind for kind in kinds if kind != "integrated"]


def _read_controller(
    source: Source, found: Found, name: str, kind: str, interfaces: dict[str, Interface]
) -> Controller:
    prim, space = found.prim, f"ros:{kind}:"
    controller = Controller(name, kind, path=found.path, source=source.where(prim))
    for prop in prim.GetPropertiesInNamespace(space.split(":")[:-1]):
        key = prop.GetName()[len(space) :].replace(":", ".")
        if isinstance(prop, Usd.Relationship):
            _read_target(source, found, controller, key, interfaces)
            continue
        value = source.get(prim, prop.GetName())
        if value is not None:
            controller.settings[key] = make_plain(value)
    return controller


def _read_target(
    source: Source, found: Found, controller: Controller, key: str, interfaces: dict[str, Interface]
) -> None:
    relationship = f"ros:{controller.kind}:{key.replace('.', ':')}"
    for target in source.get_targets(found, relationship):
        place: Any = source.joints.get(target)
        if place is not None:
            controller.joints.setdefault(_JOINT_ROLES.get(key, key), []).append(place)
        elif target in interfaces:
            controller.interfaces[key] = interfaces[target].name
        elif target in source.bodies:
            controller.settings[key] = source.bodies[target].name
        else:
            where = source.where(found, relationship)
            source.reporter.report(
                CONTROLLER_TARGET, where, relationship=relationship, name=controller.name, target=target
            )
