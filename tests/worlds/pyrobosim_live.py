# SPDX-License-Identifier: Apache-2.0
"""PyRoboSim in a process of its own: for every line of JSON it loads a world, acts in it and gives back states."""

from __future__ import annotations

import json
import logging
import os
import sys
import types

# the clock decides nothing here: paths are followed as fast as they can be, and nobody waits at their ends
import pyrobosim.navigation.execution as execution
from pyrobosim.core.yaml_utils import WorldYamlLoader
from pyrobosim.planning.actions import TaskAction


def describe_pose(pose):
    return {
        "xyz": [pose.x, pose.y, pose.z],
        "quat_wxyz": list(map(float, pose.q)),
        "yaw": float(pose.get_yaw()),
    }


def describe_polygon(polygon):
    if polygon is None or polygon.is_empty:
        return None
    parts = [part for part in getattr(polygon, "geoms", [polygon]) if hasattr(part, "exterior")]
    return {
        "multi": [
            {
                "exterior": list(part.exterior.coords),
                "interiors": [list(ring.coords) for ring in part.interiors],
            }
            for part in parts
        ]
    }


def describe_poses(poses):
    return [describe_pose(pose) for pose in poses]


def describe_color(color):
    return color if isinstance(color, str) else [float(value) for value in color]


def describe_world(world):
    """What tests/worlds/oracle.py compares."""
    return {
        "params": {
            "name": world.name,
            "object_radius": world.object_radius,
            "wall_height": world.wall_height,
            "inflation_radius": world.inflation_radius,
        },
        "bounds": {"x": list(map(float, world.x_bounds)), "y": list(map(float, world.y_bounds))},
        "counts": {"object_spawns": sum(len(loc.children) for loc in world.locations)},
        "rooms": [describe_room(room) for room in world.rooms],
        "hallways": [describe_hallway(hallway) for hallway in world.hallways],
        "locations": [describe_location(location) for location in world.locations],
        "objects": [describe_object(item) for item in world.objects],
        "robots": [describe_robot(robot) for robot in world.robots],
        "total_internal_polygon": describe_polygon(world.total_internal_polygon),
        "total_sensing_polygon": describe_polygon(world.total_sensing_polygon),
        "total_external_polygon": describe_polygon(world.total_external_polygon),
    }


def describe_room(room):
    return {
        "name": room.name,
        "centroid": list(room.centroid),
        "color": describe_color(room.viz_color),
        "height": room.height,
        "wall_width": room.wall_width,
        "hallways": [hallway.name for hallway in room.hallways],
        "locations": [location.name for location in room.locations],
        "pose": describe_pose(room.pose),
        "nav_poses": describe_poses(room.nav_poses),
        "polygon": describe_polygon(room.polygon),
        "external_collision": describe_polygon(room.external_collision_polygon),
        "internal_collision": describe_polygon(room.internal_collision_polygon),
        "walls": describe_polygon(room.buffered_polygon.difference(room.polygon).difference(walls_cut(room))),
    }


def walls_cut(room):
    import shapely

    return shapely.union_all([hallway.polygon for hallway in room.hallways])


def describe_hallway(hallway):
    walls = hallway.buffered_polygon.difference(hallway.polygon)
    for room in (hallway.room_start, hallway.room_end):
        walls = walls.difference(room.buffered_polygon)
    return {
        "name": hallway.name,
        "reversed_name": hallway.reversed_name,
        "room_start": hallway.room_start.name,
        "room_end": hallway.room_end.name,
        "is_open": hallway.is_open,
        "is_locked": hallway.is_locked,
        "width": hallway.width,
        "wall_width": hallway.wall_width,
        "offset": hallway.offset,
        "color": describe_color(hallway.viz_color),
        "points": [list(map(float, point)) for point in hallway.points],
        "nav_poses": describe_poses(hallway.nav_poses),
        "graph_nodes": describe_poses([node.pose for node in hallway.graph_nodes]),
        "polygon": describe_polygon(hallway.polygon),
        "external_collision": describe_polygon(hallway.external_collision_polygon),
        "internal_collision": describe_polygon(hallway.internal_collision_polygon),
        "closed_polygon": describe_polygon(hallway.closed_polygon),
        "walls": describe_polygon(walls),
    }


def describe_location(location):
    return {
        "name": location.name,
        "category": location.category,
        "parent": location.parent.name,
        "is_open": location.is_open,
        "is_locked": location.is_locked,
        "is_charger": location.is_charger,
        "height": location.height,
        "color": describe_color(location.viz_color),
        "pose": describe_pose(location.pose),
        "nav_poses": describe_poses(location.nav_poses),
        "raw_polygon": describe_polygon(location.raw_polygon),
        "polygon": describe_polygon(location.polygon),
        "collision": describe_polygon(location.collision_polygon),
        "spawns": [
            {
                "name": spawn.name,
                "height": spawn.height,
                "is_open": spawn.is_open,
                "objects": [item.name for item in spawn.children],
                "pose": describe_pose(spawn.pose),
                "nav_poses": describe_poses(spawn.nav_poses),
                "polygon": describe_polygon(spawn.polygon),
            }
            for spawn in location.children
        ],
    }


