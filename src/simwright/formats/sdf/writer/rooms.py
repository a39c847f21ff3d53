# SPDX-License-Identifier: Apache-2.0
"""Models in the world, and models in models."""

from __future__ import annotations

from simwright.core.math3d import Pose
from simwright.formats.sdf.writer.draft import Draft, Room, add, add_pose


def open_model(draft: Draft, name: str, base: Pose) -> Room:
    """A model of the world whose frame is at ``base``."""
    top = draft.top
    unique = draft.claim(top.names, "model", name)
    room = Room(unique, add(top.node, "model", name=unique), top, base)
    add_pose(room.node, base)
    top.rooms[name] = room
    draft.rooms.append(room)
    return room


def enter_room(draft: Draft, room: Room, scope: list[str]) -> Room:
    """The nested model of a scope; its frame is that of the model around it."""
    for name in scope:
        if name not in room.rooms:
            unique = draft.claim(room.names, "model", name)
            inner = Room(unique, add(room.node, "model", name=unique), room, room.base)
            room.rooms[name] = inner
            draft.rooms.append(inner)
        room = room.rooms[name]
    return room
