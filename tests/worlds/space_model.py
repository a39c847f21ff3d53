# SPDX-License-Identifier: Apache-2.0
"""A world as MuJoCo compiles it, asked with rays: what is solid, what is floor, how far a beam goes."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import shapely

from simwright.app.world_build import build_world
from simwright.core.diag import Reporter
from simwright.worlds.grid import make_grid
from simwright.worlds.space.machines import find_lidar_height
from simwright.worlds.world import World

SEEN, FLOOR, STILL, MOVING = 2, 3, 4, 5
EDGE = 1e-3
SIDESTEP = (1.3e-5, 0.7e-5)
"""A ray that runs along the seam of two meshes may miss both; cells are further from any edge than this [m]."""


class SpaceModel:
    """A compiled world; geoms are sorted into floors, what stands still, and what moves."""

    def __init__(self, world: World, folder: Path) -> None:
        self.world = world
        self.reporter = Reporter()
        built = build_world(world, folder, ["mjcf"], reporter=self.reporter)
        self.file = built.entries["mjcf"]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            self.model = mujoco.MjModel.from_xml_path(str(self.file))
        self.data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, self.data)
        self.height = find_lidar_height(world)
        for number in range(self.model.ngeom):
            moves = self.model.geom_bodyid[number] != 0
            name = self.model.geom(number).name
            floor = name.startswith("building::") and "_floor" in name
            self.model.geom_group[number] = MOVING if moves else FLOOR if floor else STILL
            # the plate below the building is seen and never touched
            if name == "building::ground":
                self.model.geom_group[number] = SEEN

    def cast(self, point: Any, way: Any, group: int) -> float:
        """Distance to what is hit [m], -1 for nothing."""
        groups = np.zeros(6, dtype=np.uint8)
        groups[group] = 1
        hit = np.array([-1], dtype=np.int32)
        start, way = np.asarray(point, dtype=float), np.asarray(way, dtype=float)
        return float(mujoco.mj_ray(self.model, self.data, start, way, groups, 1, -1, hit))

    def find_occupied(self, points: Any) -> Any:
        """Which points of the plane are solid at the height of the lidar, or have no floor."""
        down = np.array((0.0, 0.0, -1.0))
        found = []
        for x, y in points:
            at = (x + SIDESTEP[0], y + SIDESTEP[1], self.height)
            found.append(self.cast(at, down, STILL) >= 0.0 or self.cast(at, down, FLOOR) < 0.0)
        return np.array(found)

    def settle(self, seconds: float) -> dict[str, float]:
        """How far each free body goes in a time [m]."""
        before = self.data.xpos.copy()
        while self.data.time < seconds:
            mujoco.mj_step(self.model, self.data)
        moved = np.linalg.norm(self.data.xpos - before, axis=1)
        return {self.model.body(i).name: float(moved[i]) for i in range(1, self.model.nbody)}


def list_cells(world: World, resolution: float) -> tuple[Any, Any]:
    """Cells of the grid that are more than 1 mm from an edge: their points, and whether they are occupied."""
    grid = make_grid(world, resolution)
    rows, columns = (index.ravel() for index in np.indices(grid.shape))
    x, y = grid.to_point(rows, columns)  # type: ignore[arg-type] # arrays in, arrays out
    edge = world.open_space.boundary
    shapely.prepare(edge)
    away = shapely.distance(edge, shapely.points(x, y)) > EDGE
    return np.column_stack((x, y))[away], grid.occupied.ravel()[away]
