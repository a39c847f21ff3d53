# SPDX-License-Identifier: Apache-2.0
"""Holds all its joints at a tenth of a radian."""

from __future__ import annotations

from simwright.ros.control import ActiveController, ControllerParts
from simwright.ros.moment import SimulationMoment
from simwright.ros.servos import JointTargets


class SketchController(ActiveController):
    """See the base class."""

    def __init__(self, parts: ControllerParts) -> None:
        names = parts.list_commanded()
        super().__init__(parts.entry.controller.name, {name: parts.freedoms[name] for name in names})

    def update(self, moment: SimulationMoment, targets: JointTargets) -> None:
        """See the base class."""
        del moment
        for freedom in self.freedoms.values():
            targets.set_position(freedom, 0.1)
