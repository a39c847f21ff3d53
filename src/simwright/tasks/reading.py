# SPDX-License-Identifier: Apache-2.0
"""The things of a task in a compiled model: put where a layout says, read from coordinates, of one world or of many.

Free bodies have their pose in their own coordinates, so that a batch of worlds is read by slicing.
"""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjModel
from simwright.tasks.scene import Layout, TaskScene

_UPRIGHT = (1.0, 0.0, 0.0, 0.0)


def place_layout(scene: TaskScene, worlds: ModelBatch, world: int, layout: Layout) -> None:
    """Put what moves or stands where it starts in a world, at rest; marks are of the model, not of a state."""
    model = worlds.models[world]
    qpos, qvel = worlds.view("qpos")[world], worlds.view("qvel")[world]
    places = worlds.view("mocap_pos")[world].reshape(-1, 3), worlds.view("mocap_quat")[world].reshape(-1, 4)
    for name in scene.objects:
        joint = model.joint(name)
        first, speed = int(joint.qposadr[0]), int(joint.dofadr[0])
        qpos[first : first + 7] = complete_pose(layout[name])
        qvel[speed : speed + 6] = 0.0
    for name in scene.fixtures:
        number = int(model.body(name).mocapid[0])
        pose = complete_pose(layout[name])
        places[0][number], places[1][number] = pose[:3], pose[3:]
    for name in scene.joints:
        joint = model.joint(name)
        qpos[joint.qposadr[0]], qvel[joint.dofadr[0]] = 0.0, 0.0


def complete_pose(place: Array) -> Array:
    """A pose of seven numbers; a position alone stands upright.  Of one thing, or of many."""
    if place.shape[-1] == 7:
        return place
    return np.concatenate([place, np.broadcast_to(_UPRIGHT, (*place.shape[:-1], 4))], axis=-1)


def complete_layout(scene: TaskScene, layout: Layout) -> dict[str, Array]:
    """Fixtures as poses and marks as positions, as they are observed."""
    fixtures = {name: complete_pose(layout[name]) for name in scene.fixtures}
    return {**fixtures, **{name: layout[name][..., :3].copy() for name in scene.marks}}


def read_objects(scene: TaskScene, model: MjModel, qpos: Array) -> dict[str, Array]:
    """Poses of free bodies, from the coordinates of one world or of many."""
    starts = {name: int(model.joint(name).qposadr[0]) for name in scene.objects}
    return {name: np.array(qpos[..., first : first + 7]) for name, first in starts.items()}


def read_speeds(scene: TaskScene, model: MjModel, qvel: Array) -> dict[str, Array]:
    """How fast free bodies move."""
    starts = {name: int(model.joint(name).dofadr[0]) for name in scene.objects}
    return {
        name: np.asarray(np.linalg.norm(qvel[..., first : first + 6], axis=-1))
        for name, first in starts.items()
    }


def read_joints(scene: TaskScene, model: MjModel, qpos: Array) -> dict[str, Array]:
    """Coordinates of the task's own joints."""
    return {name: np.array(qpos[..., int(model.joint(name).qposadr[0])]) for name in scene.joints}


def as_numbers(pose: Pose) -> Array:
    """Position and quaternion in one array."""
    return np.concatenate([pose.p, pose.q])
