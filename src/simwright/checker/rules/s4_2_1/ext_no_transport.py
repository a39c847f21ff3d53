# SPDX-License-Identifier: Apache-2.0
"""Schemas of sensors and controllers have no attributes for topics, QoS or frame ids.

Why: ROS communication is described once, by RosTopicAPI and its like.  An extension with a topic name of its own
makes a second place that tools have to know and that namespaces and QoS rules do not reach.

Fails: `string sensor:lidar:topic = "scan"`; `string ros:joint_state_broadcaster:frame_id = "base"`; a string value
that is the name of a message type.
Passes: `rel sensor:lidar:publisher = </robot/Interfaces/scan>` to a prim with RosTopicAPI.

Fix: unsafe.  A frame id moves to the topic that the prim leads to; for a new topic, role and rate must be chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.extensions import EXTENSION_APIS, ExtensionProperty, list_properties
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import ROS_TYPE, TRANSPORT, find_phrase


@rule(
    "ext-no-transport",
    "4.2.1",
    "must not",
    on=("layer", *EXTENSION_APIS),
    heuristic=True,
    fix="unsafe",
    fix_title="move the frame id to the topic of the prim",
)
def ext_no_transport(subject: PrimNode | LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the words in the name, or by a value that is a ROS type.  Relationships may be called what they like."""
    for prop in list_properties(subject, snapshot):
        sign = _find_sign(prop)
        if sign:
            yield prop.make_finding(
                f"{prop.name} is ROS communication metadata ({sign}) in an extension",
                "put it on a prim with RosTopicAPI, RosServiceAPI or RosActionAPI and add a relationship to that prim",
            )


def _find_sign(prop: ExtensionProperty) -> str:
    if prop.is_relationship or prop.name in known_properties():
        return ""
    # a value such as sensor_msgs/msg/Image gives a topic away, whatever the attribute is called
    return find_phrase(prop.name, TRANSPORT) or (prop.text if ROS_TYPE.match(prop.text) else "")
