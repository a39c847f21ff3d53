# SPDX-License-Identifier: Apache-2.0
"""Generated stages for benchmarks: as many bodies, joints and triangles as asked for, closed and compliant in kind."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from benchmarks.bench_mass import torus


def make_stage(
    path: Path,
    prims: int,
    triangles: int,
    *,
    distinct: bool = False,
    soup: bool = False,
    faulty: bool = False,
) -> int:
    """Write a crate of about ``prims`` prims and ``triangles`` triangles; gives the number of prims.

    Six prims per body: the body, a visual and a collision scope with a mesh each, and a joint to the base.
    Every mesh has points of its own.  The faces are the same for all, as in a fleet of one robot, unless
    ``distinct``: then every body has an index array of its own, and nothing can be shared.  In a ``soup`` every corner
    has a point of its own, as in STL files; ``faulty`` bodies have no mass and joints whose limits are swapped.
    """
    from pxr import Sdf, Vt

    layer = Sdf.Layer.CreateNew(str(path), {"format": "usdc"})
    layer.pseudoRoot.SetInfo("metersPerUnit", 1.0)
    layer.pseudoRoot.SetInfo("kilogramsPerUnit", 1.0)
    layer.pseudoRoot.SetInfo("timeCodesPerSecond", 1.0)
    layer.pseudoRoot.SetInfo("upAxis", "Z")
    layer.defaultPrim = "robot"
    bodies = max(1, prims // 6)
    side = max(3, round((triangles / bodies / 2 / 2) ** 0.5))
    points, faces = torus(side, side)
    points = points.astype(np.float32)
    if soup:
        points, faces = points[faces.reshape(-1)], np.arange(faces.size, dtype=faces.dtype).reshape(-1, 3)
    indices = Vt.IntArray.FromNumpy(faces.reshape(-1))
    counts = Vt.IntArray.FromNumpy(np.full(len(faces), 3, np.int32))
    with Sdf.ChangeBlock():
        root = Sdf.PrimSpec(layer, "robot", Sdf.SpecifierDef, "Xform")
        root.kind = "component"
        _bind(root, _make_material(root))
        base = _make_body(root, "base", 0)
        order = np.random.default_rng(0)
        for i in range(bodies):
            if distinct:
                indices = Vt.IntArray.FromNumpy(faces[order.permutation(len(faces))].reshape(-1))
            body = _make_body(base, f"b{i}", i, mass=0.0 if faulty else 1.0)
            visual = Sdf.PrimSpec(body, "visual", Sdf.SpecifierDef, "Scope")
            collision = Sdf.PrimSpec(body, "collision", Sdf.SpecifierDef, "Scope")
            grown = points * np.float32(1 + i * 1e-4)
            moved = Vt.Vec3fArray.FromNumpy(grown)
            extent = Vt.Vec3fArray.FromNumpy(np.stack((grown.min(0), grown.max(0))))
            for holder in (visual, collision):
                mesh = Sdf.PrimSpec(holder, "shell", Sdf.SpecifierDef, "Mesh")
                _set(mesh, "points", Sdf.ValueTypeNames.Point3fArray, moved)
                _set(mesh, "faceVertexIndices", Sdf.ValueTypeNames.IntArray, indices)
                _set(mesh, "faceVertexCounts", Sdf.ValueTypeNames.IntArray, counts)
                _set(mesh, "subdivisionScheme", Sdf.ValueTypeNames.Token, "none")
                _set(mesh, "extent", Sdf.ValueTypeNames.Float3Array, extent)
            _apply(mesh, "PhysicsCollisionAPI", "PhysicsMeshCollisionAPI")
            _set(mesh, "physics:approximation", Sdf.ValueTypeNames.Token, "convexHull")
            _set(mesh, "purpose", Sdf.ValueTypeNames.Token, "guide")
            joint = Sdf.PrimSpec(base, f"j{i}", Sdf.SpecifierDef, "PhysicsRevoluteJoint")
            _set(joint, "physics:lowerLimit", Sdf.ValueTypeNames.Float, 180.0 if faulty else -90.0)
            _set(joint, "physics:upperLimit", Sdf.ValueTypeNames.Float, 90.0)
            for name, target in (("physics:body0", "/robot/base"), ("physics:body1", f"/robot/base/b{i}")):
                rel = Sdf.RelationshipSpec(joint, name, custom=False)
                rel.targetPathList.explicitItems = [Sdf.Path(target)]
    layer.Save()
    return 3 + 6 * bodies


def _make_body(parent: object, name: str, number: int, mass: float = 1.0) -> object:
    from pxr import Gf, Sdf, Vt

    body = Sdf.PrimSpec(parent, name, Sdf.SpecifierDef, "Xform")
    _apply(body, "PhysicsRigidBodyAPI", "PhysicsMassAPI")
    _set(body, "physics:mass", Sdf.ValueTypeNames.Float, mass)
    _set(body, "xformOp:translate", Sdf.ValueTypeNames.Double3, Gf.Vec3d(number, 0, 0))
    _set(body, "xformOp:orient", Sdf.ValueTypeNames.Quatf, Gf.Quatf(1))
    order = Vt.TokenArray(["xformOp:translate", "xformOp:orient"])
    _set(body, "xformOpOrder", Sdf.ValueTypeNames.TokenArray, order)
    return body


def _make_material(root: object) -> str:
    from pxr import Sdf

    material = Sdf.PrimSpec(root, "rubber", Sdf.SpecifierDef, "Material")
    _apply(material, "PhysicsMaterialAPI")
    for name in ("staticFriction", "dynamicFriction", "restitution"):
        _set(material, f"physics:{name}", Sdf.ValueTypeNames.Float, 0.5)
    return "/robot/rubber"


def _bind(spec: object, material: str) -> None:
    from pxr import Sdf

    _apply(spec, "MaterialBindingAPI")
    rel = Sdf.RelationshipSpec(spec, "material:binding:physics", custom=False)
    rel.targetPathList.explicitItems = [Sdf.Path(material)]


def _apply(spec: object, *names: str) -> None:
    from pxr import Sdf

    operation = Sdf.TokenListOp()
    operation.prependedItems = list(names)
    spec.SetInfo("apiSchemas", operation)  # type: ignore[attr-defined]


def _set(spec: object, name: str, type_name: object, value: object) -> None:
    from pxr import Sdf

    attribute = Sdf.AttributeSpec(spec, name, type_name)
    attribute.default = value
