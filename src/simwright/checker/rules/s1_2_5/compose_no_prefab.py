# SPDX-License-Identifier: Apache-2.0
"""No attribute tells a simulator what to load.

Why: only OpenUSD's own arcs are composed by every tool.  A robot that a string attribute names is there in one
simulator and missing in all others.

Fails: `custom string my_sim:prefabPath = "robot.usd"`, `custom asset sim:model = @./arm.urdf@`.
Passes: `references = @./robot.usda@`; textures; assetInfo with the package the asset comes from.

Reading: the value counts, not the name: a scene, a robot description, or a mesh.  Attributes that say where the
asset came from (`source`, `origin` ...) are not reported.

Fix: shown.  A reference is proposed.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import find_prefabs
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "compose-no-prefab",
    "1.2.5",
    "must not",
    on="stage",
    heuristic=True,
    fix="shown",
    fix_title="use a reference or payload",
)
def compose_no_prefab(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Loadable values of string and asset attributes."""
    for prefab in find_prefabs(snapshot):
        kind = "asset" if prefab.is_asset else "string"
        yield Finding(
            f"the {kind} attribute {prefab.path.name} names something to load: {prefab.text!r}",
            hint="compose it with a reference or a payload, and remove the attribute",
            at=prefab.path,
            layer=prefab.facts.layer,
            data={"value": prefab.text},
        )
