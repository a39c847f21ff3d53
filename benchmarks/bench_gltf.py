# SPDX-License-Identifier: Apache-2.0
"""OpenUSD to glTF against usd2gltf: a robot of three hundred links, each with a mesh of its own.

The same input and one .glb on both sides, every conversion in a process of its own after one that warms it up.  Ours
also writes joints, masses and limits, which the peer does not read.
"""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks.measure import PYTHON, Result, growth
from benchmarks.peers import explain_absence, find_peer

LIMIT = 0.5
REPEAT = 3
WORKER = Path(__file__).with_name("gltf_worker.py")
ROOT = Path(__file__).resolve().parents[1]
SIZES = (30, 100, 300)
"""Links of generated robots."""
_SIDE = 20
"""Faces along one side of a mesh, which has twice their square in triangles."""


def run() -> Iterator[Result | str]:
    peer = find_peer("usd2gltf")
    with tempfile.TemporaryDirectory() as folder:
        warm = write_robot(Path(folder) / "warm.usdc", 2)
        times = []
        for size in SIZES:
            file = write_robot(Path(folder) / f"robot{size}.usdc", size)
            times.append(min(convert(PYTHON, "ours", warm, file) for _ in range(REPEAT)))
        name = f"USD to GLB, {SIZES[-1]} meshes"
        if not peer:
            yield f"{name}: {explain_absence('usd2gltf')}"
            return
        theirs = min(convert(peer, "usd2gltf", warm, file) for _ in range(REPEAT))
        yield Result(name, times[-1], "usd2gltf", theirs, LIMIT, growth(SIZES, times))


def convert(python: str, side: str, warm: Path, file: Path) -> float:
    """CPU seconds of one conversion in a fresh process."""
    command = [python, str(WORKER), side, str(warm), str(file)]
    done = subprocess.run(command, check=False, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{side} cannot convert {file}:\n{done.stderr[-2000:]}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


def write_robot(file: Path, links: int) -> Path:
    """A tree of links, each with a mesh, one of ten materials and a hinge to the link before."""
    from pxr import Usd, UsdGeom, UsdPhysics, UsdShade

    stage = Usd.Stage.CreateNew(str(file))
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/robot").GetPrim())
    looks = [_write_look(stage, number) for number in range(10)]
    for number in range(links):
        path = f"/robot/link{number}"
        body = UsdGeom.Xform.Define(stage, path)
        body.AddTranslateOp().Set((0.1 * number, 0.0, 0.0))
        UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
        UsdPhysics.MassAPI.Apply(body.GetPrim()).CreateMassAttr(1.0)
        mesh = _write_mesh(stage, f"{path}/mesh", number)
        UsdShade.MaterialBindingAPI.Apply(mesh.GetPrim()).Bind(looks[number % len(looks)])
        if number:
            joint = UsdPhysics.RevoluteJoint.Define(stage, f"{path}/joint")
            joint.CreateBody0Rel().SetTargets([f"/robot/link{(number - 1) // 2}"])
            joint.CreateBody1Rel().SetTargets([path])
            joint.CreateAxisAttr("Z")
    stage.GetRootLayer().Save()
    return file


def _write_look(stage, number):
    from pxr import Sdf, UsdShade

    path = f"/robot/looks/look{number}"
    material = UsdShade.Material.Define(stage, path)
    shader = UsdShade.Shader.Define(stage, f"{path}/surface")
    shader.CreateIdAttr("UsdPreviewSurface")
    shader.CreateInput("diffuseColor", Sdf.ValueTypeNames.Color3f).Set((0.1 * number, 0.5, 0.5))
    shader.CreateInput("roughness", Sdf.ValueTypeNames.Float).Set(0.4)
    material.CreateSurfaceOutput().ConnectToSource(shader.ConnectableAPI(), "surface")
    return material


def _write_mesh(stage, path, number):
    """A bumpy sheet of quads with normals and texture coordinates per corner."""
    from pxr import Sdf, UsdGeom, Vt

    side = _SIDE + 1
    points = [
        (0.05 * x / _SIDE, 0.05 * y / _SIDE, 0.01 * math.sin(0.5 * x + number) * math.cos(0.4 * y))
        for y in range(side)
        for x in range(side)
    ]
    quads = [
        (y * side + x, y * side + x + 1, y * side + x + side + 1, y * side + x + side)
        for y in range(_SIDE)
        for x in range(_SIDE)
    ]
    corners = [corner for quad in quads for corner in quad]
    mesh = UsdGeom.Mesh.Define(stage, path)
    mesh.CreatePointsAttr(Vt.Vec3fArray(points))
    mesh.CreateFaceVertexCountsAttr([4] * len(quads))
    mesh.CreateFaceVertexIndicesAttr(corners)
    mesh.CreateSubdivisionSchemeAttr("none")
    mesh.CreateNormalsAttr(Vt.Vec3fArray([(0.1 * math.cos(c), 0.0, 1.0) for c in corners]))
    mesh.SetNormalsInterpolation("faceVarying")
    uvs = [(c % side / _SIDE, c // side / _SIDE) for c in corners]
    primvar = UsdGeom.PrimvarsAPI(mesh).CreatePrimvar("st", Sdf.ValueTypeNames.TexCoord2fArray, "faceVarying")
    primvar.Set(Vt.Vec2fArray(uvs))
    return mesh
