# SPDX-License-Identifier: Apache-2.0
"""The same machine with other frames, or other masses, of some bodies: what a fix is expected to give."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING

import numpy as np

from simwright.core.math3d import Pose
from simwright.model.inertia import Inertial

if TYPE_CHECKING:
    from simwright.model.asset import Asset

Frames = Mapping[str, tuple[float, ...]]
"""By path of a body, position and quaternion of its old frame in the new one."""
_SITTING = ("shapes", "sites", "cameras", "lights", "sensors")


def reframe_bodies(asset: Asset, frames: Frames) -> Asset:
    """A copy in which bodies have other frames and everything on them is where it was."""
    turned = {
        body.name: Pose.of(frames[body.path][:3], frames[body.path][3:])
        for body in asset.bodies
        if body.path in frames
    }
    if not turned:
        return asset
    result = asset.copy()
    for body in result.bodies:
        frame = turned.get(body.name)
        if frame is not None:
            body.pose = body.pose @ ~frame
            if body.inertial is not None:
                body.inertial = _turn(body.inertial, frame)
    for name in _SITTING:
        for element in getattr(result, name):
            if element.body in turned:
                element.pose = turned[element.body] @ element.pose
    for joint in result.joints:
        if joint.parent in turned:
            joint.parent_frame = turned[joint.parent] @ joint.parent_frame
        if joint.child in turned:
            joint.child_frame = turned[joint.child] @ joint.child_frame
    return result


def reweigh_bodies(asset: Asset, other: Asset, paths: Collection[str]) -> Asset:
    """A copy in which the bodies at these paths weigh what they weigh in another asset."""
    weights = {body.path: body.inertial for body in other.bodies if body.path in paths}
    if not weights:
        return asset
    result = asset.copy()
    for body in result.bodies:
        body.inertial = weights.get(body.path, body.inertial)
    return result


def _turn(inertial: Inertial, frame: Pose) -> Inertial:
    rotation = frame.rotation
    return Inertial(
        inertial.mass, frame.apply(inertial.com), np.array(rotation @ inertial.inertia @ rotation.T)
    )
