# SPDX-License-Identifier: Apache-2.0
"""Planning on the world graph: navigation poses of rooms and surfaces, and way points of hallways."""

from __future__ import annotations

import numpy as np

from simwright.worlds.graph import build_graph
from simwright.worlds.planning.road_map import RoadMapPlanner
from simwright.worlds.world import Geometry


class WorldGraphPlanner(RoadMapPlanner):
    """Needs no draws; only as good as the navigation poses are."""

    def prepare(self, space: Geometry) -> None:
        """Build the graph in the space that the robot knows."""
        limit = self.values["max_connection_dist"]
        step = float(self.values["collision_check_step_dist"])
        graph = build_graph(self.world, max_distance=limit, step=step, space=space)
        self.points = np.array([node.pose.xy for node in graph.nodes], dtype=np.float64).reshape(-1, 2)
        self.neighbors = graph.list_neighbors()
