# SPDX-License-Identifier: Apache-2.0
"""Pull the drawer open by its handle, with any arm."""

from __future__ import annotations

import numpy as np

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, quat_from_axis_angle, quats_rotate
from simwright.tasks.parts import BLUE, GREY, OAK, RED, add_block, add_slide
from simwright.tasks.scene import Layout, TaskState, Verdict, measure_distance
from simwright.tasks.scenes.tabletop import (
    Pair,
    Positive,
    TableOptions,
    Triple,
    add_table_world,
    draw,
    list_range_corners,
    make_table_scene,
)
from simwright.tasks.specs import MjSpec

_WALL = 0.008
HANDLE = 0.035
"""How far the handle stands out [m]."""


class DrawerOptions(TableOptions):
    """A cabinet with one drawer that opens towards the robot; lengths [m]."""

    cabinet_half: tuple[Positive, Positive, Positive] = (0.10, 0.09, 0.06)
    cabinet_spawn_xy_range: tuple[Pair, Pair] = ((-0.08, 0.08), (0.40, 0.46))
    side_camera_pos: Triple = (0.75, -0.10, 0.55)
    travel: Positive = 0.12
    opened: Positive = 0.08
    """How far it has to be open."""
    friction: Number = 0.4
    """Dry friction of the slide [N]."""


def add(spec: MjSpec, options: DrawerOptions) -> None:
    """A table, a cabinet of four walls, and a drawer on a slide with a handle."""
    add_table_world(spec, options)
    x, y, z = options.cabinet_half
    cabinet = spec.worldbody.add_body(name="cabinet", pos=[0, 0, options.table_top_z], mocap=True)
    add_block(cabinet, "cabinet_bottom", (0, 0, 0.5 * _WALL), (x, y, 0.5 * _WALL), OAK)
    add_block(cabinet, "cabinet_top", (0, 0, 2.0 * z - 0.5 * _WALL), (x, y, 0.5 * _WALL), OAK)
    for name, side in (("left", -1.0), ("right", 1.0)):
        add_block(
            cabinet, f"cabinet_{name}", (side * (x - 0.5 * _WALL), 0, z), (0.5 * _WALL, y, z - _WALL), OAK
        )
    add_block(cabinet, "cabinet_back", (0, y - 0.5 * _WALL, z), (x - _WALL, 0.5 * _WALL, z - _WALL), OAK)
    drawer = cabinet.add_body(name="drawer", pos=[0, 0, z])
    add_slide(drawer, "drawer", (0, -1, 0), options.travel, damping=2.0, friction=options.friction)
    inner = (x - 2.0 * _WALL, y - _WALL, z - 2.0 * _WALL)
    add_block(drawer, "drawer_floor", (0, 0, -inner[2]), (inner[0], inner[1], 0.5 * _WALL), BLUE, mass=0.2)
    add_block(drawer, "drawer_front", (0, -y - 0.6 * _WALL, 0), (x, 0.5 * _WALL, z - _WALL), BLUE, mass=0.1)
    add_block(drawer, "drawer_handle", (0, -y - HANDLE, 0), (0.04, 0.006, 0.006), RED, mass=0.02)
    for name, side in (("left", -1.0), ("right", 1.0)):
        add_block(
            drawer,
            f"drawer_stem_{name}",
            (side * 0.034, -y - 0.018, 0),
            (0.006, 0.017, 0.006),
            GREY,
            mass=0.01,
        )


def sample(rng: np.random.Generator, options: DrawerOptions) -> Layout:
    """Where the cabinet stands, turned a little."""
    x, y = draw(rng, options.cabinet_spawn_xy_range)
    yaw = rng.uniform(-0.2, 0.2)
    return {"cabinet": np.array([x, y, options.table_top_z, *quat_from_axis_angle((0, 0, 1), yaw)])}


def judge(moment: TaskState, options: DrawerOptions) -> Verdict:
    """The drawer is open far enough."""
    opening, cabinet = moment.joints["drawer"], moment.layout["cabinet"]
    out = options.cabinet_half[1] + HANDLE + opening
    local = np.stack([np.zeros_like(out), -out, np.full_like(out, options.cabinet_half[2])], axis=-1)
    handle = cabinet[..., :3] + quats_rotate(cabinet[..., 3:], local)
    # some reward for coming near, so that learning finds the handle
    near = np.exp(-4.0 * measure_distance(moment.tool[..., :3], handle))
    success = opening >= options.opened
    partly = 0.3 * near + 0.6 * np.maximum(0.0, opening) / options.opened
    return Verdict(success, np.where(success, 1.0, partly), np.zeros_like(success), {"opening": opening})


def list_corners(options: DrawerOptions) -> Array:
    """Where the handle may be, closed and open."""
    (x0, x1), (y0, y1) = options.cabinet_spawn_xy_range
    front = options.cabinet_half[1] + HANDLE
    region = ((x0, x1), (y0 - front - options.travel, y1 - front))
    return list_range_corners((region,), options.table_top_z + options.cabinet_half[2])


SCENE = make_table_scene(
    name="drawer",
    title="open a drawer",
    instruction="pull the drawer open by its handle",
    done="the drawer is open far enough",
    options=DrawerOptions,
    add=add,
    sample=sample,
    judge=judge,
    fixtures=("cabinet",),
    joints=("drawer",),
    max_steps=400,
    corners=list_corners,
    regions=("cabinet_spawn_xy_range",),
)
