# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it, step by step: the contract that runners, environments and recorders share.

``reset(seed)`` gives an observation, ``step(action)`` a :class:`StepResult`, ``success`` tells how it stands.  The
scene owns the physics; who drives it knows neither the scene nor the robot.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from simwright.core.documents.validate import validate_values
from simwright.core.errors import UsageError
from simwright.core.math3d import Array, Pose
from simwright.engines.mujoco.actuation import hold_controls, list_actuators
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import (
    FREE,
    MjData,
    find_site,
    measure_bottom,
    pose_bodies,
    read_body,
    read_site,
)
from simwright.tasks.chains import StateReader
from simwright.tasks.compose import PREFIX, Composed, compose_scene
from simwright.tasks.control import ActionController, ToolArm
from simwright.tasks.home import Home, find_home
from simwright.tasks.inverse import ToolMover, find_joints
from simwright.tasks.manifest import ControlMode, read_mode
from simwright.tasks.randomize import Randomize, Randomizer
from simwright.tasks.reading import (
    as_numbers,
    complete_layout,
    place_layout,
    read_joints,
    read_objects,
    read_speeds,
)
from simwright.tasks.rewards import RewardChoice, RewardFunction
from simwright.tasks.robot import TaskRobot
from simwright.tasks.scene import Layout, SceneOptions, TaskScene, TaskState, Verdict
from simwright.tasks.terms import ChosenTerm, SuccessRule, TermReader, read_rule, read_term

Observation = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step gives."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any] = field(default_factory=dict)


class StepWatch(Protocol):
    """Looks on at every time step, and may command actuators before it."""

    def begin_episode(self) -> None:
        """An episode is at its beginning."""

    def before_step(self) -> None:
        """A time step is about to be made; controls may be written."""

    def after_step(self) -> None:
        """It is made."""


