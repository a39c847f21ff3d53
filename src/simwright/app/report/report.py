# SPDX-License-Identifier: Apache-2.0
"""What is rendered: the findings of one or more assets, and the tool that found them."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from simwright import __version__
from simwright.core.diag import Diagnostic, Reporter, count_levels, sort_diagnostics

TOOL_NAME = "simwright"


@dataclass(slots=True)
class AssetReport:
    """The findings of one asset; ``path`` is the file as the user named it."""

    path: str
    findings: list[Diagnostic] = field(default_factory=list)

    def summary(self) -> dict[str, int]:
        """``{"error": n, "warning": n, "info": n}``."""
        return count_levels(self.findings)


@dataclass(slots=True)
class Report:
    """The findings of every asset that was looked at, also of those without findings."""

    assets: list[AssetReport] = field(default_factory=list)
    tool_version: str = __version__

    def summary(self) -> dict[str, int]:
        """``{"error": n, "warning": n, "info": n}`` over all assets."""
        return count_levels(finding for _, finding in self)

    def __iter__(self) -> Iterator[tuple[AssetReport, Diagnostic]]:
        for asset in self.assets:
            for finding in asset.findings:
                yield asset, finding


def build_asset_report(
    path: str | os.PathLike[str], findings: Reporter | Iterable[Diagnostic]
) -> AssetReport:
    """The findings of one asset in the stable order of :func:`~simwright.core.diag.sort_diagnostics`."""
    return AssetReport(os.fspath(path), sort_diagnostics(findings))


def build_report(path: str | os.PathLike[str], findings: Reporter | Iterable[Diagnostic]) -> Report:
    """A report about a single asset."""
    return Report([build_asset_report(path, findings)])
