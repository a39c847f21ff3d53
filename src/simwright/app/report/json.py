# SPDX-License-Identifier: Apache-2.0
"""For programs: JSON as ``schemas/diagnostics.v1.schema.json`` describes it.

The output is strict JSON in ASCII: ``NaN`` and the infinities, which JSON does not have, are strings.
"""

from __future__ import annotations

import enum
import json
import math
import os
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from simwright.app.report.report import TOOL_NAME, AssetReport, Report, find_position, replace_surrogates
from simwright.core.diag import Diagnostic

VERSION = 1
_MAX_DEPTH = 8
_MAX_INTEGER_BITS = 1024


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as JSON text; ``color`` and ``width`` have no meaning here."""
    return json.dumps(build_document(report), indent=2, allow_nan=False) + "\n"


def render_lines(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as JSON lines, one for each asset."""
    return "".join(json.dumps(build_asset(asset), allow_nan=False) + "\n" for asset in report.assets)


def build_document(report: Report) -> dict[str, Any]:
    """The report as plain dictionaries and lists."""
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": replace_surrogates(report.tool_version)},
        "assets": [build_asset(asset) for asset in report.assets],
        "summary": report.summary(),
    }


def build_asset(asset: AssetReport) -> dict[str, Any]:
    """One asset as plain data."""
    return {
        "path": replace_surrogates(asset.path),
        "findings": [_build_finding(finding) for finding in asset.findings],
    }


def _build_finding(finding: Diagnostic) -> dict[str, Any]:
    where = finding.where
    line, column = find_position(finding)
    related = [_build_finding(other) for other in finding.related]
    # only where findings are grouped: most reports have neither
    grouped = {"cause": replace_surrogates(finding.cause), "related": related} if finding.cause else {}
    return {
        "rule": replace_surrogates(finding.kind),
        "level": finding.level.value,
        "message": replace_surrogates(finding.message),
        "hint": _text_or_null(finding.hint),
        "section": _text_or_null(finding.section),
        "prim": _text_or_null(where.prim),
        "property": _text_or_null(where.prop),
        "layer": _text_or_null(where.file),
        "line": line,
        "column": column,
        "fixable": finding.fixable.value,
        "data": plain_value(finding.data),
        **grouped,
    }


def _text_or_null(text: str) -> str | None:
    return replace_surrogates(text) if text else None


def plain_value(value: Any, depth: int = 0) -> Any:
    """Any value as strict JSON data: numpy as numbers and lists, paths and strangers as text."""
    # the order of these tests matters, so they stay in one function: True is an int, a StrEnum is a
    # text, and a numpy float is a float
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, enum.Enum):
        return plain_value(value.value, depth + 1)
    if isinstance(value, str | os.PathLike):
        return replace_surrogates(_describe(value))
    if isinstance(value, int | float):
        return _plain_number(value)
    # data of findings may come from plugins, and may hold itself
    if depth >= _MAX_DEPTH:
        return replace_surrogates(_describe(value))
    if isinstance(value, Mapping):
        return {replace_surrogates(_describe(k)): plain_value(v, depth + 1) for k, v in value.items()}
    if isinstance(value, AbstractSet):
        # sets have no order of their own, and equal findings are to give equal reports
        return [plain_value(item, depth + 1) for item in sorted(value, key=_describe)]
    if isinstance(value, list | tuple):
        return [plain_value(item, depth + 1) for item in value]
    if hasattr(value, "tolist"):
        return plain_value(value.tolist(), depth + 1)
    return replace_surrogates(_describe(value))


def _plain_number(value: float) -> float | str:
    if isinstance(value, int):
        # Python refuses to write integers of more than 4300 digits; few readers take more than a double
        # holds anyway
        return int(value) if value.bit_length() <= _MAX_INTEGER_BITS else f"{value:#x}"
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    return float(value)


def _describe(value: object) -> str:
    try:
        return str(value)
    except Exception:  # noqa: BLE001 - a stranger's __str__ may fail in any way
        return f"<{type(value).__name__}>"
