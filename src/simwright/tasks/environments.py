# SPDX-License-Identifier: Apache-2.0
"""Making rollouts and environments by name, and reading environment files.

This is the one place that puts a scene, a robot and their settings together.  An environment file says all of it as
YAML or JSON::

    task: tabletop_push
    robot: panda
    base_pose: {xyz: [0, 0, 0], quat: [1, 0, 0, 0]}
    options: {cube_mass: 0.1}
    control: position
    observe: {cameras: [top]}
    randomize: {friction: [0.8, 1.2]}
    episodes: 10
    seed: 0
    policy: push
    record: out.mp4
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field, model_validator

from simwright.core.documents.expressions import Number
from simwright.core.documents.read import read_document
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.tree import Document
from simwright.core.documents.validate import validate_document, validate_values
from simwright.core.errors import MissingExtraError, UnknownNameError, UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.tasks.baselines.policy import POLICIES
from simwright.tasks.fitting import fit_scene
from simwright.tasks.manifest import ControlMode
from simwright.tasks.observing import ObserveOptions
from simwright.tasks.randomize import Randomize
from simwright.tasks.rewards import REWARD_TERMS, RewardChoice
from simwright.tasks.robot import TaskRobot, open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES
from simwright.tasks.team import BasePose, TeamEntry, gather_team
from simwright.tasks.terms import SuccessRule

if TYPE_CHECKING:
    from simwright.tasks.gymnasium_env import SimEnv, SimVectorEnv


def make_rollout(
    task: str,
    robot: str | Path | TaskRobot | None = None,
    *,
    robots: Mapping[str, Any] | None = None,
    options: SceneOptions | Mapping[str, Any] | None = None,
    base: Pose | None = None,
    mode: ControlMode | str | None = None,
    period: float | None = None,
    max_steps: int | None = None,
    randomize: Randomize | Mapping[str, Any] | None = None,
    fit: bool = False,
    reward: RewardChoice = "dense",
    success: SuccessRule | Mapping[str, Any] | None = None,
) -> SimRollout:
    """A task with a robot in it.  ``robot`` is an id, ``menagerie:NAME``, or a file; a task may have one of its own.

    ``robots`` puts several into it instead: by name, each a :class:`TeamEntry` or what one is made of.
    ``fit`` draws the workspace to what the robot reaches; ``reward`` is ``dense``, ``sparse``, or a weight for each of
    the terms of :mod:`simwright.tasks.rewards`; ``success`` replaces the task's own condition by one that is composed
    of the terms of :mod:`simwright.tasks.terms`.
    """
    scene = SCENES.get(task)
    if robots is not None:
        if robot is not None or base is not None or fit:
            raise UsageError(
                "several robots have places of their own",
                hint="give neither robot, nor base, nor fit beside robots",
            )
        robot, base = gather_team(robots), IDENTITY
    robot = expect_robot(scene, robot)
    found = robot if isinstance(robot, TaskRobot) else open_robot(robot)
    chosen = options if isinstance(options, SceneOptions) else validate_options(scene, options or {})
    if fit:
        chosen = fit_scene(scene, chosen, found, base).options
    return SimRollout(
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


def expect_robot(scene: TaskScene, robot: str | Path | TaskRobot | None) -> str | Path | TaskRobot:
    """The robot that is asked for, or the one that the task is made for."""
    if robot is not None:
        return robot
    if not scene.fixed_robot:
        raise UsageError(f"the task {scene.name!r} needs a robot", hint="name one: simwright robots list")
    return scene.fixed_robot


def validate_options(scene: TaskScene, options: Mapping[str, Any]) -> SceneOptions:
    """Options of a scene; every wrong one is named."""
    return validate_values(scene.options, options, f"options of {scene.name}")


def make_env(
    task: str,
    robot: str | Path | TaskRobot | None = None,
    *,
    observe: ObserveOptions | Mapping[str, Any] | None = None,
    render_mode: str | None = None,
    width: int = 480,
    height: int = 360,
    **settings: Any,
) -> SimEnv:
    """A Gymnasium environment; ``settings`` are those of :func:`make_rollout`, the size is that of ``render``."""
    _expect_gymnasium()
    from simwright.tasks.gymnasium_env import SimEnv

    return SimEnv(
        make_rollout(task, robot, **settings),
        observe=_read_observe(observe),
        render_mode=render_mode,
        width=width,
        height=height,
    )


def make_vector_env(
    task: str,
    robot: str | Path | TaskRobot | None,
    count: int,
    *,
    observe: ObserveOptions | Mapping[str, Any] | None = None,
    threads: int | None = None,
    backend: str = "mujoco",
    device: str = "cpu",
    render_mode: str | None = None,
    width: int = 480,
    height: int = 360,
    **settings: Any,
) -> SimVectorEnv:
    """Many worlds of it, stepped together on all cores, or with ``backend="mujoco-warp"`` on a ``device``."""
    _expect_gymnasium()
    from simwright.tasks.gymnasium_env import SimVectorEnv

    rollout = make_rollout(task, robot, **settings)
    return SimVectorEnv(
        rollout,
        count,
        observe=_read_observe(observe),
        threads=threads,
        backend=backend,
        device=device,
        render_mode=render_mode,
        width=width,
        height=height,
    )


def make_registered_vector_env(
    *, num_envs: int, task: str, robot: str | Path | TaskRobot | None = None, **settings: Any
) -> SimVectorEnv:
    """What ``gymnasium.make_vec`` calls: :func:`make_vector_env` with Gymnasium's names of arguments."""
    return make_vector_env(task, robot, num_envs, **settings)


