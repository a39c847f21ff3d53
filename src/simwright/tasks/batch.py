# SPDX-License-Identifier: Apache-2.0
"""Many worlds of one task at once, on all cores.

The worlds share one compiled model; their states are rows of one array
(:class:`~simwright.engines.mujoco.batch.ModelBatch`), and each moves exactly as a single rollout moves its only one.
Judging and observing are numpy over the rows; where the tool is follows from the coordinates
(:class:`~simwright.tasks.chains.BodyChain`).  Only control that needs nothing between two actions can be batched
(:attr:`ActionController.is_direct`).  Where masses, friction or gains vary
(:class:`~simwright.tasks.randomize.Randomize`), every world has a model of its own, which costs memory.
"""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import hold_controls
from simwright.engines.mujoco.batch import ModelBatch, WarpBatch
from simwright.engines.mujoco.queries import MjData, MjModel
from simwright.tasks.chains import StateReader
from simwright.tasks.manifest import ControlMode
from simwright.tasks.reading import complete_layout, place_layout
from simwright.tasks.rewards import RewardFunction
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.scene import Layout, TaskState, Verdict
from simwright.tasks.terms import need_forces

BACKENDS = ("mujoco", "mujoco-warp")
# models of single worlds take no more than this [bytes]
_MEMORY = 4 * 2**30


