# SPDX-License-Identifier: Apache-2.0
"""Named frames: Xforms with RosFrameAPI (REP-0158 2.7) and the site schemas of Newton and MuJoCo."""

from __future__ import annotations

from simwright.formats.usd.naming import name_prims
from simwright.formats.usd.placement import Placement
from simwright.formats.usd.primitives import read_primitive
from simwright.formats.usd.scan import Found, Scan
from simwright.formats.usd.shapes import place_geometry
from simwright.formats.usd.source import BodyFrame, Source
from simwright.model.asset import Site


def read_sites(source: Source, scan: Scan) -> None:
    """Add every frame."""
    names = name_prims(scan.sites, noted=source.noted)
    bodies = [source.body_of(found.owner) for found in scan.sites]
    placements = place_geometry(source, scan.sites, bodies, source.world_matrices(scan.sites))
    for found, body, placement in zip(scan.sites, bodies, placements, strict=True):
        source.sites[found.path] = names[found.path]
        source.asset.sites.append(_read_site(source, found, names[found.path], body, placement))


def _read_site(source: Source, found: Found, name: str, body: BodyFrame, placement: Placement) -> Site:
    sized = read_primitive(source, found, placement.scale)
    site = Site(
        name=name,
        body=body.name,
        pose=placement.pose,
        geometry=sized[0] if sized else None,
        path=found.path,
        source=source.where(found),
    )
    if "RosFrameAPI" in found.apis:
        site.ros_frame = str(source.get_authored(found, "ros:frame:id") or found.name)
        site.static = source.get_flag(found, "ros:frame:static", True)
    return site
