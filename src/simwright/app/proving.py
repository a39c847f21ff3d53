# SPDX-License-Identifier: Apache-2.0
"""``simwright.prove``: is an asset the same machine in several engines?  And the answer in the formats of a report."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lxml import etree

from simwright.app.api import load
from simwright.app.report.report import TOOL_NAME, Report, replace_surrogates
from simwright.core.diag import Reporter
from simwright.core.visible import make_visible
from simwright.model.asset import Asset
from simwright.prover.aspects import ASPECTS, LEVELS
from simwright.prover.motion import describe_motion
from simwright.prover.proving import TIMEOUT, Column, Proof, ProofSettings, prove_asset
from simwright.prover.table import REFERENCE

VERSION = 1


def prove(
    source: str | os.PathLike[str] | Asset,
    *,
    engines: Sequence[str] = (),
    levels: Sequence[str] = LEVELS,
    against: str = REFERENCE,
    seed: int = 0,
    timeout: float = TIMEOUT,
    keep: str | os.PathLike[str] | None = None,
    packages: Mapping[str, str | os.PathLike[str]] | None = None,
    allow_outside: Iterable[str | os.PathLike[str]] = (),
    reporter: Reporter | None = None,
    progress: Callable[[str], None] | None = None,
) -> Proof:
    """Ask several engines about a file of any supported format, or an asset, and compare what they say.

    ``engines`` are names of ``simwright engines list``, by default all that are installed; ``against`` is the one
    that the others are held against.  ``levels`` are ``structure`` and ``dynamics``, the latter at configurations made
    from ``seed``.  ``timeout`` [s] is for one question to an engine; one that crashes, hangs or is not installed costs
    its own column.  ``keep`` is a folder for the files that the engines were given.  ``packages`` and ``allow_outside``
    are those of :func:`load`; findings of reading go to ``reporter``.
    """
    settings = ProofSettings(tuple(engines), tuple(levels), against, seed, seconds=timeout)
    # a wrong name is told before a large file is read
    settings.check()
    settings.list_columns()
    asset = source
    if not isinstance(asset, Asset):
        asset = load(asset, packages=packages, allow_outside=allow_outside, reporter=reporter)
    return prove_asset(asset, settings, progress, Path(keep) if keep is not None else None)


def describe_proof(proof: Proof) -> dict[str, Any]:
    """All of it as plain data."""
    return {
        "version": VERSION,
        "tool": {"name": TOOL_NAME, "version": Report().tool_version},
        "asset": replace_surrogates(proof.name),
        "against": {"engine": proof.against, "version": proof.version},
        "levels": list(proof.settings.levels),
        "seed": proof.settings.seed,
        "configurations": proof.settings.configurations if "dynamics" in proof.settings.levels else 0,
        "same": proof.same,
        "engines": [_describe_column(proof, column) for column in proof.columns],
    }


def _describe_column(proof: Proof, column: Column) -> dict[str, Any]:
    outcome = column.outcome
    return {
        "engine": outcome.engine,
        "version": outcome.version,
        "same": outcome.right,
        "answered": outcome.loads,
        "reason": "" if outcome.loads else outcome.reason,
        "seconds": round(column.seconds, 1),
        "aspects": {name: _describe_aspect(column, name) for name in proof.aspects} if outcome.loads else {},
        "motion": {name: describe_motion(result) for name, result in column.motions.items()},
        "notes": [replace_surrogates(found.message) for found in column.notes],
    }


def _describe_aspect(column: Column, name: str) -> dict[str, Any]:
    outcome, aspect = column.outcome, ASPECTS[name]
    told: dict[str, Any] = {"state": find_state(column, name), "level": aspect.level}
    if aspect.reason:
        told |= {"tolerance": outcome.find_tolerance(name), "of": aspect.scale, "because": aspect.reason}
    if name in outcome.errors and name not in outcome.blank:
        told["error"] = outcome.errors[name]
    if name in outcome.blank:
        told["blank_because"] = outcome.blank[name]
    if name in outcome.differences:
        cause = column.causes.get(name)
        told |= {"difference": outcome.differences[name], "at": outcome.items.get(name, "")}
        told["cause"] = cause and {
            "word": cause.word,
            "text": cause.text,
            "where": replace_surrogates(str(cause.where)),
            "hint": cause.hint,
        }
    return told


def find_state(column: Column, name: str) -> str:
    """``same``, ``differs``, ``none`` where the robot has nothing of it, or ``blank`` where nobody can tell."""
    outcome = column.outcome
    if name in outcome.differences:
        return "differs"
    if name in outcome.absent:
        return "none"
    return "blank" if name in outcome.blank or not outcome.loads else "same"


_WORDS = {"same": "ok", "differs": "NO", "none": "-", "blank": ""}


def tell_cell(column: Column, name: str) -> str:
    """What stands in the table: ok or NO, with the count or the largest error."""
    state, outcome = find_state(column, name), column.outcome
    told = _WORDS[state]
    if state in ("same", "differs"):
        if name in outcome.counts and name in ("links", "dofs", "base", "drives"):
            told += f" {outcome.counts[name]}"
        if name in outcome.errors:
            told += f" {outcome.errors[name]:.0e}"
    return told


def tell_table(proof: Proof) -> list[list[str]]:
    """A row for each engine, the heads first; nobody's claims beside its answer."""
    heads = ["engine", "answers", *proof.aspects]
    rows = [
        [column.outcome.engine, "ok" if column.outcome.loads else "NO"]
        + [tell_cell(column, name) for name in proof.aspects]
        for column in proof.columns
    ]
    return [heads, *rows]


