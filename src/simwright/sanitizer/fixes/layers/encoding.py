# SPDX-License-Identifier: Apache-2.0
"""Text for what people read, crates for heavy data (REP-0158 1.2.1)."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.layers.decomposition import extract
from simwright.sanitizer.fixes.layers.isolation import split_all
from simwright.sanitizer.layering.encodings import ask_encoding
from simwright.sanitizer.layering.library import Library
from simwright.sanitizer.layering.roles import FEATURES
from simwright.sanitizer.layering.stacks import find_stack, find_stacks, is_settled
from simwright.usd.edit import Editor, Refused


@fix("layer-enc-ascii", phase=3)
def write_text(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The layer becomes a .usda, its mesh data a crate; out of an entry, features go to text layers."""
    if is_settled(editor):
        return
    layer = editor.find_layer(finding.where.file)
    stack = find_stack(editor, finding.where.file)
    if layer == editor.root:
        if not stack.read(layer).features:
            raise Refused("the entry keeps the name of its file; write it again as a .usda")
        split_all(editor, FEATURES)
        return
    Library(editor, stack).ask([layer])
    ask_encoding(editor, find_stacks(editor), layer, ".usda")


@fix("layer-enc-crate", phase=3)
def write_crate(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A layer of mesh data alone becomes a .usdc; out of any other, the mesh data goes to one."""
    if is_settled(editor):
        return
    layer = editor.find_layer(finding.where.file)
    stack = find_stack(editor, finding.where.file)
    facts = stack.read(layer)
    if layer != editor.root and facts.is_mesh_library and not (facts.features or facts.placed or facts.looks):
        ask_encoding(editor, find_stacks(editor), layer, ".usdc")
    else:
        extract(editor, finding)
