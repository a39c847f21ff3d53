# SPDX-License-Identifier: Apache-2.0
"""Proofs as text, JSON (``schemas/prove.v1.schema.json``), Markdown and JUnit's XML."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from lxml import etree

from simwright.app.proof.words import (
    NOTHING,
    find_reason,
    find_state,
    list_blanks,
    tell_differences,
    tell_end,
    tell_head,
    tell_table,
)
from simwright.app.report.report import TOOL_NAME, Report, replace_surrogates
from simwright.core.visible import escape_json, make_visible
from simwright.model.asset import Asset
from simwright.prover.aspects import ASPECTS
from simwright.prover.motion import describe_motion
from simwright.prover.proving import Column, Proof

VERSION = 1


def render_text(
    _source: str, proofs: Sequence[Proof], _assets: Sequence[Asset] = (), *, color: bool = False
) -> str:
    """For a terminal: a table with a column for each engine, then what differs."""
    lines: list[str] = []
    for proof in proofs:
        lines += [_style(tell_head(proof), color, bold=True), *_align(tell_table(proof), color)]
        lines += [*tell_differences(proof), ""]
    lines[-1:] = [_style(tell_end(proofs), color, fg="green" if all(p.same for p in proofs) else "red")]
    return "\n".join(lines) + "\n"


def _align(table: list[list[str]], color: bool) -> list[str]:
    """Turned: engines are few and aspects many."""
    heads, *rows = table
    heads = ["", *heads[1:]]
    widths = [max(map(len, heads)), *(max(map(len, row)) for row in rows)]
    lines = []
    for number, head in enumerate(heads):
        cells = [head, *(row[number] for row in rows)]
        padded = [cell.ljust(width) for cell, width in zip(cells, widths, strict=True)]
        styled = [_style(cell, color and cell.startswith("NO"), fg="red") for cell in padded]
        lines.append("  ".join(styled).rstrip())
    return lines


def _style(text: str, color: bool, **style: Any) -> str:
    from click import style as paint

    shown = make_visible(text)
    return paint(shown, **style) if color else shown


def render_json(
    source: str,
    proofs: Sequence[Proof],
    _assets: Sequence[Asset] = (),
    *,
    color: bool = False,  # noqa: ARG001
) -> str:
    """One document, strictly valid (no NaN)."""
    told = describe_proofs(source, proofs)
    return escape_json(json.dumps(told, indent=2, allow_nan=False, ensure_ascii=False)) + "\n"


def describe_proofs(source: str, proofs: Sequence[Proof]) -> dict[str, Any]:
    """All of it as plain data; a scene has a proof for each kind of its worlds, an asset has one."""
    told: dict[str, Any] = _clean(
        {
            "version": VERSION,
            "tool": {"name": TOOL_NAME, "version": Report().tool_version},
            "source": source,
            "same": all(proof.same for proof in proofs),
            "proofs": [describe_proof(proof) for proof in proofs],
        }
    )
    return told


def describe_proof(proof: Proof) -> dict[str, Any]:
    """One of them."""
    settings = proof.settings
    return {
        "asset": proof.name,
        "against": {"engine": proof.against, "version": proof.version},
        "levels": list(settings.levels),
        "seed": settings.seed,
        "configurations": settings.configurations if "dynamics" in settings.levels else 0,
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
        "measured": column.measured,
        "aspects": {name: _describe_aspect(column, name) for name in proof.aspects} if outcome.loads else {},
        "motion": {name: describe_motion(result) for name, result in column.motions.items()},
        "notes": [found.message for found in column.notes],
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
            "where": str(cause.where),
            "hint": cause.hint,
        }
    return told


def _clean(value: Any) -> Any:
    """What JSON and its encodings take: names come from assets, numbers from engines."""
    if isinstance(value, str):
        return replace_surrogates(value)
    if isinstance(value, dict):
        return {_clean(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_clean(item) for item in value]
    # a motion that runs away ends in infinities, which JSON has no word for
    if isinstance(value, float) and value - value != 0.0:
        return None
    return value


def render_markdown(
    _source: str,
    proofs: Sequence[Proof],
    _assets: Sequence[Asset] = (),
    *,
    color: bool = False,  # noqa: ARG001 - one signature
) -> str:
    """A page, for people."""
    lines: list[str] = []
    for proof in proofs:
        lines += [*_write_section(proof), ""]
    return "\n".join(lines).rstrip() + "\n"


def _write_section(proof: Proof) -> list[str]:
    heads, *rows = tell_table(proof)
    lines = [f"# {_escape(tell_head(proof))}", "", f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    lines += [f"| {' | '.join(_escape(cell) for cell in row)} |" for row in rows]
    lines += ["", f"**{tell_end([proof])}**", ""]
    lines += [f"- {_escape(line)}" if not line.startswith(" ") else f"  - {_escape(line.strip())}"
              for line in tell_differences(proof)]  # fmt: skip
    blanks = list_blanks(proof)
    lines += ["", "Blank:", ""] if blanks else []
    return lines + [f"- {engine}, {', '.join(names)}: {_escape(reason)}" for engine, reason, names in blanks]


def _escape(text: str) -> str:
    """A text in a cell or a line: no mark-up, no table, no HTML comes out of it."""
    shown = make_visible(text).replace("\\", "\\\\").replace("|", "\\|")
    return shown.replace("&", "&amp;").replace("<", "&lt;").replace("[", "\\[").replace("`", "\\`")


def render_junit(
    _source: str,
    proofs: Sequence[Proof],
    _assets: Sequence[Asset] = (),
    *,
    color: bool = False,  # noqa: ARG001 - one signature
) -> str:
    """For build servers: a suite for each engine, a case for each aspect."""
    root = etree.Element("testsuites", name=f"{TOOL_NAME} prove")
    for proof in proofs:
        for column in proof.columns:
            _add_suite(root, proof, column)
    etree.indent(root)
    text: str = etree.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _add_suite(root: etree._Element, proof: Proof, column: Column) -> None:
    outcome = column.outcome
    names = ["answers", *(proof.aspects if outcome.loads else ())]
    skipped = [name for name in names[1:] if find_state(column, name) in ("blank", "none")]
    suite = etree.SubElement(
        root,
        "testsuite",
        name=outcome.engine,
        tests=str(len(names)),
        failures=str(len(outcome.differences)),
        errors="0",
        skipped=str(len(skipped)),
        time=f"{column.seconds:.1f}",
    )
    for name in names:
        _add_case(suite, proof, column, name)


def _add_case(suite: etree._Element, proof: Proof, column: Column, name: str) -> None:
    outcome = column.outcome
    classname = f"{_plain(proof.name)}.{outcome.engine}"
    case = etree.SubElement(suite, "testcase", name=name, classname=classname)
    key = "loads" if name == "answers" else name
    if key in outcome.differences:
        cause = column.causes.get(name)
        told = f"{cause.word}: {cause.text} ({cause.where})" if cause else ""
        failure = etree.SubElement(case, "failure", message=_plain(outcome.differences[key]))
        failure.text = _plain(f"{told}\n{cause.hint}".strip() if cause else "")
    elif name != "answers" and find_state(column, name) in ("blank", "none"):
        etree.SubElement(case, "skipped", message=_plain(find_reason(column, name) or NOTHING))


def _plain(text: str) -> str:
    return replace_surrogates(make_visible(text, keep="\n"))
