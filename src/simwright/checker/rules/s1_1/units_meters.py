# SPDX-License-Identifier: Apache-2.0
"""The root layer sets metersPerUnit = 1.

Why: simulators may assume that one unit is one metre.  Without an opinion OpenUSD falls back to
centimetres, and a robot becomes a hundred times too small wherever the fallback is honoured.

Fails: a root layer with `metersPerUnit = 0.01`, or with none.
Passes: a root layer with `metersPerUnit = 1`.

Fix: unsafe.  Writing 1 is right only if the lengths are metres already; otherwise everything is
converted.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "units-meters",
    "1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author metersPerUnit = 1, converting lengths if they are not metres",
)
def units_meters(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the root layer itself: the stage hides a missing opinion behind the fallback."""
    root = snapshot.root_layer.pseudoRoot
    if not root.HasInfo("metersPerUnit"):
        yield Finding(
            "the root layer does not set metersPerUnit; OpenUSD then assumes 0.01 (centimetres)",
            hint="add metersPerUnit = 1 to the layer's metadata if lengths are metres, else convert the asset",
        )
        return
    value = root.GetInfo("metersPerUnit")
    # written with not, so that nan is a finding too
    if not abs(value - 1.0) <= 1e-9:
        yield Finding(
            f"metersPerUnit is {value:g}, it must be 1",
            hint="convert all lengths to metres; changing the number alone would rescale the asset",
            words="metersPerUnit =",
            data={"value": value},
        )
