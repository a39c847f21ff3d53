# SPDX-License-Identifier: Apache-2.0
"""For counting: a line with the code of every finding."""

from __future__ import annotations

from simwright.app.report.report import Report


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """One code a line."""
    return "".join(f"sketch {finding.kind}\n" for _, finding in report)
