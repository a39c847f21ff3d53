# SPDX-License-Identifier: Apache-2.0
"""What a job is: a command, its options, and items, each an asset with options of its own over them.

Everything is plain JSON data: a job is stored, resumed by another process and sent to other machines.  What a worker
does with one item is :func:`do_item`; it gives an :class:`ItemOutcome` and raises only errors that concern the
whole job.

A command becomes a job by a row of :data:`JOB_KINDS`, which names a :class:`JobKind`: a function from options to an
outcome.  A package adds one through the entry-point group ``simwright.jobs``.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeAlias

from simwright.core.diag import (
    Diagnostic,
    Kind,
    Level,
    Reporter,
    Where,
    declare,
    decode_finding,
    diagnostic_from_error,
    encode_finding,
)
from simwright.core.errors import (
    EXIT_BAD_INPUT,
    EXIT_CLEAN,
    EXIT_FINDINGS,
    EXIT_INTERNAL,
    SimwrightError,
    UsageError,
)
from simwright.core.gate import VARIABLE as FOLDERS
from simwright.core.limits import OFFLINE, UNTRUSTED
from simwright.core.limits import VARIABLE as LIMITS
from simwright.core.pool import NO_LIMITS, JobLimits, Loss, describe_loss
from simwright.core.registry import Registry

JobOptions: TypeAlias = dict[str, Any]
"""Options of a command as JSON data, by the names that they have on the command line, with ``_`` for ``-``."""

JOB_DIED = declare(
    "job-process-died",
    Level.ERROR,
    "the process that worked on this asset died",
    hint="the file makes a library crash; please report it. The other assets were done",
    doc="A worker process ended without a result, and did so again when the asset was tried again.",
)
JOB_BROKE = declare(
    "job-internal-error",
    Level.ERROR,
    "internal error: {what}",
    hint="please report it; SIMWRIGHT_DEBUG=1 and this asset alone show where",
    doc="An asset met a mistake of Simwright while it was worked on with others, which were done.",
)
ENVIRONMENT = (UNTRUSTED, OFFLINE, LIMITS, FOLDERS)
"""Variables that decide what an asset may name and ask for: workers on other machines get them as well."""
OWN_LIMITS = ("timeout", "max_memory")
"""Options of an item that the executor holds (seconds and GiB it may take); the command does not see them."""


class JobItem(NamedTuple):
    """One asset of a job, as the user named it; ``options`` are its own options, ``number`` its place in the report."""

    number: int
    asset: str
    options: JobOptions


@dataclass(slots=True)
class ItemOutcome:
    """What came of one item; plain data.

    ``status`` is a word of the command (``clean``, ``written``, ``failed`` ...), ``code`` the exit code that the
    command has for this asset alone, ``result`` what its JSON report says of it, ``seconds`` how long it took.
    """

    status: str
    code: int
    findings: list[dict[str, Any]] = field(default_factory=list)
    result: dict[str, Any] = field(default_factory=dict)
    seconds: float = 0.0

    def decode_findings(self) -> list[Diagnostic]:
        """The findings as objects: they are stored and sent as JSON data."""
        return [decode_finding(plain) for plain in self.findings]


@dataclass(frozen=True, slots=True)
class JobKind:
    """How a command works as a job.

    ``work`` does one item, in a worker process or in this one.  ``find_known`` looks whether the outcome is known
    already, as in a cache, and gives None where it is not.  ``died`` is the finding for an item whose process dies.
    ``combine`` gives the exit code of the job from the number of items with each exit code; None means
    :func:`combine_exit_codes`.
    """

    work: Callable[[JobOptions], ItemOutcome]
    find_known: Callable[[JobOptions], ItemOutcome | None] | None = None
    died: Kind = JOB_DIED
    combine: Callable[[Mapping[int, int], JobOptions], int] | None = None


JOB_KINDS: Registry[JobKind] = Registry(
    "job",
    "simwright.jobs",
    {
        "check": "simwright.app.checking:CHECK_JOB",
        "fix": "simwright.app.fixing:FIX_JOB",
        "convert": "simwright.app.converting:CONVERT_JOB",
        "diff": "simwright.app.jobs.kinds:DIFF_JOB",
        "prove": "simwright.app.jobs.kinds:PROVE_JOB",
        "render": "simwright.app.jobs.kinds:RENDER_JOB",
        "view": "simwright.app.jobs.kinds:VIEW_JOB",
        "evaluate": "simwright.app.jobs.kinds:EVALUATE_JOB",
        "generate": "simwright.app.jobs.kinds:GENERATE_JOB",
    },
)


@dataclass(frozen=True, slots=True)
class JobSpec:
    """The job without its items.

    ``retries`` is how often an item is tried again whose process died.  ``environment`` has the variables of
    :data:`ENVIRONMENT`.  ``run`` is another text in every run: workers use it as a key of what they keep from item to
    item, so that a resumed job does not use what an earlier run has read.
    """

    command: str
    options: JobOptions = field(default_factory=dict)
    limits: JobLimits = NO_LIMITS
    retries: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    run: str = field(default_factory=lambda: os.urandom(8).hex())

    def merge_options(self, item: JobItem) -> JobOptions:
        """All options for one item: those of the job, over them its own, and ``asset`` and ``run``."""
        own = {name: value for name, value in item.options.items() if name not in OWN_LIMITS}
        return {**self.options, **own, "asset": item.asset, "run": self.run}

    def find_limits(self, item: JobItem) -> JobLimits:
        """The limits of one item."""
        return JobLimits(
            item.options.get("timeout", self.limits.seconds),
            item.options.get("max_memory", self.limits.gibibytes),
        )


def note_environment() -> dict[str, str]:
    """The variables of :data:`ENVIRONMENT` that are set in this process, for a job that is about to be made."""
    return {name: os.environ[name] for name in ENVIRONMENT if name in os.environ}


@contextlib.contextmanager
def hold_environment(spec: JobSpec) -> Iterator[None]:
    """Exactly the job's variables while the block runs: a job that is resumed trusts as far as it did before."""
    before = note_environment()
    try:
        for name in ENVIRONMENT:
            os.environ.pop(name, None)
        os.environ.update(spec.environment)
        yield
    finally:
        for name in ENVIRONMENT:
            os.environ.pop(name, None)
        os.environ.update(before)


