# SPDX-License-Identifier: Apache-2.0
"""Pick the red cube up and put it into the blue tray, with any arm that has a gripper."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array
from simwright.tasks.parts import BLUE, RED, add_block, add_free_box
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

_WALL = 0.004


# a cube that is slower lies still [m/s, rad/s]
_STILL = 0.05


class PickPlaceOptions(TableOptions):
    """Cube and tray; lengths [m], masses [kg]."""

    cube_half: Positive = 0.02
    cube_mass: Positive = 0.05
    cube_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.20, 0.34))
    tray_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.20, 0.34))
    tray_half: Positive = 0.06
    tray_height: Positive = 0.02
    min_separation: Annotated[Number, Field(ge=0)] = 0.14
    lift_height: Positive = 0.03


def add(spec: MjSpec, options: PickPlaceOptions) -> None:
    """A table, a cube and a tray: a floor and four walls that move together before an episode, not during it."""
    add_table_world(spec, options)
    half, height = options.tray_half, options.tray_height
    tray = spec.worldbody.add_body(name="tray", pos=[0, 0, options.table_top_z], mocap=True)
    add_block(tray, "tray_floor", (0, 0, 0.5 * _WALL), (half, half, 0.5 * _WALL), BLUE)
    for name, x, y in (("left", -1, 0), ("right", 1, 0), ("near", 0, -1), ("far", 0, 1)):
        size = (_WALL if x else half, half if x else _WALL, 0.5 * height)
        add_block(tray, f"tray_{name}", (x * half, y * half, 0.5 * height), size, BLUE)
    add_free_box(spec, "cube", [options.cube_half] * 3, options.cube_mass, RED)


def sample(rng: np.random.Generator, options: PickPlaceOptions) -> Layout:
    """Both on the table, apart."""
    cube, tray = draw_apart(
        rng, options.cube_spawn_xy_range, options.tray_spawn_xy_range, options.min_separation
    )
    top = options.table_top_z
    return {"cube": np.array([*cube, top + options.cube_half]), "tray": np.array([*tray, top])}


def judge(moment: TaskState, options: PickPlaceOptions) -> Verdict:
    """The cube lies still in the tray."""
    cube, tray, speed = moment.objects["cube"], moment.layout["tray"], moment.speeds["cube"]
    inside = np.all(np.abs(cube[..., :2] - tray[..., :2]) <= options.tray_half, axis=-1)
    low = cube[..., 2] <= tray[..., 2] + options.tray_height + options.cube_half
    success = inside & low & (speed < _STILL)
    rise = cube[..., 2] - options.table_top_z - options.cube_half
    lifted = np.clip(rise / options.lift_height, 0.0, 1.0)
    near = np.exp(-4.0 * measure_distance(moment.tool[..., :3], cube[..., :3]))
    distance = measure_distance(cube[..., :2], tray[..., :2])
    partly = 0.25 * near + 0.25 * lifted + 0.4 * lifted * np.exp(-4.0 * distance)
    fell = cube[..., 2] < options.table_top_z - 0.1
    details = {"distance": distance, "lifted": lifted, "speed": speed}
    return Verdict(success, np.where(success, 1.0, partly), fell, details)


def list_corners(options: PickPlaceOptions) -> Array:
    """Where cube and tray may be."""
    height = options.table_top_z + options.cube_half
    return list_range_corners((options.cube_spawn_xy_range, options.tray_spawn_xy_range), height)


SCENE = make_table_scene(
    name="pick_place",
    title="put a cube into a tray",
    instruction="pick the red cube up and put it into the blue tray",
    done="the cube lies still in the tray",
    options=PickPlaceOptions,
    add=add,
    sample=sample,
    judge=judge,
    objects=("cube",),
    fixtures=("tray",),
    max_steps=400,
    corners=list_corners,
    regions=("cube_spawn_xy_range", "tray_spawn_xy_range"),
    grasp="cube",
)
