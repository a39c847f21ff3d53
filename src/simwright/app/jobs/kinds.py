# SPDX-License-Identifier: Apache-2.0
"""Comparing, proving, drawing, evaluating and generating as jobs: what is done with one item, what a report says."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright.app.jobs.model import ItemOutcome, JobItem, JobKind, JobOptions, encode_findings, number_items
from simwright.core.diag import Diagnostic, Level, Reporter, Where, declare, sort_diagnostics
from simwright.core.errors import EXIT_CLEAN, EXIT_FINDINGS

if TYPE_CHECKING:
    from simwright.app.jobs.store import JobRow
    from simwright.app.tasking import TaskRun
    from simwright.compare.difference import Difference
    from simwright.prover.proving import Proof

MACHINES_DIFFER = declare(
    "job-machines-differ",
    Level.ERROR,
    "{section}: {count} different; {first}",
    hint="simwright diff shows all of it",
    doc="Two files of a job that compares are not the same machine in a section.",
)
ENGINE_DIFFERS = declare(
    "job-engine-differs",
    Level.ERROR,
    "{aspect} differs in {engine}: {what}",
    hint="simwright prove shows all of it, with causes",
    doc="An engine of a job that proves sees another machine than the engine it is compared with.",
)
ENGINE_SILENT = declare(
    "job-engine-silent",
    Level.ERROR,
    "{engine} has no answer: {reason}",
    hint="simwright engines test shows whether it works at all",
    doc="An engine of a job that proves could not be asked, or did not load the asset.",
)
_PICTURE_OPTIONS = (
    "camera",
    "keyframe",
    "turntable",
    "seconds",
    "fps",
    "show",
    "floor",
    "transparent",
    "robot",
)


def _finish(status: str, findings: Iterable[Diagnostic], result: dict[str, Any]) -> ItemOutcome:
    found = sort_diagnostics(findings)
    code = EXIT_FINDINGS if any(one.level is Level.ERROR for one in found) else EXIT_CLEAN
    return ItemOutcome(status, code, encode_findings(found), result)


def compare_item(options: JobOptions) -> ItemOutcome:
    """Compare an asset with the file in the option ``other``."""
    from simwright.app.api import load, read_image
    from simwright.app.describe import describe_difference
    from simwright.compare.difference import make_settings
    from simwright.compare.run import compare_assets

    settings = make_settings(
        options["only"],
        options["ignore"],
        rtol=options["rtol"],
        configurations=options["configurations"],
        seed=options["seed"],
        read_image=read_image,
    )
    reporter = Reporter()
    reading = {name: options[name] for name in ("packages", "arguments", "variants")}
    first, second = (load(options[name], reporter=reporter, **reading) for name in ("asset", "other"))
    difference = compare_assets(first, second, settings)
    difference.a, difference.b = options["asset"], options["other"]
    # warnings of readers are left out: the question here is whether the machines are equal
    found = [one for one in reporter if one.level is Level.ERROR]
    found += _tell_differences(difference)
    status = "equal" if difference.equal else "different"
    return _finish(status, found, describe_difference(difference, settings))


def _tell_differences(difference: Difference) -> Iterator[Diagnostic]:
    reporter = Reporter()
    for section in difference.sections:
        if section.equal:
            continue
        wrong = [figure for figure in section.figures if not figure.equal]
        told = [f"{item.element}: {item.what}" for item in section.items]
        told += [f"{figure.name} by {figure.error:.2g} at {figure.where}" for figure in wrong]
        reporter.report(
            MACHINES_DIFFER, Where(difference.a), section=section.name, count=len(told), first=told[0]
        )
    yield from reporter


def prove_item(options: JobOptions) -> ItemOutcome:
    """Ask engines about one asset or scene."""
    from simwright.app.proof.formats import describe_proofs
    from simwright.app.proving import ReadWords, prove_source
    from simwright.prover.proving import ProofSettings

    asset, reporter = options["asset"], Reporter()
    settings = ProofSettings(
        tuple(options["engines"]),
        tuple(options["levels"]),
        options["against"],
        options["seed"],
        seconds=options["seconds"],
    )
    reading = ReadWords(**{name: options[name] for name in ("packages", "arguments", "variants")})
    keep = options.get("keep")
    proofs = prove_source(
        asset, settings, reading=reading, keep=keep, cache=options["cache"], reporter=reporter
    )
    found = [*(one for one in reporter if one.level is Level.ERROR), *_tell_proofs(asset, proofs)]
    told = describe_proofs(asset, proofs)
    # how long an engine took is no part of the answer
    for proof in told["proofs"]:
        for engine in proof["engines"]:
            engine.pop("seconds", None)
    return _finish("same" if told["same"] else "different", found, told)


def _tell_proofs(asset: str, proofs: Sequence[Proof]) -> Iterator[Diagnostic]:
    reporter = Reporter()
    for proof in proofs:
        for column in proof.columns:
            outcome = column.outcome
            if not outcome.loads:
                reporter.report(ENGINE_SILENT, Where(asset), engine=outcome.engine, reason=outcome.reason)
            for aspect, what in outcome.differences.items():
                reporter.report(ENGINE_DIFFERS, Where(asset), aspect=aspect, engine=outcome.engine, what=what)
    yield from reporter


def render_item(options: JobOptions) -> ItemOutcome:
    """Draw one file."""
    from simwright.app.rendering import RenderResult, render

    reporter = Reporter()
    asked = {name: options[name] for name in _PICTURE_OPTIONS if options.get(name) is not None}
    reading = {name: options[name] for name in ("packages", "arguments", "variants")}
    result = render(
        options["asset"],
        options["target"],
        size=tuple(options["size"]),
        q=options["q"],
        reporter=reporter,
        **asked,
        **reading,
    )
    assert isinstance(result, RenderResult)
    return _finish("drawn", reporter, result.describe())


EPISODES = 20
"""Episodes of one item: fixed, so that results do not depend on the number of workers."""


@lru_cache(maxsize=4)
def _open_run(key: str) -> TaskRun:
    """A task with its robot, kept by the worker from item to item."""
    from simwright.app.tasking import RunRequest, prepare_run

    plain = json.loads(key)
    return prepare_run(RunRequest(**{**plain, "sets": tuple(plain["sets"])}))


def evaluate_item(options: JobOptions) -> ItemOutcome:
    """Run the episodes from ``first`` on, as many as ``count`` says."""
    from simwright.app.tasking import RunRequest

    names = {field.name for field in fields(RunRequest)} - {"view", "ros", "record", "dataset", "num_worlds"}
    asked = {name: options[name] for name in sorted(names) if name in options}
    dataset = options.get("dataset")
    if dataset:
        # parts that are written one by one, each whole: how they are spread does not show in them
        part = Path(dataset) / f"part-{options['first'] // EPISODES:05d}"
        # of a worker that was killed after it wrote and before anybody knew
        if (part / "meta" / "info.json").is_file():
            shutil.rmtree(part)
        asked["dataset"] = str(part)
    ready = _open_run(json.dumps({**asked, "task": options["task"]}, sort_keys=True))
    episodes = ready.run_part(options["first"], options["count"])
    told = [asdict(episode) for episode in episodes]
    for episode in told:
        # what a policy took depends on the machine: the numbers of a job do not
        for name in ("mean_latency_ms", "max_latency_ms"):
            episode.pop(name)
    findings = [] if options["first"] else [one for one in ready.findings if one.level is not Level.INFO]
    return _finish("run", findings, {"episodes": told, **ready.describe()})


def plan_evaluation(task: str, asked: JobOptions) -> tuple[JobOptions, list[JobItem]]:
    """The job of a run with the options of ``simwright task run``: its items are blocks of episodes."""
    from simwright.app.tasking import RunRequest, read_run

    asked = {name: value for name, value in asked.items() if value not in (None, (), "")}
    said = read_run(RunRequest(task, **asked))
    options: JobOptions = {**asked, "task": task, "sets": list(asked.get("sets", ())), "seed": said.seed}
    if options.get("dataset"):
        options["dataset"] = str(Path(options["dataset"]).absolute())
    # an environment file and the robot's may be named relative to here
    for name in ("task", "robot"):
        if options.get(name) and Path(options[name]).is_file():
            options[name] = str(Path(options[name]).absolute())
    options.pop("episodes", None)
    firsts = range(0, said.episodes, EPISODES)
    blocks = [
        (f"{said.task} {first}", {"first": first, "count": min(EPISODES, said.episodes - first)})
        for first in firsts
    ]
    return options, number_items(blocks)


def collect_episodes(rows: Iterable[JobRow]) -> dict[str, Any] | None:
    """All episodes of a job in their order, as a run of one process tells them; None where none was run."""
    about: dict[str, Any] = {}
    episodes: list[dict[str, Any]] = []
    for row in rows:
        if row.outcome.status == "run":
            told = dict(row.outcome.result)
            episodes += told.pop("episodes")
            about = about or told
    if not about:
        return None
    successes = sum(episode["success"] for episode in episodes)
    rate = successes / len(episodes)
    from simwright.tasks.runner import find_interval

    interval = list(find_interval(successes, len(episodes)))
    return {
        "version": 1,
        **about,
        "successes": successes,
        "success_rate": rate,
        "success_interval": interval,
        "episodes": episodes,
    }


def generate_item(options: JobOptions) -> ItemOutcome:
    """Draw one world at random and write its folder."""
    from simwright.app.worlds import generate_worlds

    (file,) = generate_worlds(options["asset"], options["style"], options["rooms"], options["seed"])
    return _finish("generated", [], {"file": str(file), "seed": options["seed"]})


def plan_worlds(
    folder: Path, style: str, rooms: int, seed: int, count: int
) -> tuple[JobOptions, list[JobItem]]:
    """The job of ``simwright world generate --count``: an item for each seed, named by the folder that it writes."""
    from simwright.app.worlds import name_world

    seeds = range(seed, seed + count)
    places = [(str(folder / name_world(style, rooms, one)), {"seed": one}) for one in seeds]
    return {"style": style, "rooms": rooms}, number_items(places)


def view_item(options: JobOptions) -> ItemOutcome:
    """A page that shows a file."""
    from simwright.app.api import load
    from simwright.app.report.html import render
    from simwright.app.report.report import Report, build_asset_report
    from simwright.app.report.view3d import make_view

    reporter = Reporter()
    reading = {name: options[name] for name in ("packages", "arguments", "variants")}
    asset = load(options["asset"], reporter=reporter, **reading)
    report = build_asset_report(Path(options["asset"]).name, reporter)
    report.view = make_view(asset, {})
    return _finish("shown", reporter, {"page": render(Report([report]))})


DIFF_JOB = JobKind(compare_item)
PROVE_JOB = JobKind(prove_item)
VIEW_JOB = JobKind(view_item)
RENDER_JOB = JobKind(render_item)
EVALUATE_JOB = JobKind(evaluate_item)
GENERATE_JOB = JobKind(generate_item)
