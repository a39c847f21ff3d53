# SPDX-License-Identifier: Apache-2.0
"""Push the red cube onto the green mark, with any arm."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, Pose
from simwright.tasks.parts import (
    GREEN,
    RED,
    add_camera,
    add_disc,
    add_free_box,
    add_ground,
    add_light,
    add_table,
    place_free,
)
from simwright.tasks.scene import Layout, Moment, Needs, SceneOptions, TaskScene, Verdict, stand

Pair = tuple[Number, Number]
Triple = tuple[Number, Number, Number]
Positive = Annotated[Number, Field(gt=0)]
_TRIES = 200
_GROUND_BELOW = 0.30
_LAMP_ABOVE = 1.0


class Options(SceneOptions):
    """Everything about the task that may be changed; lengths [m], masses [kg], angles [deg]."""

    table_size_xy: Pair = (0.80, 0.80)
    table_top_z: Number = 0.0
    table_thickness: Positive = 0.02
    table_center_xy: Pair = (0.0, 0.30)
    robot_base_xyz: Triple = (0.0, 0.0, 0.0)
    robot_base_yaw_deg: Number | None = Field(None, description="default: so that the robot faces the task")
    cube_size: tuple[Positive, Positive, Positive] = (0.025, 0.025, 0.025)
    cube_mass: Positive = 0.05
    cube_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.18, 0.30))
    goal_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.32, 0.44))
    goal_radius: Positive = 0.05
    goal_min_separation: Annotated[Number, Field(ge=0)] = 0.12
    off_table_z_tol: Positive = 0.04
    top_camera_pos: Triple = (0.0, 0.30, 0.90)
    top_camera_fovy: Positive = 58.0
    front_camera_pos: Triple = (0.0, -0.45, 0.45)
    front_camera_fovy: Positive = 58.0


def add(spec: Any, options: Options) -> None:
    """Table, floor, cube, goal, two cameras and a lamp."""
    center = (*options.table_center_xy, options.table_top_z)
    add_table(spec, center, options.table_size_xy, options.table_top_z, options.table_thickness)
    add_ground(spec, options.table_top_z - options.table_thickness - _GROUND_BELOW)
    add_free_box(spec, "cube", options.cube_size, options.cube_mass, RED)
    add_disc(spec, "goal", options.goal_radius, GREEN)
    add_camera(spec, "top", options.top_camera_pos, center, options.top_camera_fovy)
    add_camera(spec, "front", options.front_camera_pos, center, options.front_camera_fovy)
    add_light(spec, (center[0], center[1], options.table_top_z + _LAMP_ABOVE))


def sample(rng: np.random.Generator, options: Options) -> Layout:
    """Cube and goal, apart from each other."""
    cube = _draw(rng, options.cube_spawn_xy_range)
    goal = _draw(rng, options.goal_spawn_xy_range)
    for _ in range(_TRIES):
        if np.linalg.norm(goal - cube) >= options.goal_min_separation:
            break
        goal = _draw(rng, options.goal_spawn_xy_range)
    top = options.table_top_z
    return {
        "cube": np.array([*cube, top + options.cube_size[2]]),
        "goal": np.array([*goal, top + 0.001]),
    }


def place(model: Any, data: Any, layout: Layout, _: Options) -> None:
    """Put them there."""
    place_free(model, data, "cube", layout["cube"])
    model.site_pos[model.site("goal").id] = layout["goal"]


def judge(moment: Moment, options: Options) -> Verdict:
    """The cube lies on the table, within the mark."""
    cube = np.asarray(moment.data.body("cube").xpos)
    height = abs(float(cube[2]) - options.table_top_z - options.cube_size[2])
    distance = float(np.linalg.norm(cube[:2] - moment.layout["goal"][:2]))
    start = float(np.linalg.norm(moment.layout["cube"][:2] - moment.layout["goal"][:2]))
    on_table = height <= options.off_table_z_tol
    success = on_table and distance <= options.goal_radius
    score = 1.0 if success else max(0.0, 1.0 - distance / max(start, options.goal_radius)) * on_table
    fell = float(cube[2]) < options.table_top_z - options.table_thickness - 0.1
    return Verdict(success, score, failed=fell, details={"distance": distance, "height": height})


def find_base(options: Options, forward: float) -> Pose:
    """Behind the near edge of the table, facing it."""
    return stand(
        options.robot_base_xyz, options.robot_base_yaw_deg, list_corners(options).mean(axis=0), forward
    )


def list_corners(options: Options) -> Array:
    """The corners of where cube and goal may be, at the height of the cube's middle."""
    height = options.table_top_z + options.cube_size[2]
    ranges = (options.cube_spawn_xy_range, options.goal_spawn_xy_range)
    return np.array([[x, y, height] for xs, ys in ranges for x in xs for y in ys])


def draw_in(options: Options, factor: float, base: Pose) -> Options:
    """The same task at ``factor`` of the distance from the base."""

    def pull(ranges: tuple[Pair, Pair]) -> tuple[Pair, Pair]:
        xs, ys = (
            tuple(center + factor * (value - center) for value in values)
            for values, center in zip(ranges, base.p[:2].tolist(), strict=True)
        )
        return (xs[0], xs[1]), (ys[0], ys[1])

    return options.model_copy(
        update={
            "cube_spawn_xy_range": pull(options.cube_spawn_xy_range),
            "goal_spawn_xy_range": pull(options.goal_spawn_xy_range),
            "goal_min_separation": min(options.goal_min_separation, options.goal_min_separation * factor),
        }
    )


def _draw(rng: np.random.Generator, ranges: tuple[Pair, Pair]) -> Array:
    return np.array([rng.uniform(low, high) for low, high in ranges])


SCENE = TaskScene(
    name="tabletop_push",
    title="push a cube onto a mark",
    instruction="push the red cube onto the green goal marker",
    options=Options,
    needs=lambda options: Needs(
        base="fixed", tool=True, reach=float(np.min(np.linalg.norm(list_corners(options), axis=1)))
    ),
    add=add,
    sample=sample,
    place=place,
    judge=judge,
    objects=("cube",),
    marks=("goal",),
    base=find_base,
    max_steps=300,
    workspace=list_corners,
    scale=draw_in,
)
