# SPDX-License-Identifier: Apache-2.0
"""Walk, drive or fly forward over a flat floor, with any robot whose base floats."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import quats_rotate
from simwright.tasks.parts import add_camera, add_ground, add_light
from simwright.tasks.scene import Layout, RobotNeeds, SceneOptions, TaskScene, TaskState, Verdict
from simwright.tasks.specs import MjSpec

Positive = Annotated[Number, Field(gt=0)]


class LocomotionOptions(SceneOptions):
    """How far to go and what counts as fallen; lengths [m]."""

    distance: Positive = 1.0
    fall_tilt_deg: Annotated[Number, Field(gt=0, le=180)] = 75.0
    heading_range_deg: tuple[Number, Number] = (0.0, 0.0)


def add(spec: MjSpec, _: LocomotionOptions) -> None:
    """A floor, cameras and a lamp."""
    add_ground(spec)
    add_camera(spec, "top", (0, 0, 4), (0, 0, 0), 58.0)
    add_camera(spec, "front", (3, -2.5, 1.5), (0, 0, 0.4), 58.0)
    add_light(spec, (0, 0, 4))


def sample(rng: np.random.Generator, options: LocomotionOptions) -> Layout:
    """Which way to go."""
    low, high = options.heading_range_deg
    angle = np.radians(rng.uniform(low, high))
    return {"heading": np.array([np.cos(angle), np.sin(angle), 0.0])}


def judge(moment: TaskState, options: LocomotionOptions) -> Verdict:
    """Far enough along the heading, upright."""
    gone = np.sum((moment.base[..., :3] - moment.start[..., :3]) * moment.layout["heading"], axis=-1)
    up = quats_rotate(moment.base[..., 3:], (0.0, 0.0, 1.0))[..., 2]
    fallen = up < np.cos(np.radians(options.fall_tilt_deg))
    success = ~fallen & (gone >= options.distance)
    score = np.clip(gone / options.distance, -1.0, 1.0)
    return Verdict(success, score, fallen, {"distance": gone, "upright": up})


SCENE = TaskScene(
    name="locomotion_flat",
    title="get forward over a flat floor",
    instruction="move one metre forward without falling",
    done="the base has come a metre forward, upright",
    options=LocomotionOptions,
    needs=lambda options: RobotNeeds(base="floating"),  # noqa: ARG005 - any options
    add=add,
    sample=sample,
    judge=judge,
    cameras=("front", "top"),
    max_steps=500,
)
