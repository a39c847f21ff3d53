# SPDX-License-Identifier: Apache-2.0
"""Bodies and frames: which ones there are, what they hang on, and where frames sit.

A body that only one side has is no difference where it has no mass, and the other side has a frame of
that name, or nothing that could be missed: bodies between the freedoms of one joint.
"""

from __future__ import annotations

from simwright.compare.difference import Item, Section
from simwright.compare.pairing import Pairing, match_elements
from simwright.compare.side import Side
from simwright.compare.values import Ruler
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Site
from simwright.model.optics import list_implied_frames

Frames = dict[str, tuple[str, Pose]]


def compare_bodies(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Bodies by name, with what they say of themselves."""
    section.compared = len(pairing.bodies) - 1
    _list_single(section, pairing)
    first, second = ({body.name: body for body in s.asset.bodies} for s in (pairing.a, pairing.b))
    for name, twin in pairing.bodies.items():
        if not name:
            continue
        a, b = first[name], second[twin]
        element = f"body {name!r}"
        for what in ("kinematic", "enabled"):
            ruler.compare(section, element, what, getattr(a, what), getattr(b, what))
        ruler.compare(section, element, "gravity scale", a.gravity_scale, b.gravity_scale, scale=1.0)
        for what in ("linear_damping", "angular_damping"):
            x, y = getattr(a, what) or 0.0, getattr(b, what) or 0.0
            ruler.compare(section, element, what.replace("_", " "), x, y)


def _list_single(section: Section, pairing: Pairing) -> None:
    """Bodies that only one side has, unless they are frames or links of a chain."""
    folded, between = [], []
    names = pairing.lost()
    for left, side, other in ((names[0], pairing.a, pairing.b), (names[1], pairing.b, pairing.a)):
        frames = {make_identifier(site.name) for site in other.asset.sites}
        for name in left:
            if not _is_bare(side, name):
                present = side is pairing.a
                section.items.append(
                    Item(f"body {name!r}", "body", name if present else None, None if present else name)
                )
            elif (
                make_identifier(name) in frames or not side.edges.get(name) or not side.edges[name].joint.dofs
            ):
                folded.append(name)
            else:
                between.append(name)
    if folded:
        section.notes.append(f"without mass, a frame on one side only: {_count(folded)}")
    if between:
        section.notes.append(f"massless between freedoms, on one side only: {_count(between)}")


def _is_bare(side: Side, name: str) -> bool:
    """Has it nothing of its own?  Shapes of a piece are compared wherever they hang on it."""
    inertial = side.inertials[name]
    edge = side.edges.get(name)
    loose = edge is None or bool(edge.joint.dofs)
    return inertial.mass == 0.0 and not inertial.inertia.any() and not (loose and side.asset.shapes_of(name))


def _count(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return shown if len(names) <= 5 else f"{shown} ... ({len(names)})"


def compare_frames(section: Section, pairing: Pairing, ruler: Ruler) -> None:
    """Sites by name, and bodies that the other side has as sites."""
    first, second = list_frames(pairing)
    implied = [list_implied_frames(side.asset) for side in (pairing.a, pairing.b)]
    unsaid: list[str] = []
    matches = match_elements(first, second)
    section.compared = len(matches)
    by_name = {site.name: site for site in second}
    for site in first:
        twin = by_name.get(matches.get(site.name, ""))
        if twin is None:
            if site.name in implied[0]:
                unsaid.append(site.name)
            else:
                section.items.append(Item(f"frame {site.name!r}", "frame", site.name, None))
            continue
        met = pairing.meet((site.body, site.pose), (twin.body, twin.pose))
        if met is None:
            section.items.append(Item(f"frame {site.name!r}", "hangs on", site.body, twin.body))
        else:
            ruler.compare_pose(section, f"frame {site.name!r}", *met)
    taken = set(matches.values())
    left = [site.name for site in second if site.name not in taken]
    unsaid += [name for name in left if name in implied[1]]
    section.items += [Item(f"frame {name!r}", "frame", None, name) for name in left if name not in implied[1]]
    if unsaid:
        section.notes.append(f"said by one side, implied by ROS interfaces of the other: {_count(unsaid)}")


def list_frames(pairing: Pairing) -> tuple[list[Site], list[Site]]:
    """Sites of both sides; bare bodies of one side count where the other has a site of that name."""
    left = pairing.lost()
    result: list[list[Site]] = []
    for names, side, other in ((left[0], pairing.a, pairing.b), (left[1], pairing.b, pairing.a)):
        wanted = {make_identifier(site.name) for site in other.asset.sites}
        own = {make_identifier(site.name) for site in side.asset.sites}
        bodies = [n for n in names if make_identifier(n) in wanted - own and _is_bare(side, n)]
        result.append([*side.asset.sites, *(Site(name, name, IDENTITY) for name in bodies)])
    return result[0], result[1]
