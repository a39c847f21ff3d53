# SPDX-License-Identifier: Apache-2.0
"""Meshes are rightHanded.

Why: glTF knows counter-clockwise front faces only.  A left-handed mesh comes out inside out.

Fails: `uniform token orientation = "leftHanded"`.
Passes: no opinion (the fallback is rightHanded) or `"rightHanded"`.  A mirroring transform flips the winding in
every renderer alike and is not checked here.

Fix: safe.  Turning every face (and its faceVarying primvars) around and writing rightHanded shows the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "geo-righthanded",
    "3.4",
    "must",
    on="type:Mesh",
    fix="safe",
    fix_title="reverse the faces and set orientation to rightHanded",
)
def geo_righthanded(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:  # noqa: ARG001 - a rule's form
    """An authored opinion only."""
    # a mirroring transform flips the winding in every renderer alike, so only the token counts
    if node.authored("orientation") == "leftHanded":
        yield Finding(
            "orientation is leftHanded",
            hint='reverse the corners of every face and write orientation = "rightHanded"',
            at=node,
            prop="orientation",
        )
