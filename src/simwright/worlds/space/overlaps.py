# SPDX-License-Identifier: Apache-2.0
"""Objects that would fill the space of others, on surfaces that the plane does not compare."""

from __future__ import annotations

import numpy as np
import shapely

from simwright.core.diag import Reporter
from simwright.model.scene import Scene
from simwright.worlds.space import messages
from simwright.worlds.world import World

_TOUCH = 1e-4


def report_overlaps(world: World, scene: Scene, reporter: Reporter) -> None:
    """Report pairs of objects that overlap in space."""
    placed = {placement.name for placement in scene.placements}
    items = [item for item in world.objects if item.name in placed]
    if len(items) < 2:
        return
    outlines = np.array([item.polygon for item in items], dtype=object)
    first, second = shapely.STRtree(outlines).query(outlines, predicate="intersects")
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        if a >= b:
            continue
        one, other = items[a], items[b]
        apart = max(one.pose.z, other.pose.z) - min(one.pose.z + one.height, other.pose.z + other.height)
        if apart < -_TOUCH and outlines[a].intersection(outlines[b]).area > _TOUCH**2:
            reporter.report(messages.THING_TIGHT, one.where, name=one.name, other=other.name)
