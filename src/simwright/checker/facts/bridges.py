# SPDX-License-Identifier: Apache-2.0
"""ROS interfaces in other forms than Ros*API: graph nodes of a ROS bridge, plugin texts (REP-0158 2)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pxr import Sdf

from simwright.checker.facts.layers import Domain, LayerFacts

_NAME_INPUTS = ("inputs:topicName", "inputs:serviceName", "inputs:actionName")
_NODE_TYPE = re.compile(r"(isaacsim\.ros2|omni\.isaac\.ros2|.*\bros2?_?bridge)", re.IGNORECASE)
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
    for opinion in facts.opinions:
        if opinion.domain is not Domain.VENDOR:
            continue
        if opinion.kind == "type":
            yield from _read_node(facts.layer, opinion.path)
        elif opinion.kind == "property":
            yield from _read_property(facts.layer, opinion.path)


def _read_node(layer: Sdf.Layer, path: Sdf.Path) -> Iterator[Bridge]:
    kind = _text(layer, path, "node:type")
    if not _NODE_TYPE.match(kind):
        return
    for name in _NAME_INPUTS:
        value = _text(layer, path, name)
        if value:
            yield Bridge(path, f"the graph node {kind}", value, _text(layer, path, "inputs:nodeNamespace"))


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


def _text(layer: Sdf.Layer, path: Sdf.Path, name: str) -> str:
    spec = layer.GetAttributeAtPath(path.AppendProperty(name))
    value = spec.default if spec is not None else None
    return value if isinstance(value, str) else ""
