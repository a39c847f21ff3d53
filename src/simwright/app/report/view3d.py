# SPDX-License-Identifier: Apache-2.0
"""A robot in 3D inside an HTML report: binary glTF and a viewer of our own stand in the page, nothing is fetched.

Where a browser has no WebGL 2 or runs no scripts, a picture stands there instead.  The policy of the page names the
script by its hash: no other script runs, whatever a name in an asset may hold.
"""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from simwright.app.notebook import draw_jpeg
from simwright.core.diag import Diagnostic, Reporter
from simwright.core.errors import SimwrightError
from simwright.core.visible import escape_json, make_visible
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.write import build_files
from simwright.model.asset import Asset, Shape
from simwright.model.geometry import Mesh, MeshData, Plane
from simwright.model.thinning import thin_mesh

MOST_BYTES = 3_000_000
"""A larger model is simplified first; one that stays larger is shown as a picture."""
_TRIANGLES = 60_000
_PICTURE = (960, 600)
_LEVELS = ("error", "warning", "info")

STYLE = """
.view3d .error { --level: var(--error, #c62f3a); } .view3d .warning { --level: var(--warning, #9a6200); }
.view3d .info { --level: var(--info, #1f6fb8); }
.view3d { position: relative; margin: 0; border-bottom: 1px solid var(--line); overflow: hidden;
  background: radial-gradient(ellipse at 50% 35%, #eef2f6, #cfd7df 75%, #bcc6d0); }
.view3d .stage { position: relative; height: clamp(15rem, 46vh, 28rem); }
.view3d canvas { display: none; width: 100%; height: 100%; touch-action: none; cursor: grab; outline-offset: -3px; }
.view3d canvas:focus:not(:focus-visible) { outline: none; }
.view3d canvas:active { cursor: grabbing; } .view3d.alive canvas { display: block; }
.view3d img { width: 100%; height: 100%; object-fit: cover; display: block; } .view3d.alive img { display: none; }
.view3d .told { position: absolute; left: 0.7rem; top: 0.6rem; max-width: calc(100% - 1.4rem); padding: 0.15rem 0.6rem;
  border-radius: 6px; background: rgba(20, 26, 34, 0.82); color: #fff; font-size: 0.87em; pointer-events: none;
  overflow-wrap: anywhere; } .view3d .told:empty { display: none; }
.view3d .hint { position: absolute; right: 0.7rem; bottom: 0.5rem; color: #4a5564; font-size: 0.78em;
  pointer-events: none; display: none; } .view3d.alive .hint { display: block; }
@media (pointer: coarse), (max-width: 40rem) { .view3d.alive .hint { display: none; } }
.view3d figcaption { display: flex; flex-wrap: wrap; gap: 0.4rem; align-items: center; padding: 0.5rem 1.1rem;
  background: var(--card); color: var(--soft); font-size: 0.87em; }
.view3d figcaption:empty { display: none; }
.view3d button { font: inherit; border: 1.5px solid var(--level); color: var(--level); background: none;
  padding: 0 0.6rem; border-radius: 999px; max-width: 100%; overflow: hidden;
  text-overflow: ellipsis; white-space: nowrap; }
article > .view3d { margin: 1rem 0; border: 1px solid var(--line); border-radius: 12px; }
@media print { .view3d.alive canvas, .view3d .hint { display: none; } .view3d.alive img { display: block; } }
"""


@dataclass(frozen=True, slots=True)
class LinkMark:
    """A link that is lit up: how bad what is said about it is (error, warning or info), and what in a few words."""

    level: str
    text: str = ""


@cache
def read_script() -> str:
    """The viewer."""
    return Path(__file__).with_name("view3d.js").read_text(encoding="utf-8")


def make_policy() -> str:
    """What a page with views lets the browser do: our styles, pictures in the page, this one script."""
    digest = base64.b64encode(hashlib.sha256(read_script().encode()).digest()).decode()
    return f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src 'sha256-{digest}'"


def make_script() -> str:
    """The element that starts all views of a page; it stands once, at the end."""
    return f"<script>{read_script()}</script>"


def make_view(asset: Asset, marks: Mapping[str, LinkMark] | None = None) -> str:
    """An asset as a figure: 3D where that is possible, else a picture; empty where neither is.

    ``marks`` are links by name, lit up and listed below.
    """
    marks = dict(marks or {})
    picture = draw_jpeg(asset, _PICTURE)
    content, notes = build_model(asset)
    if not content and not picture:
        return ""
    label = _text(asset.name)
    parts = ['<figure class="view3d"><div class="stage">']
    if picture:
        parts.append(f'<img alt="{label}" src="data:image/jpeg;base64,{base64.b64encode(picture).decode()}">')
    if content:
        links = [
            {"name": name, "level": mark.level, "text": make_visible(mark.text)}
            for name, mark in marks.items()
        ]
        parts.append(
            f'<canvas tabindex="0" role="img" aria-label="{label}, in 3D"></canvas>'
            '<div class="hint">drag to turn, shift-drag to move, click and wheel to zoom</div>'
            '<div class="told" role="status"></div>'
            f'<script type="application/json" class="links">{escape_script(json.dumps(links))}</script>'
            f'<script type="text/plain" class="glb">{base64.b64encode(content).decode()}</script>'
        )
    parts.append(f"</div><figcaption>{_list_marks(marks, asset)}{_list_notes(notes)}</figcaption></figure>")
    return "".join(parts)