def _read_observe(observe: ObserveOptions | Mapping[str, Any] | None) -> ObserveOptions:
    if isinstance(observe, ObserveOptions):
        return observe
    return validate_values(ObserveOptions, observe or {}, "observe")


def _expect_gymnasium() -> None:
    # looked for, not imported: Gymnasium is slow to load
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingExtraError("gymnasium", "gym", "an environment")


class EnvironmentFile(Record):
    """What an environment file may say."""

    version: Annotated[int, Field(ge=1, le=1)] = 1
    task: str = Field(description="name of a task: simwright task list")
    robot: str | None = Field(None, description="what --robot takes; a path is relative to this file")
    base_pose: BasePose | None = Field(None, description="the task's choice by default")
    robots: dict[str, TeamEntry] = Field(
        default_factory=dict, description="several robots by name, instead of robot and base_pose"
    )
    options: dict[str, Any] = Field(
        default_factory=dict, description="options of the task: simwright task show NAME"
    )
    control: ControlMode | None = Field(
        None, description="what actions mean; the policy's or robot's choice by default"
    )
    period: Annotated[Number, Field(gt=0)] | None = Field(None, description="control period [s]")
    max_steps: Annotated[int, Field(ge=1)] | None = Field(None, description="actions of an episode at most")
    fit: bool = Field(False, description="draw the workspace to what the robot reaches")
    observe: ObserveOptions = Field(default_factory=lambda: ObserveOptions.model_validate({}))
    randomize: Randomize = Field(default_factory=lambda: Randomize.model_validate({}))
    reward: Literal["dense", "sparse"] | dict[str, Number] = Field(
        "dense", description="dense, sparse, or a weight for each term: progress, success, failure, time, ..."
    )
    success: SuccessRule | None = Field(
        None, description="when the task is done, instead of its own condition: conditions of terms"
    )
    episodes: Annotated[int, Field(ge=1)] = 1
    seed: Annotated[int, Field(ge=0)] = 0
    policy: str = Field("hold", description="who acts: hold, random, reach, push, ...")
    num_worlds: Annotated[int, Field(ge=1)] = 1
    record: str | None = Field(None, description="film (.mp4) or arrays (.npz), relative to this file")

    @model_validator(mode="after")
    def _check_robots(self) -> EnvironmentFile:
        if self.robots and (self.robot is not None or self.base_pose is not None or self.fit):
            raise refuse(
                "several robots have places of their own: robot, base_pose and fit do not go beside robots"
            )
        return self


@dataclass(frozen=True, slots=True)
class LoadedEnvironment:
    """An environment file, its task and the task's options."""

    said: EnvironmentFile
    scene: TaskScene
    options: SceneOptions
    document: Document
    folder: Path


def read_environment(path: str | os.PathLike[str]) -> LoadedEnvironment:
    """Read and check a file: every wrong key or value with its line."""
    document = read_document(Path(path))
    said = validate_document(EnvironmentFile, document, what="environment file")
    if said.task not in SCENES:
        raise UnknownNameError("task", said.task, SCENES.names(), where=document.find_where("task"))
    if said.policy not in POLICIES:
        raise UnknownNameError("policy", said.policy, POLICIES.names(), where=document.find_where("policy"))
    for name in said.reward if isinstance(said.reward, dict) else ():
        if name not in REWARD_TERMS:
            where = document.find_where("reward", name, key=True)
            raise UnknownNameError("reward term", name, REWARD_TERMS.names(), where=where)
    scene = SCENES.get(said.task)
    _check_terms(said, scene, document)
    # validated in the file itself, so that findings have its lines
    if "options" in (document.data or {}):
        options: SceneOptions = validate_document(
            scene.options, document, path=("options",), what=f"options of {scene.name}"
        )
    else:
        options = scene.options.model_validate({})
    return LoadedEnvironment(said, scene, options, document, Path(path).absolute().parent)


def _check_terms(said: EnvironmentFile, scene: TaskScene, document: Document) -> None:
    """Terms name places and joints that the task has."""
    tools = [f"tool_{name}" for name in said.robots]
    for number, chosen in enumerate(said.observe.terms):
        chosen.check(scene, tools, document.find_where("observe", "terms", number))
    rule = said.success
    for group in ("all", "any"):
        for number, condition in enumerate(getattr(rule, group, ())):
            condition.chosen.check(scene, tools, document.find_where("success", group, number))


def find_option(scene: TaskScene, key: str) -> str:
    """The name of an option; an unknown one says what was meant."""
    known = list(scene.options.model_fields)
    if key not in known:
        raise UnknownNameError(f"option of {scene.name}", key, known)
    return key
