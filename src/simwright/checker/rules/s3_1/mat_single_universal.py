# SPDX-License-Identifier: Apache-2.0
"""Geometry is bound to one Material for all render purposes.

Why: a Material holds one terminal per renderer, so one binding serves all.  With a binding per purpose the two
appearances become different over time, and converters read only one of them.

Fails: `material:binding:full` and `material:binding:preview` to two Materials.
Passes: one `material:binding`.  `material:binding:physics` is for contacts and does not count.

Fix: unsafe.  The Material with a preview surface is bound for all, the fuller of two; where the other one has
terminals of its own, they are to be put into it by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_NAMES = ("material:binding", "material:binding:full", "material:binding:preview")


@rule(
    "mat-single-universal",
    "3.1",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="bind one Material with material:binding",
)
def mat_single_universal(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Prims are asked only where some layer binds for a purpose at all."""
    special = _NAMES[1:]
    # bindings per purpose are rare, and asking every prim is slow
    if any(facts.list_relations(special.__contains__) for facts in snapshot.layers):
        for node in snapshot.nodes:
            yield from _check_bindings(node)


def _check_bindings(node: PrimNode) -> Iterator[Finding]:
    """Direct bindings of one prim."""
    special = {name: node.targets(name) for name in _NAMES[1:] if node.has_targets_authored(name)}
    special = {name: targets for name, targets in special.items() if targets}
    if not special:
        return
    general = node.targets(_NAMES[0])
    bound = {_NAMES[0]: general, **special} if general else special
    distinct = {targets[0] for targets in bound.values()}
    listed = ", ".join(f"{name} = {targets[0]}" for name, targets in bound.items())
    if len(distinct) > 1:
        message = f"{len(distinct)} materials are bound for different purposes: {listed}"
    elif not general:
        message = f"the material is bound for one purpose only, not universally: {listed}"
    else:
        return
    yield Finding(
        message,
        hint="bind one Material with rel material:binding; put renderer shaders on its own terminals",
        at=node,
        prop=next(iter(special)),
    )
