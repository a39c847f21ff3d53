# SPDX-License-Identifier: Apache-2.0
"""The pre-flight report of a robot in a task, and the kinds of findings that it may have.

Errors mean that the task cannot be done; warnings that some episodes may be lost; the rest is for knowing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simwright.core.diag import Diagnostic, Level, declare
from simwright.core.errors import InputError

if TYPE_CHECKING:
    from simwright.tasks.rollout import SimRollout

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
    "the object does not fit between the open fingers: {thing!r} at the tool would be {depth:.4f} m inside "
    "{part!r}, and nowhere beside it is there room between two fingers",
    hint="make it smaller by --set, or say in the manifest where the tool is (end_effector) and how it opens (gripper)",
    doc="The object to grasp is put at places along the line on which the fingers close, with the gripper open, and is "
    "free nowhere with a finger on either side: the gripper opens too little, or the tool's frame is not between its "
    "finger tips.",
)
SLIPS_OUT = declare(
    "preflight-object-slips-out",
    Level.WARNING,
    "the gripper does not hold the object: in {lost} of {trials} trials {thing!r} was not in the hand once the gripper "
    "had closed on it and the tool had gone up, although there is {room:.3f} m of room on either side of it",
    hint="fingers lose what they meet at an angle, rub too little or press so hard that it gives way; make it smaller "
    "by --set, or change the friction of the fingers' shapes, or the force or armature of the gripper, in the file",
    doc="The object fits between the fingers, but does not stay there.  It is tried out: the scripted policy fetches "
    "it a few times.  Reported where most trials fail.",
)
SOLVER_STOPS = declare(
    "preflight-solver-stops-early",
    Level.WARNING,
    "the robot's file ends the solver after {limit} iterations, too early in {count} of {total} control steps of a "
    "trial: what is squeezed between the robot and the table may be thrown away",
    hint='give its file more: MJCF: <option iterations="100" ls_iterations="50"/>',
    doc="A robot's file keeps its own solver settings in a task.  With few iterations MuJoCo stops before it has found "
    "the contact forces, and light things that are pushed get speeds from nowhere.  It is tried out where the file "
    "allows fewer than MuJoCo's own number of iterations.",
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
JOINT_WEAK = declare(
    "preflight-joint-weak",
    Level.WARNING,
    "joint {joint!r} goes {percent} % of the way it is told although nothing is in its way",
    hint="its actuator is too weak for its friction and load: say its gains and force in the manifest "
    "(sim: {{actuators: {{{joint}: {{kind: position, kp: ..., force: ...}}}}}}) or in the robot's file",
    doc="A joint that carries the tool stands nearly still when it is told to move a little, also without contacts, so "
    "the tool does not get to where policies want it.  It is tried out for each of them.",
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
    doc="A robot without actuators, or with such as give no force (transmissions of URDF come without gains), cannot "
    "act, so each of its joints gets a servo.",
)
STEP_CHANGED = declare(
    "preflight-step-changed",
    Level.INFO,
    "the robot's time step of {own:g} s does not divide the control period of {period:g} s; {count} steps of "
    "{used:g} s are made",
    doc="The control period belongs to the task; the time step is the largest part of it that is not above the "
    "robot's.",
)


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
