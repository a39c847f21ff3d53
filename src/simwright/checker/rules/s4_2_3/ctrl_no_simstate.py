# SPDX-License-Identifier: Apache-2.0
"""Controllers do not reset, spawn or teleport.

Why: changing the simulator's state is the simulator's own interface.  In a controller it would be a second way to do
so, which each engine has to implement and which real hardware does not have.

Fails: `control:reset_on_start`, a RosControlResetAPI, or a controller whose relationship leads to an interface of
simulation_interfaces.
Passes: gains, limits, time-outs, tolerances.

Fix: none.  The feature has to be removed from the asset.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.controllers import find_controller
from simwright.checker.facts.names import KINDS
from simwright.checker.facts.schemas import known_properties
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.submission_words import SIMULATION_STATE, find_phrase

_HINT = "leave it to the simulator's own interfaces (simulation_interfaces) and remove it from the controller"


@rule("ctrl-no-simstate", "4.2.3", "should not", on="api:RosControl*", heuristic=True)
def ctrl_no_simstate(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """By the words in names of APIs and properties, and by the types of referenced interfaces."""
    controller = find_controller(node, snapshot)
    for api in controller.apis:
        if sign := find_phrase(api, SIMULATION_STATE):
            yield Finding(f"{api} changes the simulator's state ({sign})", hint=_HINT)
    for name in node.property_names():
        # a registered name has been reviewed
        if name not in known_properties() and (sign := find_phrase(name, SIMULATION_STATE)):
            yield Finding(f"{name} changes the simulator's state ({sign})", hint=_HINT, prop=name)
    for name, targets in controller.rels.items():
        for target in targets:
            kind = _find_type(target.node)
            if kind.partition("/")[0] == "simulation_interfaces":
                yield Finding(f"{name} leads to an interface of type {kind}", hint=_HINT, prop=name)


def _find_type(node: PrimNode | None) -> str:
    if node is None:
        return ""
    found = (node.authored(f"ros:{kind}:type") for api, kind in KINDS.items() if node.has(api))
    return next((value for value in found if isinstance(value, str)), "")
