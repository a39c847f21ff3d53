# SPDX-License-Identifier: Apache-2.0
"""Worlds of any size for the benchmarks: rooms in a square, hallways between neighbours, a table in each room."""

from __future__ import annotations

import math
from pathlib import Path

_PITCH = 6.0
_LOCATIONS = """\
table:
  footprint: {type: box, dims: [1.7, 1.7], height: 0.7}
  nav_poses: [[-1.1, 0.0], [0.0, 1.1, 0.0, -1.57]]
  locations:
    - {name: top, footprint: {type: parent, padding: 0.02}}
  color: [0.6, 0.4, 0.2]
"""
_OBJECTS = """\
cup:
  footprint: {type: circle, radius: 0.03, height: 0.1}
block:
  footprint: {type: box, dims: [0.06, 0.04]}
"""


def write_world(folder: Path, rooms: int, objects: int) -> Path:
    """Write a world and its metadata files; gives the world file."""
    (folder / "locations.yaml").write_text(_LOCATIONS)
    (folder / "objects.yaml").write_text(_OBJECTS)
    lines = [
        "params: {name: bench, inflation_radius: 0.1, object_radius: 0.02}",
        "metadata: {locations: $PWD/locations.yaml, objects: $PWD/objects.yaml}",
        "rooms:",
    ]
    side = math.ceil(math.sqrt(rooms))
    for number in range(rooms):
        x, y = number % side * _PITCH, number // side * _PITCH
        lines += [
            f"  - name: room{number}",
            "    footprint: {type: box, dims: [5.0, 5.0]}",
            f"    pose: {{position: {{x: {x}, y: {y}}}}}",
        ]
    lines.append("hallways:")
    for number in range(rooms):
        for other in (number + 1, number + side):
            if other < rooms and (other == number + side or other % side):
                lines.append(f"  - {{room_start: room{number}, room_end: room{other}, width: 1.0}}")
    lines.append("locations:")
    for number in range(rooms):
        lines += [
            f"  - name: table{number}",
            "    category: table",
            f"    parent: room{number}",
            f"    pose: {{position: {{x: 1.55, y: -1.55}}, relative_to: room{number}}}",
        ]
    if objects:
        lines.append("objects:")
    for number in range(objects):
        kind = ("cup", "block")[number % 2]
        lines.append(f"  - {{category: {kind}, parent: table{number % rooms}}}")
    file = folder / f"world_{rooms}_{objects}.yaml"
    file.write_text("\n".join(lines) + "\n")
    return file
