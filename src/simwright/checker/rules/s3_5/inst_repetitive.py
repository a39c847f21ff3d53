# SPDX-License-Identifier: Apache-2.0
"""Geometry that is there several times is instanced.

Why: every copy of a bolt costs memory in each simulator and each exported file.  An instance costs a transform.

Fails: three or more Mesh prims with equal points, faces and primvars (the number is `repeat_count`).
Passes: one mesh in a library, referenced by prims with `instanceable = true`, or a PointInstancer.  A visual mesh
and an equal collider are not counted as repetitions of each other.

Fix: unsafe.  One copy becomes a prototype and the others references to it; opinions inside a copy are lost.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from simwright.checker.facts.meshes import digest_primvars, list_collision_meshes, read_mesh, sketch_mesh
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "inst-repetitive",
    "3.5",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="make one copy a prototype and reference it with instanceable = true",
)
def inst_repetitive(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Primvars are compared only where that many meshes are equal."""
    # a setting of 1 would make every mesh a repetition
    least = max(2, snapshot.settings.repeat_count)
    for alike in _list_equal(snapshot, least):
        by_primvars: dict[tuple[Any, ...], list[PrimNode]] = {}
        for node in alike:
            by_primvars.setdefault(digest_primvars(node, snapshot), []).append(node)
        for same in by_primvars.values():
            if len(same) >= least:
                faces = read_mesh(same[0], snapshot).face_count
                hint = "keep the mesh once and reference it with instanceable = true, or use a PointInstancer"
                if any(node.has("PhysicsRigidBodyAPI") for node in same):
                    # 3.5: only leaf geometry is instanced
                    hint = f"make each mesh a child of its body, which must not be instanced; then {hint}"
                yield Finding(
                    f"{len(same)} meshes are the same ({faces} faces): {same[0].path}, {same[1].path}, ...",
                    hint=hint,
                    at=same[0],
                    data={"count": len(same), "meshes": [node.path for node in same[:20]]},
                )


def _list_equal(snapshot: StageSnapshot, least: int) -> list[list[PrimNode]]:
    """Groups of equal meshes; equal meshes share their facts, and only meshes with equal sketches are read."""
    meshes = [node for node in snapshot.nodes if node.type == "Mesh"]
    # a hash is enough here: two sketches that meet by chance are told apart when the meshes are read
    colliding = {id(node) for node in list_collision_meshes(snapshot)}
    sketches = [hash((id(node) in colliding, *sketch_mesh(node, snapshot))) for node in meshes]
    often = {sketch for sketch, count in Counter(sketches).items() if count >= least}
    groups: dict[tuple[int, bool], list[PrimNode]] = {}
    for node, sketch in zip(meshes, sketches, strict=True):
        if sketch in often:
            facts = read_mesh(node, snapshot)
            if not facts.problem:
                groups.setdefault((id(facts), id(node) in colliding), []).append(node)
    return [nodes for nodes in groups.values() if len(nodes) >= least]
