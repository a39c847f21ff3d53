# SPDX-License-Identifier: Apache-2.0
"""A prim that stands for another asset composes it by a reference or payload.

Why: a prim that is empty until one simulator fills it is empty everywhere else: no bounds, no joints, no frames.

Fails: `def Xform "robot"` with `custom string sim:model = "robot.usd"` and nothing else.
Passes: `def Xform "robot" (references = @./robot.usda@)`.

Reading: the same attributes as in compose-no-prefab, where the prim has nothing of its own that would stand for
what is to be loaded.

Fix: no.  compose-no-prefab proposes the reference.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import find_prefab_holders, find_prefabs
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule("compose-native", "1.2.5", "must", on="stage", heuristic=True)
def compose_native(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Prims that only an attribute would fill."""
    for prefab in find_prefabs(snapshot):
        # one attribute is one finding, however often its layer is referenced
        for node in find_prefab_holders(prefab, snapshot)[:1]:
            if _is_empty(node):
                yield Finding(
                    f"{node.path} is empty, and only {prefab.path.name} says what belongs there ({prefab.text!r})",
                    hint=f"add references = @{prefab.text}@ to the prim",
                    at=node,
                )


def _is_empty(node: PrimNode) -> bool:
    return node.type in ("", "Xform", "Scope") and next(node.descendants(), None) is None
