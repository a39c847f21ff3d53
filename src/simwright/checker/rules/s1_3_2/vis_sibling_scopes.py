# SPDX-License-Identifier: Apache-2.0
"""A link keeps its visuals and its colliders in two sibling scopes, visual and collision.

Why: tools switch, replace or unload one of the two without touching the other.

Fails: visual meshes and colliders side by side below the link, or both in one `geometry` scope.
Passes: `/robot/base/visual/...` and `/robot/base/collision/...` (`visuals` and `collisions` are fine too).

Fix: unsafe.  Prims move; relationships that name them must follow.

Reading: a link with a single shape is not reported.  Two separate scopes with other names are an info.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from simwright.checker.facts.body_shapes import BodyShape, BodyShapes, find_shapes
from simwright.checker.facts.lineage import find_purposes
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_SCOPES = {"visual": "visual", "visuals": "visual", "collision": "collision", "collisions": "collision"}


@rule(
    "vis-sibling-scopes",
    "1.3.2",
    "should",
    on="api:PhysicsRigidBodyAPI",
    fix="unsafe",
    fix_title="move shapes into the scopes visual and collision",
)
def vis_sibling_scopes(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """At most one finding per link, the worst."""
    found = find_shapes(node, snapshot)
    # one shape that is both visual and collider has nothing to be kept apart from
    if len(found.shapes) < 2:
        return
    stray = [shape for shape in found.shapes if _is_stray(shape.trail, shape.is_collider)]
    stray = [
        # guides are helpers of the author, neither visual nor collider
        shape
        for shape in stray
        if shape.is_collider or "guide" not in find_purposes(shape.node, snapshot)
    ]
    if stray:
        yield _describe(node, stray, found)


@lru_cache(4096)
def _is_stray(trail: tuple[str, ...], is_collider: bool) -> bool:
    return _find_scopes(trail[:-1]) != {"collision" if is_collider else "visual"}


def _scopes_of(shape: BodyShape) -> frozenset[str]:
    return _find_scopes(shape.trail[:-1])


@lru_cache(1024)
def _find_scopes(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(_SCOPES[name] for name in map(str.lower, names) if name in _SCOPES)


def _describe(node: PrimNode, stray: list[BodyShape], found: BodyShapes) -> Finding:
    crossed = next((shape for shape in stray if _scopes_of(shape)), None)
    hint = f"put visuals below {node.path}/visual and colliders below {node.path}/collision"
    if crossed is not None:
        what = "collider" if crossed.is_collider else "visual"
        scope = "visual" if crossed.is_collider else "collision"
        return Finding(f"the {what} {crossed.node.path} is in a {scope} scope", hint=hint, at=node)
    kinds = {shape.is_collider for shape in found.shapes}
    mixed = len(kinds) == 2 and _share_a_place(found)
    if mixed:
        return Finding(
            f"visuals and colliders of {node.name} are not kept in two sibling scopes", hint=hint, at=node
        )
    places = sorted({"/".join(shape.trail[:1]) for shape in stray})
    return Finding(
        f"shapes of {node.name} are in {', '.join(places) or 'the link itself'}, not in scopes called visual and "
        "collision",
        hint=hint,
        at=node,
        level=Level.INFO,
    )


def _share_a_place(found: BodyShapes) -> bool:
    """Is a child of the link, or the link itself, home to both kinds?"""
    homes: dict[str, set[bool]] = {}
    for shape in found.shapes:
        home = shape.trail[0] if len(shape.trail) > 1 else ""
        homes.setdefault(home, set()).add(shape.is_collider)
    # a shape directly below the link is in no scope at all
    return any(len(kinds) == 2 for kinds in homes.values()) or "" in homes
