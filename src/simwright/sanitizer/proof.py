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

from pxr import Usd

from simwright.compare.run import compare_assets
from simwright.compare.settings import SECTIONS, Settings
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.packages import PackageMap
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.sanitizer.likeness import Likeness
from simwright.sanitizer.outline import Outline, compare_outlines, draw_outline
from simwright.sanitizer.reframing import reframe_bodies
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
    times: list[float] = field(default_factory=list)
    machines: list[Asset] = field(default_factory=list)
    problem: str = ""
    claims: Mapping[str, str] = field(default_factory=dict)


def read_original(
    path: Path,
    packages: PackageMap,
    selected: Selected = frozenset(),
    claims: Mapping[str, str] | None = None,
) -> Original:
    """Read an asset as stage and as machine, with a selection of variants and claims about units from outside."""
    stage = open_stage(path, packages=packages)
    apply_claims(stage, claims or {})
    for (prim, name), variant in selected:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            stage.GetPrimAtPath(prim).GetVariantSets().SetSelection(name, variant)
    original = Original(draw_outline(stage), claims=claims or {})
    times = original.outline.times
    original.times = [times[i] for i in sorted({0, len(times) // 2, len(times) - 1})] if times else []
    try:
        original.machines = _read_machines(stage, path, original.times)
    except SimwrightError as error:
        original.problem = error.message
    return original


def find_deviations(
    original: Original,
    path: Path,
    packages: PackageMap,
    allowed: Collection[str],
    shifts: Shifts | None = None,
) -> list[Deviation]:
    """What is different in the asset at ``path``, but for sections that are ``allowed`` and ``shifts`` of prims."""
    stage = open_stage(path, packages=packages)
    apply_claims(stage, original.claims)
    drawn = draw_outline(stage)
    found = []
    if STAGE not in allowed:
        found = [
            Deviation(STAGE, text)
            for text in compare_outlines(original.outline, drawn, TOLERANCE, shifts=shifts)
        ]
    if original.problem or found:
        return found
    return _compare_machines(original, drawn, path, allowed, shifts or Shifts())


def _read_machines(stage: Usd.Stage, path: Path, times: list[float]) -> list[Asset]:
    moments: list[float | None] = [None, *times[:_MAX_TIMES]]
    return [read_stage(stage, ReadOptions(time=time), Reporter(), file=str(path)) for time in moments]


def _retime(original: Original, drawn: Outline) -> list[float]:
    """The moments of the original, where an asset may have another rate now."""
    before, after = (outline.stage.GetTimeCodesPerSecond() for outline in (original.outline, drawn))
    return original.times if before == after else [time * after / before for time in original.times]


def _compare_machines(
    original: Original, drawn: Outline, path: Path, allowed: Collection[str], shifts: Shifts
) -> list[Deviation]:
    likeness = Likeness(drawn.same)
    try:
        machines = _read_machines(drawn.stage, path, _retime(original, drawn))
    except SimwrightError as error:
        return [Deviation("machine", f"that the asset can be read: {error.message}")]
    sections = tuple(name for name in SECTIONS if name not in allowed)
    found = []
    expected = [reframe_bodies(machine, shifts.frames) for machine in original.machines]
    for before, after in zip(expected, machines, strict=True):
        if likeness.are_alike(before, after):
            continue
        same = _SHAPES if likeness.have_same_shapes(before, after) else ()
        left = tuple(name for name in sections if name not in same)
        settings = Settings(rtol=TOLERANCE, configurations=_CONFIGURATIONS, sections=left)
        for section in compare_assets(before, after, settings).sections:
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
