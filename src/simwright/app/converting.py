# SPDX-License-Identifier: Apache-2.0
"""Converting one file or many: what came of each, what was lost, what the checker says about the result.

A file that cannot be converted does not stop the others, and neither does a process that dies over one.

What is converted is a file, or all that folders and patterns mean.  In a folder every description of a robot or scene
counts, by the endings of the formats that are read, except what is in the wanted format already.  Each becomes a
folder of its own below OUT, named by its path.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from simwright.app.api import convert
from simwright.app.jobs.listing import means_many
from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobKind,
    JobOptions,
    JobSpec,
    encode_findings,
    note_environment,
    number_items,
)
from simwright.core.diag import (
    Diagnostic,
    Level,
    Reporter,
    Where,
    declare,
    diagnostic_from_error,
    sort_diagnostics,
)
from simwright.core.errors import (
    EXIT_BAD_INPUT,
    EXIT_CLEAN,
    EXIT_FINDINGS,
    EXIT_INTERNAL,
    NotFoundError,
    SimwrightError,
    StrictError,
    UsageError,
)
from simwright.core.files import suggest_sibling
from simwright.core.pool import NO_LIMITS, JobLimits
from simwright.formats.table import FORMATS, choose_writer, detect_format

if TYPE_CHECKING:
    from simwright.app.jobs.running import JobListener

WRITING = (
    "for_", "exact", "lod", "decompose", "flatten", "overwrite", "mesh_format", "mesh_paths", "package_name",
    "collision", "quantize", "world", "sdf_version",
)  # fmt: skip
"""Options that are words of the writers."""
WORKER_DIED = declare(
    "convert-process-died",
    Level.ERROR,
    "the process that converted this file died",
    hint="please report it; the other files were converted",
    doc="A worker process ended without a result while it converted a file.",
)


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What is asked for, the same for every file; the words of :func:`simwright.convert`."""

    to: str | None = None
    packages: dict[str, Path] = field(default_factory=dict)
    arguments: dict[str, str] = field(default_factory=dict)
    variants: dict[str, str] = field(default_factory=dict)
    strict: bool = False
    check: bool = True
    writing: dict[str, Any] = field(default_factory=dict)
    """What the writer is told: fields of :class:`simwright.formats.format.WriteOptions`."""


@dataclass(slots=True)
class Conversion:
    """What came of one file.

    ``status`` is ``written``, ``refused`` (strict mode) or ``failed``; ``entry`` the file to open, ``files`` all that
    were written, relative to its folder; ``checked`` what the checker found in the result, None if it was not asked;
    ``problem`` the finding that ended a failed conversion.
    """

    source: str
    status: str = "failed"
    entry: str = ""
    files: list[str] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    checked: list[Diagnostic] | None = None
    problem: Diagnostic | None = None
    internal: bool = False

    @property
    def losses(self) -> list[Diagnostic]:
        """Findings about what is not in the result."""
        return [finding for finding in self.findings if finding.loss]

    @property
    def exit_code(self) -> int:
        """0 clean, 1 errors or a loss in strict mode, 2 not converted, 3 our mistake."""
        if self.status == "failed":
            return EXIT_INTERNAL if self.internal else EXIT_BAD_INPUT
        found = [*self.findings, *(self.checked or [])]
        has_error = any(finding.level is Level.ERROR for finding in found)
        return EXIT_FINDINGS if has_error or self.status == "refused" else EXIT_CLEAN


def convert_all(
    tasks: Sequence[Task],
    options: ConvertOptions,
    *,
    jobs: int = 1,
    limits: JobLimits = NO_LIMITS,
    listener: JobListener | None = None,
) -> list[Conversion]:
    """Convert files, in the order of the tasks; ``jobs`` is the number of processes, ``limits`` those of each file."""
    from simwright.app.jobs.running import LocalExecutor, run_items

    spec, items = plan_conversions(tasks, options, limits)
    outcomes = run_items(spec, items, LocalExecutor(jobs), listener)
    return [decode_conversion(item.asset, one) for item, one in zip(items, outcomes, strict=True)]


