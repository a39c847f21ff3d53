# SPDX-License-Identifier: Apache-2.0
"""Metadata of the root layer where nothing but the words is missing (REP-0158 1.1)."""

from __future__ import annotations

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused


@fix("units-kilograms", phase=0)
def author_kilograms(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The fallback is 1: saying it changes nothing."""
    if finding.data.get("value") is not None:
        raise Refused("masses have to be converted")
    editor.set_layer_info("kilogramsPerUnit", 1.0)


@fix("units-timecodes", phase=0)
def author_timecodes(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Without time samples the rate means nothing."""
    if finding.fixable is not Fixable.SAFE:
        raise Refused("time samples have to be converted")
    editor.set_layer_info("timeCodesPerSecond", 1.0)
