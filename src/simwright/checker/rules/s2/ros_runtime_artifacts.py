# SPDX-License-Identifier: Apache-2.0
"""Execution graphs, which simulators write while they run, are only in a proprietary layer.

Why: the neutral ROS layer describes an interface; how one simulator executes it concerns that simulator only.  Graph
prims in neutral layers are unknown types everywhere else.

Fails: `def OmniGraph "ActionGraph"` in the layer that holds the Ros*API prims.
Passes: the same graph in `isaac.usda`, a layer with nothing but vendor opinions.

Fix: unsafe.  The graph is moved to a vendor layer that the entry point has to load.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.vendors import GRAPH_TYPES
from simwright.checker.rule import Finding, rule


@rule(
    "ros-runtime-artifacts",
    "2",
    "must",
    on="layer",
    fix="unsafe",
    fix_title="move the graph to a proprietary layer",
)
def ros_runtime_artifacts(facts: LayerFacts, _snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per graph, not per node of it."""
    if not facts.counts[Domain.VENDOR] or facts.role == Domain.VENDOR:
        return
    graphs = facts.find(lambda content: content.kind == "type" and content.what in GRAPH_TYPES)
    roots = {opinion.path for opinion in graphs}
    for opinion in graphs:
        # the nodes of a graph are below it
        if not any(prefix in roots for prefix in opinion.path.GetParentPath().GetPrefixes()):
            yield Finding(
                f"{facts.name} holds the execution graph {opinion.path.name} ({opinion.what}) beside neutral data",
                hint="move it to a layer of its own for that simulator, for example isaac.usda",
                at=opinion.path,
                data={"vendor": opinion.vendor, "type": opinion.what},
            )
