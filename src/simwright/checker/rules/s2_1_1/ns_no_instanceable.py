# SPDX-License-Identifier: Apache-2.0
"""Sub-assets whose names are meant to be overridden per copy are not instanceable.

Why: what is below an instance is shared.  Opinions about it are ignored, so a context or an interface in there
has the same attributes in every copy.

Fails: `instanceable = true` on a prim that references an asset with a RosContextAPI below its root.
Passes: no instanceable; or a namespace on the instance itself, which is legal and keeps its interfaces apart.

Fix: safe.  `instanceable = false` composes the same prims, only without sharing.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import own_namespace
from simwright.checker.facts.snapshot import INTERFACE_APIS, PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "ns-no-instanceable",
    "2.1.1",
    "should not",
    on="stage",
    fix="safe",
    fix_title="write instanceable = false",
)
def ns_no_instanceable(snapshot: StageSnapshot) -> Iterator[Finding]:
    """One finding per prototype, at its first instance that does not help itself."""
    ros = [*snapshot.contexts, *snapshot.interfaces]
    for root in {id(r): r for r in map(_find_root, ros) if r is not None}.values():
        yield from _judge_prototype(root)


# one function: what is inside, and whether the instances help themselves
def _judge_prototype(root: PrimNode) -> Iterator[Finding]:
    """A context inside cannot be renamed per copy; interfaces can, by a namespace on the instance itself."""
    inside = list(root.descendants())
    contexts = [node for node in inside if node.has("RosContextAPI")]
    interfaces = [node for node in inside if any(node.has(api) for api in INTERFACE_APIS)]
    users = root.users or []
    bare = [node for node in users if not (node.has("RosContextAPI") and own_namespace(node))]
    if contexts:
        yield _make(users[0], "context", contexts[0])
    elif interfaces and bare:
        yield _make(bare[0], "interface", interfaces[0])


def _find_root(node: PrimNode) -> PrimNode | None:
    return next((above for above in node.ancestors() if above.users), None) if node.in_prototype else None


def _make(instance: PrimNode, what: str, inside: PrimNode) -> Finding:
    return Finding(
        f"{instance.name} is instanceable, so the {what} {inside.name} in it cannot be overridden per copy",
        hint="write instanceable = false, or put a RosContextAPI with a namespace on this prim itself",
        at=instance,
        data={"inside": inside.path},
    )
