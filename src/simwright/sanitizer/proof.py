# SPDX-License-Identifier: Apache-2.0
"""The proof: an asset before and after its fixes is the same, but for what the fixes are for.

Two views are compared.  The *stage*: where every prim stands in the world at sampled times, and the geometry there
(:mod:`simwright.sanitizer.stage_changes`).  The *machine*: bodies, masses, inertia, joint frames, limits, drives,
shapes, poses and motion as the neutral model has them (:mod:`simwright.compare`).  Whatever a fix may change, the
machine never has fewer freedoms afterwards.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from pxr import Usd, UsdPhysics

from simwright.compare.difference import SECTIONS, CompareSettings
from simwright.compare.run import compare_assets
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose
from simwright.core.packages import PackageMap
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.asset import ELEMENT_LISTS, Asset, Shape
from simwright.model.geometry import Mesh
from simwright.model.inertia import Inertial
from simwright.model.joint import Joint
from simwright.model.kinematics import build_tree, count_freedoms
from simwright.sanitizer.stage_changes import (
    StagePoses,
    compare_poses,
    compose_alike,
    have_same_poses,
    read_poses,
)
from simwright.usd.claims import apply_claims
from simwright.usd.expected_changes import ExpectedChanges, is_below
from simwright.usd.open import open_stage

if TYPE_CHECKING:
    from simwright.model.asset import Asset

TOLERANCE = 1e-6
"""Relative difference that still counts as the same."""
Selected: TypeAlias = frozenset[tuple[tuple[str, str], str]]
"""Path, variant set and variant."""
STAGE = "stage"
_CONFIGURATIONS = 2
_MAX_TIMES = 3
_SHAPE_SECTIONS = ("visuals", "collisions", "materials")


@dataclass(frozen=True, slots=True)
class Deviation:
    """Something that differs: ``section`` of the comparison, or ``stage``; in words."""

    section: str
    what: str


@dataclass(slots=True)
class Original:
    """What an asset is before anything is changed; read once and held against every state of its copy.

    ``problem`` says why there is no machine to compare, ``claims`` what the user says about units.
    """

    poses: StagePoses
    file: str = ""
    times: list[float] = field(default_factory=list)
    problem: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    _machines: list[Asset] | None = None

    def read_machines(self) -> list[Asset]:
        """The machine at each moment, read when it is first asked for; none where there is a problem."""
        if self._machines is None:
            try:
                self._machines = _read_machines(self.poses.stage, self.file, self.times)
            except SimwrightError as error:
                self._machines, self.problem = [], error.message
        return self._machines


def read_original(
    path: Path,
    packages: PackageMap,
    selected: Selected = frozenset(),
    claims: Mapping[str, str] | None = None,
    *,
    stage: Usd.Stage | None = None,
) -> Original:
    """Read an asset as stage and as machine, with a selection of variants and claims about units from outside.

    ``stage`` is one that is open already; it is used where nothing is said from outside.
    """
    # variants and claims go to the session layer of the stage, which somebody else may be looking at
    if stage is None or selected or claims or path.suffix.lower() == ".usdz":
        stage = open_stage(path, packages=packages)
    apply_claims(stage, claims or {})
    for (prim, name), variant in selected:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            stage.GetPrimAtPath(prim).GetVariantSets().SetSelection(name, variant)
    original = Original(read_poses(stage), str(path), claims=claims or {})
    times = original.poses.times
    # first, middle and last: reading a machine is the expensive part of the proof
    original.times = [times[i] for i in sorted({0, len(times) // 2, len(times) - 1})] if times else []
    return original


def find_deviations(
    original: Original,
    stage: Usd.Stage,
    allowed: Collection[str],
    expected: ExpectedChanges | None = None,
    *,
    only_transforms: bool = False,
    only_layers: bool = False,
) -> list[Deviation]:
    """What is different on a stage, but for sections that are ``allowed`` and ``expected`` of prims.

    ``only_transforms`` says that nothing but transform ops and harmless metadata changed: then a machine whose prims
    all stand as they stood, in the same units, is the same one, and does not have to be read.  ``only_layers`` says
    that opinions should have moved between layers and nothing else: a stage that composes to the same is the same.
    """
    apply_claims(stage, original.claims)
    try:
        # the cheapest proof first
        if only_layers and compose_alike(original.poses.stage, stage):
            return []
        return _find_deviations(original, stage, allowed, expected, only_transforms)
    finally:
        if original.claims:
            # the stage is used for further checks, which have to see what the asset itself says
            stage.GetSessionLayer().Clear()


def _find_deviations(
    original: Original,
    stage: Usd.Stage,
    allowed: Collection[str],
    expected: ExpectedChanges | None,
    only_transforms: bool,
) -> list[Deviation]:
    """Compare poses first, then the machines, which take longer to read."""
    drawn = read_poses(stage)
    if (
        only_transforms
        and have_same_poses(original.poses, drawn, TOLERANCE)
        and _count_alike(original, drawn)
    ):
        return []
    found = []
    if STAGE not in allowed:
        found = [
            Deviation(STAGE, text)
            for text in compare_poses(original.poses, drawn, TOLERANCE, expected=expected)
        ]
    before = original.read_machines()
    # a stage that differs fails already, and a machine that could not be read cannot be compared
    if original.problem or found:
        return found
    if expected is not None and expected.body_frames:
        before = [reframe_bodies(machine, expected.body_frames) for machine in before]
    return _compare_machines(original, before, drawn, allowed, expected or ExpectedChanges())


def _count_alike(original: Original, drawn: StagePoses) -> bool:
    """Do numbers mean the same: kilograms, and seconds where anything changes over time?"""
    stages = (original.poses.stage, drawn.stage)
    masses = {UsdPhysics.GetStageKilogramsPerUnit(stage) for stage in stages}
    rates = {stage.GetTimeCodesPerSecond() for stage in stages}
    moving = len(rates) > 1 and any(
        layer.ListAllTimeSamples() for stage in stages for layer in stage.GetUsedLayers()
    )
    return len(masses) == 1 and not moving


def _read_machines(stage: Usd.Stage, file: str, times: list[float]) -> list[Asset]:
    moments: list[float | None] = [None, *times[:_MAX_TIMES]]
    return [read_stage(stage, ReadOptions(time=time), Reporter(), file=file) for time in moments]


def _retime(original: Original, drawn: StagePoses) -> list[float]:
    """The moments of the original, where an asset may have another rate now."""
    before, after = (poses.stage.GetTimeCodesPerSecond() for poses in (original.poses, drawn))
    return original.times if before == after else [time * after / before for time in original.times]


def _compare_machines(
    original: Original,
    before: list[Asset],
    drawn: StagePoses,
    allowed: Collection[str],
    expected: ExpectedChanges,
) -> list[Deviation]:
    comparison = AssetComparison(drawn.same, expected.follow if expected.moved else str)
    try:
        file = drawn.stage.GetRootLayer().realPath
        machines = _read_machines(drawn.stage, file, _retime(original, drawn))
    except SimwrightError as error:
        return [Deviation("machine", f"that the asset can be read: {error.message}")]
    sections = tuple(name for name in SECTIONS if name not in allowed)
    found = []
    for machine, new in zip(before, machines, strict=True):
        # one function: each shortcut (the same machine, the same shapes) narrows what the next step has to
        # compare
        old = reweigh_bodies(machine, new, expected.reweighed)
        # most fixes end here, without areas, volumes and motions being found
        if comparison.are_alike(old, new):
            continue
        # fixes of loops may say joints in another way; no engine may see fewer freedoms for it
        if "joints" in allowed:
            found += _find_lost_freedoms(_leave_out(old, expected.removed), new)
        same = _SHAPE_SECTIONS if comparison.have_same_shapes(old, new) else ()
        left = tuple(name for name in sections if name not in same)
        settings = CompareSettings(rtol=TOLERANCE, configurations=_CONFIGURATIONS, sections=left)
        for section in compare_assets(old, new, settings).sections:
            found += [
                Deviation(section.name, f"{item.what} of {item.element} from {item.a} to {item.b}")
                for item in section.items
            ]
            found += [
                Deviation(section.name, f"{figure.name} by {figure.error:.3g} at {figure.where}")
                for figure in section.figures
                if not figure.equal
            ]
    return found


def _leave_out(asset: Asset, removed: Collection[str]) -> Asset:
    """The asset without bodies that a fix takes away as a whole, such as the copies of a robot."""
    gone = {body.name for body in asset.bodies if is_below(body.path, removed)}
    if not gone:
        return asset
    return dataclasses.replace(
        asset,
        bodies=[body for body in asset.bodies if body.name not in gone],
        joints=[joint for joint in asset.joints if not gone & {joint.parent, joint.child}],
        equalities=[item for item in asset.equalities if not gone & {item.a, item.b}],
    )


def _find_lost_freedoms(old: Asset, new: Asset) -> list[Deviation]:
    """Has the machine fewer ways to move than before, loops closed?  A loose base that is held now does not count."""
    before, after = count_freedoms(old), count_freedoms(new)
    if after >= before:
        return []
    names = [{dof.name for edge in build_tree(each).edges for dof in edge.joint.dofs} for each in (old, new)]
    lost = sorted(names[0] - names[1])
    listed = f" ({', '.join(lost[:3])}{', ...' if len(lost) > 3 else ''})" if lost else ""
    return [Deviation("freedoms", f"the number of degrees of freedom from {before} to {after}{listed}")]


Frames = Mapping[str, tuple[float, ...]]
"""By path of a body, position and quaternion of its old frame in the new one."""
_SITTING = ("shapes", "sites", "cameras", "lights", "sensors")


def reframe_bodies(asset: Asset, frames: Frames) -> Asset:
    """A copy in which bodies have other frames and everything on them is where it was."""
    # one function: whatever stands on a body has to be carried along, or the two machines differ in places
    turned = {
        body.name: Pose.of(frames[body.path][:3], frames[body.path][3:])
        for body in asset.bodies
        if body.path in frames
    }
    if not turned:
        return asset
    result = asset.copy()
    for body in result.bodies:
        frame = turned.get(body.name)
        if frame is not None:
            # frame: the old one in the new one, so the body stands where the new one is
            body.pose = body.pose @ ~frame
            if body.inertial is not None:
                body.inertial = _turn_inertial(body.inertial, frame)
    for name in _SITTING:
        for element in getattr(result, name):
            if element.body in turned:
                element.pose = turned[element.body] @ element.pose
    for joint in result.joints:
        if joint.parent in turned:
            joint.parent_frame = turned[joint.parent] @ joint.parent_frame
        if joint.child in turned:
            joint.child_frame = turned[joint.child] @ joint.child_frame
    return result


def reweigh_bodies(asset: Asset, other: Asset, paths: Collection[str]) -> Asset:
    """A copy in which the bodies at these paths weigh what they weigh in another asset."""
    weights = {body.path: body.inertial for body in other.bodies if body.path in paths}
    if not weights:
        return asset
    result = asset.copy()
    for body in result.bodies:
        body.inertial = weights.get(body.path, body.inertial)
    return result


def _turn_inertial(inertial: Inertial, frame: Pose) -> Inertial:
    rotation = frame.rotation
    return Inertial(
        inertial.mass, frame.apply(inertial.com), np.array(rotation @ inertial.inertia @ rotation.T)
    )


_SAME_LENGTH = 1e-9
"""Directions of joint frames, and lengths [m] below which nothing is."""
_ROUNDING = 2.0**-22
"""Two roundings to single precision, relative to the number."""
_NOT_COMPARED = frozenset({"source", "path", "file"})
_SHAPE_LISTS = ("shapes", "materials", "physics_materials")


class AssetComparison:
    """Holds two readings against each other.

    ``same`` are paths of meshes that are known to be the same, ``follow`` leads there from those of the first reading.
    Names of shapes do not count: nothing is said of a shape by its name that is not compared elsewhere.
    """

    def __init__(self, same: Collection[str] = (), follow: Callable[[str], str] = str) -> None:
        self.same = same
        self.follow = follow

    def are_alike(self, one: Asset, other: Asset) -> bool:
        """Is every element of one in the other, with the same values?"""
        lists = [(getattr(one, name), getattr(other, name)) for name in ELEMENT_LISTS]
        return all(self._equal(a, b) for a, b in lists) and self._equal(one.environment, other.environment)

    def have_same_shapes(self, one: Asset, other: Asset) -> bool:
        """Do two readings have the same shapes, on the same bodies, at the same places, of the same materials?"""
        return all(self._equal(getattr(one, name), getattr(other, name)) for name in _SHAPE_LISTS)

    def _equal(self, one: Any, other: Any) -> bool:
        if one is other:
            return True
        if type(one) is not type(other):
            return False
        if isinstance(one, str | int | bool):
            return bool(one == other)
        if isinstance(one, np.ndarray):
            return one.shape == other.shape and _near(one, other)
        # one chain by type, cheapest first: it is called for every number of an asset
        if isinstance(one, float):
            return one == other or abs(one - other) <= _ROUNDING * abs(one) or (isnan(one) and isnan(other))
        if isinstance(one, tuple | list):
            return len(one) == len(other) and all(map(self._equal, one, other))
        if isinstance(one, dict):
            return one.keys() == other.keys() and all(self._equal(one[key], other[key]) for key in one)
        return self._equal_objects(one, other)

    def _equal_objects(self, one: Any, other: Any) -> bool:
        if isinstance(one, Pose):
            return _measure_turn(one, other) <= _ROUNDING and _near_lengths(one.p, other.p)
        # one chain for the types that need more than field by field; a joint goes on to its fields below
        if isinstance(one, Joint) and not _turn_alike(one, other):
            return False
        if isinstance(one, Inertial):
            values = ((one.mass, other.mass), (one.inertia, other.inertia))
            return _near_lengths(one.com, other.com) and all(self._equal(a, b) for a, b in values)
        if isinstance(one, Mesh):
            # compare_poses has compared these meshes number by number: their arrays need not be loaded
            known = other.source in self.same and self.follow(one.source) == other.source
            return known or self._equal(one.data, other.data)
        if dataclasses.is_dataclass(one):
            kind: Any = type(one)
            return all(self._equal(getattr(one, name), getattr(other, name)) for name in _list_fields(kind))
        return bool(one == other)


@cache
def _list_fields(kind: Any) -> tuple[str, ...]:
    """Fields of an element that are compared: what it says, not where it was found."""
    left_out = _NOT_COMPARED | {"name"} if kind is Shape else _NOT_COMPARED
    return tuple(field.name for field in dataclasses.fields(kind) if field.name not in left_out)


def _turn_alike(one: Joint, other: Joint) -> bool:
    """Have the frames and axes of a joint the same directions, closer than by rounding?"""
    frames = ((one.parent_frame, other.parent_frame), (one.child_frame, other.child_frame))
    if any(_measure_turn(a, b) > _SAME_LENGTH for a, b in frames):
        return False
    axes = ((a.axis, b.axis) for a, b in zip(one.dofs, other.dofs, strict=False))
    return all(np.array_equal(a, b) or bool(np.abs(a - b).max() <= _SAME_LENGTH) for a, b in axes)


def _measure_turn(one: Pose, other: Pose) -> float:
    if one is other or np.array_equal(one.q, other.q):
        return 0.0
    # q and -q are the same rotation
    return float(min(np.abs(one.q - other.q).max(), np.abs(one.q + other.q).max()))


def _near_lengths(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if np.array_equal(one, other):
        return True
    allowed = max(_SAME_LENGTH, _ROUNDING * float(np.abs(one).max()))
    return bool(np.abs(one - other).max() <= allowed)


def _near(one: np.ndarray[Any, Any], other: np.ndarray[Any, Any]) -> bool:
    if np.array_equal(one, other):
        return True
    if one.dtype.kind != "f" or not one.size:
        return False
    largest = float(np.abs(one).max())
    return bool(np.all(np.abs(one - other) <= _ROUNDING * largest))
