# SPDX-License-Identifier: Apache-2.0
"""How far a place is from the origin."""

from __future__ import annotations

import numpy as np

from simwright.core.math3d import Array
from simwright.tasks.terms import StateTerm, StepState


def measure_radius(step: StepState, place: str) -> Array:
    """How far a place is from the origin of the world."""
    return np.linalg.norm(step.place(place), axis=-1)


RADIUS = StateTerm(measure_radius, ("place",), "m", low=0.0)
