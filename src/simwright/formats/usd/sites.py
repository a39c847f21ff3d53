# SPDX-License-Identifier: Apache-2.0
"""Named frames: Xforms with RosFrameAPI (REP-0158 2.7) and the site schemas of Newton and MuJoCo."""

from __future__ import annotations

from simwright.formats.usd.naming import choose_names
from simwright.formats.usd.placement import decompose
from simwright.formats.usd.primitives import find_axis_turn, read_primitive
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.source import Source
from simwright.model.asset import Site


def read_sites(source: Source, scan: Scan) -> None:
    """Add every frame."""
    names = choose_names(found.path for found in scan.sites)
    for found in scan.sites:
        source.sites[found.path] = names[found.path]
        source.asset.sites.append(_read_site(source, found, names[found.path]))


def _read_site(source: Source, found: Found, name: str) -> Site:
    body = source.body_of(found.owner)
    matrix = (~body.pose).matrix @ source.world_matrix(found.prim)
    turn = find_axis_turn(source, found)
    placement = decompose(matrix if turn is None else matrix @ turn.matrix)
    sized = read_primitive(source, found, placement.scale)
    site = Site(
        name=name,
        body=body.name,
        pose=placement.pose,
        geometry=sized[0] if sized else None,
        path=found.path,
        source=source.where(found.prim),
    )
    if "RosFrameAPI" in found.apis:
        site.ros_frame = str(source.get_authored(found.prim, "ros:frame:id") or found.prim.GetName())
        site.static = source.get_flag(found.prim, "ros:frame:static", True)
    return site
