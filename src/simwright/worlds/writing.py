# SPDX-License-Identifier: Apache-2.0
"""World files that we write: any world saved as it is, and the files of drawn ones.

Both give the content of PyRoboSim's files as plain values: ``world``, ``locations`` and ``objects``, one file each.
PyRoboSim reads them; what its format has no place for is in the ``simwright`` block, which it passes over.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import shapely

from simwright.core.diag import Reporter
from simwright.worlds import messages
from simwright.worlds.entities import Category, Hallway, Location, Room, WorldObject, WorldRobot
from simwright.worlds.polygons import Geometry
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

Files = dict[str, Any]
"""Content of ``world``, ``locations`` and ``objects``."""


def describe_files(world: World, reporter: Reporter) -> Files:
    """A world as it is now: every pose absolute, doors and furniture in their states, objects where they stand.

    The format has no place for what robots hold and for what they have found out: the first is reported, and comes to
    stand anywhere when the file is read.  Meshes stay where their categories name them.
    """
    for robot in world.robots:
        if robot.held is not None:
            reporter.report(messages.HELD_LEFT, robot.where, name=robot.name, item=robot.held.name)
    data = {
        "params": {
            "name": world.name,
            "inflation_radius": world.params.inflation_radius,
            "object_radius": world.params.object_radius,
            "wall_height": world.params.wall_height,
        },
        "metadata": {"locations": ["$PWD/locations.yaml"], "objects": ["$PWD/objects.yaml"]},
        "rooms": [_describe_room(room) for room in world.rooms],
        "hallways": [_describe_hallway(hallway) for hallway in world.hallways],
        "locations": [_describe_location(location) for location in world.locations],
        "objects": [_describe_object(item) for item in world.objects],
        "robots": [_describe_robot(robot) for robot in world.robots],
        "simwright": _describe_extensions(world),
    }
    return {
        "world": {key: value for key, value in data.items() if value not in ([], {})},
        "locations": _describe_categories(world.location_categories),
        "objects": _describe_categories(world.object_categories),
    }


def _describe_categories(categories: Mapping[str, Category]) -> dict[str, Any]:
    return {name: category.entry.data for name, category in categories.items()}


def _describe_pose(pose: WorldPose, z: float | None = None) -> dict[str, Any]:
    w, x, y, k = pose.quaternion
    rotation = {"w": w, "x": x, "y": y, "z": k}
    position = {"x": pose.x, "y": pose.y, "z": pose.z if z is None else z}
    return {"position": position, "rotation_quat": rotation}


def _list_corners(polygon: Geometry) -> list[list[float]]:
    return [[float(x), float(y)] for x, y in shapely.get_coordinates(polygon.exterior)[:-1]]


def _describe_room(room: Room) -> dict[str, Any]:
    row: dict[str, Any] = {
        "name": room.name,
        "footprint": {"type": "polygon", "coords": _list_corners(room.polygon)},
        "nav_poses": [_describe_pose(pose) for pose in room.nav_poses],
        "wall_width": room.wall_width,
        "color": list(room.color),
    }
    if room.height:
        row["footprint"]["height"] = room.height
    return row


def _describe_hallway(hallway: Hallway) -> dict[str, Any]:
    # an automatic name comes back by itself, with its second one; a given one has no second
    name = {} if hallway.alias != hallway.name else {"name": hallway.name}
    return {
        **name,
        "room_start": hallway.room_start.name,
        "room_end": hallway.room_end.name,
        "width": hallway.width,
        "wall_width": hallway.wall_width,
        "conn_method": "points",
        "conn_points": [[float(x), float(y)] for x, y in hallway.points],
        "color": list(hallway.color),
        "is_open": hallway.is_open,
        "is_locked": hallway.is_locked,
    }


def _describe_location(location: Location) -> dict[str, Any]:
    return {
        "name": location.name,
        "category": location.category.name,
        "parent": location.room.name,
        "pose": _describe_pose(location.pose),
        "color": list(location.color),
        "is_open": location.is_open,
        "is_locked": location.is_locked,
        "is_charger": location.is_charger,
    }


def _describe_object(item: WorldObject) -> dict[str, Any]:
    row: dict[str, Any] = {"name": item.name, "category": item.category.name, "color": list(item.color)}
    if item.spawn is not None:
        # heights count from the surface
        pose = _describe_pose(item.pose, item.pose.z - item.spawn.elevation)
        row |= {"parent": item.spawn.name, "pose": pose}
    return row


def _describe_robot(robot: WorldRobot) -> dict[str, Any]:
    limits = {
        key: value
        for key in (
            "max_linear_velocity",
            "max_angular_velocity",
            "max_linear_acceleration",
            "max_angular_acceleration",
        )
        if math.isfinite(value := getattr(robot.limits, key))
    }
    row: dict[str, Any] = {
        "name": robot.name,
        "radius": robot.radius,
        "height": robot.height,
        "color": list(robot.color),
        "pose": _describe_pose(robot.pose),
        "initial_battery_level": robot.battery_level,
        "partial_obs_objects": robot.partial_obs_objects,
        "partial_obs_hallways": robot.partial_obs_hallways,
        **limits,
    }
    for key, word, options in (
        ("path_planner", "type", robot.path_planner),
        ("path_executor", "type", robot.path_executor),
        ("grasping", "generator", robot.grasping),
    ):
        if options is not None:
            row[key] = {word: options.type} | _drop_none(options.values)
    if robot.sensors:
        row["sensors"] = {
            name: {"type": options.type} | _drop_none(options.values)
            for name, options in robot.sensors.items()
        }
    if robot.actions:
        row["action_execution_options"] = {
            name: _drop_none(
                {
                    "delay": options.delay,
                    "success_probability": options.success_probability,
                    "rng_seed": options.rng_seed,
                    "battery_usage": options.battery_usage,
                }
            )
            for name, options in robot.actions.items()
        }
    return row


def _drop_none(values: Mapping[str, Any]) -> dict[str, Any]:
    # a property of nothing is its default; a sensor that has no name is no sensor
    return {key: value for key, value in values.items() if value is not None and value != ""}


def _describe_extensions(world: World) -> dict[str, Any]:
    found: dict[str, Any] = {"seed": world.seed}
    for key, rows in (("entities", world.extensions.entities), ("categories", world.extensions.categories)):
        if rows:
            found[key] = {name: dict(row) for name, row in rows.items()}
    return found | _describe_floors(world)


def _describe_floors(world: World) -> dict[str, Any]:
    table = world.floor_table
    found: dict[str, Any] = {}
    if table.floors:
        found["floors"] = {
            floor.name: {
                "elevation": floor.elevation,
                "offset": list(floor.offset),
                "rooms": list(floor.rooms),
            }
            for floor in table.floors.values()
        }
    for key, kind in (("lifts", "lift"), ("stairs", "stairs")):
        rows = {
            link.name: {"stops": dict(link.stops), "speed": link.speed, "door_time": link.door_time}
            | ({} if link.robots is None else {"robots": list(link.robots)})
            for link in table.links.values()
            if link.kind == kind
        }
        if rows:
            found[key] = rows
    if table.places:
        found["places"] = {name: [pose.x, pose.y, pose.yaw] for name, pose in table.places.items()}
    return found


def encode_files(files: Files) -> dict[str, bytes]:
    """The files by name, as YAML."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return {
        f"{name}.yaml": yaml.dump(
            content, Dumper=dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=120
        ).encode()
        for name, content in files.items()
    }
