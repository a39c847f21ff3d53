# SPDX-License-Identifier: Apache-2.0
"""What a check gives for one asset, the same as plain data, and the baseline: a file of known findings.

One fault, one finding: REP-0158 asks for many things in several sections, so that a single engine attribute in a
physics layer breaks eight statements.  All of them are checked, and can be selected, ignored and suppressed one by one;
in a report they are one finding, with the others as ``related`` (:func:`group_findings`).

Plain data is for the cache and for worker processes.  Only the standard library and core are imported here: a result
that comes from the cache needs no OpenUSD.

A baseline holds fingerprints of findings that are not reported again.  A fingerprint survives moved lines and changed
numbers: it is made of the rule, the asset (relative to the baseline file), the layer (relative to the asset), the
prim, the property and the message without its numbers.  Two equal findings need two entries, so a second occurrence of
a known problem is new.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright import __version__
from simwright.core.diag import Diagnostic, Fixable, Where, decode_finding, encode_finding
from simwright.core.errors import NotFoundError, ParseError
from simwright.core.files import read_bytes, write_atomic


@dataclass(frozen=True, slots=True)
class Suppressed:
    """A finding that somebody silenced, with the reason given."""

    finding: Diagnostic
    reason: str


@dataclass(slots=True)
class AssetResult:
    """Findings of one asset.

    ``failed`` says that it could not be opened, so no rule ran.  ``files`` are the files it depends on, where
    the caller asked for them; a path that does not exist was looked for in vain.
    """

    path: str
    findings: list[Diagnostic] = field(default_factory=list)
    suppressed: list[Suppressed] = field(default_factory=list)
    failed: bool = False
    files: list[str] = field(default_factory=list)


def encode_result(result: AssetResult) -> dict[str, Any]:
    """The result as JSON data; values in ``data`` that JSON does not have become lists and text."""
    plain = {
        "findings": [encode_finding(finding) for finding in result.findings],
        "suppressed": [[encode_finding(item.finding), item.reason] for item in result.suppressed],
        "failed": result.failed,
    }
    # through JSON and back, so that a fresh result and one from the cache are the same to the caller
    decoded: dict[str, Any] = json.loads(json.dumps(plain, default=_simplify))
    return decoded


def decode_result(path: str, plain: Mapping[str, Any]) -> AssetResult:
    """The result of :func:`encode_result`, named ``path``."""
    return AssetResult(
        path=path,
        findings=[decode_finding(item) for item in plain["findings"]],
        suppressed=[Suppressed(decode_finding(item), str(reason)) for item, reason in plain["suppressed"]],
        failed=bool(plain["failed"]),
    )


def _simplify(value: Any) -> Any:
    """What stands for a value that JSON does not have."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, AbstractSet):
        return sorted(map(str, value))
    return str(value)


BASELINE_VERSION = 1
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")


def make_fingerprint(finding: Diagnostic, asset: str, root: Path) -> str:
    """The fingerprint of a finding of an asset; ``root`` is the folder of the baseline file."""
    where = finding.where
    asset_file = Path(asset).absolute()
    layer = _relate(where.file, asset_file.parent) if where.file else ""
    parts = [
        finding.kind,
        _relate(str(asset_file), root),
        layer,
        where.prim,
        where.prop,
        # a limit that moved from 1.2 to 1.3 is still the same finding
        _NUMBER.sub("#", _forget_folders(finding.message, root)),
    ]
    # file names need not be valid UTF-8
    text = json.dumps(parts).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=16).hexdigest()


def write_baseline(path: Path, results: Iterable[AssetResult]) -> int:
    """Write every finding of the results as known; gives their number."""
    root = path.absolute().parent
    tally: Counter[str] = Counter()
    rows: dict[str, dict[str, object]] = {}
    for result in results:
        for finding in result.findings:
            mark = make_fingerprint(finding, result.path, root)
            tally[mark] += 1
            rows[mark] = {
                "rule": finding.kind,
                "asset": _relate(str(Path(result.path).absolute()), root),
                "prim": finding.where.prim,
                "message": finding.message,
            }
    known = [{"fingerprint": p, "count": tally[p], **rows[p]} for p in rows]
    known.sort(key=lambda row: json.dumps([row["asset"], row["rule"], row["prim"], row["fingerprint"]]))
    document = {"version": BASELINE_VERSION, "tool": f"simwright {__version__}", "findings": known}
    write_atomic(path, json.dumps(document, indent=2) + "\n")
    return sum(tally.values())


def read_baseline(path: Path) -> Counter[str]:
    """Fingerprints and how often each is known."""
    where = Where(str(path))
    try:
        document = json.loads(read_bytes(path))
        if document["version"] != BASELINE_VERSION:
            raise ParseError(
                f"the baseline has version {document['version']!r}, this program reads {BASELINE_VERSION}",
                hint="write it again with --write-baseline",
                where=where,
            )
        rows = document["findings"]
        return Counter({str(row["fingerprint"]): int(row["count"]) for row in rows})
    except NotFoundError:
        raise NotFoundError(
            "there is no such baseline", hint="make it with --write-baseline", where=where
        ) from None
    # the file is edited by people and merged by git: anything may be in it
    except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise ParseError(
            f"is not a baseline: {error}", hint="write it again with --write-baseline", where=where
        ) from None


