# SPDX-License-Identifier: Apache-2.0
"""A proof as one HTML page that stands alone: nothing is fetched, and no script but that of the 3D views runs.

Everything that comes from an asset or an engine is escaped, and the page forbids other scripts besides.
"""

from __future__ import annotations

import base64
import html
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from simwright.app.proof import figures
from simwright.app.proof.figures import RobotPicture, draw_assets
from simwright.app.proof.words import (
    find_date,
    find_reason,
    find_state,
    find_title,
    list_blanks,
    list_differences,
    tell_command,
    tell_number,
)
from simwright.app.report.report import TOOL_NAME, Excerpt, Report, Sources
from simwright.app.report.view3d import STYLE, LinkMark, make_policy, make_script, make_view
from simwright.app.report.views import MOST_VIEWS
from simwright.core.visible import make_visible
from simwright.model.asset import Asset
from simwright.model.joint import Motion
from simwright.prover.aspects import ASPECTS
from simwright.prover.motion import SCENARIOS, MotionResult
from simwright.prover.proving import Column, Proof
from simwright.prover.table import REFERENCE, find_engine, list_engines
from simwright.prover.workers.seen import name_of

_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
_LEVELS = {
    "structure": "Structure",
    "dynamics": "Statics and dynamics",
    "motion": "Motion",
    "ros": "ROS identity",
}
_SIGNS = {"same": "✓", "differs": "✗", "none": "-", "blank": "○"}
_STATES = {"same": "same", "differs": "differs", "none": "nothing of it", "blank": "not reported"}
_KEY = (
    '<p class="key"><span class="same">✓ same</span> within the tolerance, with the largest error or the number found '
    'of those wanted · <span class="differs">✗ differs</span> · <span class="none">-</span> the robot has nothing of '
    'the kind · <span class="blank">○ not told</span>: the engine or its format cannot, and nothing is compared</p>'
)
_EXCERPT = 100
_BUILD = re.compile(r"\.\d{5,}")
"""The number of a build, which makes a column wide and is in the list of versions below."""
_WORD = re.compile(r"[\w.:/-]+")
_AXES = {**dict.fromkeys(("x", "y", "z"), "m"), **dict.fromkeys(("rx", "ry", "rz"), "rad")}


def render_page(
    source: str,
    proofs: Sequence[Proof],
    pictures: Sequence[Sequence[RobotPicture]] = (),
    units: Sequence[Mapping[str, str]] = (),
    views: Sequence[str] = (),
) -> str:
    """The page of one asset, or of every kind of world of a scene.

    ``pictures`` are those of each proof, ``units`` those of the joints of each (:func:`list_units`).
    ``views`` show them in 3D (:func:`~simwright.app.report.view3d.make_view`).
    """
    return "\n".join(_write_page(source, proofs, pictures, units, views)) + "\n"


def render_assets(
    source: str,
    proofs: Sequence[Proof],
    assets: Sequence[Asset] = (),
    *,
    color: bool = False,  # noqa: ARG001
) -> str:
    """The page with pictures and units of the assets, as far as they are given."""
    pictures = draw_assets(assets, proofs[0].settings.seed)
    views = [
        make_view(asset, mark_proof(asset, proof))
        for asset, proof in zip(assets[:MOST_VIEWS], proofs, strict=False)
    ]
    return render_page(source, proofs, pictures, [list_units(one) for one in assets], views)


def mark_proof(asset: Asset, proof: Proof) -> dict[str, LinkMark]:
    """Links that differences in engines name, themselves or by their joints."""
    owners = {name_of(joint.name): joint.child for joint in asset.joints}
    owners |= {name_of(body.name): body.name for body in asset.bodies}
    marks: dict[str, LinkMark] = {}
    for column, aspect in list_differences(proof):
        for word in _WORD.findall(
            f"{column.outcome.items.get(aspect, '')} {column.outcome.differences[aspect]}"
        ):
            if owners.get(word):
                marks.setdefault(owners[word], LinkMark("warning", f"{aspect} in {column.outcome.engine}"))
    return marks


