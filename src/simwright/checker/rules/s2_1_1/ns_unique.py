# SPDX-License-Identifier: Apache-2.0
"""Each robot has a namespace of its own.

Why: two robots in one namespace publish the same joint states, the same scans and the same TF.  No error is shown,
and both robots drive when one is commanded.

Fails: two robots whose contexts both say `"robot"`, or both say nothing; two robots, one without a context.
Passes: `"robot_1"` and `"robot_2"`; a single robot without a namespace.

Fix: unsafe.  The prim's name becomes its namespace, which renames its interfaces.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.names import ContextName, find_unnamed_robots
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.sources import find_sources
from simwright.checker.rule import Finding, rule

_NAME = "ros:context:namespace"


@rule(
    "ns-unique",
    "2.1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="use the prim's name as its namespace",
)
def ns_unique(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare robots with each other, and contexts that stand side by side."""
    if not snapshot.contexts and not snapshot.interfaces:
        return
    contexts = snapshot.names.contexts
    outermost = [context for context in contexts if context.above is None]
    yield from _compare(outermost)
    yield from _compare_siblings([context for context in contexts if context.above is not None])
    for node in find_unnamed_robots(snapshot):
        yield Finding(
            f"the robot {node.name} has ROS interfaces but no context, beside other robots",
            hint=f'apply RosContextAPI to {node.path} and write string {_NAME} = "{node.name}"',
            at=node,
        )


def _compare(contexts: list[ContextName]) -> Iterator[Finding]:
    first: dict[str, ContextName] = {}
    seen: set[int] = set()
    for context in contexts:
        other = first.setdefault(context.namespace, context)
        if other is not context and id(context.node) not in seen:
            seen.add(id(context.node))
            yield _make(context.node, context, other)


def _compare_siblings(contexts: list[ContextName]) -> Iterator[Finding]:
    """Contexts below one prim; copies of one asset are reported by ns-dup-distinct."""
    first: dict[tuple[int, str], ContextName] = {}
    for context in contexts:
        # a nested context without a name of its own adds nothing, and shares its parent's namespace on
        # purpose
        if not context.segment.strip("/"):
            continue
        other = first.setdefault((id(context.node.parent), context.namespace), context)
        if other.node is not context.node and not _same_asset(other.node, context.node):
            yield _make(context.node, context, other)


def _same_asset(one: PrimNode, other: PrimNode) -> bool:
    return bool(set(find_sources(one)) & set(find_sources(other)))


def _make(node: PrimNode, context: ContextName, other: ContextName) -> Finding:
    shown = f"the namespace {context.namespace}" if context.namespace else "no namespace"
    return Finding(
        f"{context.path} has {shown}, like {other.path}",
        hint=f'give each its own, for example string {_NAME} = "{node.name}"',
        at=node,
        prop=_NAME,
        data={"namespace": context.namespace, "other": other.path},
    )
