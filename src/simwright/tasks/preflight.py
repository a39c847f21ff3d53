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

from simwright.core.diag import Diagnostic, Kind, Level, Reporter, Where, declare
from simwright.core.errors import InputError, SimwrightError
from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import ActuatorInfo, ActuatorKind
from simwright.engines.mujoco.queries import BOX, SLIDE, MjData, MjModel
from simwright.tasks.baselines.scripted import measure_grasp
from simwright.tasks.compose import PREFIX
from simwright.tasks.environments import validate_options
from simwright.tasks.fitting import WorkTester, find_held_joints, fit_scene, make_reach_tester_in
from simwright.tasks.manifest import ControlMode
from simwright.tasks.randomize import Randomize
from simwright.tasks.rewards import RewardChoice
from simwright.tasks.robot import TaskRobot, open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.terms import SuccessRule

WRONG_ROBOT = declare(
    "preflight-wrong-robot",
    Level.ERROR,
    "the task {task!r} is made for the robot {wanted!r}, not for {robot!r}",
    hint="leave --robot out",
    doc="A task scene that is made for one robot was asked for with another.",
)
NEEDS_FIXED = declare(
    "preflight-needs-fixed-base",
    Level.ERROR,
    "the task {task!r} needs a robot that is mounted, but the base of {robot!r} floats",
    hint="'base: fixed' in its manifest mounts it; locomotion_flat takes robots that float",
    doc="The task is for arms on a fixed base; this robot would fall over.",
)
NEEDS_FLOATING = declare(
    "preflight-needs-floating-base",
    Level.ERROR,
    "the task {task!r} needs a robot that can move about, but {robot!r} is fixed to the world",
    hint="'base: floating' in its manifest frees it",
    doc="The task asks the robot to get somewhere, and its base has no free joint.",
)
NEEDS_TOOL = declare(
    "preflight-needs-tool",
    Level.ERROR,
    "the task {task!r} needs a tool, and none is known for {robot!r}",
    hint="name a body or site in the manifest: end_effector: {{frame: NAME}}",
    doc="The task is judged by, or worked with, the end of an arm; the robot has no frame that could be it.",
)
NEEDS_GRIPPER = declare(
    "preflight-needs-gripper",
    Level.ERROR,
    "the task {task!r} needs a gripper, and none is known for {robot!r}",
    hint="say in the manifest which actuators open and close: gripper: {{actuators: [...], open: ..., closed: ...}}",
    doc="The task asks to grasp; neither the manifest nor the robot's structure shows a gripper.",
)
CANNOT_BE_SET_UP = declare(
    "preflight-cannot-be-set-up",
    Level.ERROR,
    "the robot {robot!r} cannot be put into the task {task!r}: {reason}",
    doc="Composing the robot with the task, or controlling it as asked, is impossible.",
)
OUT_OF_REACH = declare(
    "preflight-out-of-reach",
    Level.ERROR,
    "none of the {total} corners of the workspace can be reached: they are {near:.2f} to {far:.2f} m from the base, "
    "the tool gets {reach:.2f} m from it",
    hint="--fit scales the workspace to the robot; or move the base or the workspace by --set",
    doc="The places where the task may put things are beyond what the robot reaches inside its joint limits.",
)
PARTLY_OUT_OF_REACH = declare(
    "preflight-partly-out-of-reach",
    Level.WARNING,
    "{missed} of the {total} corners of the workspace cannot be reached, the first at {corner}: they are {near:.2f} to "
    "{far:.2f} m from the base, the tool gets {reach:.2f} m from it",
    hint="--fit scales the workspace to the robot; or move the base or the workspace by --set",
    doc="Some of the places where the task may put things are beyond what the robot reaches inside its joint limits, "
    "so some episodes cannot be won.",
)
CANNOT_WORK = declare(
    "preflight-tool-cannot-work",
    Level.WARNING,
    "the tool cannot come down from above at {missed} of the {total} places: it would tilt by more than 50 "
    "degrees, or links of the arm would overlap; the first is {place}",
    hint="--fit sets the workspace where the arm has room; or move the base by --set robot_base_xyz=...",
    doc="Tasks on a table are worked on from above.  An arm that reaches a place only sideways, or with its links "
    "inside each other, loses episodes there.  Reported for more than a quarter of the places.",
)
GRIPPER_TOO_SMALL = declare(
    "preflight-gripper-too-small",
    Level.WARNING,
    "the object does not fit between the open fingers: {thing!r} at the tool would be {depth:.3f} m inside "
    "{part!r}",
    hint="make it smaller by --set, or say in the manifest where the tool is (end_effector) and how it opens (gripper)",
    doc="The object to grasp is placed at the tool, between open fingers, and overlaps them: the "
    "gripper opens too little, or the tool's frame is not between its finger tips.",
)
START_OUTSIDE_LIMITS = declare(
    "preflight-start-outside-limits",
    Level.WARNING,
    "the robot starts with joint {joint!r} at {value:.4g}, outside its limits {low:.4g} .. {high:.4g} ({origin})",
    hint="give another start in the manifest: joints: [{{name: {joint}, home: ...}}]",
    doc="The pose the robot starts from is one that its limits push it out of.",
)
START_INSIDE_TASK = declare(
    "preflight-start-collides",
    Level.ERROR,
    "the robot starts {depth:.3f} m inside the task: its {part!r} is in {thing!r}",
    hint="move its base (--set robot_base_xyz=...) or give another start in the manifest",
    doc="Where an episode starts, a part of the robot is inside the table, the floor or an object, and would be thrown "
    "out of it.",
)
START_TOUCHES_TASK = declare(
    "preflight-start-touches",
    Level.WARNING,
    "the robot starts {depth:.3f} m inside the task: its {part!r} is in {thing!r}",
    hint="move its base (--set robot_base_xyz=...) or give another start in the manifest",
    doc="Where an episode starts, a part of the robot is a little inside the table, the floor or an object.",
)
START_INSIDE_ITSELF = declare(
    "preflight-start-collides-with-itself",
    Level.WARNING,
    "the robot starts with its {part!r} {depth:.3f} m inside its {thing!r}",
    hint="give another start in the manifest, or exclude the pair in the robot's file",
    doc="Two parts of the robot overlap where it starts, so that they push each other apart.",
)
JOINT_HELD = declare(
    "preflight-joint-held",
    Level.WARNING,
    "parts of the robot that are inside each other hold its joint {joint!r}: it goes {percent} % of the way it is told",
    hint="exclude the pair in the robot's file (MJCF: contact/exclude); as it is, expect policies to fail",
    doc="Parts of the robot overlap where it starts, and the friction between them brakes a joint so hard that "
    "policies do not get where they want to.  It is tried out: every joint that carries the tool is told to move a "
    "little, with contacts and without.",
)
CONTROLLED = declare(
    "preflight-controller-between",
    Level.INFO,
    "{count} of {total} actuators do not take a {mode}; a controller computes their commands: {names}",
    doc="Actions are positions or velocities, and the robot's actuators are motors: a controller computes their "
    "commands at every step.",
)
DRIVEN_DIRECTLY = declare(
    "preflight-own-control",
    Level.INFO,
    "{count} of {total} actuators are commanded in their own units, not by a {mode} of a joint: {names}",
    doc="Tendons, sites and special actuators take commands in their own units.",
)
MADE_MOTORS = declare(
    "preflight-made-motors",
    Level.INFO,
    "{count} of {total} actuators become motors, bounded by the force they had: {names}",
    doc="Actions are torques, and the robot's actuators are servos: their servo is taken away.",
)
UNBOUNDED = declare(
    "preflight-unbounded-force",
    Level.WARNING,
    "{count} of {total} actuators have no largest force, so that torques are not bounded: {names}",
    hint="give one in the manifest: sim: {{actuators: {{JOINT: {{kind: motor, force: ...}}}}}}",
    doc="Actions are torques, and nothing in the robot's file says how large they may be.",
)
SERVOS_ADDED = declare(
    "preflight-servos-added",
    Level.INFO,
    "the robot's file drives nothing; {count} position servos are added, with gains from its own inertia; "
    "an Euler integrator becomes implicitfast, which their damping needs",
    hint="sim.actuators in a manifest says otherwise",
    doc="A robot without actuators cannot act, so each of its joints gets a servo.",
)
STEP_CHANGED = declare(
    "preflight-step-changed",
    Level.INFO,
    "the robot's time step of {own:g} s does not divide the control period of {period:g} s; {count} steps of "
    "{used:g} s are made",
    doc="The control period belongs to the task; the time step is the largest part of it that is not above the "
    "robot's.",
)

_SLACK = 1e-4
_SHOWN = 6
# a share of places that an arm may miss without a word: others are beside them
_FEW = 0.25
# how far a thing may overlap open fingers: they are pushed aside [m]
_TIGHT = 4e-3
_SEEDS = 4
# less than this is contact as any other [m]
_TOUCH = 2e-3
# more than this throws things about [m]
_DEEP = 1e-2


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
    _report_grasp(rollout, reporter)
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
    """Would the thing go between the fingers?"""
    thing = rollout.scene.needs(rollout.options).grasp
    if not thing or not rollout.robot.has_gripper or rollout.controller.mover is None:
        return
    if rollout.mode is not ControlMode.POSITION:
        return
    depth, part = measure_grasp(rollout, thing)
    if depth > _TIGHT:
        name = rollout.model.body(part).name.removeprefix(PREFIX)
        reporter.report(GRIPPER_TOO_SMALL, _where(rollout.robot), thing=thing, depth=depth, part=name)


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
    if any(own for _, _, own in deepest):
        for joint, share in find_held_joints(rollout).items():
            reporter.report(JOINT_HELD, _where(rollout.robot), joint=joint, percent=round(100 * share))


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
