# SPDX-License-Identifier: Apache-2.0
"""Cameras as ROS sees them: optical frames, and the frame that messages of a sensor are in (REP-0158 2.7, 2.8)."""

from __future__ import annotations

from simwright.core.math3d import Pose
from simwright.model.asset import Asset, Camera, Site
from simwright.model.ros import Interface

OPTICAL = Pose.of(q=(0.0, 1.0, 0.0, 0.0))
"""From a camera's axes to the optical frame: half a turn about X (REP-0158 2.8)."""
_SAME = 1e-6


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
    sensor = next((sensor for sensor in asset.sensors if sensor.name == interface.at), None)
    name = interface.at if sensor is None else sensor.target or sensor.name
    camera = next((camera for camera in asset.cameras if camera.name == name), None)
    optical = None if camera is None else find_optical(asset, camera)
    site = optical or next((site for site in asset.sites if site.name == interface.at), None)
    if site is not None:
        return site.ros_frame or site.name
    return interface.at if sensor is None else sensor.body or sensor.name


def list_implied_frames(asset: Asset) -> set[str]:
    """Names of the sites that only say what the ROS interfaces of sensors imply anyway.

    Those are optical frames of cameras, and frames of sensors that no link carries.
    """
    used = {interface.at for interface in asset.interfaces}
    names = {sensor.target or sensor.name for sensor in asset.sensors if sensor.name in used} | used
    optical = [find_optical(asset, camera) for camera in asset.cameras if camera.name in names]
    loose = {sensor.name for sensor in asset.sensors if not sensor.body}
    return {site.name for site in optical if site is not None} | {
        site.name for site in asset.sites if not site.body and site.name in loose
    }
