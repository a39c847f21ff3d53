# SPDX-License-Identifier: Apache-2.0
"""The exception tree: what is raised when work cannot continue.

A problem *in* the input that leaves something useful to do is a :class:`~simwright.core.diag.Diagnostic`;
these classes are for the point where nothing useful is left.  Each one says what happened (``message``),
where (``where``) and what to do about it (``hint``), so the command line can print one clear line.

::

    SimwrightError                 exit code 2 unless said otherwise
     +-- UsageError                the call itself is wrong (option, argument, combination)
     |    +-- UnknownNameError     a name that is in no table; lists what is; a KeyError too
     |    +-- MissingExtraError    an optional dependency is not installed; carries the install line
     +-- InputError                a file cannot be used
     |    +-- NotFoundError        it is not there
     |    +-- ParseError           it is there but is not what it says it is
     |    +-- LimitError           it is too large, too deep or too many
     |    +-- UnsafePathError      it points outside the place it may point to
     |    +-- StrictError          it was read, but with findings that strict mode does not allow
     +-- OutputError               a result cannot be written
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from simwright.core.visible import make_visible

if TYPE_CHECKING:
    from simwright.core.diag import Where

EXIT_CLEAN = 0
EXIT_FINDINGS = 1
EXIT_BAD_INPUT = 2
EXIT_INTERNAL = 3


class SimwrightError(Exception):
    """Work cannot continue.  ``code`` is stable and goes into machine-readable output."""

    code = "error"
    exit_code = EXIT_BAD_INPUT

    def __init__(self, message: str, *, hint: str = "", where: Where | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.where = where

    def __reduce__(self) -> tuple[object, ...]:
        # Exception calls the class with the message alone, which a class with other arguments refuses: an error of a
        # worker process would never arrive.
        return _restore_error, (type(self), self.args), self.__dict__

    def __str__(self) -> str:
        place = f"{self.where}: " if self.where else ""
        advice = f" ({self.hint})" if self.hint else ""
        return make_visible(f"{place}{self.message}{advice}", keep="\n")


def _restore_error(kind: type[SimwrightError], args: tuple[object, ...]) -> SimwrightError:
    return kind.__new__(kind, *args)


class UsageError(SimwrightError):
    """The call itself is wrong."""

    code = "usage"


class UnknownNameError(UsageError, KeyError):
    """A name that no table holds.  The message names the near misses and the valid names."""

    code = "unknown-name"

    def __init__(self, what: str, name: str, known: Iterable[str], *, where: Where | None = None) -> None:
        names = sorted(known)
        close = difflib.get_close_matches(name, names, n=3, cutoff=0.6)
        if close:
            hint = "did you mean " + " or ".join(repr(c) for c in close) + "?"
        elif names:
            shown = ", ".join(names[:20]) + (f", ... ({len(names)} in all)" if len(names) > 20 else "")
            hint = f"known: {shown}"
        else:
            hint = "none is known"
        super().__init__(f"unknown {what} {name!r}", hint=hint, where=where)
        self.name = name
        self.known = names


class MissingExtraError(UsageError):
    """An optional dependency is missing; the hint is the line that installs it."""

    code = "missing-extra"

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}, which is not installed",
            hint=f"install it with: pip install 'simwright[{extra}]'",
        )
        self.package = package
        self.extra = extra


class InputError(SimwrightError):
    """A file cannot be used."""

    code = "bad-input"


class NotFoundError(InputError):
    """A file or resource is not there."""

    code = "not-found"


class ParseError(InputError):
    """The bytes are not what the file says it is."""

    code = "parse-error"


class LimitError(InputError):
    """The input is too large, too deep or has too many parts to be read safely."""

    code = "limit"


class UnsafePathError(InputError):
    """A path leaves the folder it has to stay in."""

    code = "unsafe-path"


class StrictError(InputError):
    """Strict mode was asked for, and the input has findings."""

    code = "strict"


class OutputError(SimwrightError):
    """A result cannot be written; nothing was changed."""

    code = "bad-output"
