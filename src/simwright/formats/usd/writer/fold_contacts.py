# SPDX-License-Identifier: Apache-2.0
"""Who may touch whom stays the same where the shapes of one body become those of another.

Joints and filters speak of bodies.  Where two bodies become one, what they said of either is said of its shapes.
"""

from __future__ import annotations

from simwright.model.asset import Asset, ContactFilter
from simwright.model.joint import WORLD, Joint


def keep_contacts(asset: Asset, name: str, host: str, mount: Joint) -> None:
    """Before the shapes of body ``name`` come to ``host``, which ``mount`` holds it to."""
    touching: dict[str, list[str]] = {}
    for shape in asset.shapes:
        if shape.collision:
            touching.setdefault(shape.body, []).append(shape.name)
    if name not in touching or host == WORLD:
        return
    apart: list[tuple[str, str]] = []
    for joint in asset.joints:
        side, other = _split((joint.parent, joint.child), name, host)
        if joint is not mount and not joint.collide and other != WORLD:
            apart.append((side, other))
            joint.collide = True
    kept = []
    for pair in asset.contact_filters:
        side, other = _split((pair.a, pair.b), name, host) if pair.of == "body" else ("", WORLD)
        if other == WORLD:
            kept.append(pair)
        else:
            apart.append((side, other))
    kept += [
        ContactFilter(a, b, "shape")
        for side, other in apart
        for a in touching.get(side, ())
        for b in touching.get(other, ())
    ]
    asset.contact_filters = kept


def _split(ends: tuple[str, str], name: str, host: str) -> tuple[str, str]:
    """Which of the two bodies is at one end, and what is at the other; the world for pairs of no concern."""
    for side, other in (ends, ends[::-1]):
        if side in (name, host) and other not in (name, host):
            return side, other
    return "", WORLD
