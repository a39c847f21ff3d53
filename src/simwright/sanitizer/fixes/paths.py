# SPDX-License-Identifier: Apache-2.0
"""Addresses of files that start with ``./`` (REP-0158 1.2.5)."""

from __future__ import annotations

from simwright.core.diag import Diagnostic, Fixable
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused


@fix("path-relative", phase=3)
def anchor_path(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """A bare name of a file beside the layer."""
    text = str(finding.data.get("path", ""))
    if finding.fixable is not Fixable.SAFE:
        raise Refused(f"{text!r} is not found beside the layer")
    editor.rename_address(editor.find_layer(finding.where.file), text, f"./{text}")
