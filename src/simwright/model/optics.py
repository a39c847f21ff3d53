# SPDX-License-Identifier: Apache-2.0
"""Cameras as ROS sees them: optical frames, and the frame that messages of a sensor are in (REP-0158 2.7, 2.8)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Camera, Sensor, Site
from simwright.model.ros import Interface

OPTICAL = Pose.of(q=(0.0, 1.0, 0.0, 0.0))
"""From a camera's axes to the optical frame: half a turn about X (REP-0158 2.8)."""
_SAME = 1e-6
_Element = TypeVar("_Element", Camera, Sensor, Site)


def find_optical(asset: Asset, camera: Camera) -> Site | None:
    """The frame that is the camera's optical one."""
    pose = camera.pose @ OPTICAL
    for site in asset.sites:
        if site.body == camera.body and site.pose.is_close(pose, _SAME):
            return site
    return None


def find_frame(asset: Asset, interface: Interface) -> str:
    """The TF frame of what an interface says: the one it names, else that of the place it sits on."""
    if interface.frame_override:
        return interface.frame_override
    sensor = _find_named(asset.sensors, interface.at)
    camera = _find_named(asset.cameras, sensor.target or sensor.name if sensor else interface.at)
    # REP-0158 2.8: messages of a camera are in its optical frame, wherever the interface itself sits
    site = (find_optical(asset, camera) if camera else None) or _find_named(asset.sites, interface.at)
    if site is not None:
        return site.ros_frame or site.name
    return interface.at if sensor is None else sensor.body or sensor.name


def _find_named(elements: Sequence[_Element], name: str) -> _Element | None:
    return next((element for element in elements if element.name == name), None)


def list_implied_frames(asset: Asset) -> set[str]:
    """Names of the sites that only say what the ROS interfaces of sensors imply anyway.

    Those are optical frames of cameras, and frames of sensors that no link carries.
    """
    # two kinds of frames over three lists: comprehensions count as branches
    used = {interface.at for interface in asset.interfaces}
    names = {sensor.target or sensor.name for sensor in asset.sensors if sensor.name in used} | used
    optical = [find_optical(asset, camera) for camera in asset.cameras if camera.name in names]
    loose = {sensor.name for sensor in asset.sensors if not sensor.body}
    return {site.name for site in optical if site is not None} | {
        site.name for site in asset.sites if not site.body and site.name in loose
    }
