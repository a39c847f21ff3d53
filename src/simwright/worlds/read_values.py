# SPDX-License-Identifier: Apache-2.0
"""Names, colours and poses as world files write them.

Automatic names have numbers that count the entities of the category that are in the world, named ones included, as
PyRoboSim does.  Poses are lists or mappings, absolute or relative to another entity.
"""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import Where
from simwright.core.documents.tree import Step
from simwright.worlds import messages
from simwright.worlds.document import Refusal, WorldEntry, shorten, suggest
from simwright.worlds.entities import Entity, Hallway, Location, Rgb, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.poses import WorldPose, compose_along_world_axes, compose_in_frame
from simwright.worlds.read_state import WorldReading, refuse_entity

_KIND_WORDS: dict[type[Entity], str] = {
    Room: "room",
    Hallway: "hallway",
    Location: "location",
    Spawn: "spawn",
    WorldObject: "object",
    WorldRobot: "robot",
}


def choose_name(reading: WorldReading, entry: WorldEntry, stem: str, number: int) -> str:
    """The given name, or ``stem`` with a number: the next free one, in reference mode always ``number``."""
    if "name" in entry:
        return entry.text("name")
    name = f"{stem}{number}"
    # PyRoboSim leaves out an entity whose automatic name is taken
    if reading.reference or name not in reading.world.names:
        return name
    new = number + 1
    while f"{stem}{new}" in reading.world.names:
        new += 1
    reading.report(messages.NAME_RENUMBERED, entry.find_where(), name=name, new=f"{stem}{new}")
    return f"{stem}{new}"


def name_hallway(reading: WorldReading, entry: WorldEntry, start: Room, end: Room) -> tuple[str, str]:
    """The name of a hallway and the same with its rooms the other way round."""
    if "name" in entry:
        name = entry.text("name")
        return name, name
    # one name whichever room comes first; the other order is kept as an alias
    first, second = sorted((start.name, end.name))
    pair = (first, second)
    suffix = f"_{reading.counts[pair]}" if pair in reading.counts else ""
    # also when the hallway is left out later: PyRoboSim then calls the next one _0
    reading.counts.setdefault(pair, 0)
    return f"hall_{first}_{second}{suffix}", f"hall_{second}_{first}{suffix}"


def check_name(reading: WorldReading, name: str, what: type[Entity], where: Where) -> None:
    """Refuse a name that another entity of the same type has; by our policy, of any type."""
    other = reading.world.names.get(name)
    if other is None:
        return
    if isinstance(other, what) and other.name == name:
        raise refuse_entity(messages.NAME_TAKEN, where, what=describe_kind(other), name=name)
    if reading.reference:
        # names are unique within a type only; the table has the last entity of a name
        if any(isinstance(entity, what) and entity.name == name for entity in reading.world.entities):
            raise refuse_entity(messages.NAME_TAKEN, where, what=_KIND_WORDS[what], name=name)
        return
    raise refuse_entity(messages.NAME_SHARED, where, what=describe_kind(other), name=name)


def describe_kind(entity: Entity) -> str:
    """What an entity is called in messages."""
    return _KIND_WORDS[type(entity)]


def read_color(reading: WorldReading, entry: WorldEntry, default: Rgb) -> Rgb:
    """The colour of an entity; ``default`` where it says none."""
    value = entry.get("color")
    return default if value is None else parse_color(reading, entry, value)


def read_category_color(reading: WorldReading, entry: WorldEntry, default: Rgb) -> tuple[Rgb, Any]:
    """The colour of a category, and the one PyRoboSim would have: it does not read the text of a category's colour."""
    value = entry.get("color")
    if value is None:
        return default, default
    try:
        return parse_color(reading, entry, value), value
    except Refusal as refusal:
        # PyRoboSim does not read it, so it cannot fail on it
        if not reading.reference:
            reading.settle(refusal)
        return default, value


def parse_color(reading: WorldReading, entry: WorldEntry, value: Any) -> Rgb:
    """Red, green and blue from 0 to 1."""
    if isinstance(value, str):
        return _parse_color_text(entry, value)
    if not isinstance(value, list) or len(value) != 3:
        raise _refuse_color(entry, value)
    # PyRoboSim takes 255 as it is; colours of scenes end at 1
    red, green, blue = (entry.check_number(part, "color", index) for index, part in enumerate(value))
    if reading.reference or all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        return red, green, blue
    reading.report(messages.COLOR_RANGE, entry.find_where("color"), found=shorten(value))
    return tuple(min(1.0, max(0.0, part)) for part in (red, green, blue))  # type: ignore[return-value]


def _parse_color_text(entry: WorldEntry, text: str) -> Rgb:
    from PIL import ImageColor

    try:
        channels = ImageColor.getrgb(text)
    except ValueError:
        raise _refuse_color(entry, text) from None
    return channels[0] / 255.0, channels[1] / 255.0, channels[2] / 255.0


def _refuse_color(entry: WorldEntry, value: Any) -> Refusal:
    return Refusal(messages.BAD_COLOR, entry.find_where("color"), found=shorten(value))


_POSE_KEYS = frozenset({"position", "rotation_eul", "rotation_quat", "relative_to"})
_POSITION_KEYS = frozenset({"x", "y", "z"})
_ANGLE_KEYS = frozenset({"roll", "pitch", "yaw", "angle_units"})
_QUATERNION_KEYS = frozenset({"w", "x", "y", "z"})


def read_pose(reading: WorldReading, entry: WorldEntry, key: str) -> WorldPose:
    """The absolute pose under a key of ``entry``."""
    return read_pose_value(reading, entry, entry.data[key], key)


