"""Holding a world against what PyRoboSim 5.0.1 made of the same file."""

from __future__ import annotations

import math
from typing import Any

import shapely

from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

METRES = 1.5e-6  # the expected results are rounded to six digits
AREA = 1e-6


def compare_world(world: World, expected: dict[str, Any], *, closed: bool = True) -> list[str]:
    """Every difference as a line."""
    found: list[str] = []
    for key in ("name", "object_radius", "wall_height"):
        _same(found, f"params.{key}", getattr(world.params, key), expected["params"][key])
    _near(found, "inflation_radius", world.inflation_radius, expected["params"]["inflation_radius"])
    low_x, low_y, high_x, high_y = world.bounds
    _numbers(
        found, "bounds", (low_x, high_x, low_y, high_y), (*expected["bounds"]["x"], *expected["bounds"]["y"])
    )
    for key in ("rooms", "hallways", "locations", "objects", "robots"):
        ours, theirs = getattr(world, key), expected[key]
        _same(found, f"names of {key}", [e.name for e in ours], [e["name"] for e in theirs])
        for entity, row in zip(ours, theirs, strict=False):
            _COMPARE[key](found, entity, row)
    _same(found, "spawns", len(world.spawns), expected["counts"]["object_spawns"])
    _polygon(found, "free space", world.free_space, expected["total_internal_polygon"])
    if "total_sensing_polygon" in expected:
        _polygon(found, "sensing space", world.sensing_space, expected["total_sensing_polygon"])
        _polygon(found, "open space", world.open_space, expected["total_external_polygon"])
    return found


def _room(found: list[str], room: Any, row: dict[str, Any]) -> None:
    at = f"room {room.name}"
    _numbers(found, f"{at} centroid", room.centroid, row["centroid"])
    _numbers(found, f"{at} color", room.color, row["color"])
    _near(found, f"{at} height", room.height, row["height"])
    _near(found, f"{at} wall width", room.wall_width, row["wall_width"])
    _same(found, f"{at} hallways", [h.name for h in room.hallways], row["hallways"])
    _same(found, f"{at} locations", [loc.name for loc in room.locations], row["locations"])
    _pose(found, f"{at} pose", room.pose, row["pose"])
    _poses(found, f"{at} nav poses", room.nav_poses, row["nav_poses"])
    _polygon(found, f"{at} polygon", room.polygon, row["polygon"])
    _polygon(found, f"{at} outer", room.outer, row["external_collision"])
    _polygon(found, f"{at} free", room.free, row["internal_collision"])
    _polygon(found, f"{at} walls", room.walls, row["walls"])


def _hallway(found: list[str], hallway: Any, row: dict[str, Any]) -> None:
    at = f"hallway {hallway.name}"
    for key in ("is_open", "is_locked"):
        _same(found, f"{at} {key}", getattr(hallway, key), row[key])
    _same(found, f"{at} alias", hallway.alias, row["reversed_name"])
    _same(found, f"{at} rooms", [r.name for r in hallway.rooms], [row["room_start"], row["room_end"]])
    for key in ("width", "wall_width", "offset"):
        _near(found, f"{at} {key}", getattr(hallway, key), row[key])
    _numbers(found, f"{at} color", hallway.color, row["color"])
    _numbers(
        found, f"{at} points", [v for p in hallway.points for v in p], [v for p in row["points"] for v in p]
    )
    _poses(found, f"{at} nav poses", hallway.nav_poses, row["nav_poses"])
    _poses(found, f"{at} waypoints", hallway.waypoints, row["graph_nodes"])
    _polygon(found, f"{at} polygon", hallway.polygon, row["polygon"])
    _polygon(found, f"{at} outer", hallway.outer, row["external_collision"])
    _polygon(found, f"{at} free", hallway.free, row["internal_collision"])
    _polygon(found, f"{at} slab", hallway.slab, row["closed_polygon"])
    _polygon(found, f"{at} walls", hallway.walls, row["walls"])


def _location(found: list[str], location: Any, row: dict[str, Any]) -> None:
    at = f"location {location.name}"
    for key in ("is_open", "is_locked", "is_charger"):
        _same(found, f"{at} {key}", getattr(location, key), row[key])
    _same(found, f"{at} category", location.category.name, row["category"])
    _same(found, f"{at} room", location.room.name, row["parent"])
    _near(found, f"{at} height", location.height, row["height"])
    _color(found, f"{at} color", location.stated_color, row["color"])
    _pose(found, f"{at} pose", location.pose, row["pose"])
    _poses(found, f"{at} nav poses", location.nav_poses, row["nav_poses"])
    _polygon(found, f"{at} raw polygon", location.raw_polygon, row["raw_polygon"])
    _polygon(found, f"{at} polygon", location.polygon, row["polygon"])
    _polygon(found, f"{at} inflated", location.inflated, row["collision"])
    _same(found, f"{at} spawns", [s.name for s in location.spawns], [s["name"] for s in row["spawns"]])
    for spawn, inner in zip(location.spawns, row["spawns"], strict=False):
        where = f"spawn {spawn.name}"
        _near(found, f"{where} height", spawn.height, inner["height"])
        _same(found, f"{where} is_open", location.is_open, inner["is_open"])
        _same(found, f"{where} objects", [o.name for o in spawn.objects], inner["objects"])
        _pose(found, f"{where} pose", spawn.pose, inner["pose"])
        _poses(found, f"{where} nav poses", spawn.nav_poses, inner["nav_poses"])
        _polygon(found, f"{where} polygon", spawn.polygon, inner["polygon"])


