# SPDX-License-Identifier: Apache-2.0
"""Worlds of a compiled MuJoCo model, stepped together on all cores.

Everything that steps MuJoCo goes through :class:`ModelBatch`: assets and scenes that are run, and tasks.  A world is a
row of MuJoCo's *integration state*, which is all that the next step depends on, the solver's warm start included.  So
one world moves exactly as a loop of ``mj_step`` moves it, and nothing depends on the number of threads, on the other
worlds, or on how many steps are asked for at once.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import Any, Self, TypeAlias

import numpy as np

from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.formats.mjcf.quiet import keep_log_away

MjModel: TypeAlias = Any
MjData: TypeAlias = Any

_SIZES = (
    "nq",
    "nv",
    "na",
    "nu",
    "nbody",
    "ngeom",
    "njnt",
    "neq",
    "ntendon",
    "npair",
    "nmocap",
    "nsensordata",
)


class ModelBatch:
    """``worlds`` of one compiled model, or of a model each where ``models`` is a list (all of the same sizes).

    ``states`` has a row for each world; :meth:`view` gives its parts by MuJoCo's names.  Rows may be edited between
    calls.  ``sensors`` (worlds x nsensordata) has the sensors of the last step where ``with_sensors`` is set.
    """

    def __init__(
        self,
        models: MjModel | Sequence[MjModel],
        worlds: int = 1,
        *,
        threads: int | None = None,
        with_sensors: bool = False,
    ) -> None:
        import mujoco

        self.models: list[MjModel] = list(models) if isinstance(models, list | tuple) else [models] * worlds
        if len(self.models) != worlds or worlds < 1:
            raise UsageError(
                f"{len(self.models)} models for {worlds} worlds", hint="one, or one for each world"
            )
        self.model = self.models[0]
        _check_sizes(self.models)
        self.worlds = worlds
        self.threads = max(1, min(worlds, threads or count_cores()))
        self._spec = int(mujoco.mjtState.mjSTATE_INTEGRATION)
        keep_log_away()
        self._data = [mujoco.MjData(self.models[i]) for i in range(self.threads)]
        # which world each data holds, and the row it had then: a row that was not edited is not set again
        self._held: list[tuple[int, Array] | None] = [None] * self.threads
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._places = _find_places(self.model)
        row = np.zeros(mujoco.mj_stateSize(self.model, self._spec))
        mujoco.mj_getState(self.model, self._data[0], row, self._spec)
        self.states = np.tile(row, (worlds, 1))
        self.sensors = np.zeros((worlds, self.model.nsensordata))
        self._with_sensors = with_sensors and bool(self.model.nsensordata)

    def view(self, part: str) -> Array:
        """A part of the states of all worlds (worlds x numbers), as a view.

        Parts are ``time``, ``qpos``, ``qvel``, ``act``, ``warmstart``, ``ctrl``, ``qfrc_applied``, ``xfrc_applied``,
        ``eq_active``, ``mocap_pos``, ``mocap_quat`` and so on: the names of ``mjtState`` in lower case.
        """
        return self.states[:, self._places[part]]

    def step(self, steps: int = 1, worlds: Iterable[int] | None = None) -> None:
        """Move all worlds, or the chosen ones, on by ``steps`` time steps, their controls and forces held."""
        chosen = range(self.worlds) if worlds is None else list(worlds)
        if not steps or not len(chosen):
            return
        if self._pool is None or len(chosen) == 1:
            self._work(0, iter(chosen), steps)
            return
        if self.worlds <= self.threads:  # every world keeps its own data, as a program with one MjData has it
            tasks = [self._pool.submit(self._work, world, iter((world,)), steps) for world in chosen]
        else:
            waiting = iter(chosen)  # shared: a thread takes the next world when it is done with one
            tasks = [self._pool.submit(self._work, thread, waiting, steps) for thread in range(self.threads)]
        for task in tasks:
            task.result()

    def _work(self, thread: int, waiting: Iterable[int], steps: int) -> None:
        import mujoco

        data, spec, states, models = self._data[thread], self._spec, self.states, self.models
        get, step = mujoco.mj_getState, mujoco.mj_step
        for world in waiting:
            model, row = models[world], states[world]
            self._set(thread, world)
            step(model, data, steps)
            get(model, data, row, spec)
            if self._with_sensors:
                self.sensors[world] = data.sensordata
            if self.worlds <= self.threads:
                self._held[thread] = (world, row.copy())

    def _set(self, thread: int, world: int) -> None:
        import mujoco

        held = self._held[thread]
        if held is not None and held[0] == world and np.array_equal(held[1], self.states[world]):
            return
        self._held[thread] = None
        mujoco.mj_setState(self.models[world], self._data[thread], self.states[world], self._spec)

    def hold(self, world: int = 0, *, forward: bool = True) -> MjData:
        """An ``MjData`` with the state of a world, for everything that is not stepping.

        It is computed forward (``mj_forward``) without changing the state, unless ``forward`` is False.  It stays
        valid until the next call of the batch.
        """
        import mujoco

        thread = world if self.worlds <= self.threads else 0
        self._held[thread] = None
        data, model = self._data[thread], self.models[world]
        mujoco.mj_setState(model, data, self.states[world], self._spec)
        if forward:
            mujoco.mj_forward(model, data)
        return data

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _check_sizes(models: Sequence[MjModel]) -> None:
    first = models[0]
    known = {id(first)}
    for world, model in enumerate(models):
        if id(model) in known:
            continue
        known.add(id(model))
        if any(getattr(model, name) != getattr(first, name) for name in _SIZES):
            raise UsageError(
                f"world {world} has other parts than world 0",
                hint="worlds may differ in numbers, not in which joints are driven or which shapes touch",
            )


def _find_places(model: MjModel) -> dict[str, slice]:
    """Where each part stands in a row: parts follow each other in the order of their bits."""
    import mujoco

    whole = int(mujoco.mjtState.mjSTATE_INTEGRATION)
    bits = {
        int(value): name.removeprefix("mjSTATE_").lower()
        for name, value in mujoco.mjtState.__members__.items()
        if int(value).bit_count() == 1 and int(value) & whole
    }
    sizes = [mujoco.mj_stateSize(model, bit) for bit in sorted(bits)]
    starts = itertools.accumulate(sizes, initial=0)
    return {
        bits[bit]: slice(start, start + size)
        for bit, start, size in zip(sorted(bits), starts, sizes, strict=False)
    }


def count_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
