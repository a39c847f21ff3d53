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
from simwright.formats.usd.prims import FoundPrim
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
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
    # the broadcaster reads joints and commands none
    "joints": "state",
}
"""Relationship of the registry's schemas -> joint role of the model."""
_CONTROLLER = re.compile(r"RosControl(\w+)API\Z")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def read_ros(reader: StageReader, scan: StageScan) -> None:
    """Add contexts and interfaces, then the controllers that refer to them."""
    interfaces: dict[str, Interface] = {}
    for found in scan.ros:
        if "RosContextAPI" in found.apis:
            reader.asset.contexts.append(_read_context(reader, scan, found))
        for api, kind in _SCHEMAS:
            if api in found.apis:
                interface = _read_interface(reader, scan, found, kind)
                if interface is not None:
                    # several APIs on one prim are against REP-0158 2.2; controllers then mean the first
                    interfaces.setdefault(found.path, interface)
                    reader.asset.interfaces.append(interface)
    names = name_prims(scan.controllers, noted=reader.noted)
    for found in scan.controllers:
        for word in list_controller_kinds(found):
            controller = _read_controller(reader, found, names[found.path], word, interfaces)
            reader.asset.controllers.append(controller)


def _read_context(reader: StageReader, scan: StageScan, found: FoundPrim) -> RosContext:
    prim = found.prim
    domain = reader.get_optional(prim, "ros:context:domain_id")
    return RosContext(
        namespace=reader.get_text(prim, "ros:context:namespace"),
        domain_id=None if domain is None else int(domain),
        parent_frame=reader.get_text(prim, "ros:context:parent_frame", "world"),
        at=_find_place(reader, scan, found),
        path=found.path,
        source=reader.where(prim),
    )


def _read_interface(
    reader: StageReader, scan: StageScan, found: FoundPrim, kind: InterfaceKind
) -> Interface | None:
    prim, space = found.prim, f"ros:{kind}"
    role, name = reader.get_text(prim, f"{space}:role"), reader.get_text(prim, f"{space}:name")
    if role not in ROLES[kind]:
        reader.reporter.report(
            INTERFACE_ROLE,
            reader.where(prim, f"{space}:role"),
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
        type=reader.get_text(prim, f"{space}:type"),
        starts_enabled=reader.get_flag(prim, f"{space}:starts_enabled", True),
        at=_find_place(reader, scan, found),
        path=found.path,
        source=reader.where(prim),
    )
    if kind is InterfaceKind.TOPIC:
        interface.rate = reader.get_optional(prim, "ros:topic:publish_rate")
        interface.frame_override = reader.get_text(prim, "ros:topic:override_frame_id")
        interface.qos = _read_qos(reader, prim)
    return interface


def _read_qos(reader: StageReader, prim: Usd.Prim) -> Qos:
    space = "ros:topic:qos"
    return Qos(
        reliability=reader.get_text(prim, f"{space}:reliability", "system_default"),
        durability=reader.get_text(prim, f"{space}:durability", "system_default"),
        history=reader.get_text(prim, f"{space}:history", "system_default"),
        depth=int(reader.get_number(prim, f"{space}:depth", 10)),
        match_publisher=reader.get_flag(prim, f"{space}:match_publisher", False),
    )


def _find_place(reader: StageReader, scan: StageScan, found: FoundPrim) -> str:
    """The nearest site or body at or above a prim; the asset itself for its default prim."""
    at: FoundPrim | None = found
    while at is not None:
        if at.path in reader.sites:
            return reader.sites[at.path]
        if at.path in reader.bodies:
            return reader.bodies[at.path].name
        if at.prim == reader.stage.GetDefaultPrim():
            # an interface below the root belongs to no place on the robot
            return reader.asset.name if at is found else ""
        at = scan.all.get(at.path.rpartition("/")[0])
    return ""


def list_controller_kinds(found: FoundPrim) -> list[str]:
    """Controller kinds applied to a prim in snake case; "integrated" alone says nothing."""
    # sorted, since a set of schemas has no order and the first controller of a name keeps it
    matches = (_CONTROLLER.match(api) for api in sorted(found.apis))
    kinds = [_WORD.sub("_", match.group(1)).lower() for match in matches if match]
    return [kind for kind in kinds if kind != "integrated"]


def _read_controller(
    reader: StageReader, found: FoundPrim, name: str, kind: str, interfaces: dict[str, Interface]
) -> Controller:
    prim, space = found.prim, f"ros:{kind}:"
    controller = Controller(name, kind, path=found.path, source=reader.where(prim))
    # fallbacks too: a controller runs with them
    for prop in prim.GetPropertiesInNamespace(space.split(":")[:-1]):
        key = prop.GetName()[len(space) :].replace(":", ".")
        if isinstance(prop, Usd.Relationship):
            _read_target(reader, found, controller, key, interfaces)
            continue
        value = reader.get(prim, prop.GetName())
        if value is not None:
            controller.settings[key] = make_plain(value)
    return controller


def _read_target(
    reader: StageReader, found: FoundPrim, controller: Controller, key: str, interfaces: dict[str, Interface]
) -> None:
    relationship = f"ros:{controller.kind}:{key.replace('.', ':')}"
    for target in reader.get_targets(found, relationship):
        place: Any = reader.joints.get(target)
        if place is not None:
            controller.joints.setdefault(_JOINT_ROLES.get(key, key), []).append(place)
        elif target in interfaces:
            controller.interfaces[key] = interfaces[target].name
        elif target in reader.bodies:
            controller.settings[key] = reader.bodies[target].name
        else:
            where = reader.where(found, relationship)
            reader.reporter.report(
                CONTROLLER_TARGET, where, relationship=relationship, name=controller.name, target=target
            )
