# SPDX-License-Identifier: Apache-2.0
"""Models stand in an unbroken chain of groups, and no model is inside a component.

Why: tools select and skip whole models by kind.  They stop looking at a component and at a gap in the chain, so they
do not find what is below.

Fails: a component inside a component; components below an Xform without kind.
Passes: assembly, group, component; inside a component only subcomponents.

Reading: custom kinds count as what they derive from.  A gripper asset (a component) on a robot that is a component
needs `kind = "subcomponent"` on the prim that refers to it.

Fix: unsafe.  Nested components become subcomponents, ancestors become groups.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinds import find_kinds
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "kind-hierarchy",
    "1.2.2",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="make nested components subcomponents and ancestors groups",
)
def kind_hierarchy(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per component with models inside, and per ancestor that breaks the chain."""
    kinds = find_kinds(snapshot)
    inside: dict[str, list[PrimNode]] = {}
    for model, above in kinds.nested:
        inside.setdefault(above.path, []).append(model)
    for path, models in inside.items():
        more = f" and {len(models) - 1} more" if len(models) > 1 else ""
        yield Finding(
            f"{models[0].path} (kind {kinds.of[models[0].path]}){more} is a model inside the component {path}",
            hint='author kind = "subcomponent" on it, or make what is above it an assembly',
            at=models[0],
            data={"nested": [model.path for model in models]},
        )
    # grouped by the gap: one missing kind cuts off many models
    below: dict[str, tuple[PrimNode, list[PrimNode]]] = {}
    for model, gap in kinds.cut_off:
        below.setdefault(gap.path, (gap, []))[1].append(model)
    for gap, models in below.values():
        kind = kinds.of.get(gap.path)
        has = f"has kind {kind}" if kind else "has no kind"
        yield Finding(
            f"{gap.path} {has}, so {models[0].path} (kind {kinds.of[models[0].path]}) is cut off from the hierarchy",
            hint='author kind = "group" (or "assembly") on every prim above a model',
            at=gap,
            data={"models": [model.path for model in models[:20]]},
        )
