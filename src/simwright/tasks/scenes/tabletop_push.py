# SPDX-License-Identifier: Apache-2.0
"""Push the red cube onto the green mark, with any arm."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array
from simwright.tasks.parts import GREEN, RED, add_disc, add_free_box
from simwright.tasks.scene import Layout, TaskState, Verdict, measure_distance
from simwright.tasks.scenes.tabletop import (
    Pair,
    Positive,
    TableOptions,
    add_table_world,
    draw_apart,
    list_range_corners,
    make_table_scene,
)
from simwright.tasks.specs import MjSpec

# how far behind the cube's corner a tool comes down [m]
_BEHIND = 0.05
# how high it travels over the cube [m]
_ABOVE = 0.08


class PushOptions(TableOptions):
    """Cube and goal; lengths [m], masses [kg]."""

    cube_size: tuple[Positive, Positive, Positive] = Field((0.025, 0.025, 0.025), description="half extents")
    cube_mass: Positive = 0.05
    cube_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.18, 0.30))
    goal_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.32, 0.44))
    goal_radius: Positive = 0.05
    goal_min_separation: Annotated[Number, Field(ge=0)] = 0.12
    off_table_z_tol: Positive = 0.04


def add(spec: MjSpec, options: PushOptions) -> None:
    """Table, floor, cube, goal, two cameras and a lamp."""
    add_table_world(spec, options)
    add_free_box(spec, "cube", options.cube_size, options.cube_mass, RED)
    add_disc(spec, "goal", options.goal_radius, GREEN)


def sample(rng: np.random.Generator, options: PushOptions) -> Layout:
    """Cube and goal, apart from each other."""
    cube, goal = draw_apart(
        rng, options.cube_spawn_xy_range, options.goal_spawn_xy_range, options.goal_min_separation
    )
    top = options.table_top_z
    return {
        "cube": np.array([*cube, top + options.cube_size[2]]),
        "goal": np.array([*goal, top + 0.001]),
    }


def judge(moment: TaskState, options: PushOptions) -> Verdict:
    """The cube lies on the table, within the mark."""
    cube, goal, start = moment.objects["cube"], moment.layout["goal"], moment.layout["cube"]
    height = np.abs(cube[..., 2] - options.table_top_z - options.cube_size[2])
    distance = measure_distance(cube[..., :2], goal[..., :2])
    on_table = height <= options.off_table_z_tol
    success = on_table & (distance <= options.goal_radius)
    # the way at the start; a cube that begins on the mark would divide by zero
    first = np.maximum(measure_distance(start[..., :2], goal[..., :2]), options.goal_radius)
    score = np.where(success, 1.0, np.maximum(0.0, 1.0 - distance / first) * on_table)
    fell = cube[..., 2] < options.table_top_z - options.table_thickness - 0.1
    return Verdict(success, score, fell, {"distance": distance, "height": height})


def list_corners(options: PushOptions) -> Array:
    """Where cube and goal may be, at the height of the cube's middle."""
    height = options.table_top_z + options.cube_size[2]
    return list_range_corners((options.cube_spawn_xy_range, options.goal_spawn_xy_range), height)


def list_work(options: PushOptions) -> Array:
    """Where the tool comes down: around the cube but for its far side, and where it leaves the cube, and above."""
    room = float(np.hypot(*options.cube_size[:2])) + _BEHIND
    (x0, x1), (y0, y1) = options.cube_spawn_xy_range
    height = options.table_top_z + options.cube_size[2]
    # the middle too: right before the base an arm is folded most
    around = [[x, y, height] for x in (x0 - room, 0.5 * (x0 + x1), x1 + room) for y in (y0 - room, y1)]
    low = np.array([*around, *list_range_corners((options.goal_spawn_xy_range,), height)])
    return np.concatenate([low, low + np.array([0.0, 0.0, _ABOVE])])


SCENE = make_table_scene(
    name="tabletop_push",
    title="push a cube onto a mark",
    instruction="push the red cube onto the green goal marker",
    done="the cube lies on the table within the green mark",
    options=PushOptions,
    add=add,
    sample=sample,
    judge=judge,
    objects=("cube",),
    marks=("goal",),
    max_steps=300,
    corners=list_corners,
    regions=("cube_spawn_xy_range", "goal_spawn_xy_range"),
    shrink=("goal_min_separation",),
    work=list_work,
)
