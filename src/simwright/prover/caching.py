# SPDX-License-Identifier: Apache-2.0
"""Answers of engines that were asked before, while nothing that decides them has changed.

An entry is one column of a proof.  Its name is a digest of the asset as it was read (all that its files say, points of
meshes and places in the files included), the environments of the engine and of the one it is held against, the
settings, and every source file of Simwright that takes part, workers among them.  An entry that is damaged counts as
absent.  A column without an answer is not kept: the engine may be installed, or have more time, the next time.
"""

from __future__ import annotations

import dataclasses
import enum
import hashlib
import importlib.metadata
import platform
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from simwright.checker.cache import Cache, hash_file, open_cache
from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.errors import SimwrightError
from simwright.model.asset import Asset
from simwright.model.geometry import Mesh
from simwright.prover.aspects import Outcome
from simwright.prover.causes import DifferenceCause
from simwright.prover.motion import MotionReference, MotionResult, MotionRun
from simwright.prover.processes import EnginePool
from simwright.prover.proving import Column, Proof, ProofSettings, Watch, prove_asset
from simwright.prover.table import REFERENCE, find_engine

NO_MOTION = "no motion"
"""The cause of a motion that an engine could not make; it may the next time, with more of it."""

ROOMS = ("core", "engines", "formats", "model", "prover", "resolve", "usd")
"""Packages whose sources decide what an engine is given and what is made of its answers."""


def open_proof_cache(enabled: bool = True) -> Cache:
    """The user's cache of proofs; one that holds nothing where that is not wanted."""
    return open_cache(enabled, "prove", ROOMS)


def prove_cached(
    asset: Asset,
    settings: ProofSettings,
    cache: Cache,
    watch: Watch | None = None,
    folder: Path | None = None,
    *,
    pool: EnginePool | None = None,
) -> Proof:
    """As :func:`~simwright.prover.proving.prove_asset`, but only engines are asked whose answers are not in the cache.

    ``pool`` has the processes of engines.  Where ``folder`` is to keep what engines are given, all of them are asked.
    """
    settings.check()
    names = settings.list_columns()
    content = digest_asset(asset) if cache.folder is not None else ""
    keys = {name: _make_key(cache, content, settings, name) for name in names}
    known: dict[str, tuple[str, Column]] = {}
    if folder is None:
        known = {name: pair for name, key in keys.items() if (pair := _find(cache, key)) is not None}
    missing = tuple(name for name in names if name not in known)
    if missing:
        proof = prove_asset(asset, dataclasses.replace(settings, engines=missing), watch, folder, pool=pool)
        now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        for name, column in zip(missing, proof.columns, strict=True):
            column.measured = now
            known[name] = proof.version, column
            _keep(cache, keys[name], proof.version, column)
        cache.trim()
    version = next(version for version, _ in known.values())
    return Proof(asset.name, settings.against, version, settings, [known[name][1] for name in names])


def forget(engine: str) -> int:
    """Remove what is kept of an engine that was uninstalled, with all its solvers; gives how many answers."""
    cache = open_proof_cache()
    count = 0
    for file in cache.folder.glob("??/*.json") if cache.folder is not None else ():
        found = _find(cache, file.stem)
        if found is not None and found[1].outcome.engine.partition(":")[0] == engine:
            file.unlink(missing_ok=True)
            count += 1
    return count


def _make_key(cache: Cache, content: str, settings: ProofSettings, name: str) -> str:
    """The name of an entry; empty where there cannot be one."""
    places = [_name_environment(engine) for engine in (name, settings.against)]
    if cache.folder is None or not all(places):
        return ""
    said = dataclasses.asdict(settings)
    return cache.make_key("proof", content, name, places, {**said, "engines": []})


def _name_environment(engine: str) -> str:
    """All that is installed for an engine, as a digest; empty where it is not."""
    if engine == REFERENCE:
        python = f"{platform.python_version()} {platform.machine()}"
        return f"{importlib.metadata.version('mujoco')} {importlib.metadata.version('numpy')} {python}"
    environment = find_engine(engine).environment
    return environment.folder.name if environment.ready else ""


def _find(cache: Cache, key: str) -> tuple[str, Column] | None:
    entry = cache.get(key) if key else None
    if entry is None:
        return None
    try:
        column = decode(entry["column"])
        version = entry["version"]
    except (AttributeError, KeyError, TypeError, ValueError):
        return None
    return (version, column) if isinstance(column, Column) and isinstance(version, str) else None


