# SPDX-License-Identifier: Apache-2.0
"""Meshes are modelled Z-up: they are not turned by 90 degrees about X relative to their link.

Why: a turn that is left on the mesh comes from a Y-up source.  It is lost or doubled by tools that take the
points alone, such as exporters of single meshes, convex decomposition or instancing.

Fails: most meshes of the asset are turned by 90 degrees about X, and by nothing else, against their link.
Passes: meshes without rotation; a few turned ones; cylinders and capsules, whose axis is often set by a rotation.

At most 64 meshes, spread over the asset, are looked at.

Fix: unsafe.  The rotation is baked into points, normals and tangents; shared meshes have to be copied.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import ANGLE_TOLERANCE, read_in, read_stack, split_rotation
from simwright.checker.rule import Finding, rule

_MOST = 64


@rule(
    "root-freeze-zup",
    "1.1",
    "should",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="bake the quarter turn into points and normals",
)
def root_freeze_zup(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Look at the rotation of meshes against the link, or the root, that they belong to."""
    nodes = [
        n for n in snapshot.nodes if (n.type == "Mesh" or n.prototype is not None) and not n.in_prototype
    ]
    # every n-th mesh: the first ones are often one part of the asset, imported by one tool
    chosen = nodes[:: max(1, math.ceil(len(nodes) / _MOST))]
    sample = [(node, mesh) for node in chosen if (mesh := _find_mesh(node)) is not None]
    turned = [node for node, mesh in sample if _is_turned(node, mesh, snapshot)]
    # a few meshes may be turned on purpose; a Y-up source turns all of them
    if turned and 2 * len(turned) > len(sample):
        yield Finding(
            f"{len(turned)} of {len(sample)} meshes are turned by 90 degrees about X relative to their link: "
            "left over from a Y-up source?",
            hint="apply the rotation to points and normals, and leave the identity",
            at=turned[0],
            data={"turned": len(turned), "looked_at": len(sample)},
        )


def _find_mesh(node: PrimNode) -> PrimNode | None:
    """The mesh that a node is, or the first one of an instance."""
    return node if node.prototype is None else next((n for n in node.descendants() if n.type == "Mesh"), None)


def _is_turned(node: PrimNode, mesh: PrimNode, snapshot: StageSnapshot) -> bool:
    rotation = _read_rotation(node, mesh, snapshot)
    if rotation is None:
        return False
    angle, axis = split_rotation(rotation)
    # converters write the quarter turn with float noise
    return abs(angle - 90.0) <= 100 * ANGLE_TOLERANCE and abs(axis[0]) > 1.0 - 1e-6


def _read_rotation(node: PrimNode, mesh: PrimNode, snapshot: StageSnapshot) -> tuple[float, ...] | None:
    base = snapshot.owning_body(node) or _find_top(node)
    if base is None or base is node:
        return None
    # most meshes are placed by their link alone: nothing to work out
    if not _is_moved(node, base, snapshot) and (mesh is node or not _is_moved(mesh, None, snapshot)):
        return None
    found = read_in(node, base, snapshot)
    if found is None:
        return None
    pose = found.pose
    if mesh is not node:  # below an instance: transforms of a prototype start at its root
        inside = read_in(mesh, None, snapshot)
        if inside is None:
            return None
        pose = pose @ inside.pose
    return tuple(float(v) for v in pose.q)


def _is_moved(node: PrimNode, base: PrimNode | None, snapshot: StageSnapshot) -> bool:
    """Has the prim, or one between it and a prim above it, a transform of its own?"""
    here: PrimNode | None = node
    while here is not None and here is not base:
        stack = read_stack(here, snapshot)
        if stack.ops or stack.resets:
            return True
        here = here.parent
    return False


def _find_top(node: PrimNode) -> PrimNode | None:
    return next((above for above in node.ancestors() if above.parent is None), None)
