# SPDX-License-Identifier: Apache-2.0
"""A probabilistic road map: points drawn once in the free space, joined where a straight way is free."""

from __future__ import annotations

import numpy as np

from simwright.worlds.planning.draws import FreePoints
from simwright.worlds.planning.road_map import RoadMapPlanner
from simwright.worlds.planning.shortest import join_pairs
from simwright.worlds.planning.tree import index_points
from simwright.worlds.world import Geometry


class PrmPlanner(RoadMapPlanner):
    """``max_nodes`` points, joined up to ``max_connection_dist`` [m]; drawn anew when a door changes."""

    def prepare(self, space: Geometry) -> None:
        """Draw the points and join them."""
        draws = FreePoints(space, np.random.Generator(np.random.PCG64(self.seed)))
        drawn = (draws.draw() for _ in range(int(self.values["max_nodes"])))
        self.points = np.array([point for point in drawn if point is not None]).reshape(-1, 2)
        pairs = np.empty((0, 2), dtype=np.int64)
        if len(self.points):
            pairs = index_points(self.points).query_pairs(
                float(self.values["max_connection_dist"]), output_type="ndarray"
            )
        pairs = pairs[np.lexsort(pairs.T[::-1])]
        starts, ends = self.points[pairs[:, 0]], self.points[pairs[:, 1]]
        free = self.find_free(space, starts, ends)
        lengths = np.hypot(*(ends - starts).T)[free]
        self.neighbors = join_pairs(len(self.points), pairs[free].tolist(), lengths.tolist())
