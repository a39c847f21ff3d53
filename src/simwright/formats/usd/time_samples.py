# SPDX-License-Identifier: Apache-2.0
"""Time samples: a value for attributes that have nothing else, and the movement of what is rigid.

At the default time OpenUSD gives an attribute with samples alone no value, so an animated body would jump to the
origin: ``settle_samples`` makes first samples defaults, in a layer above a second stage.  ``read_movement`` samples
transforms at every frame as well as at every authored time, since OpenUSD interpolates operations and others
interpolate placements.  Everything else that changes over time is read at one moment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from pxr import Sdf, Usd, UsdGeom

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.math3d import Array, Pose, matrices_from_quats
from simwright.formats.usd.primitives import find_axis_turn
from simwright.formats.usd.stage_reader import StageReader
from simwright.formats.usd.transforms import are_sound, decompose_many
from simwright.model.asset import Camera, Light, Shape, scaled
from simwright.model.elements import Movement, Track
from simwright.usd.open import open_again
from simwright.usd.silence import capture

SAMPLES_FIRST = declare(
    "usd-samples-first",
    Level.WARNING,
    "{count} attribute(s) have time samples but no default value, the first is {first}; the first sample "
    "of each is read",
    hint="choose the time code to read at",
    doc="The model holds one moment. Without a chosen time that is the default time, at which these "
    "attributes have no value.",
)
SAMPLES_INSTANCED = declare(
    "usd-samples-instanced",
    Level.WARNING,
    "{count} attribute(s) inside instances have time samples but no default value, the first is {first}; "
    "their schema's fallback is read",
    hint="choose the time code to read at",
    doc="Values inside instances cannot be changed from above, so the first sample cannot be put in.",
)

_UNSET = (Usd.ResolveInfoSourceNone, Usd.ResolveInfoSourceFallback)


def is_animated(stage: Usd.Stage) -> bool:
    """Has a layer of the stage time samples?  Asked of layers, since there are fewer of them than attributes."""
    return any(layer.ListAllTimeSamples() for layer in stage.GetUsedLayers())


def settle_samples(stage: Usd.Stage, file: str, reporter: Reporter) -> Usd.Stage:
    """An animated stage with the first samples as defaults; the same stage if all that move have a default."""
    own, instanced = _find_sampled(stage)
    for kind, found in ((SAMPLES_FIRST, own), (SAMPLES_INSTANCED, instanced)):
        if found:
            first = found[0]
            where = Where(file, prim=str(first.GetPrimPath()), prop=first.name)
            reporter.report(kind, where, count=len(found), first=first)
    return _put_first(stage, own) if own else stage


def _find_sampled(stage: Usd.Stage) -> tuple[list[Sdf.Path], list[Sdf.Path]]:
    """Attributes with nothing but samples, outside and inside of instances."""
    own: list[Sdf.Path] = []
    instanced: list[Sdf.Path] = []
    everything = Usd.TraverseInstanceProxies(Usd.PrimDefaultPredicate)
    for prim in Usd.PrimRange(stage.GetPseudoRoot(), everything):
        for attribute in prim.GetAuthoredAttributes():
            if attribute.GetNumTimeSamples() == 0:
                continue
            if attribute.GetResolveInfo(Usd.TimeCode.Default()).GetSource() in _UNSET:
                (instanced if prim.IsInstanceProxy() else own).append(attribute.GetPath())
    return own, instanced


def _put_first(stage: Usd.Stage, paths: list[Sdf.Path]) -> Usd.Stage:
    session = Sdf.Layer.CreateAnonymous("samples.usda")
    # the session layer of the caller comes along: it holds the variants that were chosen
    session.subLayerPaths = [stage.GetSessionLayer().identifier]
    with capture():
        # opened without payloads, then given the load rules of the caller: the same prims are loaded
        twin = open_again(stage, session, load=False)
        twin.SetLoadRules(stage.GetLoadRules())
    values = [(path, stage.GetAttributeAtPath(path).Get(Usd.TimeCode.EarliestTime())) for path in paths]
    with Usd.EditContext(twin, session):
        for path, value in values:
            if value is not None:
                twin.GetAttributeAtPath(path).Set(value)
    return twin


SAMPLES_STATIC = declare(
    "usd-samples-static",
    Level.WARNING,
    "{count} attribute(s) other than transforms change over time, the first is {first}; they are read at one moment, "
    "the other samples are left out",
    hint="choose the time code to read at",
    doc="The model holds the movement of what is rigid, and one moment of everything else.",
    loss=True,
)
MOVEMENT_LONG = declare(
    "usd-movement-long",
    Level.WARNING,
    "the movement has {count} times of {parts} part(s), more than the {limit} placements that are read; it is left out",
    hint="export a shorter range",
    doc="A movement is held in memory whole, so its size is bounded.",
    loss=True,
)
MAX_PLACEMENTS = 2_000_000
"""Placements of all parts at all times of a movement."""
# longer ranges are taken at the authored times only
_MAX_FRAMES = 4000
# metres, parts of quaternions, scales: below, a track is constant but for rounding
_STILL = 1e-9


def read_movement(reader: StageReader) -> None:
    """Fill the asset's movement from the stage as it was opened."""
    stage = reader.played
    if stage is None or not reader.animated:
        return
    _report_static(reader, stage)
    walk = _MovingPrims(stage)
    asset = reader.asset
    elements: tuple[Any, ...] = (*asset.bodies, *asset.shapes, *asset.cameras, *asset.lights)
    parts = [
        element
        for element in elements
        if element.path and not getattr(element, "instancer", "") and walk.is_moving(element.path)
    ]
    codes = _list_codes(stage, walk.times)
    if not parts or len(codes) < 2:
        return
    if len(parts) * len(codes) > MAX_PLACEMENTS:
        where = Where(reader.file)
        reader.reporter.report(MOVEMENT_LONG, where, count=len(codes), parts=len(parts), limit=MAX_PLACEMENTS)
        return
    asset.motion = _sample(reader, stage, parts, codes) or None


