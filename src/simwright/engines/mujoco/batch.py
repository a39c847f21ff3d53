# SPDX-License-Identifier: Apache-2.0
"""Worlds of a compiled MuJoCo model, stepped together on all cores.

Everything that steps MuJoCo goes through :class:`ModelBatch`: assets and scenes that are run, and tasks.  A world is a
row of MuJoCo's *integration state*, which is all that the next step depends on, the solver's warm start included.  So
one world moves exactly as a loop of ``mj_step`` moves it, and nothing depends on the number of threads, on the other
worlds, or on how many steps are asked for at once.  :class:`WarpBatch` has the same rows and steps them on a GPU.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import MjData, MjModel
from simwright.engines.protocol import Closeable
from simwright.formats.mjcf.quiet import keep_log_away

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


@dataclass(slots=True)
class InputPath:
    """What worlds are told in each of several time steps (all worlds x steps x numbers)."""

    told: Array
    spec: int
    """The parts of a row that ``told`` has (``mjtState``)."""
    controls: Array
    """The first controls of the model, which change from step to step."""
    starts: Array
    """Where the worlds begin (``mjSTATE_FULLPHYSICS``)."""
    warm: Array
    """Where the solver begins; of worlds that are ``done``, where it ended."""
    states: Array
    """What MuJoCo's rollout gives back after each time step: the same parts as ``starts`` has."""
    done: npt.NDArray[np.bool_]
    """Worlds whose rows follow from all this and are written for all of them at once."""


