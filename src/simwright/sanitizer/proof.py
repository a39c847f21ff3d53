# SPDX-License-Identifier: Apache-2.0
"""The proof: an asset before and after its fixes is the same, but for what the fixes are for.

Two views are compared.  The *stage*: where every prim stands in the world at sampled times, and the geometry there
(:mod:`simwright.sanitizer.outline`).  The *machine*: bodies, masses, inertia, joint frames, limits, drives, shapes,
poses and motion as the neutral model has them (:mod:`simwright.compare`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from pxr import Usd, UsdPhysics

from simwright.compare.run import compare_assets
from simwright.compare.settings import SECTIONS, Settings
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.packages import PackageMap
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.sanitizer.likeness import Likeness
from simwright.sanitizer.outline import Outline, compare_outlines, draw_outline, stand_alike
from simwright.sanitizer.reframing import reframe_bodies, reweigh_bodies
from simwright.sanitizer.sameness import compose_alike
from simwright.usd.claims import apply_claims
from simwright.usd.open import open_stage
from simwright.usd.shifts import Shifts

if TYPE_CHECKING:
    from simwright.model.asset import Asset

TOLERANCE = 1e-6
"""Relative difference that still counts as the same."""
Selected: TypeAlias = frozenset[tuple[tuple[str, str], str]]
"""Path, variant set and variant."""
STAGE = "stage"
_CONFIGURATIONS = 2
_MAX_TIMES = 3
_SHAPES = ("visuals", "collisions", "materials")


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

    outline: Outline
    file: str = ""
    times: list[float] = field(default_factory=list)
    problem: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)
    _machines: list[Asset] | None = None

    def read_machines(self) -> list[Asset]:
        """The machine at each moment, read when it is first asked for; none where there is a problem."""
        if self._machines is None:
            try:
                self._machines = _read_machines(self.outline.stage, self.file, self.times)
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
    if stage is None or selected or claims or path.suffix.lower() == ".usdz":
        stage = open_stage(path, packages=packages)
    apply_claims(stage, claims or {})
    for (prim, name), variant in selected:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            stage.GetPrimAtPath(prim).GetVariantSets().SetSelection(name, variant)
    original = Original(draw_outline(stage), str(path), claims=claims or {})
    times = original.outline.times
    original.times = [times[i] for i in sorted({0, len(times) // 2, len(times) - 1})] if times else []
    return original


def find_deviations(
    original: Original,
    stage: Usd.Stage,
    allowed: Collection[str],
    shifts: Shifts | None = None,
    *,
    only_transforms: bool = False,
    only_layers: bool = False,
) -> list[Deviation]:
    """What is different on a stage, but for sections that are ``allowed`` and ``shifts`` of prims.

    ``only_transforms`` says that nothing but transform ops and harmless metadata changed: then a machine whose prims
    all stand as they stood, in the same units, is the same one, and does not have to be read.  ``only_layers`` says
    that opinions should have moved between layers and nothing else: a stage that composes to the same is the same.
    """
    apply_claims(stage, original.claims)
    try:
        if only_layers and compose_alike(original.outline.stage, stage):
            return []
        return _find_deviations(original, stage, allowed, shifts, only_transforms)
    finally:
        if original.claims:
            stage.GetSessionLayer().Clear()


def _find_deviations(
    original: Original,
    stage: Usd.Stage,
    allowed: Collection[str],
    shifts: Shifts | None,
    only_transforms: bool,
) -> list[Deviation]:
    drawn = draw_outline(stage)
    if only_transforms and stand_alike(original.outline, drawn, TOLERANCE) and _count_alike(original, drawn):
        return []
    found = []
    if STAGE not in allowed:
        found = [
            Deviation(STAGE, text)
            for text in compare_outlines(original.outline, drawn, TOLERANCE, shifts=shifts)
        ]
    before = original.read_machines()
    if original.problem or found:
        return found
    if shifts is not None and shifts.frames:
        before = [reframe_bodies(machine, shifts.frames) for machine in before]
    return _compare_machines(original, before, drawn, allowed, shifts or Shifts())


def _count_alike(original: Original, drawn: Outline) -> bool:
    """Do numbers mean the same: kilograms, and seconds where anything changes over time?"""
    stages = (original.outline.stage, drawn.stage)
    masses = {UsdPhysics.GetStageKilogramsPerUnit(stage) for stage in stages}
    rates = {stage.GetTimeCodesPerSecond() for stage in stages}
    moving = len(rates) > 1 and any(
        layer.ListAllTimeSamples() for stage in stages for layer in stage.GetUsedLayers()
    )
    return len(masses) == 1 and not moving


def _read_machines(stage: Usd.Stage, file: str, times: list[float]) -> list[Asset]:
    moments: list[float | None] = [None, *times[:_MAX_TIMES]]
    return [read_stage(stage, ReadOptions(time=time), Reporter(), file=file) for time in moments]


def _retime(original: Original, drawn: Outline) -> list[float]:
    """The moments of the original, where an asset may have another rate now."""
    before, after = (outline.stage.GetTimeCodesPerSecond() for outline in (original.outline, drawn))
    return original.times if before == after else [time * after / before for time in original.times]


def _compare_machines(
    original: Original,
    before: list[Asset],
    drawn: Outline,
    allowed: Collection[str],
    shifts: Shifts,
) -> list[Deviation]:
    likeness = Likeness(drawn.same, shifts.follow if shifts.moved else str)
    try:
        file = drawn.stage.GetRootLayer().realPath
        machines = _read_machines(drawn.stage, file, _retime(original, drawn))
    except SimwrightError as error:
        return [Deviation("machine", f"that the asset can be read: {error.message}")]
    sections = tuple(name for name in SECTIONS if name not in allowed)
    found = []
    for machine, new in zip(before, machines, strict=True):
        old = reweigh_bodies(machine, new, shifts.weighed)
        if likeness.are_alike(old, new):
            continue
        same = _SHAPES if likeness.have_same_shapes(old, new) else ()
        left = tuple(name for name in sections if name not in same)
        settings = Settings(rtol=TOLERANCE, configurations=_CONFIGURATIONS, sections=left)
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
