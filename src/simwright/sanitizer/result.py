# SPDX-License-Identifier: Apache-2.0
"""What came of a run: what was fixed, what was not and why, and what the checker says before and after.

Also the findings of the sanitizer itself, which it reports beside its fixes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from simwright.core.diag import Diagnostic, Fixable, Level, declare
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


REFUSED = declare(
    "fix-refused",
    Level.WARNING,
    "{rule} cannot be fixed here: {reason}",
    hint="make the choice that the reason asks for, with --set where it names one, or fix it by hand",
    doc="A fix exists for the rule, but not for this case of it; the reason names what a person has to decide.",
)
UNDONE = declare(
    "fix-undone",
    Level.WARNING,
    "the fix of {rule} was undone: it would change {what}",
    hint="fix it by hand; please report it if the change is harmless",
    doc="A fix changed more than it is for: the asset before and after was compared, and the fix taken back.",
)
CRASHED = declare(
    "fix-crashed",
    Level.ERROR,
    "the fix of {rule} failed: {reason}",
    hint="the other fixes went on; please report it",
    doc="A fix raised an exception. It is a bug of Simwright, not of the asset.",
)
COMMENTS_LOST = declare(
    "fix-comments-lost",
    Level.INFO,
    "{count} comment(s) are not in the fixed layer: the lines that they belonged to were moved or removed",
    hint="take them from the old file where they matter; text that is to stay belongs into documentation of a prim",
    doc="OpenUSD keeps no comments. Those of a text layer that is written again are put back at what they stood at, as "
    "long as the layer still says it.",
)
UNSTABLE = declare(
    "fix-unstable",
    Level.WARNING,
    "fixes undo each other ({rules}); stopped after {rounds} rounds",
    hint="choose between them with --select or --ignore; please report it",
    doc="After some rounds of fixing and checking the asset was in a state that it had been in before.",
)
IDLE = declare(
    "fix-idle",
    Level.WARNING,
    "the fix of {rule} finds nothing here that it could change",
    hint="fix it by hand; please report it",
    doc="A fix was asked for and had nothing to do, and the finding is still there.",
)
NEWLY_FOUND = declare(
    "fix-newly-found",
    Level.INFO,
    "{rule} finds {count} more than before the fixes",
    hint="look at the findings that are left",
    doc="A rule has more findings after the fixes than before them.",
)
UNPROVEN = declare(
    "fix-unproven",
    Level.WARNING,
    "the machine before and after cannot be compared: {reason}",
    hint="poses and geometry of all prims were compared; compare the rest by hand",
    doc="The asset cannot be read as a machine, so the proof rests on the composed stage alone.",
)
MOMENTS_MENDED = declare(
    "fix-moments-mended",
    Level.WARNING,
    "no body can have the moments of inertia {before}; {after} are written, the original ones are kept in customData",
    hint="correct the inertia in the source of the asset: none of the moments is above the sum of the other two",
    doc="Engines reject impossible moments or repair them, each in its own way. The nearest that a body can have are "
    "written. Simwright still reads the original values, other tools the nearest possible ones.",
    section="1.3",
)
ENGINE_LOSS = declare(
    "fix-engine-loss",
    Level.WARNING,
    "{engine} no longer gets this from the fixed asset: {what}",
    hint="check the result in {engine}; skip the rule with --ignore, or author the value in {engine}'s own layer",
    doc="Tools that read the neutral attributes see the same machine. An engine that reads only its own attributes, "
    "or expects them in another place, sees less of the fixed asset than of the original.",
    section="1.4",
)
