# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it, step by step: the contract that runners, environments and recorders share.

``reset(seed)`` gives an observation, ``step(action)`` a :class:`StepResult`, ``success`` tells how it stands.  The
scene owns the physics; who drives it knows neither the scene nor the robot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import Array, Pose
from simwright.formats.mjcf.quiet import keep_log_away
from simwright.tasks.actuation import hold_controls, list_actuators
from simwright.tasks.compose import PREFIX, Composed, compose_scene
from simwright.tasks.control import Controller
from simwright.tasks.home import Home, find_home
from simwright.tasks.inverse import ToolMover, find_joints, read_site
from simwright.tasks.manifest import ControlMode
from simwright.tasks.randomize import Randomize, Randomizer
from simwright.tasks.reading import (
    as_numbers,
    complete_layout,
    place_layout,
    read_joints,
    read_objects,
    read_speeds,
)
from simwright.tasks.robot import TOOL, Robot
from simwright.tasks.scene import Layout, Moment, SceneOptions, TaskScene, Verdict

Observation = dict[str, Any]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step gives."""

    observation: Observation
    reward: float
    terminated: bool
    truncated: bool
    info: dict[str, Any] = field(default_factory=dict)


class SimRollout:
    """One robot in one task.

    ``options`` are those of the scene; ``base`` places the robot (the scene's choice by default); ``mode`` is what
    actions mean (the manifest's by default); ``period`` the control period [s]; ``randomize`` what varies beyond the
    scene's own layout.
    """

    def __init__(
        self,
        scene: TaskScene,
        robot: Robot,
        *,
        options: SceneOptions | Mapping[str, Any] | None = None,
        base: Pose | None = None,
        mode: ControlMode | str | None = None,
        period: float | None = None,
        max_steps: int | None = None,
        randomize: Randomize | Mapping[str, Any] | None = None,
    ) -> None:
        if scene.fixed_robot and scene.fixed_robot != robot.id:
            raise UsageError(
                f"the task {scene.name!r} is made for the robot {scene.fixed_robot!r}, not for {robot.id!r}",
                hint="leave --robot out",
            )
        self.scene, self.robot = scene, robot
        self.options: Any = (
            options if isinstance(options, SceneOptions) else scene.options.model_validate(options or {})
        )
        control = robot.manifest.sim.control if robot.manifest else None
        self.mode = ControlMode(mode) if mode else control.mode if control else ControlMode.POSITION
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
        import mujoco

        keep_log_away()
        self.data = mujoco.MjData(self.model)
        self.tool_site = mujoco.mj_name2id(self.model, mujoco.mjtObj.mjOBJ_SITE, PREFIX + TOOL)
        self.actuators = tuple(list_actuators(self.model, self.composed.robot_nu))
        self.controller = Controller(
            self.composed, self.actuators, self.mode, self._make_mover(), self._find_grip()
        )
        self.layout: Layout = {}
        self.steps = 0
        self.start = self.base
        self.verdict: Verdict
        self._rng = np.random.default_rng(0)
        self.randomizer: Randomizer | None = None
        self.vary(randomize)
        self._lift = self._find_lift()

    @property
    def action_size(self) -> int:
        """How many numbers an action has."""
        return len(self.controller.bounds[0])

    def reset(self, seed: int | None = None) -> Observation:
        """Start an episode.  The same seed gives the same task, whatever the robot."""
        import mujoco

        if seed is not None:
            self._rng = np.random.default_rng(seed)
        chance = self._start_chance(seed)
        if self.randomizer is not None and chance is not None:
            self.randomizer.change_model(chance, self.model)
        mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[:] = self.home.qpos
        self._raise(self.data.qpos)
        self.data.ctrl[:] = self.home.ctrl
        self.layout = self.scene.sample(self._rng, self.options)
        if self.randomizer is not None and chance is not None:
            self.layout = self.randomizer.shift_layout(chance, self.layout)
            if self.randomizer.shift_joints(chance, self.model, self.data.qpos):
                self.data.ctrl[:] = hold_controls(self.model, np.array(self.data.qpos))
        mujoco.mj_forward(self.model, self.data)
        place_layout(self.scene, self.model, self.data, self.layout)
        mujoco.mj_forward(self.model, self.data)
        self.start = self.read_base()
        self.controller.reset(self.data)
        self.steps = 0
        self.verdict = self.judge()
        return self.observe()

    def step(self, action: Array) -> StepResult:
        """Act for one control period."""
        import mujoco

        # the solver starts cold with each action: what happens follows from the state alone, also in batches
        self.data.qacc_warmstart[:] = 0.0
        self.controller.command(self.data, action)
        if self.controller.is_direct:
            mujoco.mj_step(self.model, self.data, self.composed.substeps)
        else:
            for _ in range(self.composed.substeps):
                self.controller.update(self.data)
                mujoco.mj_step(self.model, self.data)
        # positions of bodies follow one step behind the coordinates
        mujoco.mj_kinematics(self.model, self.data)
        mujoco.mj_comPos(self.model, self.data)
        self.steps += 1
        self.verdict = self.judge()
        unstable = self.is_unstable
        terminated = bool(self.verdict.success or self.verdict.failed or unstable)
        truncated = not terminated and self.steps >= self.max_steps
        details = {name: float(value) for name, value in self.verdict.details.items()}
        info: dict[str, Any] = {"success": self.success, "score": float(self.verdict.score), **details}
        if unstable:
            info["unstable"] = True
        return StepResult(self.observe(), float(self.verdict.score), terminated, truncated, info)

    def observe(self) -> Observation:
        """Joint positions and velocities, the tool, and the poses of the task's things."""
        nq, nv = self.composed.robot_nq, self.composed.robot_nv
        tool = self.read_tool()
        observation: Observation = {
            "qpos": np.array(self.data.qpos[:nq]),
            "qvel": np.array(self.data.qvel[:nv]),
            "tool": as_numbers(tool),
        }
        objects = read_objects(self.scene, self.model, self.data.qpos)
        joints = read_joints(self.scene, self.model, self.data.qpos)
        return {**observation, **objects, **complete_layout(self.scene, self.layout), **joints}

    @property
    def is_unstable(self) -> bool:
        """Has the simulation broken down in this episode?  MuJoCo starts a broken world anew, and counts it."""
        import mujoco

        kinds = (
            mujoco.mjtWarning.mjWARN_BADQPOS,
            mujoco.mjtWarning.mjWARN_BADQVEL,
            mujoco.mjtWarning.mjWARN_BADQACC,
        )
        return (
            any(self.data.warning[int(kind)].number for kind in kinds)
            or not np.isfinite(self.data.qpos).all()
        )

    @property
    def success(self) -> bool:
        """Is the task done?"""
        return bool(self.verdict.success)

    def judge(self) -> Verdict:
        """How the episode stands."""
        qpos, qvel = self.data.qpos, self.data.qvel
        moment = Moment(
            layout=self.layout,
            objects=read_objects(self.scene, self.model, qpos),
            speeds=read_speeds(self.scene, self.model, qvel),
            joints=read_joints(self.scene, self.model, qpos),
            tool=as_numbers(self.read_tool()),
            base=as_numbers(self.read_base()),
            start=as_numbers(self.start),
        )
        return self.scene.judge(moment, self.options)

    def read_tool(self) -> Pose:
        """Where the tool is; the base for robots without one."""
        return read_site(self.data, self.tool_site) if self.tool_site >= 0 else self.read_base()

    def read_base(self) -> Pose:
        """Where the first root body of the robot is."""
        return Pose.of(self.data.xpos[1], self.data.xquat[1])

    def vary(self, randomize: Randomize | Mapping[str, Any] | None) -> None:
        """What varies from the next episode on."""
        said = (
            randomize if isinstance(randomize, Randomize) else Randomize.model_validate(dict(randomize or {}))
        )
        plain = said == Randomize.model_validate({})
        self.randomizer = None if plain else Randomizer(said, self.scene, self.composed)

    def _start_chance(self, seed: int | None) -> np.random.Generator | None:
        """The random numbers of what varies; without a seed they go on with the layout's."""
        if self.randomizer is None:
            return None
        return self.randomizer.start(int(self._rng.integers(2**63)) if seed is None else seed)

    def _make_mover(self) -> ToolMover | None:
        if self.tool_site < 0:
            return None
        grip = self._find_grip()
        driven = {a.joint for a in self.actuators if a.joint >= 0 and not (grip and a.index in grip[0])}
        joints = find_joints(self.model, self.tool_site, driven)
        return ToolMover(self.model, self.tool_site, joints) if len(joints) else None

    def _find_grip(self) -> tuple[tuple[int, ...], float, float] | None:
        said = self.robot.manifest.gripper if self.robot.manifest else None
        if said is not None:
            indices = tuple(self.model.actuator(PREFIX + name).id for name in said.actuators)
            return indices, said.open, said.closed
        grip = self.robot.facts.grip
        return (grip.actuators, grip.open, grip.closed) if grip is not None else None

    def _find_lift(self) -> float:
        """How far a floating robot that has no keyframe has to be raised to stand on the floor, not in it [m]."""
        import mujoco

        if not self.robot.facts.is_floating or self.home.origin.startswith("keyframe"):
            return 0.0
        data = mujoco.MjData(self.model)
        data.qpos[:] = self.home.qpos
        mujoco.mj_kinematics(self.model, data)
        lowest = np.inf
        for geom in range(self.model.ngeom):
            collides = self.model.geom_contype[geom] or self.model.geom_conaffinity[geom]
            if 1 <= self.model.geom_bodyid[geom] <= self.composed.robot_nbody and collides:
                turn = np.asarray(data.geom_xmat[geom]).reshape(3, 3)
                center, half = self.model.geom_aabb[geom][:3], self.model.geom_aabb[geom][3:]
                middle = data.geom_xpos[geom] + turn @ center
                lowest = min(lowest, float(middle[2] - np.abs(turn[2]) @ half))
        floor = float(self.base.p[2])
        return floor - lowest + 1e-3 if np.isfinite(lowest) else 0.0

    def _raise(self, qpos: Array) -> None:
        if self._lift == 0.0:
            return
        for joint in range(self.model.njnt):
            address = int(self.model.jnt_qposadr[joint])
            if address < self.composed.robot_nq and self.model.jnt_type[joint] == 0:
                qpos[address + 2] += self._lift
