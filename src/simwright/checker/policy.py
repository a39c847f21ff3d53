# SPDX-License-Identifier: Apache-2.0
"""What the configuration does to findings: other levels, and silence for some paths, with the reason.

It is applied to finished results, so a changed configuration needs no second check.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from simwright.checker.config import Config
from simwright.checker.result import AssetResult, Suppressed
from simwright.checker.select import Selectable, match_words
from simwright.core.diag import Diagnostic, Level

REASON_OFF = "switched off in the configuration"


@dataclass(frozen=True, slots=True)
class Policy:
    """The configuration with its words resolved to codes."""

    levels: dict[str, Level | None]
    paths: tuple[tuple[str, frozenset[str], str], ...]
    hidden: frozenset[str]
    root: Path

    def apply(self, result: AssetResult) -> AssetResult:
        """The result with levels replaced and ignored findings moved to the suppressed ones."""
        findings: list[Diagnostic] = []
        suppressed = list(result.suppressed)
        for finding in result.findings:
            if finding.kind in self.hidden:
                continue
            reason = self._find_reason(result.path, finding)
            if reason:
                suppressed.append(Suppressed(finding, reason))
            else:
                findings.append(self._grade(finding))
        return dataclasses.replace(result, findings=findings, suppressed=suppressed)

    def _grade(self, finding: Diagnostic) -> Diagnostic:
        level = self.levels.get(finding.kind)
        return finding if level is None else dataclasses.replace(finding, level=level)

    def _find_reason(self, asset: str, finding: Diagnostic) -> str:
        if finding.kind in self.levels and self.levels[finding.kind] is None:
            return REASON_OFF
        for pattern, codes, reason in self.paths:
            if finding.kind in codes and any(
                _matches(file, pattern, self.root) for file in (asset, finding.where.file) if file
            ):
                return reason
        return ""


def build_policy(config: Config, known: Sequence[Selectable], hidden: frozenset[str]) -> Policy:
    """Resolve the words of a configuration; one that names nothing is an error."""
    levels: dict[str, Level | None] = {}
    for word, name in config.severity.items():
        level = None if name == "off" else Level(name)
        levels.update(dict.fromkeys(match_words(known, [word], config.where), level))
    paths = tuple(
        (item.path, frozenset(match_words(known, item.ignore, item.where)), item.reason)
        for item in config.per_path
    )
    root = config.file.absolute().parent if config.file else Path.cwd()
    return Policy(levels, paths, hidden, root)


def _matches(file: str, pattern: str, root: Path) -> bool:
    """Does a path match, relative to the configuration's folder?  A pattern without a slash is a name."""
    path = PurePath(os.path.realpath(file))
    if "/" not in pattern:
        return fnmatchcase(path.name, pattern)
    base = root.resolve()
    return path.is_relative_to(base) and fnmatchcase(path.relative_to(base).as_posix(), pattern)