def list_units(asset: Asset) -> dict[str, str]:
    """The unit of each joint of one freedom, by the name that engines are asked by."""
    units = {Motion.HINGE: "rad", Motion.SLIDE: "m"}
    return {
        name_of(name): units[joint.dofs[0].motion]
        for joint in asset.joints
        if len(joint.dofs) == 1 and joint.dofs[0].motion in units
        for name in (joint.name, joint.dofs[0].name)
        if name
    }


def _write_page(
    source: str,
    proofs: Sequence[Proof],
    pictures: Sequence[Sequence[RobotPicture]],
    units: Sequence[Mapping[str, str]],
    views: Sequence[str] = (),
) -> Iterator[str]:
    policy, looks, script = (make_policy(), STYLE, make_script()) if any(views) else (_POLICY, "", "")
    title = _text(proofs[0].name if len(proofs) == 1 else source)
    style = Path(__file__).with_name("page.css").read_text(encoding="utf-8")
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{title}: {TOOL_NAME} prove</title><style>{style}{figures.STYLE}{looks}</style></head><body>"
    for number, proof in enumerate(proofs):
        seen = pictures[number] if number < len(pictures) else ()
        view = views[number] if number < len(views) else ""
        yield from _write_proof(source, proof, seen, units[number] if number < len(units) else {}, view)
    yield from _write_method(source, proofs)
    date = _text(find_date(proofs).replace("T", " ").replace("Z", " UTC"))
    yield f"<footer>{TOOL_NAME} {_text(Report().tool_version)} · {date}</footer>{script}</body></html>"


def _write_proof(
    source: str, proof: Proof, pictures: Sequence[RobotPicture], units: Mapping[str, str], view: str
) -> Iterator[str]:
    yield "<article>"
    yield from _write_header(source, proof, pictures)
    yield view
    yield from _write_table(proof)
    yield from _write_differences(proof)
    yield from _write_motion(proof, units)
    yield "</article>"


def _write_header(source: str, proof: Proof, pictures: Sequence[RobotPicture]) -> Iterator[str]:
    groups: dict[str, list[str]] = {"same": [], "differs": [], "no answer": []}
    for column in proof.columns:
        outcome = column.outcome
        word = "same" if outcome.right else "differs" if outcome.loads else "no answer"
        groups[word].append(outcome.engine)
    state = "same" if proof.same else "differs"
    yield f'<header><div class="about"><h1>{_text(proof.name)}</h1>'
    yield f'<p class="verdict {state}"><span aria-hidden="true">{_SIGNS[state]}</span> {_tell_verdict(groups)}</p>'
    yield from _write_levels(proof)
    yield "<dl>"
    yield f"<dt>file</dt><dd><code>{_text(source)}</code></dd>"
    yield f"<dt>compared with</dt><dd>{_text(proof.version)}{_tell_small(proof)}</dd>"
    for word, names in groups.items():
        yield f"<dt>{word}</dt><dd>{_text(', '.join(names))}</dd>" if names else ""
    date = find_date([proof]).replace("T", " ").replace("Z", " UTC")
    yield f"<dt>asked</dt><dd>{_text(date)}</dd></dl></div>" if date else "</dl></div>"
    if pictures:
        yield '<div class="pictures">'
        for picture in pictures:
            data = base64.b64encode(picture.png).decode()
            told = _text(f"{proof.name} {picture.title}")
            yield f'<figure><img alt="{told}" src="data:image/png;base64,{data}">'
            yield f"<figcaption>{_text(picture.title)}</figcaption></figure>"
        yield "</div>"
    yield "</header>"


def _write_levels(proof: Proof) -> Iterator[str]:
    """A tile for each level: in how many engines it is the same, of those that can tell anything of it."""
    yield '<ul class="tiles">'
    for level in proof.settings.levels:
        names = [name for name in proof.aspects if ASPECTS[name].level == level]
        rows = [
            [find_state(column, name) for name in names] for column in proof.columns if column.outcome.loads
        ]
        told = [row for row in rows if {"same", "differs"} & set(row)]
        if not told:
            continue
        right = sum("differs" not in row for row in told)
        state = "same" if right == len(told) else "differs"
        yield f'<li class="{state}"><small>{_LEVELS.get(level, level)}</small>'
        yield f'<b><span aria-hidden="true">{_SIGNS[state]}</span> {right} of {len(told)}</b></li>'
    yield "</ul>"


