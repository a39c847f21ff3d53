# SPDX-License-Identifier: Apache-2.0
"""Opening a door: take the knob from above, and go along its arc."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.baselines.scripted import CLOSED, UP, ScriptedPolicy, find_yaw
from simwright.tasks.scenes.door import find_knob

_ABOVE = 0.10
# open enough for the knob, and not so far that a finger stands on the door
_AJAR = -0.2
# how far along the arc the tool is told to be ahead of the door [rad]
_AHEAD = 0.12


class SwingPolicy(ScriptedPolicy):
    """For ``door``."""

    task = "door"

    def play(self) -> Iterator[Array]:
        """Take the knob, and pull it around the hinge."""
        # across the way of the knob: a finger on either side of it would be in front of the door
        self.face_exactly(find_yaw(np.asarray(self.now["frame"])))
        knob = self.find_goal(0.0)
        yield from self.approach(knob + _ABOVE * UP, _AJAR)
        yield from self.move(lambda: knob, _AJAR, near=0.008)
        yield from self.wait(CLOSED, 18)
        far = min(float(self.options.opens_to), float(self.options.opened) + _AHEAD)
        yield from self.move(
            lambda: self.find_goal(min(far, float(self.now["door"]) + _AHEAD)),
            CLOSED,
            pace=0.004,
            near=0.0,
            patience=150,
        )

    def find_goal(self, opening: float) -> Array:
        """Where the knob is when the door is open so far [rad]."""
        return find_knob(np.asarray(self.now["frame"]), np.asarray(opening), self.options)
