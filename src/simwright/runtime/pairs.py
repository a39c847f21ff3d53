# SPDX-License-Identifier: Apache-2.0
"""Pairs of shapes in many equal worlds, kept once: those of one world, written out when they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

Table = npt.NDArray[np.int32]


def _no_pairs() -> Table:
    return np.zeros((0, 2), dtype=np.int32)


@dataclass(slots=True, eq=False)
class Pairs:
    """``local`` pairs hold in every world; ``crossing`` ones join a shape of each world and a shared one.

    ``local`` and the first column of ``crossing`` count within a world; ``among`` and the second column are indices of
    shared shapes, from zero.
    """

    local: Table = field(default_factory=_no_pairs)
    crossing: Table = field(default_factory=_no_pairs)
    among: Table = field(default_factory=_no_pairs)
    per_world: int = 0
    world_count: int = 1

    def __len__(self) -> int:
        return (len(self.local) + len(self.crossing)) * self.world_count + len(self.among)

    def expand(self) -> Table:
        """All pairs with the indices of the model, world by world, ``(n, 2)``."""
        steps = np.arange(self.world_count, dtype=np.int32) * self.per_world
        base = self.world_count * self.per_world
        # int32 as everywhere: int64 would double the memory of the largest table there is
        crossing = np.repeat(self.crossing[None], self.world_count, axis=0)
        crossing[:, :, 0] += steps[:, None]
        crossing[:, :, 1] += np.int32(base)
        local = self.local[None] + steps[:, None, None]
        worlds = np.concatenate((local, crossing), axis=1).reshape(-1, 2)
        return np.concatenate((worlds, self.among + np.int32(base)))

    def __iter__(self) -> Iterator[tuple[int, int]]:
        return map(tuple, self.expand().tolist())
