# SPDX-License-Identifier: Apache-2.0
"""For sharing: one HTML page that stands alone: nothing is fetched, and no script but that of the 3D views runs.

The switches at the top hide levels and what has no fix (checkboxes and CSS); many findings are grouped by cause; assets
and groups fold (``<details>``); rules lead to their pages; light and dark follow the reader's system.  A comparison is
such a page too: both machines in 3D, what differs lit up and listed.  So is an evaluation of a policy: how sure its
success rate is, every episode, and films of those that failed.
"""

from __future__ import annotations

import html
import json
import math
import re
import statistics
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simwright import __version__
from simwright.app.report.json import plain_value
from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    Excerpt,
    Report,
    Sources,
    count_assets,
    count_words,
    find_page,
    find_position,
    group_by_cause,
    name_command,
    name_file,
    name_fix,
    name_position,
    name_prim,
    name_related,
    name_section,
)
from simwright.app.report.view3d import STYLE as VIEW_STYLE
from simwright.app.report.view3d import LinkMark, make_policy, make_script, make_view
from simwright.compare.difference import Difference, DifferenceItem, DifferenceSection
from simwright.core.diag import Diagnostic, Fixable, Level
from simwright.core.files import write_atomic
from simwright.core.visible import make_visible
from simwright.model.asset import Asset

if TYPE_CHECKING:
    # tasks load MuJoCo, which a report of findings does not need
    from simwright.tasks.runner import Episode, RunSummary

_ROWS = 200
_LONG, _SHORT = re.compile(r"'(.*)'"), re.compile(r"'([^']*)'")
_OWN = """
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem;
  margin: 1rem 0; }
.pair .asset { margin: 0; overflow: hidden; } .scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: 0.9em; }
td, th { text-align: left; vertical-align: top; padding: 0.35rem 1.1rem; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; } td { min-width: 7rem; }
.meta { overflow-wrap: anywhere; } .facts { margin: 0; padding: 0.6rem 1.1rem; color: var(--soft); }
.bad { color: var(--error); font-weight: 600; }
"""


def render_diff(difference: Difference, first: Asset, second: Asset, show: Callable[[Any], str]) -> str:
    """The page; ``show`` makes a short text of a value."""
    return "\n".join(_write(difference, first, second, show)) + "\n"


def _write(difference: Difference, first: Asset, second: Asset, show: Callable[[Any], str]) -> Iterator[str]:
    sides = ((difference.a, first), (difference.b, second))
    views = [make_view(asset, mark_differences(asset, difference)) for _, asset in sides]
    number = sum(len(section.items) for section in difference.sections)
    title = "no differences" if difference.equal else f"{number} difference{'s' if number != 1 else ''}"
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{make_policy()}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{TOOL_NAME}: {title}</title><style>{STYLE}{VIEW_STYLE}{_OWN}</style></head><body>"
    yield f'<h1>{title}</h1><p class="meta">{_text(difference.a)} and {_text(difference.b)}</p><main><div class="pair">'
    for (file, asset), view in zip(sides, views, strict=True):
        facts = _text(", ".join(asset.list_facts()))
        yield f'<div class="asset"><div class="title"><span class="path">{_text(file)}</span></div>{view}'
        yield f'<p class="facts">{facts}</p></div>'
    yield "</div>"
    # what differs comes first
    for section in sorted(difference.sections, key=lambda one: one.equal):
        yield from _write_section(section, show)
    yield f"</main>{make_script()}</body></html>"


def _write_section(section: DifferenceSection, show: Callable[[Any], str]) -> Iterator[str]:
    name = f'<span class="path">{_text(section.name)}</span>'
    if section.equal:
        words = f"equal, {section.compared} compared" if section.compared else "nothing to compare"
        yield f'<div class="asset title">{name}<span class="clean">{words}</span></div>'
        return
    count = f'<span class="bad">{len(section.items)} different</span>'
    yield f'<details class="asset" open><summary class="title">{name}{count}'
    yield '</summary><div class="scroll"><table><tr><th>element</th><th>what</th><th>first</th><th>second</th></tr>'
    for item in section.items[:_ROWS]:
        cells = (item.element, item.what, show(item.a), show(item.b))
        yield f"<tr>{''.join(f'<td>{_text(str(cell))}</td>' for cell in cells)}</tr>"
    if len(section.items) > _ROWS:
        yield f'<tr><td colspan="4">and {len(section.items) - _ROWS} more</td></tr>'
    for figure in section.figures:
        if not figure.equal:
            told = f"largest error {figure.error:.2g} at {figure.where}"
            yield f'<tr><td>{_text(figure.name)}</td><td colspan="3">{_text(told)}</td></tr>'
    yield "</table></div></details>"


