# SPDX-License-Identifier: Apache-2.0
"""Making rollouts and environments by name: the one place that puts a scene, a robot and their settings together."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.core.documents.read import parse_document
from simwright.core.documents.validate import validate_document
from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.math3d import Pose
from simwright.tasks.fitting import fit_scene
from simwright.tasks.manifest import ControlMode
from simwright.tasks.observing import ObserveOptions
from simwright.tasks.randomize import Randomize
from simwright.tasks.robot import Robot, open_robot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import SceneOptions, TaskScene
from simwright.tasks.scenes.table import SCENES

if TYPE_CHECKING:
    from simwright.tasks.gymnasium_env import SimEnv, SimVectorEnv


def make_rollout(
    task: str,
    robot: str | Path | Robot | None = None,
    *,
    options: SceneOptions | Mapping[str, Any] | None = None,
    base: Pose | None = None,
    mode: ControlMode | str | None = None,
    period: float | None = None,
    max_steps: int | None = None,
    randomize: Randomize | Mapping[str, Any] | None = None,
    fit: bool = False,
) -> SimRollout:
    """A task with a robot in it.  ``robot`` is an id, ``menagerie:NAME``, or a file; a task may have one of its own.

    ``fit`` draws the workspace to what the robot reaches.
    """
    scene = SCENES.get(task)
    robot = expect_robot(scene, robot)
    found = robot if isinstance(robot, Robot) else open_robot(robot)
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
    )


def expect_robot(scene: TaskScene, robot: str | Path | Robot | None) -> str | Path | Robot:
    """The robot that is asked for, or the one that the task is made for."""
    if robot is not None:
        return robot
    if not scene.fixed_robot:
        raise UsageError(f"the task {scene.name!r} needs a robot", hint="name one: simwright robots list")
    return scene.fixed_robot


def validate_options(scene: TaskScene, options: Mapping[str, Any]) -> SceneOptions:
    """Options of a scene; every wrong one is named."""
    text = json.dumps(dict(options), default=_spell)
    document = parse_document(text, name="options", syntax="json")
    return validate_document(scene.options, document, what=f"options of {scene.name}")


def _spell(value: Any) -> Any:
    """Numpy's numbers and arrays as JSON has them."""
    return value.tolist() if hasattr(value, "tolist") else str(value)


def make_env(
    task: str,
    robot: str | Path | Robot | None = None,
    *,
    observe: ObserveOptions | Mapping[str, Any] | None = None,
    render_mode: str | None = None,
    **settings: Any,
) -> SimEnv:
    """A Gymnasium environment; ``settings`` are those of :func:`make_rollout`."""
    _expect_gymnasium()
    from simwright.tasks.gymnasium_env import SimEnv

    return SimEnv(
        make_rollout(task, robot, **settings), observe=_read_observe(observe), render_mode=render_mode
    )


def make_vector_env(
    task: str,
    robot: str | Path | Robot | None,
    count: int,
    *,
    observe: ObserveOptions | Mapping[str, Any] | None = None,
    threads: int | None = None,
    **settings: Any,
) -> SimVectorEnv:
    """Many worlds of it, stepped together on all cores."""
    _expect_gymnasium()
    from simwright.tasks.gymnasium_env import SimVectorEnv

    rollout = make_rollout(task, robot, **settings)
    return SimVectorEnv(rollout, count, observe=_read_observe(observe), threads=threads)


def _read_observe(observe: ObserveOptions | Mapping[str, Any] | None) -> ObserveOptions:
    return (
        observe if isinstance(observe, ObserveOptions) else ObserveOptions.model_validate(dict(observe or {}))
    )


def _expect_gymnasium() -> None:
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingExtraError("gymnasium", "gym", "an environment")
