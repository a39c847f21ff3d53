# SPDX-License-Identifier: Apache-2.0
"""A ROS interface is declared once: by its Ros*API, and by no execution graph or plugin text beside it.

Why: a simulator makes its own publisher from the schema.  A graph node or plugin that publishes the same
topic sends everything twice, with two clocks and two rates.

Fails: a prim with RosTopicAPI for `scan`, and an OmniGraph node `isaacsim.ros2.bridge.ROS2PublishLaserScan`
with `inputs:topicName = "scan"`, or with none, since `scan` is what that node uses then.
Passes: the RosTopicAPI alone.

Reading: a graph in a proprietary layer may be a persisted runtime artefact, which is allowed there; it is
then only mentioned (info).

Fix: unsafe.  The graph is removed, or moved to the vendor layer; only its author knows whether it does more.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf

from simwright.checker.facts.bridges import find_bridges
from simwright.checker.facts.domains import Domain
from simwright.checker.facts.layers import LayerFacts
from simwright.checker.facts.names import InterfaceName
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "ros-no-duplicate",
    "2",
    "must not",
    on="layer",
    heuristic=True,
    fix="unsafe",
    fix_title="remove the graph or plugin, or move it to the vendor layer",
)
def ros_no_duplicate(facts: LayerFacts, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare names that graphs and plugin texts of a layer use with the interfaces of the stage."""
    # nothing to compare: no other form, or no schema
    if not facts.counts[Domain.VENDOR] or not snapshot.interfaces:
        return
    seen: set[tuple[Sdf.Path, str]] = set()
    for bridge in find_bridges(facts):
        for known in snapshot.names.everywhere:
            if not _is_same(bridge.name, bridge.namespace, known) or (bridge.path, known.kind) in seen:
                continue
            seen.add((bridge.path, known.kind))
            yield Finding(
                f"{bridge.what} uses the {known.kind} {bridge.name!r}, which {known.path} already declares",
                hint="keep the Ros*API prim and remove the other form; simulators make it from the schema",
                at=bridge.path,
                # some simulators save the graph they made from the schema into their own layer
                level=Level.INFO if facts.role == Domain.VENDOR else None,
                data={"name": known.resolved, "declared": known.path},
            )


def _is_same(name: str, namespace: str, known: InterfaceName) -> bool:
    """The same absolute name; a relative name without a namespace is compared with the relative one too."""
    if not known.name:
        return False
    full = name if name.startswith("/") else f"{namespace.rstrip('/')}/{name}"
    full = full if full.startswith("/") else f"/{full}"
    if full == known.resolved:
        return True
    # graphs often leave the namespace to a parameter at run time
    return not namespace and not name.startswith("/") and name == known.name