def _object(found: list[str], item: Any, row: dict[str, Any]) -> None:
    at = f"object {item.name}"
    _same(found, f"{at} category", item.category.name, row["category"])
    _same(found, f"{at} spawn", item.spawn.name, row["parent"])
    _same(found, f"{at} room", item.room.name, row["room"])
    _near(found, f"{at} height", item.height, row["height"])
    _color(found, f"{at} color", item.stated_color, row["color"])
    _pose(found, f"{at} pose", item.pose, row["pose"])
    _polygon(found, f"{at} raw polygon", item.raw_polygon, row["raw_polygon"])
    _polygon(found, f"{at} polygon", item.polygon, row["polygon"])
    _polygon(found, f"{at} collision", item.collision, row["collision"])


def _robot(found: list[str], robot: Any, row: dict[str, Any]) -> None:
    at = f"robot {robot.name}"
    for key in ("radius", "height", "battery_level"):
        _near(found, f"{at} {key}", getattr(robot, key), row[key])
    for key in ("partial_obs_objects", "partial_obs_hallways"):
        _same(found, f"{at} {key}", getattr(robot, key), row[key])
    _same(found, f"{at} location", robot.location.name if robot.location else None, row["location"])
    _numbers(found, f"{at} color", robot.color, row["color"])
    _pose(found, f"{at} pose", robot.pose, row["pose"])
    for key, value in row["limits"].items():
        _near(found, f"{at} {key}", getattr(robot.limits, key), float(value))
    for key in ("path_planner", "path_executor"):
        _options(found, f"{at} {key}", getattr(robot, key), row[key], "type")
    _options(found, f"{at} grasping", robot.grasping, row["grasping"], "generator")
    actions = row["action_execution_options"] or {}
    _same(found, f"{at} actions", sorted(robot.actions), sorted(actions))


_COMPARE = {
    "rooms": _room,
    "hallways": _hallway,
    "locations": _location,
    "objects": _object,
    "robots": _robot,
}


def _options(found: list[str], at: str, ours: Any, theirs: dict[str, Any] | None, key: str) -> None:
    mine = None if ours is None else {key: ours.type} | {k: v or None for k, v in ours.values.items()}
    other = None if theirs is None else {k: v or None for k, v in theirs.items()}
    _same(found, at, mine, other)


def _same(found: list[str], at: str, ours: Any, theirs: Any) -> None:
    if ours != theirs:
        found.append(f"{at}: {ours!r}, expected {theirs!r}")


def _near(found: list[str], at: str, ours: float, theirs: float) -> None:
    if not math.isclose(ours, theirs, rel_tol=0.0, abs_tol=METRES):
        found.append(f"{at}: {ours!r}, expected {theirs!r}")


def _numbers(found: list[str], at: str, ours: Any, theirs: Any) -> None:
    if len(ours) != len(theirs) or any(abs(a - b) > METRES for a, b in zip(ours, theirs, strict=True)):
        found.append(f"{at}: {ours!r}, expected {theirs!r}")


def _color(found: list[str], at: str, ours: Any, theirs: Any) -> None:
    if isinstance(theirs, str):
        _same(found, at, ours, theirs)
    else:
        _numbers(found, at, ours, theirs)


def _pose(found: list[str], at: str, ours: WorldPose, theirs: dict[str, Any]) -> None:
    _numbers(found, f"{at} position", (ours.x, ours.y, ours.z), theirs["xyz"])
    same = abs(sum(a * b for a, b in zip(ours.quaternion, theirs["quat_wxyz"], strict=True)))
    if abs(1.0 - same) > METRES:
        found.append(f"{at} rotation: {ours.quaternion}, expected {theirs['quat_wxyz']}")
    if abs(math.remainder(ours.yaw - theirs["yaw"], 2 * math.pi)) > METRES:
        found.append(f"{at} yaw: {ours.yaw}, expected {theirs['yaw']}")


def _poses(found: list[str], at: str, ours: list[WorldPose], theirs: list[dict[str, Any]]) -> None:
    _same(found, f"number of {at}", len(ours), len(theirs))
    for index, (pose, row) in enumerate(zip(ours, theirs, strict=False)):
        _pose(found, f"{at}[{index}]", pose, row)


def _polygon(found: list[str], at: str, ours: Any, theirs: dict[str, Any]) -> None:
    expected = _read_polygon(theirs)
    difference = ours.symmetric_difference(expected).area
    # corners are rounded to six digits, which moves an edge by half a micrometre
    if difference > AREA + 0.5e-6 * expected.length:
        found.append(f"{at}: differs by {difference:.3g} m2")


def _read_polygon(row: dict[str, Any] | None) -> Any:
    if not row:
        return shapely.Polygon()
    parts = row.get("multi", row.get("geoms", [row] if row.get("exterior") else []))
    return shapely.union_all(
        [shapely.make_valid(shapely.Polygon(part["exterior"], part["interiors"])) for part in parts]
    )
