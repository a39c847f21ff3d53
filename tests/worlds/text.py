"""Worlds as text, for tests that change one thing."""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Reporter
from simwright.worlds.read import read_world
from simwright.worlds.world import World

LOCATIONS = """
table:
  footprint: {type: box, dims: [1.0, 0.6], height: 0.5}
  nav_poses: [[-0.8, 0.0], [0.8, 0.0, 0.0, 3.1416]]
  locations:
    - {name: top, footprint: {type: parent, padding: 0.02}}
  color: teal
stone:
  footprint: {type: box, dims: [0.4, 0.4]}
"""
OBJECTS = """
can:
  footprint: {type: circle, radius: 0.03, height: 0.12}
  color: red
"""
ROOMS = """
params: {name: small, inflation_radius: 0.1}
metadata: {locations: locations.yaml, objects: [objects.yaml]}
rooms:
  - {name: left, footprint: {type: box, dims: [4, 4]}}
  - {name: right, footprint: {type: box, dims: [4, 4]}, pose: [6, 0]}
"""
HALL = "hallways:\n  - {room_start: left, room_end: right, width: 1.0}\n"
TABLE = "locations:\n  - {category: table, parent: left, pose: [1.0, -1.0]}\n"


def write(folder: Path, text: str) -> Path:
    (folder / "locations.yaml").write_text(LOCATIONS)
    (folder / "objects.yaml").write_text(OBJECTS)
    file = folder / "world.yaml"
    file.write_text(text)
    return file


def load(folder: Path, text: str, **options: object) -> tuple[World, list[tuple[str, int | None]]]:
    """The world, and code and line of everything found."""
    reporter = Reporter()
    world = read_world(write(folder, text), reporter=reporter, **options)  # type: ignore[arg-type]
    return world, [(found.kind, found.where.line) for found in reporter]
