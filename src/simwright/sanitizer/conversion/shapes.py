# SPDX-License-Identifier: Apache-2.0
"""Geometry through a linear map: points and normals, sizes of primitives, boxes; exactly, or refused."""

from __future__ import annotations

from typing import Any

import numpy as np
from pxr import Sdf, Usd, UsdGeom

from simwright.sanitizer.conversion.dimensions import AREA_LIGHTS, SHAPES
from simwright.sanitizer.conversion.index import SpecIndex
from simwright.sanitizer.conversion.sites import find_site, rewrite, write_value
from simwright.sanitizer.conversion.values import transform_points
from simwright.usd.edit import Editor, Refused

Array = np.ndarray[Any, Any]
TOLERANCE = 1e-9
_ROUND = {"Cylinder": ("radius",), "Cone": ("radius",), "Cylinder_1": ("radiusTop", "radiusBottom")}
_LETTERS = {"X": 0, "Y": 1, "Z": 2}


def find_factor(linear: Array) -> float | None:
    """The factor of a map that only makes larger or smaller; None for any other."""
    factor = float(linear[0, 0])
    same = np.abs(linear - factor * np.eye(3)).max() <= TOLERANCE * max(abs(factor), 1e-300)
    return factor if same and factor > 0.0 else None


def is_turn(linear: Array) -> bool:
    """Does a map turn and nothing else?"""
    return bool(np.abs(linear @ linear.T - np.eye(3)).max() <= TOLERANCE) and bool(
        np.linalg.det(linear) > 0.0
    )


def can_hold(prim: Usd.Prim, linear: Array) -> bool:
    """Can the own numbers of a shape take up a map?"""
    if prim.IsA(UsdGeom.PointBased):
        return True
    return _find_sizes(prim, linear) is not None


def bake_shape(editor: Editor, index: SpecIndex, prim: Usd.Prim, linear: Array) -> None:
    """Ask for a shape with a map in its own numbers."""
    if np.linalg.det(linear) <= 0.0:
        raise Refused(f"{prim.GetPath()} would be mirrored or flat")
    if prim.IsA(UsdGeom.PointBased):
        _bake_points(editor, index, prim, linear)
        return
    sizes = _find_sizes(prim, linear)
    if sizes is None:
        raise Refused(f"a {prim.GetTypeName()} such as {prim.GetPath()} has no numbers for an uneven scale")
    for name, factor in sizes.items():
        rewrite(editor, index, prim, name, lambda value, f=factor: value * f, fallback=True)  # type: ignore[misc]
    rewrite(editor, index, prim, "extent", lambda box: transform_points(box, np.abs(linear)))


def move_hint(editor: Editor, index: SpecIndex, prim: Usd.Prim, frame: Array) -> None:
    """Ask for the boxes of a model in another frame of its prim."""

    def convert(value: Any) -> Any:
        boxes = np.array(value, dtype=np.float64).reshape(-1, 2, 3)
        choice = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
        corners = boxes[:, choice, np.arange(3)] @ frame[:3, :3].T + frame[:3, 3]
        # a box whose low corner is above its high one is empty: its numbers are no places
        empty = np.any(boxes[:, 0] > boxes[:, 1], axis=1, keepdims=True)
        low = np.where(empty, boxes[:, 0], corners.min(axis=1))
        high = np.where(empty, boxes[:, 1], corners.max(axis=1))
        moved = np.stack((low, high), axis=1).reshape(-1, 3)
        return type(value).FromNumpy(np.ascontiguousarray(moved.astype(np.float32)))

    rewrite(editor, index, prim, "extentsHint", convert)


def _find_sizes(prim: Usd.Prim, linear: Array) -> dict[str, float] | None:
    """Factors of the sizes of a primitive under a map; None if they cannot say it."""
    kind = str(prim.GetTypeName())
    names = SHAPES.get(kind)
    factor = find_factor(linear)
    if names is None:
        return {} if factor == 1.0 else None
    if kind == "Camera":
        return {} if factor is not None else None
    if factor is not None:
        return dict.fromkeys(names, factor)
    diagonal = np.diag(linear)
    if (
        np.abs(linear - np.diag(diagonal)).max() > TOLERANCE * np.abs(diagonal).max()
        or (diagonal <= 0.0).any()
    ):
        return None
    if kind in _ROUND:
        along = _LETTERS.get(str(prim.GetAttribute("axis").Get()), 2)
        # a round shape stays round only if both directions across its axis grow alike
        first, second = (diagonal[i] for i in range(3) if i != along)
        if abs(first - second) > TOLERANCE * first:
            return None
        return {**dict.fromkeys(_ROUND[kind], float(first)), "height": float(diagonal[along])}
    return None


def _bake_points(editor: Editor, index: SpecIndex, prim: Usd.Prim, linear: Array) -> None:
    # one function: points, normals, widths and primvars of a mesh go through one map, each in its own way.
    # Normals are covectors: they go through the inverse transpose
    normals = np.linalg.inv(linear).T
    factor = find_factor(linear)

    def turn_normals(value: Any) -> Any:
        turned = np.array(transform_points(value, normals), dtype=np.float64).reshape(-1, 3)
        lengths = np.linalg.norm(turned, axis=1, keepdims=True)
        unit = np.divide(turned, lengths, out=turned, where=lengths > 0.0)
        return type(value).FromNumpy(np.ascontiguousarray(unit.astype(np.array(value).dtype)))

    def move(value: Any) -> Any:
        return transform_points(value, linear)

    for name in ("points", "velocities", "accelerations", "tangents"):
        rewrite(editor, index, prim, name, move)
    if factor is None:
        rewrite(editor, index, prim, "normals", turn_normals)
    if prim.GetAttribute("widths").HasAuthoredValue() and factor != 1.0:
        width = factor if factor is not None else 1.0 if is_turn(linear) else None
        if width is None:
            raise Refused(f"{prim.GetPath()} has widths, which are no longer round under an uneven scale")
        rewrite(editor, index, prim, "widths", lambda value: type(value)([v * width for v in value]))
    for attribute in prim.GetAuthoredAttributes():
        name = attribute.GetName()
        role = str(attribute.GetRoleName())
        if name.startswith("primvars:") and role in ("Normal", "Vector", "Point") and factor is None:
            rewrite(editor, index, prim, name, turn_normals if role == "Normal" else move)
    _bake_extent(editor, index, prim, move)


def _bake_extent(editor: Editor, index: SpecIndex, prim: Usd.Prim, move: Any) -> None:
    """The box is found anew from the points that were moved."""
    attribute = prim.GetAttribute("extent")
    points = UsdGeom.PointBased(prim).GetPointsAttr()
    # a box that nobody says is computed by everybody, and must not become an opinion
    if not attribute.HasAuthoredValue() or not points.HasAuthoredValue():
        return
    place = find_site(editor, index, prim, lambda name: name == "extent")

    def enclose(time: Usd.TimeCode) -> Any:
        moved = move(points.Get(time))
        return UsdGeom.PointBased.ComputeExtent(moved) if moved else attribute.Get(time)

    samples = {time: enclose(Usd.TimeCode(time)) for time in attribute.GetTimeSamples()}
    value = enclose(Usd.TimeCode.Default()) if attribute.Get() is not None and points.Get() else None
    if value is not None or samples:
        write_value(editor, place, "extent", Sdf.ValueTypeNames.Float3Array, value, samples=samples)


def is_light(prim: Usd.Prim) -> bool:
    """Is it a light with a place of its own?"""
    return str(prim.GetTypeName()) in AREA_LIGHTS or str(prim.GetTypeName()).endswith(("Light", "Light_1"))
