# SPDX-License-Identifier: Apache-2.0
"""doubleSided does not hide faces that are wound the wrong way.

Why: rasterisers and glTF converters cull back faces, or light them wrongly.  A flipped face that doubleSided hides
in one viewer is a hole in the next.

Fails: `doubleSided = true` on a mesh with neighbouring faces of opposite winding, on a closed mesh that is inside
out, or with normals that point away from its faces.
Passes: leaves, cloth and signs: open, evenly wound surfaces with `doubleSided = true`.  On a closed mesh with right
winding it is only not needed: an info.

Fix: unsafe.  Faces are turned to one side; which side is out is clear for closed meshes only.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from simwright.checker.facts.meshes import MeshFacts, as_floats, as_ints, read_mesh
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level


@rule(
    "geo-no-doublesided-mask",
    "3.4",
    "must not",
    on="type:Mesh",
    fix="unsafe",
    fix_title="turn the faces the right way and set doubleSided to false",
)
def geo_no_doublesided_mask(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Only meshes that say doubleSided are analysed."""
    if node.authored("doubleSided") is not True:
        return
    facts = read_mesh(node, snapshot)
    if facts.problem:
        return
    found = _find_wrong_winding(node, facts)
    if found:
        yield Finding(
            f"doubleSided hides wrong winding: {found}",
            hint="wind every face counter-clockwise seen from outside and set doubleSided = false",
            at=node,
            prop="doubleSided",
        )
    elif facts.topology.is_closed:
        yield Finding(
            "doubleSided is not needed on a closed mesh",
            hint="set doubleSided = false: the inside is never seen",
            at=node,
            prop="doubleSided",
            level=Level.INFO,
        )


def _find_wrong_winding(node: PrimNode, facts: MeshFacts) -> str:
    # leftHanded faces are wound clockwise seen from outside
    sign = -1.0 if node.value("orientation") == "leftHanded" else 1.0
    topology = facts.topology
    if topology.flipped:
        return f"{topology.flipped} edges lie between faces of opposite winding"
    if topology.is_closed and sign * facts.volume < 0:
        return "the closed mesh is inside out"
    share = _opposed_share(node, facts, sign)
    # smooth normals at sharp edges may lean past a right angle; most of them do not
    if share > 0.5:
        return f"the normals of {share:.0%} of its corners point away from their faces"
    return ""


def _opposed_share(node: PrimNode, facts: MeshFacts, sign: float) -> float:
    """Share of corners whose authored normal is more than a right angle off the face's."""
    normals = _read_normals(node)
    if normals is None or not facts.is_triangulated:
        return 0.0
    authored = facts.faces
    triangles = authored.triangles
    # vertex, faceVarying or uniform: the count tells, whatever the metadata says
    if len(normals) == len(facts.points):
        corners = normals[triangles]
    elif len(normals) == len(authored.indices):
        corners = normals.reshape(-1, 3, 3)
    elif len(normals) == facts.face_count:
        corners = normals[:, None, :]
    else:
        return 0.0
    places = facts.points[triangles].astype(np.float64)
    faces = sign * np.cross(places[:, 1] - places[:, 0], places[:, 2] - places[:, 0])
    return float(np.mean(np.einsum("ijk,ik->ij", corners, faces) < 0))


def _read_normals(node: PrimNode) -> Any:
    values = node.authored("primvars:normals")
    indices = node.authored("primvars:normals:indices")
    if values is None:
        values, indices = node.authored("normals"), None
    normals = as_floats(values, 3).astype(np.float64)
    if not len(normals):
        return None
    if indices is not None:
        chosen = as_ints(indices)
        if len(chosen) == 0 or chosen.min() < 0 or chosen.max() >= len(normals):
            return None
        normals = normals[chosen]
    return normals
