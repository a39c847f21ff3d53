# SPDX-License-Identifier: Apache-2.0
"""What stands in a cell, what differs, what came out: the words that all formats of a proof share."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from simwright.prover.aspects import ASPECTS, LEVELS
from simwright.prover.proving import Column, Proof
from simwright.prover.table import REFERENCE

_WORDS = {"same": "ok", "differs": "NO", "none": "-", "blank": ""}
_COUNTED = ("links", "dofs", "base", "drives")
NOTHING = "the robot has nothing of it"


def find_state(column: Column, name: str) -> str:
    """``same``, ``differs``, ``none`` where the robot has nothing of it, or ``blank`` where nobody can tell."""
    outcome = column.outcome
    if name in outcome.differences:
        return "differs"
    if name in outcome.absent:
        return "none"
    return "blank" if name in outcome.blank or not outcome.loads else "same"


def find_reason(column: Column, name: str) -> str:
    """Why a cell is blank or has nothing to say; empty for the others."""
    outcome = column.outcome
    state = find_state(column, name)
    if state == "none":
        motion = column.motions.get(name)
        return (motion.reason if motion is not None else "") or NOTHING
    if state != "blank":
        return ""
    return outcome.blank.get(name) or f"no answer: {outcome.reason}"


def tell_number(column: Column, name: str) -> str:
    """The count or the largest error of an aspect, where it has one; of a motion, what is not discretisation."""
    outcome = column.outcome
    if find_state(column, name) not in ("same", "differs"):
        return ""
    if name in column.motions:
        result = column.motions[name]
        return f"{result.remainder:.0e}" if result.runs and result.reference is not None else ""
    if name in outcome.errors:
        return f"{outcome.errors[name]:.0e}"
    return outcome.counts.get(name, "") if name in _COUNTED else ""


def tell_cell(column: Column, name: str) -> str:
    """What stands in the table: ok or NO, with the count or the largest error."""
    return f"{_WORDS[find_state(column, name)]} {tell_number(column, name)}".strip()


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
    for column, name in list_differences(proof):
        outcome = column.outcome
        word = "no answer" if name == "loads" else name
        lines.append(f"{outcome.engine}, {word}: {outcome.differences[name]}")
        cause = column.causes.get(name)
        if cause is not None:
            place = f" ({cause.where})" if cause.where else ""
            lines.append(f"  cause: {cause.word}: {cause.text}{place}")
            lines += [f"  help: {cause.hint}"] if cause.hint else []
    return lines


def list_differences(proof: Proof) -> Iterator[tuple[Column, str]]:
    """Every aspect that differs, engine by engine; ``loads`` for an engine without an answer."""
    for column in proof.columns:
        for name in ("loads", *proof.aspects):
            if name in column.outcome.differences:
                yield column, name


def list_blanks(proof: Proof) -> list[tuple[str, str, list[str]]]:
    """``(engine, reason, aspects)`` of all cells that are blank for the same reason."""
    found: dict[tuple[str, str], list[str]] = {}
    for column in proof.columns:
        if column.outcome.loads:
            for name in proof.aspects:
                if find_state(column, name) == "blank":
                    found.setdefault((column.outcome.engine, find_reason(column, name)), []).append(name)
    return [(engine, reason, names) for (engine, reason), names in found.items()]


def tell_head(proof: Proof) -> str:
    """One line: what was held against what."""
    count = proof.settings.configurations
    asked = (
        f", {count} configurations of seed {proof.settings.seed}"
        if "dynamics" in proof.settings.levels
        else ""
    )
    return f"{proof.name} against {proof.against} ({proof.version}){asked}"


def tell_end(proofs: Sequence[Proof]) -> str:
    """One line: what came out."""
    columns = [column.outcome for proof in proofs for column in proof.columns]
    silent = dict.fromkeys(outcome.engine for outcome in columns if not outcome.loads)
    wrong = dict.fromkeys(outcome.engine for outcome in columns if outcome.loads and not outcome.right)
    right = dict.fromkeys(
        name for outcome in columns if (name := outcome.engine) not in silent and name not in wrong
    )
    rows = (("the same in", right), ("not the same in", wrong), ("no answer from", silent))
    # what is wrong is the message; that the others are right is one where nothing is
    told = [
        f"{words} {', '.join(names)}" for words, names in rows if names and (names is not right or not wrong)
    ]
    return "; ".join(told)


def find_date(proofs: Sequence[Proof]) -> str:
    """When the engines were asked: one time, or the first and the last where some answers are older [UTC]."""
    times = sorted({column.measured for proof in proofs for column in proof.columns if column.measured})
    return " to ".join(dict.fromkeys(times[:1] + times[-1:]))


def tell_command(source: str, proofs: Sequence[Proof], **more: Any) -> str:
    """The line that asks the same again."""
    settings = proofs[0].settings
    words = ["simwright", "prove", source, "--engines", ",".join(c.outcome.engine for c in proofs[0].columns)]
    if tuple(settings.levels) != LEVELS:
        words += ["--level", ",".join(settings.levels)]
    if settings.against != REFERENCE:
        words += ["--against", settings.against]
    if settings.seed:
        words += ["--seed", str(settings.seed)]
    for name, value in more.items():
        words += [f"--{name}", str(value)]
    return shlex.join(words)


def find_title(name: str) -> str:
    """What an aspect is."""
    return ASPECTS[name].title
