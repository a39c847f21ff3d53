# SPDX-License-Identifier: Apache-2.0
"""For GitHub Actions: workflow commands, which become annotations on the changed lines."""

from __future__ import annotations

from simwright.app.report.report import (
    AssetReport,
    Report,
    find_position,
    name_file,
    name_prim,
    name_section,
    shorten_path,
)
from simwright.core.diag import Diagnostic, Level
from simwright.core.visible import make_visible

_COMMANDS = {Level.ERROR: "error", Level.WARNING: "warning", Level.INFO: "notice"}
_TEXT_ESCAPES = str.maketrans({"%": "%25", "\r": "%0D", "\n": "%0A"})
_PROPERTY_ESCAPES = _TEXT_ESCAPES | str.maketrans({":": "%3A", ",": "%2C"})


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """One command per finding; paths are relative to the working folder, the checkout in a workflow."""
    return "".join(_write_command(asset, finding) + "\n" for asset, finding in report)


def _write_command(asset: AssetReport, finding: Diagnostic) -> str:
    line, column = find_position(finding)
    properties = {
        "file": shorten_path(name_file(asset, finding)),
        "line": str(line or ""),
        "col": str(column or ""),
        "title": finding.kind,
    }
    given = ",".join(
        f"{name}={_escape(text, _PROPERTY_ESCAPES)}" for name, text in properties.items() if text
    )
    return f"::{_COMMANDS[finding.level]} {given}::{_escape(_write_message(finding), _TEXT_ESCAPES)}"


def _write_message(finding: Diagnostic) -> str:
    prim, section = name_prim(finding), name_section(finding)
    lines = [finding.message]
    if prim:
        lines.append(f"at: <{prim}>")
    if finding.hint:
        lines.append(f"help: {finding.hint}")
    if section:
        lines.append(f"note: {section}")
    return "\n".join(lines)


def _escape(text: str, escapes: dict[int, str]) -> str:
    return make_visible(text, keep="\r\n").translate(escapes)
