# SPDX-License-Identifier: Apache-2.0
"""Navigation poses that were free when their location was placed and are not in the finished world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import shapely

from simwright.worlds import messages
from simwright.worlds.poses import WorldPose
from simwright.worlds.world import Location, grow

if TYPE_CHECKING:
    from simwright.worlds.read_state import WorldReading


def report_occupied_nav_poses(reading: WorldReading) -> None:
    """Report the poses that PyRoboSim would keep as goals although they are occupied."""
    radius = reading.world.params.inflation_radius
    for location in reading.world.locations:
        sets = [(location.name, location.nav_candidates, location.nav_poses)]
        sets += [
            (spawn.name, spawn.nav_candidates, spawn.nav_poses)
            for spawn in location.spawns
            if spawn.nav_candidates is not location.nav_candidates
        ]
        for name, candidates, kept in sets:
            if len(kept) == len(candidates):
                continue
            gone = [pose for pose in candidates if pose not in kept]
            count = sum(_was_free(location, pose, radius) for pose in gone)
            if count:
                reading.report(
                    messages.STALE_NAV_POSE,
                    location.where,
                    name=name,
                    count=count,
                    total=len(candidates),
                    radius=reading.world.inflation_radius,
                )


def _was_free(location: Location, pose: WorldPose, radius: float) -> bool:
    """Free at the inflation radius of the file, with the locations before this one."""
    room = location.room
    if not shapely.intersects_xy(grow(room.polygon, -radius), pose.x, pose.y):
        return False
    before = room.locations[: room.locations.index(location)]
    return not any(shapely.contains_xy(grow(other.polygon, radius), pose.x, pose.y) for other in before)