class SimRollout:
    """One robot in one task.

    ``options`` are those of the scene; ``base`` places the robot (the scene's choice by default); ``mode`` is what
    actions mean (the manifest's by default); ``period`` the control period [s]; ``randomize`` what varies beyond the
    scene's own layout; ``reward`` what a step is rewarded with (:mod:`simwright.tasks.rewards`); ``success`` when the
    task is done, instead of the scene's own condition (:mod:`simwright.tasks.terms`).

    ``worlds`` is the one world that is stepped: its row is the state, :attr:`qpos` and :attr:`qvel` are views of it.
    ``data`` is for reading: after a step, bodies are where the coordinates put them, and forces and contacts are those
    at the beginning of the last time step.
    """

    def __init__(
        self,
        scene: TaskScene,
        robot: TaskRobot,
        *,
        options: SceneOptions | Mapping[str, Any] | None = None,
        base: Pose | None = None,
        mode: ControlMode | str | None = None,
        period: float | None = None,
        max_steps: int | None = None,
        randomize: Randomize | Mapping[str, Any] | None = None,
        reward: RewardChoice = "dense",
        success: SuccessRule | Mapping[str, Any] | None = None,
    ) -> None:
        if scene.fixed_robot and scene.fixed_robot != robot.id:
            raise UsageError(
                f"the task {scene.name!r} is made for the robot {scene.fixed_robot!r}, not for {robot.id!r}",
                hint="leave --robot out",
            )
        self.scene, self.robot = scene, robot
        self.options: Any = (
            options
            if isinstance(options, SceneOptions)
            else validate_values(scene.options, options or {}, f"options of {scene.name}")
        )
        control = robot.manifest.sim.control if robot.manifest else None
        self.mode = read_mode(mode) if mode else control.mode if control else ControlMode.POSITION
        period = period or (control.period if control else 0.02)
        self.base = scene.base(self.options, robot.forward) if base is None else base
        self.max_steps = max_steps or scene.max_steps
        self.composed: Composed = compose_scene(
            robot.source,
            lambda spec: scene.add(spec, self.options),
            base=self.base,
            period=period,
            amend_robot=robot.amend,
        )
        self.model = self.composed.model
        self.home: Home = find_home(self.composed, keyframe=robot.keyframe, joints=robot.home_joints)
        self.worlds = ModelBatch(self.model)
        self.data: MjData = self.worlds.hold()
        # by the names of robots where there are several
        self.tool_sites = {
            name: find_site(self.model, PREFIX + site)
            for name, site in zip(robot.tool_names, robot.tools, strict=True)
        }
        self.tool_site = next(iter(self.tool_sites.values()), -1)
        self.actuators = tuple(list_actuators(self.model, self.composed.robot_nu))
        self.controller = ActionController(
            self.composed,
            self.actuators,
            self.mode,
            self._make_arms(),
            self._find_speed_limits(),
            self.home.qpos,
        )
        self.reward_choice = reward
        self._rewards = RewardFunction(reward, self.controller.bounds)
        self.layout: Layout = {}
        self.steps = 0
        self.start = self.base
        self.verdict: Verdict
        self.watch: StepWatch | None = None
        self._rng = np.random.default_rng(0)
        self.randomizer: Randomizer | None = None
        self.vary(randomize)
        self._lift = self._find_lift()
        self.rule = read_rule(success)
        self.terms: tuple[ChosenTerm, ...] = ()
        """What is observed beside the usual."""
        self._reader = StateReader(scene, self.model, self.tool_sites, self.home.qpos)
        self._first_base = np.zeros((1, 7))
        self._terms: TermReader | None = None
        self.add_terms(())

    @property
    def action_size(self) -> int:
        """How many numbers an action has."""
        return len(self.controller.bounds[0])

    @property
    def qpos(self) -> Array:
        """Coordinates, a view."""
        return np.asarray(self.worlds.view("qpos")[0])

    @property
    def qvel(self) -> Array:
        """Velocities, a view."""
        return np.asarray(self.worlds.view("qvel")[0])

    def add_terms(self, terms: Iterable[Any]) -> None:
        """Observe more from the next episode on: names of terms, ``{name: places}``, or what these became."""
        chosen = tuple(dict.fromkeys((*self.terms, *map(read_term, terms))))
        tools = [f"tool_{name}" for name in list(self.tool_sites)[1:]]
        for one in (*chosen, *(self.rule.terms if self.rule is not None else ())):
            one.check(self.scene, tools)
        self.terms = chosen
        self._terms = self.make_terms(self.worlds)

    def make_terms(self, worlds: ModelBatch) -> TermReader | None:
        """What reads the observed terms and the rule of success in worlds of this task, if there are any."""
        if not self.terms and self.rule is None:
            return None
        return TermReader(
            worlds,
            self.composed,
            self.terms,
            self.rule,
            bounds=self.controller.bounds,
            max_steps=self.max_steps,
            tool=self.tool_site,
        )

    def _look(self) -> TaskState:
        """The state of the only world as a batch has it, with an axis of worlds: terms give the same bits there."""
        layout = {name: place[None] for name, place in self.layout.items()}
        views = (self.worlds.view("qpos"), self.worlds.view("qvel"))
        return self._reader.look(*views, layout, self._first_base)

    def reset(self, seed: int | None = None) -> Observation:
        """Start an episode.  The same seed gives the same task, whatever the robot."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
        chance = self._start_chance(seed)
        if self.randomizer is not None and chance is not None:
            self.randomizer.change_model(chance, self.model)
        self.worlds.reset()
        qpos, ctrl = self.qpos, self.worlds.view("ctrl")[0]
        qpos[:] = self.home.qpos
        self._raise(qpos)
        ctrl[:] = self.home.ctrl
        self.layout = self.scene.sample(self._rng, self.options)
        if self.randomizer is not None and chance is not None:
            self.layout = self.randomizer.shift_layout(chance, self.layout)
            if self.randomizer.shift_joints(chance, self.model, qpos):
                ctrl[:] = hold_controls(self.model, qpos)
        place_layout(self.scene, self.worlds, 0, self.layout)
        for name in self.scene.marks:
            # marks are sites, which have no state: the model itself changes
            self.model.site_pos[self.model.site(name).id] = self.layout[name][:3]
        # computes poses without a step, so that the first observation fits the layout
        self.data = self.worlds.hold()
        self.start = self.read_base()
        self.controller.reset(self.data)
        self.steps = 0
        if self._terms is not None:
            self._first_base = self._reader.place_base(self.worlds.view("qpos"))
            self._terms.start(self._look())
        self.verdict = self.judge()
        self._rewards.start(self.verdict, self.controller.hold())
        if self.watch is not None:
            self.watch.begin_episode()
        return self.observe()

    def step(self, action: Array) -> StepResult:
        """Act for one control period."""
        ctrl = self.worlds.view("ctrl")[0]
        self.controller.command(self.data, ctrl, action)
        if self.controller.is_direct and self.watch is None:
            self.worlds.step(self.composed.substeps)
        else:
            for _ in range(self.composed.substeps):
                self._make_step(ctrl)
        self.data = self.worlds.look()
        self.steps += 1
        if self._terms is not None:
            self._terms.advance(self._look(), np.clip(action, *self.controller.bounds)[None])
        self.verdict = self.judge()
        unstable = self.is_unstable
        reward = self._rewards.compute(
            self.verdict, np.array(unstable), action, self.qvel[: self.composed.robot_nv]
        )
        terminated = bool(self.verdict.success or self.verdict.failed or unstable)
        truncated = not terminated and self.steps >= self.max_steps
        details = {name: float(value) for name, value in self.verdict.details.items()}
        info: dict[str, Any] = {"success": self.success, "score": float(self.verdict.score), **details}
        if unstable:
            info["unstable"] = True
        return StepResult(self.observe(), float(reward), terminated, truncated, info)

    def _make_step(self, ctrl: Array) -> None:
        if not self.controller.is_direct:
            self.controller.update(self.data, ctrl)
        if self.watch is not None:
            self.watch.before_step()
        self.worlds.step()
        if self.controller.limiter.brake(self.worlds).size:
            # what controllers look at between two time steps
            self.data.qpos[:], self.data.qvel[:] = self.qpos, self.qvel
        if self.watch is not None:
            self.watch.after_step()

    def observe(self) -> Observation:
        """Joint positions and velocities, the tool, and the poses of the task's things."""
        nq, nv = self.composed.robot_nq, self.composed.robot_nv
        observation: Observation = {
            "qpos": self.qpos[:nq].copy(),
            "qvel": self.qvel[:nv].copy(),
            "tool": self._reader.face("tool", as_numbers(self.read_tool())),
            **self._read_other_tools(),
        }
        objects = read_objects(self.scene, self.model, self.qpos)
        joints = read_joints(self.scene, self.model, self.qpos)
        terms = {} if self._terms is None else {k: row[0] for k, row in self._terms.observe().items()}
        return {**observation, **objects, **complete_layout(self.scene, self.layout), **joints, **terms}

    @property
    def is_unstable(self) -> bool:
        """Has the simulation broken down in this episode?  MuJoCo starts a broken world anew."""
        return bool(self.worlds.broken[0]) or not np.isfinite(self.qpos).all()

    @property
    def success(self) -> bool:
        """Is the task done?"""
        return bool(self.verdict.success)

    def judge(self) -> Verdict:
        """How the episode stands."""
        if self._terms is not None and self.rule is not None:
            # as a batch judges, so that a world of one ends in the same step
            rows = self._terms.judge(self.scene.judge(self._look(), self.options))
            details = {name: value[0] for name, value in rows.details.items()}
            return Verdict(rows.success[0], rows.score[0], rows.failed[0], details)
        qpos, qvel = self.qpos, self.qvel
        moment = TaskState(
            layout=self.layout,
            objects=read_objects(self.scene, self.model, qpos),
            speeds=read_speeds(self.scene, self.model, qvel),
            joints=read_joints(self.scene, self.model, qpos),
            tool=self._reader.face("tool", as_numbers(self.read_tool())),
            tools=self._read_other_tools(),
            base=as_numbers(self.read_base()),
            start=as_numbers(self.start),
        )
        return self.scene.judge(moment, self.options)

    def read_tool(self) -> Pose:
        """Where the tool is; the base for robots without one."""
        return read_site(self.data, self.tool_site) if self.tool_site >= 0 else self.read_base()

    def _read_other_tools(self) -> dict[str, Array]:
        """Poses of all tools but the first, as observations call them."""
        others = list(self.tool_sites.items())[1:]
        poses = {f"tool_{name}": as_numbers(read_site(self.data, site)) for name, site in others}
        return {name: self._reader.face(name, pose) for name, pose in poses.items()}

    def read_base(self) -> Pose:
        """Where the first root body of the robot is."""
        return read_body(self.data, 1)

    def vary(self, randomize: Randomize | Mapping[str, Any] | None) -> None:
        """What varies from the next episode on."""
        said = (
            randomize
            if isinstance(randomize, Randomize)
            else validate_values(Randomize, randomize or {}, "randomize")
        )
        plain = said == Randomize.model_validate({})
        self.randomizer = None if plain else Randomizer(said, self.scene, self.composed)

    def _start_chance(self, seed: int | None) -> np.random.Generator | None:
        """The random numbers of what varies; without a seed they go on with the layout's."""
        if self.randomizer is None:
            return None
        return self.randomizer.start(int(self._rng.integers(2**63)) if seed is None else seed)

    def _make_arms(self) -> tuple[ToolArm, ...]:
        grips = self.robot.grips
        # fingers carry no tool: inverse kinematics would open the gripper to reach further
        gripping = {index for grip in grips if grip is not None for index in grip[0]}
        driven = {a.joint for a in self.actuators if a.joint >= 0 and a.index not in gripping}
        arms = []
        for site, grip in zip(self.tool_sites.values(), grips, strict=False):
            joints = find_joints(self.model, site, driven)
            arms.append(ToolArm(ToolMover(self.model, site, joints) if len(joints) else None, grip))
        # a gripper without a tool still opens and closes
        return tuple(arms) or (ToolArm(None, grips[0] if grips else None),)

    def _find_speed_limits(self) -> dict[int, float]:
        """Largest speeds of the robot's joints [rad/s or m/s] by their ids in the scene."""
        limits = self.robot.speed_limits
        names = {self.model.joint(index).name.removeprefix(PREFIX): index for index in range(self.model.njnt)}
        return {names[name]: limit for name, limit in limits.items() if name in names}

    def _find_lift(self) -> float:
        """How far a floating robot that has no keyframe has to be raised to stand on the floor, not in it [m]."""
        if not self.robot.facts.is_floating or self.home.origin.startswith("keyframe"):
            return 0.0
        data = pose_bodies(self.model, self.home.qpos)
        lowest = np.inf
        for geom in range(self.model.ngeom):
            collides = self.model.geom_contype[geom] or self.model.geom_conaffinity[geom]
            if 1 <= self.model.geom_bodyid[geom] <= self.composed.robot_nbody and collides:
                lowest = min(lowest, measure_bottom(self.model, data, geom))
        floor = float(self.base.p[2])
        # a millimetre above the floor: contacts at the start push
        return floor - lowest + 1e-3 if np.isfinite(lowest) else 0.0

    def _raise(self, qpos: Array) -> None:
        if self._lift == 0.0:
            return
        for joint in range(self.model.njnt):
            address = int(self.model.jnt_qposadr[joint])
            if address < self.composed.robot_nq and self.model.jnt_type[joint] == FREE:
                qpos[address + 2] += self._lift
