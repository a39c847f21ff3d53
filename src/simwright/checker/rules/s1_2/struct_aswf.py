# SPDX-License-Identifier: Apache-2.0
"""The asset follows the ASWF guideline on how USD assets are built.

Why: tools that browse, load and place assets expect one entry file with one root prim that says what it is
and that keeps heavy data behind a payload.

Fails: a file with two unrelated root prims, no defaultPrim and no kind.
Passes: one root prim that is the defaultPrim, with a model kind; meshes behind a payload or too few to matter.

Reading: the guideline changes over time, so five points of it are checked here: a named entry file, a defaultPrim,
one root prim (a PhysicsScene, classes and render settings beside it are fine), a model kind, and payloads for heavy
data.  All points that fail are one finding; other rules say more about each point.

Fix: no.  Every point has a rule of its own, with its own fix.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinds import find_kinds, is_kind
from simwright.checker.facts.payloads import compare_payloads
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.wording import join_words
from simwright.checker.rule import Finding, rule

_BESIDE = ("Physics", "Render", "OmniGraph")


@rule("struct-aswf", "1.2", "should", on="stage", heuristic=True)
def struct_aswf(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Collect the points that fail: each alone is small, together they say that the asset is built otherwise."""
    unmet = [
        point for point in (_judge_file(snapshot), *_judge_roots(snapshot), _judge_weight(snapshot)) if point
    ]
    if unmet:
        yield Finding(
            f"the asset departs from the ASWF asset structure: {join_words(unmet)}",
            hint="give the asset one entry layer with one root prim: defaultPrim, kind, payload",
            at=snapshot.default_node,
            data={"unmet": unmet},
        )


def _judge_file(snapshot: StageSnapshot) -> str:
    return "the entry file is binary" if snapshot.root_layer.realPath.endswith(".usdc") else ""


def _judge_roots(snapshot: StageSnapshot) -> Iterator[str]:
    default = snapshot.default_node
    if default is None:
        yield "there is no default prim"
    elif not is_kind(find_kinds(snapshot).of.get(default.path, ""), "model"):
        yield "the default prim has no model kind"
    roots = [node for node in snapshot.nodes if node.parent is None and not node.in_prototype]
    # a PhysicsScene or render settings beside the asset are the stage's, not a second asset
    if len(roots) > 1 and any(node is not default and not node.type.startswith(_BESIDE) for node in roots):
        yield f"there are {len(roots)} root prims"


def _judge_weight(snapshot: StageSnapshot) -> str:
    heavy = [facts.name for facts in compare_payloads(snapshot).always if facts.is_heavy(snapshot.settings)]
    return f"heavy data in {heavy[0]} is not behind a payload" if heavy else ""
