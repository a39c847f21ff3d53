# SPDX-License-Identifier: Apache-2.0
"""Many worlds of a task as Stable-Baselines3 takes them (extra ``learn``): a ``VecEnv`` over one batch of physics.

::

    env = SimVecEnv(make_rollout("reach", "sample_arm"), 16)
    model = stable_baselines3.PPO("MlpPolicy", env)

A world that is done starts anew in the same step, as Stable-Baselines3 wants it: its last observation is
``terminal_observation`` of its info.  Observations are one vector; ``success_rate`` is that of the last hundred
episodes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import MissingExtraError
from simwright.tasks.batch import BatchRollout
from simwright.tasks.gymnasium_env import ActionScaler, make_spaces
from simwright.tasks.observing import ObserveOptions, Observer
from simwright.tasks.rollout import SimRollout

try:
    from stable_baselines3.common.vec_env import VecEnv
except ImportError:
    # the module can be looked at without it; whoever makes an environment is told
    VecEnv = object

_REMEMBERED = 100


class SimVecEnv(VecEnv):  # type: ignore[misc]
    """Worlds of one robot in one task, stepped together."""

    def __init__(
        self,
        rollout: SimRollout,
        count: int,
        *,
        observe: ObserveOptions | None = None,
        threads: int | None = None,
        seed: int = 0,
    ) -> None:
        if VecEnv is object:
            raise MissingExtraError("stable-baselines3", "learn", "an environment for it")
        self._observer = Observer(rollout, observe or ObserveOptions.model_validate({"flat": True}))
        seen, actions = make_spaces(rollout, self._observer)
        self.render_mode = None
        super().__init__(count, seen, actions)
        self.batch = BatchRollout(rollout, count, threads=threads)
        self._scaler = ActionScaler(rollout)
        self._chance = np.random.default_rng(seed)
        self._actions = np.zeros((count, rollout.action_size))
        self._sums = np.zeros(count)
        self._ended: deque[bool] = deque(maxlen=_REMEMBERED)

    @property
    def success_rate(self) -> float:
        """Of the last episodes; zero before the first has ended."""
        return float(np.mean(self._ended)) if self._ended else 0.0

    def _draw_seeds(self, count: int) -> list[int]:
        numbers: list[int] = self._chance.integers(2**31, size=count).tolist()
        return numbers

    def _read(self) -> Any:
        return self._observer.shape(self._observer.choose(self.batch.observe()))

    def reset(self) -> Any:
        """Start an episode in every world."""
        self.batch.reset(self._draw_seeds(self.num_envs))
        self._sums[:] = 0.0
        return self._read()

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """The random numbers of the episodes to come."""
        self._chance = np.random.default_rng(seed)
        return [seed] * self.num_envs

    def step_async(self, actions: npt.NDArray[np.float32]) -> None:
        """What the next step does."""
        self._actions = self._scaler.expand(actions)

    def step_wait(
        self,
    ) -> tuple[Any, npt.NDArray[np.float32], npt.NDArray[np.bool_], list[dict[str, Any]]]:
        """Act in all worlds for one control period."""
        batch = self.batch
        verdict = batch.step(self._actions)
        unstable = batch.find_unstable()
        ended = verdict.success | verdict.failed | unstable
        cut = (batch.steps >= batch.rollout.max_steps) & ~ended
        done = ended | cut
        rewards = np.asarray(batch.rewards, dtype=np.float32)
        self._sums += rewards
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        if not done.any():
            return self._read(), rewards, done, infos
        last, lengths = self._read(), batch.steps.copy()
        for world in np.flatnonzero(done).tolist():
            success = bool(verdict.success[world])
            self._ended.append(success)
            infos[world] = {
                "terminal_observation": last[world],
                "TimeLimit.truncated": bool(cut[world]),
                "is_success": success,
                "episode": {"r": float(self._sums[world]), "l": int(lengths[world]), "t": 0.0},
            }
        batch.reset(self._draw_seeds(int(done.sum())), done)
        self._sums[done] = 0.0
        return self._read(), rewards, done, infos

    def close(self) -> None:
        """Stop the threads."""
        self.batch.close()
        self._observer.close()

    # what follows is asked of each world by wrappers: all worlds are this one object

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """An attribute, once for each world."""
        return [getattr(self, attr_name)] * self._count(indices)

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Set it for all worlds."""
        del indices
        setattr(self, attr_name, value)

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> list[Any]:
        """Call a method once."""
        return [getattr(self, method_name)(*args, **kwargs)] * self._count(indices)

    def env_is_wrapped(self, wrapper_class: type[Any], indices: Any = None) -> list[bool]:
        """No world is wrapped by itself."""
        del wrapper_class
        return [False] * self._count(indices)

    def _count(self, indices: Any) -> int:
        return self.num_envs if indices is None else int(np.size(indices))
