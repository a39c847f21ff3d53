# SPDX-License-Identifier: Apache-2.0
"""Names of ROS interfaces in other forms than Ros*API: nodes of execution graphs, texts of plugins."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pxr import Sdf

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.vendors import GRAPH_TYPES

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


def find_bridges(facts: LayerFacts) -> Iterator[Bridge]:
    """Bridge nodes of execution graphs, and vendor properties that name a topic or hold plugin text."""
    for opinion in facts.of(Domain.VENDOR):
        if opinion.kind == "type":
            yield from _read_node(facts.layer, opinion.path)
        elif opinion.kind == "property":
            yield from _read_property(facts.layer, opinion.path)


def find_clock_nodes(facts: LayerFacts) -> Iterator[tuple[Sdf.Path, str]]:
    """Bridge nodes that publish simulation time, or listen to it, with their type."""
    for opinion in facts.find(lambda content: content.kind == "type" and content.what in GRAPH_TYPES):
        kind = _text(facts.layer, opinion.path, "node:type")
        if _NODE_TYPE.match(kind) and kind.endswith("Clock"):
            yield opinion.path, kind


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
