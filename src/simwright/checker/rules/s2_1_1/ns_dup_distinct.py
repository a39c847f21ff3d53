# SPDX-License-Identifier: Apache-2.0
"""An asset that is referenced twice under one context gets a namespace of its own each time.

Why: two copies of a camera have the same topic names inside.  Only a namespace on each referencing prim keeps
them apart; the camera's file need not be touched.

Fails: `camera_left` and `camera_right` both reference camera.usda and both keep its namespace `"camera"`.
Passes: `string ros:context:namespace = "camera_left"` and `"camera_right"` on the two prims.  Copies of an
asset without ROS interfaces, such as wheels, need none.

Fix: unsafe.  The prim's name becomes its namespace, which renames its interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import effective_namespace
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.sources import group_copies
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:namespace"


@rule(
    "ns-dup-distinct",
    "2.1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="use the prim's name as its namespace",
)
def ns_dup_distinct(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Copies under one context are compared by effective namespace."""
    if not snapshot.interfaces and not snapshot.contexts:
        return
    for asset, copies in group_copies(snapshot):
        taken: dict[str, PrimNode] = {}
        for node in copies:
            namespace = effective_namespace(node)
            # effective namespaces: a context above one of the copies keeps them apart too
            other = taken.setdefault(namespace, node)
            if other is node:
                continue
            yield Finding(
                f"{node.path} and {other.path} both reference {asset} and have the namespace {namespace or '/'}",
                hint=f'apply RosContextAPI here and write string {_NAME} = "{node.name}"',
                at=node,
                prop=_NAME,
                data={"asset": asset, "namespace": namespace, "other": other.path},
            )
