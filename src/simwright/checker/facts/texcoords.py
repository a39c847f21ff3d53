# SPDX-License-Identifier: Apache-2.0
"""Texture coordinates where a texture uses them: their range, and whether they lie in tiles (REP-0158 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pxr import UsdGeom

from simwright.checker.facts.material_uses import MeshMaterial, list_mesh_materials
from simwright.checker.facts.meshes import MeshFacts, as_ints, read_mesh

if TYPE_CHECKING:
    from simwright.checker.facts.shading import ShaderTexture, Step
    from simwright.checker.facts.snapshot import PrimNode, StageSnapshot

Floats: TypeAlias = npt.NDArray[np.float64]
SLACK = 1e-3
"""Coordinates this far outside [0, 1] are still inside: less than a texel of most textures."""


@dataclass(frozen=True, slots=True)
class TextureUse:
    """Texture coordinates of a mesh (or some faces) as one texture sees them: ``low`` and ``high`` corners."""

    look: MeshMaterial
    texture: ShaderTexture
    low: tuple[float, float]
    high: tuple[float, float]

    @property
    def outside(self) -> list[tuple[str, str]]:
        """Axes that leave [0, 1], each with its wrap mode."""
        return [
            (axis, wrap)
            for axis, wrap, low, high in zip("uv", self.texture.wraps, self.low, self.high, strict=True)
            if low < -SLACK or high > 1 + SLACK
        ]

    def describe(self) -> str:
        """The range in words."""
        (u0, v0), (u1, v1) = self.low, self.high
        return f"u {u0:.3g} to {u1:.3g}, v {v0:.3g} to {v1:.3g}"


def list_uses(snapshot: StageSnapshot) -> list[TextureUse]:
    """Every texture of a universal surface on every mesh that it is bound to and that has coordinates for it."""
    return snapshot.shared("texcoords", _gather_uses)


def _gather_uses(snapshot: StageSnapshot) -> list[TextureUse]:
    uses: list[TextureUse] = []
    known: dict[tuple[str, str, str, str], Floats | None] = {}
    for look in list_mesh_materials(snapshot):
        for texture in look.material.textures:
            # repeat on both axes: any coordinates are right
            if not texture.is_universal or not texture.primvar or set(texture.wraps) == {"repeat"}:
                continue
            part = look.subset.path if look.subset else ""
            key = (look.mesh.path, part, texture.primvar, repr(texture.transform))
            if key not in known:
                known[key] = _find_range(look, texture, snapshot)
            found = known[key]
            if found is not None and np.isfinite(found).all():
                (u0, v0), (u1, v1) = found.tolist()
                uses.append(TextureUse(look, texture, (u0, v0), (u1, v1)))
    return uses


def _find_range(look: MeshMaterial, texture: ShaderTexture, snapshot: StageSnapshot) -> Floats | None:
    """Least and greatest coordinates; by face only where a subset has some of the faces."""
    if look.mesh.children:
        values, _ = _read_corners(look, texture, snapshot)
    else:
        values, _ = _read_values(look, texture)
    if not len(values):
        return None
    values = _transform(values, texture.transform)
    # column by column: a twentieth of the time of all at once
    return np.array([[column.min() for column in values.T], [column.max() for column in values.T]])


def _read_values(look: MeshMaterial, texture: ShaderTexture) -> tuple[Floats, str]:
    """Coordinates as the primvar has them, indices applied, and its interpolation."""
    primvar = UsdGeom.PrimvarsAPI(look.mesh.prim).FindPrimvarWithInheritance(texture.primvar)
    values = _as_pairs(primvar.Get()) if primvar else None
    if values is None:
        return np.zeros((0, 2)), ""
    if primvar.IsIndexed():
        indices = as_ints(primvar.GetIndices())
        values = values[indices[(indices >= 0) & (indices < len(values))]]
    return values, str(primvar.GetInterpolation())


def _read_corners(
    look: MeshMaterial, texture: ShaderTexture, snapshot: StageSnapshot
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Coordinates of the faces the material is on, and the face of each; no faces where counts do not fit."""
    values, interpolation = _read_values(look, texture)
    mesh = read_mesh(look.mesh, snapshot)
    if mesh.problem or not len(values):
        return values, np.zeros(0, np.int64)
    faces = np.repeat(np.arange(mesh.face_count), mesh.faces.counts)
    values, faces = _per_corner(values, interpolation, mesh, faces)
    if len(faces):
        chosen = _choose_faces(look, mesh)[faces]
        values, faces = values[chosen], faces[chosen]
    return values, faces


def _per_corner(
    values: Floats, interpolation: str, mesh: MeshFacts, faces: npt.NDArray[np.int64]
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Coordinates per corner where the counts fit; else as they are, with no faces."""
    if interpolation == "faceVarying" and len(values) == len(faces):
        return values, faces
    if interpolation in ("vertex", "varying") and len(values) > mesh.form.most:
        return values[mesh.faces.indices], faces
    return values, faces[:0]


def _choose_faces(look: MeshMaterial, mesh: MeshFacts) -> npt.NDArray[np.bool_]:
    """The faces a material is on: those of its subset, or those no bound subset has."""
    from simwright.checker.facts.material_uses import is_bound_subset

    if look.subset is not None:
        return _mark_faces([look.subset], mesh.face_count)
    return ~_mark_faces([child for child in look.mesh.children if is_bound_subset(child)], mesh.face_count)


def _mark_faces(subsets: list[PrimNode], count: int) -> npt.NDArray[np.bool_]:
    marked = np.zeros(count, bool)
    for subset in subsets:
        indices = as_ints(subset.value("indices"))
        marked[indices[(indices >= 0) & (indices < count)]] = True
    return marked


def _as_pairs(value: Any) -> Floats | None:
    try:
        pairs = np.asarray(value, np.float64)
    except (TypeError, ValueError):
        return None
    if pairs.ndim == 1 and pairs.shape == (2,):
        pairs = pairs.reshape(1, 2)
    return pairs[:, :2] if pairs.ndim == 2 and pairs.shape[1] >= 2 and len(pairs) else None


def _transform(values: Floats, steps: list[Step]) -> Floats:
    """Scale, then turn, then move, as UsdTransform2d does."""
    for scale, rotation, translation in steps:
        angle = np.radians(rotation)
        cosine, sine = np.cos(angle), np.sin(angle)
        scaled = values * np.asarray(scale, np.float64)
        # UsdTransform2d turns counter-clockwise; rows are points, hence the transpose
        turned = scaled @ np.array(((cosine, sine), (-sine, cosine)))
        values = turned + np.asarray(translation, np.float64)
    return values


def find_tiles(use: TextureUse, snapshot: StageSnapshot) -> set[tuple[int, int]]:
    """Integer tiles the faces lie in, if each lies in one; empty where a face spans two (tiling, not UDIM)."""
    values, faces = _read_corners(use.look, use.texture, snapshot)
    if not len(faces):
        return set()
    values = _transform(values, use.texture.transform)
    # corners of one face follow each other
    starts = np.flatnonzero(np.diff(faces, prepend=faces[0] - 1))
    first = np.floor(np.minimum.reduceat(values, starts) + SLACK).astype(np.int64)
    last = np.ceil(np.maximum.reduceat(values, starts) - SLACK).astype(np.int64) - 1
    fits = bool((last <= first).all())
    return {(int(u), int(v)) for u, v in np.unique(first, axis=0)} if fits else set()
