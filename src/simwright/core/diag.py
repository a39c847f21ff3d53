# SPDX-License-Identifier: Apache-2.0
"""The one problem type of the project: what is wrong, where, and what to do about it.

Rules, converters and loaders all report through a :class:`Reporter`.  What they report is a
:class:`Diagnostic`, made from a :class:`Kind` (declared once, next to the code that finds it) and the
values found.  Renderers live in ``simwright.app.report``; nothing here prints.

    MISSING_MESH = declare("mesh-missing", Level.ERROR,
                           "mesh file {file!r} does not exist",
                           hint="check the path, or give the package with --package NAME=DIR",
                           doc="A shape names a mesh file that cannot be found.")
    ...
    reporter.report(MISSING_MESH, Where("arm.urdf", line=12), file="a.stl")
"""

from __future__ import annotations

import dataclasses
import enum
import string
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright.core.errors import SimwrightError
from simwright.core.visible import make_visible


class Level(enum.StrEnum):
    """How bad it is.  ``error`` breaks a *must*, ``warning`` a *should*, ``info`` is for knowing."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"

    @property
    def rank(self) -> int:
        """0 for error, 1 for warning, 2 for info: sorts worst first."""
        return _RANK[self]


_RANK = {Level.ERROR: 0, Level.WARNING: 1, Level.INFO: 2}


class Fixable(enum.StrEnum):
    """Grade of a fix: ``safe`` keeps the meaning, ``unsafe`` needs intent, ``shown`` is a suggestion."""

    SAFE = "safe"
    UNSAFE = "unsafe"
    SHOWN = "shown"
    NO = "no"


@dataclass(frozen=True, slots=True)
class Where:
    """A place: a file position, or a prim (and property) in a layer, or both.

    ``file`` is the text file or the USD layer; ``line`` and ``column`` count from 1.
    """

    file: str = ""
    line: int | None = None
    column: int | None = None
    prim: str = ""
    prop: str = ""

    def __str__(self) -> str:
        text = self.file
        if self.line is not None:
            text += f":{self.line}"
            if self.column is not None:
                text += f":{self.column}"
        if self.prim:
            path = f"{self.prim}.{self.prop}" if self.prop else self.prim
            text = f"{text} <{path}>" if text else f"<{path}>"
        return text

    def __bool__(self) -> bool:
        return bool(self.file or self.prim)


NOWHERE = Where()


@dataclass(frozen=True, slots=True)
class Fix:
    """What would repair the finding.  ``apply`` is bound by the package that knows how to edit."""

    title: str
    grade: Fixable = Fixable.SAFE
    apply: Callable[..., None] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Kind:
    """A declared sort of problem: permanent code, level, message template and advice.

    Templates are ``str.format`` templates over the values given to :meth:`Reporter.report`.  ``loss`` says that
    something of the source is not in the result; a guess, a change of form, and what is kept aside are none.
    """

    code: str
    level: Level
    message: str
    hint: str = ""
    doc: str = ""
    section: str = ""
    url: str = ""
    loss: bool = False

    def fields(self) -> set[str]:
        """Names of the values that the message and hint templates use."""
        parts = [*string.Formatter().parse(self.message), *string.Formatter().parse(self.hint)]
        return {name.split(".")[0].split("[")[0] for _, name, _, _ in parts if name}


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.  ``kind`` is the permanent code of a rule or of a :class:`Kind`; ``loss`` is that of the kind.

    ``related`` are findings of other rules with the same cause, where a report groups them; ``cause`` names it.
    """

    kind: str
    level: Level
    message: str
    hint: str = ""
    where: Where = NOWHERE
    section: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    fix: Fix | None = None
    loss: bool = False
    related: tuple[Diagnostic, ...] = ()
    cause: str = ""

    @property
    def fixable(self) -> Fixable:
        """Grade of the attached fix, or ``no``."""
        return self.fix.grade if self.fix else Fixable.NO

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return make_visible(f"{place}{self.level}[{self.kind}] {self.message}{advice}", keep="\n")


CATALOGUE: dict[str, Kind] = {}
"""Every declared kind by code; the diagnostics page of the docs is generated from it."""
DESCRIBED: set[str] = set()
"""Codes of the catalogue that are known by a description alone, until the module that declares them is imported."""