def plan_conversions(
    tasks: Sequence[Task], options: ConvertOptions, limits: JobLimits = NO_LIMITS
) -> tuple[JobSpec, list[JobItem]]:
    """The job of converting files."""
    plain: JobOptions = asdict(options)
    plain["packages"] = {name: str(path) for name, path in options.packages.items()}
    spec = JobSpec("convert", plain, limits, environment=note_environment())
    return spec, number_items([(task.source, {"target": task.target}) for task in tasks])


def plan_manifest(
    entries: Sequence[tuple[str, JobOptions]], target: str, manifest: Path | None
) -> list[tuple[str, JobOptions]]:
    """Files of a manifest with the places of their results: their own, or below ``target`` as they lie beside it."""
    if manifest is None:
        return []
    root = manifest.absolute().parent
    pairs = [(path, _strip_suffix(Path(os.path.relpath(path, root)).as_posix())) for path, _ in entries]
    # a file outside of the manifest's folder gets its name alone: results stay below the target
    names = _make_unique([(path, name if ".." not in name else Path(name).name) for path, name in pairs])
    return [
        (path, {"target": str(Path(target) / name), **own})
        for (path, name), (_, own) in zip(names, entries, strict=True)
    ]


def convert_item(given: JobOptions) -> ItemOutcome:
    """Convert a file among others: a mistake of ours costs this one only."""
    options = ConvertOptions(**{one.name: given[one.name] for one in fields(ConvertOptions)})
    # a manifest says words of the writer as such, beside the others
    own = {name: given[name] for name in WRITING if name in given}
    options = replace(options, writing={**options.writing, **own})
    result = convert_one(Task(given["asset"], given["target"]), options)
    return ItemOutcome(
        result.status,
        result.exit_code,
        encode_findings([*result.findings, *(result.checked or [])]),
        {
            "entry": result.entry,
            "files": result.files,
            "checked": None if result.checked is None else len(result.checked),
        },
    )


def decode_conversion(source: str, outcome: ItemOutcome) -> Conversion:
    """The conversion of an outcome of :func:`convert_item`, or of a file that was lost."""
    told, found = outcome.result, outcome.decode_findings()
    checked = told.get("checked")
    first = len(found) - (checked or 0)
    return Conversion(
        source,
        outcome.status,
        told.get("entry", ""),
        told.get("files", []),
        found[:first],
        None if checked is None else found[first:],
        internal=outcome.code == EXIT_INTERNAL,
    )


def convert_one(task: Task, options: ConvertOptions) -> Conversion:
    """Convert a file, and check what was written; mistakes of ours are raised."""
    reporter = Reporter()
    result = Conversion(task.source)
    written: list[Path] = []
    try:
        entry = convert(
            task.source,
            task.target,
            to=options.to,
            packages=options.packages,
            arguments=options.arguments,
            variants=options.variants,
            strict=options.strict,
            **options.writing,
            wrote=written.extend,
            reporter=reporter,
        )
    # no problem of the file: its findings say what was not allowed
    except StrictError:
        result.status = "refused"
    except SimwrightError as error:
        result.problem = reporter.add(diagnostic_from_error(error))
    else:
        result.status, result.entry = "written", str(entry)
        folder = entry.parent
        result.files = sorted(file.relative_to(folder).as_posix() for file in written or [entry])
        result.checked = check_result(entry, options) if options.check else None
    result.findings = sort_diagnostics(reporter)
    return result


def check_result(entry: Path, options: ConvertOptions) -> list[Diagnostic] | None:
    """What all rules of the checker say about a written asset; None if it is no OpenUSD asset."""
    from simwright.checker.entry_points import SUFFIXES

    if entry.suffix not in SUFFIXES:
        return None
    from simwright.app.api import check

    report = check(entry, packages=options.packages)
    return sort_diagnostics(finding for _, finding in report)


_PARTS = (".xacro",)
"""Endings of files that are mostly parts of others; by name they can be converted, in a folder they are passed over."""
_MAGIC = frozenset("*?[")


CONVERT_JOB = JobKind(convert_item, died=WORKER_DIED)


class Task(NamedTuple):
    """One file to convert, and where to."""

    source: str
    target: str