def _tell_verdict(groups: Mapping[str, Sequence[str]]) -> str:
    asked = sum(map(len, groups.values()))
    told = [
        f"{words} {len(groups[group])}"
        for group, words in (("differs", "differs in"), ("no answer", "no answer from"))
        if groups[group]
    ]
    if told:
        return f"{', '.join(told)} of {asked} engines"
    return f"the same in {f'all {asked} engines' if asked > 1 else _text(groups['same'][0])}"


def _tell_small(proof: Proof) -> str:
    """What the engine that others are held against is."""
    return "" if proof.against == REFERENCE else f" ({_text(find_engine(proof.against).title)})"


def _write_table(proof: Proof) -> Iterator[str]:
    blanks: dict[str, list[tuple[str, list[str]]]] = {}
    for engine, reason, names in list_blanks(proof):
        blanks.setdefault(reason, []).append((engine, names))
    notes = {
        (engine, name): number
        for number, rows in enumerate(blanks.values(), 1)
        for engine, names in rows
        for name in names
    }
    yield '<section><h2>Engine by engine</h2><div class="scroll"><table class="cells">'
    yield from _write_heads(proof)
    for level in proof.settings.levels:
        yield from _write_level(proof, level, notes)
    yield f"</table></div>{_KEY}"
    if blanks:
        yield from _write_blanks(blanks)
    yield "</section>"


def _write_level(proof: Proof, level: str, notes: Mapping[tuple[str, str], int]) -> Iterator[str]:
    """A row for each aspect, and one line for those that the robot has nothing of."""
    yield f'<tbody><tr class="level"><th scope="rowgroup" colspan="{len(proof.columns) + 1}">'
    yield f"<span>{_LEVELS.get(level, level)}</span></th></tr>"
    names = [name for name in proof.aspects if ASPECTS[name].level == level]
    absent = [name for name in names if _is_absent(proof, name)]
    for name in (name for name in names if name not in absent):
        yield f'<tr><th scope="row">{name}<small>{_text(find_title(name))}</small></th>'
        for column in proof.columns:
            yield _write_cell(column, name, notes.get((column.outcome.engine, name), 0))
        yield "</tr>"
    if absent:
        yield f'<tr class="absent"><td colspan="{len(proof.columns) + 1}"><span>'
        yield f"- the robot has nothing of the kind: {', '.join(absent)}</span></td></tr>"
    yield "</tbody>"


def _is_absent(proof: Proof, name: str) -> bool:
    """Whether the robot has nothing that an aspect is about, as all engines say that have an answer."""
    states = [find_state(column, name) for column in proof.columns if column.outcome.loads]
    return bool(states) and all(state == "none" for state in states)


def _write_blanks(blanks: dict[str, list[tuple[str, list[str]]]]) -> Iterator[str]:
    """Why cells have no answer: engines and aspects by reason."""
    yield '<details open><summary>Why values are not reported</summary><ol class="why">'
    for reason, rows in blanks.items():
        engines = ", ".join(engine for engine, _ in rows)
        aspects = dict.fromkeys(name for _, names in rows for name in names)
        yield f"<li><b>{_text(', '.join(aspects))}</b> of {_text(engines)}: {_text(reason)}</li>"
    yield "</ol></details>"


def _write_heads(proof: Proof) -> Iterator[str]:
    """The names of the engines, and whether each has an answer."""
    yield '<thead><tr><th scope="col"><span class="hidden">aspect</span></th>'
    for column in proof.columns:
        outcome = column.outcome
        version = _BUILD.sub("", outcome.version) or "no answer"
        yield f'<th scope="col"><span>{_text(outcome.engine)}</span><small>{_text(version)}</small></th>'
    yield '</tr></thead><tbody><tr><th scope="row">answers</th>'
    for column in proof.columns:
        loads = column.outcome.loads
        state, word, told = ("same", "yes", "") if loads else ("differs", "no", column.outcome.reason)
        yield f'<td class="{state}" title="{_text(told)}">{_SIGNS[state]} <span class="word">{word}</span></td>'
    yield "</tr></tbody>"


