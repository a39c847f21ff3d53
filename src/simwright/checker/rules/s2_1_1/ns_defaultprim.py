# SPDX-License-Identifier: Apache-2.0
"""The root namespace of an asset is on its default prim.

Why: whoever references the asset gets the default prim and overrides the namespace there.  A context further
down cannot be renamed without knowing the asset's insides, and a context outside is not referenced at all.

Fails: `defaultPrim = "robot"`, and RosContextAPI on /robot/base_link only.
Passes: RosContextAPI on /robot.  A scene (kind assembly or group, or several robots) has its contexts below.

Fix: unsafe.  The API and its attributes move to the default prim, which changes the frame that the context
stands for.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.sources import has_arc
from simwright.checker.rule import Finding, rule


@rule(
    "ns-defaultprim",
    "2.1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="move RosContextAPI to the default prim",
)
def ns_defaultprim(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Assets with one outermost context."""
    if not snapshot.contexts:
        return
    outermost = [context for context in snapshot.names.contexts if context.above is None]
    # several robots: a scene, whose contexts are on the prims that reference them
    if len(outermost) != 1:
        return
    node, default = outermost[0].node, snapshot.default_node
    if node is default:
        return
    if default is None:
        yield Finding(
            f"the root context is on {node.path}, but the asset has no default prim",
            hint=f'write defaultPrim = "{node.path.split("/")[1]}" in the root layer and put the context there',
            at=node,
        )
        return
    is_scene = str(default.prim.GetMetadata("kind") or "") in ("assembly", "group")
    # the context came with a referenced asset, whose own check tells
    if is_scene or has_arc(node) or node.in_prototype:
        return
    yield Finding(
        f"the root context is on {node.path}, not on the default prim {default.path}",
        hint=f"apply RosContextAPI to {default.path} and author ros:context:namespace there",
        at=node,
        data={"default": default.path},
    )
