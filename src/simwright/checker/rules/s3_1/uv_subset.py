# SPDX-License-Identifier: Apache-2.0
"""A mesh with several materials is split into materialBind subsets that fit it.

Why: renderers and converters look for the family `materialBind` to split the mesh into one primitive per
material.  Other families are ignored, overlapping faces get one of two materials by chance.

Fails: a GeomSubset with a binding and no `familyName`; faces in two subsets; indices beyond the last face.
Passes: GeomSubsets with `familyName = "materialBind"`, `elementType = "face"` and separate indices.  A mesh of
one material needs none.

Fix: safe for a missing or wrong family name (the binding shows what is meant); indices are not touched.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from simwright.checker.facts.material_uses import is_bound_subset
from simwright.checker.facts.meshes import as_ints
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "uv-subset",
    "3.1",
    "must",
    on="type:GeomSubset",
    fix="safe",
    fix_title='set familyName = "materialBind"',
)
def uv_subset(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:  # noqa: ARG001 - a rule's form
    """Each bound subset for itself, and against its earlier siblings."""
    if not is_bound_subset(node):
        return
    family = node.authored("familyName")
    if family != "materialBind":
        said = f"familyName is {family!r}" if family else "familyName is not authored"
        yield Finding(
            f"the subset has a material, but {said}",
            hint='write uniform token familyName = "materialBind"',
            at=node,
            prop="familyName",
        )
    element = node.authored("elementType")
    if element not in (None, "face"):
        yield Finding(
            f"the subset has a material, but its elementType is {element!r}",
            hint='materials are bound to faces: write uniform token elementType = "face"',
            at=node,
            prop="elementType",
        )
        return
    if node.parent is None or node.parent.type != "Mesh":
        return
    yield from _check_indices(node, node.parent)


def _check_indices(node: PrimNode, mesh: PrimNode) -> Iterator[Finding]:
    faces = len(as_ints(mesh.value("faceVertexCounts")))
    indices = _read_indices(node)
    beyond = indices[(indices < 0) | (indices >= faces)]
    if len(beyond):
        yield Finding(
            f"{len(beyond)} of the subset's indices are not faces of the mesh, which has {faces} (found {beyond[0]})",
            hint="write face numbers from 0 to the number of faces less one",
            at=node,
            prop="indices",
        )
    for sibling in mesh.children:
        # earlier siblings only: a shared face is told once, at the later subset
        if sibling is node:
            return
        if not is_bound_subset(sibling):
            continue
        shared = np.intersect1d(indices, _read_indices(sibling))
        if len(shared):
            yield Finding(
                f"{len(shared)} faces are also in the subset {sibling.name} (face {shared[0]}, for one)",
                hint="give every face to one subset only",
                at=node,
                prop="indices",
            )


def _read_indices(node: PrimNode) -> np.ndarray:
    return as_ints(node.value("indices"))