def _keep(cache: Cache, key: str, version: str, column: Column) -> None:
    failed = any(cause.word == NO_MOTION for cause in column.causes.values())
    if not key or failed or not column.outcome.loads:
        return
    try:
        entry = {"version": version, "column": encode(column)}
    except TypeError:
        # a value that cannot be kept as it is would make another report of the next run
        return
    cache.put(key, entry)


_CLASSES: dict[str, type[Any]] = {
    kind.__name__: kind
    for kind in (
        Column,
        Outcome,
        DifferenceCause,
        MotionResult,
        MotionReference,
        MotionRun,
        Diagnostic,
        Where,
    )
}
"""What an entry may hold: nothing else is ever made of one."""
_MARK = "="
"""A dictionary with this key is not a dictionary."""


# one function: every type that a column holds is one case
def encode(value: Any) -> Any:
    """JSON data that :func:`decode` makes the same value of; raises ``TypeError`` for what it cannot keep."""
    if value is None or type(value) in (bool, int, str, float):
        return value
    match value:
        case Level():
            return {_MARK: "Level", "value": value.value}
        case np.generic() | np.ndarray():
            return encode(value.tolist())
        case list():
            return [encode(item) for item in value]
        case tuple():
            return {_MARK: "tuple", "items": [encode(item) for item in value]}
        case set():
            return {_MARK: "set", "items": sorted(value)}
        case Mapping():
            return {_check_key(key): encode(item) for key, item in value.items()}
    return _encode_object(value)


def _check_key(key: Any) -> str:
    if not isinstance(key, str) or key == _MARK:
        raise TypeError("only dictionaries with names are kept")
    return key


def _encode_object(value: Any) -> dict[str, Any]:
    name = type(value).__name__
    if _CLASSES.get(name) is not type(value):
        raise TypeError(f"{name} is not kept")
    fields = {field.name: encode(getattr(value, field.name)) for field in dataclasses.fields(value)}
    return {_MARK: name, **fields}


def decode(data: Any) -> Any:
    """What :func:`encode` was given; raises ``TypeError``, ``KeyError`` or ``ValueError`` for other data."""
    if isinstance(data, list):
        return [decode(item) for item in data]
    if not isinstance(data, dict):
        return data
    if _MARK not in data:
        return {key: decode(item) for key, item in data.items()}
    rest = {key: decode(item) for key, item in data.items() if key != _MARK}
    match data[_MARK]:
        case "tuple":
            return tuple(rest["items"])
        case "set":
            return set(rest["items"])
        case "Level":
            return Level(rest["value"])
        case name:
            return _CLASSES[name](**rest)


def digest_asset(asset: Asset) -> str:
    """A digest of all that an asset says, and where in its files."""
    digest = hashlib.blake2b(digest_size=20)
    _feed(digest.update, asset)
    return digest.hexdigest()


# one function: every type that the model is made of is one line
def _feed(add: Callable[[bytes], None], value: Any) -> None:
    """Add a value with its type, so that no two different ones give the same bytes."""
    add(f"<{type(value).__qualname__}".encode())
    if isinstance(value, np.ndarray):
        add(f"{value.dtype.str}{value.shape}".encode())
        add(
            value.tobytes()
            if value.dtype != object
            else repr(value.tolist()).encode("utf-8", "surrogatepass")
        )
    # numbers of Python and NumPy tell all their digits
    elif isinstance(value, enum.Enum | np.generic | float):
        add(repr(value).encode())
    elif isinstance(value, Mapping | list | tuple):
        for item in value.items() if isinstance(value, Mapping) else value:
            _feed(add, item)
    elif isinstance(value, set | frozenset):
        for text in sorted(map(repr, value)):
            _feed(add, text)
    elif isinstance(value, Mesh):
        _feed(add, (value.source, value.file, value.recipe, _hash_mesh(value)))
    elif dataclasses.is_dataclass(value):
        for field in dataclasses.fields(value):
            _feed(add, getattr(value, field.name))
    else:
        # texts, numbers, paths, and values of OpenUSD
        text = f"{len(str(value))}:{value}"
        add(text.encode("utf-8", "surrogatepass"))
    add(b">")


def _hash_mesh(mesh: Mesh) -> Any:
    """The content of its file, which need not be parsed for that, else the points; what is wrong with a broken one."""
    files = [file for file in (mesh.file, mesh.recipe.file if mesh.recipe else "") if file]
    try:
        return [hash_file(file) for file in files] or mesh.data
    except (OSError, SimwrightError) as error:
        return str(error)
