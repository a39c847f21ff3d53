# SPDX-License-Identifier: Apache-2.0
"""What the world benchmark asks of planners and sensors, the same for both sides: options, and ways between rooms."""

from __future__ import annotations

import json

_PITCH = 6.0
RADIUS = 0.1
PLANNERS = {
    "astar": ("astar", {"grid_resolution": 0.05, "grid_inflation_radius": RADIUS}),
    "rrt": ("rrt", {"max_nodes_sampled": 5000, "max_time": 60.0}),
    "rrt_connect": ("rrt", {"bidirectional": True, "rrt_connect": True, "max_time": 60.0}),
    "rrt_star": ("rrt", {"bidirectional": True, "rrt_connect": True, "rrt_star": True, "max_time": 60.0}),
    "prm": ("prm", {"max_nodes": 300}),
}
COUNTS = {"rrt": 4, "rrt_star": 4}
"""How many ways are planned where PyRoboSim needs seconds for one; elsewhere all."""
LIDAR = {
    "update_rate_s": 0.1,
    "angle_units": "degrees",
    "min_angle": -180.0,
    "max_angle": 179.0,
    "angular_resolution": 1.0,
    "max_range_m": 10.0,
}

Query = tuple[tuple[float, float], tuple[float, float]]
"""From where to where [m]."""


def list_queries(rooms: int, side: int) -> list[Query]:
    """Ways between rooms side by side, and between rooms across."""
    return [
        (_find_spot(number, side, -1.2), _find_spot(other, side, 1.1))
        for number in range(rooms)
        for other in (number + 1, number + side)
        if other < rooms and (other == number + side or other % side)
    ]


def _find_spot(number: int, side: int, offset: float) -> tuple[float, float]:
    return number % side * _PITCH + offset, number // side * _PITCH + 0.4 * offset + 0.9


def spell_queries(queries: list[Query]) -> str:
    """Ways as JSON."""
    return json.dumps(queries)
