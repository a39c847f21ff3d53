"""A flat with three rooms, furniture and two robots, for what plans and acts in worlds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from simwright.worlds.read import read_world
from simwright.worlds.world import World

LOCATIONS = """
table:
  footprint: {type: box, dims: [1.0, 0.6], height: 0.5}
  nav_poses: [[-0.8, 0.0], [0.8, 0.0, 0.0, 3.1416]]
  locations: [{name: top, footprint: {type: parent, padding: 0.02}}]
cupboard:
  footprint: {type: box, dims: [0.8, 0.4], height: 1.0}
  nav_poses: [[0.0, -0.5, 0.0, 1.5708]]
  locations:
    - {name: left, footprint: {type: box, dims: [0.36, 0.36], offset: [-0.2, 0.0]}}
    - {name: right, footprint: {type: box, dims: [0.36, 0.36], offset: [0.2, 0.0]}}
"""
OBJECTS = """
can: {footprint: {type: circle, radius: 0.03, height: 0.12}}
crate: {footprint: {type: box, dims: [0.3, 0.2], height: 0.2}}
"""
TEXT = """
params: {name: flat, object_radius: 0.02}
metadata: {locations: locations.yaml, objects: objects.yaml}
rooms:
  - {name: left, footprint: {type: box, dims: [4, 4]}}
  - {name: right, footprint: {type: box, dims: [4, 4]}, pose: [6, 0], nav_poses: [[6, 0.5]]}
  - {name: attic, footprint: {type: box, dims: [4, 3]}, pose: [0, 5]}
hallways:
  - {room_start: left, room_end: right, width: 1.0}
  - {room_start: left, room_end: attic, width: 1.0, is_open: DOOR, is_locked: LOCK}
locations:
  - {name: table, category: table, parent: left, pose: [0.5, -1.4]}
  - {name: desk, category: table, parent: right, pose: [6.5, -1.4]}
  - {name: dock, category: table, parent: right, pose: [5.5, 1.4], is_charger: true}
  - {name: box, category: cupboard, parent: attic, pose: [0.9, 6.0], is_open: BOX}
objects:
  - {name: can0, category: can, parent: table, pose: [0.2, -1.4]}
  - {name: can1, category: can, parent: box_left, pose: [0.7, 6.0]}
  - {name: crate0, category: crate, parent: table, pose: [0.7, -1.4]}
robots:
  - name: one
    radius: 0.2
    height: 0.4
    pose: [-1.0, 0.0]
    PLANNER
    SETTINGS
  - {name: two, radius: 0.1, pose: [-1.0, 1.0], path_planner: {type: world_graph}}
"""
ASTAR = "path_planner: {type: astar, grid_resolution: 0.05, grid_inflation_radius: 0.2}"


def make_flat(
    folder: Path, settings: str = "", planner: str = ASTAR, door: str = "true", **options: Any
) -> World:
    """The flat; ``settings`` are lines of the robot ``one``."""
    (folder / "locations.yaml").write_text(LOCATIONS)
    (folder / "objects.yaml").write_text(OBJECTS)
    text = TEXT.replace("DOOR", door).replace("LOCK", str(options.pop("lock", "false")))
    text = text.replace("BOX", str(options.pop("box", "true"))).replace("PLANNER", planner)
    file = folder / "flat.yaml"
    file.write_text(text.replace("SETTINGS", settings.strip().replace("\n", "\n    ")))
    return read_world(file, strict=True, **options)
