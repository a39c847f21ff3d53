# SPDX-License-Identifier: Apache-2.0
"""Finding a gripper: fingers that branch off one body at the end of a chain, and what control opens them.

Which end of the control range is open is tried out: without gravity, the fingers are driven both ways, and the way that
takes them farther apart is open.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import ActuatorInfo, hold_controls
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import IMPLICITFAST, MjData, MjModel, list_tendon_joints, pose_bodies
from simwright.formats.mjcf.quiet import quiet_mujoco

_MOST_FINGERS = 4
_JAWS = ("jaw", "grip", "finger", "claw", "pinc")
"""A single finger against a fixed one is told from a wrist by its name."""
_LONGEST = 0.25
"""Fingers are no longer than this, from the palm [m]."""
_SECONDS = 1.0
_NOTICED = 2e-3
"""Less than that between open and closed is no gripper [m]."""


@dataclass(frozen=True, slots=True)
class Grip:
    """A gripper: the body its fingers branch off, its finger bodies, its actuators, and the controls at both ends."""

    palm: int
    fingers: tuple[int, ...]
    actuators: tuple[int, ...]
    open: float
    closed: float
    stroke: float


def find_grip(model: MjModel, actuators: Sequence[ActuatorInfo]) -> Grip | None:
    """The gripper of a robot that was compiled alone; None where there is none."""
    for palm, fingers in _list_palms(model):
        own = [a for a in actuators if _drives_only(model, a, fingers) and np.isfinite((a.low, a.high)).all()]
        if not own or len({(a.low, a.high) for a in own}) != 1:
            continue
        low, high = own[0].low, own[0].high
        parts = fingers if len(fingers) > 1 else [*fingers, [palm]]
        apart = _drive_apart(model, parts, [a.index for a in own], (low, high))
        if abs(apart[1] - apart[0]) < _NOTICED:
            continue
        wide, narrow = (high, low) if apart[1] > apart[0] else (low, high)
        heads = tuple(branch[0] for branch in fingers)
        return Grip(palm, heads, tuple(a.index for a in own), wide, narrow, abs(apart[1] - apart[0]))
    return None


def _list_palms(model: MjModel) -> list[tuple[int, list[list[int]]]]:
    """Bodies with a few short moving branches, and these; the one nearest to the base first."""
    found = []
    for body in range(1, model.nbody):
        fingers = _list_fingers(model, body)
        if 2 <= len(fingers) <= _MOST_FINGERS or (len(fingers) == 1 and _is_jaw(model, fingers[0])):
            found.append((body, fingers))
    return found


def _is_jaw(model: MjModel, branch: list[int]) -> bool:
    """One moving body, called a jaw or the like, or its joint is."""
    moving = [body for body in branch if model.body_jntnum[body]]
    if len(moving) != 1:
        return False
    names = (model.body(moving[0]).name, model.joint(int(model.body_jntadr[moving[0]])).name)
    return any(word in name.lower() for word in _JAWS for name in names)


def _list_fingers(model: MjModel, palm: int) -> list[list[int]]:
    """The moving branches below a body, each a list of bodies, if all of them are short."""
    branches = []
    for child in range(palm + 1, model.nbody):
        if model.body_parentid[child] != palm:
            continue
        below = [body for body in range(child, model.nbody) if _is_below(model, body, child)]
        if any(model.body_jntnum[body] for body in below):
            branches.append(below)
    data = pose_bodies(model, model.qpos0)
    reach = [np.linalg.norm(data.xpos[body] - data.xpos[palm]) for branch in branches for body in branch]
    return branches if reach and max(reach) <= _LONGEST else []


def _is_below(model: MjModel, body: int, top: int) -> bool:
    while body > top:
        body = int(model.body_parentid[body])
    return body == top


def _drives_only(model: MjModel, actuator: ActuatorInfo, fingers: list[list[int]]) -> bool:
    """Does it move fingers and nothing else?"""
    allowed = {body for branch in fingers for body in branch}
    if actuator.transmission == "joint":
        return int(model.jnt_bodyid[actuator.joint]) in allowed
    if actuator.transmission != "tendon":
        return False
    tendon = int(model.actuator_trnid[actuator.index, 0])
    bodies = {int(model.jnt_bodyid[joint]) for joint in list_tendon_joints(model, tendon)}
    return bool(bodies) and bodies <= allowed


def _drive_apart(
    model: MjModel, fingers: list[list[int]], actuators: list[int], controls: Sequence[float]
) -> list[float]:
    """How far apart the tips are when the actuators are told each of the controls [m]: a world for each."""
    model = copy.copy(model)
    model.opt.gravity[:] = 0.0
    # whatever the rest of the robot does: stiff servos do not blow up with it
    model.opt.integrator = IMPLICITFAST
    with ModelBatch(model, len(controls)) as worlds:
        told = worlds.view("ctrl")
        told[:] = hold_controls(model, model.qpos0)
        told[:, actuators] = np.array(controls)[:, None]
        with quiet_mujoco():
            worlds.step(max(1, round(_SECONDS / model.opt.timestep)))
        return [_measure_apart(model, worlds.look(world), fingers) for world in range(len(controls))]


def _measure_apart(model: MjModel, data: MjData, fingers: list[list[int]]) -> float:
    centers = [_find_center(model, data, branch) for branch in fingers]
    pairs = [np.linalg.norm(a - b) for number, a in enumerate(centers) for b in centers[number + 1 :]]
    return float(np.mean(pairs)) if np.isfinite(pairs).all() else 0.0


def _find_center(model: MjModel, data: MjData, branch: list[int]) -> Array:
    """The middle of the last body of a finger: of its geoms, else its own."""
    last = branch[-1]
    geoms = np.flatnonzero(np.asarray(model.geom_bodyid) == last)
    return np.array(data.geom_xpos[geoms].mean(axis=0) if len(geoms) else data.xipos[last])


def find_offset(model: MjModel, tool: int, grip: Grip | None) -> tuple[float, float, float]:
    """Where the tool is on its body [m]: between the tips of the fingers, else the body's own frame."""
    if grip is None or not tool:
        return (0.0, 0.0, 0.0)
    data = pose_bodies(model, model.qpos0)
    turn = np.asarray(data.xmat[tool]).reshape(3, 3)
    tips = []
    for finger in grip.fingers:
        geoms = [g for g in range(model.ngeom) if _is_below(model, int(model.geom_bodyid[g]), finger)]
        tips += [_find_far_corner(model, data, geom, np.asarray(data.xpos[tool])) for geom in geoms]
    if not tips:
        return (0.0, 0.0, 0.0)
    local = (np.array(tips) - data.xpos[tool]) @ turn
    far = np.linalg.norm(local, axis=1)
    chosen = local[far >= 0.8 * far.max()].mean(axis=0)
    return tuple(float(v) for v in chosen)  # type: ignore[return-value]


def _find_far_corner(model: MjModel, data: MjData, geom: int, origin: Array) -> Array:
    """The corner of a geom's box that is farthest from a point, drawn back to the box's middle plane there."""
    center, half = np.asarray(model.geom_aabb[geom][:3]), np.asarray(model.geom_aabb[geom][3:])
    turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
    middle = data.geom_xpos[geom] + turn @ center
    away = turn.T @ (middle - origin)
    axis = int(np.argmax(np.abs(away) * half))
    step = np.zeros(3)
    step[axis] = np.sign(away[axis]) * half[axis]
    return np.array(middle + turn @ step)
