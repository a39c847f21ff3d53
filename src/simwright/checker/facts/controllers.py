# SPDX-License-Identifier: Apache-2.0
"""Controllers and what they are connected to (REP-0158 4.2.3).

A registered controller's relationships come from the registry; what kind of prim each one leads to is said in
:data:`ENDS`, because a schema cannot say it.  Relationships of unregistered controllers, and collections, are
sorted by what their targets are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.checker.facts.names import KINDS
from simwright.checker.facts.schemas import known_classes, known_properties
from simwright.usd.submission_words import split_words

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


@dataclass(frozen=True, slots=True)
class End:
    """What a controller's relationship leads to.

    ``what`` is ``topic``, ``action``, ``joint`` or ``body``.  ``role`` and ``types`` are those of the
    interface, ``newer`` types that newer controllers use.  ``many``: more than one target is right.
    ``reads``: the target is observed and not commanded.
    """

    what: str
    role: str = ""
    types: tuple[str, ...] = ()
    newer: tuple[str, ...] = ()
    many: bool = False
    reads: bool = False


_TWIST = End("topic", "subscription", ("geometry_msgs/msg/Twist",), newer=("geometry_msgs/msg/TwistStamped",))
ENDS: dict[str, End] = {
    "ros:diff_drive:subscriber": _TWIST,
    "ros:diff_drive:odom": End("topic", "publisher", ("nav_msgs/msg/Odometry",)),
    "ros:diff_drive:left_wheels": End("joint", many=True),
    "ros:diff_drive:right_wheels": End("joint", many=True),
    "ros:joint_trajectory:server": End("action", "server", ("control_msgs/action/FollowJointTrajectory",)),
    "ros:joint_trajectory:command_joints": End("joint", many=True),
    "ros:joint_state_broadcaster:publisher": End("topic", "publisher", ("sensor_msgs/msg/JointState",)),
    "ros:joint_state_broadcaster:joints": End("joint", many=True, reads=True),
    "ros:rigid_body_twist:subscriber": _TWIST,
    "ros:rigid_body_twist:body": End("body"),
}
"""What the relationships of the registered controllers lead to."""

MARKERS = ("RosControlExternalAPI", "RosControlIntegratedAPI")
"""Controller APIs without properties of their own."""

_READING = {"state", "states", "read", "measured", "observed", "sensor", "sensors", "broadcaster"}
_CORE_RELATIONSHIPS = ("material:", "physics:", "proxyPrim", "skel:", "light:", "ui:")


@dataclass(slots=True)
class Controller:
    """A prim with RosControl*APIs.

    ``rels`` are its authored relationships with targets (collections' includes too), by name.
    """

    node: Node
    apis: list[str]
    rels: dict[str, list[Target]] = field(default_factory=dict)

    @property
    def interfaces(self) -> list[Node]:
        """Prims with a topic, service or action API that it references."""
        found = (target.node for targets in self.rels.values() for target in targets)
        return [node for node in found if node is not None and any(node.has(api) for api in KINDS)]

    @property
    def commands(self) -> list[Node]:
        """Joints and bodies that it actuates, each once."""
        found: dict[str, Node] = {}
        for name, targets in self.rels.items():
            if reads_only(name):
                continue
            for target in targets:
                node = target.node
                if node is not None and (node.is_a("PhysicsJoint") or node.has("PhysicsRigidBodyAPI")):
                    found.setdefault(node.path, node)
        return list(found.values())

    @property
    def is_integrated(self) -> bool:
        """Does it run inside the simulator?"""
        return any(
            "RosControlIntegratedAPI"
            in (api, *(known_classes()[api].builtins if api in known_classes() else ()))
            for api in self.apis
        )

    @property
    def is_active(self) -> bool:
        """Is it active at load time?

        Any authored ``*:starts_enabled`` of the controller decides; without one, a controller whose every
        command interface starts disabled gets no command and counts as inactive.
        """
        for name in self.node.property_names():
            if name.endswith(":starts_enabled") and not name.startswith(_INTERFACE_NAMESPACES):
                return self.node.authored(name) is not False
        states = [
            node.authored(f"ros:{kind}:starts_enabled")
            for node in self.interfaces
            for api, kind in KINDS.items()
            if node.has(api) and node.authored(f"ros:{kind}:role") in ("subscription", "server")
        ]
        return not states or any(state is not False for state in states)


_INTERFACE_NAMESPACES = ("ros:topic:", "ros:service:", "ros:action:")


@dataclass(frozen=True, slots=True)
class Target:
    """A target path and the live prim there, if there is one."""

    path: str
    node: Node | None


def find_controllers(snapshot: Snapshot) -> list[Controller]:
    """Every controller of the stage."""
    return snapshot.shared("controllers", _find)


def find_controller(node: Node, snapshot: Snapshot) -> Controller:
    """The controller on a node."""
    index = snapshot.shared("controllers.index", lambda s: {id(c.node): c for c in find_controllers(s)})
    return index[id(node)]


def _find(snapshot: Snapshot) -> list[Controller]:
    return [_read(node, snapshot) for node in snapshot.controllers]


def _read(node: Node, snapshot: Snapshot) -> Controller:
    heads = dict.fromkeys(api.partition(":")[0] for api in node.apis)
    controller = Controller(node, [api for api in heads if api.startswith("RosControl")])
    for name, paths in node.relationships().items():
        if name.startswith(_CORE_RELATIONSHIPS) or name.endswith(":excludes"):
            continue
        controller.rels[name] = [Target(str(path), snapshot.node(path)) for path in paths]
    return controller


def reads_only(name: str) -> bool:
    """Does a relationship name targets that are only observed?"""
    if name in ENDS:
        return ENDS[name].reads
    return bool(_READING & set(split_words(name)))


def list_ends(controller: Controller) -> list[tuple[str, End]]:
    """The relationships that the registered APIs of a controller define, with what they lead to."""
    return [
        (name, ENDS[name])
        for api in controller.apis
        if api in known_classes()
        for name in (prop.name for prop in known_classes()[api].properties)
        if name in ENDS and known_properties()[name].property.is_relationship
    ]