class _MovingPrims:
    """Which prims move, and at which times they say so; every prim is asked once."""

    def __init__(self, stage: Usd.Stage) -> None:
        self.times: set[float] = set()
        self._stage = stage
        self._moving: dict[Sdf.Path, bool] = {Sdf.Path.absoluteRootPath: False}

    def is_moving(self, path: str) -> bool:
        """Does a prim or anything above it move?"""
        chain = []
        place = Sdf.Path(path)
        while place not in self._moving:
            chain.append(place)
            place = place.GetParentPath()
        moving = self._moving[place]
        for place in reversed(chain):
            moving = self._look(self._stage.GetPrimAtPath(place), moving)
            self._moving[place] = moving
        return moving

    def _look(self, prim: Usd.Prim, moving: bool) -> bool:
        xformable = UsdGeom.Xformable(prim) if prim else None
        if not xformable:
            return moving
        # what moves above is not inherited then
        if xformable.GetResetXformStack():
            moving = False
        if not xformable.TransformMightBeTimeVarying():
            return moving
        self.times.update(xformable.GetTimeSamples())
        return True


def _list_codes(stage: Usd.Stage, times: set[float]) -> list[float]:
    """Authored times, and frames between them where values are interpolated."""
    codes = sorted(time for time in times if np.isfinite(time))
    if len(codes) < 2 or stage.GetInterpolationType() == Usd.InterpolationTypeHeld:
        return codes
    first, last = int(np.ceil(codes[0])), int(np.floor(codes[-1]))
    if last - first > _MAX_FRAMES:
        return codes
    return sorted({*codes, *map(float, range(first, last + 1))})


# bodies first, then what stands on them: local tracks need the tracks of their bodies
def _sample(reader: StageReader, stage: Usd.Stage, parts: Sequence[Any], codes: list[float]) -> Movement:
    worlds = _compute_worlds(stage, parts, codes)
    sound = [are_sound(matrices.transpose(0, 2, 1)) for matrices in worlds]
    if not all(sound):  # said where the prims themselves are placed
        parts = [part for part, is_sound in zip(parts, sound, strict=True) if is_sound]
        worlds = worlds[sound]
    worlds = reader.units.convert_matrices(worlds.reshape(-1, 4, 4)).reshape(worlds.shape)
    movement = _make_movement(stage, codes)
    rigid = {
        part.name: place for part, place in zip(parts, worlds, strict=True) if part in reader.asset.bodies
    }
    bodies = {name: _make_track(matrices) for name, matrices in rigid.items()}
    movement.bodies.update({name: track for name, track in bodies.items() if _changes(track)})
    poses = {body.name: body.pose for body in reader.asset.bodies}
    for part, matrices in zip(parts, worlds, strict=True):
        if part.name in rigid and part in reader.asset.bodies:
            continue
        local = _see_from(bodies.get(part.body), poses.get(part.body), matrices)
        track = _track_part(reader, part, local)
        if _changes(track):
            _choose_table(movement, part)[part.name] = track
    return movement


