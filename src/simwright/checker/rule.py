# SPDX-License-Identifier: Apache-2.0
"""What a rule is.  One file per rule: the docstring teaches, ``RULE`` declares, ``check`` finds.

A rule's module docstring has the parts that ``simwright explain`` and the rule pages show::

    \"\"\"The good state, in one line.

    Why: what breaks otherwise.
    Fails: a short usda excerpt or description.
    Passes: the same, right.
    Fix: what a fix does and how safe it is.
    \"\"\"

The level follows the RFC 2119 word; a heuristic rule is reported one level lower and says so.
"""

from __future__ import annotations

import enum
import inspect
import re
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from simwright.core.diag import Fix, Fixable, Level

if TYPE_CHECKING:
    from pxr import Sdf

    from simwright.checker.facts.snapshot import PrimNode


class Word(enum.StrEnum):
    """RFC 2119 words of the ledger."""

    MUST = "must"
    MUST_NOT = "must not"
    SHOULD = "should"
    SHOULD_NOT = "should not"
    MAY = "may"


class Profile(enum.StrEnum):
    """Groups of rules a user may ask for; ``all`` is every rule."""

    CORE = "core"
    ROS = "ros"
    EXPORT = "export"


_LEVELS = {
    Word.MUST: Level.ERROR,
    Word.MUST_NOT: Level.ERROR,
    Word.SHOULD: Level.WARNING,
    Word.SHOULD_NOT: Level.WARNING,
    Word.MAY: Level.INFO,
}
_SECTION = re.compile(r"\d+(\.\d+)*")
# a guess must not fail a build that only errors fail
_LOWER = {Level.ERROR: Level.WARNING, Level.WARNING: Level.INFO, Level.INFO: Level.INFO}


@dataclass(slots=True)
class Finding:
    """What a check yields: a message with the value found, what to do, and the place.

    ``at`` is the node, or a path in ``layer`` for layer rules; ``prop`` a property name.  ``level`` replaces
    the rule's own level for a milder case of it (never a harsher one).  ``fix`` replaces the rule's grade where
    this case is easier (``safe``) or harder (``no``) to repair than most.
    """

    message: str
    hint: str = ""
    at: PrimNode | Sdf.Path | str | None = None
    prop: str = ""
    layer: Sdf.Layer | None = None
    words: str = ""
    level: Level | None = None
    data: dict[str, Any] = field(default_factory=dict)
    fix: Fixable | None = None


Check: TypeAlias = Callable[..., Iterable[Finding] | None]
"""``check(snapshot)``, ``check(node, snapshot)`` or ``check(layer_facts, snapshot)``, as ``Rule.on`` says."""


@cache
def _read_doc(module: str) -> str:
    return inspect.cleandoc(sys.modules[module].__doc__ or "")


@dataclass(frozen=True, slots=True)
class Rule:
    """A declared rule.

    ``code`` is permanent.  ``statement`` is the id of the statement of REP-0158 that it checks; where it is empty the
    code may be one in lower case, and a rule for which neither is in the ledger is one of our own or of a plugin
    (:func:`simwright.checker.catalogue.find_statement`), filed under the ``section`` it is about.

    ``on`` says what it subscribes to: ``"stage"``, ``"layer"``, ``"prim"``, ``"type:Mesh"``,
    ``"isa:PhysicsJoint"``, ``"api:PhysicsRigidBodyAPI"``
    (multiple-apply APIs without their instance name; a trailing ``*`` matches a prefix).
    """

    code: str
    section: str
    word: Word
    on: tuple[str, ...]
    check: Check = field(repr=False)
    heuristic: bool = False
    fix: Fixable = Fixable.NO
    fix_title: str = ""
    module: str = ""
    statement: str = ""

    @property
    def level(self) -> Level:
        """Level of its findings, by the RFC word; heuristics one lower."""
        level = _LEVELS[self.word]
        return _LOWER[level] if self.heuristic else level

    @property
    def profile(self) -> Profile:
        """The profile its section belongs to."""
        if self.section.startswith("2") or self.section.startswith("4.2.3"):
            return Profile.ROS
        return Profile.EXPORT if self.section.startswith("3") else Profile.CORE

    @property
    def doc(self) -> str:
        """The teaching text: the module docstring of the rule's file."""
        # read when asked: the texts are not needed to run the rules
        return _read_doc(self.module)

    @property
    def title(self) -> str:
        """The good state in one line."""
        return self.doc.partition("\n")[0].rstrip(".")

    def make_fix(self, grade: Fixable | None = None) -> Fix | None:
        """The fix that is announced with a finding; ``grade`` is the finding's own."""
        grade = grade or self.fix
        return None if Fixable.NO in (grade, self.fix) else Fix(self.fix_title, grade)


def rule(
    code: str,
    section: str,
    word: str,
    *,
    on: str | tuple[str, ...],
    heuristic: bool = False,
    fix: str = "no",
    fix_title: str = "",
    statement: str = "",
) -> Callable[[Check], Rule]:
    """Declare a rule: decorates its check function, which becomes the module's ``RULE``-like object."""

    def declare(check: Check) -> Rule:
        assert _SECTION.fullmatch(section), f"{code}: {section!r} is not a section of REP-0158, such as 1.3.1"
        assert fix == "no" or fix_title, f"{code}: a fix has a title"
        return Rule(
            code=code,
            section=section,
            word=Word(word),
            on=(on,) if isinstance(on, str) else on,
            check=check,
            heuristic=heuristic,
            fix=Fixable(fix),
            fix_title=fix_title,
            module=check.__module__,
            statement=statement,
        )

    return declare
