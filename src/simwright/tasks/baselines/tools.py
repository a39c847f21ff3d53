# SPDX-License-Identifier: Apache-2.0
"""Which way a tool reaches, found out from how the arm moves it."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.rollout import SimRollout

_ACROSS = 0.04
"""A joint that is nearer to the tool than this only rolls it [m]."""


def find_approach(rollout: SimRollout) -> Array:
    """The direction in which the tool reaches, in its own frame.

    Along the axis of the last joint where that only rolls the tool, else away from the last joint that turns it across.
    """
    import mujoco

    model, data = rollout.model, mujoco.MjData(rollout.model)
    data.qpos[:] = rollout.home.qpos
    mujoco.mj_kinematics(model, data)
    tool = data.site_xpos[rollout.tool_site]
    mover = rollout.controller.mover
    roll: Array | None = None
    away = np.zeros(3)
    for joint in reversed([] if mover is None else mover.joints.tolist()):
        away = np.asarray(tool - data.xanchor[joint])
        axis = np.asarray(data.xaxis[joint])
        across = away - axis * float(away @ axis)
        if np.linalg.norm(across) > _ACROSS:
            break
        roll = axis if roll is None else roll
    if roll is not None and abs(float(roll @ away)) > _ACROSS:
        away = roll * float(np.sign(roll @ away))
    frame = np.asarray(data.site_xmat[rollout.tool_site]).reshape(3, 3)
    size = float(np.linalg.norm(away))
    return np.asarray(frame.T @ away / size) if size > 0 else np.array([0.0, 0.0, 1.0])
