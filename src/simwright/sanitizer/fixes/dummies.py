# SPDX-License-Identifier: Apache-2.0
"""Frames that are only a place (REP-0158 1.3): no body, no weld, but RosFrameAPI."""

from __future__ import annotations

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.welding import PIECES, drop_body, is_held, join_link
from simwright.usd.edit import Editor

_FRAME = "RosFrameAPI"


@fix("dummy-rosframe", changes=("ros", "frames"))
def publish_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A place that has the name of a frame becomes one."""
    editor.add_api(editor.find_prim(finding.where.prim), _FRAME)


@fix("dummy-no-rigidbody", phase=1)
def make_frame(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A body that is only a place becomes a frame of its link."""
    prim = editor.find_prim(finding.where.prim)
    if not is_held(prim):
        drop_body(editor, prim)
        editor.shifts.changes.update((*PIECES, "masses", "motion", "poses"))
    elif not join_link(editor, prim):
        return
    editor.add_api(prim, _FRAME)
