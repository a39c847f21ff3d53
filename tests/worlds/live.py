# SPDX-License-Identifier: Apache-2.0
"""Worlds drawn at random for live comparisons, and sequences of actions in them."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import yaml

LOCATIONS = {
    "table": {
        "footprint": {"type": "box", "dims": [0.9, 0.6], "height": 0.5},
        "nav_poses": [
            [-0.9, 0.0],
            [0.9, 0.0, 0.0, 3.1416],
            [0.0, 0.75, 0.0, -1.5708],
            [0.0, -0.75, 0.0, 1.5708],
        ],
        "locations": [{"name": "top", "footprint": {"type": "parent", "padding": 0.03}}],
    },
    "cupboard": {
        "footprint": {
            "type": "polygon",
            "coords": [[-0.5, -0.3], [0.5, -0.3], [0.4, 0.3], [-0.4, 0.3]],
            "height": 1.0,
        },
        "nav_poses": [[0.0, -0.7, 0.0, 1.5708], [0.0, 0.7, 0.0, -1.5708]],
        "locations": [
            {"name": "left", "footprint": {"type": "box", "dims": [0.34, 0.4], "offset": [-0.2, 0.0]}},
            {
                "name": "right",
                "footprint": {"type": "box", "dims": [0.34, 0.4], "offset": [0.2, 0.0]},
                "nav_poses": [[0.85, 0.0, 0.0, 3.1416]],
            },
        ],
    },
    "stool": {
        "footprint": {"type": "circle", "radius": 0.25, "height": 0.4},
        "nav_poses": [[-0.7, 0.0], [0.0, 0.7, 0.0, -1.5708]],
        "locations": [{"footprint": {"type": "parent"}}],
    },
}
OBJECTS = {
    "can": {"footprint": {"type": "circle", "radius": 0.03, "height": 0.12}},
    "book": {"footprint": {"type": "box", "dims": [0.16, 0.1], "height": 0.04}},
    "wedge": {
        "footprint": {
            "type": "polygon",
            "coords": [[-0.06, -0.05], [0.07, -0.04], [0.0, 0.06]],
            "height": 0.1,
        }
    },
}
ACTIONS = ("navigate", "pick", "place", "detect", "open", "close")


def make_live_world(seed: int, folder: Path, planners: tuple[str, ...] = ("astar", "world_graph")) -> Path:
    """Write a world of two to six rooms; the same seed writes the same one."""
    random = np.random.default_rng((seed, 77))
    rooms, middles = _make_rooms(random)
    names = [room["name"] for room in rooms]
    data = {
        "params": {
            "name": f"live{seed}",
            "object_radius": round(float(random.uniform(0.0, 0.03)), 3),
            "inflation_radius": float(random.choice([0.0, 0.1, 0.2])),
            "wall_height": 2.0,
        },
        "metadata": {"locations": "$PWD/locations.yaml", "objects": "$PWD/objects.yaml"},
        "rooms": rooms,
        "hallways": _make_hallways(random, names, middles),
        "locations": _make_locations(random, names, middles),
    }
    places = [row["name"] for row in data["locations"]]
    data["objects"] = [
        {"category": str(random.choice(list(OBJECTS))), "parent": str(random.choice(places))}
        for _ in range(int(random.integers(2, 9)))
    ]
    count = int(random.integers(1, 4))
    data["robots"] = [_make_robot(random, number, names, planners) for number in range(count)]
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("locations", LOCATIONS), ("objects", OBJECTS), ("world", data)):
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content, sort_keys=False))
    return folder / "world.yaml"


def _make_rooms(random: np.random.Generator) -> tuple[list[dict[str, Any]], list[tuple[float, float]]]:
    rooms, middles = [], []
    for number in range(int(random.integers(2, 7))):
        row, column = divmod(number, 3)
        x, y = column * 6.0 + random.uniform(-0.3, 0.3), row * 6.0 + random.uniform(-0.3, 0.3)
        half = random.uniform(1.8, 2.4, 2)
        kind = random.choice(["box", "polygon", "circle"], p=[0.5, 0.35, 0.15])
        room: dict[str, Any] = {"name": f"room{number}", "wall_width": float(random.choice([0.1, 0.2]))}
        if kind == "box":
            room["footprint"] = {"type": "box", "dims": [round(2 * float(value), 3) for value in half]}
            room["pose"] = [round(x, 3), round(y, 3)]
        elif kind == "circle":
            room["footprint"] = {"type": "circle", "radius": round(float(half[0]), 3)}
            room["pose"] = [round(x, 3), round(y, 3)]
        else:
            signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
            room["footprint"] = {
                "type": "polygon",
                "coords": [
                    [
                        round(float(x + a * half[0] + random.uniform(-0.2, 0.2)), 3),
                        round(float(y + b * half[1] + random.uniform(-0.2, 0.2)), 3),
                    ]
                    for a, b in signs
                ],
            }
        if random.random() < 0.3:
            room["nav_poses"] = [[round(x, 3), round(y, 3), 0.0, 0.5], [round(x + 0.4, 3), round(y + 0.3, 3)]]
        rooms.append(room)
        middles.append((x, y))
    return rooms, middles


def _make_hallways(
    random: np.random.Generator, names: list[str], middles: list[tuple[float, float]]
) -> list[dict[str, Any]]:
    found = []
    for first in range(len(names)):
        for second in range(first + 1, len(names)):
            near = math.dist(middles[first], middles[second]) < 7.5
            if not near or random.random() < 0.15:
                continue
            hallway: dict[str, Any] = {
                "room_start": names[first],
                "room_end": names[second],
                "width": round(float(random.uniform(0.8, 1.4)), 3),
                "is_open": bool(random.random() < 0.75),
                "is_locked": bool(random.random() < 0.15),
            }
            if random.random() < 0.3:
                hallway["conn_method"] = "points"
                hallway["conn_points"] = [[round(value, 3) for value in middles[k]] for k in (first, second)]
            elif random.random() < 0.3:
                hallway["offset"] = round(float(random.uniform(-0.4, 0.4)), 3)
            found.append(hallway)
    return found


def _make_locations(
    random: np.random.Generator, names: list[str], middles: list[tuple[float, float]]
) -> list[dict[str, Any]]:
    found = []
    for name, (x, y) in zip(names, middles, strict=True):
        for _ in range(int(random.integers(1, 3))):
            angle = random.uniform(-math.pi, math.pi)
            found.append(
                {
                    "name": f"place{len(found)}",
                    "category": str(random.choice(list(LOCATIONS))),
                    "parent": name,
                    "pose": [
                        round(x + 1.0 * math.cos(angle), 3),
                        round(y + 1.0 * math.sin(angle), 3),
                        0.0,
                        round(float(random.choice([0.0, 1.5708, 0.4])), 4),
                    ],
                    "is_open": bool(random.random() < 0.8),
                    "is_locked": bool(random.random() < 0.15),
                    "is_charger": bool(random.random() < 0.15),
                }
            )
    return found


def _make_robot(
    random: np.random.Generator, number: int, names: list[str], planners: tuple[str, ...]
) -> dict[str, Any]:
    radius = float(random.choice([0.1, 0.15, 0.2]))
    kind = str(random.choice(planners))
    planner: dict[str, Any] = {"type": kind}
    if kind == "astar":
        planner |= {"grid_resolution": 0.1, "grid_inflation_radius": radius + 0.01}
        planner |= {"diagonal_motion": bool(random.random() < 0.7)}
        planner |= {"heuristic": str(random.choice(["euclidean", "manhattan", "none"]))}
    elif kind == "rrt":
        planner |= {"bidirectional": True, "rrt_connect": True, "max_connection_dist": 0.5, "max_time": 60.0}
    elif kind == "prm":
        planner |= {"max_nodes": 120}
    robot: dict[str, Any] = {
        "name": f"robot{number}",
        "radius": radius,
        "height": 0.3,
        "location": str(random.choice(names)),
        "path_planner": planner,
        "path_executor": {
            "type": "constant_velocity",
            "dt": 0.1,
            "linear_velocity": round(float(random.uniform(0.5, 2.0)), 2),
        },
        "start_sensor_threads": False,
        "partial_obs_objects": bool(random.random() < 0.3),
        "partial_obs_hallways": bool(random.random() < 0.25),
        "initial_battery_level": float(random.choice([100.0, 60.0, 15.0])),
    }
    if random.random() < 0.3:
        robot["path_executor"]["max_angular_velocity"] = 1.0
    if random.random() < 0.6:
        robot["grasping"] = {"generator": "parallel_grasp", "max_width": 0.15, "depth": 0.1, "height": 0.02}
    if random.random() < 0.3:
        robot["sensors"] = {
            "eye": {
                "type": "fov",
                "update_rate_s": 0.1,
                "angle_units": "degrees",
                "min_angle": -60.0,
                "max_angle": 60.0,
                "max_range_m": 2.5,
            }
        }
    options: dict[str, Any] = {}
    for action in ACTIONS:
        if random.random() < 0.5:
            options[action] = {
                "battery_usage": round(float(random.uniform(0.0, 2.0)), 2),
                "success_probability": float(random.choice([1.0, 0.8])),
                "rng_seed": int(random.integers(1000)),
            }
    robot["action_execution_options"] = options
    return robot


def draw_steps(world: Any, seed: int, count: int) -> list[list[str]]:
    """Robot, action and what it is about, for ``count`` steps."""
    random = np.random.default_rng((seed, 5))
    goals = [entity.name for entity in (*world.rooms, *world.hallways, *world.locations, *world.spawns)]
    goals += [item.name for item in world.objects]
    goals += [f"{room.name} table" for room in world.rooms] + list(LOCATIONS) + list(OBJECTS)
    things = [item.name for item in world.objects] + list(OBJECTS)
    steps = []
    for _ in range(count):
        action = str(random.choice(ACTIONS, p=[0.45, 0.15, 0.12, 0.1, 0.09, 0.09]))
        target = ""
        if action == "navigate":
            target = str(random.choice(goals))
        elif action == "pick" or (action == "detect" and random.random() < 0.5):
            target = str(random.choice(things))
        steps.append([str(random.choice([robot.name for robot in world.robots])), action, target])
    return steps
