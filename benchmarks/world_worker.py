# SPDX-License-Identifier: Apache-2.0
"""PyRoboSim's side of the world benchmark, run by the interpreter that has it: CPU seconds as JSON.

python world_worker.py TASK REPEAT WORLD.yaml      TASK: load, grid or graph
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time


def main() -> None:
    task, repeat, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    logging.disable(logging.CRITICAL)
    import numpy as np
    from pyrobosim.core.yaml_utils import WorldYamlLoader
    from pyrobosim.navigation.occupancy_grid import OccupancyGrid
    from pyrobosim.navigation.world_graph import WorldGraphPlanner

    def load() -> object:
        np.random.seed(0)  # noqa: NPY002 - the generator that the peer draws from
        return WorldYamlLoader().from_file(file)

    world = None if task == "load" else load()

    def grid() -> object:
        return OccupancyGrid.from_world(world, resolution=0.05, inflation_radius=0.1)

    def graph() -> object:
        planner = WorldGraphPlanner()
        planner.world = world
        planner.reset()
        return planner.graph

    run = {"load": load, "grid": grid, "graph": graph}[task]
    best, result = float("inf"), None
    for _ in range(repeat):
        start = time.process_time()
        result = run()
        best = min(best, time.process_time() - start)
    size = {
        "load": lambda r: len(r.objects),
        "grid": lambda r: int(r.data.size),
        "graph": lambda r: len(r.edges),
    }[task](result)
    sys.stdout.write(json.dumps({"seconds": best, "size": size}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
