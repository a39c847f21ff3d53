# SPDX-License-Identifier: Apache-2.0
"""A job as one HTML page that stands alone, with filters by rule, level, folder, engine, status and words.

The rows are data in the page, written as they come; a small script shows those that pass, some at a time.  It makes
text nodes only, and the page's policy allows no other script: names in assets cannot become code.  Messages are in the
page for the first findings of a job; of the others it has rule, level and number.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from simwright import __version__
from simwright.app.jobs.reports import declare_rules, report_row, summarize
from simwright.app.jobs.store import JobRow, JobStore, TextSink
from simwright.app.report.html import STYLE
from simwright.app.report.report import (
    TOOL_NAME,
    AssetReport,
    count_assets,
    count_words,
    describe_kind,
    find_page,
    name_position,
    name_prim,
)
from simwright.core.diag import Diagnostic, Level
from simwright.core.visible import make_visible

MOST_MESSAGES = 20_000
"""Findings whose text is in the page; a browser takes about 10 MB of it in a second."""
_LEVELS = tuple(level.value for level in Level)
_OWN_STYLE = """
form { display: flex; flex-wrap: wrap; gap: 0.6rem 1rem; margin: 1rem 0; align-items: end; }
form label { display: flex; flex-direction: column; font-size: 0.85em; color: var(--soft); }
form select, form input { font: inherit; padding: 0.25rem 0.4rem; max-width: 18rem; background: var(--card);
  color: var(--text); border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; width: 100%; font-size: 0.92em; background: var(--card); }
th, td { text-align: left; vertical-align: top; padding: 0.35rem 0.7rem; border-top: 1px solid var(--line);
  overflow-wrap: anywhere; } td.number, th.number { text-align: right; white-space: nowrap; }
.columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(24rem, 100%), 1fr)); gap: 1rem; }
.card { border: 1px solid var(--line); border-radius: 10px; overflow: auto; max-height: 24rem; }
button { font: inherit; padding: 0.3rem 0.9rem; border-radius: 6px; border: 1px solid var(--line);
  background: var(--card); color: var(--text); cursor: pointer; } button:disabled { opacity: 0.4; }
tr.asset-row { cursor: pointer; } tr.asset-row:focus-visible { outline: 2px solid var(--info); }
.more { padding-left: 2rem; } .more li { margin: 0.2rem 0; }
.new { color: var(--error); } .gone { color: var(--clean); }
h2 { font-size: 1.1rem; margin: 1.5rem 0 0.5rem; }
"""
_SCRIPT = r"""
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const PAGE = 200, LEVELS = ["error", "warning", "info"];
let first = 0, open = new Set();
const find = (id) => document.getElementById(id);
function make(tag, text, name) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  if (name) element.className = name;
  return element;
}
function fill(id, words) {
  words.forEach((word, index) => {
    const option = make("option", word);
    option.value = index;
    find(id).append(option);
  });
}
fill("status", data.statuses); fill("rule", data.rules.map((rule) => rule[0]));
fill("folder", data.folders); fill("engine", data.engines);
find("engine").parentElement.hidden = data.engines.length === 0;
const chosen = (id) => find(id).value === "" ? null : Number(find(id).value);
function passes(finding, level, rule, engine) {
  return (level === null || finding[0] === level) && (rule === null || finding[1] === rule)
    && (engine === null || finding[3] === engine);
}
function select() {
  const [level, rule, folder, engine, status] = ["level", "rule", "folder", "engine", "status"].map(chosen);
  const text = find("text").value.toLowerCase(), any = level !== null || rule !== null || engine !== null;
  const under = folder === null ? null : data.folders[folder];
  return data.rows.filter((row) => {
    if (status !== null && row[2] !== status) return false;
    const place = data.folders[row[1]];
    if (under !== null && place !== under && !place.startsWith(under + "/")) return false;
    if (text && !(place + "/" + row[0]).toLowerCase().includes(text)
        && !row[4].some((one) => (one[4] || "").toLowerCase().includes(text))) return false;
    return !any || row[4].some((one) => passes(one, level, rule, engine));
  });
}
function show() {
  const rows = select(), [level, rule, engine] = ["level", "rule", "engine"].map(chosen);
  const body = find("rows");
  body.replaceChildren();
  first = Math.min(first, Math.max(0, Math.floor((rows.length - 1) / PAGE) * PAGE));
  for (const row of rows.slice(first, first + PAGE)) {
    const line = make("tr", undefined, "asset-row"), shown = row[4].filter((one) => passes(one, level, rule, engine));
    line.tabIndex = 0;
    line.append(make("td", (data.folders[row[1]] === "." ? "" : data.folders[row[1]] + "/") + row[0], "path"));
    line.append(make("td", data.statuses[row[2]]));
    LEVELS.forEach((_, index) => {
      const count = shown.filter((one) => one[0] === index).reduce((sum, one) => sum + one[2], 0);
      line.append(make("td", count || "", "number"));
    });
    const toggle = () => { open.has(row) ? open.delete(row) : open.add(row); show(); };
    line.addEventListener("click", toggle);
    line.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(); });
    body.append(line);
    if (open.has(row)) {
      const list = make("ul", undefined, "more"), cell = make("td"), more = make("tr");
      cell.colSpan = 5;
      for (const one of shown) {
        const item = make("li"), words = one[2] > 1 ? " (" + one[2] + ")" : "";
        item.append(make("span", LEVELS[one[0]], "level " + LEVELS[one[0]]), " ", data.rules[one[1]][0] + words);
        if (one[4]) item.append(": " + one[4]);
        if (one[5]) item.append(" ", make("span", one[5], "place"));
        list.append(item);
      }
      if (!shown.length) list.append(make("li", "nothing"));
      cell.append(list); more.append(cell); body.append(more);
    }
  }
  const last = Math.min(first + PAGE, rows.length);
  find("count").textContent = rows.length ? (first + 1) + " to " + last + " of " + rows.length : "nothing passes";
  find("back").disabled = first === 0;
  find("on").disabled = first + PAGE >= rows.length;
}
for (const id of ["level", "rule", "folder", "engine", "status", "text"])
  find(id).addEventListener("input", () => { first = 0; show(); });
