# SPDX-License-Identifier: Apache-2.0
"""An asset that contains other models is an assembly or a group.

Why: only groups may contain models.  Below anything else tools do not find them.

Fails: a warehouse of components whose root prim has no kind, or kind = "component"; two robots, none with a kind.
Passes: kind = "assembly" or "group" on its default prim.

Reading: a robot that takes in other components (a gripper) is either an assembly, or says `subcomponent` on them.

Fix: unsafe.  `kind = "assembly"` is authored on the default prim, and `component` on robots without a kind.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinds import find_kinds, find_parts, is_kind
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import count_things
from simwright.checker.rule import Finding, rule


@rule(
    "kind-assembly",
    "1.2.2",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="author kind = assembly on the default prim",
)
def kind_assembly(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The kind of a default prim with models below."""
    node = snapshot.default_node
    if node is None:
        return
    kinds = find_kinds(snapshot)
    models = [model for model in kinds.models if model.path.startswith(f"{node.path}/")]
    kind = kinds.of.get(node.path, "")
    parts = find_parts(snapshot) if not models and not is_kind(kind, "component") else []
    if parts:
        yield Finding(
            f"{count_things(len(parts), 'machine')} below the default prim have no kind ({parts[0].name} ...),"
            f" and it has {f'kind {kind}' if kind else 'none'}",
            hint='author kind = "assembly" on the default prim and "component" on each of them',
            at=node,
            data={"parts": [part.path for part in parts]},
        )
    if not models or is_kind(kind, "group"):
        return
    has = f"kind {kind}" if kind else "no kind"
    yield Finding(
        f"the default prim has {has}, but {count_things(len(models), 'model')} below it ({models[0].name} ...)",
        hint='author kind = "assembly", or make the models below subcomponents of this one',
        at=node,
    )
