# SPDX-License-Identifier: Apache-2.0
"""Movement: where bodies and what sits on them are over time, as an animated file has it.

A moment of the asset (its poses) is always there; a movement comes on top of it and is a value: it is replaced, never
written into.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from simwright.core.math3d import Array
from simwright.model.display import Shown


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Track(Shown):
    """Placements at the times of a movement: ``(n, 3)`` positions [m], ``(n, 4)`` quaternions, ``(n, 3)`` scales."""

    positions: Array
    rotations: Array
    scales: Array


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Movement(Shown):
    """Tracks by name, all at the same ``times`` [s], which start at zero or later and grow.

    Those of ``bodies`` are in the asset's frame, those of ``shapes``, ``cameras`` and ``lights`` in the frame of their
    body.  ``stepped`` says that a pose is held until the next time.
    """

    times: Array = field(default_factory=lambda: np.zeros(0))
    stepped: bool = False
    bodies: dict[str, Track] = field(default_factory=dict)
    shapes: dict[str, Track] = field(default_factory=dict)
    cameras: dict[str, Track] = field(default_factory=dict)
    lights: dict[str, Track] = field(default_factory=dict)

    def __bool__(self) -> bool:
        return bool(self.bodies or self.shapes or self.cameras or self.lights)
