# SPDX-License-Identifier: Apache-2.0
"""Pull a door open by its knob, with any arm: the knob turns about a hinge, so that the tool goes along an arc."""

from __future__ import annotations

import numpy as np

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, quat_from_axis_angle, quats_rotate
from simwright.tasks.parts import BLUE, GREY, OAK, RED, add_block, add_hinge, add_post
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
KNOB = 0.045
"""How far the knob stands out [m]."""
# how high the middle of the knob is above the table, and half of its length [m]
_KNOB_HEIGHT, _KNOB_HALF = 0.085, 0.03
# how far the knob is from the free edge of the door [m]
_EDGE = 0.025


class DoorOptions(TableOptions):
    """A door in a frame that opens towards the robot; lengths [m], angles [rad]."""

    door_width: Positive = 0.18
    door_height: Positive = 0.12
    frame_spawn_xy_range: tuple[Pair, Pair] = ((-0.06, 0.06), (0.38, 0.44))
    side_camera_pos: Triple = (0.75, -0.10, 0.55)
    opens_to: Positive = 1.2
    """How far it can be opened."""
    opened: Positive = 0.5
    """How far it has to be open."""
    friction: Number = 0.05
    """Dry friction of the hinge [N m]."""


def add(spec: MjSpec, options: DoorOptions) -> None:
    """A table, two posts with a board above, and a door whose hinge is at the left post."""
    add_table_world(spec, options)
    half, z = 0.5 * options.door_width, 0.5 * options.door_height
    frame = spec.worldbody.add_body(name="frame", pos=[0, 0, options.table_top_z], mocap=True)
    for name, side in (("left", -1.0), ("right", 1.0)):
        place = (side * (half + 2.0 * _WALL), 0, z + _WALL)
        add_block(frame, f"frame_{name}", place, (_WALL, _WALL, z + _WALL), OAK)
    door = frame.add_body(name="door", pos=[-half, 0, 0])
    add_hinge(door, "door", (0, 0, -1), options.opens_to, damping=0.05, friction=options.friction)
    panel = (half - 0.5 * _WALL, 0.5 * _WALL, z - 0.5 * _WALL)
    add_block(door, "door_panel", (half, 0, z + 0.5 * _WALL), panel, BLUE, mass=0.3)
    x, low = options.door_width - _EDGE, _KNOB_HEIGHT - _KNOB_HALF
    add_block(door, "door_stem", (x, -0.5 * KNOB, low), (0.005, 0.5 * KNOB, 0.005), GREY, mass=0.01)
    # upright, so that a hand that holds it from above need not turn with the door
    add_post(door, "door_knob", (x, -KNOB, _KNOB_HEIGHT), (0.009, _KNOB_HALF), RED, mass=0.02)


def sample(rng: np.random.Generator, options: DoorOptions) -> Layout:
    """Where the frame stands, turned a little."""
    x, y = draw(rng, options.frame_spawn_xy_range)
    yaw = rng.uniform(-0.2, 0.2)
    return {"frame": np.array([x, y, options.table_top_z, *quat_from_axis_angle((0, 0, 1), yaw)])}


def find_knob(frame: Array, opening: Array, options: DoorOptions) -> Array:
    """Where the knob is when the door is open so far; of one world or of many."""
    width = options.door_width
    across, out = width - _EDGE, np.full_like(opening, -KNOB)
    cosine, sine = np.cos(opening), np.sin(opening)
    # the door turns clockwise, seen from above
    x, y = across * cosine + out * sine - 0.5 * width, out * cosine - across * sine
    local = np.stack([x, y, np.full_like(x, _KNOB_HEIGHT)], axis=-1)
    return np.asarray(frame[..., :3] + quats_rotate(frame[..., 3:], local))


def judge(moment: TaskState, options: DoorOptions) -> Verdict:
    """The door is open far enough."""
    opening = moment.joints["door"]
    knob = find_knob(moment.layout["frame"], opening, options)
    # some reward for coming near, so that learning finds the knob
    near = np.exp(-4.0 * measure_distance(moment.tool[..., :3], knob))
    success = opening >= options.opened
    partly = 0.3 * near + 0.6 * np.maximum(0.0, opening) / options.opened
    return Verdict(success, np.where(success, 1.0, partly), np.zeros_like(success), {"opening": opening})


def list_corners(options: DoorOptions) -> Array:
    """Where the knob may be, closed and open."""
    (x0, x1), (y0, y1) = options.frame_spawn_xy_range
    still = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])
    shut, wide = (find_knob(still, np.asarray(angle), options) for angle in (0.0, options.opened))
    xs, ys = sorted((float(shut[0]), float(wide[0]))), sorted((float(shut[1]), float(wide[1])))
    region = ((x0 + xs[0], x1 + xs[1]), (y0 + ys[0], y1 + ys[1]))
    return list_range_corners((region,), options.table_top_z + _KNOB_HEIGHT)


SCENE = make_table_scene(
    name="door",
    title="open a door",
    instruction="pull the door open by its knob",
    done="the door is open far enough",
    options=DoorOptions,
    add=add,
    sample=sample,
    judge=judge,
    fixtures=("frame",),
    joints=("door",),
    max_steps=400,
    corners=list_corners,
    regions=("frame_spawn_xy_range",),
)
