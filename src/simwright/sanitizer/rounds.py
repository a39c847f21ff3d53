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
from simwright.checker.settings import Settings
from simwright.core.diag import Diagnostic, Fixable, Reporter, Where, relocate
from simwright.core.errors import SimwrightError
from simwright.sanitizer.fixer import LAYERS, SETTLED, Fixer, Wishes, all_fixers
from simwright.sanitizer.footprint import Footprint
from simwright.sanitizer.messages import CRASHED, REFUSED, UNDONE, UNSTABLE
from simwright.sanitizer.proof import Deviation, Original, Selected, find_deviations
from simwright.sanitizer.result import Change
from simwright.sanitizer.workspace import Workspace
from simwright.usd.edit import Edit, Editor, Refused
from simwright.usd.open import open_stage
from simwright.usd.shifts import Shifts
from simwright.usd.silence import capture

MAX_ROUNDS = 10
Signature: TypeAlias = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Order:
    """What is to be done: ``codes`` are rules that may be fixed, ``unsafe`` allows fixes that need intent."""

    codes: frozenset[str]
    rules: Sequence[Rule]
    unsafe: bool = False
    wishes: Wishes = field(default_factory=Wishes)
    settings: Settings = field(default_factory=Settings)


@dataclass(slots=True)
class Course:
    """How a run went.  ``given_up`` are findings that are not tried again."""

    changes: list[Change] = field(default_factory=list)
    before: list[Diagnostic] = field(default_factory=list)
    after: list[Diagnostic] = field(default_factory=list)
    failed: bool = False
    rounds: int = 0
    used: set[str] = field(default_factory=set)
    refused: dict[Signature, Diagnostic] = field(default_factory=dict)
    notes: Reporter = field(default_factory=Reporter)
    given_up: set[Signature] = field(default_factory=set)
    crashed: set[str] = field(default_factory=set)
    shifts: Shifts = field(default_factory=Shifts)
    """Prims that came, went or were moved."""

    @property
    def allowed(self) -> set[str]:
        """Sections of the comparison that the fixes made so far may change."""
        table = all_fixers()
        return {section for code in self.used for section in table[code].changes} | self.shifts.changes