def subtract_baseline(results: Iterable[AssetResult], known: Counter[str], path: Path) -> int:
    """Take known findings out of the results; gives how many.

    Asked asset by asset it does the same: a fingerprint names the asset.
    """
    root = path.absolute().parent
    # what was met, not what is left: a copy of a large baseline for each asset would cost more than the check
    met: Counter[str] = Counter()
    for result in results:
        kept = []
        for finding in result.findings:
            mark = make_fingerprint(finding, result.path, root)
            if met[mark] < known[mark]:
                met[mark] += 1
            else:
                kept.append(finding)
        result.findings = kept
    return met.total()


def _relate(file: str, folder: Path) -> str:
    """The path relative to a folder, with forward slashes; a name that is not a path stays as it is."""
    # the identifier of a layer in memory holds an address that differs from run to run
    if file.startswith("anon:"):
        return file.partition(":")[0]
    return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(folder))).as_posix()


def _forget_folders(message: str, root: Path) -> str:
    """The message without the folder this machine keeps the project in."""
    return message.replace(str(root.resolve()), ".")


@dataclass(frozen=True, slots=True)
class SharedFault:
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


def _name(finding: Diagnostic) -> Hashable:
    """A name of a property is wrong once for a layer, on however many prims it is."""
    where = finding.where
    return (where.file, where.prop) if where.prop else where.prim


def _place(finding: Diagnostic) -> Hashable:
    where = finding.where
    return where.file, where.line, where.prim, where.prop


CAUSES = (
    SharedFault(
        "engine-specific content in neutral layers, or without its neutral form",
        (
            "proprietary-confined", "isol-vendor-layer", "isol-physics-no-vendor", "isol-decoupled",
            "ros-runtime-artifacts", "xphys-lifecycle", "isol-minimize", "extphys-use", "xphys-no-vendor",
            "proprietary-minimal", "ctrl-vendor-last",
        ),
        _layer,
    ),
    SharedFault(
        "layers that mix geometry, physics, ROS or vendor content",
        (
            "layer-separation", "layer-features-isolated", "layer-base-decomposed", "layer-base-kinematic",
            "layer-geometries-pure", "layer-materials", "layer-physics-file", "layer-ros-file",
            "isol-physics-core-only", "layer-functional", "entry-interface", "struct-aswf",
        ),
        _layer,
    ),
    SharedFault(
        "kinematics inside of payloads",
        ("payload-no-kinematics", "payload-topology-loaded", "iface-outside-payload", "ctx-outside-payload",
         "payload-geo-only"),
        _layer,
    ),
    SharedFault(
        "transforms that are not one translation and one quaternion",
        ("xform-no-matrix", "xform-etl-matrix", "xform-etl-euler", "xform-etl-radians", "xform-minimal-stack"),
        _prim,
    ),
    SharedFault(
        "an array of clones",
        ("no-baked-clones", "canonical-single", "inst-no-phys-clone"),
        _asset,
    ),
    SharedFault(
        "paths that lead out of the asset",
        ("path-no-proprietary", "path-no-absolute", "path-package-uri", "path-self-contained", "path-relative"),
        _place,
    ),
    SharedFault(
        "images of a format that converters do not read",
        ("tex-prohibited", "tex-png-jpeg", "tex-color-jpeg", "tex-data-png", "tex-ktx2", "tex-hdr-dome"),
        _prim,
    ),
    SharedFault(
        "names of physics extensions",
        ("xphys-no-core", "xphys-class-prefix", "xphys-prop-prefix", "xphys-subns", "schema-core"),
        _name,
    ),
    SharedFault("assets without an identifier or a version",
          ("assetinfo-identifier", "assetinfo-version"), _prim),
    SharedFault("models of no kind, or of the wrong one", ("kind-assembly", "kind-component", "kind-hierarchy"), _prim),
)  # fmt: skip
"""Causes that several rules see."""

_BY_CODE = {code: cause for cause in CAUSES for code in cause.codes}


def group_findings(findings: Iterable[Diagnostic]) -> list[Diagnostic]:
    """The findings, those with a common cause as one that has the others as ``related``; none is lost."""
    found = list(findings)
    groups: dict[Hashable, list[int]] = {}
    for index, finding in enumerate(found):
        cause = _BY_CODE.get(finding.kind)
        fault = str(finding.data.get("fault", ""))
        if fault:  # rules that say themselves what it is that others see too
            found[index] = dataclasses.replace(finding, cause=fault)
            # what is about a layer has no prim, or its root
            place = str(finding.data.get("fault_place", finding.where.prim.removesuffix("/")))
            about = fault, place, str(finding.data.get("missing", ""))
            groups.setdefault(about, []).append(index)
        elif cause is not None:
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
    ranked = sorted(members, key=lambda index: (found[index].level.rank, _rank(found[index]), index))
    leaders: dict[str, int] = {}
    for index in ranked:
        if found[index].kind == found[ranked[0]].kind and found[index].level is found[ranked[0]].level:
            leaders.setdefault(_subject(found[index]), index)
    chosen = {index: list[int]() for index in leaders.values()}
    for index in members:
        if index not in chosen:
            chosen[leaders.get(_subject(found[index]), ranked[0])].append(index)
    return [(first, others) for first, others in chosen.items() if others]


def _rank(finding: Diagnostic) -> int:
    """The place of a rule among those that see its cause; else those with a fix go first."""
    cause = _BY_CODE.get(finding.kind)
    if cause is not None and finding.cause == cause.name:
        return cause.codes.index(finding.kind)
    return int(finding.fixable is Fixable.NO)


def _subject(finding: Diagnostic) -> str:
    """The engine a finding is about, where it names one."""
    return str(finding.data.get("vendor", ""))
