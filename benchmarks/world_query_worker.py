# SPDX-License-Identifier: Apache-2.0
"""PyRoboSim's side of planning and sensing, run by the interpreter that has it: CPU seconds as JSON.

python world_query_worker.py TASK REPEAT WORLD.yaml QUERIES      TASK: a planner of world_queries, or lidar
"""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from pathlib import Path


def main() -> None:
    task, repeat, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    queries = json.loads(sys.argv[4])
    logging.disable(logging.CRITICAL)
    sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
    import numpy as np
    from pyrobosim.core.robot import Robot
    from pyrobosim.core.yaml_utils import WorldYamlLoader
    from pyrobosim.navigation.a_star import AStarPlanner
    from pyrobosim.navigation.prm import PRMPlanner
    from pyrobosim.navigation.rrt import RRTPlanner
    from pyrobosim.sensors.lidar import Lidar2D
    from pyrobosim.utils.pose import Pose

    from benchmarks.world_queries import LIDAR, PLANNERS, RADIUS

    np.random.seed(0)  # noqa: NPY002 - the generator that the peer draws from
    world = WorldYamlLoader().from_file(file)
    robot = Robot(
        name="bench", radius=RADIUS, sensors={"lidar": Lidar2D(**LIDAR)}, start_sensor_threads=False
    )
    world.add_robot(robot, pose=Pose(*queries[0][0]))
    if task in PLANNERS:
        kind, options = PLANNERS[task]
        planner = {"astar": AStarPlanner, "rrt": RRTPlanner, "prm": PRMPlanner}[kind](**options)
        robot.set_path_planner(planner)
        planner.reset()

    def plan() -> int:
        return sum(planner.plan(Pose(*start), Pose(*goal)).num_poses > 0 for start, goal in queries)

    def scan() -> int:
        for start, _ in queries:
            robot.set_pose(Pose(*start))
            robot.sensors["lidar"].update()
            robot.sensors["lidar"].get_measurement()
        return len(queries)

    best, size = float("inf"), 0
    for _ in range(repeat):
        begin = time.process_time()
        size = scan() if task == "lidar" else plan()
        best = min(best, time.process_time() - begin)
    sys.stdout.write(json.dumps({"seconds": best, "size": size}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
