# SPDX-License-Identifier: Apache-2.0
"""A robot and a task in one MuJoCo model, composed by ``MjSpec``, never by text.

The robot is attached first, below a frame and with a prefix, so that

- it keeps its joints, actuators and coordinates at the low indices, in its own order; what the task adds comes after;
- all its root bodies, fixed or floating, are placed as one by the base pose, without looking for a name;
- its default classes and compiler settings stay its own, and its solver options count (conflicts are merged).

The control period is the task's: the time step becomes the largest one that divides it and is not above the robot's.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.engines.mujoco.queries import MjModel
from simwright.formats.mjcf.quiet import quiet_mujoco
from simwright.tasks.specs import MjSpec, SpecSource, compile_spec, start_spec

PREFIX = "robot/"
"""Stands before every name of the robot, so that none can clash with the task's."""

AddTask = Callable[[MjSpec], None]
"""Adds the elements of a task to a specification whose first part is the robot."""


@dataclass(slots=True)
class Composed:
    """A compiled scene and where the robot is in it.

    ``robot_nq``, ``robot_nv`` and ``robot_nu`` count coordinates, velocities and controls of the robot: its own are the
    first of each.  Its bodies have the ids 1 to ``robot_nbody``; the world is 0.  ``substeps`` of the time step make a
    control period.
    """

    spec: MjSpec = field(repr=False)
    model: MjModel = field(repr=False)
    base: Pose
    robot_nq: int
    robot_nv: int
    robot_nu: int
    robot_nbody: int
    substeps: int
    period: float


def compose_scene(
    source: SpecSource,
    add_task: AddTask,
    *,
    base: Pose = IDENTITY,
    period: float = 0.02,
    amend_robot: Callable[[MjSpec], None] | None = None,
) -> Composed:
    """Attach the robot, add the task, compile.

    ``period`` is the control period [s].  ``amend_robot`` may change the robot's own specification before it is
    attached (actuator overrides, cameras).
    """
    if not (math.isfinite(period) and period > 0.0):
        raise UsageError(f"the control period is {period} s; it has to be positive")
    where = Where(str(source.origin))
    robot = source.make_spec()
    if amend_robot is not None:
        amend_robot(robot)
    # a copy, so that the specification that is attached was never compiled
    alone = compile_spec(robot.copy(), "the robot", where)
    _spread_mass(robot, alone, where)
    # the robot's solver options count; without merging MuJoCo takes those of the scene
    scene = start_spec("scene")
    frame = scene.worldbody.add_frame(pos=base.p.tolist(), quat=base.q.tolist())
    with quiet_mujoco():
        scene.attach(robot, prefix=PREFIX, frame=frame)
    add_task(scene)
    substeps = _divide_period(period, float(alone.opt.timestep))
    scene.option.timestep = period / substeps
    model = compile_spec(scene, "the scene", where)
    # merging takes the robot's time step at compilation
    model.opt.timestep = period / substeps
    composed = Composed(
        scene,
        model,
        base,
        int(alone.nq),
        int(alone.nv),
        int(alone.nu),
        int(alone.nbody) - 1,
        substeps,
        period,
    )
    _check_order(alone, composed)
    return composed


def _spread_mass(robot: MjSpec, alone: MjModel, where: Where) -> None:
    """Give the parts the masses that ``settotalmass`` scales them to: of a robot that is attached MuJoCo forgets it."""
    if not robot.compiler.settotalmass > 0.0:
        return
    robot.compiler.settotalmass = -1.0
    plain = compile_spec(robot.copy(), "the robot", where)
    factor = float(alone.body_mass.sum() / plain.body_mass.sum())
    for body in robot.bodies:
        body.mass *= factor
        # what is not said is no number, and stays that
        body.inertia, body.fullinertia = factor * body.inertia, factor * body.fullinertia
        for geom in body.geoms:
            geom.mass, geom.density = factor * geom.mass, factor * geom.density


def _divide_period(period: float, timestep: float) -> int:
    """Into how many steps of at most the robot's own length."""
    # a period of ten steps is ten, also where the quotient is 10.000000001
    return max(1, math.ceil(period / timestep - 1e-9))


def _check_order(alone: MjModel, composed: Composed) -> None:
    """The contract: low indices, own order."""
    model = composed.model
    assert np.array_equal(model.jnt_type[: alone.njnt], alone.jnt_type)
    assert np.array_equal(model.jnt_qposadr[: alone.njnt], alone.jnt_qposadr)
    assert np.array_equal(model.actuator_trntype[: alone.nu], alone.actuator_trntype)
    assert [model.joint(i).name.removeprefix(PREFIX) for i in range(alone.njnt)] == [
        alone.joint(i).name for i in range(alone.njnt)
    ]
