# SPDX-License-Identifier: Apache-2.0
"""Bodies without mass as frames of other bodies, and as bodies again.

Formats differ in what a link without mass is: a link like others (URDF, MJCF), or no body at all (REP-0158 1.3).  The
frame keeps what the body was, so that writers of the former get its joint and what was on it back.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from simwright.core.math3d import IDENTITY, Pose
from simwright.model.asset import Asset, Body, FoldedBody, Site
from simwright.model.inertia import Inertial
from simwright.model.joint import Joint, JointKind
from simwright.model.renaming import ON_BODY

_FRAMES = {
    "parent_of": "parent_frame",
    "child_of": "child_frame",
    "first_of": "frame_a",
    "second_of": "frame_b",
}
"""The pose of an end on its body, where it is not called pose."""


def note_folded(asset: Asset, body: Body, mount: Joint) -> FoldedBody:
    """What there is to know about a body that ``mount`` holds, before it becomes a frame."""
    elements = {
        key: [element.name for element in family if getattr(element, end) == body.name]
        for key, family, end in _list_ends(asset)
    }
    return FoldedBody(
        body.name,
        mount.name,
        mount.child == body.name,
        sum(site.folded is not None for site in asset.sites),
        [other.name for other in asset.bodies].index(body.name),
        [other.name for other in asset.joints].index(mount.name),
        {key: names for key, names in elements.items() if names},
    )


def hang_over(asset: Asset, name: str, host: str, pose: Pose) -> None:
    """What is on body ``name`` comes to ``host``, in which it stands at ``pose``; nothing moves."""
    for key, family, end in _list_ends(asset):
        frame = _FRAMES.get(key, "pose")
        for element in family:
            if getattr(element, end) == name:
                setattr(element, end, host)
                setattr(element, frame, pose @ getattr(element, frame))


def unfold_frames(asset: Asset) -> Asset:
    """The asset with bodies where frames were made of them; itself if it has none, else a copy.

    An element that was moved to another body since stays there.
    """
    if all(site.folded is None for site in asset.sites):
        return asset
    asset = asset.copy()
    bodies, joints = {body.name for body in asset.bodies}, {joint.name for joint in asset.joints}
    folded = [(site, site.folded) for site in asset.sites if site.folded is not None]
    # the frame that was folded last may be on one that was folded before
    for site, note in sorted(folded, key=lambda row: row[1].order, reverse=True):
        # a body may be called as a joint is: its own, often
        if note.name not in bodies and note.mount not in joints:
            _unfold(asset, site, note)
    return asset


def _unfold(asset: Asset, site: Site, note: FoldedBody) -> None:
    host, back = site.body, ~site.pose
    asset.sites = [other for other in asset.sites if other is not site]
    _hang_back(asset, site, note)
    pose = next((body.pose for body in asset.bodies if body.name == host), IDENTITY) @ site.pose
    # a mass of zero: none at all would mean that its shapes say it
    body = Body(note.name, pose, Inertial(0.0), path=site.path, source=site.source)
    asset.bodies.insert(note.body, body)
    ends = (host, note.name, site.pose) if note.is_child else (note.name, host, back)
    mount = Joint(note.mount, JointKind.FIXED, *ends[:2], parent_frame=ends[2], source=site.source)
    asset.joints.insert(note.joint, dataclasses.replace(mount, collide=False))


def _hang_back(asset: Asset, site: Site, note: FoldedBody) -> None:
    """What was on the body and is on its host comes back to it."""
    host, back = site.body, ~site.pose
    for key, family, end in _list_ends(asset):
        names = set(note.elements.get(key, ()))
        frame = _FRAMES.get(key, "pose")
        for element in family:
            if element.name in names and getattr(element, end) == host:
                setattr(element, end, note.name)
                setattr(element, frame, back @ getattr(element, frame))
                if key == "parent_of" and element.rest is not None:
                    element.rest = back @ element.rest


def _list_ends(asset: Asset) -> Iterator[tuple[str, list[Any], str]]:
    """What may hang on a body: under which word it is noted, the elements, and which of their ends it is."""
    yield "parent_of", asset.joints, "parent"
    yield "child_of", asset.joints, "child"
    yield "first_of", asset.equalities, "a"
    yield "second_of", asset.equalities, "b"
    for family in ON_BODY:
        yield family, getattr(asset, family), "body"