class BatchRollout:
    """``count`` copies of a rollout, stepped together.  ``threads`` is the number of cores by default.

    ``backend`` is what steps them: ``mujoco`` on the cores, or ``mujoco-warp`` on ``device`` (``cuda:0``, or ``cpu``).
    """

    def __init__(
        self,
        rollout: SimRollout,
        count: int,
        *,
        threads: int | None = None,
        backend: str = "mujoco",
        device: str = "cpu",
    ) -> None:
        if count < 1:
            raise UsageError(f"a batch has at least one world, not {count}")
        if not rollout.controller.takes_batches:
            raise UsageError(
                f"batches have no controller between steps, which the mode {rollout.mode.value!r} of this robot needs",
                hint="use the mode that its actuators take, or environments one by one",
            )
        if backend == "mujoco-warp" and need_forces(rollout.terms, rollout.rule):
            raise UsageError(
                f"terms of forces are not there with the backend {backend!r}",
                hint="leave efforts and tool_force out",
            )
        self.rollout, self.count = rollout, count
        self.worlds = _open_worlds(self._copy_models(), count, threads, backend, device)
        _reset_plainly(rollout)
        # the whole state at the start, not coordinates alone: activations and warm starts belong to it
        self._blank = rollout.worlds.states[0].copy()
        self.worlds.states[:] = self._blank
        self._hold = rollout.controller.targets
        self._targets = np.tile(self._hold, (count, 1))
        self._goals = self._targets.copy()
        self.braked = np.zeros(count, dtype=bool)
        """Worlds in which a joint was held at its largest speed in the last control period."""
        self.bounds = rollout.controller.bounds
        self._rewards = RewardFunction(rollout.reward_choice, self.bounds)
        self.rewards = np.zeros(count)
        """Of the last step."""
        self._reader = StateReader(rollout.scene, rollout.model, rollout.tool_sites, rollout.home.qpos)
        self._terms = rollout.make_terms(self.worlds)
        self._seen: TaskState | None = None
        self.layout: Layout = {}
        self.start = np.zeros((count, 7))
        self.steps = np.zeros(count, dtype=np.int64)

    @property
    def qpos(self) -> Array:
        """Coordinates of all worlds (worlds x nq), a view."""
        return self.worlds.view("qpos")

    @property
    def qvel(self) -> Array:
        """Velocities of all worlds (worlds x nv), a view."""
        return self.worlds.view("qvel")

    def reset(
        self, seeds: npt.NDArray[np.int64] | list[int], worlds: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Start episodes in the chosen worlds; the same seed gives the same task as a single rollout has."""
        chosen = np.arange(self.count) if worlds is None else np.flatnonzero(worlds)
        self.worlds.reset(chosen.tolist())
        self.worlds.states[chosen] = self._blank
        self._targets[chosen] = self._hold
        self._goals[chosen] = self._hold
        self.steps[chosen] = 0
        for world, seed in zip(chosen.tolist(), seeds, strict=True):
            layout = self._draw(world, int(seed))
            for name, place in layout.items():
                if name not in self.layout:
                    self.layout[name] = np.zeros((self.count, len(place)))
                self.layout[name][world] = place
            place_layout(self.rollout.scene, self.worlds, world, layout)
        self.start[chosen] = self._reader.place_base(self.qpos[chosen])
        self._seen = None
        if self._terms is not None:
            self._terms.start(self.look(), chosen)
        self._rewards.start(self.judge(), self.rollout.controller.hold(), worlds)

    def _draw(self, world: int, seed: int) -> Layout:
        """The layout of an episode, and everything that varies with it."""
        layout = self.rollout.scene.sample(np.random.default_rng(seed), self.rollout.options)
        randomizer = self.rollout.randomizer
        if randomizer is None:
            return layout
        chance = randomizer.start(seed)
        model = self.worlds.models[world]
        randomizer.change_model(chance, model)
        layout = randomizer.shift_layout(chance, layout)
        if randomizer.shift_joints(chance, model, self.qpos[world]):
            held = hold_controls(model, self.qpos[world])
            # the robot's controls come first
            self._targets[world] = self._goals[world] = held[: self._targets.shape[1]]
        return layout

    def _copy_models(self) -> MjModel | list[MjModel]:
        """The model of all worlds, or one for each where physics differs between them."""
        randomizer, model = self.rollout.randomizer, self.rollout.model
        if randomizer is None or not randomizer.options.changes_model:
            return model
        # a copy of the model for each world
        size = int(model.nbuffer) * self.count
        if size > _MEMORY:
            raise UsageError(
                f"{self.count} worlds with masses, friction or gains of their own need {size / 2**30:.1f} GiB",
                hint="use fewer worlds, or vary only places and joints",
            )
        return [copy.copy(model) for _ in range(self.count)]

    def step(self, actions: Array) -> Verdict:
        """Act in all worlds for one control period."""
        low, high = self.bounds
        actions = np.asarray(actions, dtype=np.float64)
        if actions.shape != (self.count, len(low)):
            raise UsageError(
                f"actions of this batch are {self.count} x {len(low)} numbers, not {actions.shape}"
            )
        # as a single rollout does, before the mode is looked at
        clipped = np.clip(actions, low, high)
        controller, composed = self.rollout.controller, self.rollout.composed
        self._goals[:] = (
            controller.integrate(self._goals, clipped)
            if self.rollout.mode is ControlMode.VELOCITY
            else clipped
        )
        if controller.is_direct:
            self._targets[:] = self.worlds.view("ctrl")[:, : composed.robot_nu] = self._goals
            self.worlds.step(composed.substeps)
        else:
            self._move_within_limits()
        self._seen = None
        self.steps += 1
        if self._terms is not None:
            self._terms.advance(self.look(), clipped)
        verdict = self.judge()
        velocities = self.qvel[:, : composed.robot_nv]
        self.rewards = self._rewards.compute(verdict, self.find_unstable(), actions, velocities)
        return verdict

    def _move_within_limits(self) -> None:
        """One control period in which no joint is faster than it may be.

        Braking needs a look at every time step.  Most worlds need no braking: these take all time steps at once, and
        only those that turn out to have been too fast are done again, step by step, as are those that were too fast
        in the last period.  A world moves the same either way.
        """
        worlds, limiter = self.worlds, self.rollout.controller.limiter
        steps = self.rollout.composed.substeps
        planned = limiter.plan(self._targets, self._goals, steps)
        watched = self.braked if planned is not None else np.ones(self.count, dtype=bool)
        free = np.flatnonzero(~watched)
        if planned is not None and free.size:
            before, broken = worlds.states.copy(), worlds.broken.copy()
            fast = limiter.find_fast(worlds.follow(planned, free.tolist()))
            worlds.states[fast], worlds.broken[fast] = before[fast], broken[fast]
            watched[fast] = True
            done = np.setdiff1d(free, fast)
            self._targets[done] = planned[done, -1]
        chosen = np.flatnonzero(watched)
        self.braked = np.zeros(self.count, dtype=bool)
        if not chosen.size:
            return
        ctrl = worlds.view("ctrl")[:, : self.rollout.composed.robot_nu]
        for _ in range(steps):
            self._targets[chosen], ctrl[chosen] = limiter.drive(
                self._targets[chosen], self._goals[chosen], self.qpos[chosen], self.qvel[chosen]
            )
            worlds.step(worlds=chosen.tolist())
            self.braked[limiter.brake(worlds)] = True

    def judge(self) -> Verdict:
        """How the episodes stand."""
        verdict = self.rollout.scene.judge(self.look(), self.rollout.options)
        return verdict if self._terms is None else self._terms.judge(verdict)

    def look(self) -> TaskState:
        """Everything a scene may look at, of all worlds; looked up once per step."""
        if self._seen is None:
            self._seen = self._reader.look(self.qpos, self.qvel, self.layout, self.start)
        return self._seen

    def observe(self) -> Observation:
        """The observations of all worlds, as those of a single rollout."""
        moment = self.look()
        composed, scene = self.rollout.composed, self.rollout.scene
        return {
            "qpos": self.qpos[:, : composed.robot_nq].copy(),
            "qvel": self.qvel[:, : composed.robot_nv].copy(),
            "tool": moment.tool,
            **moment.tools,
            **moment.objects,
            **complete_layout(scene, self.layout),
            **moment.joints,
            **(self._terms.observe() if self._terms is not None else {}),
        }

    def pose(self, world: int) -> MjData:
        """MuJoCo's data of a world, ready to be drawn; valid until the next call."""
        model = self.worlds.models[world]
        for name in self.rollout.scene.marks:
            # marks are sites, which have no state: the model, which worlds share, changes for each of them
            model.site_pos[model.site(name).id] = self.layout[name][world][:3]
        return self.worlds.look(world)

    def find_unstable(self) -> npt.NDArray[np.bool_]:
        """Worlds that have broken down in their episode; MuJoCo starts such a world anew."""
        return np.asarray(self.worlds.broken | ~np.isfinite(self.qpos).all(axis=1))

    def close(self) -> None:
        """Stop the threads."""
        self.worlds.close()


def _open_worlds(
    models: MjModel | list[MjModel], count: int, threads: int | None, backend: str, device: str
) -> ModelBatch:
    if backend not in BACKENDS:
        raise UnknownNameError("backend", backend, BACKENDS)
    if backend == "mujoco":
        if device != "cpu":
            raise UsageError(
                f"MuJoCo itself runs on the CPU, not on {device!r}", hint="backend='mujoco-warp'"
            )
        return ModelBatch(models, count, threads=threads)
    return WarpBatch(models, count, device=device)


def _reset_plainly(rollout: SimRollout) -> None:
    """Start an episode in which nothing varies."""
    randomizer, rollout.randomizer = rollout.randomizer, None
    try:
        rollout.reset(seed=0)
    finally:
        rollout.randomizer = randomizer
