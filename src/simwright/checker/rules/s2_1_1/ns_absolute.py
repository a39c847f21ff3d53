# SPDX-License-Identifier: Apache-2.0
"""An asset that others compose does not start its namespace with a slash.

Why: a leading slash resets the chain.  It is allowed, but a sub-asset that does it ignores the robot it is
mounted on: two of them on two robots get the same names.

Fails: a sensor asset whose default prim has `string ros:context:namespace = "/camera"`.
Passes: `"camera"`; an absolute namespace in a scene (kind assembly or group), or on the prim that references
the asset.

Reading: a bare `"/"` is the root namespace itself, and counts as absolute.  Whether the parts are valid names
is asked by ns-composable.

Fix: none.  Dropping the slash changes every name below.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.attributes import is_local
from simwright.checker.facts.names import own_namespace
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.sources import has_arc
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:namespace"


@rule("ns-absolute", "2.1.1", "may", on="api:RosContextAPI")
def ns_absolute(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Mention absolute namespaces of modular assets."""
    text = own_namespace(node)
    if not text.startswith("/"):
        return
    default = snapshot.default_node
    is_scene = default is None or str(default.prim.GetMetadata("kind") or "") in ("assembly", "group")
    # the scene that places a robot may name it absolutely: nothing is composed above the scene
    if is_scene or (node is not default and has_arc(node) and is_local(node, _NAME)):
        return
    yield Finding(
        f"the namespace {text!r} is absolute: whatever the asset is composed under is ignored",
        hint="use a bare name unless it must be the same on every robot",
        at=node,
        prop=_NAME,
        data={"value": text},
    )
