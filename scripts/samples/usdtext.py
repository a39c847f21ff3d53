# SPDX-License-Identifier: Apache-2.0
"""USD layers as text: nested prims, metadata, transforms; and the binary geometry layer (REP 0158, 1.1, 1.2).

A block is a list of lines.  Every layer states the same units, so no arc rescales anything.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, Vt

from samples.meshes import Mesh
from samples.meshfiles import corner_normals
from samples.palette import Look
from samples.text import short
from simwright.core.math3d import VectorLike

Block = list[str]
UNSEEN = ("_hull", "_solid")
"""Endings of collision meshes' names: nobody shades them, so they carry no normals."""
IDENTITY = (1.0, 0.0, 0.0, 0.0)


def layer(default_prim: str, doc: str, body: Block) -> bytes:
    """A text layer with its units stated."""
    head = [
        "#usda 1.0",
        "(",
        f'    defaultPrim = "{default_prim}"',
        f'    doc = "{doc}"',
        "    kilogramsPerUnit = 1",
        "    metersPerUnit = 1",
        "    timeCodesPerSecond = 1",
        '    upAxis = "Z"',
        ")",
        "",
    ]
    return ("\n".join([*head, *body]) + "\n").encode("utf-8")


def prim(head: str, meta: Sequence[str] = (), body: Sequence[str] = ()) -> Block:
    """``def Xform "name"`` with metadata lines and content lines."""
    lines = [head]
    if meta:
        lines = [f"{head} (", *(f"    {line}" for line in meta), ")"]
    return [*lines, "{", *(f"    {line}" if line else "" for line in body), "}", ""]


def variant_set(name: str, variants: Mapping[str, Sequence[str]]) -> Block:
    """A variant set's block; the selection belongs to the prim's metadata (:func:`variant_meta`)."""
    lines = [f'variantSet "{name}" = {{']
    for variant, body in variants.items():
        lines += [f'    "{variant}" {{', *(f"        {line}" if line else "" for line in body), "    }"]
    return [*lines, "}"]


def variant_meta(name: str, selected: str) -> Block:
    """Metadata that declares a variant set and selects its default (REP 0158, 1.2.4)."""
    return ["variants = {", f'    string {name} = "{selected}"', "}", f'prepend variantSets = "{name}"']


def apis(*names: str) -> str:
    """The metadata line that applies API schemas."""
    listed = ", ".join(f'"{name}"' for name in names)
    return f"prepend apiSchemas = [{listed}]"


def vector(values: VectorLike, digits: int = 9) -> str:
    """``(x, y, z)``."""
    return "(" + ", ".join(short(v, digits) for v in values) + ")"


def place(xyz: VectorLike = (0.0, 0.0, 0.0), quat: VectorLike = IDENTITY) -> Block:
    """The one transform stack of a kinematic prim: translate, orient (REP 0158, 1.1)."""
    return [
        f"quatf xformOp:orient = {vector(quat)}",
        f"double3 xformOp:translate = {vector(xyz)}",
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]',
    ]


def box_collider(name: str, xyz: VectorLike, size: VectorLike) -> Block:
    """A leaf Cube; the only place where a scale is written."""
    body = [
        "float3[] extent = [(-0.5, -0.5, -0.5), (0.5, 0.5, 0.5)]",
        'uniform token purpose = "guide"',
        "double size = 1",
        f"float3 xformOp:scale = {vector(size)}",
        f"double3 xformOp:translate = {vector(xyz)}",
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]',
    ]
    return prim(f'def Cube "{name}"', [apis("MaterialBindingAPI")], body)


def cylinder_collider(name: str, xyz: VectorLike, axis: str, radius: float, height: float) -> Block:
    """A leaf Cylinder along an axis."""
    reach = [radius, radius, radius]
    reach["XYZ".index(axis)] = height / 2.0
    low = [-v for v in reach]
    body = [
        f'uniform token axis = "{axis}"',
        f"float3[] extent = [{vector(low)}, {vector(reach)}]",
        f"double height = {short(height)}",
        'uniform token purpose = "guide"',
        f"double radius = {short(radius)}",
        f"double3 xformOp:translate = {vector(xyz)}",
        'uniform token[] xformOpOrder = ["xformOp:translate"]',
    ]
    return prim(f'def Cylinder "{name}"', [apis("MaterialBindingAPI")], body)


