# SPDX-License-Identifier: Apache-2.0
"""Many worlds of one task at once, on all cores, by MuJoCo's batched rollouts.

The worlds share one compiled model; their states are rows of one array.  Judging and observing are numpy over the rows.
Only control that needs nothing between two actions can be batched (:attr:`Controller.is_direct`).  Where masses,
friction or gains vary (:class:`~simwright.tasks.randomize.Randomize`), every world has a model of its own, which
costs memory.
"""

from __future__ import annotations

import copy
import os
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.tasks.actuation import hold_controls
from simwright.tasks.forward import Chain
from simwright.tasks.manifest import ControlMode
from simwright.tasks.reading import complete_layout, complete_pose, read_joints, read_objects, read_speeds
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.scene import Layout, Moment, Verdict

_QPOS = 1
"""Coordinates stand behind the time in MuJoCo's state."""
_MEMORY = 4 * 2**30
"""Models of single worlds take no more than this [bytes]."""


class BatchRollout:
    """``count`` copies of a rollout, stepped together.  ``threads`` is the number of cores by default."""

    def __init__(self, rollout: SimRollout, count: int, *, threads: int | None = None) -> None:
        import mujoco
        import mujoco.rollout

        if count < 1:
            raise UsageError(f"a batch has at least one world, not {count}")
        if rollout.mode is ControlMode.POSE or not rollout.controller.is_direct:
            raise UsageError(
                f"batches have no controller between steps, which the mode {rollout.mode.value!r} of this robot needs",
                hint="use the mode that its actuators take, or environments one by one",
            )
        self.rollout, self.count = rollout, count
        model = rollout.model
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        self._threads = max(1, min(count, threads or cores))
        self._pool = mujoco.rollout.Rollout(nthread=self._threads)
        self._data = [mujoco.MjData(model) for _ in range(self._threads)]
        spec = mujoco.mjtState
        self._control_spec = int(spec.mjSTATE_CTRL)
        if model.nmocap:
            self._control_spec |= int(spec.mjSTATE_MOCAP_POS) | int(spec.mjSTATE_MOCAP_QUAT)
        full = int(spec.mjSTATE_FULLPHYSICS)
        size = mujoco.mj_stateSize(model, full)
        steps = rollout.composed.substeps
        self._models = self._copy_models()
        _reset_plainly(rollout)
        self._blank = np.zeros(size)
        mujoco.mj_getState(model, rollout.data, self._blank, full)
        self.states = np.tile(self._blank, (count, 1))
        self._trace = np.zeros((count, steps, size))
        self._sensed = np.zeros((count, steps, model.nsensordata))
        self._controls = np.zeros((count, steps, mujoco.mj_stateSize(model, self._control_spec)))
        self._warm = np.zeros((count, model.nv))
        self._hold = rollout.controller.targets
        self._targets = np.tile(self._hold, (count, 1))
        self.bounds = rollout.controller.bounds
        self._chains = (
            Chain.of_site(model, rollout.tool_site) if rollout.tool_site >= 0 else Chain.of_body(model, 1),
            Chain.of_body(model, 1),
        )
        self._mocap = {name: int(model.body(name).mocapid[0]) for name in rollout.scene.fixtures}
        self._starts = {name: int(model.joint(name).qposadr[0]) for name in rollout.scene.objects}
        self._seen: Moment | None = None
        self.layout: Layout = {}
        self.start = np.zeros((count, 7))
        self.steps = np.zeros(count, dtype=np.int64)

    @property
    def qpos(self) -> Array:
        """Coordinates of all worlds (worlds x nq), a view."""
        return self.states[:, _QPOS : _QPOS + self.rollout.model.nq]

    @property
    def qvel(self) -> Array:
        """Velocities of all worlds (worlds x nv), a view."""
        first = _QPOS + self.rollout.model.nq
        return self.states[:, first : first + self.rollout.model.nv]

    def reset(
        self, seeds: npt.NDArray[np.int64] | list[int], worlds: npt.NDArray[np.bool_] | None = None
    ) -> None:
        """Start episodes in the chosen worlds; the same seed gives the same task as a single rollout has."""
        chosen = np.arange(self.count) if worlds is None else np.flatnonzero(worlds)
        self.states[chosen] = self._blank
        self._warm[chosen] = 0.0
        self._targets[chosen] = self._hold
        self.steps[chosen] = 0
        for world, seed in zip(chosen.tolist(), seeds, strict=True):
            layout = self._draw(world, int(seed))
            for name, place in layout.items():
                if name not in self.layout:
                    self.layout[name] = np.zeros((self.count, len(place)))
                self.layout[name][world] = place
            for name, first in self._starts.items():
                self.qpos[world, first : first + 7] = complete_pose(layout[name])
        self.start[chosen] = self._chains[1].place(self.qpos[chosen])
        self._write_mocap(chosen)
        self._seen = None

    def _draw(self, world: int, seed: int) -> Layout:
        """The layout of an episode, and everything that varies with it."""
        layout = self.rollout.scene.sample(np.random.default_rng(seed), self.rollout.options)
        randomizer = self.rollout.randomizer
        if randomizer is None:
            return layout
        chance = randomizer.start(seed)
        model = self.rollout.model if self._models is None else self._models[world]
        randomizer.change_model(chance, model)
        layout = randomizer.shift_layout(chance, layout)
        if randomizer.shift_joints(chance, model, self.qpos[world]):
            held = hold_controls(model, np.array(self.qpos[world]))
            self._targets[world] = held[: self._targets.shape[1]]
        return layout

    def _copy_models(self) -> list[Any] | None:
        """A model for each world where physics differs between them."""
        randomizer, model = self.rollout.randomizer, self.rollout.model
        if randomizer is None or not randomizer.options.changes_model:
            return None
        size = int(model.nbuffer) * self.count
        if size > _MEMORY:
            raise UsageError(
                f"{self.count} worlds with masses, friction or gains of their own need {size / 2**30:.1f} GiB",
                hint="use fewer worlds, or vary only places and joints",
            )
        return [copy.copy(model) for _ in range(self.count)]

    def _write_mocap(self, chosen: npt.NDArray[np.intp]) -> None:
        """Fixtures stand in the controls: behind them, all positions, then all quaternions."""
        model = self.rollout.model
        first, second = model.nu, model.nu + 3 * model.nmocap
        for name, place in self._mocap.items():
            pose = complete_pose(self.layout[name][chosen])
            at = first + 3 * place
            self._controls[chosen, :, at : at + 3] = pose[:, None, :3]
            at = second + 4 * place
            self._controls[chosen, :, at : at + 4] = pose[:, None, 3:]

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
        nu = self.rollout.composed.robot_nu
        self._controls[:, :, :nu] = clipped[:, None, :]
        self._pool.rollout(
            self.rollout.model if self._models is None else self._models,
            self._data,
            self.states,
            self._controls,
            control_spec=self._control_spec,
            initial_warmstart=self._warm,
            state=self._trace,
            sensordata=self._sensed,
        )
        np.copyto(self.states, self._trace[:, -1])
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
        """Worlds that have broken down: MuJoCo starts such a world anew, so that its time is behind."""
        behind = self.states[:, 0] < (self.steps - 0.5) * self.rollout.composed.period
        return np.asarray(behind | ~np.isfinite(self.states).all(axis=1))

    def close(self) -> None:
        """Stop the threads."""
        self._pool.close()


def _reset_plainly(rollout: SimRollout) -> None:
    """Start an episode in which nothing varies."""
    randomizer, rollout.randomizer = rollout.randomizer, None
    try:
        rollout.reset(seed=0)
    finally:
        rollout.randomizer = randomizer
