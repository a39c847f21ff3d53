# SPDX-License-Identifier: Apache-2.0
"""Worlds of a compiled MuJoCo model, stepped by MuJoCo Warp on a GPU (or, for trying it, on the CPU).

States are the same rows as those of :class:`~simwright.engines.mujoco.batch.ModelBatch`, so that whatever works with
them works here: rows go to the device before a call and come back after it.  MuJoCo Warp computes in single precision;
its motions agree with MuJoCo's for a while, not bit for bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from simwright.core.errors import MissingExtraError, UsageError
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.queries import MjModel

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
    """As :class:`ModelBatch`, of one model for all worlds; ``device`` is Warp's name of one, such as ``cuda:0``.

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
        rows = constraints or max(4 * contacts, 64) + 2 * self.model.njnt + 6 * self.model.neq
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
