# SPDX-License-Identifier: Apache-2.0
"""Frames that only mark a place are not rigid bodies.

Why: a massless body makes solvers invent mass or fail, and every such body costs a joint.

Fails: `camera_optical_frame` with PhysicsRigidBodyAPI and a fixed joint to the camera.
Passes: an Xform below the link, with RosFrameAPI and no physics.

Fix: unsafe.  The rigid body and its fixed joint are removed, RosFrameAPI is applied, and the prim moves below its
link.

Reading: a dummy has no geometry and nothing but fixed joints, and either no mass or the name of a frame.  A
base link without geometry but with inertia, and a massless link between two moving joints, are not dummies.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.body_shapes import find_shapes
from simwright.checker.facts.masses import has_mass
from simwright.checker.facts.names import looks_like_frame
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "dummy-no-rigidbody",
    "1.3",
    "must not",
    on="api:PhysicsRigidBodyAPI",
    heuristic=True,
    fix="unsafe",
    fix_title="make it an Xform with RosFrameAPI below its link",
)
def dummy_no_rigidbody(node: PrimNode, snapshot: StageSnapshot) -> Iterator[Finding]:
    """Cheap questions first."""
    named = looks_like_frame(node.name)
    if not named and has_mass(node, snapshot):
        return
    # a massless body between two moving joints is how URDF writes a joint with several axes
    if any(not edge.is_fixed for edge in snapshot.graph.edges_of.get(node.path, ())):
        return
    shapes = find_shapes(node, snapshot)
    # with a payload unloaded its shapes are not known
    if shapes.shapes or not shapes.complete:
        return
    lacking = "geometry" if has_mass(node, snapshot) else "mass and geometry"
    yield Finding(
        f"{node.name} is a rigid body without {lacking} that no joint moves: a dummy frame",
        hint="remove PhysicsRigidBodyAPI and its fixed joint, apply RosFrameAPI, and put it below its link",
        at=node,
    )
