# SPDX-License-Identifier: Apache-2.0
"""A ROS interface is declared once: by its Ros*API, and by no execution graph or plugin text beside it.

Why: a simulator makes its own publisher from the schema.  A graph node or plugin that publishes the same
topic sends everything twice, with two clocks and two rates.

Fails: a prim with RosTopicAPI for `scan`, and an OmniGraph node `isaacsim.ros2.bridge.ROS2PublishLaserScan`
with `inputs:topicName = "scan"`, or with none, since `scan` is what that node uses then.
Passes: the RosTopicAPI alone.

Reading: a graph in a proprietary layer may be a persisted runtime artefact, which is allowed there; it is
then only mentioned (info).

Fix: unsafe.  The graph is removed, or moved to the vendor layer; only its author knows whether it does more.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.names import InterfaceName
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_NAME_INPUTS = ("inputs:topicName", "inputs:serviceName", "inputs:actionName")
# Isaac Sim renamed its bridge from omni.isaac.ros2_bridge to isaacsim.ros2.bridge
_NODE_TYPE = re.compile(r"(isaacsim\.ros2|omni\.isaac\.ros2|.*\bros2?_?bridge)", re.IGNORECASE)
_NODE_NAMES = {
    "CameraHelper": "rgb",
    "CameraInfoHelper": "camera_info",
    "PublishAckermannDrive": "ackermann_cmd",
    "PublishBbox2D": "bbox2d",
    "PublishBbox3D": "bbox3d",
    "PublishCameraInfo": "camera_info",
    "PublishClock": "clock",
    "PublishCompressedImage": "image_raw/compressed",
    "PublishImage": "rgb",
    "PublishImu": "imu",
    "PublishJointState": "joint_states",
    "PublishLaserScan": "scan",
    "PublishObjectIdMap": "labels",
    "PublishOdometry": "odom",
    "PublishPointCloud": "point_cloud",
    "PublishRawTransformTree": "tf",
    "PublishSemanticLabels": "labels",
    "PublishTransformTree": "tf",
    "Publisher": "topic",
    "RtxLidarHelper": "scan",
    "RtxRadarHelper": "radar_point_cloud",
    "SubscribeAckermannDrive": "ackermann_cmd",
    "SubscribeClock": "clock",
    "SubscribeJointState": "joint_command",
    "SubscribeTransformTree": "tf",
    "SubscribeTwist": "cmd_vel",
    "Subscriber": "topic",
}
"""Topics of Isaac Sim's nodes that say none: what a node does -> the default of its inputs:topicName, as the nodes are
defined in Isaac Sim's sources (isaacsim.ros2.nodes); services have no useful default."""
# Gazebo plugins are kept as SDF text in a vendor attribute
_PLUGIN_NAME = re.compile(
    r"<(?:topic|topicName|topic_name|service|serviceName|service_name|ros_topic)>\s*([\w/~]+)\s*</"
)
_NAME_PROPERTY = re.compile(r"[:_](topic|service|action)_?name$|:topic$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Bridge:
    """A name that something other than a Ros*API uses."""

    path: Sdf.Path
    what: str
    name: str
    namespace: str = ""


@rule(
    "ros-no-duplicate",
    "2",
    "must not",
    on="layer",
    heuristic=True,
    fix="unsafe",
    fix_title="remove the graph or plugin, or move it to the vendor layer",
)
def ros_no_duplicate(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare names that graphs and plugin texts of a layer use with the interfaces of the stage."""
    # nothing to compare: no other form, or no schema
    if not facts.counts[Domain.VENDOR] or not snapshot.interfaces:
        return
    seen: set[tuple[Sdf.Path, str]] = set()
    for bridge in find_bridges(facts):
        for known in snapshot.names.everywhere:
            if not _is_same(bridge.name, bridge.namespace, known) or (bridge.path, known.kind) in seen:
                continue
            seen.add((bridge.path, known.kind))
            yield Finding(
                f"{bridge.what} uses the {known.kind} {bridge.name!r}, which {known.path} already declares",
                hint="keep the Ros*API prim and remove the other form; simulators make it from the schema",
                at=bridge.path,
                # some simulators save the graph they made from the schema into their own layer
                level=Level.INFO if facts.role == Domain.VENDOR else None,
                data={"name": known.resolved, "declared": known.path},
            )


def _is_same(name: str, namespace: str, known: InterfaceName) -> bool:
    """The same absolute name; a relative name without a namespace is compared with the relative one too."""
    if not known.name:
        return False
    full = name if name.startswith("/") else f"{namespace.rstrip('/')}/{name}"
    full = full if full.startswith("/") else f"/{full}"
    if full == known.resolved:
        return True
    # graphs often leave the namespace to a parameter at run time
    return not namespace and not name.startswith("/") and name == known.name


def find_bridges(facts: LayerFacts) -> Iterator[Bridge]:
    """Bridge nodes of execution graphs, and vendor properties that name a topic or hold plugin text."""
    for opinion in facts.of(Domain.VENDOR):
        if opinion.kind == "type":
            yield from _read_node(facts.layer, opinion.path)
        elif opinion.kind == "property":
            yield from _read_property(facts.layer, opinion.path)


def _read_node(layer: Sdf.Layer, path: Sdf.Path) -> Iterator[Bridge]:
    kind = _text(layer, path, "node:type")
    if not _NODE_TYPE.match(kind):
        return
    said = [(name, _text(layer, path, name)) for name in _NAME_INPUTS]
    names = [(name, value) for name, value in said if value]
    # a node that says no topic uses the one of its kind
    usual = _NODE_NAMES.get(kind.rpartition(".")[2].removeprefix("ROS2").removeprefix("ROS1"))
    if not names and usual and not _is_said(layer, path, _NAME_INPUTS[0]):
        names = [("", usual)]
    for name, value in names:
        word = f"the graph node {kind}" + ("" if name else ", which says no topic,")
        yield Bridge(path, word, value, _text(layer, path, "inputs:nodeNamespace"))


def _read_property(layer: Sdf.Layer, path: Sdf.Path) -> Iterator[Bridge]:
    spec = layer.GetAttributeAtPath(path)
    value = spec.default if spec is not None else None
    if not isinstance(value, str) or not value:
        return
    if _NAME_PROPERTY.search(path.name):
        yield Bridge(path, f"the property {path.name}", value)
        return
    for match in _PLUGIN_NAME.finditer(value):
        yield Bridge(path, f"the plugin text in {path.name}", match.group(1))


def _is_said(layer: Sdf.Layer, path: Sdf.Path, name: str) -> bool:
    """Is there an opinion, such as a connection to another node?"""
    return layer.GetAttributeAtPath(path.AppendProperty(name)) is not None


def _text(layer: Sdf.Layer, path: Sdf.Path, name: str) -> str:
    spec = layer.GetAttributeAtPath(path.AppendProperty(name))
    value = spec.default if spec is not None else None
    return value if isinstance(value, str) else ""
