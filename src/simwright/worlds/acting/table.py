# SPDX-License-Identifier: Apache-2.0
"""The table of actions: functions that take the simulation, the robot and the action, and proceed in steps.

Actions of others come through entry points in ``simwright.world_actions``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol, cast

from simwright.core.registry import Registry, import_object
from simwright.worlds.acting.action import Action, Steps
from simwright.worlds.entities import WorldRobot

if TYPE_CHECKING:
    from simwright.worlds.acting.simulation import WorldSimulation

ROWS = {
    "navigate": "simwright.worlds.acting.navigate:navigate",
    "pick": "simwright.worlds.acting.manipulation:pick",
    "place": "simwright.worlds.acting.manipulation:place",
    "detect": "simwright.worlds.acting.manipulation:detect",
    "open": "simwright.worlds.acting.doors:open_here",
    "close": "simwright.worlds.acting.doors:close_here",
}
REFERENCE = {
    "navigate": "simwright.worlds.acting.reference:navigate",
    "pick": "simwright.worlds.acting.reference:pick",
    "place": "simwright.worlds.acting.reference:place",
    "detect": "simwright.worlds.acting.reference:detect",
    "open": "simwright.worlds.acting.reference:open_here",
    "close": "simwright.worlds.acting.reference:close_here",
}
"""The same as PyRoboSim has them."""


class ActionFunction(Protocol):
    """Carries an action out."""

    def __call__(self, simulation: WorldSimulation, robot: WorldRobot, action: Action) -> Steps:
        """Proceed in steps."""


ACTIONS: Registry[ActionFunction] = Registry("action", "simwright.world_actions", ROWS)


def find_action(name: str, *, reference: bool) -> ActionFunction:
    """The function that carries an action out."""
    if reference and name in REFERENCE:
        return cast("ActionFunction", import_object(REFERENCE[name]))
    return ACTIONS.get(name)
