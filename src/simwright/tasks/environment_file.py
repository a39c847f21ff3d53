# SPDX-License-Identifier: Apache-2.0
"""Environment files: a task, a robot and how they are run, as YAML or JSON.

::

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

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, model_validator

from simwright.core.documents.expressions import Number
from simwright.core.documents.read import read_document
from simwright.core.documents.record import Record, refuse
from simwright.core.documents.tree import Document
from simwright.core.documents.validate import validate_document
from simwright.core.errors import UnknownNameError
from simwright.core.math3d import Pose
from simwright.tasks.baselines.policy import POLICIES
from simwright.tasks.manifest import ControlMode
from simwright.tasks.observing import ObserveOptions
from simwright.tasks.randomize import Randomize
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES

_UNIT = 1e-3


class BasePose(Record):
    """Where the robot's base is in the world."""

    xyz: tuple[Number, Number, Number] = Field((0.0, 0.0, 0.0), description="[m]")
    quat: tuple[Number, Number, Number, Number] = Field((1.0, 0.0, 0.0, 0.0), description="w, x, y, z")

    @model_validator(mode="after")
    def _check_norm(self) -> BasePose:
        norm = sum(part * part for part in self.quat) ** 0.5
        if abs(norm - 1.0) > _UNIT:
            raise refuse(f"quat (w, x, y, z) has the length {norm:g}; it has to be 1")
        return self

    def as_pose(self) -> Pose:
        """As a rigid transform."""
        return Pose.of(self.xyz, self.quat)


class EnvironmentFile(Record):
    """What an environment file may say."""

    version: Annotated[int, Field(ge=1, le=1)] = 1
    task: str = Field(description="name of a task: simwright task list")
    robot: str | None = Field(None, description="what --robot takes; a path is relative to this file")
    base_pose: BasePose | None = Field(None, description="the task's choice by default")
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
    episodes: Annotated[int, Field(ge=1)] = 1
    seed: Annotated[int, Field(ge=0)] = 0
    policy: str = Field("hold", description="who acts: hold, random, reach, push, ...")
    num_worlds: Annotated[int, Field(ge=1)] = 1
    record: str | None = Field(None, description="film (.mp4) or arrays (.npz), relative to this file")


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
    scene = SCENES.get(said.task)
    if "options" in (document.data or {}):
        options: SceneOptions = validate_document(
            scene.options, document, path=("options",), what=f"options of {scene.name}"
        )
    else:
        options = scene.options.model_validate({})
    return LoadedEnvironment(said, scene, options, document, Path(path).absolute().parent)


def find_option(scene: TaskScene, key: str) -> str:
    """The name of an option; an unknown one says what was meant."""
    known = list(scene.options.model_fields)
    if key not in known:
        raise UnknownNameError(f"option of {scene.name}", key, known)
    return key
