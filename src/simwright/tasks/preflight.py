# SPDX-License-Identifier: Apache-2.0
"""The pre-flight report: what a task needs against what a robot has, before anything moves.

Errors mean that the task cannot be done; warnings that some episodes may be lost; the rest is for knowing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic, Level, Reporter, Where
from simwright.core.errors import InputError, SimwrightError
from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind
from simwright.engines.mujoco.queries import BOX, SLIDE, MjData, MjModel
from simwright.tasks.compose import PREFIX
from simwright.tasks.environments import validate_options
from simwright.tasks.fitting import fit_scene, use_model
from simwright.tasks.manifest import ControlMode
from simwright.tasks.preflight_messages import (
    CANNOT_BE_SET_UP,
    CONTROLLED,
    DRIVEN_DIRECTLY,
    MADE_MOTORS,
    NEEDS_FIXED,
    NEEDS_FLOATING,
    NEEDS_GRIPPER,
    NEEDS_TOOL,
    OUT_OF_REACH,
    PARTLY_OUT_OF_REACH,
    SERVOS_ADDED,
    START_INSIDE_ITSELF,
    START_INSIDE_TASK,
    START_OUTSIDE_LIMITS,
    START_TOUCHES_TASK,
    STEP_CHANGED,
    UNBOUNDED,
    WRONG_ROBOT,
)
from simwright.tasks.randomize import Randomize
from simwright.tasks.robot import Robot, open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES

_SLACK = 1e-4
_SHOWN = 6
_SEEDS = 4
_TOUCH = 2e-3
"""Less than this is contact as any other [m]."""
_DEEP = 1e-2
"""More than this throws things about [m]."""


@dataclass(slots=True)
class Preflight:
    """The report.  ``rollout`` is the task with the robot in it, ready to be run; None where that is impossible."""

    task: str
    robot: str
    rollout: SimRollout | None = field(default=None, repr=False)
    findings: list[Diagnostic] = field(default_factory=list)

    @property
    def is_clear(self) -> bool:
        """No errors?"""
        return not self.errors

    @property
    def errors(self) -> list[Diagnostic]:
        """What stands against it."""
        return [found for found in self.findings if found.level is Level.ERROR]

    def expect_clear(self) -> SimRollout:
        """The rollout, or one error that says all that stands against it."""
        if self.errors or self.rollout is None:
            raise PreflightError(self)
        return self.rollout


class PreflightError(InputError):
    """The robot cannot do the task.  ``report`` says why."""

    code = "preflight"

    def __init__(self, report: Preflight) -> None:
        reasons = "; ".join(found.message for found in report.errors)
        super().__init__(
            f"{report.robot!r} cannot do {report.task!r}: {reasons}",
            hint="; ".join(dict.fromkeys(found.hint for found in report.errors if found.hint)),
        )
        self.report = report


def preflight(
    task: str | TaskScene,
    robot: str | Path | Robot,
    *,
    options: SceneOptions | Mapping[str, Any] | None = None,
    base: Pose | None = None,
    mode: ControlMode | str | None = None,
    period: float | None = None,
    max_steps: int | None = None,
    randomize: Randomize | Mapping[str, Any] | None = None,
    fit: bool = False,
) -> Preflight:
    """Hold a robot against a task.  The arguments are those of :func:`~simwright.tasks.environments.make_rollout`."""
    scene = task if isinstance(task, TaskScene) else SCENES.get(task)
    found = robot if isinstance(robot, Robot) else open_robot(robot)
    reporter = Reporter()
    report = Preflight(scene.name, found.id, findings=reporter.found)
    if scene.fixed_robot and scene.fixed_robot != found.id:
        reporter.report(WRONG_ROBOT, _where(found), task=scene.name, wanted=scene.fixed_robot, robot=found.id)
        return report
    chosen = options if isinstance(options, SceneOptions) else validate_options(scene, options or {})
    _report_needs(scene, chosen, found, reporter)
    try:
        if fit:
            chosen = fit_scene(scene, chosen, found, base).options
        report.rollout = SimRollout(
            scene,
            found,
            options=chosen,
            base=base,
            mode=mode,
            period=period,
            max_steps=max_steps,
            randomize=randomize,
        )
    except SimwrightError as error:
        reporter.report(
            CANNOT_BE_SET_UP, _where(found), task=scene.name, robot=found.id, reason=_spell_error(error)
        )
        return report
    inspect_rollout(report.rollout, reporter)
    return report


def inspect_rollout(rollout: SimRollout, reporter: Reporter) -> None:
    """Everything that only the composed task can tell: reach, the start, actuators, time."""
    _report_reach(rollout, reporter)
    _report_limits(rollout, reporter)
    _report_start_contacts(rollout, reporter)
    _report_actuators(rollout, reporter)
    _report_step(rollout, reporter)


def inspect_robot(robot: Robot, reporter: Reporter) -> None:
    """What can be said of a robot without a task: it is put on a floor, and its start and actuators are looked at."""
    scene = SCENES.get("locomotion_flat" if robot.facts.is_floating else "reach")
    rollout = SimRollout(scene, robot)
    _report_limits(rollout, reporter)
    _report_start_contacts(rollout, reporter)
    _report_actuators(rollout, reporter)


def _where(robot: Robot) -> Where:
    return Where(str(robot.file))


def _spell_error(error: SimwrightError) -> str:
    advice = f" ({error.hint})" if error.hint else ""
    return f"{error.message}{advice}"


def _report_needs(scene: TaskScene, options: Any, robot: Robot, reporter: Reporter) -> None:
    needs = scene.needs(options)
    floating = robot.facts.is_floating
    wrong = {
        NEEDS_FIXED: needs.base == "fixed" and floating,
        NEEDS_FLOATING: needs.base == "floating" and not floating,
        NEEDS_TOOL: needs.tool and robot.tool is None,
        NEEDS_GRIPPER: needs.gripper and not robot.has_gripper,
    }
    for kind, applies in wrong.items():
        if applies:
            reporter.report(kind, _where(robot), task=scene.name, robot=robot.id)


def _report_reach(rollout: SimRollout, reporter: Reporter) -> None:
    scene, robot = rollout.scene, rollout.robot
    if scene.workspace is None or robot.tool is None or robot.facts.is_floating:
        return
    corners = scene.workspace(rollout.options)
    reached = use_model(robot, rollout.model, rollout.home.qpos).test(corners)
    if reached.all():
        return
    distances = np.linalg.norm(corners - rollout.base.p, axis=1)
    values: dict[str, Any] = {
        "total": len(corners),
        "near": float(distances.min()),
        "far": float(distances.max()),
        "reach": robot.reach,
    }
    if not reached.any():
        reporter.report(OUT_OF_REACH, _where(robot), **values)
        return
    corner = "({:.3g}, {:.3g}, {:.3g})".format(*corners[int(np.argmin(reached))])
    missed = int((~reached).sum())
    reporter.report(PARTLY_OUT_OF_REACH, _where(robot), missed=missed, corner=corner, **values)


def _report_limits(rollout: SimRollout, reporter: Reporter) -> None:
    model, home = rollout.model, rollout.home
    for joint in range(model.njnt):
        address = int(model.jnt_qposadr[joint])
        if (
            address >= rollout.composed.robot_nq
            or model.jnt_type[joint] < SLIDE
            or not model.jnt_limited[joint]
        ):
            continue
        low, high = (float(v) for v in model.jnt_range[joint])
        value = float(home.qpos[address])
        if not low - _SLACK <= value <= high + _SLACK:
            name = model.joint(joint).name.removeprefix(PREFIX)
            reporter.report(
                START_OUTSIDE_LIMITS,
                _where(rollout.robot),
                joint=name,
                value=value,
                low=low,
                high=high,
                origin=home.origin,
            )


def _report_start_contacts(rollout: SimRollout, reporter: Reporter) -> None:
    """Start a few episodes and report each pair of parts once, at its deepest."""
    deepest: dict[tuple[str, str, bool], float] = {}
    for seed in range(_SEEDS):
        rollout.reset(seed)
        for pair, depth in (*_list_overlaps(rollout), *_list_crossings(rollout)):
            deepest[pair] = max(depth, deepest.get(pair, 0.0))
    for (part, thing, own), depth in sorted(deepest.items(), key=lambda item: -item[1]):
        kind = START_INSIDE_ITSELF if own else START_INSIDE_TASK if depth > _DEEP else START_TOUCHES_TASK
        reporter.report(kind, _where(rollout.robot), part=part, thing=thing, depth=depth)


def _list_overlaps(rollout: SimRollout) -> list[tuple[tuple[str, str, bool], float]]:
    data, last = rollout.data, rollout.composed.robot_nbody
    found = []
    for index in range(data.ncon):
        contact = data.contact[index]
        depth = -float(contact.dist)
        if depth < _TOUCH or contact.exclude:
            continue
        bodies = [int(rollout.model.geom_bodyid[geom]) for geom in contact.geom]
        own = [1 <= body <= last for body in bodies]
        if not any(own):
            continue
        first = 0 if own[0] else 1
        names = [_name(rollout.model, int(contact.geom[side]), bodies[side]) for side in (first, 1 - first)]
        names = sorted(names) if all(own) else names
        found.append(((names[0], names[1], all(own)), depth))
    return found


def _list_crossings(rollout: SimRollout) -> list[tuple[tuple[str, str, bool], float]]:
    """Links that go right through a board of the task: with both ends far from it, no contact tells of them."""
    model, data = rollout.model, rollout.data
    boards = [
        geom
        for geom in range(model.ngeom)
        if model.geom_type[geom] == BOX
        and model.geom_contype[geom]
        and not model.body_dofnum[model.body_rootid[model.geom_bodyid[geom]]]
        and not 1 <= model.geom_bodyid[geom] <= rollout.composed.robot_nbody
    ]
    found = []
    for body in range(1, 1 + rollout.composed.robot_nbody):
        parent = int(model.body_parentid[body])
        for geom in boards if parent else ():
            beyond = _measure_beyond(model, data, geom, (data.xpos[parent], data.xpos[body]))
            if beyond > _DEEP:
                found.append(((_name(model, -1, parent), _name(model, geom, 0), False), beyond))
    return found


def _measure_beyond(model: MjModel, data: MjData, geom: int, ends: tuple[Array, Array]) -> float:
    """How much of a line from outside a box to outside of it lies inside and behind it [m]; 0 where it misses."""
    turn, half = np.asarray(data.geom_xmat[geom]).reshape(3, 3), model.geom_size[geom]
    first, last = ((end - data.geom_xpos[geom]) @ turn for end in ends)
    if np.all(np.abs(first) <= half + _TOUCH) or np.all(np.abs(last) <= half + _TOUCH):
        return 0.0
    way = last - first
    with np.errstate(divide="ignore", invalid="ignore"):
        sides = np.sort(np.array([(-half - first) / way, (half - first) / way]), axis=0)
    inside = np.isfinite(sides).all(axis=0)
    if np.any(~inside & (np.abs(first) > half)):
        return 0.0
    enter, leave = sides[0][inside].max(initial=0.0), sides[1][inside].min(initial=1.0)
    return float((1.0 - enter) * np.linalg.norm(way)) if enter < leave else 0.0


def _name(model: MjModel, geom: int, body: int) -> str:
    """The body of a part of the robot or of an object; the geom of what belongs to the world."""
    name = model.body(body).name if body else model.geom(geom).name
    return str(name).removeprefix(PREFIX) or f"body {body}"


def _report_actuators(rollout: SimRollout, reporter: Reporter) -> None:
    where, mode = _where(rollout.robot), rollout.mode
    if rollout.robot.servos:
        reporter.report(SERVOS_ADDED, where, count=rollout.robot.servos)
    actuators = rollout.actuators
    joints = [a for a in actuators if a.joint >= 0 and a.kind is not ActuatorKind.GENERAL]
    groups: list[tuple[Any, Sequence[ActuatorInfo]]] = [
        (DRIVEN_DIRECTLY, [a for a in actuators if a not in joints])
    ]
    if mode is ControlMode.TORQUE:
        servos = [a for a in joints if a.kind is not ActuatorKind.MOTOR]
        limited = rollout.model.actuator_ctrllimited
        groups += [(MADE_MOTORS, servos), (UNBOUNDED, [a for a in joints if not limited[a.index]])]
    else:
        taken = {ActuatorKind.POSITION}
        if mode is ControlMode.VELOCITY:
            taken.add(ActuatorKind.VELOCITY)
        groups.append((CONTROLLED, [a for a in joints if a.kind not in taken]))
    word = (
        "velocity" if mode is ControlMode.VELOCITY else "torque" if mode is ControlMode.TORQUE else "position"
    )
    for kind, group in groups:
        if group:
            reporter.report(
                kind, where, count=len(group), total=len(actuators), mode=word, names=_spell_names(group)
            )


def _spell_names(group: Sequence[ActuatorInfo]) -> str:
    names = [actuator.name.removeprefix(PREFIX) or f"number {actuator.index}" for actuator in group]
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _report_step(rollout: SimRollout, reporter: Reporter) -> None:
    own = float(rollout.robot.source.make_spec().option.timestep)
    composed = rollout.composed
    used = composed.period / composed.substeps
    if abs(used - own) > 1e-9 * own:
        reporter.report(
            STEP_CHANGED,
            _where(rollout.robot),
            own=own,
            period=composed.period,
            count=composed.substeps,
            used=used,
        )
