# SPDX-License-Identifier: Apache-2.0
"""The order of bodies, joints and the like: that of the prims, noted only where that is another one.

Coordinates, controls and measurements count by this order.  ``noted`` reads it: prims in the order of the composed
stage, joints by the bodies they lead to, those that close a loop last, mimics by their followers.  Nothing counts by
the order of frames, cameras and lights, so it is not noted.
"""

from __future__ import annotations

from collections.abc import Sequence

from simwright.formats.usd.writer.layout import Layout, list_written
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import WORLD, EqualityKind, JointKind

Row = tuple[str, str, tuple[int, ...]]
"""The prim of an element, the key of its note, and what it is sorted by without one."""


def note_order(layout: Layout, sheets: Sequence[Sheet]) -> None:
    """Note the order of every family that is not in the order of its prims; ``sheets`` come weakest first."""
    ranks = rank_prims(layout.root, sheets)
    for rows in _list_families(layout, ranks):
        keys = [key for _, _, key in rows]
        if keys == sorted(keys):
            continue
        for number, (path, word, _) in enumerate(rows):
            _find_home(sheets[2:], path).note(path, **{word: number})


def rank_prims(root: str, sheets: Sequence[Sheet]) -> dict[str, int]:
    """The place of every prim in the composed stage: depth first, children of weaker layers before the others."""
    ranks: dict[str, int] = {}
    stack = [root]
    while stack:
        path = stack.pop()
        ranks[path] = len(ranks)
        children: dict[str, None] = {}
        for sheet in sheets:
            spec = sheet.layer.GetPrimAtPath(path)
            if spec is not None:
                children |= dict.fromkeys(spec.nameChildren.keys())
        stack += [f"{path}/{name}" for name in reversed(children)]
    return ranks


def _list_families(layout: Layout, ranks: dict[str, int]) -> list[list[Row]]:
    asset = layout.asset
    plain = [
        [paths[element.name] for element in elements if element.name in paths]
        for elements, paths in (
            (asset.bodies, layout.bodies),
            (asset.tendons, layout.tendons),
            (asset.actuators, layout.actuators),
            (asset.controllers, layout.controllers),
        )
    ]
    families: list[list[Row]] = [[(path, "order", (ranks[path],)) for path in paths] for paths in plain]
    sensors = [layout.sensors[sensor.name] for sensor in asset.sensors if sensor.name in layout.sensors]
    families.append([(path, "sensor_order", (ranks[path],)) for path in sensors])
    equalities = [equality for equality in asset.equalities if equality.name in layout.equalities]
    words = {EqualityKind.TENDON: "equality_order"}
    held = [(layout.equalities[equality.name], words.get(equality.kind, "order")) for equality in equalities]
    families.append([(path, word, (ranks[path],)) for path, word in held])
    return [*families, _list_joints(layout, ranks), _list_mimics(layout)]


def _list_joints(layout: Layout, ranks: dict[str, int]) -> list[Row]:
    """Joints by the bodies they lead to; the note of a floating one is on its body."""
    places = {body.name: number for number, body in enumerate(layout.asset.bodies)}
    loops = {id(joint) for joint in layout.tree.loops}
    written = {id(joint) for joint in list_written(layout)}
    rows: list[Row] = []
    for joint in layout.asset.joints:
        child = joint.child if joint.child != WORLD else joint.parent
        is_loop = joint.closes_loop or id(joint) in loops
        if id(joint) in written:
            path, word = layout.joints[joint.name], "order"
        elif joint.kind is JointKind.FLOATING and joint.parent == WORLD:
            path, word = layout.bodies[child], "free_order"
        else:
            continue
        rows.append((path, word, (int(is_loop), places[child], ranks[path])))
    return rows


def _list_mimics(layout: Layout) -> list[Row]:
    dofs = [dof.name for joint in layout.asset.joints for dof in joint.dofs]
    places = {name: number for number, name in enumerate(dofs)}
    return [
        (layout.freedoms[mimic.follower][0], "mimic_order", (places[mimic.follower],))
        for mimic in layout.asset.mimics
        if mimic.follower in layout.freedoms and mimic.leader in layout.freedoms
    ]


def _find_home(features: Sequence[Sheet], path: str) -> Sheet:
    """The weakest layer that speaks of a prim; ``physics.usda`` where none does."""
    return next((sheet for sheet in features if sheet.layer.GetPrimAtPath(path)), features[0])
