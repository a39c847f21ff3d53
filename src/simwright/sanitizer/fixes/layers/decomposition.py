# SPDX-License-Identifier: Apache-2.0
"""Mesh data apart from the link tree, and the entry apart from everything (REP-0158 1.2.1, 1.2.3)."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.layers.isolation import split_all
from simwright.sanitizer.layering.library import Library
from simwright.sanitizer.layering.roles import EVERYTHING, FEATURES
from simwright.sanitizer.layering.splitting import split_stack
from simwright.sanitizer.layering.stacks import find_stack, find_stacks, is_settled, settle
from simwright.usd.edit import Editor


@fix("layer-base-decomposed", phase=3)
def move_meshes(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The mesh data of the layer, to a crate that is loaded by payload."""
    extract(editor, finding)


@fix("layer-base-kinematic", phase=3)
def clear_base(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Features go to overlays, mesh data to a crate."""
    if "mesh data" in finding.message:
        extract(editor, finding)
    else:
        split_all(editor, FEATURES)


@fix("layer-functional", phase=3)
def split_layer(editor: Editor, _finding: Diagnostic, _: Wishes) -> None:
    """One file becomes a folder of layers."""
    split_entry(editor)


@fix("entry-interface", phase=3)
def make_interface(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """What the entry holds goes to layers that it brings in; heavy data alone, to a crate."""
    if "loads nothing" in finding.message:
        split_entry(editor)
    else:
        extract(editor, finding)


def split_entry(editor: Editor) -> None:
    """Mesh data first: what is left in the layer is then moved."""
    key = "split the entry"
    if key not in editor.known and not is_settled(editor):
        stacks = find_stacks(editor)
        stack = stacks[0]
        Library(editor, stack).ask([stack.root])
        split_stack(editor, stack, EVERYTHING)
        editor.known[key] = True
        if len(stacks) == 1 and len(stack.layers) == 1:
            settle(editor)


def extract(editor: Editor, finding: Diagnostic) -> None:
    """Ask for the mesh data of the layer of a finding; an asset of one layer then has several, so features go too."""
    key = f"extract {finding.where.file}"
    if key not in editor.known and not is_settled(editor):
        stacks = find_stacks(editor)
        stack = find_stack(editor, finding.where.file)
        Library(editor, stack).ask([editor.find_layer(finding.where.file)])
        if len(stacks) == 1 and len(stack.layers) == 1:
            split_stack(editor, stack, FEATURES)
        editor.known[key] = True
