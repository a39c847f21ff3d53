# SPDX-License-Identifier: Apache-2.0
"""The order of the source on stages that Simwright wrote (see ``writer.order`` and ``simwright.usd.notes``).

Bodies, joints and actuators of a robot have an order of their own, which coordinates and controls count by.  It is
that of the prims, for joints that of the bodies they lead to, unless notes give another one; what has no note comes
after what has one.  Shapes and frames come body by body, those of the world first.
"""

from __future__ import annotations

from typing import Any

from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source
from simwright.model.joint import EqualityKind

LAST = 1 << 30


def restore_order(source: Source, scan: Scan) -> None:
    """Sort bodies, joints, sites, actuators, tendons, equalities, mimics, sensors and controllers."""
    if not source.noted:
        return
    ranks = {path: number for number, path in enumerate(scan.all)}

    def sort_key(element: Any, word: str = "order") -> tuple[int, int]:
        path = element.source.prim
        return read_place(scan.notes.get(path, {}), word), ranks.get(path, LAST)

    asset = source.asset
    families: tuple[list[Any], ...] = (asset.bodies, asset.actuators, asset.tendons, asset.controllers)
    for family in families:
        family.sort(key=sort_key)
    words = {EqualityKind.TENDON: "equality_order"}
    asset.equalities.sort(key=lambda equality: sort_key(equality, words.get(equality.kind, "order")))
    places = {body.name: number for number, body in enumerate(asset.bodies)}
    asset.shapes.sort(key=lambda shape: places.get(shape.body, -1))
    asset.sites.sort(key=lambda site: (sort_key(site)[0], places.get(site.body, -1), sort_key(site)[1]))

    def joint_key(joint: Any) -> tuple[int, bool, int, int]:
        noted, rank = sort_key(joint, "free_order" if joint.path in source.bodies else "order")
        return noted, joint.closes_loop, places.get(joint.child, -1), rank

    asset.joints.sort(key=joint_key)
    dofs = [dof.name for joint in asset.joints for dof in joint.dofs]
    followers = {name: number for number, name in enumerate(dofs)}
    asset.mimics.sort(key=lambda m: (sort_key(m, "mimic_order")[0], followers.get(m.follower, LAST)))


def read_place(note: dict[str, Any], word: str) -> int:
    """The noted place in an order, the last one where there is none."""
    value = note.get(word)
    return value if isinstance(value, int) else LAST