def tell_differences(proof: Proof) -> list[str]:
    """What differs, aspect by aspect, with cause, place and what to do."""
    lines = []
    for column in proof.columns:
        outcome = column.outcome
        for name in ("loads", *proof.aspects):
            if name not in outcome.differences:
                continue
            word = "no answer" if name == "loads" else name
            lines.append(f"{outcome.engine}, {word}: {outcome.differences[name]}")
            cause = column.causes.get(name)
            if cause is not None:
                place = f" ({cause.where})" if cause.where else ""
                lines.append(f"  cause: {cause.word}: {cause.text}{place}")
                lines += [f"  help: {cause.hint}"] if cause.hint else []
    return lines


def tell_head(proof: Proof) -> str:
    """One line: what was held against what."""
    count = proof.settings.configurations
    asked = (
        f", {count} configurations of seed {proof.settings.seed}"
        if "dynamics" in proof.settings.levels
        else ""
    )
    return f"{proof.name} against {proof.against} ({proof.version}){asked}"


def tell_end(proof: Proof) -> str:
    """One line: what came out."""
    wrong = [column.outcome.engine for column in proof.columns if not column.outcome.right]
    if not wrong:
        return f"the same in {', '.join(column.outcome.engine for column in proof.columns)}"
    return f"not the same in {', '.join(wrong)}"


def render_markdown(proof: Proof) -> str:
    """A page, for people."""
    heads, *rows = tell_table(proof)
    lines = [f"# {_escape(tell_head(proof))}", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_escape(cell) for cell in row)} |" for row in rows]
    lines += ["", f"**{tell_end(proof)}**", ""]
    lines += [f"- {_escape(line)}" if not line.startswith(" ") else f"  - {_escape(line.strip())}"
              for line in tell_differences(proof)]  # fmt: skip
    blanks = {
        (column.outcome.engine, name, column.outcome.blank[name])
        for column in proof.columns
        for name in proof.aspects
        if find_state(column, name) == "blank" and name in column.outcome.blank
    }
    lines += ["", "Blank:", ""] if blanks else []
    lines += [f"- {engine}, {name}: {_escape(reason)}" for engine, name, reason in sorted(blanks)]
    return "\n".join(lines).rstrip() + "\n"


def render_junit(proof: Proof) -> str:
    """For build servers: a suite for each engine, a case for each aspect."""
    root = etree.Element("testsuites", name=f"{TOOL_NAME} prove")
    for column in proof.columns:
        outcome = column.outcome
        names = ["answers", *(proof.aspects if outcome.loads else ())]
        suite = etree.SubElement(
            root,
            "testsuite",
            name=outcome.engine,
            tests=str(len(names)),
            failures=str(len(outcome.differences)),
            errors="0",
            time=f"{column.seconds:.1f}",
        )
        for name in names:
            _add_case(suite, proof, column, name)
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_case(suite: etree._Element, proof: Proof, column: Column, name: str) -> None:
    outcome = column.outcome
    case = etree.SubElement(
        suite, "testcase", name=name, classname=f"{make_visible(proof.name)}.{outcome.engine}"
    )
    key = "loads" if name == "answers" else name
    if key in outcome.differences:
        cause = column.causes.get(name)
        told = f"{cause.word}: {cause.text} ({cause.where})" if cause else ""
        failure = etree.SubElement(case, "failure", message=make_visible(outcome.differences[key]))
        failure.text = make_visible(told)
    elif name != "answers" and find_state(column, name) in ("blank", "none"):
        reason = outcome.blank.get(name, "the robot has nothing of it")
        etree.SubElement(case, "skipped", message=make_visible(reason))


def _escape(text: str) -> str:
    return make_visible(text).replace("|", "\\|").replace("<", "&lt;")