find("back").addEventListener("click", () => { first -= PAGE; show(); });
find("on").addEventListener("click", () => { first += PAGE; show(); });
find("filters").addEventListener("submit", (event) => event.preventDefault());
show();
"""


class _TextNumbers:
    """Numbers texts as they come: rows of the page refer to a text by its number, and the texts follow once."""

    def __init__(self) -> None:
        self.texts: dict[str, int] = {}

    def find(self, text: str) -> int:
        return self.texts.setdefault(text, len(self.texts))


def write_html(store: JobStore, out: TextSink) -> None:
    """The page of a job."""
    command = store.spec.command
    declare_rules(command)
    rows = ((row, report_row(command, row.item.asset, row.outcome)) for row in store.iterate())
    write_page(out, command, rows, summarize(store), store.history)


def write_page(
    out: TextSink,
    command: str,
    rows: Iterable[tuple[JobRow, AssetReport]],
    summary: dict[str, Any],
    history: list[dict[str, Any]],
) -> None:
    """Write the page; ``rows`` are taken one after the other."""
    title = f"{count_words(summary['findings'])} in {count_assets(summary['done'])}"
    digest = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
    policy = f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    out.write(
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{TOOL_NAME} {command}: {title}</title><style>{STYLE}{_OWN_STYLE}</style></head><body>\n"
        f'<h1>{title}</h1><p class="meta">{TOOL_NAME} {__version__} {_text(command)}: '
        f"{_text(_spell(summary))}</p><main>\n"
    )
    _write_trend(out, summary, history)
    _write_filters(out)
    out.write('<script type="application/json" id="data">{"rows": [')
    statuses, rules, folders, engines = _TextNumbers(), _TextNumbers(), _TextNumbers(), _TextNumbers()
    left = MOST_MESSAGES
    for number, (row, report) in enumerate(rows):
        place = PurePosixPath(report.path)
        shown = report.findings[:left]
        left -= len(shown)
        found = [_describe(finding, rules, engines) for finding in shown]
        found += _count(report.findings[len(shown) :], rules, engines)
        plain = [
            place.name,
            folders.find(str(place.parent)),
            statuses.find(row.outcome.status),
            row.outcome.code,
            found,
        ]
        out.write((",\n" if number else "\n") + _data(plain))
    named = [[code, make_visible(describe_kind(code)), find_page(code)] for code in rules.texts]
    ends = {"statuses": statuses.texts, "folders": folders.texts, "engines": engines.texts}
    out.write(f'\n], "rules": {_data(named)}')
    for name, numbers in ends.items():
        out.write(f', "{name}": {_data(list(numbers))}')
    out.write(f"}}</script>\n<script>{_SCRIPT}</script></main></body></html>\n")


def _describe(finding: Diagnostic, rules: _TextNumbers, engines: _TextNumbers) -> list[Any]:
    """Level, rule, number, engine, message, place."""
    prim = name_prim(finding)
    place = f"{finding.where.file}{name_position(finding)}" + (f" <{prim}>" if prim else "")
    return [
        finding.level.rank,
        rules.find(finding.kind),
        1 + len(finding.related),
        _find_engine(finding, engines),
        make_visible(finding.message),
        make_visible(place),
    ]


def _count(findings: Iterable[Diagnostic], rules: _TextNumbers, engines: _TextNumbers) -> list[list[Any]]:
    tally = Counter((one.level.rank, rules.find(one.kind), _find_engine(one, engines)) for one in findings)
    return [[level, rule, number, engine] for (level, rule, engine), number in sorted(tally.items())]


def _find_engine(finding: Diagnostic, engines: _TextNumbers) -> int:
    engine = str(finding.data.get("engine") or finding.data.get("vendor") or "")
    return engines.find(engine) if engine else -1


def _write_trend(out: TextSink, summary: dict[str, Any], history: list[dict[str, Any]]) -> None:
    trend = summary.get("trend")
    if trend is None:
        return
    new, gone = trend["new"], trend["gone"]
    out.write(
        f'<h2>Since the last run</h2><p><span class="new">{sum(new.values())} new</span>, '
        f'<span class="gone">{sum(gone.values())} gone</span>, {trend["assets"]} assets added</p>\n'
        '<div class="columns"><div class="card"><table><tr><th>rule</th><th class="number">new</th>'
        '<th class="number">gone</th></tr>\n'
    )
    for name in sorted({*new, *gone}, key=lambda one: (-new.get(one, 0), -gone.get(one, 0), one)):
        out.write(
            f'<tr><td>{_text(name)}</td><td class="number new">{new.get(name) or ""}</td>'
            f'<td class="number gone">{gone.get(name) or ""}</td></tr>\n'
        )
    out.write('</table></div><div class="card"><table><tr><th>run</th><th class="number">assets</th>')
    out.write("".join(f'<th class="number">{name}s</th>' for name in _LEVELS) + "</tr>\n")
    for row in reversed(history):
        when = datetime.fromtimestamp(row["begun"], UTC).strftime("%Y-%m-%d %H:%M")
        cells = "".join(f'<td class="number">{row[name]}</td>' for name in ("done", *_LEVELS))
        out.write(f"<tr><td>{when}</td>{cells}</tr>\n")
    out.write("</table></div></div>\n")


def _write_filters(out: TextSink) -> None:
    levels = "".join(f'<option value="{number}">{name}</option>' for number, name in enumerate(_LEVELS))
    choices = {"level": levels, "rule": "", "folder": "", "engine": "", "status": ""}
    out.write('<h2>Assets</h2><form id="filters">')
    for name, options in choices.items():
        out.write(f'<label>{name}<select id="{name}"><option value="">all</option>{options}</select></label>')
    out.write('<label>words<input id="text" type="search" autocomplete="off"></label></form>\n')
    out.write('<p><button id="back">back</button> <button id="on">on</button> <span id="count"></span></p>\n')
    out.write("<table><thead><tr><th>asset</th><th>status</th>")
    out.write("".join(f'<th class="number">{name}s</th>' for name in _LEVELS))
    out.write('</tr></thead><tbody id="rows"></tbody></table>\n')


def _spell(summary: dict[str, Any]) -> str:
    words = ", ".join(f"{count} {status}" for status, count in summary["statuses"].items())
    return f"{summary['done']} of {summary['items']} done" + (f": {words}" if words else "")


def _text(text: str) -> str:
    return html.escape(make_visible(text))


def _data(value: Any) -> str:
    """JSON that cannot end the element it stands in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
