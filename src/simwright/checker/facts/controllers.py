# SPDX-License-Identifier: Apache-2.0
"""Controllers and what they are connected to (REP-0158 4.2.3).

A registered controller's relationships come from the registry; what kind of prim each one has to lead to is in
:data:`EXPECTED_TARGETS`, because a schema cannot say it.  Relationships of unregistered controllers, and
collections, are sorted by what their targets are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.checker.facts.names import KINDS
from simwright.checker.facts.schemas import known_classes, known_properties
from simwright.usd.submission_words import split_words

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot


@dataclass(frozen=True, slots=True)
class ExpectedTarget:
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


_TWIST = ExpectedTarget(
    "topic", "subscription", ("geometry_msgs/msg/Twist",), newer=("geometry_msgs/msg/TwistStamped",)
)
EXPECTED_TARGETS: dict[str, ExpectedTarget] = {
    "ros:diff_drive:subscriber": _TWIST,
    "ros:diff_drive:odom": ExpectedTarget("topic", "publisher", ("nav_msgs/msg/Odometry",)),
    "ros:diff_drive:left_wheels": ExpectedTarget("joint", many=True),
    "ros:diff_drive:right_wheels": ExpectedTarget("joint", many=True),
    "ros:joint_trajectory:server": ExpectedTarget(
        "action", "server", ("control_msgs/action/FollowJointTrajectory",)
    ),
    "ros:joint_trajectory:command_joints": ExpectedTarget("joint", many=True),
    "ros:joint_state_broadcaster:publisher": ExpectedTarget(
        "topic", "publisher", ("sensor_msgs/msg/JointState",)
    ),
    "ros:joint_state_broadcaster:joints": ExpectedTarget("joint", many=True, reads=True),
    "ros:rigid_body_twist:subscriber": _TWIST,
    "ros:rigid_body_twist:body": ExpectedTarget("body"),
}
"""What the relationships of the registered controllers lead to."""

MARKERS = ("RosControlExternalAPI", "RosControlIntegratedAPI")
"""Controller APIs without properties of their own."""

# words that say that a target is measured, not moved
_READING = {"state", "states", "read", "measured", "observed", "sensor", "sensors", "broadcaster"}
_CORE_RELATIONSHIPS = ("material:", "physics:", "proxyPrim", "skel:", "light:", "ui:")


@dataclass(slots=True)
class ControllerPrim:
    """A prim with RosControl*APIs.

    ``rels`` are its authored relationships with targets (collections' includes too), by name.
    """

    node: PrimNode
    apis: list[str]
    rels: dict[str, list[ControllerTarget]] = field(default_factory=dict)

    @property
    def interfaces(self) -> list[PrimNode]:
        """Prims with a topic, service or action API that it references."""
        found = (target.node for targets in self.rels.values() for target in targets)
        return [node for node in found if node is not None and any(node.has(api) for api in KINDS)]

    @property
    def commands(self) -> list[PrimNode]:
        """Joints and bodies that it actuates, each once."""
        found: dict[str, PrimNode] = {}
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
        # the fallback of starts_enabled is true
        return not states or any(state is not False for state in states)


_INTERFACE_NAMESPACES = ("ros:topic:", "ros:service:", "ros:action:")


@dataclass(frozen=True, slots=True)
class ControllerTarget:
    """A target path and the live prim there, if there is one."""

    path: str
    node: PrimNode | None


def find_controllers(snapshot: StageSnapshot) -> list[ControllerPrim]:
    """Every controller of the stage."""
    return snapshot.shared("controllers", _find)


def find_controller(node: PrimNode, snapshot: StageSnapshot) -> ControllerPrim:
    """The controller on a node."""
    index = snapshot.shared("controllers.index", lambda s: {id(c.node): c for c in find_controllers(s)})
    return index[id(node)]


def _find(snapshot: StageSnapshot) -> list[ControllerPrim]:
    return [_read(node, snapshot) for node in snapshot.controllers]


def _read(node: PrimNode, snapshot: StageSnapshot) -> ControllerPrim:
    heads = dict.fromkeys(api.partition(":")[0] for api in node.apis)
    controller = ControllerPrim(node, [api for api in heads if api.startswith("RosControl")])
    for name, paths in node.relationships().items():
        if name.startswith(_CORE_RELATIONSHIPS) or name.endswith(":excludes"):
            continue
        controller.rels[name] = [ControllerTarget(str(path), snapshot.node(path)) for path in paths]
    return controller


def reads_only(name: str) -> bool:
    """Does a relationship name targets that are only observed?"""
    if name in EXPECTED_TARGETS:
        return EXPECTED_TARGETS[name].reads
    return bool(_READING & set(split_words(name)))


def list_expected_targets(controller: ControllerPrim) -> list[tuple[str, ExpectedTarget]]:
    """The relationships that the registered APIs of a controller define, with what they lead to."""
    return [
        (name, EXPECTED_TARGETS[name])
        for api in controller.apis
        if api in known_classes()
        for name in (prop.name for prop in known_classes()[api].properties)
        if name in EXPECTED_TARGETS and known_properties()[name].property.is_relationship
    ]


def find_actuated(snapshot: StageSnapshot) -> set[str]:
    """Paths of joints that an actuator of the registry targets."""
    found = set()
    for actuator in snapshot.having("ExtendedPhysicsActuatorAPI"):
        for path in actuator.targets("ext_physics:actuator:targets"):
            joint = snapshot.node(path)
            if joint is not None:
                found.add(joint.path)
    return found