def do_item(spec: JobSpec, item: JobItem) -> ItemOutcome:
    """Do one item, in this process: every failure but a wrong option of the whole job becomes an outcome."""
    begun = time.perf_counter()
    try:
        outcome = JOB_KINDS.get(spec.command).work(spec.merge_options(item))
    except UsageError as error:
        # an option is wrong for all of them: told once, not as a finding of each
        if not item.options and not error.where:
            raise
        outcome = fail(item.asset, diagnostic_from_error(error))
    except SimwrightError as error:
        outcome = fail(item.asset, diagnostic_from_error(error))
    except (MemoryError, RecursionError) as error:
        what = f"the input needs too much {type(error).__name__[:-5].lower()}"
        outcome = fail(item.asset, diagnostic_from_error(SimwrightError(what)))
    except Exception as error:  # noqa: BLE001 - the last line of defence
        reporter = Reporter()
        reporter.report(JOB_BROKE, Where(item.asset), what=f"{type(error).__name__}: {error}")
        outcome = fail(item.asset, *reporter.found, code=EXIT_INTERNAL)
    outcome.seconds = time.perf_counter() - begun
    return outcome


def find_known(spec: JobSpec, item: JobItem) -> ItemOutcome | None:
    """The outcome of an item that is known already; None where somebody has to work for it."""
    look = JOB_KINDS.get(spec.command).find_known
    try:
        return look(spec.merge_options(item)) if look is not None else None
    except SimwrightError:
        return None  # whoever works on it says what is wrong


def lose_item(spec: JobSpec, item: JobItem, loss: Loss) -> ItemOutcome:
    """The outcome of an item whose worker process died, or was ended because it took too much time or memory."""
    kind = JOB_KINDS.get(spec.command)
    file = os.path.abspath(item.asset) if os.path.exists(item.asset) else item.asset  # noqa: PTH100, PTH110 - text
    return fail(item.asset, describe_loss(loss, file, spec.find_limits(item), kind.died))


def fail(asset: str, *findings: Diagnostic, code: int = EXIT_BAD_INPUT) -> ItemOutcome:
    """The outcome of an asset that could not be worked on, with the reason."""
    placed = [finding if finding.where else _place(finding, asset) for finding in findings]
    return ItemOutcome("failed", code, encode_findings(placed))


def _place(finding: Diagnostic, asset: str) -> Diagnostic:
    from simwright.core.diag import relocate

    return relocate(finding, Where(asset))


def encode_findings(findings: Iterable[Diagnostic]) -> list[dict[str, Any]]:
    """Findings as JSON data, without the functions of their fixes."""
    from simwright.app.report.json import plain_value

    plain: list[dict[str, Any]] = plain_value([encode_finding(finding) for finding in findings])
    return plain


def combine_codes(command: str, tally: Mapping[int, int], options: JobOptions) -> int:
    """The exit code of a job from how many items have which."""
    combine = JOB_KINDS.get(command).combine
    if combine is not None:
        return combine(tally, options)
    return combine_exit_codes(Counter(tally).elements())


def combine_exit_codes(codes: Iterable[int]) -> int:
    """One exit code for many: 0 all are clean, 3 Simwright failed at one, 2 none could be worked on, else 1."""
    found = set(codes)
    if found <= {EXIT_CLEAN}:
        return EXIT_CLEAN
    # our mistake counts before the user's: a build server should see it
    if EXIT_INTERNAL in found:
        return EXIT_INTERNAL
    return EXIT_BAD_INPUT if found == {EXIT_BAD_INPUT} else EXIT_FINDINGS


def number_items(pairs: Sequence[tuple[str, JobOptions]]) -> list[JobItem]:
    """Items in the order of the report."""
    return [JobItem(number, asset, options) for number, (asset, options) in enumerate(pairs)]
