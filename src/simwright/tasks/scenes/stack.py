# SPDX-License-Identifier: Apache-2.0
"""Stack the red cube on the blue one, with any arm that has a gripper."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array
from simwright.tasks.parts import BLUE, RED, add_free_box
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

# a cube that is slower lies still [m/s, rad/s]
_STILL = 0.05


class StackOptions(TableOptions):
    """Two cubes; lengths [m], masses [kg]."""

    cube_half: Positive = 0.02
    cube_mass: Positive = 0.05
    cube_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.20, 0.34))
    min_separation: Annotated[Number, Field(ge=0)] = 0.10
    tolerance: Positive = 0.008
    """How far the upper cube's height may be from that of a stack."""


def add(spec: MjSpec, options: StackOptions) -> None:
    """A table and two cubes."""
    add_table_world(spec, options)
    add_free_box(spec, "upper", [options.cube_half] * 3, options.cube_mass, RED)
    add_free_box(spec, "lower", [options.cube_half] * 3, options.cube_mass, BLUE)


def sample(rng: np.random.Generator, options: StackOptions) -> Layout:
    """Both on the table, apart."""
    region = options.cube_spawn_xy_range
    upper, lower = draw_apart(rng, region, region, options.min_separation)
    height = options.table_top_z + options.cube_half
    return {"upper": np.array([*upper, height]), "lower": np.array([*lower, height])}


def judge(moment: TaskState, options: StackOptions) -> Verdict:
    """The red cube rests on the blue one, which is still on the table."""
    upper, lower, speed = moment.objects["upper"], moment.objects["lower"], moment.speeds["upper"]
    half, top = options.cube_half, options.table_top_z
    aside = measure_distance(upper[..., :2], lower[..., :2])
    rise = upper[..., 2] - lower[..., 2] - 2.0 * half
    grounded = np.abs(lower[..., 2] - top - half) < options.tolerance
    success = grounded & (aside < half) & (np.abs(rise) < options.tolerance) & (speed < _STILL)
    lifted = np.clip((upper[..., 2] - top - half) / (2.0 * half), 0.0, 1.0)
    near = np.exp(-4.0 * measure_distance(moment.tool[..., :3], upper[..., :3]))
    partly = 0.25 * near + 0.25 * lifted + 0.4 * lifted * np.exp(-8.0 * aside)
    fell = np.minimum(upper[..., 2], lower[..., 2]) < top - 0.1
    details = {"aside": aside, "rise": rise, "speed": speed}
    return Verdict(success, np.where(success, 1.0, partly), fell, details)


def list_corners(options: StackOptions) -> Array:
    """Where the cubes may be."""
    return list_range_corners((options.cube_spawn_xy_range,), options.table_top_z + options.cube_half)


SCENE = make_table_scene(
    name="stack",
    title="stack two cubes",
    instruction="stack the red cube on the blue cube",
    done="the red cube rests on the blue one",
    options=StackOptions,
    add=add,
    sample=sample,
    judge=judge,
    objects=("upper", "lower"),
    max_steps=400,
    corners=list_corners,
    regions=("cube_spawn_xy_range",),
    grasp="upper",
)
