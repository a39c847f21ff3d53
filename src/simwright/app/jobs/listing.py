# SPDX-License-Identifier: Apache-2.0
"""The items of a job: files, folders and patterns of the command line, and manifest files.

A manifest lists assets, each with options of its own over those of the command line.  It is YAML or JSON, a list or
``assets:`` of one, or JSON lines (``.jsonl``), which any number of assets fits in::

    assets:
      - robots/arm.usda
      - asset: robots/hand.usda
        ignore: [units-meters]
        timeout: 30

Paths and patterns count from the folder of the manifest.  An option that the command does not have, or a value of
another kind, is an error with its line.
"""

from __future__ import annotations

import glob
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from simwright.app.jobs.model import JobOptions
from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, ParseError, UnknownNameError, UsageError
from simwright.core.files import suggest_sibling

OptionKinds: TypeAlias = Mapping[str, str]
"""Options that an asset of a manifest may have, and of which kind: ``text``, ``flag``, ``number``, ``texts``,
``pairs`` or ``path``."""

LIMIT_KINDS: OptionKinds = {"timeout": "number", "max_memory": "number"}
_MAGIC = frozenset("*?[")
_MAX_LINE = 1 << 20
DESCRIPTIONS = (
    ".usda",
    ".usdc",
    ".usd",
    ".usdz",
    ".urdf",
    ".sdf",
    ".world",
    ".xml",
    ".mjcf",
    ".glb",
    ".gltf",
)
"""Endings of files that describe a robot or a scene, for folders of them."""


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def _is_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


def _is_pairs(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(one, str) for one in (*value, *value.values()))


_KINDS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "text": ("a text", lambda value: isinstance(value, str)),
    "path": ("a path", lambda value: isinstance(value, str)),
    "flag": ("true or false", lambda value: isinstance(value, bool)),
    "number": ("a number", _is_number),
    "texts": ("a list of texts", _is_texts),
    "pairs": ("names with texts", _is_pairs),
}


def read_manifest(file: Path, kinds: OptionKinds) -> list[tuple[str, JobOptions]]:
    """Assets with their own options, in the order of the file, patterns as the files that match."""
    folder = file.absolute().parent
    found: list[tuple[str, JobOptions]] = []
    for entry, where in _list_entries(file):
        asset, options = _read_entry(entry, where, {**LIMIT_KINDS, **kinds}, folder)
        found += [(path, options) for path in _expand(asset, folder, where)]
    if not found:
        raise UsageError("the manifest lists no assets", where=Where(str(file)))
    return found


def _list_entries(file: Path) -> Iterator[tuple[Any, Where]]:
    if file.suffix.lower() in (".jsonl", ".ndjson"):
        yield from _list_lines(file)
        return
    # loaded for manifests only: a command on one file, which asks whether it is one, starts sooner without it
    from simwright.core.documents.read import read_document

    document = read_document(file)
    data = document.data
    path: tuple[str, ...] = ()
    if isinstance(data, dict):
        unknown = next((key for key in data if key != "assets"), None)
        if unknown is not None:
            raise UnknownNameError("key", unknown, ["assets"], where=document.find_where(unknown, key=True))
        data, path = data.get("assets"), ("assets",)
    if not isinstance(data, list):
        raise ParseError("a manifest is a list of assets", hint="see docs/jobs.md", where=Where(str(file)))
    for number, entry in enumerate(data):
        yield entry, document.find_where(*path, number)


def _list_lines(file: Path) -> Iterator[tuple[Any, Where]]:
    try:
        with file.open(encoding="utf-8", errors="strict") as stream:
            for number, line in enumerate(stream, 1):
                where = Where(str(file), number)
                if not line.strip():
                    continue
                # a line of any length would be read whole; an asset with its options is short
                if len(line) > _MAX_LINE:
                    raise ParseError(f"a line has more than {_MAX_LINE} characters", where=where)
                try:
                    yield json.loads(line), where
                except (ValueError, RecursionError) as error:
                    raise ParseError(f"is not JSON: {error}", where=where) from None
    except FileNotFoundError:
        raise NotFoundError("no such manifest", hint=suggest_sibling(file), where=Where(str(file))) from None
    except UnicodeDecodeError as error:
        raise ParseError(f"is not UTF-8: {error.reason}", where=Where(str(file))) from None


