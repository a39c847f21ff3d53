# SPDX-License-Identifier: Apache-2.0
"""``<frame>``: named frames on links and in the world."""

from __future__ import annotations

from simwright.formats.sdf.writer.draft import Draft, add, add_pose
from simwright.formats.sdf.writer.plan import strip_scope
from simwright.model.asset import Site
from simwright.model.joint import WORLD


def write_frames(draft: Draft) -> None:
    """Every site that is no link of a static model."""
    homeless: list[Site] = []
    for site in draft.asset.sites:
        if ("site", site.name) in draft.spent:
            continue
        seat = draft.seats.get(site.body)
        if site.body == WORLD:
            if not draft.top.is_world and draft.asset.bodies:
                homeless.append(site)
                continue
            room = draft.top
            pose = site.pose
            holder = ""
        elif seat is not None:
            room, pose, holder = seat.room, seat.offset @ site.pose, seat.name
            holder = str(seat.link.get("name"))
        else:
            homeless.append(site)
            continue
        scope = room.name if not room.is_world else ""
        name = draft.claim(room.names, "frame", strip_scope(site.name, scope))
        node = add(room.node, "frame", name=name)
        if holder:
            node.set("attached_to", holder)
        add_pose(node, pose)
    draft.lose("frame(s) of the world", homeless, "write a world: --world", moves=False)