def mark_differences(asset: Asset, difference: Difference) -> dict[str, LinkMark]:
    """Links of an asset that differences are about: themselves, their joints and their shapes."""
    bodies = {body.name: body.name for body in asset.bodies}
    joints = {joint.name: joint.child for joint in asset.joints}
    shapes = {shape.name: shape.body for shape in asset.shapes}
    owners = {"body": bodies, "joint": joints, "": shapes | joints | bodies}
    marks: dict[str, LinkMark] = {}
    for section in difference.sections:
        for item in section.items:
            name = _find_owner(item, owners)
            if name and name not in marks:
                marks[name] = LinkMark("warning", f"{section.name}: {item.what}")
    return marks


def _find_owner(item: DifferenceItem, owners: Mapping[str, Mapping[str, str]]) -> str:
    """The link of an element, which is told as ``body 'crank'``."""
    kind, _, _ = item.element.partition(" ")
    found = owners.get(kind, owners[""])
    # a name may hold quotes itself: the longest one first
    for name in (*_LONG.findall(item.element), *_SHORT.findall(item.element)):
        if name in found:
            return found[name]
    return ""


def _text(text: str) -> str:
    return html.escape(make_visible(text))


_EXCERPT_CELLS = 110
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"

STYLE = """
:root { color-scheme: light dark;
  --page: #f6f7f9; --card: #ffffff; --text: #1c2330; --soft: #5b6675; --line: #dfe3e9; --code: #f1f3f6;
  --error: #c62f3a; --warning: #9a6200; --info: #1f6fb8; --clean: #2a7d46; --prim: #5f4bb6; }
@media (prefers-color-scheme: dark) { :root {
  --page: #12161c; --card: #1a2029; --text: #e3e8ef; --soft: #95a1b1; --line: #2c3541; --code: #131920;
  --error: #ff7a80; --warning: #e8b34b; --info: #6cb6ff; --clean: #63c987; --prim: #b5a6ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 68rem; padding: 2rem 1.25rem 4rem; background: var(--page);
  color: var(--text); font: 15px/1.55 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 1.5rem; margin: 0; letter-spacing: -0.01em; }
.meta { color: var(--soft); margin: 0.2rem 0 1.25rem; }
code, pre, .path, .rule, .place { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; }
.switch { position: absolute; opacity: 0; pointer-events: none; }
.filters { display: flex; flex-wrap: wrap; gap: 0.6rem; margin-bottom: 1.5rem; }
.filters label { cursor: pointer; user-select: none; padding: 0.35rem 0.9rem; border-radius: 999px;
  border: 1.5px solid var(--level); color: var(--level); background: var(--card); font-weight: 600; }
.error { --level: var(--error); } .warning { --level: var(--warning); } .info { --level: var(--info); }
#show-error:not(:checked) ~ .filters .error, #show-warning:not(:checked) ~ .filters .warning,
#show-info:not(:checked) ~ .filters .info {
  opacity: 0.45; border-style: dashed; text-decoration: line-through; }
#show-error:focus-visible ~ .filters .error, #show-warning:focus-visible ~ .filters .warning,
#show-info:focus-visible ~ .filters .info { outline: 3px solid var(--info); outline-offset: 2px; }
#show-error:not(:checked) ~ main .finding.error, #show-warning:not(:checked) ~ main .finding.warning,
#show-info:not(:checked) ~ main .finding.info { display: none; }
#only-fixable:checked ~ main .finding:not(.fixable) { display: none; }
#only-fixable:focus-visible ~ .filters .fix { outline: 3px solid var(--info); outline-offset: 2px; }
#only-fixable:checked ~ .filters .fix { background: var(--clean); color: var(--card); }
.filters .fix { --level: var(--clean); }
.command { margin: 0 0 1.25rem; overflow-wrap: anywhere; }
.group { border-top: 1px solid var(--line); } .group > summary { cursor: pointer; padding: 0.6rem 1.1rem; }
a.rule { color: var(--info); }
.asset { background: var(--card); border: 1px solid var(--line); border-radius: 10px; margin-bottom: 1rem; }
.title { padding: 0.8rem 1.1rem; display: flex; flex-wrap: wrap; gap: 0.2rem 1rem; list-style: none; }
.title::before { content: "\\2713"; color: var(--clean); min-width: 0.8rem; }
summary.title { cursor: pointer; } summary.title::before { content: "\\25B8"; color: var(--soft); }
[open] > summary.title::before { content: "\\25BE"; }
.title .path { flex: 1; font-weight: 600; overflow-wrap: anywhere; }
.counts { color: var(--soft); } .clean { color: var(--clean); font-weight: 600; }
.findings { list-style: none; margin: 0; padding: 0; }
.finding { border-top: 1px solid var(--line); border-left: 4px solid var(--level); padding: 0.8rem 1.1rem; }
.finding:last-child { border-bottom-left-radius: 9px; }
.finding p { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
.level { color: var(--level); font-weight: 700; } .rule { color: var(--soft); font-size: 0.87em; }
.message { font-weight: 600; } .place { font-size: 0.87em; color: var(--soft); } .prim { color: var(--prim); }
.source { margin: 0.5rem 0; padding: 0.5rem 0.8rem; background: var(--code); border-radius: 6px;
  overflow-x: auto; font-size: 0.87em; line-height: 1.35; }
.source .gutter { color: var(--soft); user-select: none; }
.source .mark { color: var(--level); font-weight: 700; }
.note b { font-weight: 600; color: var(--soft); }
.data { font-size: 0.87em; color: var(--soft); margin-top: 0.3rem; } .data summary { cursor: pointer; }
.data pre { margin: 0.3rem 0 0; white-space: pre-wrap; overflow-wrap: anywhere; }
@media print { body { max-width: none; padding: 0; } .filters { display: none; }
  .finding { break-inside: avoid; } }
"""


