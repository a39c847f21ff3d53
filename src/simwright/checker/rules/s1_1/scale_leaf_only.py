# SPDX-License-Identifier: Apache-2.0
"""Only leaf geometry is scaled: shapes without transformable prims below them.

Why: a scale above a link moves and sizes everything below, but engines that read the link's pose as a
geometry_msgs/Transform cannot know it, and joint frames and masses stay as they were.

Fails: `xformOp:scale` other than 1 on an Xform that has shapes, links or frames below it; the same hidden in a
matrix; non-uniform scale on a sphere or capsule collider, which makes it a shape that no engine has (warning).
Passes: scale on a Mesh or Cube; on the root of instanced geometry; a PointInstancer's scales for shapes.

The scale of a body itself is reported by scale-kinematic-identity.

Fix: unsafe.  The scale is baked into points, sizes and translates of what is below.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.kinematics import is_leaf_geometry, walk_inheritors
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.facts.transforms import XformOp, find_scale, read_transforms
from simwright.checker.facts.wording import show_numbers
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Level

_ROUND = {"Sphere": "sphere", "Capsule": "capsule", "Capsule_1": "capsule", "Cylinder": "cylinder",
          "Cylinder_1": "cylinder", "Cone": "cone"}  # fmt: skip
_AXES = {"X": 0, "Y": 1, "Z": 2}


@rule(
    "scale-leaf-only",
    "1.1",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="bake the scale into what is below",
)
def scale_leaf_only(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Every prim with a scale that is not 1, and point instancers that scale bodies."""
    book = read_transforms(snapshot)
    seen: set[int] = set()
    for node, op in (*book.scales, *book.matrices):
        if id(node) in seen or node.has("PhysicsRigidBodyAPI"):
            continue
        seen.add(id(node))
        if not is_leaf_geometry(node, snapshot):
            yield from _judge_holder(node, op, snapshot)
        elif node.type in _ROUND and node.has("PhysicsCollisionAPI"):
            yield from _judge_round(node, op, snapshot)
    for node in snapshot.of_type("PointInstancer"):
        yield from _judge_instancer(node)


def _judge_holder(node: PrimNode, op: XformOp, snapshot: StageSnapshot) -> Iterator[Finding]:
    scale = find_scale(node, snapshot)
    below = list(walk_inheritors(node, snapshot)) if scale is not None else []
    if scale is None or not below:
        return
    bodies = [n for n in below if n.has("PhysicsRigidBodyAPI")]
    first = bodies[0] if bodies else below[0]
    # bodies are what matters most: their joint frames and masses do not follow the scale
    what = (
        f"{len(bodies)} rigid bod{'ies' if len(bodies) > 1 else 'y'}" if bodies else f"{len(below)} prim(s)"
    )
    hidden = "a matrix with a " if op.kind == "transform" else ""
    yield Finding(
        f"{hidden}scale of {show_numbers(scale)} above {what} (first: {first.path}); only leaf geometry may have one",
        hint="bake it into the points, sizes and translates below, or move it to the leaf geometry",
        at=node,
        prop=op.name,
        data={"bodies": len(bodies), "below": len(below)},
    )


def _judge_round(node: PrimNode, op: XformOp, snapshot: StageSnapshot) -> Iterator[Finding]:
    """A collider that its scale makes into a shape which no engine has."""
    scale = find_scale(node, snapshot)
    if scale is None:
        return
    shape = _ROUND[node.type]
    sizes = [abs(v) for v in scale]
    if shape in ("cylinder", "cone"):  # along the axis they may be longer
        # UsdGeomCylinder and UsdGeomCone are along Z where no axis is authored
        del sizes[_AXES.get(str(node.value("axis")), 2)]
    if max(sizes) - min(sizes) > 1e-5 * max(sizes):
        yield Finding(
            f"a scale of {show_numbers(scale)} makes this {shape} collider into something that is no {shape}",
            hint="use a uniform scale, or better the shape's own radius and height",
            at=node,
            prop=op.name,
            level=Level.WARNING,
        )


def _judge_instancer(node: PrimNode) -> Iterator[Finding]:
    bodies = [n for n in node.descendants() if n.has("PhysicsRigidBodyAPI")]
    if not bodies:
        return
    for value in node.value("scales") or ():
        # one is enough: an instancer may have a million scales
        if any(abs(v - 1.0) > 1e-6 for v in value):
            yield Finding(
                f"scales of this point instancer has {show_numbers(value)}, which scales the body {bodies[0].path}",
                hint="bake the scale into a prototype of its own",
                at=node,
                prop="scales",
            )
            return
