# SPDX-License-Identifier: Apache-2.0
"""The variant volumetric_splat holds a ParticleField3DGaussianSplat.

Why: it is the schema that renderers know as a Gaussian splat; points or a volume in its place are drawn as
something else, or not at all.

Fails: `volumetric_splat` with a Points prim and a custom schema.
Passes: `def ParticleField3DGaussianSplat "splat"` in the variant (OpenUSD 26.03 and later know the type).

Fix: no.  The data must be converted.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.variant_sets import SPLAT, survey_visuals
from simwright.checker.rule import Finding, rule

_TYPE = "ParticleField3DGaussianSplat"
_PLUMBING = frozenset({"", "Xform", "Scope", "Material", "Shader", "NodeGraph"})


@rule("vis-splat", "1.3.2", "may", on="stage")
def vis_splat(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Types in the variant, seen on a private stage; by name, so older OpenUSD works too."""
    for one in survey_visuals(snapshot):
        content = one.variants.get(SPLAT)
        # OpenUSD before 26.03 does not know the type, but its name is in the file
        if content is None or content.types[_TYPE]:
            continue
        others = sorted(kind for kind in content.types if kind not in _PLUMBING)
        there = ", ".join(others) or "no geometry"
        yield Finding(
            f"the variant {SPLAT} holds {there}, and no {_TYPE}",
            hint=f"author the splat as def {_TYPE}",
            at=one.node,
            data={"types": others},
        )
