# SPDX-License-Identifier: Apache-2.0
"""Generated stages for benchmarks: as many bodies, joints and triangles as asked for, closed and compliant in kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.bench_mass import torus


def make_stage(path: Path, prims: int, triangles: int) -> int:
    """Write a crate of about ``prims`` prims and ``triangles`` triangles; gives the number of prims.

    Five prims per body: the body, a visual scope with a mesh, a collision mesh, and a joint to the body before.
    Every mesh has points of its own, so nothing can be shared by content.
    """
    from pxr import Gf, Sdf, Vt

    layer = Sdf.Layer.CreateNew(str(path), {"format": "usdc"})
    layer.pseudoRoot.SetInfo("metersPerUnit", 1.0)
    layer.pseudoRoot.SetInfo("kilogramsPerUnit", 1.0)
    layer.pseudoRoot.SetInfo("timeCodesPerSecond", 1.0)
    layer.pseudoRoot.SetInfo("upAxis", "Z")
    layer.defaultPrim = "robot"
    bodies = max(1, prims // 5)
    side = max(3, round((triangles / bodies / 2 / 2) ** 0.5))
    points, faces = torus(side, side)
    points = points.astype(np.float32)
    indices = Vt.IntArray.FromNumpy(faces.reshape(-1))
    counts = Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32))
    with Sdf.ChangeBlock():
        root = Sdf.PrimSpec(layer, "robot", Sdf.SpecifierDef, "Xform")
        root.kind = "component"
        for i in range(bodies):
            body = Sdf.PrimSpec(root, f"b{i}", Sdf.SpecifierDef, "Xform")
            _apply(body, "PhysicsRigidBodyAPI", "PhysicsMassAPI")
            _set(body, "physics:mass", Sdf.ValueTypeNames.Float, 1.0)
            _set(body, "xformOp:translate", Sdf.ValueTypeNames.Double3, Gf.Vec3d(i, 0, 0))
            _set(body, "xformOp:orient", Sdf.ValueTypeNames.Quatf, Gf.Quatf(1))
            order = Vt.TokenArray(["xformOp:translate", "xformOp:orient"])
            _set(body, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, order)
            visual = Sdf.PrimSpec(body, "visual", Sdf.SpecifierDef, "Scope")
            moved = Vt.Vec3fArray.FromNumpy(points * np.float32(1 + i * 1e-4))
            for holder, name in ((visual, "shell"), (body, "collision")):
                mesh = Sdf.PrimSpec(holder, name, Sdf.SpecifierDef, "Mesh")
                _set(mesh, "points", Sdf.ValueTypeNames.Point3fArray, moved)
                _set(mesh, "faceVertexIndices", Sdf.ValueTypeNames.IntArray, indices)
                _set(mesh, "faceVertexCounts", Sdf.ValueTypeNames.IntArray, counts)
                _set(mesh, "subdivisionScheme", Sdf.ValueTypeNames.Token, "none")
                extent = np.stack((points.min(0), points.max(0))) * np.float32(1 + i * 1e-4)
                _set(mesh, "extent", Sdf.ValueTypeNames.Float3Array, Vt.Vec3fArray.FromNumpy(extent))
            _apply(mesh, "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
            _set(mesh, "physics:approximation", Sdf.ValueTypeNames.Token, "convexHull")
            _set(mesh, "purpose", Sdf.ValueTypeNames.Token, "guide")
            joint = Sdf.PrimSpec(body, "joint", Sdf.SpecifierDef, "PhysicsRevoluteJoint")
            _set(joint, "physics:lowerLimit", Sdf.ValueTypeNames.Float, -90.0)
            _set(joint, "physics:upperLimit", Sdf.ValueTypeNames.Float, 90.0)
            for name, number in (("physics:body0", i - 1), ("physics:body1", i)):
                if number >= 0:
                    rel = Sdf.RelationshipSpec(joint, name, custom=False)
                    rel.targetPathList.explicitItems = [Sdf.Path(f"/robot/b{number}")]
    layer.Save()
    return 1 + 5 * bodies


def _apply(spec: object, *names: str) -> None:
    from pxr import Sdf

    operation = Sdf.TokenListOp()
    operation.prependedItems = list(names)
    spec.SetInfo("apiSchemas", operation)  # type: ignore[attr-defined]


def _set(spec: object, name: str, type_name: object, value: object) -> None:
    from pxr import Sdf

    attribute = Sdf.AttributeSpec(spec, name, type_name)
    attribute.default = value
