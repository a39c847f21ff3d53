# SPDX-License-Identifier: Apache-2.0
"""Fixing until nothing is left to fix: check, fix, check again; then the proof.

First all fixes of a round are made together and the proof is given once, at the end: that is fast, and right almost
always.  Where the proof fails, the work starts again on a fresh copy with a proof after every rule, and the findings of
a rule that fails it are halved until those are found that cannot be fixed; they stay as they were and are told.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from simwright.checker.asset import check_file, check_opened
from simwright.checker.rule import Rule
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Diagnostic, Fixable, Kind, Reporter, Where, relocate
from simwright.core.errors import SimwrightError
from simwright.sanitizer.fixer import DIVIDED, LAYERS, Fixer, UserValues, all_fixers
from simwright.sanitizer.layering.roles import speaks_neutral
from simwright.sanitizer.proof import Deviation, Original, Selected, find_deviations
from simwright.sanitizer.result import CRASHED, IDLE, REFUSED, UNDONE, UNSTABLE, Change
from simwright.sanitizer.stage_changes import StageChanges
from simwright.sanitizer.workspace import Workspace
from simwright.usd.edit import Edit, Editor, Refused
from simwright.usd.expected_changes import ExpectedChanges
from simwright.usd.open import open_stage
from simwright.usd.silence import capture

MAX_ROUNDS = 10
Signature: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class FixOptions:
    """What is to be fixed, and how.

    ``codes`` are the rules that may be fixed, ``rules`` those that are checked; ``unsafe`` allows fixes that need
    intent, ``values`` are what the user gave to fixes, ``settings`` those of the checker.
    """

    codes: frozenset[str]
    rules: Sequence[Rule]
    unsafe: bool = False
    values: UserValues = field(default_factory=UserValues)
    settings: CheckSettings = field(default_factory=CheckSettings)


@dataclass(slots=True)
class FixProgress:
    """How a run went so far: findings before and after, the changes made, and what has to be told.

    ``used`` are rules whose fixes changed something, ``given_up`` findings that are not tried again, ``refused`` the
    notes about those, ``idle`` findings whose fix asked for nothing, ``crashed`` rules whose fix failed.
    ``failed`` says that the asset could not be checked.
    """

    changes: list[Change] = field(default_factory=list)
    before: list[Diagnostic] = field(default_factory=list)
    after: list[Diagnostic] = field(default_factory=list)
    failed: bool = False
    rounds: int = 0
    used: set[str] = field(default_factory=set)
    refused: dict[Signature, Diagnostic] = field(default_factory=dict)
    notes: Reporter = field(default_factory=Reporter)
    given_up: set[Signature] = field(default_factory=set)
    idle: dict[Signature, Diagnostic] = field(default_factory=dict)
    crashed: set[str] = field(default_factory=set)
    expected: ExpectedChanges = field(default_factory=ExpectedChanges)
    """Prims that came, went or were moved."""

    @property
    def allowed(self) -> set[str]:
        """Sections of the comparison that the fixes made so far may change."""
        table = all_fixers()
        return {section for code in self.used for section in table[code].changes} | self.expected.sections


class FixRun:
    """One run over a workspace; the proof is given after every rule where ``proves_each`` is set."""

    def __init__(
        self, workspace: Workspace, options: FixOptions, original: Callable[[Selected], Original]
    ) -> None:
        self.workspace = workspace
        self.options = options
        self.original = original
        self.progress = FixProgress()
        self.proves_each = False
        self.stage_changes = StageChanges()
        self.meshes: dict[str, Any] = {}
        """What checks found out about meshes, as long as nothing but transforms changes."""
        self.known: dict[str, Any] = {}
        """What fixes found out about the stage as it is."""
        self._asked_again = 0

    def fix_all(self) -> FixProgress:
        """Fix until a check finds nothing more to fix."""
        progress = self.progress
        findings = self._check()
        progress.before = progress.after = findings
        seen: set[str] = set()
        while not progress.failed:
            jobs = self._plan(findings)
            if not jobs and not progress.refused:
                break  # before the state is read: that writes every layer, which takes a sixth of a check
            state = self.workspace.read_state()
            if not jobs and state not in seen and progress.rounds < MAX_ROUNDS:
                jobs = self._plan_refused(findings)
            if not jobs:
                break
            # two fixes that undo each other come back to a state that was seen
            if state in seen or progress.rounds == MAX_ROUNDS:
                self._report_unstable(jobs)
                break
            seen.add(state)
            # findings whose fixes ask for nothing must not keep refused ones from being tried again
            if not self._fix_round(jobs) and not self._fix_round(self._plan_refused(findings)):
                break
            progress.rounds += 1
            findings = progress.after = self._check()
        left = {make_signature(finding) for finding in progress.after}
        told = {**progress.idle, **progress.refused}
        progress.notes.extend(note for signature, note in told.items() if signature in left)
        return progress

    def _check(self) -> list[Diagnostic]:
        space, options = self.workspace, self.options
        try:
            stage = space.open()
        except SimwrightError:
            # only a check from the file can say why it does not open
            result = check_file(space.entry, rules=options.rules, packages=space.packages)
        else:
            result = check_opened(
                stage,
                space.complaints,
                rules=options.rules,
                settings=options.settings,
                memory=self.meshes,
                gate=space.gate,
            )
        self.progress.failed |= result.failed
        return result.findings

    def _plan(self, findings: Iterable[Diagnostic]) -> list[tuple[Fixer, list[Diagnostic]]]:
        """The fixes of a round in their order, each with its findings."""
        table = all_fixers()
        wanted: dict[str, list[Diagnostic]] = {}
        for finding in findings:
            fixer = table.get(finding.kind)
            if fixer is not None and self._is_wanted(finding, fixer):
                wanted.setdefault(finding.kind, []).append(finding)
        return [(table[code], wanted[code]) for code in table if code in wanted]

    def _plan_refused(self, findings: Iterable[Diagnostic]) -> list[tuple[Fixer, list[Diagnostic]]]:
        """Fixes that were refused, once more where others changed something since: what stood in the way may be gone.

        Otherwise the next run would make them, and the result would depend on how often it is fixed.
        """
        progress = self.progress
        if not progress.refused or progress.rounds <= self._asked_again:
            return []
        self._asked_again = progress.rounds
        progress.given_up -= set(progress.refused)
        progress.refused.clear()
        return self._plan(findings)

    def _is_wanted(self, finding: Diagnostic, fixer: Fixer) -> bool:
        options, progress = self.options, self.progress
        if finding.kind not in options.codes or finding.kind in progress.crashed:
            return False
        if make_signature(finding) in progress.given_up:
            return False
        if finding.fixable is Fixable.SAFE:
            return True
        # a value from the user is intent enough: nobody gives one by accident
        told = bool(fixer.values) and all(map(options.values.is_told, fixer.values))
        return finding.fixable is Fixable.UNSAFE and (options.unsafe or told)

    def _fix_round(self, jobs: list[tuple[Fixer, list[Diagnostic]]]) -> bool:
        """Make the fixes of a round; False if none of them changed anything."""
        stage = self.workspace.open()
        self.known = {}
        changed = False
        self.stage_changes.recomposed = False
        with capture(), self.stage_changes.watch(stage):
            for fixer, findings in jobs:
                if self.proves_each:
                    changed |= self._apply_with_proof(stage, fixer, findings)
                else:
                    changed |= bool(self._apply_fix(stage, fixer, findings))
        is_fresh = changed and self.workspace.accept(save=self.proves_each)
        # what is known of meshes is in their own frames, which a transform does not change
        if not self.stage_changes.only_transforms:
            self.meshes.clear()
        if self.stage_changes.recomposed and not is_fresh:
            self.workspace.release()  # other layers may be named now
        return changed

    def _apply_fix(self, stage: object, fixer: Fixer, findings: list[Diagnostic]) -> list[Change]:
        """Make one fix for its findings; those that it refuses or that ask for nothing are not tried again."""
        editor = Editor(stage, self.workspace.list_own(), self.workspace.is_taken)
        editor.find_original = self.workspace.name_original
        editor.speaks_neutral = speaks_neutral
        editor.known = self.known
        editor.gate = self.workspace.gate
        done: list[Diagnostic] = []
        for finding in findings:
            # a refused finding leaves nothing behind: neither edits nor what the proof would expect of them
            count, expected = len(editor.edits), editor.expected.copy()
            try:
                fixer.apply(editor, finding, self.options.values)
            except Refused as reason:
                editor.drop_edits(count)
                editor.expected = expected
                self._give_up(finding, REFUSED, rule=finding.kind, reason=str(reason))
                continue
            except Exception as error:  # noqa: BLE001 - a crash of one fix is one finding, the rest goes on
                # nobody knows what a crashed fix had half asked for
                editor.edits = {}
                self._report_crash(finding, error)
                return []
            if len(editor.edits) > count:
                done.append(finding)
        self._note_idle(editor, findings)
        try:
            made = editor.make_edits()
        except Exception as error:  # noqa: BLE001 - half of a fix is none: what was made is dropped
            self._report_crash(findings[0], error)
            self.workspace.undo()
            self.known = {}
            return []
        if not made:
            return []
        self.stage_changes.classify_edits(made, within_layers=fixer.phase == LAYERS)
        # what fixes found out holds until something changes; that layers are divided holds until the next
        # check
        self.known = {DIVIDED: True} if DIVIDED in self.known else {}
        changes = self._describe(made, findings[0].kind, done)
        self.progress.changes += changes
        self.progress.used.add(findings[0].kind)
        self.progress.expected.include(editor.expected)
        return changes

    def _note_idle(self, editor: Editor, findings: list[Diagnostic]) -> None:
        """Findings whose fix asks for nothing; one that is left at the end is told as such."""
        for finding in findings:
            signature = make_signature(finding)
            self.progress.idle.pop(signature, None)
            if not editor.edits and signature not in self.progress.refused:
                reporter = Reporter()
                reporter.report(IDLE, self._locate(finding), rule=finding.kind)
                self.progress.idle[signature] = reporter.found[0]

    def _apply_with_proof(self, stage: object, fixer: Fixer, findings: list[Diagnostic]) -> bool:
        """Make one fix and prove it; on failure undo it and try each half of the findings."""
        mark, used = len(self.progress.changes), set(self.progress.used)
        expected = self.progress.expected.copy()
        # findings of one rule are proven together; only where that fails are they proven in halves
        if not self._apply_fix(stage, fixer, findings) or not self.workspace.is_changed():
            return False
        deviations = self.prove()
        if not deviations:
            self.workspace.accept()
            return True
        self.workspace.undo()
        self.known = {}
        del self.progress.changes[mark:]
        self.progress.used, self.progress.expected = used, expected
        if len(findings) == 1:
            self._report_undone(findings[0], deviations)
            return False
        half = len(findings) // 2
        first = self._apply_with_proof(stage, fixer, findings[:half])
        return self._apply_with_proof(stage, fixer, findings[half:]) or first

    def prove(self) -> list[Deviation]:
        """What differs from the original beyond what the fixes are for."""
        space, progress = self.workspace, self.progress
        original = self.original(progress.expected.variant_key)
        # the stage in memory may still hold layers that nothing names any more
        fresh = self.proves_each and self.stage_changes.recomposed
        stage = open_stage(space.entry, packages=space.packages) if fresh else space.open()
        return find_deviations(
            original,
            stage,
            progress.allowed,
            progress.expected,
            only_transforms=self.stage_changes.only_transforms,
            # a fix that moves prims as well is not proven by equal opinions
            only_layers=self.stage_changes.only_layers and progress.expected == ExpectedChanges(),
        )

    # telling

    def _describe(self, made: list[Edit], rule: str, done: list[Diagnostic]) -> list[Change]:
        grade = done[0].fixable if done else Fixable.SAFE
        files = {edit.layer.identifier: edit.layer.realPath for edit in made}
        places = {name: self.workspace.name_place(file) for name, file in files.items()}
        return [
            Change(rule, grade, places[edit.layer.identifier], str(edit.path), edit.what) for edit in made
        ]

    def _give_up(self, finding: Diagnostic, kind: Kind, **words: Any) -> None:
        signature = make_signature(finding)
        self.progress.given_up.add(signature)
        reporter = Reporter()
        reporter.report(kind, self._locate(finding), **words)
        self.progress.refused[signature] = reporter.found[0]

    def _report_crash(self, finding: Diagnostic, error: Exception) -> None:
        self.progress.crashed.add(finding.kind)
        reason = f"{type(error).__name__}: {error}"
        self.progress.notes.report(CRASHED, finding.where, rule=finding.kind, reason=reason)

    def _report_undone(self, finding: Diagnostic, deviations: list[Deviation]) -> None:
        what = deviations[0].what
        if len(deviations) > 1:
            what += f" (and {len(deviations) - 1} more)"
        # as a refused one it is tried again after other changes: an instance that stood in the way may be gone
        self._give_up(finding, UNDONE, rule=finding.kind, what=what)

    def _report_unstable(self, jobs: list[tuple[Fixer, list[Diagnostic]]]) -> None:
        rules = ", ".join(sorted({findings[0].kind for _, findings in jobs}))
        where = Where(self.workspace.name_original(str(self.workspace.entry)))
        self.progress.notes.report(UNSTABLE, where, rules=rules, rounds=self.progress.rounds)

    def _locate(self, finding: Diagnostic) -> Where:
        where = finding.where
        return Where(self.workspace.name_original(where.file), prim=where.prim, prop=where.prop)


def make_signature(finding: Diagnostic) -> Signature:
    """What makes a finding the same one in the next round; its line may change."""
    return (finding.kind, finding.where.prim, finding.where.prop, finding.message)


def name_originals(findings: Iterable[Diagnostic], workspace: Workspace) -> list[Diagnostic]:
    """Findings of the copy as findings of the source."""
    found = []
    files: dict[str, str] = {}
    for finding in findings:
        where = finding.where
        if where.file not in files:
            files[where.file] = workspace.name_original(where.file)
        place = Where(files[where.file], where.line, where.column, where.prim, where.prop)
        found.append(relocate(finding, place))
    return found
