# SPDX-License-Identifier: Apache-2.0
"""``simwright.prove``: is an asset the same machine in several engines?

How a proof is told is in :mod:`simwright.app.proof`.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import cast

from simwright.app.api import load
from simwright.app.proof.words import find_state
from simwright.app.scenes import split_scenes
from simwright.core.diag import Reporter, Where
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.registry import import_object
from simwright.formats.table import detect_format
from simwright.model.asset import Asset
from simwright.prover.answers import open_answers
from simwright.prover.aspects import ASPECTS, LEVELS
from simwright.prover.caching import open_proof_cache, prove_cached
from simwright.prover.processes import EnginePool
from simwright.prover.proving import TIMEOUT, Column, Proof, ProofSettings
from simwright.prover.table import REFERENCE
from simwright.prover.workers.seen import name_of

FORMATS = {
    "text": "simwright.app.proof.formats:render_text",
    "json": "simwright.app.proof.formats:render_json",
    "md": "simwright.app.proof.formats:render_markdown",
    "junit": "simwright.app.proof.formats:render_junit",
    "html": "simwright.app.proof.page:render_assets",
}
"""How a proof can be told, and what does it."""

_NOTES = "simwright:prove"
"""Where in ``customData`` of the default prim a proof is noted."""

StrPath = str | os.PathLike[str]


def prove(
    source: StrPath | Asset,
    *,
    engines: Sequence[str] = (),
    levels: Sequence[str] = LEVELS,
    against: str = REFERENCE,
    seed: int = 0,
    timeout: float = TIMEOUT,
    keep: StrPath | None = None,
    cache: bool = False,
    packages: Mapping[str, StrPath] | None = None,
    allow_outside: Iterable[StrPath] = (),
    arguments: Mapping[str, str] | None = None,
    variants: Mapping[str, str] | None = None,
    reporter: Reporter | None = None,
    progress: Callable[[str], None] | None = None,
) -> Proof:
    """Ask several engines about a file of any supported format, or an asset, and compare what they say.

    ``engines`` are names of ``simwright engines list``, by default all that are installed; ``against`` is the one
    that the others are held against.  ``levels`` are some of ``structure``, ``dynamics``, ``motion`` and ``ros``; the
    configurations and states of the middle two are made from ``seed``.  ``timeout`` [s] is for one question to an
    engine; one that crashes, hangs or is not installed costs its own column.  ``keep`` is a folder for the files that
    the engines were given.  ``cache`` takes answers of earlier runs from the user's cache while nothing has changed,
    and keeps new ones.  ``packages``, ``allow_outside``, ``arguments`` and ``variants`` are those of :func:`load`;
    findings of reading go to ``reporter``.  A scene file is taken too, if all its worlds are of one kind; see
    :func:`prove_scene`.
    """
    settings = ProofSettings(tuple(engines), tuple(levels), against, seed, seconds=timeout)
    reading = ReadWords(packages, tuple(allow_outside), arguments, variants)
    proofs = prove_source(
        source,
        settings,
        reading=reading,
        keep=keep,
        cache=cache,
        reporter=reporter,
        progress=progress,
    )
    if len(proofs) > 1:
        raise UsageError(
            f"the scene has {len(proofs)} kinds of worlds",
            hint="simwright.prove_scene gives a proof for each of them",
            where=Where(str(source)),
        )
    return proofs[0]


def prove_scene(
    source: StrPath,
    *,
    engines: Sequence[str] = (),
    levels: Sequence[str] = LEVELS,
    against: str = REFERENCE,
    seed: int = 0,
    timeout: float = TIMEOUT,
    keep: StrPath | None = None,
    cache: bool = False,
    reporter: Reporter | None = None,
    progress: Callable[[str], None] | None = None,
) -> list[Proof]:
    """A proof for each kind of world of a scene file; the arguments are those of :func:`prove`."""
    settings = ProofSettings(tuple(engines), tuple(levels), against, seed, seconds=timeout)
    return prove_source(source, settings, keep=keep, cache=cache, reporter=reporter, progress=progress)


@dataclass(frozen=True, slots=True)
class ReadWords:
    """How a file is read: words of :func:`simwright.load`."""

    packages: Mapping[str, StrPath] | None = None
    allow_outside: tuple[StrPath, ...] = ()
    arguments: Mapping[str, str] | None = None
    variants: Mapping[str, str] | None = None


def prove_source(
    source: StrPath | Asset,
    settings: ProofSettings,
    *,
    reading: ReadWords | None = None,
    keep: StrPath | None = None,
    cache: bool = True,
    reporter: Reporter | None = None,
    progress: Callable[[str], None] | None = None,
    opened: Callable[[list[Asset]], None] | None = None,
) -> list[Proof]:
    """A proof of an asset or a file; of a scene file, one for each kind of its worlds.

    ``opened`` is told the assets before any engine is asked.
    """
    # a wrong name is told before a large file is read
    settings.check()
    settings.list_columns()
    reporter = Reporter() if reporter is None else reporter
    assets = [source] if isinstance(source, Asset) else _open(source, reading or ReadWords(), reporter)
    if opened is not None:
        opened(assets)
    stored = open_proof_cache(cache)
    folders = [Path(keep) if keep is not None else None] * len(assets)
    if len(assets) > 1:
        folders = [folder and folder / name_of(one.name) for folder, one in zip(folders, assets, strict=True)]
    answers = open_answers(cache and keep is None)
    with EnginePool(settings.seconds, answers) as pool:
        proofs = [
            prove_cached(one, settings, stored, progress, folder, pool=pool)
            for one, folder in zip(assets, folders, strict=True)
        ]
    answers.trim()
    return proofs


def _open(source: StrPath, reading: ReadWords, reporter: Reporter) -> list[Asset]:
    words = {field.name: getattr(reading, field.name) for field in dataclasses.fields(reading)}
    if not split_scenes([source])[0]:
        return [load(source, reporter=reporter, **words)]
    said = [name for name, value in words.items() if value and name != "allow_outside"]
    if said:
        raise UsageError(
            f"{' and '.join(said)} say how a robot is read, and {os.fspath(source)!r} is a scene",
            hint="a scene file says it for each of its assets",
        )
    return export_kinds(source, reporter)


def export_kinds(source: StrPath, reporter: Reporter) -> list[Asset]:
    """Every kind of world of a scene file as an asset, named like the scene."""
    from simwright.scenes.exporting import export_world
    from simwright.scenes.exporting_parts import group_worlds
    from simwright.scenes.load import load_scene

    loaded = load_scene(Path(source), reporter=reporter)
    name = loaded.scene.name or Path(source).stem.partition(".")[0]
    groups = group_worlds(loaded.model)
    found = []
    for number, rows in enumerate(groups):
        # filters of contacts and not pairs of them: most formats have no pairs.  What is lost is the same for all kinds
        told = reporter if not number else None
        asset = export_world(loaded.model, rows[0], pairs=False, visuals=True, reporter=told).asset
        asset.name = name if len(groups) == 1 else f"{name}_world_{rows[0]}"
        asset.provenance.file = os.fspath(source)
        found.append(asset)
    return found


def render_proofs(
    shape: str, source: str, proofs: Sequence[Proof], assets: Sequence[Asset] = (), *, color: bool = False
) -> str:
    """Proofs as ``text``, ``json``, ``md``, ``junit`` or ``html``; a page has pictures of the assets, if given."""
    if shape not in FORMATS:
        raise UnknownNameError("format", shape, FORMATS)
    render = cast("Callable[..., str]", import_object(FORMATS[shape]))
    return render(source, proofs, assets, color=color)


def check_stampable(source: StrPath) -> None:
    """Raise an error where a proof cannot be recorded in a file, before engines are asked about it."""
    from simwright.checker.suppress import write_claims

    row = detect_format(source)
    if row.name != "usd":
        raise UsageError(
            f"{row.title} has no place for the result of a proof",
            hint="leave --stamp out, or convert to OpenUSD and stamp that",
            where=Where(str(source)),
        )
    write_claims(source, {})


@dataclass(slots=True)
class Stamp:
    """What was recorded in an asset: engines by level that are claimed, and whether the file was changed."""

    claimed: dict[str, list[str]] = field(default_factory=dict)
    changed: bool = False


def stamp_proof(source: StrPath, proof: Proof) -> Stamp:
    """Record a proof in an OpenUSD asset.

    It is a ``UsdProfiles`` claim ``simwright.LEVEL.ENGINE`` for each level in which an engine is the same, with the
    aspects that nobody could tell as exceptions, and a note of the versions.  The claim of an engine that differs is
    taken back; one of an engine without an answer stays as it is.
    """
    from simwright.checker.suppress import write_claims

    claims: dict[str, list[str] | None] = {}
    notes: dict[str, str] = {}
    stamp = Stamp()
    for column in proof.columns:
        outcome = column.outcome
        if not outcome.loads:
            continue
        held = []
        # a colon would be a dictionary in a dictionary
        engine = outcome.engine.replace(":", "-")
        for level in proof.settings.levels:
            name = f"simwright.{level}.{engine}"
            claims[name] = _list_exceptions(proof, column, level)
            if claims[name] is not None:
                stamp.claimed.setdefault(level, []).append(outcome.engine)
                held.append(level)
        told = f"{outcome.version} is the same as {proof.version}: {', '.join(held)}" if held else ""
        notes[f"{_NOTES}:{engine}"] = told
    stamp.changed = write_claims(source, claims, notes)
    return stamp


def _list_exceptions(proof: Proof, column: Column, level: str) -> list[str] | None:
    """Aspects of a level that nobody could tell; None where one differs, or none could be told."""
    names = [name for name in proof.aspects if ASPECTS[name].level == level]
    states = {name: find_state(column, name) for name in names}
    if "differs" in states.values() or "same" not in states.values():
        return None
    return [f"simwright.{level}.{name}" for name, state in states.items() if state == "blank"]
