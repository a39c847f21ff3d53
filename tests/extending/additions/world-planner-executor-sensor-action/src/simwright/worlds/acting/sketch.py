# SPDX-License-Identifier: Apache-2.0
"""An action that takes a moment and changes nothing."""

from __future__ import annotations

from simwright.worlds.acting.action import Action, Steps, succeed
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.entities import WorldRobot


def sketch_wave(simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
    """Wave for one and a half seconds."""
    del simulation, action
    yield 1.5
    return succeed(waved=robot.name)
