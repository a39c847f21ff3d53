# SPDX-License-Identifier: Apache-2.0
"""A sensor's topic has a TF frame at or above its prim.

Why: the frame_id of the messages is the nearest prim at or above the interface that is a TF frame.  Where there
is none, simulators have nothing to write there and the data cannot be placed.

Fails: a topic of type sensor_msgs/msg/LaserScan under prims without RosContextAPI, RosFrameAPI or jointed body.
Passes: the same with RosFrameAPI on the sensor's Xform.

Fix: unsafe.  RosFrameAPI can be applied to the sensor's Xform, but only the author knows where the data originates.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import nearest_frame
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

# messages whose header frame nobody uses
_FRAMELESS = frozenset({
    "JointState", "MultiDOFJointState", "Joy", "JoyFeedback", "JoyFeedbackArray", "BatteryState", "TimeReference",
})  # fmt: skip
_OTHERS = frozenset(
    {"geometry_msgs/msg/WrenchStamped", "radar_msgs/msg/RadarScan", "radar_msgs/msg/RadarTracks"}
)


@rule(
    "tf-frameid-nearest",
    "2.7",
    "must",
    on="api:RosTopicAPI",
    fix="unsafe",
    fix_title="apply RosFrameAPI to the Xform of the sensor",
)
def tf_frameid_nearest(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only publishers of sensor messages; a frame given by hand is enough."""
    kind = str(node.authored("ros:topic:type") or "")
    if not _is_sensor_message(kind) or node.authored("ros:topic:role") == "subscription":
        return
    # topic-override-frame judges the value
    if node.authored("ros:topic:override_frame_id"):
        return
    if nearest_frame(node, snapshot.names) is not None:
        return
    yield Finding(
        f"messages of type {kind} need a frame, but no prim at or above this one is a TF frame",
        hint="apply RosFrameAPI to the sensor's Xform, or RosContextAPI to the robot's root prim",
        prop="ros:topic:type",
        level=Level.WARNING,
    )


def _is_sensor_message(kind: str) -> bool:
    package, _, name = kind.partition("/msg/")
    return (package == "sensor_msgs" and bool(name) and name not in _FRAMELESS) or kind in _OTHERS
