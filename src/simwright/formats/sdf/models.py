# SPDX-License-Identifier: Apache-2.0
"""``<model>`` and ``<frame>``: what a model says beyond its links and joints."""

from __future__ import annotations

from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.poses import frame_of
from simwright.formats.sdf.tree import Item, ModelNode
from simwright.model.asset import Articulation, Site
from simwright.model.joint import WORLD

_CARRIED = {
    "pose", "static", "self_collide", "model", "include", "link", "joint", "frame", "light", "plugin",
}  # fmt: skip
_KNOWN = {"allow_auto_disable", "enable_wind", "gripper"}


def read_frame(reading: Reading, item: Item) -> None:
    """A named frame becomes a site on the body it is attached to."""
    frame = frame_of(item)
    link = reading.graph.link_of(frame)
    pose = reading.graph.pose(frame)
    where = item.document.where(item.element)
    site = Site(reading.claim("site", item.name, item.model.scope), pose=pose, path=item.scoped, source=where)
    if link is not None and not link.model.static:
        site.body = link.key
        base = frame_of(link)
        site.pose = frame.raw if frame.base is base else ~reading.graph.pose(base) @ pose
    reading.asset.sites.append(site)


def read_model_settings(reading: Reading, model: ModelNode) -> None:
    """Settings of a model that have no field of their own are kept as extras."""
    owner = model.scope or model.name
    reading.keep_rest(model.document, model.element, owner, _CARRIED, _KNOWN)


def read_articulation(reading: Reading, model: ModelNode) -> None:
    """An outermost model with joints is one articulation; SDFormat models do not touch themselves."""
    joints = {joint.name for joint in reading.asset.joints}
    if model.static or not any(item.key in joints for node in model.walk() for item in node.joints):
        return
    frame = model.frame
    assert frame is not None
    root = reading.graph.link_of(frame)
    articulation = Articulation(
        reading.claim("articulation", model.name),
        root.key if root is not None and not root.model.static else WORLD,
        self_collide=model.document.flag(model.element, "self_collide"),
        source=model.document.where(model.element),
    )
    reading.asset.articulations.append(articulation)
