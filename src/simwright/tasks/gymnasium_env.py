# SPDX-License-Identifier: Apache-2.0
"""Tasks as Gymnasium environments: one world, or many at once over the same physics (extra ``gym``).

::

    env = gymnasium.make("simwright/tabletop_push-v0", robot="sample_arm")
    envs = gymnasium.make_vec("simwright/tabletop_push-v0", num_envs=256, robot="sample_arm")

The ids are there after ``import simwright.gym``.  ``info`` has ``success`` (bool), ``score`` (0 ... 1, how far the
task is), the measures of the task (such as ``distance``) and, where the simulation broke down, ``unstable``; after a
reset it has the ``seed`` of the episode.
"""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
import numpy.typing as npt
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.renderer import ModelRenderer
from simwright.tasks.batch import BatchRollout
from simwright.tasks.observing import ObserveOptions, Observer
from simwright.tasks.rollout import SimRollout

_RENDER_MODES = ("rgb_array",)
# bound of actions that nothing bounds: Gymnasium wants finite ones
_WIDE = 10.0


def make_spaces(rollout: SimRollout, observer: Observer) -> tuple[spaces.Space[Any], spaces.Box]:
    """Spaces of observations (a ``Dict``, or a ``Box`` where they are flat without pictures) and actions.

    Actions are those of the rollout, brought to -1 ... 1: every robot has the same bounds, whatever its controls.
    """
    kinds: dict[str, spaces.Space[Any]] = {
        key: spaces.Box(low, high, dtype=np.float32) for key, (low, high) in observer.bound().items()
    }
    options = observer.options
    for name in options.cameras:
        kinds[name] = spaces.Box(0, 255, (options.height, options.width, 3), np.uint8)
    if not kinds:
        raise UsageError("nothing is observed", hint="ask for joints, tool, objects or a camera")
    seen = kinds["state"] if observer.is_vector else spaces.Dict(kinds)
    return seen, spaces.Box(-1.0, 1.0, (rollout.action_size,), np.float32)


class ActionScaler:
    """Actions of -1 ... 1 as the rollout takes them."""

    def __init__(self, rollout: SimRollout) -> None:
        low, high = rollout.controller.bounds
        hold = rollout.controller.hold()
        # around what holds the robot, so that an action of 0 stays near it
        self._low = np.where(np.isfinite(low), low, hold - _WIDE)
        self._high = np.where(np.isfinite(high), high, hold + _WIDE)

    def expand(self, actions: npt.ArrayLike) -> Array:
        """As the rollout takes them; what is beyond -1 ... 1 is cut off."""
        share = 0.5 * (np.clip(np.asarray(actions, dtype=np.float64), -1.0, 1.0) + 1.0)
        return np.asarray(self._low + share * (self._high - self._low))

    def shrink(self, actions: Array) -> npt.NDArray[np.float32]:
        """The way back."""
        # an actuator with an empty range takes one value only
        span = np.where(self._high > self._low, self._high - self._low, 1.0)
        return np.clip(2.0 * (actions - self._low) / span - 1.0, -1.0, 1.0).astype(np.float32)


def check_render_mode(mode: str | None) -> None:
    """Raise a UsageError for one that there is not."""
    if mode is not None and mode not in _RENDER_MODES:
        raise UsageError(f"the render mode {mode!r} is not one of {', '.join(_RENDER_MODES)}")


class SimEnv(gymnasium.Env[Any, Any]):
    """One robot in one task."""

    metadata: dict[str, Any] = {"render_modes": list(_RENDER_MODES), "render_fps": 50}  # noqa: RUF012 - Gymnasium's

    def __init__(
        self,
        rollout: SimRollout,
        *,
        observe: ObserveOptions | None = None,
        render_mode: str | None = None,
        width: int = 480,
        height: int = 360,
    ) -> None:
        check_render_mode(render_mode)
        self.rollout = rollout
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / rollout.composed.period))}
        self._observer = Observer(rollout, observe or ObserveOptions.model_validate({}))
        self.observation_space, self.action_space = make_spaces(rollout, self._observer)
        self._scaler = ActionScaler(rollout)
        self._size = (width, height)
        self._renderer: ModelRenderer | None = None

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode."""
        super().reset(seed=seed)
        number = int(self.np_random.integers(2**31)) if seed is None else seed
        observation = self.rollout.reset(seed=number)
        return self._observer.read(observation), {"seed": number, "options": dict(options or {})}

    def step(self, action: npt.NDArray[np.float32]) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Act for one control period."""
        result = self.rollout.step(self._scaler.expand(action))
        observation = self._observer.read(result.observation)
        return observation, result.reward, result.terminated, result.truncated, result.info

    def hold_action(self) -> npt.NDArray[np.float32]:
        """The action that keeps the robot where it starts."""
        return self._scaler.shrink(self.rollout.controller.hold())

    def render(self) -> Any:
        """A picture of the first camera, for the mode ``rgb_array``."""
        if self.render_mode is None:
            return None
        if self._renderer is None:
            self._renderer = ModelRenderer(self.rollout.model, *self._size)
        return self._renderer.render(self.rollout.data, self.rollout.scene.cameras[0])

    def close(self) -> None:
        """Give the graphics back."""
        self._observer.close()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