class ModelBatch(Closeable):
    """``worlds`` of one compiled model, or of a model each where ``models`` is a list (all of the same sizes).

    ``states`` has a row for each world; :meth:`view` gives its parts by MuJoCo's names.  Rows may be edited between
    calls.  ``sensors`` (worlds x nsensordata) has the sensors of the last step where ``with_sensors`` is set.
    ``broken`` tells which worlds have become unstable since their last reset: MuJoCo starts such a world anew.
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

        self.models: list[MjModel] = list(models) if isinstance(models, Sequence) else [models] * worlds
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
        self._data: list[MjData] = [mujoco.MjData(self.models[i]) for i in range(self.threads)]
        # which world each data holds, and the row it had then: a row that was not edited is not set again
        self._held: list[tuple[int, Array] | None] = [None] * self.threads
        self._pool = ThreadPoolExecutor(self.threads) if self.threads > 1 else None
        self._places = _find_places(self.model)
        self._physics = _find_physics(self._places)
        row = np.zeros(mujoco.mj_stateSize(self.model, self._spec))
        mujoco.mj_getState(self.model, self._data[0], row, self._spec)
        self._blank = row
        self.states = np.tile(row, (worlds, 1))
        self.broken = np.zeros(worlds, dtype=bool)
        # MuJoCo's counters of bad positions, velocities and accelerations, which follow each other: views of the data
        bad = slice(int(mujoco.mjtWarning.mjWARN_BADQPOS), int(mujoco.mjtWarning.mjWARN_BADQACC) + 1)
        self._alarms = [memoryview(data.warning.number[bad]) for data in self._data]
        self._warnings = [memoryview(data.warning.number) for data in self._data]
        self._warm_ends = [data.qacc_warmstart for data in self._data]
        self._silence = memoryview(np.zeros_like(self._data[0].warning.number))
        self._rollouts: list[Any] = []
        self._differ = any(model is not self.model for model in self.models)
        self.sensors = np.zeros((worlds, self.model.nsensordata))
        self._with_sensors = with_sensors and bool(self.model.nsensordata)
        self.after: Callable[[int, MjModel, MjData], None] | None = None
        """Called with a world, its model and its data after its steps, in the thread that made them."""

    def view(self, part: str) -> Array:
        """A part of the states of all worlds (worlds x numbers), as a view.

        Parts are ``time``, ``qpos``, ``qvel``, ``act``, ``warmstart``, ``ctrl``, ``qfrc_applied``, ``xfrc_applied``,
        ``eq_active``, ``mocap_pos``, ``mocap_quat`` and so on: the names of ``mjtState`` in lower case.
        """
        return self.states[:, self._places[part]]

    def reset(self, worlds: Sequence[int] | None = None) -> None:
        """Put all worlds, or the chosen ones, where the model starts: time 0, at rest, nothing told."""
        chosen = slice(None) if worlds is None else worlds
        self.states[chosen] = self._blank
        self.broken[chosen] = False

    def step(self, steps: int = 1, worlds: Iterable[int] | None = None) -> None:
        """Move all worlds, or the chosen ones, on by ``steps`` time steps, their controls and forces held."""
        self._spread(range(self.worlds) if worlds is None else list(worlds), steps)

    def follow(self, controls: Array, worlds: Sequence[int]) -> Array:
        """Move the chosen worlds on by one time step for each row of their controls.

        ``controls`` (all worlds x steps x numbers) are the first controls of the model.  Gives the velocities after
        each time step (all worlds x steps x nv), which are zero for worlds that were not chosen.
        """
        import mujoco.rollout

        if not self._rollouts:
            # without threads of their own: they run in the thread that calls them
            self._rollouts = [mujoco.rollout.Rollout(nthread=0) for _ in range(self.threads)]
        told, spec = self._spell_inputs(controls)
        starts, warm = self.states[:, self._physics], np.ascontiguousarray(self.view("warmstart"))
        states = np.zeros((*controls.shape[:2], starts.shape[1]))
        path = InputPath(told, spec, controls, starts, warm, states, np.zeros(self.worlds, dtype=bool))
        self._spread(worlds, controls.shape[1], path)
        self._write_rows(path)
        # time and coordinates come first in rows of any kind
        return path.states[..., self._places["qvel"]]

    def _write_rows(self, path: InputPath) -> None:
        """The rows of the worlds that are done, from what the rollouts left.

        Asking MuJoCo for each row would hand Python's lock over once more for each world: on a machine that is busy
        every handing over may wait for another program.
        """
        done = np.flatnonzero(path.done)
        if not done.size:
            return
        first = self._places["ctrl"].start
        self.states[done[:, None], self._physics] = path.states[done, -1]
        self.states[done, self._places["warmstart"]] = path.warm[done]
        self.states[done, first : first + path.controls.shape[2]] = path.controls[done, -1]

    def _spell_inputs(self, controls: Array) -> tuple[Array, int]:
        """What MuJoCo is told in each time step (all worlds x steps x numbers), and which parts of a row that is.

        MuJoCo's rollout puts the parts that it is not told back to where the model has them: these are left out only
        where they are there anyway.
        """
        import mujoco

        spec = int(mujoco.mjtState.mjSTATE_CTRL)
        told = controls
        if self._has_inputs():
            spec = int(mujoco.mjtState.mjSTATE_USER)
            place = slice(self._places["ctrl"].start, self._places["userdata"].stop)
            told = np.repeat(self.states[:, None, place], controls.shape[1], axis=1)
            told[..., : controls.shape[2]] = controls
        elif controls.shape[2] != self.model.nu:
            told = np.repeat(self.view("ctrl")[:, None], controls.shape[1], axis=1)
            told[..., : controls.shape[2]] = controls
        return np.ascontiguousarray(told, dtype=np.float64), spec

    def _has_inputs(self) -> bool:
        """Is any world told more than controls: forces, places of mocap bodies, equalities switched over?"""
        if self.model.nmocap or self.model.nuserdata:
            return True
        if self.view("qfrc_applied").any() or self.view("xfrc_applied").any():
            return True
        active = [model.eq_active0 for model in (self.models if self._differ else [self.model])]
        return bool((self.view("eq_active") != np.array(active)).any())

    def _spread(self, chosen: Sequence[int], steps: int, path: InputPath | None = None) -> None:
        """Let the threads do the chosen worlds; see :meth:`_work`."""
        # zero steps must not touch the data: a thread would set its state
        if not steps or not len(chosen):
            return
        if self._pool is None or len(chosen) == 1:
            self._work(self._find_thread(chosen[0]), iter(chosen), steps, path)
            return
        if self.worlds <= self.threads:  # every world keeps its own data, as a program with one MjData has it
            shares = [(world, iter((world,))) for world in chosen]
        else:
            waiting = iter(chosen)  # shared: a thread takes the next world when it is done with one
            shares = [(thread, waiting) for thread in range(self.threads)]
        tasks = [self._pool.submit(self._work, *share, steps, path) for share in shares]
        # result() raises what a thread raised
        for task in tasks:
            task.result()

    def _work(self, thread: int, waiting: Iterable[int], steps: int, path: InputPath | None) -> None:
        """Step the waiting worlds in one thread: controls held, or along a path."""
        import mujoco

        data, spec, states, models = self._data[thread], self._spec, self.states, self.models
        put, get, step = mujoco.mj_setState, mujoco.mj_getState, mujoco.mj_step
        alarms, own = self._alarms[thread], self.worlds <= self.threads
        # nobody looks at the data of a world before all are done
        unseen = not (own or self._with_sensors or self.after is not None)
        for world in waiting:
            model, row = models[world], states[world]
            if path is not None:
                if self._follow(thread, world, path) and unseen:
                    path.warm[world], path.done[world] = self._warm_ends[thread], True
                    continue
            else:
                if own:
                    self._set(thread, world)
                else:
                    put(model, data, row, spec)
                step(model, data, steps)
            get(model, data, row, spec)
            if alarms[0] or alarms[1] or alarms[2]:
                self.broken[world] = True
                alarms[0] = alarms[1] = alarms[2] = 0
            if self._with_sensors:
                self.sensors[world] = data.sensordata
            if self.after is not None:
                self.after(world, model, data)
            if own:
                self._held[thread] = (world, row.copy())

    def _follow(self, thread: int, world: int, path: InputPath) -> bool:
        """Step a world along its path: all time steps in one call, as a loop of ``mj_step`` would do it.

        False where it had to be a loop.
        """
        import mujoco

        model, data, row = self.models[world], self._data[thread], self.states[world]
        steps, one = path.told.shape[1], slice(world, world + 1)
        self._held[thread] = None
        self._rollouts[thread].rollout(
            [model],
            [data],
            path.starts[one],
            path.told[one],
            control_spec=path.spec,
            skip_checks=True,
            nstep=steps,
            initial_warmstart=path.warm[one],
            state=path.states[one],
        )
        warned = self._warnings[thread]
        if not any(warned):
            return True
        # MuJoCo's rollout stops at the first warning, where a loop goes on
        warned[:] = self._silence
        mujoco.mj_setState(model, data, row, self._spec)
        told, qvel, place = data.ctrl[: path.controls.shape[2]], data.qvel, self._places["qvel"]
        for asked, moved in zip(path.controls[world], path.states[world, :, place], strict=True):
            told[:] = asked
            mujoco.mj_step(model, data)
            moved[:] = qvel
        return False

    def _find_thread(self, world: int) -> int:
        """Whose data a world is computed in: its own, unless there are more worlds than threads."""
        return world if self.worlds <= self.threads else 0

    def _set(self, thread: int, world: int) -> None:
        import mujoco

        held = self._held[thread]
        if held is not None and held[0] == world and np.array_equal(held[1], self.states[world]):
            return
        # until it is set again: an error in between must not leave a stale mark
        self._held[thread] = None
        mujoco.mj_setState(self.models[world], self._data[thread], self.states[world], self._spec)

    def hold(self, world: int = 0) -> MjData:
        """An ``MjData`` with the state of a world, for everything that is not stepping.

        It is computed forward (``mj_forward``) without changing the state.  It stays valid until the next call of the
        batch.
        """
        import mujoco

        thread = self._find_thread(world)
        self._held[thread] = None
        data, model = self._data[thread], self.models[world]
        mujoco.mj_setState(model, data, self.states[world], self._spec)
        mujoco.mj_forward(model, data)
        return data

    def look(self, world: int = 0) -> MjData:
        """As :meth:`hold`, but only bodies, cameras and lamps are where the coordinates put them: cheap after a step.

        Where every world has data of its own (no more worlds than threads), it is always the same object, and forces
        and contacts in it are those at the beginning of the last time step.
        """
        import mujoco

        thread = self._find_thread(world)
        data, model = self._data[thread], self.models[world]
        self._set(thread, world)
        self._held[thread] = None  # posing bodies may normalize quaternions
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)
        mujoco.mj_camlight(model, data)
        return data

    def close(self) -> None:
        """Stop the threads."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None


