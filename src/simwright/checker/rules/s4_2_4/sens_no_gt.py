# SPDX-License-Identifier: Apache-2.0
"""A sensor gives what a real one could measure, no ground truth.

Why: software that is tested with perfect segmentation from "the camera" fails on the robot.  Ground truth comes from
a dedicated annotator, so that everyone can see what it is.

Fails: `bool sensor:camera:semantic_segmentation = true` on a prim with SensorCameraAPI; a topic
`bounding_boxes` below it.
Passes: the same on a prim with a dedicated annotator schema; UsdSemantics labels.

Fix: none.  The feature moves to an annotator, which has no registered schema yet.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.sensors import SensorPrim, find_sensors
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import CORE_NAMESPACES, GROUND_TRUTH, find_phrase

_HINT = "move it to a prim with a dedicated annotator schema"


@rule("sens-no-gt", "4.2.4", "must not", on="stage", heuristic=True)
def sens_no_gt(snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the words in property names of sensors, and in the names of topics below or behind them."""
    told: set[str] = set()
    for sensor in find_sensors(snapshot):
        for name in sensor.node.property_names():
            sign = "" if name.partition(":")[0] in CORE_NAMESPACES else find_phrase(name, GROUND_TRUTH)
            if sign:
                yield Finding(
                    f"{name} of a sensor is ground truth ({sign})", hint=_HINT, at=sensor.node, prop=name
                )
        for topic in _list_topics(sensor, snapshot):
            name = str(topic.authored("ros:topic:name") or "")
            sign = find_phrase(name, GROUND_TRUTH)
            if sign and topic.path not in told:
                told.add(topic.path)
                yield Finding(
                    f"the topic {name!r} of sensor {sensor.node.path} is ground truth ({sign})",
                    hint=_HINT,
                    at=topic,
                    prop="ros:topic:name",
                )


def _list_topics(sensor: SensorPrim, snapshot: StageSnapshot) -> Iterator[PrimNode]:
    """Topics below a sensor with a sensor schema (not below an annotator) and those it points to."""
    # a plain camera that feeds ROS is not a sensor schema: its topics may be an annotator's
    if sensor.schema == "Camera":
        return
    stack = [sensor.node]
    while stack:
        node = stack.pop()
        if any("Annotator" in api for api in node.apis):
            continue
        if node.has("RosTopicAPI"):
            yield node
        stack.extend(node.below())
    for paths in sensor.node.relationships().values():
        for path in paths:
            target = snapshot.node(path)
            if target is not None and target.has("RosTopicAPI"):
                yield target
