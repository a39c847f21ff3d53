# SPDX-License-Identifier: Apache-2.0
"""Fixing a robot to the world, or freeing it, whatever its file says; its keyframes follow."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import InputError
from simwright.tasks.specs import compile_spec


def mount_robot(spec: Any) -> None:
    """Take the free joints of root bodies away, and their coordinates out of the keyframes."""
    import mujoco

    free = [
        joint
        for body in spec.worldbody.bodies
        for joint in body.joints
        if joint.type == mujoco.mjtJoint.mjJNT_FREE
    ]
    if not free:
        return
    if len(spec.keys):
        model = compile_spec(spec.copy(), "the robot", Where())
        gone_q, gone_v = _list_free(model)
        for key in spec.keys:
            key.qpos = np.delete(key.qpos, gone_q) if len(key.qpos) else key.qpos
            key.qvel = np.delete(key.qvel, gone_v) if len(key.qvel) else key.qvel
    for joint in free:
        spec.delete(joint)


def free_robot(spec: Any, where: Where) -> None:
    """Give a mounted robot a free joint, and its keyframes the coordinates of it."""
    roots = list(spec.worldbody.bodies)
    if any(_floats(root) for root in roots):
        return
    if len(roots) != 1 or len(roots[0].joints):
        raise InputError(
            "the robot cannot be freed: it has several roots, or a root that moves on a joint already",
            hint="leave 'base' out of its manifest",
            where=where,
        )
    if len(spec.keys):
        model = compile_spec(spec.copy(), "the robot", where)
        start = np.concatenate([model.body_pos[1], model.body_quat[1]])
        for key in spec.keys:
            if len(key.qpos):
                key.qpos = np.concatenate([start, key.qpos])
            if len(key.qvel):
                key.qvel = np.concatenate([np.zeros(6), key.qvel])
    roots[0].add_freejoint()


def _floats(body: Any) -> bool:
    import mujoco

    return any(joint.type == mujoco.mjtJoint.mjJNT_FREE for joint in body.joints)


def _list_free(model: Any) -> tuple[list[int], list[int]]:
    """Places of the coordinates and velocities of free joints at the root."""
    coordinates: list[int] = []
    velocities: list[int] = []
    for joint in range(model.njnt):
        if model.jnt_type[joint] == 0 and model.body_parentid[model.jnt_bodyid[joint]] == 0:
            coordinates += range(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + 7)
            velocities += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + 6)
    return coordinates, velocities
