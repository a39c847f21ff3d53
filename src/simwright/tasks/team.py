# SPDX-License-Identifier: Apache-2.0
"""Several robots in one task: two arms at a table, or an arm on a base that drives.

A team is one robot for all that composes, steps and observes: its members are attached to one specification, each
below its own frame and with its name as a prefix (``left/joint1``), and what is known of them is put together.  Actions
have the actuators of the members one after the other; in the modes that move tools, one tool after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import Field, model_validator

from simwright.core.diag import Where
from simwright.core.documents.expressions import Number
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.validate import validate_values
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.engines.mujoco.actuation import list_actuators
from simwright.engines.mujoco.queries import SLIDE, MjModel
from simwright.formats.mjcf.quiet import quiet_mujoco
from simwright.tasks.amending import TOOL
from simwright.tasks.compose import PREFIX, compose_scene
from simwright.tasks.home import HOME, find_home
from simwright.tasks.manifest import GripControls, check_id
from simwright.tasks.robot import TaskRobot, open_robot
from simwright.tasks.specs import MjBody, MjSpec, SpecSource, compile_spec, start_spec


@dataclass(frozen=True, slots=True)
class TeamMember:
    """A robot of a team.  ``base`` places it in the world, or on the frame ``on`` of another member.

    ``on`` is ``MEMBER`` (its last body that stands still on its base), or ``MEMBER/BODY``: a body or site.
    """

    name: str
    robot: TaskRobot
    base: Pose = IDENTITY
    on: str = ""


@dataclass(slots=True, weakref_slot=True)
class TeamSource(SpecSource):
    """Specifications of a whole team."""

    members: tuple[TeamMember, ...] = ()
    home: tuple[Array, Array] | None = field(default=None, repr=False)
    """Coordinates and controls at the start; found after the first specification was compiled."""

    def make_spec(self) -> MjSpec:
        """All members in one."""
        team = start_spec("team")
        steps = []
        for member in self.members:
            spec = member.robot.source.make_spec()
            member.robot.amend(spec)
            steps.append(float(spec.option.timestep))
            for key in list(spec.keys):
                # the team has one start, in which each member is where its own keyframe has it
                spec.delete(key)
            mount = team.worldbody if not member.on else _find_mount(team, member)
            frame = mount.add_frame(pos=member.base.p.tolist(), quat=member.base.q.tolist())
            with quiet_mujoco():
                team.attach(spec, prefix=f"{member.name}/", frame=frame)
        # what is stable for one may be too long for another
        team.option.timestep = min(steps)
        if self.home is not None:
            qpos, ctrl = self.home
            team.add_key(name=HOME, qpos=qpos.tolist(), ctrl=ctrl.tolist())
        return team


def _find_mount(team: MjSpec, member: TeamMember) -> MjBody:
    """The body that a member stands on."""
    names = [body.name for body in team.bodies if body.name != "world"]
    if member.on in names:
        return team.body(member.on)
    sites = {site.name: site for site in team.sites}
    if member.on in sites:
        body: MjBody = sites[member.on].parent
        return body
    raise UnknownNameError(f"body that {member.name!r} stands on", member.on, [*names, *sites])


@dataclass(slots=True)
class RobotTeam(TaskRobot):
    """Several robots as one."""

    members: tuple[TeamMember, ...] = ()

    @property
    def speed_limits(self) -> dict[str, float]:
        """Largest speeds of all joints."""
        return {
            f"{member.name}/{joint}": speed
            for member in self.members
            for joint, speed in member.robot.speed_limits.items()
        }

    @property
    def workers(self) -> tuple[TeamMember, ...]:
        """Members with a tool; what carries another robot has none of its own."""
        return list_workers(self.members)

    @property
    def tools(self) -> tuple[str, ...]:
        """Sites of the tools."""
        return tuple(f"{member.name}/{TOOL}" for member in self.workers)

    @property
    def tool_names(self) -> tuple[str, ...]:
        """What the tools are called."""
        return tuple(member.name for member in self.workers)

    @property
    def grips(self) -> tuple[GripControls | None, ...]:
        """The gripper of each tool, with numbers of actuators in the team."""
        found: list[GripControls | None] = []
        first = 0
        for member in self.members:
            if member in self.workers:
                grip = member.robot.grips[0]
                found.append(None if grip is None else (tuple(first + i for i in grip[0]), *grip[1:]))
            first += len(member.robot.facts.actuators)
        return tuple(found)

    @property
    def gripper_actuators(self) -> tuple[int, ...]:
        """Numbers of the actuators of all grippers."""
        return tuple(index for grip in self.grips if grip is not None for index in grip[0])

    @property
    def has_gripper(self) -> bool:
        """Has every tool something that opens and closes?"""
        return bool(self.grips) and all(grip is not None for grip in self.grips)


def list_workers(members: Sequence[TeamMember]) -> tuple[TeamMember, ...]:
    """Members with a tool that carry no other."""
    carriers = {member.on.partition("/")[0] for member in members}
    return tuple(one for one in members if one.robot.tool is not None and one.name not in carriers)


def form_team(members: Sequence[TeamMember]) -> RobotTeam:
    """Put robots together; names are those of the members, the first one is who tasks for one robot look at."""
    # what is wrong with the members is told before anything is compiled
    if not members:
        raise UsageError("a team has at least one robot")
    names = [check_id(member.name) for member in members]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two robots are called {twice!r}")
    resolved = _resolve_mounts(members)
    first = resolved[0].robot
    source = TeamSource(first.source.file, first.source.origin, {}, tuple(resolved))
    model = compile_spec(source.make_spec(), "the robots", Where(str(first.file)))
    source.home = _find_start(model, resolved)
    facts = replace(
        first.facts,
        is_floating=any(member.robot.facts.is_floating for member in resolved if not member.on),
        actuators=tuple(list_actuators(model)),
        dofs=sum(member.robot.facts.dofs for member in resolved),
        reach=max(member.robot.reach for member in resolved),
    )
    cameras = tuple(model.camera(index).name for index in range(model.ncam))
    name = "+".join(member.robot.id for member in resolved)
    tool = next((member.robot.tool for member in list_workers(resolved)), None)
    return RobotTeam(
        name, Path(first.file), source, facts, None, 0, tool, cameras, None, 0.0, tuple(resolved)
    )


def _resolve_mounts(members: Sequence[TeamMember]) -> list[TeamMember]:
    """Members whose ``on`` names a body or site; those that others stand on come first."""
    known: dict[str, TeamMember] = {}
    for member in members:
        if not member.on:
            known[member.name] = member
            continue
        owner, _, frame = member.on.partition("/")
        if owner not in known:
            # robots that carry others come first
            raise UnknownNameError(f"robot before {member.name!r} that it stands on", owner, known)
        frame = frame or _find_top(known[owner].robot)
        known[member.name] = replace(member, on=f"{owner}/{frame}")
    return list(known.values())


def _find_top(robot: TaskRobot) -> str:
    """The body that an arm is mounted on: that of the tool, which is the last one of a base without an arm."""
    if robot.tool is None:
        raise UsageError(f"nothing can be mounted on {robot.id!r}", hint="name a body: on: MEMBER/BODY")
    return robot.tool.frame


def _find_start(model: MjModel, members: Sequence[TeamMember]) -> tuple[Array, Array]:
    """Coordinates and controls of the team where every member starts as it does alone."""
    qpos, ctrl = np.array(model.qpos0), np.zeros(model.nu)
    joints = {model.joint(index).name: index for index in range(model.njnt)}
    for member, first in zip(members, _count_actuators(members), strict=True):
        composed = compose_scene(
            member.robot.source,
            lambda spec: None,  # noqa: ARG005 - no task
            base=member.base,
            amend_robot=member.robot.amend,
        )
        home = find_home(composed, keyframe=member.robot.keyframe, joints=member.robot.home_joints)
        alone = composed.model
        for joint in range(alone.njnt):
            name = f"{member.name}/{alone.joint(joint).name.removeprefix(PREFIX)}"
            # free joints of what is mounted on another are welded there
            if name not in joints:
                continue
            width = 1 if alone.jnt_type[joint] >= SLIDE else 4 if alone.jnt_type[joint] == 1 else 7
            here, there = int(alone.jnt_qposadr[joint]), int(model.jnt_qposadr[joints[name]])
            qpos[there : there + width] = home.qpos[here : here + width]
        ctrl[first : first + alone.nu] = home.ctrl[: alone.nu]
    return qpos, ctrl


def _count_actuators(members: Sequence[TeamMember]) -> list[int]:
    """The number of the first actuator of each member."""
    counts = [len(member.robot.facts.actuators) for member in members]
    return [sum(counts[:number]) for number in range(len(counts))]


_UNIT = 1e-3


class BasePose(Record):
    """Where the robot's base is in the world."""

    xyz: tuple[Number, Number, Number] = Field((0.0, 0.0, 0.0), description="[m]")
    quat: tuple[Number, Number, Number, Number] = Field((1.0, 0.0, 0.0, 0.0), description="w, x, y, z")

    @model_validator(mode="after")
    def _check_norm(self) -> BasePose:
        norm = sum(part * part for part in self.quat) ** 0.5
        # a length far from 1 is a mistake in typing, which normalising would hide
        if abs(norm - 1.0) > _UNIT:
            raise refuse(f"quat (w, x, y, z) has the length {norm:g}; it has to be 1")
        return self

    def as_pose(self) -> Pose:
        """As a rigid transform."""
        return Pose.of(self.xyz, self.quat)


class TeamEntry(Record):
    """A robot of several in one task."""

    robot: str = Field(description="what --robot takes; a path is relative to this file")
    base_pose: BasePose = Field(
        default_factory=lambda: BasePose.model_validate({}),
        description="in the world, or on what it stands on",
    )
    on: str = Field(
        "", description="what it stands on: NAME or NAME/BODY of a robot before it; the world by default"
    )


def gather_team(
    robots: Mapping[str, Any], find: Callable[[str], str | Path] = lambda said: said
) -> TaskRobot:
    """Open the robots of a team; ``find`` says where a robot that is named is."""
    members = []
    for name, said in robots.items():
        entry = said if isinstance(said, TeamEntry) else validate_values(TeamEntry, said, f"robots: {name}")
        members.append(TeamMember(name, open_robot(find(entry.robot)), entry.base_pose.as_pose(), entry.on))
    return form_team(members)