class SimVectorEnv(VectorEnv[Any, npt.NDArray[np.float32], npt.NDArray[Any]]):
    """Many worlds of one robot in one task, stepped together.  A world that is done starts anew with the next step."""

    metadata: dict[str, Any] = {  # noqa: RUF012 - Gymnasium's
        "autoreset_mode": AutoresetMode.NEXT_STEP,
        "render_modes": list(_RENDER_MODES),
        "render_fps": 50,
    }

    def __init__(
        self,
        rollout: SimRollout,
        count: int,
        *,
        observe: ObserveOptions | None = None,
        threads: int | None = None,
        backend: str = "mujoco",
        device: str = "cpu",
        render_mode: str | None = None,
        width: int = 480,
        height: int = 360,
    ) -> None:
        check_render_mode(render_mode)
        self.render_mode = render_mode
        self.metadata = {**self.metadata, "render_fps": max(1, round(1.0 / rollout.composed.period))}
        self._size = (width, height)
        self._renderer: ModelRenderer | None = None
        self._observer = Observer(rollout, observe or ObserveOptions.model_validate({}))
        self.num_envs = count
        self.single_observation_space, self.single_action_space = make_spaces(rollout, self._observer)
        self.observation_space = batch_space(self.single_observation_space, count)
        self.action_space = batch_space(self.single_action_space, count)
        self._scaler = ActionScaler(rollout)
        self.batch = BatchRollout(rollout, count, threads=threads, backend=backend, device=device)
        self._done = np.zeros(count, dtype=bool)

    def reset(
        self,
        *,
        seed: int | list[int | None] | None = None,
        options: dict[str, Any] | None = None,  # noqa: ARG002
    ) -> tuple[Any, dict[str, Any]]:
        """Start an episode in every world; a number counts up from world to world.

        Seeds of later episodes are drawn from the number, or from a list that has one for each world.
        """
        if isinstance(seed, int | np.integer):
            self._np_random, self._np_random_seed = gymnasium.utils.seeding.np_random(int(seed))
            seeds = [int(seed) + world for world in range(self.num_envs)]
        else:
            given = seed if seed is not None else [None] * self.num_envs
            if len(given) != self.num_envs:
                raise UsageError(f"{len(given)} seeds for {self.num_envs} worlds")
            said = [one for one in given if one is not None]
            if len(said) == len(given):
                self._np_random = np.random.Generator(np.random.PCG64(said))
            seeds = [int(self.np_random.integers(2**31)) if one is None else one for one in given]
        self.batch.reset(seeds)
        self._done[:] = False
        return self._read(), {"seed": np.array(seeds), "_seed": np.ones(self.num_envs, dtype=bool)}

    def _read(self) -> Any:
        """The observations of all worlds, with pictures where they are wanted."""
        chosen = self._observer.choose(self.batch.observe())
        return self._observer.shape({**chosen, **self._observer.paint_worlds(self.batch.pose, self.num_envs)})

    def step(
        self, actions: npt.NDArray[np.float32]
    ) -> tuple[Any, Array, npt.NDArray[np.bool_], npt.NDArray[np.bool_], dict[str, Any]]:
        """Act in all worlds for one control period; worlds that were done start anew instead."""
        # Gymnasium's NEXT_STEP mode: the step after the end starts the world anew and ignores its action
        again = self._done.copy()
        verdict = self.batch.step(self._scaler.expand(actions))
        unstable = self.batch.find_unstable()
        terminated = (verdict.success | verdict.failed | unstable) & ~again
        truncated = (self.batch.steps >= self.batch.rollout.max_steps) & ~terminated & ~again
        rewards = np.where(again, 0.0, self.batch.rewards)
        self._done = terminated | truncated
        values = {"success": verdict.success & ~again, "score": verdict.score, **verdict.details}
        info = {key: np.array(value) for key, value in values.items()}
        # Gymnasium's form: beside each value, of which worlds it is
        info |= {f"_{key}": ~again for key in values}
        if unstable.any():
            info["unstable"] = info["_unstable"] = unstable & ~again
        if again.any():
            seeds = np.zeros(self.num_envs, dtype=np.int64)
            seeds[again] = self.np_random.integers(2**31, size=int(again.sum()))
            self.batch.reset(seeds[again].tolist(), again)
            info["seed"], info["_seed"] = seeds, again
        return self._read(), rewards, terminated, truncated, info

    def render(self) -> Any:
        """Pictures of the first camera in every world, for the mode ``rgb_array``."""
        if self.render_mode is None:
            return None
        rollout = self.batch.rollout
        if self._renderer is None:
            self._renderer = ModelRenderer(rollout.model, *self._size)
        pose, camera = self.batch.pose, rollout.scene.cameras[0]
        return tuple(self._renderer.render(pose(world), camera) for world in range(self.num_envs))

    def close_extras(self, **kwargs: Any) -> None:  # noqa: ARG002 - Gymnasium's form
        """Stop the threads and give the graphics back."""
        self.batch.close()
        self._observer.close()
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None