def _compute_worlds(stage: Usd.Stage, parts: Sequence[Any], codes: list[float]) -> Array:
    """``(parts, codes, 4, 4)`` column-vector matrices in stage units."""
    prims = [stage.GetPrimAtPath(part.path) for part in parts]
    worlds = np.empty((len(parts), len(codes), 4, 4))
    for number, code in enumerate(codes):
        # one cache per time: a cache answers for the time it was made with
        cache = UsdGeom.XformCache(Usd.TimeCode(code))
        found = [np.array(cache.GetLocalToWorldTransform(prim), dtype=np.float64) for prim in prims]
        worlds[:, number] = np.array(found).transpose(0, 2, 1)
    return worlds


def _make_movement(stage: Usd.Stage, codes: list[float]) -> Movement:
    """A movement without tracks; time zero [s] is where the stage starts to play, or the first sample before."""
    start = codes[0]
    if stage.HasAuthoredTimeCodeRange():
        start = min(start, stage.GetStartTimeCode())
    rate = stage.GetTimeCodesPerSecond() or 24.0
    return Movement(
        times=(np.array(codes) - start) / rate,
        stepped=stage.GetInterpolationType() == Usd.InterpolationTypeHeld,
    )


def _choose_table(movement: Movement, part: Any) -> dict[str, Track]:
    tables: Iterable[tuple[type, dict[str, Track]]] = (
        (Shape, movement.shapes),
        (Camera, movement.cameras),
        (Light, movement.lights),
    )
    return next(table for kind, table in tables if isinstance(part, kind))


def _see_from(body: Track | None, pose: Pose | None, worlds: Array) -> Array:
    """Matrices in the frame of a body that may move."""
    if body is None:
        return worlds if pose is None else np.asarray((~pose).matrix @ worlds)
    turns = matrices_from_quats(body.rotations).transpose(0, 2, 1)
    local = worlds.copy()
    local[:, :3, 3] -= body.positions
    local[:, :3] = turns @ local[:, :3]
    return local


def _track_part(reader: StageReader, part: Any, local: Array) -> Track:
    """The track of a shape, camera or light; a scale the geometry has already is taken out of it."""
    found = reader.founds.get(part.path)
    if not isinstance(part, Shape) or found is None:
        return _make_track(local)
    turn = find_axis_turn(reader, found)
    rest = reader.place_on([reader.body_of(found.owner)], reader.world_matrices([found]))
    if turn is not None:
        for matrices in (local, rest):
            matrices[:, :3, :3] = matrices[:, :3, :3] @ turn.rotation
    track = _make_track(local)
    # shapes have their scale folded into their size: the track is relative to it
    size = np.where(np.abs(usual := decompose_many(rest)[0].scale) > 1e-12, usual, 1.0)
    return Track(track.positions, track.rotations, track.scales / size * scaled(part))


def _make_track(matrices: Array) -> Track:
    placements = decompose_many(matrices)
    return Track(
        np.array([placement.pose.p for placement in placements]),
        np.array([placement.pose.q for placement in placements]),
        np.array([placement.scale for placement in placements]),
    )


def _changes(track: Track) -> bool:
    rows: tuple[npt.NDArray[Any], ...] = (track.positions, track.rotations, track.scales)
    return any(float(np.ptp(values, axis=0).max()) > _STILL for values in rows)


def _report_static(reader: StageReader, stage: Usd.Stage) -> None:
    """Say which samples are not transforms."""
    found = [
        path
        for layer in stage.GetUsedLayers()
        for path in _list_sampled(layer)
        if not path.name.startswith("xformOp")
    ]
    if found:
        first = min(found)
        reader.reporter.report(
            SAMPLES_STATIC,
            Where(reader.file, prim=str(first.GetPrimPath()), prop=first.name),
            count=len(found),
            first=first,
        )


def _list_sampled(layer: Sdf.Layer) -> list[Sdf.Path]:
    if not layer.ListAllTimeSamples():
        return []
    paths: list[Sdf.Path] = []

    def look(path: Sdf.Path) -> None:
        if path.IsPropertyPath() and layer.GetNumTimeSamplesForPath(path) > 1:
            paths.append(path)

    layer.Traverse(Sdf.Path.absoluteRootPath, look)
    return paths
