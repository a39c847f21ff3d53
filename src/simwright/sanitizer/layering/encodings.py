# SPDX-License-Identifier: Apache-2.0
"""A layer in another encoding: a new file, which takes the old one's place in all arcs (REP-0158 1.2.1)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Ar, Sdf, UsdUtils

from simwright.sanitizer.layering.homes import choose_file
from simwright.sanitizer.layering.stacks import Stack
from simwright.usd.edit import Editor


def ask_encoding(editor: Editor, stacks: list[Stack], layer: Any, suffix: str) -> None:
    """Ask for a layer to be written with another suffix; the entry keeps its name and is never asked for."""
    assert layer != editor.root, "the entry keeps its name"
    file = choose_file(editor, layer, f"{Path(layer.realPath).stem}{suffix}")
    top = Sdf.Path.absoluteRootPath
    editor.add(layer, top, f"the layer becomes {file.name}", lambda: _write(layer, file))
    users = {known.identifier: known for stack in stacks for known in stack.layers}
    for user in users.values():
        texts = _list_texts(editor, user, layer)
        for text in texts:
            editor.rename_address(user, text, _rename(text, file.name))


def _write(layer: Any, file: Path) -> None:
    new = Sdf.Layer.Find(str(file)) or Sdf.Layer.CreateNew(str(file))
    new.TransferContent(layer)
    new.Save()


def _rename(text: str, name: str) -> str:
    head, slash, _ = text.rpartition("/")
    return f"{head}{slash}{name}"


def _list_texts(editor: Editor, user: Any, layer: Any) -> list[str]:
    """How a layer names another one."""
    found: dict[str, None] = {}
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        for text in {text for group in UsdUtils.ExtractExternalReferences(user.realPath) for text in group}:
            if text and Sdf.Layer.FindRelativeToLayer(user, text) == layer:
                found[text] = None
    return list(found)
