# SPDX-License-Identifier: Apache-2.0
"""What tasks on a table share: the table with its cameras and lamp, places on it, and drawing all of it to a robot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, Any, TypeVar

import numpy as np
from pydantic import Field

from simwright.core.documents.expressions import Number
from simwright.core.math3d import Array, Pose
from simwright.tasks.parts import add_camera, add_ground, add_light, add_table
from simwright.tasks.scene import RobotNeeds, SceneOptions, TaskScene, place_base
from simwright.tasks.specs import MjSpec

Pair = tuple[Number, Number]
Triple = tuple[Number, Number, Number]
Positive = Annotated[Number, Field(gt=0)]
_TRIES = 200
_GROUND_BELOW = 0.30
_LAMP_ABOVE = 1.6


class TableOptions(SceneOptions):
    """The table, the cameras that look at its middle, and where the robot stands; lengths [m], angles [deg]."""

    table_size_xy: tuple[Positive, Positive] = (0.80, 0.80)
    table_top_z: Number = 0.0
    table_thickness: Positive = 0.02
    table_center_xy: Pair = (0.0, 0.30)
    robot_base_xyz: Triple = (0.0, 0.0, 0.0)
    robot_base_yaw_deg: Number | None = Field(None, description="default: so that the robot faces the task")
    top_camera_pos: Triple = (0.0, 0.30, 0.90)
    top_camera_fovy: Positive = 58.0
    front_camera_pos: Triple = (0.0, -0.45, 0.45)
    front_camera_fovy: Positive = 58.0
    side_camera_pos: Triple = (0.60, 0.90, 0.60)
    side_camera_fovy: Positive = 58.0


_CAMERA_PLACES = ("top_camera_pos", "front_camera_pos", "side_camera_pos")
# how far above the table a raised robot starts [m], and the highest plate that it is put on
_PLATE, _HIGHEST = 0.003, 0.15
# how high above the corners things are carried [m]
_CARRIED = 0.10
CAMERAS = ("top", "front", "side")
"""From above, from behind the robot, and from across the table."""
T = TypeVar("T", bound=TableOptions)


def add_table_world(spec: MjSpec, options: TableOptions) -> None:
    """Table, floor, three cameras and a lamp."""
    center = (*options.table_center_xy, options.table_top_z)
    add_table(spec, center, options.table_size_xy, options.table_top_z, options.table_thickness)
    add_ground(spec, options.table_top_z - options.table_thickness - _GROUND_BELOW)
    add_camera(spec, "top", options.top_camera_pos, center, options.top_camera_fovy)
    add_camera(spec, "front", options.front_camera_pos, center, options.front_camera_fovy)
    middle = (center[0], center[1] - 0.05, center[2] + 0.1)
    add_camera(spec, "side", options.side_camera_pos, middle, options.side_camera_fovy)
    add_light(spec, (center[0], center[1], options.table_top_z + _LAMP_ABOVE))


def draw(rng: np.random.Generator, ranges: Sequence[Pair]) -> Array:
    """A point, each coordinate from its range."""
    return np.array([rng.uniform(low, high) for low, high in ranges])


def draw_apart(
    rng: np.random.Generator, first: Sequence[Pair], second: Sequence[Pair], distance: float
) -> tuple[Array, Array]:
    """A point of each range, at least so far apart, as long as luck allows."""
    a, b = draw(rng, first), draw(rng, second)
    # small regions may have no two points that far apart: the last ones are taken then
    for _ in range(_TRIES):
        if np.linalg.norm(b - a) >= distance:
            break
        b = draw(rng, second)
    return a, b


def find_base(options: TableOptions, corners: Array, forward: float) -> Pose:
    """Where the options put the robot, facing the middle of the task."""
    return place_base(options.robot_base_xyz, options.robot_base_yaw_deg, corners.mean(axis=0), forward)


def list_range_corners(ranges: Sequence[tuple[Pair, Pair]], height: float) -> Array:
    """Corners of regions of the table, at a height."""
    return np.array([[x, y, height] for xs, ys in ranges for x in xs for y in ys])


def measure_nearest(corners: Array) -> float:
    """How near to the origin the nearest corner is [m]."""
    return float(np.min(np.linalg.norm(corners[:, :2], axis=1)))


def pull_range(ranges: tuple[Pair, Pair], factor: float, base: Pose) -> tuple[Pair, Pair]:
    """A region at ``factor`` of its distance from the base."""
    (x0, x1), (y0, y1) = ranges
    x, y = float(base.p[0]), float(base.p[1])
    return (x + factor * (x0 - x), x + factor * (x1 - x)), (y + factor * (y0 - y), y + factor * (y1 - y))


def pull_table(options: T, factor: float, base: Pose, **ranges: Any) -> T:
    """The options with other regions, and a table that is as much smaller with its cameras."""
    x, y = float(base.p[0]), float(base.p[1])
    update: dict[str, Any] = {
        "table_size_xy": tuple(factor * value for value in options.table_size_xy),
        "table_center_xy": (
            x + factor * (options.table_center_xy[0] - x),
            y + factor * (options.table_center_xy[1] - y),
        ),
    }
    for name in _CAMERA_PLACES:
        px, py, pz = getattr(options, name)
        update[name] = (x + factor * (px - x), y + factor * (py - y), factor * pz)
    return options.model_copy(update={**update, **ranges})


def set_back(options: T, shift: Array, regions: Sequence[str]) -> T:
    """The same task farther away by ``shift`` (x, y) [m], on a table that is as much longer."""
    x, y = (float(part) for part in shift)
    update: dict[str, Any] = {
        "table_size_xy": tuple(
            size + abs(part) for size, part in zip(options.table_size_xy, (x, y), strict=True)
        ),
        "table_center_xy": (options.table_center_xy[0] + 0.5 * x, options.table_center_xy[1] + 0.5 * y),
    }
    for name in regions:
        (x0, x1), (y0, y1) = getattr(options, name)
        update[name] = ((x0 + x, x1 + x), (y0 + y, y1 + y))
    for name in _CAMERA_PLACES:
        px, py, pz = getattr(options, name)
        update[name] = (px + x, py + y, pz)
    return options.model_copy(update=update)


def make_table_scene(
    *,
    regions: Sequence[str],
    corners: Callable[[Any], Array],
    gripper: bool = False,
    grasp: str = "",
    shrink: Sequence[str] = (),
    work: Callable[[Any], Array] | None = None,
    **scene: Any,
) -> TaskScene:
    """A task on a table: what it needs, where the robot stands and how it is drawn to a robot follow from its regions.

    ``regions`` name the options that say where things may be; ``corners(options)`` are the points that have to be
    reached; ``shrink`` names distances between things, which become shorter with the regions but never longer;
    ``grasp`` names what a gripper has to take;
    ``work(options)`` are the places where the tool comes down (the corners, and above them, by default).
    """

    def find_needs(options: TableOptions) -> RobotNeeds:
        reach = measure_nearest(corners(options))
        return RobotNeeds("fixed", tool=True, gripper=gripper or bool(grasp), grasp=grasp, reach=reach)

    def scale(options: TableOptions, factor: float, base: Pose) -> TableOptions:
        if factor > 1.0:
            # a large arm needs room before it, not longer ways: things keep their distances from each other
            away = corners(options).mean(axis=0)[:2] - np.asarray(base.p)[:2]
            return set_back(options, (factor - 1.0) * away, regions)
        pulled: dict[str, Any] = {name: pull_range(getattr(options, name), factor, base) for name in regions}
        pulled |= {name: factor * getattr(options, name) for name in shrink}
        return pull_table(options, factor, base, **pulled)

    def mount(options: TableOptions, lowest: float) -> TableOptions:
        sunk = options.table_top_z + _PLATE - lowest
        if not 0.0 < sunk <= _HIGHEST:
            return options
        x, y, z = options.robot_base_xyz
        return options.model_copy(update={"robot_base_xyz": (x, y, z + sunk)})

    def find_work(options: TableOptions) -> Array:
        found = corners(options)
        # the middle of the near side too: right before the base an arm is folded most
        low = np.array(
            [*found, [float(found[:, 0].mean()), float(found[:, 1].min()), float(found[:, 2].mean())]]
        )
        return np.concatenate([low, low + np.array([0.0, 0.0, _CARRIED])])

    return TaskScene(
        needs=find_needs,
        cameras=CAMERAS,
        base=lambda options, forward: find_base(options, corners(options), forward),
        workspace=corners,
        scale=scale,
        mount=mount,
        work=find_work if work is None else work,
        **scene,
    )
