# SPDX-License-Identifier: Apache-2.0
"""Where everything stands: poses and geometry of all prims in the world, in SI units and Z-up, as numbers.

A mesh is described by the mean and spread of its points in the world and its area and volume, other shapes by the
corners of their box.  Prims are known by their path.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Usd, UsdGeom

from simwright.usd.silence import capture

Array = npt.NDArray[np.float64]
MAX_TIMES = 5
_Y_TO_Z = np.array([[1.0, 0, 0], [0, 0, -1.0], [0, 1.0, 0]])


@dataclass(slots=True)
class Outline:
    """``poses`` (4x4, column vectors) and ``shapes`` (numbers) of prims by path, one for each moment.

    ``turn`` and ``unit`` lead from stage units to SI; ``times`` are the moments beside the default one.
    """

    unit: float = 1.0
    turn: Array = field(default_factory=lambda: np.eye(3))
    times: list[float] = field(default_factory=list)
    poses: dict[str, list[Array]] = field(default_factory=dict)
    shapes: dict[str, list[Array]] = field(default_factory=dict)


def draw_outline(stage: Usd.Stage) -> Outline:
    """The outline of a composed stage, instances included."""
    outline = Outline(UsdGeom.GetStageMetersPerUnit(stage))
    if UsdGeom.GetStageUpAxis(stage) == UsdGeom.Tokens.y:
        outline.turn = _Y_TO_Z
    with capture():
        prims = [
            prim
            for prim in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
            if prim.IsA(UsdGeom.Xformable)
        ]
        outline.times = _choose_times(prims)
        known: dict[tuple[str, float | None], Array | None] = {}
        for time in [None, *outline.times]:
            _draw_moment(outline, prims, time, known)
    return outline


def compare_outlines(before: Outline, after: Outline, tolerance: float, *, in_si: bool = True) -> list[str]:
    """What differs, in words; the first few prims only."""
    gone = sorted(before.poses.keys() - after.poses.keys())
    new = sorted(after.poses.keys() - before.poses.keys())
    found = [f"that there is {path}" for path in gone] + [f"that there is no {path}" for path in new]
    ruler = _Ruler(before, after, tolerance, in_si=in_si)
    for path, poses in before.poses.items():
        if path in after.poses and not ruler.are_same_poses(poses, after.poses[path]):
            found.append(f"where {path} stands")
    for path, shapes in before.shapes.items():
        if path in after.poses and not ruler.are_same_shapes(shapes, after.shapes.get(path, [])):
            found.append(f"the geometry of {path}")
    return found


def _choose_times(prims: list[Usd.Prim]) -> list[float]:
    """A few moments of all time samples of transforms and points."""
    times: set[float] = set()
    for prim in prims:
        if prim.IsInstanceProxy():
            continue
        times.update(UsdGeom.Xformable(prim).GetTimeSamples())
        if prim.IsA(UsdGeom.PointBased):
            times.update(UsdGeom.PointBased(prim).GetPointsAttr().GetTimeSamples())
    ordered = sorted(times)
    if len(ordered) <= MAX_TIMES:
        return ordered
    last = len(ordered) - 1
    return [ordered[round(last * i / (MAX_TIMES - 1))] for i in range(MAX_TIMES)]


def _draw_moment(
    outline: Outline, prims: list[Usd.Prim], time: float | None, known: dict[Any, Array | None]
) -> None:
    when = Usd.TimeCode.Default() if time is None else Usd.TimeCode(time)
    cache = UsdGeom.XformCache(when)
    for prim in prims:
        path = str(prim.GetPath())
        world = np.array(cache.GetLocalToWorldTransform(prim), dtype=np.float64).T
        outline.poses.setdefault(path, []).append(world)
        if prim.IsA(UsdGeom.Gprim):
            source = prim.GetPrimInPrototype() if prim.IsInstanceProxy() else prim
            key = (str(source.GetPath()), time)
            if key not in known:
                known[key] = _describe_shape(source, when)
            local = known[key]
            if local is not None:
                outline.shapes.setdefault(path, []).append(_place_shape(local, world))


def _describe_shape(prim: Usd.Prim, when: Usd.TimeCode) -> Array | None:
    """Points that stand for a shape: of a mesh four that all its points decide, else the corners of its box."""
    if prim.IsA(UsdGeom.PointBased):
        values = UsdGeom.PointBased(prim).GetPointsAttr().Get(when)
        points = np.array(values, dtype=np.float64).reshape(-1, 3) if values else np.zeros((0, 3))
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return None
        weights = np.arange(1, len(points) + 1, dtype=np.float64)
        weighted = (weights[:, None] * points).sum(axis=0) / weights.sum()
        return np.vstack((points.mean(axis=0), weighted, points[0], points[-1], points.min(0), points.max(0)))
    extent = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), when)
    if not extent:
        return None
    low, high = (np.array(corner, dtype=np.float64) for corner in extent)
    if not np.isfinite([low, high]).all():
        return None
    return np.array([[x[i] for i, x in enumerate(corner)] for corner in _list_corners(low, high)])


def _list_corners(low: Array, high: Array) -> list[tuple[Array, Array, Array]]:
    return [(a, b, c) for a in (low, high) for b in (low, high) for c in (low, high)]


def _place_shape(points: Array, world: Array) -> Array:
    placed: Array = points @ world[:3, :3].T + world[:3, 3]
    return placed


def _measure(outline: Outline) -> float:
    """The size of the scene in its units, which small distances are held against."""
    spots = [pose[None, :3, 3] for moments in outline.poses.values() for pose in moments]
    spots += [shape for shapes in outline.shapes.values() for shape in shapes]
    points = np.concatenate(spots) if spots else np.zeros((0, 3))
    points = points[np.isfinite(points).all(axis=1)]
    return float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))) if len(points) else 1.0


class _Ruler:
    """Holds two outlines against each other, in SI units or as they stand."""

    def __init__(self, before: Outline, after: Outline, tolerance: float, *, in_si: bool) -> None:
        self.sides = (before, after)
        self.tolerance = tolerance
        self.in_si = in_si
        self.size = max(_measure(before) * (before.unit if in_si else 1.0), 1e-3)

    def are_same_poses(self, one: list[Array], other: list[Array]) -> bool:
        """The same places and directions at all moments."""
        if len(one) != len(other):
            return False
        allowed = self.tolerance * self.size
        for pair in zip(one, other, strict=True):
            here, there = (self._place(pose[:3, 3], i) for i, pose in enumerate(pair))
            if np.isfinite(here).all() and not np.all(np.abs(here - there) <= allowed):
                return False
            if not self._are_same_turns(*pair):
                return False
        return True

    def are_same_shapes(self, one: list[Array], other: list[Array]) -> bool:
        """The same points in the world at all moments."""
        if len(one) != len(other):
            return False
        for pair in zip(one, other, strict=True):
            here, there = (self._place(points, i) for i, points in enumerate(pair))
            # points are single precision: a rounding of the largest number is no change
            rounding = 4.0 * float(np.finfo(np.float32).eps) * float(np.abs(here).max())
            if here.shape != there.shape:
                return False
            if not np.all(np.abs(here - there) <= max(self.tolerance * self.size, rounding)):
                return False
        return True

    def _are_same_turns(self, one: Array, other: Array) -> bool:
        """The same directions of the axes; how long they are shows in the geometry."""
        turns = []
        for index, pose in enumerate((one, other)):
            linear = pose[:3, :3]
            lengths = np.linalg.norm(linear, axis=0)
            if not np.isfinite(lengths).all() or np.any(lengths < 1e-12):
                return True
            turn = self.sides[index].turn
            turns.append(turn @ (linear / lengths) @ turn.T if self.in_si else linear / lengths)
        return bool(np.all(np.abs(turns[0] - turns[1]) <= self.tolerance))

    def _place(self, points: Array, index: int) -> Array:
        outline = self.sides[index]
        placed: Array = outline.unit * (points @ outline.turn.T) if self.in_si else points
        return placed
