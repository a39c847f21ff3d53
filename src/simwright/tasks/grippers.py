# SPDX-License-Identifier: Apache-2.0
"""Grippers, told from a compiled model alone.

A gripper is fingers that branch off one body at the end of a chain; the tool is between their tips.  Which end of the
control range is open is tried out: without gravity, the fingers are driven both ways, and the way that takes them
farther apart is open.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import ActuatorInfo, hold_controls
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import (
    IMPLICITFAST,
    SLIDE,
    MjData,
    MjModel,
    list_tendon_joints,
    pose_bodies,
)
from simwright.formats.mjcf.quiet import quiet_mujoco

_MOST_FINGERS = 4
# a single finger against a fixed one is told from a wrist by its name
_JAW_WORDS = ("jaw", "grip", "finger", "claw", "pinc")
# fingers are no longer than this, from the palm [m]
_FINGER_LENGTH = 0.25
# how long fingers get [s], in how many parts they are told to go, and after which of them they are told all
_DRIVE_SECONDS, _DRIVE_PARTS, _DRIVEN = 1.0, 100, 0.7
# less than that between open and closed is not a gripper [m]
_LEAST_STROKE = 2e-3


@dataclass(frozen=True, slots=True)
class GripperFacts:
    """A gripper: the body its fingers branch off, its finger bodies, its actuators, and the controls at both ends."""

    palm: int
    fingers: tuple[int, ...]
    actuators: tuple[int, ...]
    open: float
    closed: float
    stroke: float


def find_gripper(model: MjModel, actuators: Sequence[ActuatorInfo]) -> GripperFacts | None:
    """The gripper of a robot that was compiled alone; None where there is none."""
    for palm, fingers in _list_palms(model):
        own = [a for a in actuators if _drives_only(model, a, fingers) and np.isfinite((a.low, a.high)).all()]
        # fingers with different ranges are those of a hand: one control cannot close them
        if len({(a.low, a.high) for a in own}) == 1:
            found = _try_gripper(model, palm, fingers, own)
            if found is not None:
                return found
    return None


def _try_gripper(
    model: MjModel, palm: int, fingers: list[list[int]], own: Sequence[ActuatorInfo]
) -> GripperFacts | None:
    """Drive the fingers to both ends of their range; None where that does not move them apart."""
    low, high = own[0].low, own[0].high
    indices = [actuator.index for actuator in own]
    points = _list_centers(model, fingers) if len(fingers) > 1 else _list_jaw_tips(model, palm, fingers[0])
    apart = _drive_apart(model, points, indices, (low, high))
    stroke = abs(apart[1] - apart[0])
    if stroke < _LEAST_STROKE:
        return None
    wide, narrow = (high, low) if apart[1] > apart[0] else (low, high)
    return GripperFacts(palm, tuple(branch[0] for branch in fingers), tuple(indices), wide, narrow, stroke)


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
    return any(word in name.lower() for word in _JAW_WORDS for name in names)


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
    # long branches are arms of a two-armed robot, not fingers
    reach = [np.linalg.norm(data.xpos[body] - data.xpos[palm]) for branch in branches for body in branch]
    return branches if reach and max(reach) <= _FINGER_LENGTH else []


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


_Points = list[tuple[int, Array]]
"""Bodies, and a place on each of them [m]."""


def _drive_apart(
    model: MjModel, points: _Points, actuators: list[int], controls: Sequence[float]
) -> list[float]:
    """How far apart the points are when the actuators are told each of the controls [m]."""
    found = drive_gripper(model, _move_inside(model, model.qpos0), actuators, controls)
    return [_measure_apart(pose_bodies(model, qpos), points) for qpos in found]


def drive_gripper(
    model: MjModel, start: Array, actuators: Sequence[int], controls: Sequence[float]
) -> list[Array]:
    """Where everything is once the actuators of a gripper were told each of the controls: a world for each."""
    model = copy.copy(model)
    model.opt.gravity[:] = 0.0
    # whatever the rest of the robot does: stiff servos do not blow up with it
    model.opt.integrator = IMPLICITFAST
    rows = list(actuators)
    with ModelBatch(model, len(controls)) as worlds:
        worlds.view("qpos")[:] = start
        told = worlds.view("ctrl")
        told[:] = held = hold_controls(model, start)
        count = max(1, round(_DRIVE_SECONDS / model.opt.timestep / _DRIVE_PARTS))
        # little by little: a stiff servo whose force is bounded chatters on the spot when it is told to go far at once
        for share in np.minimum(np.arange(1, _DRIVE_PARTS + 1) / (_DRIVEN * _DRIVE_PARTS), 1.0):
            told[:, rows] = (1.0 - share) * held[rows] + share * np.array(controls)[:, None]
            with quiet_mujoco():
                worlds.step(count)
        return list(worlds.view("qpos").copy())


def _move_inside(model: MjModel, qpos: Array) -> Array:
    """Coordinates inside of the limits: fingers that cross where their joints are zero would hold each other."""
    single = np.flatnonzero((model.jnt_type >= SLIDE) & np.asarray(model.jnt_limited, dtype=bool))
    places = model.jnt_qposadr[single]
    moved = np.array(qpos)
    moved[places] = np.clip(moved[places], model.jnt_range[single, 0], model.jnt_range[single, 1])
    return moved


def _measure_apart(data: MjData, points: _Points) -> float:
    places = [_locate(data, body, point) for body, point in points]
    pairs = [np.linalg.norm(a - b) for number, a in enumerate(places) for b in places[number + 1 :]]
    return float(np.mean(pairs)) if np.isfinite(pairs).all() else 0.0


def _locate(data: MjData, body: int, point: Array) -> Array:
    return np.asarray(data.xpos[body] + np.asarray(data.xmat[body]).reshape(3, 3) @ point)


def _list_centers(model: MjModel, fingers: list[list[int]]) -> _Points:
    """The middle of the last body of each finger: of its geoms, else its own."""
    data = pose_bodies(model, model.qpos0)
    found: _Points = []
    for branch in fingers:
        body = branch[-1]
        geoms = np.flatnonzero(np.asarray(model.geom_bodyid) == body)
        middle = data.geom_xpos[geoms].mean(axis=0) if len(geoms) else data.xipos[body]
        found.append((body, _localize(data, body, middle)))
    return found


def _localize(data: MjData, body: int, place: Array) -> Array:
    """A place in the world, in the frame of a body."""
    return np.asarray((place - data.xpos[body]) @ np.asarray(data.xmat[body]).reshape(3, 3))


def _list_jaw_tips(model: MjModel, palm: int, branch: list[int]) -> _Points:
    """The ends of a single finger and of the palm that it closes against.

    Their middles would not do: a jaw whose hinge is beside the middle of the palm turns about it, no farther away.
    """
    jaw = next(body for body in branch if model.body_jntnum[body])
    data = pose_bodies(model, model.qpos0)
    hinge = np.array(data.xanchor[int(model.body_jntadr[jaw])])
    return [_find_end(model, data, jaw, hinge), _find_end(model, data, palm, np.asarray(data.xpos[palm]))]


def _find_end(model: MjModel, data: MjData, body: int, origin: Array) -> tuple[int, Array]:
    """The point of a body's geoms that is farthest from a place, on the body."""
    geoms = np.flatnonzero(np.asarray(model.geom_bodyid) == body).tolist()
    corners = [_find_far_corner(model, data, geom, origin) for geom in geoms]
    far = max(corners, key=lambda corner: float(np.linalg.norm(corner - origin)), default=data.xipos[body])
    return body, _localize(data, body, far)


def find_offset(model: MjModel, tool: int, grip: GripperFacts | None) -> tuple[float, float, float]:
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
    # the tips alone: knuckles would draw the tool back
    chosen = local[far >= 0.8 * far.max()].mean(axis=0)
    return tuple(float(v) for v in chosen)  # type: ignore[return-value]


# how far beside the line from the palm to between the finger tips a site is, and from which part of it on, that is
# between the fingers [m]
_BESIDE, _BEFORE = 0.02, 0.5


def is_between(point: Array, offset: Array) -> bool:
    """Is a point of the palm between the fingers, whose tips meet at ``offset``?

    Flanges and wrists have sites that are called like a tool too, and the tips of some fingers are bent to a side.
    """
    length = float(np.linalg.norm(offset))
    if length == 0.0:
        return True
    along = float(point @ offset) / length
    beside = float(np.linalg.norm(point - offset * (along / length)))
    return along >= _BEFORE * length and beside <= _BESIDE


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
