# SPDX-License-Identifier: Apache-2.0
"""A comparison as one HTML page that stands alone: both machines in 3D, what differs lit up and listed."""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from simwright.app.report.html import STYLE as PAGE
from simwright.app.report.report import TOOL_NAME
from simwright.app.report.view3d import STYLE, LinkMark, make_policy, make_script, make_view
from simwright.compare.difference import Difference, DifferenceItem, DifferenceSection
from simwright.core.visible import make_visible
from simwright.model.asset import Asset

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
    yield f"<title>{TOOL_NAME}: {title}</title><style>{PAGE}{STYLE}{_OWN}</style></head><body>"
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