def render(report: Report, *, color: bool = False, width: int | None = None) -> str:  # noqa: ARG001 - one signature
    """The report as a self-contained HTML page."""
    return "\n".join(_write_page(report)) + "\n"


def _write_page(report: Report) -> Iterator[str]:
    summary = report.summary()
    title = f"{count_words(summary)} in {count_assets(len(report.assets))}"
    has_views = any(asset.view for asset in report.assets)
    policy, style, script = _POLICY, "", ""
    if has_views:
        # imported here: a page without views needs no writer of meshes
        from simwright.app.report import view3d

        policy, style, script = view3d.make_policy(), view3d.STYLE, view3d.make_script()
    yield "<!DOCTYPE html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    # names and messages come from assets: should one ever get past the escaping, the browser still
    # runs nothing
    yield f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{TOOL_NAME}: {title}</title><style>{STYLE}{style}</style></head><body>"
    yield f'<h1>{title}</h1><p class="meta">{TOOL_NAME} {_escape(report.tool_version)}</p>'
    for level in Level:
        yield f'<input class="switch" type="checkbox" id="show-{level.value}" checked>'
    labels = (
        f'<label class="{level.value}" for="show-{level.value}">{count_words({level.value: number})}</label>'
        for level, number in ((level, summary[level.value]) for level in Level)
        if number
    )
    count = sum(finding.fixable in (Fixable.SAFE, Fixable.UNSAFE) for _, finding in report)
    fixable = f'<label class="fix" for="only-fixable">only the {count} with a fix</label>' if count else ""
    yield '<input class="switch" type="checkbox" id="only-fixable">'
    yield f'<div class="filters">{"".join(labels)}{fixable}</div>'
    yield f'<p class="command path">{_escape(name_command(report))}</p><main>' if count else "<main>"
    # one for the whole page: many findings are in the same file
    sources = Sources()
    for asset in report.assets:
        yield from _write_asset(asset, sources)
    yield f"</main>{script}</body></html>"