def escape_script(text: str) -> str:
    """JSON that can stand inside of a script element."""
    return escape_json(text).replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _list_marks(marks: Mapping[str, LinkMark], asset: Asset) -> str:
    known = {body.name for body in asset.bodies}
    chips = [
        f'<button type="button" class="{mark.level}" data-link="{number}" title="{_text(mark.text)}">'
        f"{_text(name)}</button>"
        for number, (name, mark) in enumerate(marks.items())
        if name in known
    ]
    return "".join(chips[:40]) + (f"<span>and {len(chips) - 40} more</span>" if len(chips) > 40 else "")


def _text(text: str) -> str:
    return html.escape(make_visible(text), quote=True)


def _list_notes(notes: Sequence[str]) -> str:
    return "".join(f"<span>{html.escape(note)}</span>" for note in notes)


def build_model(asset: Asset) -> tuple[bytes, list[str]]:
    """Binary glTF of what is seen of an asset, nothing if it stays too large; and what has been left out."""
    shapes = [shape for shape in asset.shapes if shape.visual or not any(one.visual for one in asset.shapes)]
    # planes without end have no place in a small view
    shown = [
        _light_up(shape)
        for shape in shapes
        if not (isinstance(shape.geometry, Plane) and shape.geometry.size is None)
    ]
    if not shown:
        return b"", []
    lean = dataclasses.replace(
        asset, shapes=shown, sensors=[], actuators=[], tendons=[], cameras=[], lights=[], sites=[], keyframes=[],
        look_variants=[], interfaces=[], contexts=[], controllers=[],
    )  # fmt: skip
    try:
        content = _write(lean)
        if len(content) <= MOST_BYTES:
            return content, []
        content = _write(_simplify(lean))
    except (SimwrightError, ValueError):
        return b"", []
    if len(content) <= MOST_BYTES:
        return content, ["Simplified for this page: small details and textures are left out."]
    return b"", ["Too large for a 3D view in a page: a picture is shown."]


def _light_up(shape: Shape) -> Shape:
    return dataclasses.replace(shape, visual=True, collision=False, enabled=True)


def _write(asset: Asset) -> bytes:
    return build_files(asset, "view.glb", WriteOptions(), Reporter())["view.glb"]


def _simplify(asset: Asset) -> Asset:
    """Meshes with fewer triangles, each its share of what a page can hold, and materials without images."""
    meshes = {id(s.geometry): s.geometry for s in asset.shapes if isinstance(s.geometry, Mesh)}
    total = sum(mesh.data.face_count for mesh in meshes.values())
    share = min(1.0, _TRIANGLES / max(total, 1))
    made = {key: Mesh(_thin(mesh.data, share), source=mesh.source) for key, mesh in meshes.items()}
    shapes = [dataclasses.replace(s, geometry=made.get(id(s.geometry), s.geometry)) for s in asset.shapes]
    materials = [dataclasses.replace(one, textures={}) for one in asset.materials]
    return dataclasses.replace(asset, shapes=shapes, materials=materials)


def _thin(data: MeshData, share: float) -> MeshData:
    """Triangles alone: normals, colours and texture coordinates of corners would take most of the bytes."""
    triangles = np.asarray(data.triangles())
    plain = MeshData(data.vertices, triangles.reshape(-1).astype(np.int32))
    return thin_mesh(plain, int(len(triangles) * share))


def mark_findings(asset: Asset, findings: Sequence[Diagnostic]) -> dict[str, LinkMark]:
    """Links that findings are about: those whose prim holds the prim of a finding, or that a finding names."""
    paths = sorted(
        ((body.path, body.name) for body in asset.bodies if body.path), key=lambda one: -len(one[0])
    )
    marks: dict[str, LinkMark] = {}
    for finding in findings:
        prim = finding.where.prim
        name = (
            next((name for path, name in paths if prim == path or prim.startswith(f"{path}/")), "")
            if prim
            else ""
        )
        if not name:
            continue
        level, known = finding.level.value, marks.get(name)
        if known is None or _LEVELS.index(level) < _LEVELS.index(known.level):
            marks[name] = LinkMark(level, finding.message)
    return marks
