# SPDX-License-Identifier: Apache-2.0
"""Texture coordinates where a texture uses them: their range, and whether they lie in tiles (REP-0158 3.1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt
from pxr import UsdGeom

from simwright.check.looks import Look, list_looks
from simwright.check.meshes import MeshFacts, read_mesh

if TYPE_CHECKING:
    from simwright.check.shading import Texture
    from simwright.check.snapshot import Node, Snapshot

Floats: TypeAlias = npt.NDArray[np.float64]
SLACK = 1e-3
"""Coordinates this far outside [0, 1] are still inside: less than a texel of most textures."""


@dataclass(frozen=True, slots=True)
class Use:
    """Texture coordinates of a mesh (or some faces) as one texture sees them: ``low`` and ``high`` corners."""

    look: Look
    texture: Texture
    low: tuple[float, float]
    high: tuple[float, float]
    coordinates: Floats
    faces: npt.NDArray[np.int64]
    """The face of each coordinate; empty where coordinates are not per corner."""

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


def list_uses(snapshot: Snapshot) -> list[Use]:
    """Every texture of the universal network on every mesh that wears it, with coordinates to look at."""
    return snapshot.shared("texcoords", _gather_uses)


def _gather_uses(snapshot: Snapshot) -> list[Use]:
    uses: list[Use] = []
    known: dict[tuple[str, str, str, str], tuple[Floats, npt.NDArray[np.int64]] | None] = {}
    for look in list_looks(snapshot):
        for texture in look.material.textures:
            if not texture.is_universal or not texture.primvar or set(texture.wraps) == {"repeat"}:
                continue
            part = look.subset.path if look.subset else ""
            key = (look.mesh.path, part, texture.primvar, repr(texture.transform))
            if key not in known:
                known[key] = _read_coordinates(look, texture, snapshot)
            found = known[key]
            if found is None:
                continue
            low, high = found[0].min(axis=0), found[0].max(axis=0)
            if np.isfinite(low).all() and np.isfinite(high).all():
                corners = (float(low[0]), float(low[1])), (float(high[0]), float(high[1]))
                uses.append(Use(look, texture, *corners, *found))
    return uses


def _read_coordinates(
    look: Look, texture: Texture, snapshot: Snapshot
) -> tuple[Floats, npt.NDArray[np.int64]] | None:
    primvar = UsdGeom.PrimvarsAPI(look.mesh.prim).FindPrimvarWithInheritance(texture.primvar)
    values = _as_pairs(primvar.Get()) if primvar and primvar.HasValue() else None
    if values is None:
        return None
    indices = np.asarray(primvar.GetIndices() if primvar.IsIndexed() else [], np.int64)
    if len(indices):
        values = values[indices[(indices >= 0) & (indices < len(values))]]
    mesh = read_mesh(look.mesh, snapshot)
    if mesh.problem:
        return None
    faces = np.repeat(np.arange(mesh.face_count), mesh.counts)
    values, faces = _per_corner(values, str(primvar.GetInterpolation()), mesh, faces)
    if len(faces):
        chosen = _choose_faces(look, mesh)[faces]
        values, faces = values[chosen], faces[chosen]
    if not len(values):
        return None
    return _transform(values, texture.transform), faces


def _per_corner(
    values: Floats, interpolation: str, mesh: MeshFacts, faces: npt.NDArray[np.int64]
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Coordinates per corner where the counts fit; else as they are, with no faces."""
    if interpolation == "faceVarying" and len(values) == len(faces):
        return values, faces
    if interpolation in ("vertex", "varying") and len(values) > mesh.form.most:
        return values[mesh.indices], faces
    return values, faces[:0]


def _choose_faces(look: Look, mesh: MeshFacts) -> npt.NDArray[np.bool_]:
    """The faces a material is on: those of its subset, or those no bound subset has."""
    from simwright.check.looks import is_bound_subset

    if look.subset is not None:
        return _mark_faces([look.subset], mesh.face_count)
    return ~_mark_faces([child for child in look.mesh.children if is_bound_subset(child)], mesh.face_count)


def _mark_faces(subsets: list[Node], count: int) -> npt.NDArray[np.bool_]:
    marked = np.zeros(count, bool)
    for subset in subsets:
        indices = np.asarray(subset.value("indices") or [], np.int64)
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


def _transform(values: Floats, steps: list[tuple[Any, float, Any]]) -> Floats:
    """Scale, then turn, then move, as UsdTransform2d does."""
    for scale, rotation, translation in steps:
        angle = np.radians(rotation)
        cosine, sine = np.cos(angle), np.sin(angle)
        scaled = values * np.asarray(scale, np.float64)
        turned = scaled @ np.array(((cosine, sine), (-sine, cosine)))
        values = turned + np.asarray(translation, np.float64)
    return values


def find_tiles(use: Use) -> set[tuple[int, int]]:
    """Integer tiles the faces lie in, if each lies in one; empty where a face spans two (tiling, not UDIM)."""
    if not len(use.faces):
        return set()
    starts = np.flatnonzero(np.diff(use.faces, prepend=use.faces[0] - 1))
    first = np.floor(np.minimum.reduceat(use.coordinates, starts) + SLACK).astype(np.int64)
    last = np.ceil(np.maximum.reduceat(use.coordinates, starts) - SLACK).astype(np.int64) - 1
    fits = bool((last <= first).all())
    return {(int(u), int(v)) for u, v in np.unique(first, axis=0)} if fits else set()
