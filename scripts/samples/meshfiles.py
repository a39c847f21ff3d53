# SPDX-License-Identifier: Apache-2.0
"""Mesh files: Wavefront OBJ with its MTL, binary STL; and the corner normals that make round things round."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from samples.meshes import Mesh
from samples.palette import Look
from samples.text import fixed
from simwright.core.math3d import Array

CREASE = math.cos(math.radians(38.0))
"""Faces that meet at a flatter angle than this are shaded as one surface."""


def corner_normals(mesh: Mesh) -> Array:
    """Unit normals ``(m, 3, 3)`` per triangle corner, smooth across flat edges and split at creases."""
    corners = mesh.vertices[mesh.faces]
    weighted = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    unit = weighted / np.linalg.norm(weighted, axis=1, keepdims=True)
    order = np.argsort(mesh.faces.reshape(-1), kind="stable")
    owners = mesh.faces.reshape(-1)[order]
    result = np.zeros((len(mesh.faces) * 3, 3))
    for group in np.split(order, np.flatnonzero(np.diff(owners)) + 1):
        around = group // 3
        alike = unit[around] @ unit[around].T >= CREASE
        result[group] = alike @ weighted[around]
    result /= np.linalg.norm(result, axis=1, keepdims=True)
    return result.reshape(-1, 3, 3)


def write_stl(mesh: Mesh, title: str) -> bytes:
    """Binary STL; the header names the part."""
    triangles = np.zeros(
        len(mesh.faces), dtype=[("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")]
    )
    corners = np.round(mesh.vertices, 6)[mesh.faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    triangles["normal"] = np.round(normals, 5) + 0.0
    triangles["corners"] = corners + 0.0
    header = f"Simwright sample: {title}".encode("ascii").ljust(80, b" ")
    return header + np.uint32(len(mesh.faces)).tobytes() + triangles.tobytes()


def write_obj(parts: Sequence[tuple[str, Mesh]], title: str, library: str) -> bytes:
    """Wavefront OBJ: ``(look name, mesh)`` parts in one object, smooth normals, one ``usemtl`` each."""
    lines = [f"# Simwright sample: {title}", f"mtllib {library}", f"o {title}"]
    positions: list[str] = []
    directions: dict[str, int] = {}
    bodies: list[str] = []
    for look, mesh in parts:
        first = len(positions) + 1
        positions += ["v " + " ".join(fixed(v, 5) for v in vertex) for vertex in mesh.vertices]
        bodies += [f"usemtl {look}", "s 1"]
        for face, normals in zip(mesh.faces, corner_normals(mesh), strict=True):
            words = []
            for vertex, normal in zip(face, normals, strict=True):
                line = "vn " + " ".join(fixed(v, 3) for v in normal)
                number = directions.setdefault(line, len(directions) + 1)
                words.append(f"{first + int(vertex)}//{number}")
            bodies.append("f " + " ".join(words))
    return ("\n".join([*lines, *positions, *directions, *bodies]) + "\n").encode("ascii")


def write_mtl(looks: Mapping[str, Look], title: str) -> bytes:
    """Material library; carries the physically based numbers too (Pr, Pm), which older readers skip."""
    lines = [f"# Simwright sample: {title}"]
    for name, look in sorted(looks.items()):
        color = " ".join(fixed(v, 4) for v in look.color)
        shininess = fixed(2.0 / max(look.roughness, 0.05) ** 4 - 2.0, 1)
        lines += ["", f"newmtl {name}", f"Kd {color}", "Ka 0 0 0", "Ks 0.2 0.2 0.2", f"Ns {shininess}"]
        lines += ["d 1", "illum 2", f"Pr {fixed(look.roughness, 3)}", f"Pm {fixed(look.metallic, 3)}"]
    return ("\n".join(lines) + "\n").encode("ascii")
