# SPDX-License-Identifier: Apache-2.0
"""What a check gives for one asset, the same as plain data, and the baseline: a file of known findings.

Plain data is for the cache and for worker processes.  Only the standard library and core are imported here: a result
that comes from the cache needs no OpenUSD.

A baseline holds fingerprints of findings that are not reported again.  A fingerprint survives moved lines and changed
numbers: it is made of the rule, the asset (relative to the baseline file), the layer (relative to the asset), the
prim, the property and the message without its numbers.  Two equal findings need two entries, so a second occurrence of
a known problem is new.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright import __version__
from simwright.core.diag import Diagnostic, Fix, Fixable, Level, Where
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
        "findings": [_encode_finding(finding) for finding in result.findings],
        "suppressed": [[_encode_finding(item.finding), item.reason] for item in result.suppressed],
        "failed": result.failed,
    }
    # through JSON and back, so that a fresh result and one from the cache are the same to the caller
    decoded: dict[str, Any] = json.loads(json.dumps(plain, default=_simplify))
    return decoded


def decode_result(path: str, plain: Mapping[str, Any]) -> AssetResult:
    """The result of :func:`encode_result`, named ``path``."""
    return AssetResult(
        path=path,
        findings=[_decode_finding(item) for item in plain["findings"]],
        suppressed=[Suppressed(_decode_finding(item), str(reason)) for item, reason in plain["suppressed"]],
        failed=bool(plain["failed"]),
    )


def _encode_finding(finding: Diagnostic) -> dict[str, Any]:
    where = finding.where
    fix = [finding.fix.title, finding.fix.grade.value] if finding.fix else None
    return {
        "kind": finding.kind,
        "level": finding.level.value,
        "message": finding.message,
        "hint": finding.hint,
        "where": [where.file, where.line, where.column, where.prim, where.prop],
        "section": finding.section,
        "data": {str(key): value for key, value in finding.data.items()},
        "fix": fix,
    }


def _decode_finding(plain: Mapping[str, Any]) -> Diagnostic:
    fix = plain["fix"]
    return Diagnostic(
        kind=plain["kind"],
        level=Level(plain["level"]),
        message=plain["message"],
        hint=plain["hint"],
        where=Where(*plain["where"]),
        section=plain["section"],
        data=plain["data"],
        fix=Fix(fix[0], Fixable(fix[1])) if fix else None,
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


def subtract_baseline(results: Iterable[AssetResult], known: Counter[str], path: Path) -> tuple[int, int]:
    """Take known findings out of the results; gives how many, and how many entries no longer occur."""
    root = path.absolute().parent
    left = Counter(known)
    removed = 0
    for result in results:
        kept = []
        for finding in result.findings:
            mark = make_fingerprint(finding, result.path, root)
            if left[mark] > 0:
                left[mark] -= 1
                removed += 1
            else:
                kept.append(finding)
        result.findings = kept
    return removed, sum(left.values())


def _relate(file: str, folder: Path) -> str:
    """The path relative to a folder, with forward slashes; a name that is no path stays as it is."""
    # the identifier of a layer in memory holds an address that differs from run to run
    if file.startswith("anon:"):
        return file.partition(":")[0]
    return Path(os.path.relpath(os.path.realpath(file), os.path.realpath(folder))).as_posix()


def _forget_folders(message: str, root: Path) -> str:
    """The message without the folder this machine keeps the project in."""
    return message.replace(str(root.resolve()), ".")