_PARTS = {
    "qpos": "qpos",
    "qvel": "qvel",
    "act": "act",
    "warmstart": "qacc_warmstart",
    "ctrl": "ctrl",
    "qfrc_applied": "qfrc_applied",
    "xfrc_applied": "xfrc_applied",
    "mocap_pos": "mocap_pos",
    "mocap_quat": "mocap_quat",
}
"""Parts of a row that go over, and what MuJoCo Warp calls them."""
_BACK = ("qpos", "qvel", "act", "warmstart")
_CONTACTS = 64
"""Contacts of one world that there is room for, at least."""


class WarpBatch(ModelBatch):
    """The same worlds of one model, stepped by MuJoCo Warp; ``device`` is Warp's name of one, such as ``cuda:0``.

    Rows of states go to the device before a call and come back after it.  MuJoCo Warp computes in single precision: its
    motions agree with MuJoCo's for a while, not bit for bit.

    ``contacts`` and ``constraints`` are how many of them one world may have: what is more is left out by MuJoCo Warp.
    """

    def __init__(
        self,
        models: MjModel | Sequence[MjModel],
        worlds: int = 1,
        *,
        device: str = "cpu",
        contacts: int = _CONTACTS,
        constraints: int | None = None,
    ) -> None:
        if isinstance(models, Sequence):
            raise UsageError(
                "worlds of MuJoCo Warp share one model",
                hint="vary places and joints only, or use the backend 'mujoco'",
            )
        super().__init__(models, worlds, threads=1)
        self._warp, self._engine = _import_warp()
        try:
            self._device = self._warp.get_device(device)
        # Warp raises what its runtime raises, which differs between versions
        except Exception as error:  # noqa: BLE001
            raise UsageError(
                f"Warp has no device {device!r}: {error}", hint="cpu, or cuda:0 with a GPU"
            ) from None
        self.device = device
        rows = constraints or max(4 * contacts, 64) + 8 * self.model.njnt
        with self._warp.ScopedDevice(self._device):
            self._their = self._engine.put_model(self.model)
            self._data_there = self._engine.make_data(self.model, nworld=worlds, nconmax=contacts, njmax=rows)

    def step(self, steps: int = 1, worlds: Iterable[int] | None = None) -> None:
        """See the base; the worlds that are not chosen are put back afterwards."""
        if not steps:
            return
        kept = self.states.copy() if worlds is not None else None
        with self._warp.ScopedDevice(self._device):
            self._send()
            for _ in range(steps):
                self._engine.step(self._their, self._data_there)
            self._fetch()
        self.view("time")[:] += steps * float(self.model.opt.timestep)
        if kept is not None:
            others = np.ones(self.worlds, dtype=bool)
            others[list(worlds or ())] = False
            self.states[others] = kept[others]
        bad = ~np.isfinite(self.view("qpos")).all(axis=1) | ~np.isfinite(self.view("qvel")).all(axis=1)
        if bad.any():
            # as MuJoCo does it: a world that broke down starts anew
            self.broken |= bad
            self.states[bad] = self._blank
        self._held = [None] * self.threads

    def follow(self, controls: Array, worlds: Sequence[int]) -> Array:
        """See the base; rows go to the device and back for each time step."""
        velocities = np.zeros((*controls.shape[:2], self.model.nv))
        chosen = np.asarray(worlds, dtype=np.int64)
        for number in range(controls.shape[1]):
            self.view("ctrl")[chosen, : controls.shape[2]] = controls[chosen, number]
            self.step(worlds=worlds)
            velocities[chosen, number] = self.view("qvel")[chosen]
        return velocities

    def _send(self) -> None:
        for part, name in _PARTS.items():
            there = getattr(self._data_there, name)
            if there.size:
                values = np.ascontiguousarray(self.view(part), dtype=np.float32)
                there.assign(values.reshape(there.numpy().shape))

    def _fetch(self) -> None:
        for part in _BACK:
            there = getattr(self._data_there, _PARTS[part])
            if there.size:
                self.view(part)[:] = there.numpy().reshape(self.worlds, -1)


def _import_warp() -> tuple[Any, Any]:
    try:
        import mujoco_warp
        import warp
    except ImportError:
        raise MissingExtraError("mujoco-warp", "warp", "the backend 'mujoco-warp'") from None
    # what its kernels print while they are compiled belongs to nobody's output
    warp.config.quiet = True
    return warp, mujoco_warp


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


def _find_physics(places: dict[str, slice]) -> npt.NDArray[np.intp]:
    """Which numbers of a row are those of ``mjSTATE_FULLPHYSICS``."""
    import mujoco

    bits, physics = mujoco.mjtState.__members__, int(mujoco.mjtState.mjSTATE_FULLPHYSICS)
    parts = [name for name in places if int(bits[f"mjSTATE_{name.upper()}"]) & physics]
    return np.concatenate([np.arange(places[name].start, places[name].stop) for name in parts])


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
