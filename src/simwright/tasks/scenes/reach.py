# SPDX-License-Identifier: Apache-2.0
"""Bring the tool to the green ball, with any arm."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, Pose
from simwright.tasks.parts import GREEN, add_ball_mark, add_camera, add_ground, add_light
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
from simwright.tasks.specs import MjSpec

Pair = tuple[Number, Number]
Triple = tuple[Number, Number, Number]
Positive = Annotated[Number, Field(gt=0)]
# how far above the floor a raised robot starts [m], and the highest plate that it is put on
_PLATE, _HIGHEST = 0.003, 0.15


class ReachOptions(SceneOptions):
    """Where the goal may be, in front of the robot; lengths [m], angles [deg]."""

    robot_base_xyz: Triple = (0.0, 0.0, 0.0)
    robot_base_yaw_deg: Number | None = Field(None, description="default: so that the robot faces the task")
    goal_range: tuple[Pair, Pair, Pair] = ((-0.15, 0.15), (0.20, 0.32), (0.12, 0.28))
    goal_radius: Positive = 0.03
    ground_below: Annotated[Number, Field(ge=0)] = Field(
        0.0, description="how far the floor is below the base"
    )


def add(spec: MjSpec, options: ReachOptions) -> None:
    """Floor, goal, cameras and a lamp."""
    middle = [0.5 * (low + high) for low, high in options.goal_range]
    add_ground(spec, options.robot_base_xyz[2] - options.ground_below)
    add_ball_mark(spec, "goal", options.goal_radius, GREEN)
    add_camera(spec, "top", (middle[0], middle[1], 1.2), middle, 58.0)
    add_camera(spec, "front", (middle[0], middle[1] + 0.9, 0.6), middle, 58.0)
    add_camera(spec, "side", (middle[0] + 0.8, middle[1] + 0.5, 0.5), middle, 58.0)
    add_light(spec, (middle[0], middle[1], 1.5))


def sample(rng: np.random.Generator, options: ReachOptions) -> Layout:
    """A goal in the box."""
    return {"goal": np.array([rng.uniform(low, high) for low, high in options.goal_range])}


def judge(moment: TaskState, options: ReachOptions) -> Verdict:
    """The tool is inside the ball."""
    distance = measure_distance(moment.tool[..., :3], moment.layout["goal"])
    success = distance <= options.goal_radius
    score = np.where(success, 1.0, np.exp(-4.0 * distance))
    return Verdict(success, score, np.zeros_like(success), {"distance": distance})


def find_base(options: ReachOptions, forward: float) -> Pose:
    """At the origin, facing the goals."""
    return place_base(
        options.robot_base_xyz, options.robot_base_yaw_deg, list_corners(options).mean(axis=0), forward
    )


def list_corners(options: ReachOptions) -> Array:
    """The corners of where the goal may be."""
    xs, ys, zs = options.goal_range
    return np.array([[x, y, z] for x in xs for y in ys for z in zs])


def draw_in(options: ReachOptions, factor: float, base: Pose) -> ReachOptions:
    """The same task at ``factor`` of the distance from the base."""
    ranges = [
        tuple(float(center + factor * (value - center)) for value in values)
        for values, center in zip(options.goal_range, base.p, strict=True)
    ]
    return options.model_copy(update={"goal_range": tuple(ranges)})


def mount(options: ReachOptions, lowest: float) -> ReachOptions:
    """On a plate where moving parts, the lowest of which is at ``lowest`` [m], would start in the floor."""
    sunk = options.robot_base_xyz[2] + _PLATE - lowest
    if not 0.0 < sunk <= _HIGHEST:
        return options
    return options.model_copy(update={"ground_below": max(sunk, options.ground_below)})


SCENE = TaskScene(
    name="reach",
    title="bring the tool to a point",
    instruction="move the tool into the green ball",
    done="the tool is in the green ball",
    options=ReachOptions,
    needs=lambda options: RobotNeeds(
        base="fixed", tool=True, reach=float(np.min(np.linalg.norm(list_corners(options), axis=1)))
    ),
    add=add,
    sample=sample,
    judge=judge,
    marks=("goal",),
    cameras=("top", "front", "side"),
    base=find_base,
    max_steps=200,
    workspace=list_corners,
    scale=draw_in,
    mount=mount,
)