def describe_object(item):
    return {
        "name": item.name,
        "category": item.category,
        "parent": item.parent.name,
        "room": item.get_room_name(),
        "height": item.height,
        "color": describe_color(item.viz_color),
        "pose": describe_pose(item.pose),
        "raw_polygon": describe_polygon(item.raw_polygon),
        "polygon": describe_polygon(item.polygon),
        "collision": describe_polygon(item.collision_polygon),
    }


def describe_robot(robot):
    row = robot.to_dict()
    return {
        "name": robot.name,
        "radius": robot.radius,
        "height": robot.height,
        "battery_level": robot.battery_level,
        "partial_obs_objects": robot.partial_obs_objects,
        "partial_obs_hallways": robot.partial_obs_hallways,
        "location": robot.location.name if robot.location else None,
        "color": describe_color(robot.color),
        "pose": describe_pose(robot.get_pose()),
        "limits": {
            "max_linear_velocity": str(row["max_linear_velocity"]),
            "max_angular_velocity": str(row["max_angular_velocity"]),
            "max_linear_acceleration": str(row["max_linear_acceleration"]),
            "max_angular_acceleration": str(row["max_angular_acceleration"]),
        },
        "path_planner": row.get("path_planner"),
        "path_executor": row.get("path_executor"),
        "grasping": row.get("grasping"),
        "action_execution_options": row.get("action_execution_options"),
    }


def describe_state(world, result=None, path=None):
    return {
        "status": result.status.name if result is not None else "",
        "message": (result.message or "") if result is not None else "",
        "length": path.length if path is not None else None,
        "robots": {
            robot.name: {
                "pose": [robot.get_pose().x, robot.get_pose().y, float(robot.get_pose().get_yaw())],
                "location": robot.location.name if robot.location else None,
                "battery": float(robot.battery_level),
                "held": robot.manipulated_object.name if robot.manipulated_object else None,
                "known": sorted(item.name for item in robot.get_known_objects()),
                "closed": sorted(hallway.name for hallway in robot.get_known_closed_hallways()),
            }
            for robot in world.robots
        },
        "objects": {
            item.name: [item.parent.name, item.pose.x, item.pose.y, float(item.pose.get_yaw())]
            for item in world.objects
        },
        "open": sorted(e.name for e in (*world.hallways, *world.locations) if e.is_open),
    }


def run_steps(world, steps):
    states = [describe_state(world)]
    for name, kind, target in steps:
        robot = world.get_robot_by_name(name)
        action = TaskAction(kind)
        if kind == "navigate":
            action.target_location = target
        elif kind in ("pick", "detect"):
            action.object = target or None
        planned = []
        planner = robot.path_planner
        plan = type(planner).plan

        def note(start, goal, planner=planner, plan=plan, planned=planned):
            planned.append(plan(planner, start, goal))
            return planned[-1]

        planner.plan = note
        try:
            result = robot.execute_action(action, realtime_factor=-1.0)
        except Exception as error:  # noqa: BLE001 - what PyRoboSim raises is what it does
            result = types.SimpleNamespace(
                status=types.SimpleNamespace(name=f"raised {type(error).__name__}"), message=str(error)
            )
            robot.executing_action = False
        del planner.plan
        states.append(describe_state(world, result, planned[-1] if planned else None))
    return states


def measure_paths(world, kind, options, pairs, repeats):
    """Lengths of paths of the first robot between points, None where none was found; planned anew every time."""
    from pyrobosim.navigation.prm import PRMPlanner
    from pyrobosim.navigation.rrt import RRTPlanner
    from pyrobosim.utils.pose import Pose

    robot = world.robots[0]
    lengths = []
    for start, goal in pairs:
        row = []
        for _ in range(repeats):
            robot.set_path_planner({"rrt": RRTPlanner, "prm": PRMPlanner}[kind](**options))
            path = robot.path_planner.plan(Pose(x=start[0], y=start[1]), Pose(x=goal[0], y=goal[1]))
            row.append(path.length if path.num_poses else None)
        lengths.append(row)
    return lengths


def main():
    logging.disable(logging.CRITICAL)
    import numpy as np

    shim = types.SimpleNamespace(sleep=lambda seconds: None, time=execution.time.time)
    execution.time = shim
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    for line in sys.stdin:
        job = json.loads(line)
        np.random.seed(job["seed"])  # noqa: NPY002 - it draws from the global generator
        try:
            world = WorldYamlLoader().from_file(job["file"])
            answer = {"world": describe_world(world)} if job.get("describe") else {}
            if "pairs" in job:
                answer["lengths"] = measure_paths(
                    world, job["kind"], job["options"], job["pairs"], job["repeats"]
                )
            if job.get("steps") is not None:
                np.random.seed(job["seed"] + 1)  # noqa: NPY002
                answer["states"] = run_steps(world, job["steps"])
        except Exception as error:  # noqa: BLE001
            answer = {"error": f"{type(error).__name__}: {error}"}
        out.write(json.dumps(answer) + "\n")
        out.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