def _read_entry(entry: Any, where: Where, kinds: OptionKinds, folder: Path) -> tuple[str, JobOptions]:
    if isinstance(entry, str):
        return entry, {}
    if not isinstance(entry, dict) or not isinstance(entry.get("asset"), str):
        raise ParseError("an asset is a path, or has the key 'asset' with one", where=where)
    own = {name: value for name, value in entry.items() if name != "asset"}
    options = check_options(own, kinds, where)
    for name in options:
        if kinds[name] == "path":
            options[name] = str(folder / options[name])
    return entry["asset"], options


def check_options(plain: Mapping[str, Any], kinds: OptionKinds, where: Where | None = None) -> JobOptions:
    """Options of one asset; what the command does not have, or is of another kind, is an error."""
    options: JobOptions = {}
    for name, value in plain.items():
        key = name.replace("-", "_")
        if key not in kinds:
            raise UnknownNameError("option", name, kinds, where=where)
        kind, fits = _KINDS[kinds[key]]
        if not fits(value) or (key in LIMIT_KINDS and not value > 0):
            raise ParseError(f"{name} has to be {kind}, not {value!r}", where=where)
        options[key] = value
    return options


def _expand(asset: str, folder: Path, where: Where) -> list[str]:
    path = str(folder / asset)
    if os.path.lexists(path) or not _MAGIC & set(asset):
        return [path]
    # the folder itself may hold characters of patterns
    matches = sorted(glob.glob(os.path.join(glob.escape(str(folder)), asset), recursive=True))  # noqa: PTH118, PTH207
    files = [match for match in matches if Path(match).is_file()]
    if not files:
        raise UsageError(f"no file matches {asset!r}", where=where)
    return files


def means_many(text: str) -> bool:
    """Is it a folder or a pattern, and not a file?"""
    path = Path(text)
    return path.is_dir() or (not path.exists() and bool(_MAGIC & set(text)))


def pair_files(first: str, second: str) -> list[tuple[str, str]]:
    """Files of two folders that have the same path but for the ending; a file that has no partner is an error."""
    sides = [{}, {}]  # type: list[dict[str, str]]
    for side, folder in zip(sides, (first, second), strict=True):
        for file in expand_inputs([folder], DESCRIPTIONS):
            name = str(Path(os.path.relpath(file, folder)).with_suffix(""))
            if name in side:
                raise UsageError(
                    f"{side[name]} and {file} have the same name",
                    hint="list the pairs in a --manifest, each with asset and other",
                )
            side[name] = file
    alone = sorted({*sides[0]} ^ {*sides[1]})
    if alone:
        where = first if alone[0] in sides[0] else second
        more = f" and {len(alone) - 1} more" if len(alone) > 1 else ""
        raise UsageError(
            f"{alone[0]}{more} is in {where} only",
            hint="list the pairs in a --manifest, each with asset and other",
        )
    return [(file, sides[1][name]) for name, file in sides[0].items()]


def expand_inputs(inputs: list[str], endings: tuple[str, ...]) -> list[str]:
    """Files that the inputs mean: those with one of the endings in folders, hidden ones aside, and matches of patterns.

    A file that does not exist is kept: to say so is part of the report.
    """
    found: dict[str, None] = {}
    for text in inputs:
        path = Path(text)
        if path.is_dir():
            files = [str(file) for file in _walk(path, endings)]
            if not files:
                raise UsageError(f"there is no {' or '.join(endings)} file in this folder", where=Where(text))
        elif path.exists() or not _MAGIC & set(text):
            files = [text]
        else:
            files = [one for one in sorted(glob.glob(text, recursive=True)) if Path(one).is_file()]  # noqa: PTH207
            if not files:
                raise UsageError(
                    f"no file matches {text!r}", hint="check the pattern, or quote it for the shell"
                )
        found.update(dict.fromkeys(files))
    return list(found)


def _walk(folder: Path, endings: tuple[str, ...]) -> Iterator[Path]:
    for base, below, names in os.walk(folder):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            if not name.startswith(".") and name.lower().endswith(endings):
                yield Path(base) / name
