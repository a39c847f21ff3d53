# SPDX-License-Identifier: Apache-2.0
"""A namespace is overridden on the prim that references the asset.

Why: that prim is the one place that every reference has.  An override deeper inside depends on how the asset is
built today, and is lost without a warning as soon as the reference is made instanceable.

Fails: `def "robot" (references = @arm.usda@) { over "gripper" { string ros:context:namespace = "left" } }`.
Passes: the override on "robot" itself.

Fix: unsafe.  The opinion moves up to the referencing prim, which renames more than the one part.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.sources import find_entry, has_arc, is_applied_locally, local_layers
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:namespace"


@rule(
    "ns-override-entry",
    "2.1.1",
    "must",
    on="api:RosContextAPI",
    fix="unsafe",
    fix_title="move the override to the referencing prim",
)
def ns_override_entry(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """A local opinion about a context that an ancestor's reference brought in."""
    attribute = node.prim.GetAttribute(_NAME)
    # a prim with a reference of its own is the entry, and may be overridden
    if not attribute or not attribute.HasAuthoredValue() or node.in_prototype or has_arc(node):
        return
    local = local_layers(snapshot)
    specs = attribute.GetPropertyStack()
    is_override = any(spec.layer in local for spec in specs)
    # a context that this layer stack made itself is not an override
    if not is_override or is_applied_locally(node, "RosContextAPI", local):
        return
    entry = find_entry(node)
    if entry is not None:
        yield Finding(
            f"the namespace of a context inside the asset referenced by {entry.path} is overridden here",
            hint=f"override the namespace on {entry.path}, the prim with the reference",
            at=node,
            prop=_NAME,
            data={"entry": entry.path},
        )
