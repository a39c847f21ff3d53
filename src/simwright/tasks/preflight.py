# SPDX-License-Identifier: Apache-2.0
"""The pre-flight report: what a task needs against what a robot has, before anything moves.

Errors mean that the task cannot be done; warnings that some episodes may be lost; the rest is for knowing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Kind, Reporter, Where
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind
from simwright.engines.mujoco.queries import BOX, SLIDE, MjData, MjModel, count_iterations
from simwright.tasks.baselines.arm import ScriptedArm
from simwright.tasks.baselines.grasp import plan_grasp
from simwright.tasks.baselines.push import PushPolicy
from simwright.tasks.baselines.scripted import CARRIERS, count_lost
from simwright.tasks.compose import PREFIX
from simwright.tasks.environments import validate_options
from simwright.tasks.findings import (
    CANNOT_BE_SET_UP,
    CANNOT_WORK,
    CONTROLLED,
    DRIVEN_DIRECTLY,
    GRIPPER_TOO_SMALL,
    JOINT_HELD,
    JOINT_WEAK,
    MADE_MOTORS,
    NEEDS_FIXED,
    NEEDS_FLOATING,
    NEEDS_GRIPPER,
    NEEDS_TOOL,
    OUT_OF_REACH,
    PARTLY_OUT_OF_REACH,
    SERVOS_ADDED,
    SLIPS_OUT,
    SOLVER_STOPS,
    START_INSIDE_ITSELF,
    START_INSIDE_TASK,
    START_OUTSIDE_LIMITS,
    START_TOUCHES_TASK,
    STEP_CHANGED,
    UNBOUNDED,
    WRONG_ROBOT,
    Preflight,
    PreflightError,
)
from simwright.tasks.fitting import (
    WorkTester,
    find_held_joints,
    find_weak_joints,
    fit_scene,
    make_reach_tester_in,
)
from simwright.tasks.manifest import ControlMode
from simwright.tasks.randomize import Randomize
from simwright.tasks.rewards import RewardChoice
from simwright.tasks.robot import TaskRobot, open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.terms import SuccessRule

__all__ = ["Preflight", "PreflightError", "inspect_robot", "inspect_rollout", "preflight"]

_SLACK = 1e-4
_SHOWN = 6
# a share of places that an arm may miss without a word: others are beside them
_FEW = 0.25
# how often fetching or pushing a thing is tried
_TRIALS = 3
# a joint that goes no more than this part of its way stands still
_STUCK = 0.2
# MuJoCo's own number of iterations of the solver, and in which part of the steps they may all be needed
_ITERATIONS, _RARE = 100, 0.005
_SEEDS = 4
# less than this is contact as any other [m]
_TOUCH = 2e-3
# more than this throws things about [m]
_DEEP = 1e-2


def preflight(
    task: str | TaskScene,
    robot: str | Path | TaskRobot,
    *,
    options: SceneOptions | Mapping[str, Any] | None = None,
    base: Pose | None = None,
    mode: ControlMode | str | None = None,
    period: float | None = None,
    max_steps: int | None = None,
    randomize: Randomize | Mapping[str, Any] | None = None,
    fit: bool = False,
    reward: RewardChoice = "dense",
    success: SuccessRule | Mapping[str, Any] | None = None,
) -> Preflight:
    """Check whether a robot can do a task.

    The arguments are those of :func:`~simwright.tasks.environments.make_rollout`.
    """
    scene = task if isinstance(task, TaskScene) else SCENES.get(task)
    found = robot if isinstance(robot, TaskRobot) else open_robot(robot)
    reporter = Reporter()
    report = Preflight(scene.name, found.id, findings=reporter.found)
    # nothing else is looked at: every other finding would follow from this one
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
            reward=reward,
            success=success,
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
    _report_weak(rollout, reporter)
    _report_grasp(rollout, reporter)
    _report_push(rollout, reporter)
    _report_actuators(rollout, reporter)
    _report_step(rollout, reporter)


def inspect_robot(robot: TaskRobot, reporter: Reporter) -> None:
    """What can be said of a robot without a task: it is put on a floor, and its start and actuators are looked at."""
    scene = SCENES.get("locomotion_flat" if robot.facts.is_floating else "reach")
    rollout = SimRollout(scene, robot)
    _report_limits(rollout, reporter)
    _report_start_contacts(rollout, reporter)
    _report_actuators(rollout, reporter)


def _where(robot: TaskRobot) -> Where:
    return Where(str(robot.file))


def _spell_error(error: SimwrightError) -> str:
    advice = f" ({error.hint})" if error.hint else ""
    return f"{error.message}{advice}"


def _report_needs(scene: TaskScene, options: SceneOptions, robot: TaskRobot, reporter: Reporter) -> None:
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
    reached = make_reach_tester_in(robot, rollout.model, rollout.home.qpos).test(corners)
    if reached.all():
        _report_work(rollout, reporter)
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


def _report_work(rollout: SimRollout, reporter: Reporter) -> None:
    scene, robot = rollout.scene, rollout.robot
    if scene.work is None:
        return
    tester = WorkTester(
        make_reach_tester_in(robot, rollout.model, rollout.home.qpos), rollout.composed.robot_nbody
    )
    places = scene.work(rollout.options)
    missed = [place for place in places if not tester.test(place)]
    if len(missed) > _FEW * len(places):
        spot = "({:.3g}, {:.3g}, {:.3g})".format(*missed[0])
        reporter.report(CANNOT_WORK, _where(robot), missed=len(missed), total=len(places), place=spot)


def _report_grasp(rollout: SimRollout, reporter: Reporter) -> None:
    """Would the thing go between the fingers, and stay there?"""
    thing = rollout.scene.needs(rollout.options).grasp
    if not thing or not rollout.robot.has_gripper or rollout.controller.mover is None:
        return
    if rollout.mode is not ControlMode.POSITION:
        return
    rollout.reset(seed=0)
    where, plan = _where(rollout.robot), plan_grasp(rollout, ScriptedArm(rollout), thing)
    if plan.room <= 0.0:
        name = rollout.model.body(plan.part).name.removeprefix(PREFIX)
        reporter.report(GRIPPER_TOO_SMALL, where, thing=thing, depth=-plan.room, part=name)
        return
    policy = CARRIERS.get(rollout.scene.name)
    lost = 0 if policy is None else count_lost(rollout, policy(), _TRIALS)
    if 2 * lost > _TRIALS:
        reporter.report(SLIPS_OUT, where, thing=thing, lost=lost, trials=_TRIALS, room=plan.room)


def _report_push(rollout: SimRollout, reporter: Reporter) -> None:
    """Does the solver find the forces when a thing is pushed?"""
    limit = int(rollout.model.opt.iterations)
    pushes = rollout.scene.name == PushPolicy.task and rollout.mode is ControlMode.POSITION
    if not pushes or limit >= _ITERATIONS or rollout.controller.mover is None:
        return
    policy, count, total = PushPolicy(), 0, 0
    for seed in range(_TRIALS):
        observation, done = rollout.reset(seed), False
        policy.start(rollout)
        while not done:
            result = rollout.step(policy.act(observation))
            observation, done = result.observation, result.terminated or result.truncated
            count += count_iterations(rollout.data) >= limit
            total += 1
    if count > _RARE * total:
        reporter.report(SOLVER_STOPS, _where(rollout.robot), limit=limit, count=count, total=total)


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
    deep = any(own for _, _, own in deepest)
    if deep or _touches_itself(rollout):
        _report_held(rollout, reporter, deep=deep)


def _touches_itself(rollout: SimRollout) -> bool:
    """Do parts of the robot touch each other once it holds itself where it starts, however little?"""
    rollout.reset(seed=0)
    rollout.step(rollout.controller.hold())
    bodies = np.asarray(rollout.model.geom_bodyid)
    pairs = [bodies[contact.geom] for contact in rollout.data.contact if not contact.exclude]
    last = rollout.composed.robot_nbody
    return any(bool(np.all((pair >= 1) & (pair <= last))) for pair in pairs)


def _report_held(rollout: SimRollout, reporter: Reporter, *, deep: bool) -> None:
    """Which joints do not go where they are told?"""
    probe, most = rollout, 1.0
    if rollout.mode is not ControlMode.POSITION or not deep:
        # a tool that is moved step by step gets there with a joint that is slow, but not with one that stands still
        most = _STUCK
    if rollout.mode.moves_tools:
        probe = _make_probe(rollout)
    for joint, share in find_held_joints(probe).items():
        if share < most:
            reporter.report(JOINT_HELD, _where(rollout.robot), joint=joint, percent=round(100 * share))


def _report_weak(rollout: SimRollout, reporter: Reporter) -> None:
    """Which joints stand still although nothing holds them?"""
    probe = _make_probe(rollout) if rollout.mode.moves_tools else rollout
    for joint, share in find_weak_joints(probe).items():
        reporter.report(JOINT_WEAK, _where(rollout.robot), joint=joint, percent=round(100 * share))


def _make_probe(rollout: SimRollout) -> SimRollout:
    """The same task with joints that are told where to go, one by one."""
    options, base = rollout.options, rollout.base
    return SimRollout(rollout.scene, rollout.robot, options=options, base=base, mode=ControlMode.POSITION)


def _list_overlaps(rollout: SimRollout) -> list[tuple[tuple[str, str, bool], float]]:
    data, last = rollout.data, rollout.composed.robot_nbody
    found = []
    for index in range(data.ncon):
        contact = data.contact[index]
        depth = -float(contact.dist)
        # contacts that MuJoCo finds and does not resolve (in the gap, or between dependent bodies)
        if depth < _TOUCH or contact.exclude:
            continue
        bodies = [int(rollout.model.geom_bodyid[geom]) for geom in contact.geom]
        own = [1 <= body <= last for body in bodies]
        if not any(own):
            continue
        first = 0 if own[0] else 1
        names = [_name(rollout.model, int(contact.geom[side]), bodies[side]) for side in (first, 1 - first)]
        # the order of a pair of the robot's own parts says nothing
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
    # an end in the board is found as a contact already
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
    where = _where(rollout.robot)
    if rollout.robot.servos:
        reporter.report(SERVOS_ADDED, where, count=rollout.robot.servos)
    # the mode pose tells joints their positions, so it is reported as that
    mode = ControlMode.POSITION if rollout.mode is ControlMode.POSE else rollout.mode
    total = len(rollout.actuators)
    for kind, group in _group_actuators(rollout):
        if group:
            names = _spell_names(group)
            reporter.report(kind, where, count=len(group), total=total, mode=mode.value, names=names)


def _group_actuators(rollout: SimRollout) -> list[tuple[Kind, Sequence[ActuatorInfo]]]:
    """The actuators about which there is something to say, by what is to be said."""
    actuators, mode = rollout.actuators, rollout.mode
    joints = [a for a in actuators if a.joint >= 0 and a.kind is not ActuatorKind.GENERAL]
    groups: list[tuple[Kind, Sequence[ActuatorInfo]]] = [
        (DRIVEN_DIRECTLY, [a for a in actuators if a not in joints])
    ]
    if mode is ControlMode.OSC:
        # torques are for the joints that carry tools; fingers stay what they are
        joints = [a for a in joints if a.joint in rollout.controller.arm_joints]
    if mode in (ControlMode.TORQUE, ControlMode.OSC):
        unlimited = [a for a in joints if not rollout.model.actuator_ctrllimited[a.index]]
        return [*groups, (MADE_MOTORS, _leave_out(joints, ActuatorKind.MOTOR)), (UNBOUNDED, unlimited)]
    taken = [ActuatorKind.POSITION, *([ActuatorKind.VELOCITY] if mode is ControlMode.VELOCITY else [])]
    return [*groups, (CONTROLLED, _leave_out(joints, *taken))]


def _leave_out(actuators: Sequence[ActuatorInfo], *kinds: ActuatorKind) -> list[ActuatorInfo]:
    return [actuator for actuator in actuators if actuator.kind not in kinds]


def _spell_names(group: Sequence[ActuatorInfo]) -> str:
    names = [actuator.name.removeprefix(PREFIX) or f"number {actuator.index}" for actuator in group]
    return ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")


def _report_step(rollout: SimRollout, reporter: Reporter) -> None:
    # of the file itself: the composed model has the task's
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
