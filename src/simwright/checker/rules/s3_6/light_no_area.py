# SPDX-License-Identifier: Apache-2.0
"""Lights are punctual: distant, sphere or spot, not areas.

Why: rasterising simulators compute directional, point and spot lights.  Area lights are dropped or approximated by each
in its own way, so the picture, and a camera sensor's data, differ.

Fails: RectLight, DiskLight, CylinderLight, GeometryLight, PortalLight, or MeshLightAPI on a mesh.
Passes: DistantLight, SphereLight, SphereLight with ShapingAPI (a spot), DomeLight for the environment.

Fix: unsafe.  A sphere or spot of the same area stands in for rectangles, disks and cylinders; shadows get harder.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule

_STAND_INS = {
    "RectLight": "a SphereLight with ShapingAPI (a spot)",
    "DiskLight": "a SphereLight with ShapingAPI (a spot)",
    "PortalLight": "a DomeLight without portals",
}


@rule(
    "light-no-area",
    "3.6",
    "should not",
    on=(
        "type:RectLight",
        "type:DiskLight",
        "type:CylinderLight",
        "type:GeometryLight",
        "type:PortalLight",
        "api:MeshLightAPI",
        "api:VolumeLightAPI",
    ),
    fix="unsafe",
    fix_title="put a sphere or spot light of similar power in its place",
)
def light_no_area(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:  # noqa: ARG001 - a rule's form
    """The subscription says it all."""
    # the prim stays a mesh, so its type does not name the light
    if node.has("MeshLightAPI") or node.has("VolumeLightAPI"):
        found, instead = f"the {node.type} is made an area light", "an emissive material beside a SphereLight"
    else:
        found = f"{node.type} is an area light, which rasterising simulators do not compute"
        instead = _STAND_INS.get(node.type, "a SphereLight")
    yield Finding(found, hint=f"use {instead}", at=node)