def _write_asset(asset: AssetReport, sources: Sources) -> Iterator[str]:
    path = f'<span class="path">{_escape(asset.path)}</span>'
    words = count_words(asset.summary())
    if not asset.findings:
        clean = f'{path}<span class="clean">{words}</span>'
        yield f'<div class="asset"><div class="title">{clean}</div>{asset.view}</div>'
        return
    title = f'<summary class="title">{path}<span class="counts">{words}</span></summary>'
    yield f'<details class="asset" open>{title}{asset.view}'
    groups = group_by_cause(asset.findings)
    if not groups:
        yield from _write_findings(asset, asset.findings, sources)
    for group in groups:
        level = group.level.value
        head = f'<span class="level">{len(group.findings)} x</span> {_write_rule(group.code)}'
        # errors are what a reader came for
        is_open = " open" if group.level is Level.ERROR else ""
        yield f'<details class="group {level}"{is_open}><summary>{head} {_escape(group.about)}</summary>'
        yield from _write_findings(asset, group.findings, sources)
        yield "</details>"
    yield "</details>"


def _write_findings(asset: AssetReport, findings: list[Diagnostic], sources: Sources) -> Iterator[str]:
    yield '<ol class="findings">'
    for finding in findings:
        yield from _write_finding(asset, finding, sources)
    yield "</ol>"


def _write_rule(code: str) -> str:
    """The code, as a link where it has a page."""
    page, name = find_page(code), _escape(code)
    return (
        f'<a class="rule" href="{_escape(page)}">{name}</a>' if page else f'<span class="rule">{name}</span>'
    )


def _write_finding(asset: AssetReport, finding: Diagnostic, sources: Sources) -> Iterator[str]:
    level = finding.level.value
    file, prim = name_file(asset, finding), name_prim(finding)
    fixable = " fixable" if finding.fixable in (Fixable.SAFE, Fixable.UNSAFE) else ""
    yield f'<li class="finding {level}{fixable}"><p><span class="level">{level}</span> {_write_rule(finding.kind)}</p>'
    yield f'<p class="message">{_escape(finding.message)}</p>'
    shown_prim = f' <span class="prim">&lt;{_escape(prim)}&gt;</span>' if prim else ""
    yield f'<p class="place">{_escape(file)}{name_position(finding)}{shown_prim}</p>'
    excerpt = sources.find_excerpt(file, *find_position(finding), _EXCERPT_CELLS)
    if excerpt is not None:
        yield _write_excerpt(excerpt)
    for name, text in (
        ("Help", finding.hint),
        ("Fix", name_fix(finding)),
        ("Also", name_related(finding)),
        ("See", name_section(finding)),
    ):
        if text:
            yield f'<p class="note"><b>{name}:</b> {_escape(text)}</p>'
    if finding.data:
        values = json.dumps(plain_value(finding.data), indent=2, ensure_ascii=False, allow_nan=False)
        yield f'<details class="data"><summary>values</summary><pre>{_escape(values)}</pre></details>'
    yield "</li>"


def _write_excerpt(excerpt: Excerpt) -> str:
    blank = " " * len(str(excerpt.number))
    return (
        f'<pre class="source"><span class="gutter">{excerpt.number} | </span>{_escape(excerpt.text)}\n'
        f'<span class="gutter">{blank} | </span>{" " * excerpt.start}'
        f'<span class="mark">{"^" * excerpt.length}</span></pre>'
    )


def _escape(text: str) -> str:
    return html.escape(make_visible(text, keep="\n"))


EVALUATION_PAGE, EVALUATION_DATA = "index.html", "evaluation.json"
# films lie beside the page; nothing else is loaded, and no script runs
_FILM_POLICY = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self' file:"
_RATE_STYLE = """
table { border-collapse: collapse; width: 100%; font-size: 0.92em; background: var(--card); }
th, td { text-align: left; padding: 0.35rem 0.7rem; border-top: 1px solid var(--line); }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
.rate { font-size: 2rem; font-weight: 700; margin: 0.4rem 0 0; }
.bar { position: relative; height: 1.1rem; background: var(--line); border-radius: 6px; margin: 0.6rem 0 1.2rem; }
.bar span { position: absolute; top: 0; bottom: 0; } .bar .sure { background: var(--info); opacity: 0.45; }
.bar .mean { width: 3px; background: var(--text); }
.films { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(20rem, 100%), 1fr)); gap: 1rem; }
.films video { width: 100%; border-radius: 8px; background: #000; } figure { margin: 0; }
figcaption { color: var(--soft); font-size: 0.9em; } h2 { font-size: 1.1rem; margin: 1.6rem 0 0.6rem; }
.lost { color: var(--error); font-weight: 600; } .won { color: var(--clean); }
.scroll { overflow-x: auto; }
"""


