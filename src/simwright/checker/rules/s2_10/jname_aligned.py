# SPDX-License-Identifier: Apache-2.0
"""ros:joint:name and the prim name of a joint say the same, as far as prim names can.

Why: people look for a joint by either name.  Two names that differ without need are a source of mistakes.

Fails: `ros:joint:name = "elbow"` on a prim called `joint_3`.
Passes: "elbow" on `elbow`; "elbow-joint" on `elbow_joint`, because a prim name has no hyphen; "elbow" on `elbow_joint`
or `elbow_1` beside a link `elbow`, because siblings cannot share a name; no property at all.

Fix: unsafe.  Renaming the prim breaks paths that point to it, changing the value breaks ROS configuration.
"""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Tf

from simwright.checker.facts.owners import find_joint_names
from simwright.checker.facts.schemas import JOINT_NAME
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.names import make_identifier


@rule(
    "jname-aligned",
    "2.10",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="rename the prim, or set ros:joint:name to the prim name",
)
def jname_aligned(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Compare the value, made a legal prim name, with the prim name."""
    for path, value in find_joint_names(snapshot).items():
        node = snapshot.node(path)
        if node is None or not isinstance(value, str) or not value.strip():
            continue
        # two ways to make a name legal, OpenUSD's and ours, give different results for a leading digit
        wanted = {Tf.MakeValidIdentifier(value), make_identifier(value)}
        if node.name in wanted or _is_displaced(node, wanted):
            continue
        yield Finding(
            f"ros:joint:name is {value!r}, but the prim is called {node.name!r}",
            hint=f"call the prim {make_identifier(value)!r}, or write {node.name!r} as ros:joint:name",
            at=node,
            prop=JOINT_NAME,
            data={"value": value},
        )


def _is_displaced(node: PrimNode, wanted: set[str]) -> bool:
    """Was an ending added because a sibling has the name already?"""
    taken = {sibling.name for sibling in node.parent.children} & wanted if node.parent else set()
    return any(node.name.startswith(f"{name}_") for name in taken)
