# SPDX-License-Identifier: Apache-2.0
"""One fault, one finding: findings that have the same cause are attached to one of them.

REP-0158 asks for many things in several sections, so that a single engine attribute in a physics layer breaks eight
statements.  All of them are checked, and can be selected, ignored and suppressed one by one; in a report they are one
finding, with the others as ``related``.  :data:`CAUSES` says which rules have a cause in common and when two of their
findings are about the same thing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass

from simwright.core.diag import Diagnostic


@dataclass(frozen=True, slots=True)
class Cause:
    """Rules that find one fault; the first of them that found something, and found it worst, speaks for all.

    ``about`` gives what a finding is about: findings of these rules that are about the same thing are one.
    """

    name: str
    codes: tuple[str, ...]
    about: Callable[[Diagnostic], Hashable]


def _layer(finding: Diagnostic) -> Hashable:
    return finding.where.file


def _asset(_: Diagnostic) -> Hashable:
    return None


def _prim(finding: Diagnostic) -> Hashable:
    return finding.where.prim


def _property(finding: Diagnostic) -> Hashable:
    return finding.where.prim, finding.where.prop


def _place(finding: Diagnostic) -> Hashable:
    where = finding.where
    return where.file, where.line, where.prim, where.prop


CAUSES = (
    Cause(
        "engine content in neutral layers, or in an engine's words only",
        (
            "proprietary-confined", "isol-vendor-layer", "isol-physics-no-vendor", "isol-decoupled",
            "ros-runtime-artifacts", "xphys-lifecycle", "isol-minimize", "extphys-use", "xphys-no-vendor",
            "proprietary-minimal", "ctrl-vendor-last",
        ),
        _layer,
    ),
    Cause(
        "layers that mix what belongs apart",
        (
            "layer-separation", "layer-features-isolated", "layer-base-decomposed", "layer-base-kinematic",
            "layer-geometries-pure", "layer-materials", "layer-physics-file", "layer-ros-file",
            "isol-physics-core-only", "layer-functional", "entry-interface", "struct-aswf",
        ),
        _layer,
    ),
    Cause(
        "kinematics inside of payloads",
        ("payload-no-kinematics", "payload-topology-loaded", "iface-outside-payload", "ctx-outside-payload",
         "payload-geo-only"),
        _layer,
    ),
    Cause(
        "transforms that are not one translation and one quaternion",
        ("xform-no-matrix", "xform-etl-matrix", "xform-etl-euler", "xform-etl-radians", "xform-minimal-stack"),
        _prim,
    ),
    Cause(
        "an array of clones",
        ("no-baked-clones", "canonical-single", "inst-no-phys-clone"),
        _asset,
    ),
    Cause(
        "paths that lead out of the asset",
        ("path-no-proprietary", "path-no-absolute", "path-package-uri", "path-self-contained", "path-relative"),
        _place,
    ),
    Cause(
        "images of a format that converters do not read",
        ("tex-prohibited", "tex-png-jpeg", "tex-color-jpeg", "tex-data-png", "tex-ktx2", "tex-hdr-dome"),
        _prim,
    ),
    Cause(
        "names of physics extensions",
        ("xphys-no-core", "xphys-class-prefix", "xphys-prop-prefix", "xphys-subns", "schema-core"),
        _property,
    ),
    Cause("an asset that says neither who it is nor which version",
          ("assetinfo-identifier", "assetinfo-version"), _prim),
)  # fmt: skip
"""Causes that several rules see."""

_BY_CODE = {code: cause for cause in CAUSES for code in cause.codes}


def group_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings, those with a common cause as one that has the others as ``related``; none is lost."""
    found = list(findings)
    groups: dict[Hashable, list[int]] = {}
    for index, finding in enumerate(found):
        cause = _BY_CODE.get(finding.kind)
        if cause is not None:
            found[index] = dataclasses.replace(finding, cause=cause.name)
            key = (cause.name, cause.about(finding), str(finding.data.get("variant", "")))
            groups.setdefault(key, []).append(index)
    taken: set[int] = set()
    for members in groups.values():
        for first, others in _divide(found, members):
            related = tuple(found[index] for index in others)
            found[first] = dataclasses.replace(found[first], related=related)
            taken.update(others)
    return [finding for index, finding in enumerate(found) if index not in taken]


def _divide(found: list[Diagnostic], members: list[int]) -> list[tuple[int, list[int]]]:
    """The findings of one group that speak for all, and what each speaks for.

    Where the first rule tells several things apart, as it does engines, each of its findings stays and takes those that
    are about the same engine; the first takes what is about none of them.
    """
    order = _BY_CODE[found[members[0]].kind].codes
    ranked = sorted(
        members, key=lambda index: (found[index].level.rank, order.index(found[index].kind), index)
    )
    leaders: dict[str, int] = {}
    for index in ranked:
        if found[index].kind == found[ranked[0]].kind and found[index].level is found[ranked[0]].level:
            leaders.setdefault(_subject(found[index]), index)
    chosen = {index: list[int]() for index in leaders.values()}
    for index in members:
        if index not in chosen:
            chosen[leaders.get(_subject(found[index]), ranked[0])].append(index)
    return [(first, others) for first, others in chosen.items() if others]


def _subject(finding: Diagnostic) -> str:
    """The engine a finding is about, where it names one."""
    return str(finding.data.get("vendor", ""))
