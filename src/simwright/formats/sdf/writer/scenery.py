# SPDX-License-Identifier: Apache-2.0
"""What stands in the world: static models as the source has them, and one more for all the rest."""

from __future__ import annotations

from typing import Any

from simwright.core.math3d import IDENTITY
from simwright.formats.sdf.writer.draft import SEPARATOR, Draft, Room, Seat, add, add_pose
from simwright.formats.sdf.writer.rooms import enter_room, open_model
from simwright.model.asset import Site
from simwright.model.joint import WORLD

SCENERY = "scenery"
"""The static model of what stands in the world and belongs to no other."""


def seat_static(draft: Draft) -> None:
    """Links of static models: those of the source where it says so, else one for all that stands in the world."""
    asset = draft.asset
    standing: list[Any] = [
        *(s for s in asset.shapes if s.body == WORLD),
        *(s for s in asset.sensors if s.body == WORLD),
    ]
    cameras = [camera for camera in asset.cameras if camera.body == WORLD]
    sites = [site for site in asset.sites if site.body == WORLD]
    if not (standing or cameras) and not (sites and not asset.bodies):
        return
    if not draft.top.is_world and asset.bodies:
        return
    links = {site.path: site for site in sites if SEPARATOR in site.path or not draft.top.is_world}
    homeless = bool(cameras) and not all(camera.path in {s.path for s in standing} for camera in cameras)
    for item in standing:
        path = item.path.rpartition(SEPARATOR)[0]
        if asset.provenance.format in ("sdf", "world") and path in links:
            if path not in draft.static_seats:
                _open_static(draft, path, links[path])
        else:
            homeless = True
    if homeless or not (standing or draft.static_seats):
        spare = next((s for s in sites if s.path not in draft.static_seats), None)
        *scope, name = spare.name.split(SEPARATOR) if spare else [f"{SCENERY}_link"]
        room = _open_scenery(draft, scope[0] if scope else SCENERY)
        name = draft.claim(room.names, "link", name)
        draft.seats[WORLD] = _add_static_link(draft, room, name, spare)


def _open_static(draft: Draft, path: str, site: Site) -> None:
    *scope, name = path.split(SEPARATOR)
    room = draft.top
    if room.is_world:
        room = _open_scenery(draft, scope[0])
        scope = scope[1:]
    room = enter_room(draft, room, scope)
    draft.static_seats[path] = _add_static_link(draft, room, draft.claim(room.names, "link", name), site)


def _open_scenery(draft: Draft, name: str) -> Room:
    """A static model of the world; the file itself where it is one static model."""
    if not draft.top.is_world:
        return draft.top
    if name in draft.top.rooms:
        return draft.top.rooms[name]
    room = open_model(draft, name, IDENTITY)
    add(room.node, "static", True)
    return room


def _add_static_link(draft: Draft, room: Room, name: str, site: Site | None) -> Seat:
    """The link that is a frame of the source; its things stand in the asset's frame."""
    link = add(room.node, "link", name=name)
    offset = IDENTITY
    if site is not None:
        add_pose(link, site.pose)
        offset = ~site.pose
        draft.spent.add(("site", site.name))
    return Seat(room, name, link, offset)
