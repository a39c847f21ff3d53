# SPDX-License-Identifier: Apache-2.0
"""The default prim has a display name.

Why: people look for robots by the name they know; prims are named for machines.

Fails: a default prim without `displayName`.
Passes: `def Xform "arm" (displayName = "Arm, right")`.

Fix: what people call it is not in the asset.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "sketch-titled",
    "1.2.5",
    "may",
    on="stage",
)
def sketch_titled(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Look at the default prim only."""
    prim = snapshot.stage.GetDefaultPrim()
    if prim and not prim.GetDisplayName():
        yield Finding("the default prim has no displayName", hint="add one", at=str(prim.GetPath()))
