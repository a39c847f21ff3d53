# SPDX-License-Identifier: Apache-2.0
"""The public functions of ``import simwright``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from simwright.core.diag import Level, Reporter, Where
from simwright.core.errors import StrictError
from simwright.core.packages import find_packages
from simwright.formats.format import ReadOptions
from simwright.formats.table import read_asset
from simwright.model.asset import Asset


def load(
    path: str | os.PathLike[str],
    *,
    format: str | None = None,  # noqa: A002 - the word users know
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    time: float | None = None,
    strict: bool = False,
    reporter: Reporter | None = None,
) -> Asset:
    """Read a robot, prop or scene of any supported format into the neutral model.

    ``packages`` maps ROS package names to folders, in addition to those of the environment;
    ``arguments`` are xacro arguments; ``variants`` and ``time`` choose a USD state.  Findings go to
    ``reporter``; with ``strict``, a finding worse than info raises :class:`StrictError`.
    """
    reporter = Reporter() if reporter is None else reporter
    explicit = {name: Path(folder) for name, folder in (packages or {}).items()}
    options = ReadOptions(
        packages=find_packages(explicit, near=[Path(path).parent]),
        arguments=dict(arguments or {}),
        variants=dict(variants or {}),
        time=time,
    )
    asset = read_asset(path, format_name=format, options=options, reporter=reporter)
    if strict:
        raise_findings(reporter, path)
    return asset


def raise_findings(reporter: Reporter, path: str | os.PathLike[str]) -> None:
    """Raise a StrictError that names the worst finding, if there is one above info."""
    found = sorted((d for d in reporter if d.level is not Level.INFO), key=lambda d: d.level.rank)
    if found:
        more = f" (and {len(found) - 1} more)" if len(found) > 1 else ""
        raise StrictError(
            f"strict mode: {found[0].message}{more}",
            hint=found[0].hint,
            where=found[0].where or Where(str(path)),
        )
