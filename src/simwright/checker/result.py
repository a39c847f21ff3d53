# SPDX-License-Identifier: Apache-2.0
"""What a check gives for one asset, and the same as plain data for the cache and for worker processes.

Only the standard library and core are imported here: a result that comes from the cache needs no OpenUSD.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Diagnostic, Fix, Fixable, Level, Where


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
