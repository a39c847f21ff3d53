# SPDX-License-Identifier: Apache-2.0
"""Put the red peg into the hole of the blue block, with any arm that has a gripper."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, quats_rotate
from simwright.tasks.parts import BLUE, RED, add_cylinder, add_socket
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


class PegInsertOptions(TableOptions):
    """Peg and block; lengths [m], masses [kg]."""

    peg_radius: Positive = 0.012
    peg_length: Positive = 0.10
    peg_mass: Positive = 0.05
    clearance: Positive = 0.004
    block_half: Positive = 0.05
    block_height: Positive = 0.05
    peg_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.20, 0.34))
    block_spawn_xy_range: tuple[Pair, Pair] = ((-0.15, 0.15), (0.20, 0.34))
    min_separation: Annotated[Number, Field(ge=0)] = 0.14
    depth: Positive = 0.03
    """How deep the peg has to be in the block."""


def add(spec: MjSpec, options: PegInsertOptions) -> None:
    """A table, a standing peg, and a block with a square hole made of four walls."""
    add_table_world(spec, options)
    peg = spec.worldbody.add_body(name="peg", pos=[0, 0, 1])
    peg.add_freejoint(name="peg")
    size = (options.peg_radius, 0.5 * options.peg_length)
    add_cylinder(peg, "peg_geom", (0, 0, 0), size, RED, mass=options.peg_mass)
    hole = options.peg_radius + options.clearance
    add_socket(spec, "block", hole=hole, half=options.block_half, height=options.block_height, color=BLUE)


def sample(rng: np.random.Generator, options: PegInsertOptions) -> Layout:
    """Both on the table, apart."""
    peg, block = draw_apart(
        rng, options.peg_spawn_xy_range, options.block_spawn_xy_range, options.min_separation
    )
    top = options.table_top_z
    return {"peg": np.array([*peg, top + 0.5 * options.peg_length]), "block": np.array([*block, top])}


def judge(moment: TaskState, options: PegInsertOptions) -> Verdict:
    """The lower end of the peg is deep enough in the hole."""
    peg, block = moment.objects["peg"], moment.layout["block"]
    axis = quats_rotate(peg[..., 3:], (0.0, 0.0, 1.0))
    # the peg may be turned upside down: either end may go in
    downward = np.where(axis[..., 2:] > 0.0, -axis, axis)
    low = peg[..., :3] + 0.5 * options.peg_length * downward
    aside = measure_distance(low[..., :2], block[..., :2])
    # the hole is square: towards its corners there is more room
    inside = aside <= options.peg_radius + 2.0 * options.clearance
    depth = np.where(inside, block[..., 2] + options.block_height - low[..., 2], 0.0)
    success = inside & (depth >= options.depth)
    near = np.exp(-4.0 * measure_distance(moment.tool[..., :3], peg[..., :3]))
    raised = low[..., 2] > options.table_top_z + 0.01
    partly = 0.25 * near + 0.3 * raised * (0.5 + 0.5 * np.exp(-8.0 * aside))
    fell = peg[..., 2] < options.table_top_z - 0.1
    return Verdict(success, np.where(success, 1.0, partly), fell, {"aside": aside, "depth": depth})


def list_corners(options: PegInsertOptions) -> Array:
    """Where peg and block may be."""
    height = options.table_top_z + 0.5 * options.peg_length
    return list_range_corners((options.peg_spawn_xy_range, options.block_spawn_xy_range), height)


SCENE = make_table_scene(
    name="peg_insert",
    title="put a peg into a hole",
    instruction="insert the red peg into the hole of the blue block",
    done="the peg is deep enough in the hole",
    options=PegInsertOptions,
    add=add,
    sample=sample,
    judge=judge,
    objects=("peg",),
    fixtures=("block",),
    max_steps=500,
    corners=list_corners,
    regions=("peg_spawn_xy_range", "block_spawn_xy_range"),
    grasp="peg",
)