def declare(
    code: str,
    level: Level,
    message: str,
    *,
    hint: str = "",
    doc: str = "",
    section: str = "",
    loss: bool = False,
) -> Kind:
    """Declare a kind of problem.  A code is declared once; importing a module twice is harmless."""
    kind = Kind(code, level, message, hint, doc, section, loss=loss)
    known = None if code in DESCRIBED else CATALOGUE.get(code)
    DESCRIBED.discard(code)
    # two meanings of one code would make suppressions and baselines hit the wrong finding
    assert known is None or known == kind, f"diagnostic code {code!r} is declared twice"
    CATALOGUE[code] = kind
    return kind


class Reporter:
    """Collects findings.  The library reports; the caller decides what to do with them."""

    __slots__ = ("_listener", "found")

    def __init__(self, listener: Callable[[Diagnostic], None] | None = None) -> None:
        self.found: list[Diagnostic] = []
        self._listener = listener

    def report(
        self, kind: Kind, where: Where = NOWHERE, /, *, fix: Fix | None = None, **data: Any
    ) -> Diagnostic:
        """Make a diagnostic of ``kind`` from the values in ``data`` and keep it."""
        # an exception keeps the frames it came through, and so the stage of an asset for as long as its findings live
        data = {key: str(value) if isinstance(value, BaseException) else value for key, value in data.items()}
        return self.add(
            Diagnostic(
                kind=kind.code,
                level=kind.level,
                message=kind.message.format(**data),
                hint=kind.hint.format(**data),
                where=where,
                section=kind.section,
                data=data,
                fix=fix,
                loss=kind.loss,
            )
        )

    def add(self, diagnostic: Diagnostic) -> Diagnostic:
        """Keep a ready-made diagnostic."""
        self.found.append(diagnostic)
        if self._listener:
            self._listener(diagnostic)
        return diagnostic

    def extend(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Keep several."""
        for diagnostic in diagnostics:
            self.add(diagnostic)

    def counts(self) -> dict[str, int]:
        """``{"error": n, "warning": n, "info": n}``."""
        return count_levels(self.found)

    def has(self, level: Level) -> bool:
        """Is there a finding at least as bad as ``level``?"""
        return any(d.level.rank <= level.rank for d in self.found)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __bool__(self) -> bool:
        return True  # an empty reporter is still a reporter


def count_levels(diagnostics: Iterable[Diagnostic]) -> dict[str, int]:
    """Number of findings per level, every level present."""
    # every level is there, also with zero: readers of JSON need not ask
    tally = Counter(d.level for d in diagnostics)
    return {level.value: tally[level] for level in Level}


def sort_diagnostics(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """By file, line, prim, then worst first: a stable order for people and for diffs."""
    return sorted(
        diagnostics,
        key=lambda d: (
            d.where.file,
            # what concerns the whole file comes before its lines
            d.where.line if d.where.line is not None else -1,
            d.where.prim,
            d.where.prop,
            d.level.rank,
            d.kind,
            d.message,
        ),
    )


def diagnostic_from_error(error: SimwrightError) -> Diagnostic:
    """The same problem as data, for machine-readable output."""
    return Diagnostic(
        kind=error.code,
        level=Level.ERROR,
        message=error.message,
        hint=error.hint,
        where=error.where or NOWHERE,
    )


def relocate(diagnostic: Diagnostic, where: Where) -> Diagnostic:
    """The same finding at another place."""
    return dataclasses.replace(diagnostic, where=where)


def encode_finding(finding: Diagnostic) -> dict[str, Any]:
    """A finding as plain data; its values stay as they are."""
    where = finding.where
    fix = [finding.fix.title, finding.fix.grade.value] if finding.fix else None
    return {
        "kind": finding.kind,
        "level": finding.level.value,
        "message": finding.message,
        "hint": finding.hint,
        "where": [where.file, where.line, where.column, where.prim, where.prop],
        "section": finding.section,
        "data": {str(key): value for key, value in finding.data.items()},
        "fix": fix,
        **({"loss": True} if finding.loss else {}),
    }


def decode_finding(plain: Mapping[str, Any]) -> Diagnostic:
    """The finding of :func:`encode_finding`."""
    fix = plain["fix"]
    return Diagnostic(
        kind=plain["kind"],
        level=Level(plain["level"]),
        message=plain["message"],
        hint=plain["hint"],
        where=Where(*plain["where"]),
        section=plain["section"],
        data=plain["data"],
        fix=Fix(fix[0], Fixable(fix[1])) if fix else None,
        loss=bool(plain.get("loss")),
    )
