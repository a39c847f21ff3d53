# SPDX-License-Identifier: Apache-2.0
"""Frames: sites, optical frames of cameras and places of sensors as links without anything, fixed to theirs."""

from __future__ import annotations

from simwright.core.math3d import Pose
from simwright.formats.urdf.writer.draft import Draft
from simwright.formats.urdf.writer.plan import make_frame
from simwright.model.asset import Camera, Sensor, Site

OPTICAL = Pose.of(q=(0.0, 1.0, 0.0, 0.0))
"""Half a turn about X: from looking along -Z with +Y up to +Z with -Y up (REP 103)."""


def write_frames(draft: Draft) -> None:
    """Every frame that is not there yet, by name."""
    asset = draft.asset
    known: dict[str, tuple[str, Pose]] = {}
    homeless: list[Site | Camera | Sensor] = []
    rows: list[tuple[Site | Camera | Sensor, str, Pose]] = [
        *(
            (site, site.ros_frame or site.name, site.pose)
            for site in asset.sites
            if site is not draft.root_site
        ),
        *((camera, _name_optical(camera), camera.pose @ OPTICAL) for camera in asset.cameras),
        *((s, _find_frame(draft, s), s.pose) for s in asset.sensors if not s.pose.is_identity(1e-12)),
    ]
    links = set(draft.links.values())
    for element, name, pose in rows:
        parent = draft.links.get(element.body)
        if parent is None:
            homeless.append(element)
        elif not isinstance(element, Site) and (
            name in known or name in links or _is_marked(draft, element, pose)
        ):
            continue
        else:
            known[name] = (element.body, pose)
            make_frame(draft, name, parent, pose)
    draft.lose("frame(s) in the world", homeless, "the robot floats, so the file has no world", moves=False)


def _name_optical(camera: Camera) -> str:
    return (
        camera.name
        if camera.name.endswith(("_optical_frame", "_optical"))
        else f"{camera.name}_optical_frame"
    )


def _find_frame(draft: Draft, sensor: Sensor) -> str:
    """The frame that the messages of a sensor name, else one called like it."""
    frames = (i.frame_override for i in draft.asset.interfaces if i.at == sensor.name and i.frame_override)
    return next(frames, sensor.name)


def _is_marked(draft: Draft, element: Camera | Sensor, pose: Pose) -> bool:
    """Does a site stand there already?"""
    sites = (site for site in draft.asset.sites if site.body == element.body)
    return any(site.pose.is_close(pose, 1e-9) for site in sites)
