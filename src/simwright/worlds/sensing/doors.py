# SPDX-License-Identifier: Apache-2.0
"""Finding out about doors with a lidar, for robots that do not know which ones are closed."""

from __future__ import annotations

import shapely

from simwright.worlds.sensing.lidar import Lidar
from simwright.worlds.world import Hallway

_TOUCH = 1e-3
"""A beam that ends this close to a door has met it [m]."""


def observe_doors(lidar: Lidar) -> list[Hallway]:
    """Compare what the beams meet with what the robot believes; the hallways of which it learned something."""
    robot, world = lidar.robot, lidar.world
    wrong = [hallway for hallway in world.hallways if robot.knows_closed(hallway) is hallway.is_open]
    if not robot.partial_obs_hallways or not wrong:
        return []
    beams = shapely.multilinestrings(shapely.linestrings(lidar.draw_beams()))
    learned = [hallway for hallway in wrong if shapely.distance(beams, hallway.slab) <= _TOUCH]
    for hallway in learned:
        if hallway.is_open:
            robot.known_closed.discard(hallway.name)
        else:
            robot.known_closed.add(hallway.name)
    return learned