def read_optional_pose(reading: WorldReading, entry: WorldEntry, key: str = "pose") -> WorldPose | None:
    """The pose under a key; None where it is absent.  PyRoboSim gives up at a null pose."""
    if key not in entry:
        if reading.reference and key in entry.data:
            raise _refuse_pose(entry, "it is null", key)
        return None
    return read_pose(reading, entry, key)


def read_poses(reading: WorldReading, entry: WorldEntry, key: str) -> list[WorldPose] | None:
    """The poses of a list; None where it is absent."""
    if key not in entry:
        return None
    return [read_pose_value(reading, entry, value, key, i) for i, value in enumerate(entry.items(key))]


def read_pose_value(reading: WorldReading, entry: WorldEntry, value: Any, *steps: Step) -> WorldPose:
    """The absolute pose of a value that stands at ``steps`` in ``entry``."""
    if isinstance(value, list):
        return pose_from_list(entry, value, *steps)
    if not isinstance(value, dict):
        raise _refuse_pose(entry, "it is neither a list nor a mapping", *steps)
    inner = WorldEntry(entry.document, (*entry.path, *steps), value)
    reading.check_loose_keys(inner, _POSE_KEYS)
    pose = _pose_from_mapping(reading, inner)
    # by key, not by value: a null name is an error and not the world
    if "relative_to" in value:
        base = find_base(reading, inner)
        return compose_in_frame(pose, base) if reading.frame_mode else compose_along_world_axes(pose, base)
    return pose


def pose_from_list(entry: WorldEntry, values: Any, *steps: Step) -> WorldPose:
    """[x, y], [x, y, z], [x, y, z, yaw], with three angles, or with a quaternion; angles in [rad]."""
    if not isinstance(values, list) or len(values) not in {2, 3, 4, 6, 7}:
        raise _refuse_pose(entry, "a list needs 2, 3, 4, 6 or 7 numbers", *steps)
    numbers = [entry.check_number(value, *steps, index) for index, value in enumerate(values)]
    if len(numbers) <= 4:
        return WorldPose.from_yaw(*numbers)
    x, y, z = numbers[:3]
    if len(numbers) == 6:
        return WorldPose.from_angles((x, y, z), numbers[3:])
    return _from_quaternion(entry, (x, y, z), numbers[3:], *steps)


def find_base(reading: WorldReading, entry: WorldEntry) -> WorldPose:
    """The pose of what ``relative_to`` names."""
    name = entry.text("relative_to")
    where = entry.find_where("relative_to")
    names = reading.world.names
    entity = names.get(name)
    if entity is None:
        reason = "which is not there, comes later, or was left out"
        raise Refusal(messages.BAD_REFERENCE, where, name=name, reason=reason, meant=suggest(name, names))
    pose = frame_of(entity, reading.reference)
    if pose is None:
        meant = "name a room, location, spawn, object or robot"
        raise Refusal(messages.BAD_REFERENCE, where, name=name, reason="which is a hallway", meant=meant)
    return pose


def frame_of(entity: Any, reference: bool) -> WorldPose | None:
    """The frame that relative poses count from; None for hallways.

    PyRoboSim takes the origin for robots, and the height of the surface for objects, to which the height of the
    surface is added again.
    """
    if isinstance(entity, Hallway):
        return None
    if reference and isinstance(entity, WorldRobot):
        return WorldPose()
    pose: WorldPose = entity.pose
    if not reference and isinstance(entity, WorldObject) and entity.spawn is not None:
        return pose.raised(-entity.spawn.elevation)
    return pose


def _pose_from_mapping(reading: WorldReading, entry: WorldEntry) -> WorldPose:
    x = y = z = 0.0
    position = entry.child("position")
    if position is not None:
        reading.check_loose_keys(position, _POSITION_KEYS)
        x, y, z = (position.number(key, 0.0) for key in "xyz")
    quaternion = entry.child("rotation_quat")
    angles = entry.child("rotation_eul")
    # a quaternion wins over angles, as in PyRoboSim
    if quaternion is not None:
        reading.check_loose_keys(quaternion, _QUATERNION_KEYS)
        # w is 0 as well where it is left out: {z: 1} is half a turn
        parts = [quaternion.number(key, 0.0) for key in "wxyz"]
        return _from_quaternion(entry, (x, y, z), parts, "rotation_quat")
    if angles is None:
        return WorldPose(x, y, z)
    reading.check_loose_keys(angles, _ANGLE_KEYS)
    roll, pitch, yaw = (angles.number(key, 0.0) for key in ("roll", "pitch", "yaw"))
    units = angles.text("angle_units", "radians")
    if units not in {"radians", "degrees"}:
        raise Refusal(messages.BAD_UNITS, angles.find_where("angle_units"), found=units)
    if units == "degrees":
        roll, pitch, yaw = math.radians(roll), math.radians(pitch), math.radians(yaw)
    return WorldPose.from_angles((x, y, z), (roll, pitch, yaw))


def _from_quaternion(
    entry: WorldEntry, point: tuple[float, float, float], parts: list[float], *steps: Step
) -> WorldPose:
    if math.hypot(*parts) < 1e-12:
        raise _refuse_pose(entry, "its quaternion is zero", *steps)
    return WorldPose.from_quaternion(*point, parts)


def _refuse_pose(entry: WorldEntry, reason: str, *steps: Step) -> Refusal:
    return Refusal(messages.BAD_POSE, entry.find_where(*steps), place=entry.spell(*steps), reason=reason)
