# SPDX-License-Identifier: Apache-2.0
"""Send an item with every file it needs to a machine that does not see our paths, and its results back.

An OpenUSD asset goes with what its layers name (:mod:`simwright.usd.collect`); one of another format with all files
below its root folder.  The worker gets a private folder; in what it says about the asset, paths are ours again.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright.app.jobs.model import ItemOutcome, JobItem, JobSpec, fail
from simwright.core.diag import Diagnostic, Reporter, Where, diagnostic_from_error
from simwright.core.errors import LimitError, SimwrightError
from simwright.core.files import resolve_inside, write_atomic
from simwright.core.gate import find_root
from simwright.core.packages import find_packages
from simwright.core.scratch import scratch_folder

MOST_BYTES = 256 << 20
"""The largest size of one asset with its files [bytes]; a cluster whose machines share a disk needs no shipping."""
_NAMES = ("asset", "other")
"""Options of an item that name files to read."""
_SHIPPED = "shipped"
"""Where an outcome carries the files that were written."""


@dataclass(frozen=True, slots=True)
class ShippedFiles:
    """One asset: ``folder`` is where its files are here, ``entry`` the file to open, from there."""

    folder: str
    entry: str
    files: dict[str, bytes]


@dataclass(slots=True)
class Shipment:
    """Everything that goes with an item, by the word that names it; ``problem`` says why it cannot go."""

    parts: dict[str, ShippedFiles] = field(default_factory=dict)
    problem: Diagnostic | None = None


def pack_item(spec: JobSpec, item: JobItem) -> Shipment:
    """Read all files that an item needs; a file that cannot be read becomes the problem of the shipment."""
    options = spec.merge_options(item)
    shipment = Shipment()
    try:
        for name in _NAMES:
            if name in options:
                shipment.parts[name] = _gather(Path(options[name]), options.get("packages", {}))
    except SimwrightError as error:
        shipment.problem = diagnostic_from_error(error)
    except OSError as error:
        told = SimwrightError(f"cannot be read: {error.strerror or error}", where=Where(item.asset))
        shipment.problem = diagnostic_from_error(told)
    return shipment


def _gather(file: Path, packages: dict[str, str]) -> ShippedFiles:
    from simwright.checker.entry_points import SUFFIXES
    from simwright.formats.format import ReadOptions
    from simwright.formats.usd.delivery import gather_files

    if file.suffix.lower() in SUFFIXES and file.is_file():
        named = {name: Path(folder) for name, folder in packages.items()}
        options = ReadOptions(packages=find_packages(named, near=[file.parent]))
        entry, files = gather_files(file, options, Reporter())
        _check_size(sum(map(len, files.values())), file)
        return ShippedFiles(str(file.absolute().parent), entry, files)
    root = find_root(file)
    found: dict[str, bytes] = {}
    size = 0
    for base, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(base) / name
            # links may lead out of the asset, and into anything
            if path.is_symlink() or not path.is_file() or name.startswith("."):
                continue
            size += path.stat().st_size
            _check_size(size, file)
            found[path.relative_to(root).as_posix()] = path.read_bytes()
    return ShippedFiles(str(root), file.absolute().resolve().relative_to(root).as_posix(), found)


def _check_size(size: int, file: Path) -> None:
    if size > MOST_BYTES:
        raise LimitError(
            f"the asset and its files are more than {MOST_BYTES >> 20} MiB",
            hint="let the machines of the cluster see the same paths, and leave --ship out",
            where=Where(str(file)),
        )


@contextlib.contextmanager
def unpacked(
    chunk: Sequence[JobItem], shipments: Sequence[Shipment]
) -> Iterator[tuple[list[JobItem], Callable[[int, ItemOutcome], ItemOutcome]]]:
    """Write shipped files to a private folder, for as long as the block runs.

    Gives the items with paths in that folder, and a function that the agent calls with the number and the outcome of
    each: it puts the original paths back into findings and result and adds the files that were written.  For an item
    that could not be packed it gives a failure with the reason.
    """
    with scratch_folder() as folder:
        placed, back = [], {}
        for item, shipment in zip(chunk, shipments, strict=True):
            here = folder / str(item.number)
            options, names = dict(item.options), {}
            for name, part in shipment.parts.items():
                for place, data in part.files.items():
                    target = resolve_inside(here / name, place)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
                names[str(here / name)] = part.folder
                options[name] = str(here / name / part.entry)
            if "target" in options:
                names[str(here / "out")] = str(Path(options["target"]).parent)
                options["target"] = str(here / "out" / Path(options["target"]).name)
                (here / "out").mkdir(parents=True, exist_ok=True)
            placed.append(JobItem(item.number, options.pop("asset", item.asset), options))
            back[item.number] = (here, names, shipment.problem, item.asset)

        def restore(number: int, outcome: ItemOutcome) -> ItemOutcome:
            here, names, problem, asset = back[number]
            if problem is not None:
                return fail(asset, problem)
            plain = json.dumps({"findings": outcome.findings, "result": outcome.result})
            for ours, theirs in names.items():
                plain = plain.replace(json.dumps(ours)[1:-1], json.dumps(theirs)[1:-1])
            told = json.loads(plain)
            written = _read_written(here / "out")
            if written:
                told["result"][_SHIPPED] = written
            return ItemOutcome(
                outcome.status, outcome.code, told["findings"], told["result"], outcome.seconds
            )

        yield placed, restore


def _read_written(folder: Path) -> dict[str, bytes]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def deliver(item: JobItem, outcome: ItemOutcome) -> None:
    """Write the files that came back with an outcome to where they belong."""
    written: dict[str, Any] = outcome.result.pop(_SHIPPED, {})
    for place, data in written.items():
        write_atomic(resolve_inside(Path(item.options["target"]).parent, place), data)
