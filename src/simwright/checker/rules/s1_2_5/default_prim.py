# SPDX-License-Identifier: Apache-2.0
"""The root layer names its default prim.

Why: `@robot.usda@` without a prim path means the default prim.  Without one the reference is empty, and no error is
shown.

Fails: no defaultPrim; one that does not exist, is inactive, a class, or only an `over`.
Passes: `defaultPrim = "robot"` with `def Xform "robot"`; a PhysicsScene beside it does not matter.

Reading: newer OpenUSD also takes the path of a prim that is not at the root.  Older tools do not: a warning.

Fix: unsafe, but safe where only one root prim can be meant.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf, Usd

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule("default-prim", "1.2.5", "must", on="stage", fix="unsafe", fix_title="set defaultPrim to the root prim")
# one function: the cases exclude each other and share name, hint and grade
def default_prim(snapshot: StageSnapshot) -> Iterator[Finding]:
    """The root layer's own opinion, and what it leads to."""
    name = snapshot.root_layer.defaultPrim
    roots = [node.name for node in snapshot.nodes if node.parent is None and not node.in_prototype]
    # a PhysicsScene or render settings beside the robot are never what a reference wants
    candidates = [root for root in roots if not _is_setting(root, snapshot)]
    meant = candidates[0] if len(candidates) == 1 else ""
    hint = f'write defaultPrim = "{meant or "..."}" in the metadata of the root layer'
    grade = Fixable.SAFE if meant else None
    if not name:
        yield Finding("the root layer names no default prim", hint=hint, fix=grade)
        return
    prim = snapshot.stage.GetDefaultPrim()
    if not prim:
        yield _describe_absent(name, snapshot, hint, grade)
        return
    state = next((word for word, is_so in _states(prim) if is_so), "")
    if state:
        yield Finding(f"the default prim {name!r} is {state}", hint=hint, words="defaultPrim", fix=grade)
    elif not prim.GetPath().IsRootPrimPath():
        yield Finding(
            f"the default prim {prim.GetPath()} is not a root prim, which older tools do not understand",
            hint="make the asset's prim a root prim",
            words="defaultPrim",
            level=Level.WARNING,
            fix=Fixable.NO,
        )


def _describe_absent(name: str, snapshot: StageSnapshot, hint: str, grade: Fixable | None) -> Finding:
    if not _lacks_layers(snapshot):
        return Finding(f"the default prim {name!r} does not exist", hint=hint, words="defaultPrim", fix=grade)
    return Finding(
        f"the default prim {name!r} is in none of the layers that could be opened",
        hint="repair the sublayers first: one that was not opened may define it",
        words="defaultPrim",
        level=Level.WARNING,
        fix=Fixable.NO,
    )


def _lacks_layers(snapshot: StageSnapshot) -> bool:
    """Is a sublayer of the root layer missing, or left out because it lies outside of the asset?"""
    root, opened = snapshot.root_layer, snapshot.stage.GetLayerStack()
    return any(Sdf.Layer.FindRelativeToLayer(root, path) not in opened for path in root.subLayerPaths)


def _states(prim: Usd.Prim) -> list[tuple[str, bool]]:
    return [
        ("inactive", not prim.IsActive()),
        ("a class", prim.IsAbstract()),
        ("never defined, only an over", not prim.IsDefined()),
    ]


def _is_setting(name: str, snapshot: StageSnapshot) -> bool:
    node = snapshot.node(f"/{name}")
    return node is not None and node.type.startswith(("Physics", "Render"))
