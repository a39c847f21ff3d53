# SPDX-License-Identifier: Apache-2.0
"""Pushes of one round must not meet: each is worked out from the stage as it stands, before any of them is made."""

from __future__ import annotations

from pxr import Usd

from simwright.usd.edit import Editor


def is_reached(editor: Editor, prim: Usd.Prim) -> bool:
    """Is a push under way at the prim, above it or below it?  Then it waits for the next round."""
    path = prim.GetPath()
    below = f"{path}/" in editor.pushed
    return below or any(prefix.pathString in editor.pushed for prefix in path.GetPrefixes())


def mark_reached(editor: Editor, prim: Usd.Prim) -> None:
    """Note a push at the prim."""
    path = prim.GetPath()
    editor.pushed.add(path.pathString)
    editor.pushed |= {f"{prefix}/" for prefix in path.GetParentPath().GetPrefixes()}
