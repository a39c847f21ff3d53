# SPDX-License-Identifier: Apache-2.0
"""Image topics of a camera are on its optical frame, or on prims below that.

Why: the frame of an image is the nearest TF frame above its topic.  On the link, or beside the camera, that is
a frame with other axes, and the picture is projected the wrong way.

Fails: a topic of sensor_msgs/msg/Image on the link that holds the camera; one below the camera with no RosFrameAPI
at or above it.
Passes: image_raw and camera_info on children of an optical frame that has RosFrameAPI.

Fix: unsafe.  The topic's prim moves below the optical frame; its path changes.

Reading: one interface per prim (2.2) and "all on the optical frame" (2.8) contradict each other.  Children of the
optical frame are accepted.  A topic on the Camera prim itself is reported by optical-decouple.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import walk_up
from simwright.checker.facts.sensors import IMAGE_TYPES, find_optics, is_optical_name
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "optical-apis-exclusive",
    "2.8",
    "must",
    on="api:RosTopicAPI",
    heuristic=True,
    fix="unsafe",
    fix_title="move the topic's prim below the optical frame",
)
def optical_apis_exclusive(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Which camera a topic belongs to is guessed: the one above it, or one on the same link."""
    kind = str(node.authored("ros:topic:type") or "")
    if kind not in IMAGE_TYPES or node.is_a("Camera") or node.authored("ros:topic:role") == "subscription":
        return
    chain = [node, *walk_up(node, snapshot)]
    if any(_is_optical(place, snapshot) for place in chain):
        return
    camera = _find_camera(chain)
    if camera is None:
        return
    frames = find_optics(snapshot).of_camera.get(camera.path, [])
    wanted = next((frame.node for frame in frames if frame.node.has("RosFrameAPI")), None)
    hint = (
        f"move the prim below {wanted.path}"
        if wanted
        else f"put it on or below a child Xform of {camera.path} with RosFrameAPI and orient (0, 1, 0, 0)"
    )
    yield Finding(
        f"the {kind} topic of camera {camera.path} is not on an optical frame",
        hint=hint,
        prop="ros:topic:type",
        data={"camera": camera.path},
    )


def _is_optical(node: PrimNode, snapshot: StageSnapshot) -> bool:
    if not node.has("RosFrameAPI"):
        return False
    return node.path in find_optics(snapshot).places or is_optical_name(node)


def _find_camera(chain: list[PrimNode]) -> PrimNode | None:
    """The camera above the topic, else the first one below the nearest link (or below the topic's parent)."""
    for place in chain:
        if place.is_a("Camera"):
            return place
    link = next((place for place in chain if place.has("PhysicsRigidBodyAPI")), None)
    # a camera elsewhere on the same link is the likeliest source of an image topic on the link
    scope = link or (chain[1] if len(chain) > 1 else None)
    if scope is None:
        return None
    return next((node for node in scope.descendants() if node.is_a("Camera")), None)
