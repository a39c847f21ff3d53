# SPDX-License-Identifier: Apache-2.0
"""An asset that contains no other model is a component.

Why: kind is how tools tell an asset from its parts, for selecting, listing and placing.

Fails: a robot whose root prim has no kind, or kind = "subcomponent".
Passes: kind = "component" on the default prim, or a custom kind derived from it.

Reading: an asset with models inside, or with several robots that have no kind, is checked by kind-assembly.
kind = "assembly" with nothing to assemble is a warning.

Fix: unsafe.  `kind = "component"` is authored on the default prim.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinds import find_kinds, find_parts, is_kind
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "kind-component",
    "1.2.2",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author kind = component on the default prim",
)
def kind_component(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The kind of a default prim without models below."""
    node = snapshot.default_node
    kinds = find_kinds(snapshot)
    if node is None or any(
        model is not node and model.path.startswith(f"{node.path}/") for model in kinds.models
    ):
        return
    kind = kinds.of.get(node.path, "")
    # several robots without a kind are an assembly that says too little: kind-assembly
    if is_kind(kind, "component") or ((not kind or is_kind(kind, "group")) and find_parts(snapshot)):
        return
    yield Finding(
        f"the default prim has kind {kind}" if kind else "the default prim has no kind",
        hint='author kind = "component" on the default prim',
        at=node,
        # an assembly without parts may be about to get them
        level=Level.WARNING if is_kind(kind, "group") else None,
    )