def _write_cell(column: Column, name: str, note: int) -> str:
    state, outcome = find_state(column, name), column.outcome
    number = tell_number(column, name)
    parts = [f"{_SIGNS[state]}"]
    if state in ("same", "differs"):
        told = f"<small>{_text(number)}</small>" if number else ""
        parts.append(f'<span class="word">{_STATES[state]}{told}</span>')
    told = outcome.differences.get(name) or find_reason(column, name)
    if not told and ASPECTS[name].reason:
        told = f"may differ by {outcome.find_tolerance(name):g} of {ASPECTS[name].scale}"
    if state == "blank":
        parts.append(f'<span class="hidden">not reported</span>{f"<sup>{note}</sup>" if note else ""}')
    return f'<td class="{state}" title="{_text(told)}">{" ".join(parts)}</td>'


def _write_differences(proof: Proof) -> Iterator[str]:
    found = list(list_differences(proof))
    if not found:
        return
    yield "<section><h2>What differs, and why</h2>"
    sources = Sources()
    # what follows from one cause is told with it, once
    groups: dict[tuple[str, ...], list[tuple[Column, str]]] = {}
    for column, name in found:
        cause = column.causes.get(name)
        key = (column.outcome.engine, name) if cause is None else (cause.word, str(cause.where), cause.text)
        groups.setdefault(key, []).append((column, name))
    for rows in groups.values():
        yield from _write_difference(rows, sources)
    yield "</section>"


def _write_difference(rows: Sequence[tuple[Column, str]], sources: Sources) -> Iterator[str]:
    column, name = rows[0]
    cause = column.causes.get(name)
    engines = ", ".join(dict.fromkeys(row.outcome.engine for row, _ in rows))
    head = cause.word if cause else ("no answer" if name == "loads" else name)
    yield f'<div class="card"><h3><span class="differs">✗ {_text(head)}</span> <small>{_text(engines)}</small></h3>'
    if cause is not None:
        yield f"<p>{_text(cause.text)}</p>"
    yield '<ul class="facts">'
    for row, aspect in rows:
        word = "answers" if aspect == "loads" else aspect
        yield f"<li><b>{_text(row.outcome.engine)}, {word}:</b> {_text(row.outcome.differences[aspect])}</li>"
    yield "</ul>"
    if cause is not None and cause.where:
        yield f'<p class="place">{_text(str(cause.where))}</p>'
        line = sources.find_excerpt(cause.where.file, cause.where.line, cause.where.column, _EXCERPT)
        if line is not None:
            yield _write_excerpt(line)
    if cause is not None and cause.hint:
        yield f'<p class="todo"><b>What to do:</b> {_text(cause.hint)}</p>'
    yield "</div>"


def _write_excerpt(line: Excerpt) -> str:
    gutter = f'<span class="gutter">{line.number} | </span>'
    marked = f'{" " * line.start}<span class="mark">{"^" * line.length}</span>'
    blank = f'<span class="gutter">{" " * len(str(line.number))} | </span>'
    return f'<pre class="source">{gutter}{_text(line.text)}\n{blank}{marked}</pre>'


def _write_motion(proof: Proof, units: Mapping[str, str]) -> Iterator[str]:
    names = [name for name in SCENARIOS if any(name in column.motions for column in proof.columns)]
    moving = [name for name in names if any(_moved(column, name) for column in proof.columns)]
    if not moving:
        return
    yield "<section><h2>How it moves</h2>"
    yield (
        '<p class="lead">Every engine makes the same motion at a timestep and at half of it. What is left of the '
        "difference when the timestep goes to zero is not discretisation: the machine or the physics differ. The joint "
        'with the most of it is drawn, at the smaller timestep<span class="roomy">; hover for numbers</span>.</p>'
    )
    for name in moving:
        yield from _write_scenario(proof, name, units)
    yield "</section>"


