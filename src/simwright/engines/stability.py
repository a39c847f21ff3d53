# SPDX-License-Identifier: Apache-2.0
"""When a simulation has left the world of numbers: which dof, in which world, at what time."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.diag import Diagnostic, Level, Reporter, declare
from simwright.core.errors import EXIT_FINDINGS, SimwrightError
from simwright.core.math3d import Array
from simwright.engines.layout import Layout

LARGEST = 1e8
"""Positions and velocities beyond this are no motion any more [m, rad, m/s, rad/s]."""
STATE_UNSTABLE = declare(
    "engine-unstable",
    Level.ERROR,
    "the simulation became unstable at {time:.4f} s in world {world}: {what} {name!r} has {value}",
    hint="use a smaller time step, softer gains, or more joint armature",
    doc="Coordinates or velocities grew without bound or are no numbers any more.",
)


class UnstableError(SimwrightError):
    """Positions or velocities grew without bound.

    ``finding`` says where and when, at ``time`` [s]; the simulation keeps the last good states.
    """

    code = "unstable"
    exit_code = EXIT_FINDINGS

    def __init__(self, finding: Diagnostic, time: float) -> None:
        super().__init__(finding.message, hint=finding.hint)
        self.finding = finding
        self.time = time


def is_sound(values: Array) -> bool:
    """Are all values finite and of a size that motion can have?"""
    # max of nothing raises
    return not values.size or bool(np.abs(values).max() < LARGEST)  # not a number compares as False


def make_error(layout: Layout, positions: Array, velocities: Array, world: int, time: float) -> UnstableError:
    """Name the dof of a world whose position or velocity (nq, nv) is worst."""
    name, value = _find_worst(layout, positions, velocities)
    found = Reporter()
    data: dict[str, Any] = {"time": time, "world": world, "what": "joint", "name": name, "value": value}
    found.report(STATE_UNSTABLE, **data)
    return UnstableError(next(iter(found)), time)


def _find_worst(layout: Layout, positions: Array, velocities: Array) -> tuple[str, str]:
    """The dof with the first value that is no number, else with the largest, and that value."""
    worst: tuple[float, str, str] = (-1.0, "", "")
    for values, word in ((velocities, "a velocity"), (positions, "a coordinate")):
        for freedom in layout.freedoms:
            own = values[freedom.velocities if values is velocities else freedom.positions]
            # what is no number is worse than any number
            sizes = np.where(np.isfinite(own), np.abs(own), np.inf)
            at = int(np.argmax(sizes))
            if sizes[at] > worst[0]:
                worst = (float(sizes[at]), freedom.name, f"{word} of {own[at]:.3g}")
    return worst[1], worst[2]
