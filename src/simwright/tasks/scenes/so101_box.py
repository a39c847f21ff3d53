# SPDX-License-Identifier: Apache-2.0
"""Put a tube into the slot of a block, inside a box: a scene that is made for one robot, the SO-101.

Everything that depends on the robot comes from its manifest: the body that is put where the base stands
(``base_frame``), the tool, the gripper and the camera at the wrist.  Another robot is refused before anything is built.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, Pose, quats_rotate
from simwright.tasks.parts import (
    BLUE,
    RED,
    add_block,
    add_camera,
    add_cylinder,
    add_ground,
    add_light,
    add_socket,
)
from simwright.tasks.scene import (
    Layout,
    RobotNeeds,
    SceneOptions,
    TaskScene,
    TaskState,
    Verdict,
    measure_distance,
    place_base,
)
from simwright.tasks.scenes.tabletop import Pair, Positive, draw_apart, list_range_corners
from simwright.tasks.specs import MjSpec

ROBOT = "so101_follower"
_GREY = (0.75, 0.75, 0.78, 1.0)
_WALL = 0.005


class BoxOptions(SceneOptions):
    """The box, tube and block, and when the tube is in; lengths [m], masses [kg]."""

    box_size: tuple[Positive, Positive, Positive] = (1.00, 0.615, 0.75)
    tube_radius: Positive = 0.010
    tube_length: Positive = 0.08
    tube_mass: Positive = 0.02
    clearance: Positive = 0.002
    block_half: Positive = 0.03
    block_height: Positive = 0.04
    tube_spawn_xy_range: tuple[Pair, Pair] = ((-0.10, 0.10), (0.00, 0.06))
    block_spawn_xy_range: tuple[Pair, Pair] = ((-0.10, 0.10), (0.00, 0.06))
    min_separation: Annotated[Number, Field(ge=0)] = 0.09
    robot_base_xyz: tuple[Number, Number, Number] = (0.0, -0.25, 0.0)
    depth: Positive = 0.010
    """How deep the tube has to be in the slot."""
    tilt_deg: Positive = 10.0
    """How far from upright it may be."""
    aside: Positive = 0.003
    """How far its axis may be from the middle of the slot."""


def add(spec: MjSpec, options: BoxOptions) -> None:
    """A box without a lid, a tube, a block with a slot, and a camera above."""
    width, length, height = options.box_size
    add_ground(spec)
    sides = (
        ("left", (-width / 2, 0), (_WALL, length / 2)),
        ("right", (width / 2, 0), (_WALL, length / 2)),
        ("near", (0, -length / 2), (width / 2, _WALL)),
        ("far", (0, length / 2), (width / 2, _WALL)),
    )
    for name, (x, y), (a, b) in sides:
        add_block(spec.worldbody, f"box_{name}", (x, y, height / 2), (a, b, height / 2), _GREY)
    tube = spec.worldbody.add_body(name="tube", pos=[0, 0, 1])
    tube.add_freejoint(name="tube")
    size = (options.tube_radius, 0.5 * options.tube_length)
    add_cylinder(tube, "tube_geom", (0, 0, 0), size, RED, mass=options.tube_mass)
    hole = options.tube_radius + options.clearance
    add_socket(spec, "block", hole=hole, half=options.block_half, height=options.block_height, color=BLUE)
    add_camera(spec, "overhead", (0.0, 0.0, 0.95 * height), (0.0, 0.02, 0.0), 70.0)
    add_light(spec, (0.0, 0.0, height + 0.5))


def sample(rng: np.random.Generator, options: BoxOptions) -> Layout:
    """Tube and block on the floor of the box, apart; the tube stands."""
    tube, block = draw_apart(
        rng, options.tube_spawn_xy_range, options.block_spawn_xy_range, options.min_separation
    )
    return {"tube": np.array([*tube, 0.5 * options.tube_length]), "block": np.array([*block, 0.0])}


def judge(moment: TaskState, options: BoxOptions) -> Verdict:
    """Deep enough, upright, and in the middle of the slot."""
    tube, block = moment.objects["tube"], moment.layout["block"]
    axis = quats_rotate(tube[..., 3:], (0.0, 0.0, 1.0))
    # either end may go in
    downward = np.where(axis[..., 2:] > 0.0, -axis, axis)
    low = tube[..., :3] + 0.5 * options.tube_length * downward
    aside = measure_distance(low[..., :2], block[..., :2])
    tilt = np.degrees(np.arccos(np.clip(-downward[..., 2], -1.0, 1.0)))
    depth = np.where(aside <= options.block_half, block[..., 2] + options.block_height - low[..., 2], 0.0)
    success = (depth >= options.depth) & (tilt <= options.tilt_deg) & (aside <= options.aside)
    near = np.exp(-6.0 * measure_distance(moment.tool[..., :3], tube[..., :3]))
    raised = low[..., 2] > 0.01
    partly = 0.25 * near + 0.3 * raised * (0.5 + 0.5 * np.exp(-8.0 * aside))
    half = np.array(options.box_size[:2]) / 2
    # over a wall it is out of the arm's reach for good
    lost = np.asarray((np.abs(tube[..., :2]) > half).any(axis=-1))
    score = np.where(success, 1.0, partly)
    return Verdict(success, score, lost, {"depth": depth, "tilt": tilt, "aside": aside})


def list_corners(options: BoxOptions) -> Array:
    """Where tube and block may be."""
    ranges = (options.tube_spawn_xy_range, options.block_spawn_xy_range)
    return list_range_corners(ranges, 0.5 * options.tube_length)


def find_base(options: BoxOptions, forward: float) -> Pose:
    """On the near side of the box, facing what is in it."""
    return place_base(options.robot_base_xyz, None, (0.0, 0.0, 0.0), forward)


SCENE = TaskScene(
    name="so101_box",
    title="put a tube into a slot, in a box (SO-101 only)",
    instruction="insert the red tube into the slot of the blue block",
    done="the tube is 10 mm deep in the slot, upright, in its middle",
    options=BoxOptions,
    needs=lambda options: RobotNeeds(base="fixed", tool=True, gripper=True),  # noqa: ARG005 - any options
    add=add,
    sample=sample,
    judge=judge,
    objects=("tube",),
    fixtures=("block",),
    cameras=("overhead",),
    base=find_base,
    max_steps=500,
    fixed_robot=ROBOT,
    workspace=list_corners,
)
