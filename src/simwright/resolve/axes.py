# SPDX-License-Identifier: Apache-2.0
"""The words that solver schemas use for the axes of a joint."""

from __future__ import annotations

import numpy as np

from simwright.model.joint import Dof, Joint, JointKind, Motion

_LETTERS = "XYZ"


def find_axis(joint: Joint, dof: Dof) -> str:
    """``angular``, ``linear``, ``rotX`` ... ``transZ``; empty for a freedom that is no single axis."""
    if dof.motion not in (Motion.HINGE, Motion.SLIDE):
        return ""
    if joint.kind is not JointKind.D6:
        return "angular" if dof.motion is Motion.HINGE else "linear"
    # D6 axes are along the axes of the joint frame; the largest part tells which.
    letter = _LETTERS[int(np.argmax(np.abs(dof.axis)))]
    return f"rot{letter}" if dof.motion is Motion.HINGE else f"trans{letter}"
