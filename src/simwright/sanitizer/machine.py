# SPDX-License-Identifier: Apache-2.0
"""The machine that an editor's stage is now, for fixes that write down what follows from the rest."""

from __future__ import annotations

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.inertia import Inertial
from simwright.usd.edit import Editor, Refused

_INERTIALS = "inertials"


def read_inertials(editor: Editor) -> dict[str, Inertial]:
    """Mass properties of all bodies by path, read once while nothing changes [SI]."""
    if _INERTIALS not in editor.known:
        try:
            asset = read_stage(editor.stage, ReadOptions(), Reporter(), file=editor.root.realPath)
        except SimwrightError as error:
            raise Refused(f"the machine cannot be read: {error.message}") from None
        found = {body.path: body.inertial for body in asset.bodies if body.inertial is not None}
        editor.known[_INERTIALS] = found
    known: dict[str, Inertial] = editor.known[_INERTIALS]
    return known
