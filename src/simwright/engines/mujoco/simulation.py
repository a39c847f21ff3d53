# SPDX-License-Identifier: Apache-2.0
"""All worlds moved on by MuJoCo's batched rollouts.

States are kept in double precision beside the arrays.  As long as a caller hands back what it was given, motion goes on
from there; worlds whose coordinates were edited start from the edited values.  Rollouts end at the same steps whatever
is watched, and each world is computed by itself, so results do not depend on watching, on threads or on other worlds.
"""

from __future__ import annotations

import os
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.engines.mujoco.build import build_model
from simwright.engines.mujoco.coordinates import CoordinateMap
from simwright.engines.mujoco.forces import Forces
from simwright.engines.protocol import Settings, Watch
from simwright.engines.stability import LARGEST, make_error
from simwright.engines.world import group_worlds
from simwright.formats.mjcf.quiet import keep_log_away
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinds import JointType
from simwright.runtime.kinematics import eval_fk
from simwright.runtime.model import Model
from simwright.runtime.rotation import Values, conjugate, rotate
from simwright.runtime.state import Control, State

CHUNK = 64
"""Steps of one rollout at most: the solver starts cold after each multiple of it."""
_BUFFER = 4_000_000
"""Numbers that the states of one rollout may take."""
Inputs: TypeAlias = tuple[Values, int]
"""Rows of inputs, one for each world, and MuJoCo's bits for what they hold."""
_SIZES = ("nq", "nv", "nu", "nbody", "ngeom", "njnt", "neq", "ntendon", "npair")


class Part:
    """Worlds that share a model."""

    def __init__(
        self, model: Model, rows: list[int], dt: float, options: dict[str, Any], reporter: Reporter
    ) -> None:
        self.rows = np.array(rows)
        self.built = build_model(model, dt, options, number=rows[0], reporter=reporter)
        self.map = CoordinateMap(self.built)
        self.forces = Forces(self.built, self.map)


