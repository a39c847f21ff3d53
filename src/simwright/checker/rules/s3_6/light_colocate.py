# SPDX-License-Identifier: Apache-2.0
"""A headlight is a UsdLux light beside geometry with an emissive material, below one parent.

Why: the material shows where light comes from, the light makes it.  Without the material the lamp looks dark
although it lights; without the light it looks bright but lights nothing.  Below different parents the two separate
when the part moves.

Fails: a SphereLight in a robot link with no emissive shape below the same parent; an emissive `headlight` with no
light.
Passes: `headlight` (Xform) with `lens` (emissive Mesh) and `beam` (SphereLight) below it.

Reading: lights of the surroundings (not below a rigid body) and sun or sky lights are not checked.  Lamps are
recognised by their names, so the rule is heuristic; status lights and LEDs only need an emissive material.

Fix: no.  Only the author knows which part glows.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.lineage import find_body, walk_up
from simwright.checker.facts.material_uses import LampPrim, find_glowing, find_named, is_shape, split_words
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_WORDS = frozenset({
    "light", "lights", "lamp", "lamps", "headlight", "headlights", "headlamp", "spotlight", "floodlight", "worklight",
    "searchlight", "flashlight",
})  # fmt: skip
_SIGNALS = frozenset({"status", "indicator", "signal", "led", "warning", "traffic", "brake", "tail", "warn"})
# sun and sky have no place where a lamp could be
_FAR = ("DistantLight", "DomeLight", "DomeLight_1")


@rule("light-colocate", "3.6", "must", on="stage", heuristic=True)
def light_colocate(snapshot: StageSnapshot) -> Iterator[Finding]:
    """From lights to emitting shapes, then from emitting lamps to lights."""
    # the kinds of prims are few: on a stage without lights no prim is asked
    if any("LightAPI" in kind[1] for kind in snapshot.kinds()):
        for node in snapshot.nodes:
            if "LightAPI" in node.apis and node.type not in _FAR:
                yield from _judge_light(node, snapshot)
    for lamp in find_named(snapshot, _WORDS):
        yield from _judge_lamp(lamp, snapshot)


def _judge_light(light: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    parent = next(walk_up(light, snapshot), None)
    # a mesh light is its own shape, and lights of a room are not below a body
    if light.is_a("Gprim") or parent is None or find_body(light, snapshot) is None:
        return
    if not find_glowing([node for node in parent.descendants() if is_shape(node)], snapshot):
        yield Finding(
            f"the {light.type} of this link has no glowing shape beside it below {parent.name}",
            hint="put the lens or bulb, with an emissiveColor, below the same Xform as the light",
            at=light,
        )


def _judge_lamp(lamp: LampPrim, snapshot: StageSnapshot) -> Iterator[Finding]:
    node = lamp.node
    if _SIGNALS & set(split_words(node.name)) or find_body(node, snapshot) is None:
        return
    if find_glowing(lamp.shapes, snapshot) and not _has_light(node, snapshot):
        yield Finding(
            f"{node.name} glows, but there is no light below the same parent",
            hint="add a SphereLight (with ShapingAPI for a beam) beside it below the same Xform",
            at=node,
        )


def _has_light(node: PrimNode, snapshot: StageSnapshot) -> bool:
    top = node if not node.is_a("Gprim") else next(walk_up(node, snapshot), node)
    # the light may be next to the lamp's Xform instead of below it
    beside = next(walk_up(top, snapshot), top)
    return any("LightAPI" in other.apis for root in (top, beside) for other in root.descendants())
