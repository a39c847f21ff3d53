# SPDX-License-Identifier: Apache-2.0
"""What came of a run: what was fixed, what was not and why, and what the checker says before and after."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from simwright.core.diag import Diagnostic, Fixable, Level
from simwright.core.errors import EXIT_BAD_INPUT, EXIT_CLEAN, EXIT_FINDINGS


@dataclass(frozen=True, slots=True)
class Change:
    """One edit: ``rule`` it was made for, ``file`` of the layer relative to the asset's folder, where and what."""

    rule: str
    grade: Fixable
    file: str
    path: str
    what: str


@dataclass(slots=True)
class FixResult:
    """One asset.

    ``status`` is ``fixed``, ``unchanged`` or ``failed``; ``entry`` the file to open afterwards (empty for a dry run),
    ``backups`` the files that were replaced in place, as they were; ``files`` what was written.  ``before`` and
    ``after`` are the findings of the checker; ``notes`` what the sanitizer itself has to say.  ``diffs`` maps layers to
    readable differences.  ``rounds`` counts passes; ``proven`` says that the machine was compared too.
    """

    source: str
    status: str = "failed"
    entry: str = ""
    backups: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)
    before: list[Diagnostic] = field(default_factory=list)
    after: list[Diagnostic] = field(default_factory=list)
    notes: list[Diagnostic] = field(default_factory=list)
    diffs: dict[str, str] = field(default_factory=dict)
    rounds: int = 0
    proven: bool = False

    @property
    def backup(self) -> str:
        """The old entry, or the first file that was replaced; empty if none was."""
        return self.backups[0] if self.backups else ""

    @property
    def fixed(self) -> dict[str, int]:
        """How many findings of each rule are gone."""
        before = Counter(finding.kind for finding in self.before)
        after = Counter(finding.kind for finding in self.after)
        return {code: count - after[code] for code, count in sorted(before.items()) if count > after[code]}

    @property
    def exit_code(self) -> int:
        """0 nothing wrong is left, 1 errors are, 2 the asset could not be opened."""
        if self.status == "failed":
            return EXIT_BAD_INPUT
        left = [*self.after, *self.notes]
        return EXIT_FINDINGS if any(finding.level is Level.ERROR for finding in left) else EXIT_CLEAN
