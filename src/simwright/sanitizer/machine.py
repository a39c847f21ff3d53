# SPDX-License-Identifier: Apache-2.0
"""The machine that an editor's stage is now, for fixes that write down what follows from the rest."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read_stage
from simwright.model.inertia import Inertial
from simwright.usd.edit import Editor, Refused

_known: WeakKeyDictionary[Editor, dict[str, Inertial]] = WeakKeyDictionary()


def read_inertials(editor: Editor) -> dict[str, Inertial]:
    """Mass properties of all bodies by path, read once [SI]; nothing changes while fixes look."""
    known = _known.get(editor)
    if known is None:
        try:
            asset = read_stage(editor.stage, ReadOptions(), Reporter(), file=editor.root.realPath)
        except SimwrightError as error:
            raise Refused(f"the machine cannot be read: {error.message}") from None
        known = {body.path: body.inertial for body in asset.bodies if body.inertial is not None}
        _known[editor] = known
    return known
