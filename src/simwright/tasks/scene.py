# SPDX-License-Identifier: Apache-2.0
"""What a task scene is: what it adds around a robot, where things start, and when it is done.

::

    class Options(SceneOptions):
        cube_mass: Number = Field(0.05, gt=0, description="[kg]")

    SCENE = TaskScene(name="tabletop_push", ..., options=Options, add=..., sample=..., judge=...)

A scene knows nothing of the robot: it draws from its own random numbers, so that another robot finds the same table,
the same cube and the same goal for the same seed.  New scenes are one file in ``tasks/scenes`` and a row in the table
there, or an entry point in ``simwright.tasks``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.documents.record import Record
from simwright.core.math3d import IDENTITY, Array, Pose, VectorLike, quat_from_axis_angle
from simwright.tasks.specs import MjSpec

Layout = dict[str, Array]
"""Where the things of an episode are, by name: positions (3) or poses (3 + quaternion w, x, y, z)."""


class SceneOptions(Record):
    """Base of the options of a scene."""


@dataclass(frozen=True, slots=True)
class RobotNeeds:
    """What a scene asks of a robot; the pre-flight report holds the robot against it."""

    base: str = "any"
    """``fixed``, ``floating`` or ``any``."""
    tool: bool = False
    gripper: bool = False
    grasp: str = ""
    """The body of the task that a gripper has to take; its fingers have to open that far."""
    reach: float = 0.0
    """How far from its base the robot has to get to do anything at all [m]."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """How episodes stand, one or many at once.  ``score`` grows towards success, for learning; it is 1 at success.

    ``failed`` tells that nothing can be won any more.
    """

    success: npt.NDArray[np.bool_]
    score: Array
    failed: npt.NDArray[np.bool_]
    details: dict[str, Array] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TaskState:
    """What a scene may look at to judge; every array may have the worlds of a batch before its own axes.

    Poses are position and quaternion w, x, y, z.  ``start`` is where the robot's base was when the episode began.
    """

    layout: Layout
    objects: Mapping[str, Array]
    """Poses of free bodies, by name."""
    speeds: Mapping[str, Array]
    """How fast they move: the length of their six velocities [m/s, rad/s]."""
    joints: Mapping[str, Array]
    """Coordinates of the task's own joints [m or rad]."""
    tool: Array
    base: Array
    start: Array
    tools: Mapping[str, Array] = field(default_factory=dict)
    """Poses of the tools of further robots: ``tool_NAME``."""


@dataclass(frozen=True, slots=True)
class TaskScene:
    """A task.  ``fixed_robot`` names the only robot of a scene that is made for one; most take any."""

    name: str
    title: str
    instruction: str
    options: type[SceneOptions]
    needs: Callable[[Any], RobotNeeds]
    add: Callable[[MjSpec, Any], None]
    """``add(spec, options)``: the table, the objects, cameras and lights."""
    sample: Callable[[np.random.Generator, Any], Layout]
    """``sample(rng, options)``: where objects, fixtures and marks are, by name: position (3) or pose (7)."""
    judge: Callable[[TaskState, Any], Verdict]
    """``judge(moment, options)``."""
    objects: tuple[str, ...] = ()
    """Bodies with a free joint of the same name."""
    fixtures: tuple[str, ...] = ()
    """Bodies that are placed before an episode and do not move in it (mocap bodies)."""
    marks: tuple[str, ...] = ()
    """Sites of the world that mark places."""
    joints: tuple[str, ...] = ()
    """Joints of the task itself; they start at zero."""
    cameras: tuple[str, ...] = ("top", "front")
    base: Callable[[Any, float], Pose] = field(default=lambda options, forward: IDENTITY)  # noqa: ARG005 - any
    """``base(options, forward)``: where the robot stands unless told otherwise; ``forward`` is the direction that its
    tool is in, seen from its base [rad]."""
    done: str = ""
    """When it is done, in words that follow "when"."""
    max_steps: int = 300
    fixed_robot: str = ""
    workspace: Callable[[Any], Array] | None = None
    """Corners of the region (n x 3) that the robot has to reach, for the pre-flight report."""
    scale: Callable[[Any, float, Pose], Any] | None = None
    """``scale(options, factor, base)``: the options with the workspace drawn towards the base (below 1), or set back
    from it (above 1), for ``--fit``."""
    mount: Callable[[Any, float], Any] | None = None
    """``mount(options, lowest)``: the options with a base that is raised until no moving part of the robot, the lowest
    of which is at ``lowest`` [m], starts inside the table, for ``--fit``."""
    work: Callable[[Any], Array] | None = None
    """Places (n x 3) where the tool has to come down, pointing down, for ``--fit`` and the pre-flight report."""


def measure_distance(a: Array, b: Array) -> Array:
    """Distance between points, or between one and many."""
    return np.asarray(np.linalg.norm(np.asarray(a) - np.asarray(b), axis=-1))


def place_base(position: VectorLike, yaw: float | None, target: VectorLike, forward: float) -> Pose:
    """A base at a position, turned by ``yaw`` [deg], or so that the tool's side faces a target."""
    # tools are not in front of every base: the side they are on is turned to the target
    facing = math.atan2(target[1] - position[1], target[0] - position[0]) - forward
    angle = facing if yaw is None else math.radians(yaw)
    return Pose.of(position, quat_from_axis_angle((0.0, 0.0, 1.0), angle))
