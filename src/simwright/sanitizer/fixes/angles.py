# SPDX-License-Identifier: Apache-2.0
"""Angles of joints that were left in radians (REP-0158 1.1)."""

from __future__ import annotations

import math
from typing import Any

from simwright.core.diag import Diagnostic
from simwright.sanitizer.conversion.index import read_index
from simwright.sanitizer.conversion.sites import rewrite
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_ANGLES = ("physics:lowerLimit", "physics:upperLimit", "drive:angular:physics:targetPosition",
           "drive:angular:physics:targetVelocity")  # fmt: skip


@fix("xform-etl-radians", phase=2, changes=("limits", "drives", "actuators", "motion", "poses"))
def write_degrees(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """Limits and targets of the whole mechanism; gains per degree cannot be told from gains per radian."""
    index = read_index(editor)
    for path in finding.data["joints"]:
        prim = editor.find_prim(path)
        if prim.IsInstanceProxy():
            raise Refused(f"{path} is part of what instances share; fix the part itself")
        for name in _ANGLES:
            rewrite(editor, index, prim, name, _convert)


def _convert(value: Any) -> Any:
    return math.degrees(value) if math.isfinite(value) else value
