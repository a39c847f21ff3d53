# SPDX-License-Identifier: Apache-2.0
"""What simulations tell, whatever the engine."""

from __future__ import annotations

from simwright.core.diag import Level, declare

STATE_UNSTABLE = declare(
    "engine-unstable",
    Level.ERROR,
    "the simulation became unstable at {time:.4f} s in world {world}: {what} {name!r} has {value}",
    hint="use a smaller time step, softer gains, or more joint armature",
    doc="Coordinates or velocities grew without bound or are no numbers any more.",
)
