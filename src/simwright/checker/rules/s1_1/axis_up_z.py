# SPDX-License-Identifier: Apache-2.0
"""The root layer sets upAxis = "Z".

Why: ROS is Z-up, and gravity, wheels and sensors follow the axis.  Without an opinion OpenUSD takes Y (or what
a site has configured), and a simulator that honours it lays the asset on its side.

Fails: a root layer with `upAxis = "Y"`, or with none; a sublayer's opinion does not count.
Passes: a root layer with `upAxis = "Z"`.

Fix: unsafe.  Writing "Z" is right only if the asset stands upright that way already; otherwise points,
normals, transforms and joint frames have to be turned.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "axis-up-z",
    "1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title='author upAxis = "Z", turning the asset if it is not Z-up',
)
def axis_up_z(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Ask the root layer itself: the fallback differs from site to site."""
    # UsdGeom.GetStageUpAxis would answer with the fallback, which a plugInfo.json of the site may change
    root = snapshot.root_layer.pseudoRoot
    if not root.HasInfo("upAxis"):
        yield Finding(
            "the root layer does not set upAxis; OpenUSD then assumes Y",
            hint='add upAxis = "Z" to the layer\'s metadata if the asset stands upright along Z, else turn it',
        )
        return
    value = str(root.GetInfo("upAxis"))
    if value != "Z":
        yield Finding(
            f'upAxis is "{value}", it must be "Z"',
            hint="turn points, normals, transforms and joint frames; changing the token alone would lay the asset down",
            words="upAxis =",
            data={"value": value},
        )
