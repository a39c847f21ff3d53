# SPDX-License-Identifier: Apache-2.0
"""The state of a job: ``job.sqlite`` in a folder, SQLite with a write-ahead log.

=========  =====================================================================================================
job        what it is: command, options, limits, environment, when it began and ended, totals of the runs before
items      the assets in the order of the report, each with options of its own
results    one row for each item that is done: status, exit code, counts, and the outcome as compressed JSON
chunks     which items were given to which worker, and when
=========  =====================================================================================================

A row of ``results`` is written before anybody is told of it: a job that is killed loses only items being worked on.
One process works on a job at a time (a lock beside the file, which ends with the process).  A new job in the same
folder keeps the one before as ``job.previous.sqlite``: reports tell what is new since then.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol, Self

from simwright import __version__
from simwright.app.jobs.model import ItemOutcome, JobItem, JobOptions, JobSpec
from simwright.core.diag import Where
from simwright.core.errors import InputError, NotFoundError, UsageError
from simwright.core.files import lock_file
from simwright.core.pool import JobLimits

FILE = "job.sqlite"
PREVIOUS = "job.previous.sqlite"
LOCK = "job.lock"
VERSION = 2
"""Of the tables below; 1 called the options of an item words."""
_BATCH = 500
_SCHEMA = """
CREATE TABLE job (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE items (number INTEGER PRIMARY KEY, asset TEXT NOT NULL, options TEXT NOT NULL);
CREATE INDEX items_asset ON items (asset);
CREATE TABLE results (
  number INTEGER PRIMARY KEY, status TEXT NOT NULL, code INTEGER NOT NULL, error INTEGER NOT NULL,
  warning INTEGER NOT NULL, info INTEGER NOT NULL, seconds REAL NOT NULL, tally TEXT NOT NULL, outcome BLOB NOT NULL);
CREATE TABLE chunks (chunk INTEGER PRIMARY KEY, worker TEXT NOT NULL, at REAL NOT NULL, numbers TEXT NOT NULL);
"""
LEVELS = ("error", "warning", "info")


class TextSink(Protocol):
    """Takes text as it comes: a file, or standard output."""

    def write(self, text: str, /) -> object:
        """Take some more."""


class JobLock:
    """Keeps other processes from working on the same job; it ends with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise NotFoundError("there is no such folder", where=Where(str(folder)))
        try:
            # None where the file system has no locks: then nobody is kept away
            self._handle = lock_file(folder / LOCK)
        except BlockingIOError:
            raise UsageError(
                "another process works on this job", hint="wait for it, or end it", where=Where(str(folder))
            ) from None

    def release(self) -> None:
        """Let others in."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@dataclass(frozen=True, slots=True)
class JobRow:
    """One item that is done."""

    item: JobItem
    outcome: ItemOutcome
    tally: dict[str, int]
    """Number of findings by ``level rule``."""


@dataclass(slots=True)
class JobTotals:
    """Counts over a whole job: items, those done, and the done ones by status, exit code and level of finding."""

    items: int = 0
    done: int = 0
    statuses: dict[str, int] = field(default_factory=dict)
    codes: dict[int, int] = field(default_factory=dict)
    findings: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    """Work of all workers [s]."""


class JobStore:
    """An open job.  ``writing`` takes the lock, unless the caller has it: then it is this object's from now on."""

    def __init__(self, folder: Path, *, writing: bool = False, lock: JobLock | None = None) -> None:
        self.folder = folder
        self._lock = lock or (JobLock(folder) if writing else None)
        try:
            self._base = _connect(folder / FILE)
            self._about: dict[str, str] = dict(self._base.execute("SELECT key, value FROM job"))
            _check_version(self._about, folder)
        except sqlite3.DatabaseError as error:
            self._release()
            raise InputError(
                f"the state of the job cannot be read: {error}",
                hint="start it from the beginning with --restart",
                where=Where(str(folder / FILE)),
            ) from None
        except BaseException:
            self._release()
            raise

    # --- what the job is

    @property
    def spec(self) -> JobSpec:
        """The job without its items."""
        return _decode_spec(json.loads(self._about["spec"]))

    @property
    def asked(self) -> str:
        """What was asked for, as text that is equal for equal jobs."""
        return self._about["asked"]

    @property
    def history(self) -> list[dict[str, Any]]:
        """Totals of the jobs that were in this folder before, oldest first."""
        found: list[dict[str, Any]] = json.loads(self._about["history"])
        return found

    @property
    def begun(self) -> float:
        """When it began [s since 1970]."""
        return float(self._about["begun"])

    def finish(self) -> None:
        """Note when the last item was done; reports compare only with jobs that have this note."""
        with self._base:
            self._base.execute("INSERT OR REPLACE INTO job VALUES ('ended', ?)", (repr(time.time()),))
        # the log becomes part of the file: a report that is copied elsewhere needs one file only
        self._base.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    # --- items to be done, and their outcomes

    def list_waiting(self) -> Iterator[JobItem]:
        """Items that are not done, in order; read in small batches, so that a job of any size costs little memory."""
        last = -1
        while True:
            found = self._base.execute(
                "SELECT number, asset, options FROM items WHERE number > ? AND number NOT IN "
                "(SELECT number FROM results WHERE number > ?) ORDER BY number LIMIT ?",
                (last, last, _BATCH),
            ).fetchall()
            if not found:
                return
            for number, asset, options in found:
                yield JobItem(number, _from_text(asset), json.loads(options))
            last = found[-1][0]

    def note_handed(self, worker: str, items: Sequence[JobItem]) -> None:
        """Note that a worker was given these items, before it has done them."""
        numbers = json.dumps([item.number for item in items])
        self._base.execute(
            "INSERT INTO chunks (worker, at, numbers) VALUES (?, ?, ?)", (worker, time.time(), numbers)
        )

    def keep(self, item: JobItem, outcome: ItemOutcome) -> None:
        """Write an outcome; when this returns, it survives the end of this process."""
        tally = Counter(f"{found['level']} {found['kind']}" for found in outcome.findings)
        counts = Counter(found["level"] for found in outcome.findings)
        plain = {"findings": outcome.findings, "result": outcome.result}
        text = json.dumps(plain, separators=(",", ":"), allow_nan=False).encode()
        row = (
            item.number,
            outcome.status,
            outcome.code,
            *(counts[level] for level in LEVELS),
            outcome.seconds,
            json.dumps(dict(sorted(tally.items()))),
            zlib.compress(text, 1),
        )
        # a second result of the same item, as of a node that was believed dead, changes nothing
        self._base.execute("INSERT OR IGNORE INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", row)

    # --- reading what is stored

    def count_items(self) -> int:
        """Number of items."""
        return int(self._base.execute("SELECT count(*) FROM items").fetchone()[0])

    def count_done(self) -> int:
        """Number of items that are done."""
        return int(self._base.execute("SELECT count(*) FROM results").fetchone()[0])

    def iterate(self) -> Iterator[JobRow]:
        """Items that are done, in order of the report, one after the other."""
        last = -1
        while True:
            found = self._base.execute(
                "SELECT number, asset, options, status, code, seconds, tally, outcome FROM results "
                "JOIN items USING (number) WHERE number > ? ORDER BY number LIMIT ?",
                (last, _BATCH),
            ).fetchall()
            if not found:
                return
            for number, asset, options, status, code, seconds, tally, packed in found:
                plain = json.loads(zlib.decompress(packed))
                outcome = ItemOutcome(status, code, plain["findings"], plain["result"], seconds)
                yield JobRow(
                    JobItem(number, _from_text(asset), json.loads(options)), outcome, json.loads(tally)
                )
            last = found[-1][0]

    def measure(self) -> JobTotals:
        """Count items, outcomes and findings."""
        totals = JobTotals(self.count_items(), self.count_done())
        ask = self._base.execute
        totals.statuses = dict(ask("SELECT status, count(*) FROM results GROUP BY status ORDER BY status"))
        totals.codes = dict(ask("SELECT code, count(*) FROM results GROUP BY code ORDER BY code"))
        sums = ask("SELECT total(error), total(warning), total(info), total(seconds) FROM results").fetchone()
        totals.findings = {level: int(count) for level, count in zip(LEVELS, sums, strict=False)}
        totals.seconds = float(sums[3])
        return totals

    def count_attempts(self) -> Counter[int]:
        """How often each item was given to a worker, by the number of the item."""
        tally: Counter[int] = Counter()
        for (numbers,) in self._base.execute("SELECT numbers FROM chunks"):
            tally.update(json.loads(numbers))
        return tally

    def compare_previous(self) -> Iterator[tuple[dict[str, int], dict[str, int] | None]] | None:
        """Findings by ``level rule`` of each asset now and in the job before, None for an asset that it did not have.

        None where there was no finished job of the same command in the folder before.
        """
        if not (self.folder / PREVIOUS).is_file():
            return None
        ask = self._base.execute
        try:
            if "before" not in {row[1] for row in ask("PRAGMA database_list")}:
                ask("ATTACH ? AS before", (str(self.folder / PREVIOUS),))
            about = dict(ask("SELECT key, value FROM before.job"))
        except sqlite3.DatabaseError:
            return None
        if about.get("version") != str(VERSION) or "ended" not in about:
            return None
        if json.loads(about["spec"])["command"] != self.spec.command:
            return None
        rows = ask(
            "SELECT r.tally, (SELECT o.tally FROM before.items j JOIN before.results o USING (number) "
            "WHERE j.asset = i.asset LIMIT 1) FROM results r JOIN items i USING (number) ORDER BY number"
        )
        return ((json.loads(now), json.loads(then) if then is not None else None) for now, then in rows)

    def close(self) -> None:
        """Close the file and give the lock back."""
        self._base.close()
        self._release()

    def _release(self) -> None:
        if self._lock is not None:
            self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def create_store(folder: Path, spec: JobSpec, items: Iterable[JobItem], asked: JobOptions) -> JobStore:
    """A new job in a folder, where the one before it is kept aside; it appears with all its items, or not at all."""
    folder.mkdir(parents=True, exist_ok=True)
    lock = JobLock(folder)
    try:
        history = _read_history(folder)
        new = folder / f"{FILE}.new"
        new.unlink(missing_ok=True)
        base = sqlite3.connect(new)
        with base:
            base.executescript(_SCHEMA)
            about = {
                "version": str(VERSION),
                "tool": __version__,
                "spec": json.dumps(_encode_spec(spec)),
                "asked": describe_asked(spec, asked),
                "begun": repr(time.time()),
                "history": json.dumps(history),
            }
            base.executemany("INSERT INTO job VALUES (?, ?)", about.items())
            base.executemany(
                "INSERT INTO items VALUES (?, ?, ?)",
                ((item.number, _as_text(item.asset), json.dumps(item.options)) for item in items),
            )
        base.close()
        if (folder / FILE).exists():
            # a log that is left would be taken for the new file's: put it into its own first
            with contextlib.suppress(sqlite3.DatabaseError):
                old = sqlite3.connect(folder / FILE)
                old.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                old.close()
            (folder / FILE).replace(folder / PREVIOUS)
        for ending in ("-wal", "-shm"):
            (folder / f"{FILE}{ending}").unlink(missing_ok=True)
        new.replace(folder / FILE)
    except BaseException:
        lock.release()
        raise
    return JobStore(folder, lock=lock)


def describe_asked(spec: JobSpec, asked: JobOptions) -> str:
    """What a job was asked for, as text: a job is resumed only by whoever asks for the same."""
    plain = {"command": spec.command, "options": spec.options, "environment": spec.environment, **asked}
    return json.dumps(plain, sort_keys=True, default=str)


def find_stores(folders: Iterable[Path]) -> Iterator[Path]:
    """Folders with a job: those given, and those below them."""
    for folder in folders:
        for base, below, names in os.walk(folder):
            below[:] = sorted(name for name in below if not name.startswith("."))
            if FILE in names:
                yield Path(base)


def _read_history(folder: Path) -> list[dict[str, Any]]:
    """Totals of the job that is in the folder now, after those of the ones before it."""
    if not (folder / FILE).exists():
        return []
    try:
        with JobStore(folder) as store:
            totals = store.measure()
            row = {"begun": store.begun, "items": totals.items, "done": totals.done, **totals.findings}
            return [*store.history, {**row, "failed": totals.statuses.get("failed", 0)}][-100:]
    except (InputError, UsageError):
        return []


def _check_version(about: dict[str, str], folder: Path) -> None:
    if about.get("version") != str(VERSION):
        raise UsageError(
            f"the job is of version {about.get('version')!r}, this program has {VERSION}",
            hint="use the version of Simwright that began it, or start it from the beginning with --restart",
            where=Where(str(folder)),
        )


def _connect(file: Path) -> sqlite3.Connection:
    if not file.is_file():
        raise NotFoundError(
            "there is no job in this folder",
            hint="name the folder given to --job",
            where=Where(str(file.parent)),
        )
    # autocommit: every statement is safe when it returns, at the price of a write to the log, not to the disk
    base = sqlite3.connect(file, isolation_level=None, timeout=30.0)
    base.execute("PRAGMA journal_mode=WAL")
    base.execute("PRAGMA synchronous=NORMAL")
    return base


def _as_text(path: str) -> str:
    """SQLite has UTF-8 only; a name that is none is marked and kept byte by byte."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return "\0" + os.fsencode(path).hex()
    return path


def _from_text(text: str) -> str:
    return os.fsdecode(bytes.fromhex(text[1:])) if text.startswith("\0") else text


def _encode_spec(spec: JobSpec) -> dict[str, Any]:
    plain = asdict(spec)
    plain.pop("run")
    return plain


def _decode_spec(plain: dict[str, Any]) -> JobSpec:
    return JobSpec(**{**plain, "limits": JobLimits(**plain["limits"])})
