# SPDX-License-Identifier: Apache-2.0
"""No texture is a UDIM tile set.

Why: glTF and most real-time engines have one image per texture.  Tiles beyond the first are lost.

Fails: `inputs:file = @body.<UDIM>.png@`; `@body.1001.png@` beside a `body.1002.png`; coordinates that lie in
several integer tiles while the texture clamps.
Passes: one image per material.  A number in a file name is not a tile by itself: `wood.2024.png`.

Fix: unsafe.  Tiles of one size are put into one image, and a UsdTransform2d leads the coordinates there; other sets
are packed, or the mesh split into subsets, by a modelling tool.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from simwright.checker.facts.shading import ShaderTexture, list_textures
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.facts.texcoords import find_tiles, list_uses
from simwright.checker.rule import Finding, rule

# OpenUSD's own token, and the forms that exporters of other renderers leave
_MARKER = re.compile(r"<udim>|%\(udim\)d|<uvtile\d?>|_mapid_", re.IGNORECASE)
_TILE = re.compile(r"^(?P<stem>.+[._-])(?P<tile>1\d{3})(?P<tail>\.\w+)$")
_HINT = "pack the tiles into one image, or split the mesh into materialBind subsets with one texture each"


@rule(
    "tex-no-udim",
    "3.1",
    "must not",
    on="stage",
    fix="unsafe",
    fix_title="pack the tiles into one atlas",
)
# one function: three signs of one thing, from the certain to the indirect
def tex_no_udim(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Look at names, then at neighbours in the folder, then at the coordinates themselves."""
    folders: dict[str, set[str]] = {}
    for texture in list_textures(snapshot):
        node = snapshot.node(texture.shader.GetPath())
        marker = _MARKER.search(texture.path)
        if marker:
            found = f"the texture {texture.path} is a UDIM set ({marker.group()})"
            yield Finding(found, hint=_HINT, at=node, prop=texture.prop)
            continue
        tiles = _count_tiles(texture, folders)
        if tiles > 1:
            found = f"the texture {texture.path} is one of {tiles} UDIM tiles in its folder"
            yield Finding(found, hint=_HINT, at=node, prop=texture.prop)
    seen: set[str] = set()
    for use in list_uses(snapshot):
        if use.look.mesh.path in seen or not set(use.texture.wraps) <= {"clamp", "black"}:
            continue
        tiles_used = find_tiles(use, snapshot) if use.outside else set()
        if len(tiles_used) > 1 and all(0 <= u < 10 and v >= 0 for u, v in tiles_used):
            seen.add(use.look.mesh.path)
            numbers = ", ".join(str(1001 + u + 10 * v) for u, v in sorted(tiles_used)[:4])
            yield Finding(
                f"the texture coordinates {use.texture.primvar!r} are laid out in {len(tiles_used)} UDIM tiles"
                f" ({numbers})",
                hint=_HINT,
                at=use.look.mesh,
                prop=f"primvars:{use.texture.primvar}",
            )


def _count_tiles(texture: ShaderTexture, folders: dict[str, set[str]]) -> int:
    """Files beside the texture that differ from it in a tile number 1001 to 1999 only, itself included."""
    file = Path(texture.resolved)
    match = _TILE.match(file.name)
    if not texture.resolved or match is None or int(match.group("tile")) < 1001:
        return 0
    folder = str(file.parent)
    if folder not in folders:
        try:
            with os.scandir(folder) as entries:
                folders[folder] = {entry.name for entry in entries}
        except OSError:
            folders[folder] = set()
    same = (_TILE.match(name) for name in folders[folder])
    key = match.group("stem", "tail")
    return sum(1 for m in same if m and m.group("stem", "tail") == key and int(m.group("tile")) > 1000)
