# SPDX-License-Identifier: Apache-2.0
"""Maps for Nav2: an occupancy image with its YAML, way points, and a route graph as GeoJSON.

The image is named relative to the YAML, so the two can be moved together.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from simwright.worlds.entities import Hallway, Room, Spawn
from simwright.worlds.graph import WorldGraph
from simwright.worlds.grid import Grid
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import World

OCCUPIED, FREE = 0, 254
OCCUPIED_THRESHOLD, FREE_THRESHOLD = 0.65, 0.25
FRAME = "map"


def encode_pgm(grid: Grid) -> bytes:
    """The image of a grid: the first row is the one with the largest y."""
    width, height = grid.shape
    # images begin at the top, maps at the bottom
    pixels = np.where(grid.occupied.T[::-1], OCCUPIED, FREE).astype(np.uint8)
    return f"P5\n{width} {height}\n255\n".encode() + pixels.tobytes()


def encode_map(grid: Grid, image: str) -> str:
    """The YAML beside the image."""
    return (
        f"image: {json.dumps(image)}\n"
        # 254 and 0 with these thresholds are free and occupied in Nav2, whatever its defaults are
        "mode: trinary\n"
        f"resolution: {grid.resolution!r}\n"
        f"origin: [{float(grid.origin[0])!r}, {float(grid.origin[1])!r}, 0.0]\n"
        "negate: 0\n"
        f"occupied_thresh: {OCCUPIED_THRESHOLD}\n"
        f"free_thresh: {FREE_THRESHOLD}\n"
    )


def list_waypoints(world: World) -> list[dict[str, Any]]:
    """Every navigation pose with the place it belongs to; several of one place are numbered."""
    rows: list[dict[str, Any]] = []
    places: list[tuple[str, Room | Hallway | Spawn]] = [("room", room) for room in world.rooms]
    places += [("hallway", hallway) for hallway in world.hallways]
    places += [("surface", spawn) for spawn in world.spawns]
    for kind, entity in places:
        for number, pose in enumerate(entity.nav_poses):
            row: dict[str, Any] = {
                "name": f"{entity.name}_{number}",
                "place": entity.name,
                "kind": kind,
                "frame_id": FRAME,
            }
            if isinstance(entity, Spawn):
                row["is_charger"] = entity.location.is_charger
            rows.append({**row, **_describe_pose(pose)})
    return rows


def encode_waypoints(world: World) -> str:
    """The way points as YAML."""
    import yaml

    text: str = yaml.safe_dump({"waypoints": list_waypoints(world)}, sort_keys=False, allow_unicode=True)
    return f"# Navigation poses of {world.name}\n{text}"


def encode_route_graph(graph: WorldGraph, name: str) -> str:
    """The world graph as Nav2's route server reads it: points, and a line for every way and direction."""
    features: list[dict[str, Any]] = []
    for number, node in enumerate(graph.nodes):
        facts = {"id": number, "frame": FRAME, "metadata": {"place": node.entity.name, "yaw": node.pose.yaw}}
        features.append(_make_feature(facts, "Point", [node.pose.x, node.pose.y]))
    number = len(graph.nodes)
    for start, end in graph.edges.tolist():
        # edges of a route graph are one-way
        for a, b in ((start, end), (end, start)):
            # a MultiLineString, not a LineString: that is what the route server reads
            line = [[list(graph.nodes[a].pose.xy), list(graph.nodes[b].pose.xy)]]
            features.append(_make_feature({"id": number, "startid": a, "endid": b}, "MultiLineString", line))
            number += 1
    document = {"type": "FeatureCollection", "name": name, "features": features}
    return json.dumps(document, indent=1) + "\n"


def _make_feature(facts: dict[str, Any], kind: str, coordinates: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": facts,
        "geometry": {"type": kind, "coordinates": coordinates},
    }


def _describe_pose(pose: WorldPose) -> dict[str, Any]:
    w, x, y, z = pose.quaternion
    return {
        "position": {"x": pose.x, "y": pose.y, "z": pose.z},
        "orientation": {"x": x, "y": y, "z": z, "w": w},
    }