class Run:
    """One run over a workspace; ``prove`` is asked after every rule where ``careful``."""

    def __init__(self, workspace: Workspace, order: Order, original: Callable[[Selected], Original]) -> None:
        self.workspace = workspace
        self.order = order
        self.original = original
        self.course = Course()
        self.careful = False
        self.footprint = Footprint()
        self.meshes: dict[str, Any] = {}
        """What checks found out about meshes, as long as nothing but transforms changes."""
        self.known: dict[str, Any] = {}
        """What fixes found out about the stage as it is."""

    def go(self) -> Course:
        """Fix until a check finds nothing more to fix."""
        course = self.course
        findings = self._check()
        course.before = course.after = findings
        seen: set[str] = set()
        while not course.failed and (jobs := self._plan(findings)):
            state = self.workspace.read_state()
            if state in seen or course.rounds == MAX_ROUNDS:
                self._report_unstable(jobs)
                break
            seen.add(state)
            if not self._make_round(jobs):
                break
            course.rounds += 1
            findings = course.after = self._check()
        left = {sign(finding) for finding in course.after}
        course.notes.extend(note for signature, note in course.refused.items() if signature in left)
        return course

    def _check(self) -> list[Diagnostic]:
        space, order = self.workspace, self.order
        try:
            stage = space.open()
        except SimwrightError:
            result = check_file(space.entry, rules=order.rules, packages=space.packages)
        else:
            result = check_opened(
                stage,
                space.complaints,
                rules=order.rules,
                settings=order.settings,
                memory=self.meshes,
                gate=space.gate,
            )
        self.course.failed |= result.failed
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

    def _is_wanted(self, finding: Diagnostic, fixer: Fixer) -> bool:
        order, course = self.order, self.course
        if finding.kind not in order.codes or finding.kind in course.crashed:
            return False
        if sign(finding) in course.given_up:
            return False
        if finding.fixable is Fixable.SAFE:
            return True
        told = bool(fixer.wishes) and all(map(order.wishes.is_told, fixer.wishes))
        return finding.fixable is Fixable.UNSAFE and (order.unsafe or told)

    def _make_round(self, jobs: list[tuple[Fixer, list[Diagnostic]]]) -> bool:
        """Make the fixes of a round; False if none of them changed anything."""
        stage = self.workspace.open()
        self.known = {}
        changed = False
        self.footprint.recomposed = False
        with capture(), self.footprint.watch(stage):
            for fixer, findings in jobs:
                if self.careful:
                    changed |= self._make_carefully(stage, fixer, findings)
                else:
                    changed |= bool(self._make(stage, fixer, findings))
        is_fresh = changed and self.workspace.accept(save=self.careful)
        if not self.footprint.only_transforms:
            self.meshes.clear()
        if self.footprint.recomposed and not is_fresh:
            self.workspace.release()  # other layers may be named now
        return changed

    def _make(self, stage: object, fixer: Fixer, findings: list[Diagnostic]) -> list[Change]:
        """Make one fix for its findings; those that it refuses or that ask for nothing are not tried again."""
        editor = Editor(stage, self.workspace.list_own(), self.workspace.is_taken)
        editor.find_original = self.workspace.name_original
        editor.known = self.known
        editor.gate = self.workspace.gate
        done: list[Diagnostic] = []
        for finding in findings:
            count, shifts = len(editor.edits), editor.shifts.copy()
            try:
                fixer.apply(editor, finding, self.order.wishes)
            except Refused as reason:
                editor.drop_edits(count)
                editor.shifts = shifts
                self._give_up(finding, str(reason))
                continue
            except Exception as error:  # noqa: BLE001 - a crash of one fix is one finding, the rest goes on
                editor.edits = {}
                self._report_crash(finding, error)
                return []
            if len(editor.edits) > count:
                done.append(finding)
        try:
            made = editor.make_edits()
        except Exception as error:  # noqa: BLE001 - half of a fix is none: what was made is dropped
            self._report_crash(findings[0], error)
            self.workspace.undo()
            self.known = {}
            return []
        if not made:
            return []
        self.footprint.settle(made, within_layers=fixer.phase == LAYERS)
        self.known = {SETTLED: True} if SETTLED in self.known else {}
        changes = self._describe(made, findings[0].kind, done)
        self.course.changes += changes
        self.course.used.add(findings[0].kind)
        self.course.shifts.include(editor.shifts)
        return changes

    def _make_carefully(self, stage: object, fixer: Fixer, findings: list[Diagnostic]) -> bool:
        """The same with a proof; on failure the findings are halved."""
        mark, used = len(self.course.changes), set(self.course.used)
        shifts = self.course.shifts.copy()
        if not self._make(stage, fixer, findings) or not self.workspace.is_changed():
            return False
        deviations = self.prove()
        if not deviations:
            self.workspace.accept()
            return True
        self.workspace.undo()
        self.known = {}
        del self.course.changes[mark:]
        self.course.used, self.course.shifts = used, shifts
        if len(findings) == 1:
            self._report_undone(findings[0], deviations)
            return False
        half = len(findings) // 2
        first = self._make_carefully(stage, fixer, findings[:half])
        return self._make_carefully(stage, fixer, findings[half:]) or first

    def prove(self) -> list[Deviation]:
        """What differs from the original beyond what the fixes are for."""
        space, course = self.workspace, self.course
        original = self.original(course.shifts.frozen_selection)
        fresh = self.careful and self.footprint.recomposed
        stage = open_stage(space.entry, packages=space.packages) if fresh else space.open()
        return find_deviations(
            original,
            stage,
            course.allowed,
            course.shifts,
            only_transforms=self.footprint.only_transforms,
            only_layers=self.footprint.only_layers and course.shifts == Shifts(),
        )

    # telling

    def _describe(self, made: list[Edit], rule: str, done: list[Diagnostic]) -> list[Change]:
        grade = done[0].fixable if done else Fixable.SAFE
        files = {edit.layer.identifier: edit.layer.realPath for edit in made}
        places = {name: self.workspace.name_place(file) for name, file in files.items()}
        return [
            Change(rule, grade, places[edit.layer.identifier], str(edit.path), edit.what) for edit in made
        ]

    def _give_up(self, finding: Diagnostic, reason: str) -> None:
        signature = sign(finding)
        self.course.given_up.add(signature)
        reporter = Reporter()
        reporter.report(REFUSED, self._locate(finding), rule=finding.kind, reason=reason)
        self.course.refused[signature] = reporter.found[0]

    def _report_crash(self, finding: Diagnostic, error: Exception) -> None:
        self.course.crashed.add(finding.kind)
        reason = f"{type(error).__name__}: {error}"
        self.course.notes.report(CRASHED, finding.where, rule=finding.kind, reason=reason)

    def _report_undone(self, finding: Diagnostic, deviations: list[Deviation]) -> None:
        self.course.given_up.add(sign(finding))
        what = deviations[0].what
        if len(deviations) > 1:
            what += f" (and {len(deviations) - 1} more)"
        self.course.notes.report(UNDONE, self._locate(finding), rule=finding.kind, what=what)

    def _report_unstable(self, jobs: list[tuple[Fixer, list[Diagnostic]]]) -> None:
        rules = ", ".join(sorted({findings[0].kind for _, findings in jobs}))
        where = Where(self.workspace.name_original(str(self.workspace.entry)))
        self.course.notes.report(UNSTABLE, where, rules=rules, rounds=self.course.rounds)

    def _locate(self, finding: Diagnostic) -> Where:
        where = finding.where
        return Where(self.workspace.name_original(where.file), prim=where.prim, prop=where.prop)


def sign(finding: Diagnostic) -> Signature:
    """What makes a finding the same one in the next round: not its line."""
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