def _moved(column: Column, name: str) -> MotionResult | None:
    """What an engine did, where it did anything."""
    result = column.motions.get(name)
    return result if result is not None and result.runs and result.reference is not None else None


def _write_scenario(proof: Proof, name: str, units: Mapping[str, str]) -> Iterator[str]:
    scenario = SCENARIOS[name]
    rows = [(column, result) for column in proof.columns if (result := _moved(column, name)) is not None]
    worst = max((result for _, result in rows), key=_weigh)
    yield f'<div class="card"><h3>{_text(name)} <small>{_text(scenario.title)}, {scenario.seconds:g} s</small></h3>'
    chart = _make_chart(proof, name, worst, rows, units)
    if chart is not None:
        yield f'<p class="joint">worst joint: <code>{_text(worst.worst)}</code></p>'
        yield f'<div class="scroll">{figures.draw(chart)}</div>'
    steps = [f"error at {run.step * 1000:g} ms" for run in rows[0][1].runs[:2]]
    heads = ("engine", *steps, "of that, timestep", "left at zero", "may be left", "worst joint", "")
    yield f'<div class="scroll"><table class="figures motions">{_write_head(*heads)}<tbody>'
    for column, result in rows:
        yield _write_figures(column, result, len(steps))
    yield "</tbody></table></div>"
    yield from _write_left_out(proof, name)
    yield '<p class="why">Errors are relative to the way that the joint goes, at least 0.1. Why so much may be left: '
    yield f"{_text(scenario.reason)}.</p></div>"


def _weigh(result: MotionResult) -> float:
    """How much of what may be left is left; a motion that runs away leaves no number, and is the worst."""
    share = result.remainder / (result.tolerance or 1.0)
    return share if math.isfinite(share) else math.inf


def _write_left_out(proof: Proof, name: str) -> Iterator[str]:
    """Engines that cannot make a motion, and what was left out of it for those that can."""
    results = [
        (column.outcome.engine, column.motions[name]) for column in proof.columns if name in column.motions
    ]
    told: dict[str, list[str]] = {}
    left: dict[str, list[str]] = {}
    for engine, result in results:
        if result.state == "blank":
            told.setdefault(_text(result.reason), []).append(engine)
        for key, why in result.without.items():
            left.setdefault(f"{_text(key)}, because {_text(why)}", []).append(engine)
    for word, reasons in (("Not reported", told), ("Left out", left)):
        texts = [f"<b>{_text(', '.join(engines))}</b> {reason}" for reason, engines in reasons.items()]
        if texts:
            yield f'<p class="why">{word}: {"; ".join(texts)}.</p>'


def _write_head(*titles: str) -> str:
    cells = "".join(f'<th scope="col">{title}</th>' for title in titles)
    return f"<thead><tr>{cells}</tr></thead>"


def _write_figures(column: Column, result: MotionResult, steps: int) -> str:
    state = result.state if result.state in _SIGNS else "blank"
    errors = (result.error, result.error_half)[:steps]
    numbers = (*errors, result.discretisation, result.remainder, result.tolerance)
    cells = "".join(f'<td class="number">{value:.1e}</td>' for value in numbers)
    return (
        f'<tr><th scope="row">{_text(column.outcome.engine)}</th>{cells}<td>{_text(result.worst)}</td>'
        f'<td class="{state}">{_SIGNS[state]} {_STATES[state]}</td></tr>'
    )


