# SPDX-License-Identifier: Apache-2.0
"""Pull the drawer open: take the handle from above, go back along the slide."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from simwright.core.math3d import Array, quat_rotate
from simwright.tasks.baselines.scripted import CLOSED, UP, Scripted, find_yaw
from simwright.tasks.scenes.drawer import HANDLE

_HIGH = 0.10
_AJAR = -0.3
"""Open enough for the bar, and not so far that a finger stands on the drawer's front."""


class Pull(Scripted):
    """For ``drawer``."""

    task = "drawer"

    def play(self) -> Iterator[Array]:
        """Take the handle, and pull."""
        cabinet = np.asarray(self.now["cabinet"])
        self.face_exactly(find_yaw(cabinet) + 0.5 * math.pi)
        handle = self.find_handle(0.0)
        over = handle + _HIGH * UP
        yield from self.move(lambda: over, _AJAR, around=True, near=0.015)
        yield from self.move(lambda: handle, _AJAR, near=0.008)
        yield from self.wait(CLOSED, 18)
        far = min(float(self.options.travel), float(self.options.opened) + 0.02)
        yield from self.move(lambda: self.find_handle(far), CLOSED, pace=0.005, near=0.005)

    def find_handle(self, opening: float) -> Array:
        """Where the handle is when the drawer is open so far [m]."""
        cabinet = np.asarray(self.now["cabinet"])
        half = self.options.cabinet_half
        local = np.array([0.0, -float(half[1]) - HANDLE - opening, float(half[2])])
        return np.asarray(cabinet[:3] + quat_rotate(cabinet[3:], local))
