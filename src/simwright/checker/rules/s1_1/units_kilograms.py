# SPDX-License-Identifier: Apache-2.0
"""The root layer sets kilogramsPerUnit = 1.

Why: simulators may assume that one unit of mass is one kilogram.  The fallback is 1 as well, so a missing
opinion looks right everywhere, until a stage with other units refers to the asset: nobody can tell then
whether kilograms were meant.

Fails: a root layer with `kilogramsPerUnit = 0.001`, or with none.
Passes: a root layer with `kilogramsPerUnit = 1`.

Fix: safe where it is missing (1 is what OpenUSD takes already); unsafe for another value, because every mass,
inertia, density and gain has to be converted.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable


@rule(
    "units-kilograms",
    "1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author kilogramsPerUnit = 1, converting masses if they are not kilograms",
)
def units_kilograms(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the root layer itself: the fallback is 1 and hides a missing opinion."""
    root = snapshot.root_layer.pseudoRoot
    if not root.HasInfo("kilogramsPerUnit"):
        yield Finding(
            "the root layer does not set kilogramsPerUnit; OpenUSD takes 1, but the asset must set it",
            hint="add kilogramsPerUnit = 1 to the layer's metadata",
            fix=Fixable.SAFE,
        )
        return
    value = root.GetInfo("kilogramsPerUnit")
    # written with not, so that nan is a finding too
    if not abs(value - 1.0) <= 1e-9:
        yield Finding(
            f"kilogramsPerUnit is {value:g}, it must be 1",
            hint="convert masses, inertias, densities and gains; changing the number alone would change the masses",
            words="kilogramsPerUnit =",
            data={"value": value},
        )