def mesh_collider(name: str, geometry: str) -> Block:
    """A leaf Mesh whose points come by payload."""
    meta = [apis("MaterialBindingAPI"), f"prepend payload = @./geometries.usdc@</geometries/{geometry}/mesh>"]
    return prim(f'def Mesh "{name}"', meta, ['uniform token purpose = "guide"'])


def visual_piece(asset: str, name: str, geometry: str, look: str, xyz: VectorLike | None = None) -> Block:
    """An instanceable leaf: geometry by payload, its look bound on the outside of the prototype."""
    meta = [
        apis("MaterialBindingAPI"),
        "instanceable = true",
        f"prepend payload = @./geometries.usdc@</geometries/{geometry}>",
    ]
    body = [f"rel material:binding = </{asset}/materials/{look}>"]
    if xyz is not None:
        body += place(xyz)
    return prim(f'def Xform "{name}"', meta, body)


def materials_layer(looks: Mapping[str, Look], doc: str) -> bytes:
    """``materials.usda``: one UsdPreviewSurface per look, wired to the universal terminal (3.1)."""
    body: Block = []
    for name, look in sorted(looks.items()):
        inputs = [
            'uniform token info:id = "UsdPreviewSurface"',
            f"color3f inputs:diffuseColor = {vector(look.color)}",
            f"float inputs:metallic = {short(look.metallic)}",
            f"float inputs:roughness = {short(look.roughness)}",
            "token outputs:surface",
        ]
        if any(look.emission):
            inputs.insert(2, f"color3f inputs:emissiveColor = {vector(look.emission)}")
        wire = f"token outputs:surface.connect = </materials/{name}/surface.outputs:surface>"
        body += prim(f'def Material "{name}"', [], [wire, "", *prim('def Shader "surface"', [], inputs)])
    return layer("materials", doc, prim('def Scope "materials"', [], body))


def geometries_layer(meshes: Mapping[str, Mesh], doc: str) -> bytes:
    """``geometries.usdc``: ``/geometries/<name>/mesh``, points and normals and nothing else."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder, "geometries.usdc"))
        stage = Usd.Stage.CreateNew(path)
        stage.GetRootLayer().documentation = doc
        UsdGeom.SetStageMetersPerUnit(stage, 1.0)
        UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
        UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
        stage.SetTimeCodesPerSecond(1.0)
        root = UsdGeom.Scope.Define(stage, "/geometries")
        stage.SetDefaultPrim(root.GetPrim())
        for name, mesh in sorted(meshes.items()):
            UsdGeom.Xform.Define(stage, f"/geometries/{name}")
            seen = not name.endswith(UNSEEN)
            _define_mesh(stage, f"/geometries/{name}/mesh", mesh, seen)
        stage.GetRootLayer().Save()
        return Path(path).read_bytes()


def _define_mesh(stage: Usd.Stage, path: str, mesh: Mesh, seen: bool) -> None:
    points = np.ascontiguousarray(np.round(mesh.vertices, 6) + 0.0, dtype=np.float32)
    item = UsdGeom.Mesh.Define(stage, Sdf.Path(path))
    item.CreatePointsAttr(Vt.Vec3fArray.FromNumpy(points))
    item.CreateFaceVertexCountsAttr(Vt.IntArray.FromNumpy(np.full(len(mesh.faces), 3, dtype=np.int32)))
    item.CreateFaceVertexIndicesAttr(
        Vt.IntArray.FromNumpy(np.ascontiguousarray(mesh.faces.reshape(-1), dtype=np.int32))
    )
    item.CreateExtentAttr([Gf.Vec3f(*map(float, points.min(0))), Gf.Vec3f(*map(float, points.max(0)))])
    item.CreateSubdivisionSchemeAttr(UsdGeom.Tokens.none)
    item.CreateOrientationAttr(UsdGeom.Tokens.rightHanded)
    if seen:
        normals = np.ascontiguousarray(
            np.round(corner_normals(mesh), 3).reshape(-1, 3) + 0.0, dtype=np.float32
        )
        item.CreateNormalsAttr(Vt.Vec3fArray.FromNumpy(normals))
        item.SetNormalsInterpolation(UsdGeom.Tokens.faceVarying)
