# SPDX-License-Identifier: Apache-2.0
"""Where everything stands: poses and geometry of all prims in the world, in SI units and Z-up.

Prims are known by their path.  A shape whose own numbers and scale are what they were is the same; only of the others
points in the world are compared: of a mesh a few that all its points decide, else the corners of its box.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Tf, Usd, UsdGeom, Vt

from simwright.formats.usd.units import UP_ROTATIONS
from simwright.usd.expected_changes import ExpectedChanges, is_below
from simwright.usd.silence import capture

Array = npt.NDArray[np.float64]
MAX_TIMES = 5
# NaN is equal to nothing and is left out of every comparison of places
_NOWHERE = Gf.Matrix4d(*(16 * [float("nan")]))
_SIZES = {
    "Cube": ("size",), "Sphere": ("radius",), "Cylinder": ("radius", "height", "axis"),
    "Capsule": ("radius", "height", "axis"), "Cone": ("radius", "height", "axis"),
    "Plane": ("width", "length", "axis"),
    "Mesh": ("points", "faceVertexCounts", "faceVertexIndices", "orientation", "normals"),
}  # fmt: skip
_LENGTHS = frozenset({"size", "radius", "height", "width", "length", "points"})
ROUNDING = 2.0**-22
"""Two roundings to single precision, relative to the largest number of a shape."""


@dataclass(slots=True)
class StagePoses:
    """A stage and the world transforms of its prims.

    ``poses`` has a 4x4 matrix (column vectors) for each moment and prim of ``rows``; ``moments`` are the default time
    and a few time samples.  ``unit`` and ``turn`` lead from stage units to SI.
    """

    stage: Usd.Stage
    unit: float = 1.0
    turn: Array = field(default_factory=lambda: np.eye(3))
    moments: list[Usd.TimeCode] = field(default_factory=list)
    rows: dict[str, int] = field(default_factory=dict)
    poses: Array = field(default_factory=lambda: np.zeros((0, 0, 4, 4)))
    same: set[str] = field(default_factory=set)

    @property
    def times(self) -> list[float]:
        """The time samples among the moments."""
        return [moment.GetValue() for moment in self.moments[1:]]


def read_poses(stage: Usd.Stage) -> StagePoses:
    """The outline of a composed stage, instances included."""
    result = StagePoses(stage, UsdGeom.GetStageMetersPerUnit(stage))
    result.turn = UP_ROTATIONS.get(str(UsdGeom.GetStageUpAxis(stage)), result.turn)
    with capture():
        every = Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies())
        prims = [prim for prim in every if prim.IsA(UsdGeom.Xformable)]
        # asking every prim for time samples takes longer than all the rest on a static robot
        times = _choose_times(prims) if _is_moving(stage, prims) else []
        result.moments = [Usd.TimeCode.Default(), *map(Usd.TimeCode, times)]
        result.rows = {prim.GetPath().pathString: row for row, prim in enumerate(prims)}
        result.poses = np.zeros((len(result.moments), len(prims), 4, 4))
        for index, moment in enumerate(result.moments):
            cache = UsdGeom.XformCache(moment)
            matrices = [_read_world(cache, prim) for prim in prims]
            result.poses[index] = np.array(Vt.Matrix4dArray(matrices)).reshape(-1, 4, 4)
    # Gf matrices act on row vectors, everything here on column vectors
    result.poses = result.poses.transpose(0, 1, 3, 2)
    return result


def _read_world(cache: UsdGeom.XformCache, prim: Usd.Prim) -> Gf.Matrix4d:
    try:
        return cache.GetLocalToWorldTransform(prim)
    except Tf.ErrorException:
        return _NOWHERE  # ops that OpenUSD cannot read: nobody knows where it stands


def compare_poses(
    before: StagePoses, after: StagePoses, tolerance: float, *, expected: ExpectedChanges | None = None
) -> list[str]:
    """What differs in the world, in words; ``after`` learns which shapes are the same, number by number.

    ``expected`` are prims that are known to come, go or stand elsewhere.
    """
    known = expected or ExpectedChanges()
    where = {path: known.follow(path) for path in before.rows}
    found = _list_unexpected_paths(where, after, known)
    # moments are matched by their number, since retiming changes their values
    if len(before.moments) != len(after.moments):
        return [*found, "the number of time samples"]
    pairs = [
        (path, now)
        for path, now in where.items()
        if now in after.rows and not is_below(now, known.repositioned)
    ]
    if not pairs:
        return found
    ruler = _PoseComparison(before, after, pairs, tolerance)
    with capture():
        found += [f"where {path} stands" for path in ruler.list_moved(known.reframed)]
        found += [f"the geometry of {path}" for path in ruler.list_reshaped(after.same)]
    return found


def _list_unexpected_paths(where: dict[str, str], after: StagePoses, known: ExpectedChanges) -> list[str]:
    """Prims that are gone or new though no fix said so; ``where`` leads from old paths to those they should have."""
    lost = (path for path, now in where.items() if now not in after.rows)
    gone = sorted(path for path in lost if not is_below(path, known.removed))
    extra = after.rows.keys() - set(where.values())
    new = sorted(path for path in extra if not is_below(path, known.added))
    return [f"that there is {path}" for path in gone] + [f"that there is no {path}" for path in new]


def _is_moving(stage: Usd.Stage, prims: list[Usd.Prim]) -> bool:
    """Can anything change over time?  Clips are not open before somebody asks."""
    if any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers()):
        return True
    return any(prim.HasAuthoredMetadata("clips") for prim in prims)


def have_same_poses(before: StagePoses, after: StagePoses, tolerance: float) -> bool:
    """Are the same prims at the same places, in the same directions and as large, in the same units?"""
    if before.unit != after.unit or not np.array_equal(before.turn, after.turn):
        return False
    if before.rows.keys() != after.rows.keys() or len(before.moments) != len(after.moments):
        return False
    if not before.rows:
        return True
    ruler = _PoseComparison(before, after, [(path, path) for path in before.rows], tolerance)
    return not ruler.list_moved(set()) and bool(ruler.have_same_scales().all())


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


class _PoseComparison:
    """Holds two outlines against each other, in SI units."""

    def __init__(
        self, before: StagePoses, after: StagePoses, pairs: list[tuple[str, str]], tolerance: float
    ) -> None:
        self.sides = (before, after)
        self.pairs = pairs
        self.paths = [now for _, now in pairs]
        self.tolerance = tolerance
        self.poses = tuple(
            side.poses[:, [side.rows[pair[number]] for pair in pairs]]
            for number, side in enumerate(self.sides)
        )
        spots = self._place(self.poses[0][..., :3, 3].reshape(-1, 3), 0)
        spots = spots[np.isfinite(spots).all(axis=1)]
        spread = float(np.linalg.norm(np.ptp(spots, axis=0))) if len(spots) else 0.0
        # the tolerance is relative to the size of the asset; one prim alone has none, so a millimetre [m]
        self.size = max(spread, 1e-3)
        self._has_other_units = before.unit != after.unit

    def list_moved(self, reframed: set[str]) -> list[str]:
        """Prims whose place or direction is another one, at any moment, but for those that have another frame."""
        spots = [self._place(poses[..., :3, 3], side) for side, poses in enumerate(self.poses)]
        turns = [self._find_directions(poses, side) for side, poses in enumerate(self.poses)]
        with np.errstate(invalid="ignore"):
            far = ~(np.abs(spots[0] - spots[1]) <= self.tolerance * self.size).all(axis=-1)
            turned = (np.abs(turns[0] - turns[1]) > self.tolerance).any(axis=(-1, -2))
        # nobody knew where it stood: it may stand anywhere now
        far &= np.isfinite(spots[0]).all(axis=-1)
        moved = [self.pairs[i] for i in np.flatnonzero((far | turned).any(axis=0))]
        return [now for pair in moved if not reframed.intersection(pair) for now in pair[1:]]

    def list_reshaped(self, known: set[str]) -> list[str]:
        """Prims whose geometry in the world is another one, at any moment; ``known`` gets those that never change."""
        same = self.have_same_scales()
        moments = range(len(self.sides[0].moments))
        found = []
        for index, path in enumerate(self.paths):
            prims = [
                side.stage.GetPrimAtPath(at) for side, at in zip(self.sides, self.pairs[index], strict=True)
            ]
            if not prims[0].IsA(UsdGeom.Gprim):
                continue
            # the cheap question first: only shapes whose numbers changed are placed in the world
            if same[index] and all(self._have_same_numbers(prims, moment) for moment in moments):
                known.add(path)
            elif not all(self._have_same_points(prims, index, moment) for moment in moments):
                found.append(path)
        return found

    def have_same_scales(self) -> npt.NDArray[np.bool_]:
        """Are the linear parts of the transforms the same?  They count in units of the stage."""
        linear = [side.turn @ poses[..., :3, :3] for side, poses in zip(self.sides, self.poses, strict=True)]
        with np.errstate(invalid="ignore"):
            allowed = self.tolerance * np.abs(linear[0]).max(axis=(-1, -2), keepdims=True)
            same: npt.NDArray[np.bool_] = (np.abs(linear[0] - linear[1]) <= allowed).all(axis=(0, 2, 3))
        return same

    def _have_same_numbers(self, prims: list[Usd.Prim], moment: int) -> bool:
        names = _SIZES.get(str(prims[0].GetTypeName()))
        # of other types not all sizes are known, so they are compared by their points or boxes
        if names is None or prims[0].GetTypeName() != prims[1].GetTypeName():
            return False
        times = [side.moments[moment] for side in self.sides]
        for name in names:
            one, other = (prim.GetAttribute(name).Get(time) for prim, time in zip(prims, times, strict=True))
            if self._has_other_units and name in _LENGTHS:
                if not self._have_same_lengths(one, other):
                    return False
            elif one != other:
                return False
        return True

    def _have_same_lengths(self, one: Any, other: Any) -> bool:
        """Do two numbers, or arrays of them, say the same lengths in their units, but for rounding?"""
        if one is None or other is None:
            return one is other
        here, there = (
            side.unit * np.asarray(value, dtype=np.float64)
            for side, value in zip(self.sides, (one, other), strict=True)
        )
        if here.shape != there.shape:
            return False
        return not here.size or bool(np.abs(here - there).max() <= ROUNDING * np.abs(here).max())

    def _have_same_points(self, prims: list[Usd.Prim], index: int, moment: int) -> bool:
        points: list[Array | None] = []
        for side, prim in enumerate(prims):
            local = _describe_shape(prim, self.sides[side].moments[moment])
            world = self.poses[side][moment, index]
            placed = None if local is None else self._place(local @ world[:3, :3].T + world[:3, 3], side)
            points.append(placed)
        here, there = points
        if here is None or there is None:
            return here is there
        # points are single precision: a rounding of the largest number is no change
        rounding = 4.0 * float(np.finfo(np.float32).eps) * float(np.abs(here).max())
        allowed = max(self.tolerance * self.size, rounding)
        return here.shape == there.shape and bool(np.all(np.abs(here - there) <= allowed))

    def _find_directions(self, poses: Array, side: int) -> Array:
        """The directions of the axes; how long they are shows in the geometry."""
        linear = poses[..., :3, :3]
        with np.errstate(invalid="ignore", divide="ignore"):
            unit = linear / np.linalg.norm(linear, axis=-2, keepdims=True)
        found: Array = self.sides[side].turn @ unit
        return found

    def _place(self, points: Array, side: int) -> Array:
        result = self.sides[side]
        placed: Array = result.unit * (points @ result.turn.T)
        return placed


def _describe_shape(prim: Usd.Prim, when: Usd.TimeCode) -> Array | None:
    """Points that stand for a shape, in its own frame."""
    if prim.IsA(UsdGeom.PointBased):
        values: Any = UsdGeom.PointBased(prim).GetPointsAttr().Get(when)
        points = np.array(values, dtype=np.float64).reshape(-1, 3) if values else np.zeros((0, 3))
        points = points[np.isfinite(points).all(axis=1)]
        if not len(points):
            return None
        # weighted by their number: two points that change places move this sum, though not the mean
        weights = np.arange(1, len(points) + 1, dtype=np.float64)
        weighted = (weights[:, None] * points).sum(axis=0) / weights.sum()
        return np.vstack((points.mean(axis=0), weighted, points[0], points[-1], points[len(points) // 2]))
    extent = UsdGeom.Boundable.ComputeExtentFromPlugins(UsdGeom.Boundable(prim), when)
    corners = np.array(extent, dtype=np.float64).reshape(-1, 3) if extent else np.zeros((0, 3))
    if len(corners) != 2 or not np.isfinite(corners).all():
        return None
    choice = np.array([[a, b, c] for a in (0, 1) for b in (0, 1) for c in (0, 1)])
    chosen: Array = corners[choice, np.arange(3)]
    return chosen
