# SPDX-License-Identifier: Apache-2.0
"""No asset has an interface of the simulation_interfaces package.

Why: spawning, stepping and resetting are offered by the simulator once.  An asset that offers them too clashes
with it, and several assets with each other.

Fails: a service of type simulation_interfaces/srv/SpawnEntity; likewise topics and actions.
Passes: interfaces of all other packages.

Fix: unsafe.  The interface is removed; whether something relied on it cannot be seen.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "prohibit-simifaces",
    "2.9",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="remove the interface",
)
def prohibit_simifaces(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Topics, services and actions alike."""
    if not snapshot.interfaces:
        return
    for interface in snapshot.names.interfaces:
        # by package: the list of its interfaces grows with every release
        if interface.type.partition("/")[0].strip() == "simulation_interfaces":
            yield Finding(
                f"the {interface.kind} type {interface.type} is the simulator's, no asset may offer or use it",
                hint=f"remove Ros{interface.kind.capitalize()}API from this prim, or remove the prim",
                at=interface.node,
                prop=f"ros:{interface.kind}:type",
            )
