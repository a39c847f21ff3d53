# SPDX-License-Identifier: Apache-2.0
"""Custom arrays: attributes that a file declares for its bodies, joints or shapes, kept as arrays of their own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from simwright.runtime.arrays import AnyArray


@dataclass(frozen=True, slots=True, eq=False)
class CustomArray:
    """Values counted over ``frequency``, for model, state, control or contact as ``assignment`` says.

    ``key`` is ``namespace:name``, or the name alone.  Text is an array of objects.
    """

    key: str
    assignment: str
    frequency: str
    values: AnyArray

    def tiled(self, world_count: int) -> CustomArray:
        """The same for several equal worlds; what is said once stays one value."""
        if self.frequency == "once":
            return self
        # tile repeats along the first axis only if the others are named
        copies = np.tile(self.values, (world_count, *(1 for _ in self.values.shape[1:])))
        return CustomArray(self.key, self.assignment, self.frequency, copies)