def _make_chart(
    proof: Proof,
    name: str,
    worst: MotionResult,
    rows: Sequence[tuple[Column, MotionResult]],
    units: Mapping[str, str],
) -> figures.LineChart | None:
    assert worst.reference is not None
    joint = worst.worst
    expected = worst.reference.positions.get(joint)
    if expected is None:
        return None
    styles = {column.outcome.engine: number % figures.STYLES for number, column in enumerate(proof.columns)}
    lines, references = [], {_name_reference(worst): expected}
    for column, result in rows:
        reference = result.reference.positions.get(joint) if result.reference is not None else None
        values = result.runs[-1].positions.get(joint)
        if reference is None or values is None or len(values) != len(expected):
            continue
        references.setdefault(_name_reference(result), reference)
        errors = [value - right for value, right in zip(values, reference, strict=True)]
        lines.append(figures.EngineLine(column.outcome.engine, styles[column.outcome.engine], values, errors))
    # a joint that the asset does not have is an axis of a body that floats
    axis = joint.rpartition(".")[2]
    unit = units.get(joint) or _AXES.get(axis, "rad or m")
    title = f"{joint} over time, {SCENARIOS[name].title}"
    return figures.LineChart(title, unit, worst.reference.times, sorted(references.items()), lines)


def _name_reference(result: MotionResult) -> str:
    """What an engine is held against: what its format has no place for is left out there too."""
    assert result.reference is not None
    left = " and ".join(result.reference.without)
    return f"{result.reference.engine} without {left}" if left else result.reference.engine


def _write_method(source: str, proofs: Sequence[Proof]) -> Iterator[str]:
    proof = proofs[0]
    settings = proof.settings
    yield '<section class="method"><h2>How it was done</h2>'
    heads = ("engine", "version", "is given", "precision", "licence", "time", "asked")
    yield f'<div class="scroll"><table class="figures stack">{_write_head(*heads)}<tbody>'
    own = (proof.against, proof.version, *_describe_engine(proof.against))
    yield _write_row(heads, *own, "", "the reference")
    for column in proof.columns:
        outcome = column.outcome
        when = column.measured.replace("T", " ").replace("Z", " UTC")
        version = outcome.version or "no answer"
        seconds = f"{column.seconds:.1f}\u00a0s"
        yield _write_row(heads, outcome.engine, version, *_describe_engine(outcome.engine), seconds, when)
    yield "</tbody></table></div>"
    if "dynamics" in settings.levels:
        count, seed = settings.configurations, settings.seed
        yield f"<p>{count} configurations within the joint limits, made from seed {seed}.</p>"
    yield "<h3>What may differ</h3>"
    allowed = ("aspect", "what it is", "single precision", "double precision", "relative to", "because")
    yield f'<div class="scroll"><table class="figures stack">{_write_head(*allowed)}<tbody>'
    for name in proof.aspects:
        aspect = ASPECTS[name]
        numbers = (f"{aspect.single:g}", f"{aspect.double:g}") if aspect.reason else ("nothing", "nothing")
        yield _write_row(allowed, name, aspect.title, *numbers, aspect.scale, aspect.reason)
    yield "</tbody></table></div>"
    asked = dict.fromkeys(column.outcome.engine.partition(":")[0] for column in proof.columns)
    names = [name for name in asked if name in list_engines()]
    install = f"simwright engines install {' '.join(names)}\n" if names else ""
    yield "<h3>To repeat it</h3>"
    again = tell_command(source, proofs, format="html", output="report.html")
    yield f'<pre class="source">{_text(install + again, keep=chr(10))}</pre></section>'


def _write_row(heads: Sequence[str], *cells: str) -> str:
    """A row; each cell knows its head, which phones show beside it, and an empty one is not shown there."""
    first, *rest = cells
    told = "".join(
        f'<td data-head="{head}">{_text(cell)}</td>' for head, cell in zip(heads[1:], rest, strict=True)
    )
    return f'<tr><th scope="row">{_text(first)}</th>{told}</tr>'


def _describe_engine(name: str) -> tuple[str, str, str]:
    """What an engine is given, its precision and licence."""
    if name.partition(":")[0] not in list_engines():
        return "mjcf, in this process", "double", "Apache-2.0"
    row = find_engine(name)
    words = [
        f"{key.rstrip('_')} {value}" if isinstance(value, str) else key for key, value in row.writing.items()
    ]
    given = f"{row.format} ({', '.join(words).replace('_', ' ')})" if words else row.format
    return given, row.precision, row.licence


def _text(text: str, keep: str = "") -> str:
    """What may come from an asset or an engine: hidden characters are shown, mark-up is none."""
    return html.escape(make_visible(text, keep=keep))