def plan_tasks(inputs: Sequence[str], target: str, to: str | None) -> list[Task]:
    """The files that the inputs mean; one plain file goes to ``target`` itself."""
    if len(inputs) == 1 and not means_many(inputs[0]):
        return [Task(inputs[0], target)]
    if Path(target).is_file() or (Path(target).suffix and not Path(target).is_dir()):
        raise UsageError(
            "several files are converted into a folder, not a file",
            hint="name a folder as OUT",
            where=Where(target),
        )
    wanted = choose_writer(target, to).name
    found: dict[str, str] = {}
    for item in inputs:
        for path, name in _expand(item, wanted, target):
            # by real path: a file that a folder and a pattern both name is converted once
            found.setdefault(os.path.realpath(path), f"{path}\0{name}")
    pairs = [entry.split("\0") for entry in found.values()]
    names = _make_unique([(path, name) for path, name in pairs])
    return [Task(path, str(Path(target) / name)) for path, name in names]


def _expand(text: str, wanted: str, target: str) -> Iterator[tuple[str, str]]:
    """``(file, name of its result)``."""
    path = Path(text)
    if path.is_dir():
        # a folder, a file and a pattern in one function: what is not there decides between the last two
        found = list(_walk(path, wanted, Path(target)))
        if not found:
            raise UsageError("there is nothing to convert in this folder", where=Where(text))
        yield from ((str(file), _strip_suffix(file.relative_to(path).as_posix())) for file in found)
    elif path.exists() or not _MAGIC & set(text):
        if not path.exists():
            raise NotFoundError("no such file or folder", hint=suggest_sibling(path), where=Where(text))
        yield text, _strip_suffix(path.name)
    else:
        matches = sorted(glob.glob(text, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        files = [match for match in matches if Path(match).is_file()]
        if not files:
            raise UsageError(f"no file matches {text!r}", hint="check the pattern, or quote it for the shell")
        # results keep the folders below what the matches have in common, so that equal names do not meet
        root = Path(os.path.commonpath([os.path.dirname(file) or "." for file in files]))  # noqa: PTH120 - text
        for file in files:
            yield file, _strip_suffix(Path(os.path.relpath(file, root)).as_posix())


def _walk(folder: Path, wanted: str, target: Path) -> Iterator[Path]:
    """Descriptions below a folder, hidden places and the results aside."""
    # OUT may lie inside IN: results of an earlier run are not converted again
    result = target.resolve()
    for base, folders, names in os.walk(folder):
        place = Path(base)
        folders[:] = sorted(n for n in folders if not n.startswith(".") and (place / n).resolve() != result)
        for name in sorted(names):
            if not name.startswith(".") and _is_description(place / name, wanted):
                yield place / name
    # layers refer to each other: only the entry points of assets are converted, which the checker
    # knows to find
    if wanted != "usd":
        yield from _find_layers(folder)


def _find_layers(folder: Path) -> list[Path]:
    from simwright.checker.entry_points import find_assets

    try:
        return [Path(path) for path in find_assets([folder])]
    except UsageError:
        return []


def _is_description(file: Path, wanted: str) -> bool:
    if not file.name.lower().endswith(tuple(ending for ending in _list_endings() if ending not in _PARTS)):
        return False
    try:
        return detect_format(file).name not in (wanted, "usd")
    except SimwrightError:
        return False


def _strip_suffix(name: str) -> str:
    for ending in _list_endings():
        if name.lower().endswith(ending):
            return name[: -len(ending)]
    return str(Path(name).with_suffix(""))


@cache
def _list_endings() -> tuple[str, ...]:
    """Endings of files of all formats that are read, longer ones first."""
    rows = [row for _, row in FORMATS.items() if row.reader]
    endings = {ending for row in rows for ending in (*row.extensions, *row.shared_extensions)}
    return tuple(sorted(endings, key=lambda ending: (-len(ending), ending)))


def _make_unique(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Names by which no result lies in another one: equal ones, and ones that are folders of others, get a suffix."""
    names = Counter(name for _, name in pairs)
    folders = {str(parent) for name in names for parent in Path(name).parents}
    taken: set[str] = set()
    unique = []
    for path, name in pairs:
        # a result that is a folder of another one would be mixed with it
        is_clear = name not in folders and names[name] == 1
        base = name if is_clear else f"{name}_{path.rpartition('.')[2].lower()}"
        candidates = (base, *(f"{base}_{number}" for number in range(2, len(pairs) + 2)))
        chosen = next(word for word in candidates if word not in taken and word not in folders)
        taken.add(chosen)
        unique.append((path, chosen))
    return unique