class MujocoSimulation:
    """Worlds of a model; see :class:`~simwright.engines.protocol.Simulation`."""

    def __init__(self, model: Model, settings: Settings, options: dict[str, Any], reporter: Reporter) -> None:
        import mujoco
        import mujoco.rollout

        self.model, self.dt, self.worlds = model, settings.dt, model.world_count
        groups = group_worlds(model)
        self.parts = [
            Part(model, rows, settings.dt, options, reporter if not i else Reporter())
            for i, rows in enumerate(groups)
        ]
        self._check_sizes()
        self.threads = max(1, min(self.worlds, settings.threads or count_cores()))
        self._pool = mujoco.rollout.Rollout(nthread=self.threads if self.threads > 1 else 0)
        first = self.parts[0].built.mj
        keep_log_away()
        self._data = [mujoco.MjData(first) for _ in range(self.threads)]
        models: list[Any] = [first] * self.worlds
        for part in self.parts[1:]:
            for row in part.rows.tolist():
                models[row] = part.built.mj
        self._models = models
        full = int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
        self._width = int(mujoco.mj_stateSize(first, full))
        self._states = np.zeros((self.worlds, self._width))
        self._seen: tuple[AnyArray, AnyArray] | None = None
        self.count = 0
        self._nq, self._nv = int(first.nq), int(first.nv)
        self._batch = max(self.threads, min(self.worlds, _BUFFER // (self._width * CHUNK)))
        self._buffer = np.zeros(self._batch * CHUNK * self._width)
        self._sensed = np.zeros(self._batch * CHUNK * int(first.nsensordata))
        self._shift = self._find_shift()

    def _check_sizes(self) -> None:
        first = self.parts[0].built.mj
        for part in self.parts[1:]:
            if any(getattr(part.built.mj, name) != getattr(first, name) for name in _SIZES):
                raise UsageError(
                    f"world {int(part.rows[0])} has other parts than world 0",
                    hint="worlds may differ in numbers, not in which joints are driven or which shapes touch",
                )

    def _find_shift(self) -> Values:
        """What the places of worlds add to coordinates (worlds x joint_q)."""
        model, one = self.model, self.parts[0].built.world
        shift = np.zeros((self.worlds, model.per_world["joint_coord"]))
        floats = np.isin(one.joint_type, (JointType.FREE, JointType.DISTANCE)) & (one.joint_parent < 0)
        offsets = model.world_offset.astype(np.float64)
        for joint in np.flatnonzero(floats).tolist():
            start = int(one.joint_q_start[joint])
            shift[:, start : start + 3] = rotate(conjugate(one.joint_X_p[joint, 3:]), offsets)
        return shift

    def advance(
        self,
        state: State,
        control: Control,
        steps: int = 1,
        *,
        watch: Watch | None = None,
        every: int = 1,
        poses: bool = True,
    ) -> None:
        """Move a state on; see :meth:`~simwright.engines.protocol.Simulation.advance`."""
        if steps < 0 or every < 1:
            raise UsageError(f"{steps} steps, watched every {every}", hint="steps from zero, every from one")
        self._load(state)
        inputs = self._make_inputs(state, control)
        left = steps
        while left:
            count = min(left, CHUNK - self.count % CHUNK)
            chosen = self._list_watched(count, every) if watch is not None else []
            samples = self._roll(state, inputs, count, chosen)
            start, self.count = self.count, self.count + count
            left -= count
            if watch is not None and chosen:
                places, rates = self._translate(state, samples)
                for number, q, qd in zip(chosen, places, rates, strict=True):
                    self._put(state, q, qd, poses=poses)
                    watch(start + number + 1, state)
        self._write(state, self._states, poses=poses)
        self._seen = (state.joint_q.copy(), state.joint_qd.copy())

    def _list_watched(self, count: int, every: int) -> list[int]:
        first = every - 1 - self.count % every
        return list(range(first, count, every))

    def _load(self, state: State) -> None:
        """Take over coordinates that are not those given out last."""
        q = state.joint_q.reshape(self.worlds, -1)
        qd = state.joint_qd.reshape(self.worlds, -1)
        changed = np.ones(self.worlds, dtype=bool)
        if self._seen is not None:
            before_q, before_qd = (values.reshape(self.worlds, -1) for values in self._seen)
            changed = (q != before_q).any(axis=1) | (qd != before_qd).any(axis=1)
        if not changed.any():
            return
        for part in self.parts:
            rows = part.rows[changed[part.rows]]
            if len(rows):
                place = q[rows].astype(np.float64) - self._shift[rows]
                qpos, qvel = part.map.to_engine(place, qd[rows].astype(np.float64))
                self._states[rows, 1 : 1 + self._nq] = qpos
                self._states[rows, 1 + self._nq : 1 + self._nq + self._nv] = qvel

    def _roll(self, state: State, inputs: Inputs, count: int, chosen: list[int]) -> Values:
        """One rollout of all worlds, in batches that memory holds; gives the states after the chosen steps."""
        samples = np.empty((len(chosen), *self._states.shape))
        after = np.empty_like(self._states)
        given, spec = inputs
        # the clock tells which worlds stopped: it starts at zero in every rollout
        self._states[:, 0] = 0.0
        for first in range(0, self.worlds, self._batch):
            rows = slice(first, min(first + self._batch, self.worlds))
            size = rows.stop - rows.start
            trace = self._buffer[: size * count * self._width].reshape(size, count, self._width)
            sensed = self._sensed[: size * count * self._sensors].reshape(size, count, self._sensors)
            held = np.repeat(given[rows, None], count, axis=1)
            self._pool.rollout(
                self._models[rows],
                self._data,
                self._states[rows],
                held,
                control_spec=spec,
                skip_checks=True,
                nstep=count,
                initial_warmstart=None,
                state=trace,
                sensordata=sensed,
            )
            if not self._is_sound(trace, count):
                self._fail(state, trace, rows.start)
            for place, number in enumerate(chosen):
                samples[place, rows] = trace[:, number]
            after[rows] = trace[:, -1]
        self._states = after
        return samples

    @property
    def _sensors(self) -> int:
        return int(self._models[0].nsensordata)

    def _make_inputs(self, state: State, control: Control) -> Inputs:
        """Controls and forces of all worlds, constant over a rollout, and what they hold."""
        applied = self.parts[0].forces.is_applied(state, control)
        spec = self.parts[0].forces.choose_spec(applied)
        rows = [part.forces.make(self._split(control, state, part.rows), applied) for part in self.parts]
        if len(self.parts) == 1:
            return rows[0], spec
        inputs = np.zeros((self.worlds, rows[0].shape[1]))
        for part, values in zip(self.parts, rows, strict=True):
            inputs[part.rows] = values
        return inputs, spec

    def _split(self, control: Control, state: State, rows: Any) -> dict[str, Values]:
        """Controls, forces and coordinates of some worlds, one row for each."""
        found = {
            name: getattr(control, name).reshape(self.worlds, -1)[rows].astype(np.float64)
            for name in ("joint_target_pos", "joint_target_vel", "joint_act", "joint_f")
        }
        found["body_f"] = state.body_f.reshape(self.worlds, -1, 6)[rows].astype(np.float64)
        found["qpos"] = self._states[rows, 1 : 1 + self._nq]
        return found

    def _is_sound(self, trace: Values, count: int) -> bool:
        last = trace[:, -1]
        late = last[:, 0] < (count - 0.5) * self.dt
        return bool(np.abs(last).max(initial=0.0) < LARGEST) and not bool(late.any())

    def _fail(self, state: State, trace: Values, first_row: int) -> None:
        """Raise, naming the first step at which a world stopped or left all bounds; the state is the last good one."""
        times = np.arange(1, trace.shape[1] + 1) * self.dt
        bad = ~(np.abs(trace).max(axis=2) < LARGEST) | (trace[:, :, 0] < times - 0.5 * self.dt)
        number = int(np.argmax(bad.any(axis=0)))
        world = int(np.argmax(bad[:, number]))
        broken = self._states.copy()
        broken[first_row + world] = trace[world, number]
        scratch = state.clone()
        self._write(scratch, broken, poses=False)
        # only the world that broke is looked at: others may move fast and be well
        others = np.arange(self.worlds) != first_row + world
        scratch.joint_q.reshape(self.worlds, -1)[others] = 0.0
        scratch.joint_qd.reshape(self.worlds, -1)[others] = 0.0
        self._write(state, self._states)
        self._seen = (state.joint_q.copy(), state.joint_qd.copy())
        raise make_error(self.model, scratch.joint_q, scratch.joint_qd, (self.count + number + 1) * self.dt)

    def _write(self, state: State, states: Values, *, poses: bool = True) -> None:
        places, rates = self._translate(state, states[None])
        self._put(state, places[0], rates[0], poses=poses)

    def _translate(self, state: State, states: Values) -> tuple[Values, Values]:
        """Coordinates and velocities (moments x worlds x entries) of MuJoCo's states (moments x worlds x numbers)."""
        count = len(states)
        q = np.repeat(state.joint_q.reshape(1, self.worlds, -1).astype(np.float64), count, axis=0)
        qd = np.repeat(state.joint_qd.reshape(1, self.worlds, -1).astype(np.float64), count, axis=0)
        for part in self.parts:
            held = states[:, part.rows].reshape(count * len(part.rows), -1)
            place = q[:, part.rows].reshape(len(held), -1)
            rate = qd[:, part.rows].reshape(len(held), -1)
            part.map.from_engine(held[:, 1 : 1 + self._nq], held[:, 1 + self._nq :], place, rate)
            shape = (count, len(part.rows), -1)
            q[:, part.rows] = place.reshape(shape) + self._shift[part.rows]
            qd[:, part.rows] = rate.reshape(shape)
        return q, qd

    def _put(self, state: State, q: Values, qd: Values, *, poses: bool) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            state.joint_q[:] = q.ravel()
            state.joint_qd[:] = qd.ravel()
        if poses:
            eval_fk(self.model, state)

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.close()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
