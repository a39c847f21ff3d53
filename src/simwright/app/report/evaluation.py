# SPDX-License-Identifier: Apache-2.0
"""An evaluation as one page: how sure the success rate is, every episode, and films of those that failed."""

from __future__ import annotations

import html
import json
import math
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path

from simwright import __version__
from simwright.app.report.html import STYLE
from simwright.core.files import write_atomic
from simwright.core.visible import make_visible
from simwright.tasks.runner import Episode, RunSummary

PAGE, DATA = "index.html", "evaluation.json"
# films lie beside the page; nothing else is loaded, and no script runs
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; media-src 'self' file:"
_OWN_STYLE = """
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
    write_atomic(folder / DATA, json.dumps(told, indent=2) + "\n")
    write_atomic(folder / PAGE, "\n".join(_write(summary, films)) + "\n")
    return folder / PAGE


def _write(summary: RunSummary, films: Mapping[int, str]) -> Iterator[str]:
    title = f"{summary.task} with {summary.robot}"
    yield "<!doctype html>"
    yield '<html lang="en"><head><meta charset="utf-8">'
    yield f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<title>{_text(title)}</title><style>{STYLE}{_OWN_STYLE}</style></head><body>"
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


def _text(text: str) -> str:
    return html.escape(make_visible(text))
