# SPDX-License-Identifier: Apache-2.0
"""Many worlds of one task at once, on all cores.

The worlds share one compiled model; their states are rows of one array
(:class:`~simwright.engines.mujoco.batch.ModelBatch`), and each moves exactly as a single rollout moves its only one.
Judging and observing are numpy over the rows.  Only control that needs nothing between two actions can be batched
(:attr:`Controller.is_direct`).  Where masses, friction or gains vary (:class:`~simwright.tasks.randomize.Randomize`),
every world has a model of its own, which costs memory.
"""

from __future__ import annotations

import copy

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.actuation import hold_controls
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjModel
from simwright.tasks.forward import Chain
from simwright.tasks.manifest import ControlMode
from simwright.tasks.reading import complete_layout, place_layout, read_joints, read_objects, read_speeds
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.scene import Layout, Moment, Verdict

_MEMORY = 4 * 2**30
"""Models of single worlds take no more than this [bytes]."""


class BatchRollout:
    """``count`` copies of a rollout, stepped together.  ``threads`` is the number of cores by default."""

    def __init__(self, rollout: SimRollout, count: int, *, threads: int | None = None) -> None:
        if count < 1:
            raise UsageError(f"a batch has at least one world, not {count}")
        if rollout.mode is ControlMode.POSE or not rollout.controller.is_direct:
            raise UsageError(
                f"batches have no controller between steps, which the mode {rollout.mode.value!r} of this robot needs",
                hint="use the mode that its actuators take, or environments one by one",
            )
        self.rollout, self.count = rollout, count
        model = rollout.model
        self.worlds = ModelBatch(self._copy_models(), count, threads=threads)
        _reset_plainly(rollout)
        self._blank = rollout.worlds.states[0].copy()
        self.worlds.states[:] = self._blank
        self._hold = rollout.controller.targets
        self._targets = np.tile(self._hold, (count, 1))
        self.bounds = rollout.controller.bounds
        self._chains = (
            Chain.of_site(model, rollout.tool_site) if rollout.tool_site >= 0 else Chain.of_body(model, 1),
            Chain.of_body(model, 1),
        )
        self._seen: Moment | None = None
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
        self.steps[chosen] = 0
        for world, seed in zip(chosen.tolist(), seeds, strict=True):
            layout = self._draw(world, int(seed))
            for name, place in layout.items():
                if name not in self.layout:
                    self.layout[name] = np.zeros((self.count, len(place)))
                self.layout[name][world] = place
            place_layout(self.rollout.scene, self.worlds, world, layout)
        self.start[chosen] = self._chains[1].place(self.qpos[chosen])
        self._seen = None

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
            self._targets[world] = held[: self._targets.shape[1]]
        return layout

    def _copy_models(self) -> MjModel | list[MjModel]:
        """The model of all worlds, or one for each where physics differs between them."""
        randomizer, model = self.rollout.randomizer, self.rollout.model
        if randomizer is None or not randomizer.options.changes_model:
            return model
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
        clipped = np.clip(actions, low, high)
        if self.rollout.mode is ControlMode.VELOCITY:
            clipped = self._move_targets(clipped)
        self.worlds.view("ctrl")[:, : self.rollout.composed.robot_nu] = clipped
        self.worlds.step(self.rollout.composed.substeps)
        self._seen = None
        self.steps += 1
        return self.judge()

    def _move_targets(self, velocities: Array) -> Array:
        """Velocity commands to position actuators move their targets."""
        controller = self.rollout.controller
        moved = controller.integrate(self._targets, velocities)
        self._targets[:] = moved
        return moved

    def judge(self) -> Verdict:
        """How the episodes stand."""
        return self.rollout.scene.judge(self.look(), self.rollout.options)

    def look(self) -> Moment:
        """Everything a scene may look at, of all worlds; looked up once per step."""
        if self._seen is None:
            self._seen = self._look()
        return self._seen

    def _look(self) -> Moment:
        scene, model = self.rollout.scene, self.rollout.model
        return Moment(
            layout=self.layout,
            objects=read_objects(scene, model, self.qpos),
            speeds=read_speeds(scene, model, self.qvel),
            joints=read_joints(scene, model, self.qpos),
            tool=self._chains[0].place(self.qpos),
            base=self._chains[1].place(self.qpos),
            start=self.start,
        )

    def observe(self) -> Observation:
        """The observations of all worlds, as those of a single rollout."""
        moment = self.look()
        composed, scene = self.rollout.composed, self.rollout.scene
        return {
            "qpos": self.qpos[:, : composed.robot_nq].copy(),
            "qvel": self.qvel[:, : composed.robot_nv].copy(),
            "tool": moment.tool,
            **moment.objects,
            **complete_layout(scene, self.layout),
            **moment.joints,
        }

    def find_unstable(self) -> npt.NDArray[np.bool_]:
        """Worlds that have broken down in their episode; MuJoCo starts such a world anew."""
        return np.asarray(self.worlds.broken | ~np.isfinite(self.qpos).all(axis=1))

    def close(self) -> None:
        """Stop the threads."""
        self.worlds.close()


def _reset_plainly(rollout: SimRollout) -> None:
    """Start an episode in which nothing varies."""
    randomizer, rollout.randomizer = rollout.randomizer, None
    try:
        rollout.reset(seed=0)
    finally:
        rollout.randomizer = randomizer
