"""PyRoboSim's side of the comparison, run by the interpreter that has it: WORLD.yaml, poses and pairs as JSON."""

from __future__ import annotations

import json
import logging
import os
import sys

INSIDE = 1e-8
"""Beside the corner of a cell that stands for it, so that rounding does not choose another one [m]."""


def main() -> None:
    logging.disable(logging.CRITICAL)
    from pyrobosim.core.yaml_utils import WorldYamlLoader
    from pyrobosim.utils.pose import Pose

    robot = WorldYamlLoader().from_file(sys.argv[1]).robots[0]
    scans, lengths, boxes = [], [], []
    for x, y, yaw in json.loads(sys.argv[2]):
        robot.set_pose(Pose(x=x, y=y, yaw=yaw))
        robot.sensors["lidar"].update()
        scans.append([float(value) for value in robot.sensors["lidar"].get_measurement()])
    planner = robot.path_planner
    for start, goal in json.loads(sys.argv[3]):
        corners = [planner.grid.grid_to_world(planner.grid.world_to_grid(point)) for point in (start, goal)]
        ends = [(x + INSIDE, y + INSIDE) for x, y in corners]
        path = planner.plan(*(Pose(x=x, y=y) for x, y in ends))
        lengths.append([*ends, path.length])
    for item in robot.world.objects:
        grasps = robot.grasp_generator.generate(
            item.cuboid_dims, item.get_grasp_cuboid_pose(), Pose(x=-1.0, y=0.1), side_grasps=True
        )
        boxes.append([item.name, sorted(item.cuboid_dims), len(grasps)])
    sys.stdout.write(json.dumps({"scans": scans, "paths": lengths, "boxes": boxes}))
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
