# SPDX-License-Identifier: Apache-2.0
"""What edits changed on a stage, as OpenUSD itself tells, and where every prim stands before and after.

What a fix says it does is not asked: a machine is what its stage says.  Where nothing changed but how transforms are
written, and metadata that no machine is made of, it is enough to compare where prims stand
(:class:`StageChanges`).  Where opinions only moved between layers it is enough that both stages compose to the same
(:func:`compose_alike`).

Poses and geometry of all prims are taken in the world, in SI units and Z-up.  Prims are known by their path.  A shape
whose own numbers and scale are what they were is the same; only of the others points in the world are compared: of a
mesh a few that all its points decide, else the corners of its box.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Gf, Sdf, Tf, Usd, UsdGeom, UsdPhysics, Vt

from simwright.formats.usd.units import UP_ROTATIONS
from simwright.usd.edit import Edit
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
        # points are single precision: a rounding of the largest number is not a change
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


_OPS, _ORDER = "xformOp:", "xformOpOrder"
STAGE_METADATA = frozenset({
    "kilogramsPerUnit", "metersPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond", "defaultPrim",
    "documentation", "comment",
})  # fmt: skip
"""What a stage may say of itself without being another machine, as long as its numbers mean the same."""
PRIM_METADATA = frozenset({"kind", "assetInfo", "documentation", "comment", "displayName"})
"""What a prim may say of itself without being a part of another machine."""


class StageChanges:
    """Changes of all watched blocks of edits together.

    ``recomposed`` says that prims may have come, gone or got other arcs, ``only_transforms`` that apart from metadata
    nothing but transform ops changed, ``only_layers`` that nothing but metadata did outside of blocks that only move
    opinions between layers.
    """

    def __init__(self) -> None:
        self.recomposed = False
        self.only_transforms = True
        self.only_layers = True
        self._is_more = False
        self._has_apis = False
        self._roots: list[Sdf.Path] = []

    @contextmanager
    def watch(self, stage: Usd.Stage) -> Iterator[None]:
        """Take down what happens to a stage."""
        key = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._listen, stage)
        try:
            yield
        finally:
            key.Revoke()

    def classify_edits(self, edits: Iterable[Edit], *, within_layers: bool = False) -> None:
        """Say what the edits of a block were: of what is composed anew OpenUSD does not tell the parts.

        ``within_layers`` says that they are meant to move opinions between layers, which has to be proven.
        """
        roots, self._roots = self._roots, []
        has_apis, self._has_apis = self._has_apis, False
        made = list(edits)
        # OpenUSD resyncs a root for harmless metadata too, and does not say what else changed below it
        if roots and not all(_is_metadata(edit, roots) for edit in made):
            self._recompose()
        # the same: with an applied schema a prim is resynced as a whole
        if has_apis and not all(_is_within(edit) for edit in made):
            self._recompose()
        self.only_layers &= within_layers or not self._is_more
        self._is_more = False

    def _recompose(self) -> None:
        self.recomposed, self.only_transforms, self._is_more = True, False, True

    def _listen(self, notice: Any, _: Any) -> None:
        for path in notice.GetResyncedPaths():
            if path.IsPropertyPath():
                self._is_more = True
                self.only_transforms &= _is_op(path)
            elif path.IsAbsoluteRootPath() or _is_harmless(path, notice):
                self._roots.append(path)
            elif set(notice.GetChangedFields(path)) == {"apiSchemas"}:
                self.only_transforms, self._is_more, self._has_apis = False, True, True
            else:
                self._recompose()
        for path in notice.GetChangedInfoOnlyPaths():
            # both answers are known: the rest of thousands of paths need not be asked
            if self._is_more and not self.only_transforms:
                return
            is_op = _is_op(path)
            if is_op or not _is_harmless(path, notice):
                self._is_more = True
                self.only_transforms &= is_op


def _is_metadata(edit: Edit, roots: list[Sdf.Path]) -> bool:
    """Is it one of a layer or prim that was composed anew, and harmless; or elsewhere?"""
    if not any(edit.path.HasPrefix(root) for root in roots):
        return True
    known = STAGE_METADATA if edit.path.IsAbsoluteRootPath() else PRIM_METADATA
    return edit.path in roots and edit.what.partition(" = ")[0] in known


def _is_within(edit: Edit) -> bool:
    """Is it about a property or an applied schema, so that no prims can come and no arcs lead elsewhere?"""
    return bool(edit.path.IsPropertyPath()) or "apiSchemas: " in edit.what


def _is_harmless(path: Sdf.Path, notice: Any) -> bool:
    """Did nothing but metadata change that no machine is made of?  Units are compared as numbers."""
    fields = notice.GetChangedFields(path)
    known = (
        STAGE_METADATA if path.IsAbsoluteRootPath() else PRIM_METADATA if path.IsPrimPath() else frozenset()
    )
    return bool(fields) and known.issuperset(fields)


def _is_op(path: Sdf.Path) -> bool:
    return bool(path.IsPropertyPath()) and (path.name.startswith(_OPS) or path.name == _ORDER)


_SCHEMAS = "apiSchemas"
_CHILD_ORDERS = frozenset({"primOrder", "propertyOrder"})
"""Fields by which an order of children comes about; the order itself is compared."""


def compose_alike(before: Usd.Stage, after: Usd.Stage) -> bool:
    """Is everything that one stage says said by the other, and nothing else?

    Not counted are metadata that no machine is made of, the order in which schemas are applied, and the folder of the
    asset in addresses of its files.
    """
    prims = _list_prims(before)
    if not _count_alike(before, after) or prims != _list_prims(after):
        return False
    with capture():
        return _FlatDifference(before, after, prims).are_nothing()


def _count_alike(before: Usd.Stage, after: Usd.Stage) -> bool:
    """Do numbers mean the same?"""
    units: list[Any] = [
        (
            UsdGeom.GetStageMetersPerUnit(stage),
            UsdPhysics.GetStageKilogramsPerUnit(stage),
            UsdGeom.GetStageUpAxis(stage),
            stage.GetTimeCodesPerSecond(),
        )
        for stage in (before, after)
    ]
    return bool(units[0] == units[1])


def _list_prims(stage: Usd.Stage) -> list[Sdf.Path]:
    """Paths of all prims of a stage, in their order."""
    every = Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate)
    return [prim.GetPath() for prim in every]


def _equalize_metadata(mirror: Sdf.Layer, wanted: Sdf.Layer, prims: list[Sdf.Path]) -> None:
    """Let what does not count be the same: OpenUSD tells of a prim that is composed anew, not what changed below it."""
    # one loop over prims: what does not count has to be equal before OpenUSD is asked for differences, or
    # every
    # prim with another kind or order would count as composed anew
    with Sdf.ChangeBlock():
        for path in prims:
            old, new = mirror.GetObjectAtPath(path), wanted.GetObjectAtPath(path)
            if old is None or new is None:
                continue
            for key in STAGE_METADATA if path.IsAbsoluteRootPath() else PRIM_METADATA:
                _copy_field(old, new, key)
            for key in _CHILD_ORDERS:
                _copy_field(old, new, key)
            if old.HasInfo(_SCHEMAS) and new.HasInfo(_SCHEMAS):
                lists = [spec.GetInfo(_SCHEMAS) for spec in (old, new)]
                applied = [sorted(listed.GetAppliedItems()) for listed in lists]
                # list operations differ where layers were merged, though the same schemas are applied
                if lists[0] != lists[1] and applied[0] == applied[1]:
                    old.SetInfo(_SCHEMAS, lists[1])


def _copy_field(old: Any, new: Any, key: str) -> None:
    if new.HasInfo(key):
        if not old.HasInfo(key) or old.GetInfo(key) != new.GetInfo(key):
            old.SetInfo(key, new.GetInfo(key))
    elif old.HasInfo(key):
        old.ClearInfo(key)


class _FlatDifference:
    """What has to be changed on one stage to make it the other: ``composed`` anew, or only with another value."""

    def __init__(self, before: Usd.Stage, after: Usd.Stage, prims: list[Sdf.Path]) -> None:
        self.stages = (before, after)
        self.folders = tuple(Path(stage.GetRootLayer().realPath).parent for stage in self.stages)
        self.composed: list[Sdf.Path] = []
        self.values: dict[Sdf.Path, set[str]] = {}
        # flattening leaves one layer of plain opinions, whatever layers they came from
        mirror = before.Flatten(addSourceFileComment=False)
        wanted = after.Flatten(addSourceFileComment=False)
        _equalize_metadata(mirror, wanted, prims)
        # a flattened layer has no arcs but those to its own prototypes, so nothing is loaded
        watched = Usd.Stage.Open(mirror, Usd.Stage.LoadNone)
        key = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._listen, watched)
        try:
            mirror.TransferContent(wanted)
        finally:
            key.Revoke()

    def _listen(self, notice: Any, _: Any) -> None:
        self.composed += notice.GetResyncedPaths()
        for path in notice.GetChangedInfoOnlyPaths():
            self.values.setdefault(path, set()).update(notice.GetChangedFields(path))

    def are_nothing(self) -> bool:
        """Does nothing change but folders in addresses?"""
        # addresses are defaults; time samples or metadata that differ are real differences
        if self.composed or any(fields != {"default"} for fields in self.values.values()):
            return False
        return all(map(self._names_same, self.values))

    def _names_same(self, path: Sdf.Path) -> bool:
        """Does an attribute name the same files of the asset?"""
        one, other = (
            _list_files(stage.GetAttributeAtPath(path), folder)
            for stage, folder in zip(self.stages, self.folders, strict=True)
        )
        return one is not None and one == other


def _list_files(attribute: Usd.Attribute, folder: Path) -> list[str] | None:
    """Files that an attribute names, those of the asset as seen from its folder; None if it names none."""
    value: Any = attribute.Get() if attribute else None
    if isinstance(value, Sdf.AssetPath):
        value = [value]
    elif not isinstance(value, Sdf.AssetPathArray):
        return None
    found = []
    for item in value:
        file = Path(item.resolvedPath or item.path)
        found.append(file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file))
    return found