def write_evaluation(folder: Path, summary: RunSummary, films: Mapping[int, str]) -> Path:
    """Write ``index.html`` and ``evaluation.json``; ``films`` are names in the folder by seed.  Gives the page."""
    folder.mkdir(parents=True, exist_ok=True)
    told = summary.describe() | {"films": {str(seed): name for seed, name in films.items()}}
    write_atomic(folder / EVALUATION_DATA, json.dumps(told, indent=2) + "\n")
    write_atomic(folder / EVALUATION_PAGE, "\n".join(_write_summary(summary, films)) + "\n")
    return folder / EVALUATION_PAGE


def _write_summary(summary: RunSummary, films: Mapping[int, str]) -> Iterator[str]:
    title = f"{summary.task} with {summary.robot}"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_FILM_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(title)}</title><style>{STYLE}{_RATE_STYLE}</style></head><body>"
    yield f"<h1>{_text(title)}</h1>"
    last = summary.seed + max(len(summary.episodes) - 1, 0)
    yield (
        f'<p class="meta">policy {_text(summary.policy)}, control {_text(summary.mode)}, seeds {summary.seed} to '
        f"{last}; Simwright {__version__}</p>"
    )
    yield from _write_rate(summary)
    lost = [episode for episode in summary.episodes if not episode.success]
    if lost:
        yield from _write_failures(lost, films)
    yield from _write_episodes(summary, films)
    yield "</body></html>"


def _write_rate(summary: RunSummary) -> Iterator[str]:
    (low, high), rate = summary.interval, summary.success_rate
    yield f'<p class="rate">{100 * rate:.0f} %</p>'
    yield (
        f"<p>{summary.successes} of {len(summary.episodes)} episodes succeeded; the true rate is between "
        f"{100 * low:.0f} and {100 * high:.0f} % (95 % interval by Wilson's score).</p>"
    )
    yield (
        f'<div class="bar" role="img" aria-label="{100 * low:.0f} to {100 * high:.0f} %">'
        f'<span class="sure" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></span>'
        f'<span class="mean" style="left:{100 * rate:.2f}%"></span></div>'
    )
    steps = [episode.steps for episode in summary.episodes if episode.success]
    if steps:
        yield (
            f"<p>Successful episodes took {statistics.median(steps):.0f} actions in the median, "
            f"{min(steps)} to {max(steps)}.</p>"
        )


def _write_failures(lost: list[Episode], films: Mapping[int, str]) -> Iterator[str]:
    ends: dict[str, int] = {}
    for episode in lost:
        ends[episode.ended] = ends.get(episode.ended, 0) + 1
    yield "<h2>Failures</h2>"
    yield f"<p>{', '.join(f'{count} {_text(end)}' for end, count in sorted(ends.items()))}</p>"
    if not films:
        return
    yield '<div class="films">'
    for episode in lost:
        if episode.seed in films:
            name = html.escape(films[episode.seed], quote=True)
            yield f'<figure><video controls preload="metadata" src="{name}"></video>'
            yield f"<figcaption>seed {episode.seed}: {_spell(episode)}</figcaption></figure>"
    yield "</div>"


def _write_episodes(summary: RunSummary, films: Mapping[int, str]) -> Iterator[str]:
    yield '<h2>Episodes</h2><div class="scroll"><table><tr><th class="number">seed</th><th>end</th>'
    yield '<th class="number">actions</th><th class="number">return</th><th>measures</th><th></th></tr>'
    for episode in summary.episodes:
        kind = "won" if episode.success else "lost"
        film = films.get(episode.seed)
        link = f'<a href="{html.escape(film, quote=True)}">film</a>' if film else ""
        yield (
            f'<tr><td class="number">{episode.seed}</td><td class="{kind}">{_text(episode.ended)}</td>'
            f'<td class="number">{episode.steps}</td><td class="number">{episode.total_reward:.2f}</td>'
            f"<td>{_spell(episode)}</td><td>{link}</td></tr>"
        )
    yield "</table></div>"


def _spell(episode: Episode) -> str:
    shown = [f"{key} {value:.3g}" for key, value in episode.details.items() if math.isfinite(value)]
    return _text(", ".join(shown))
