# SPDX-License-Identifier: Apache-2.0
"""Joints without limits say that they have none (REP-0158 1.3); limits are never invented."""

from __future__ import annotations

import math

from pxr import Sdf

from simwright.core.diag import Diagnostic, Level
from simwright.sanitizer.fixer import Wishes, fix
from simwright.usd.edit import Editor, Refused

_FREE = {
    "PhysicsRevoluteJoint": (("physics:lowerLimit", -math.inf), ("physics:upperLimit", math.inf)),
    "PhysicsSphericalJoint": (("physics:coneAngle0Limit", -1.0), ("physics:coneAngle1Limit", -1.0)),
}


@fix("joint-limits")
def say_free(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The fallbacks, in words."""
    prim = editor.find_prim(finding.where.prim)
    values = _FREE.get(str(prim.GetTypeName()))
    if values is None or finding.level is not Level.INFO:
        raise Refused("the limits of the real joint have to be known")
    for name, value in values:
        editor.set_value(prim, name, Sdf.ValueTypeNames.Float, value)
