# SPDX-License-Identifier: Apache-2.0
"""Sketch's schemas (``sketch:``)."""

from __future__ import annotations

from simwright.resolve.table import INERTIA, PrimType, Row

NAME = "sketch"
TITLE = "Sketch"
NAMESPACES = ("sketch",)
ROWS = (Row(PrimType.JOINT, "armature", ("sketch:rotor",), "SketchJointAPI", INERTIA, doc="Rotor inertia."),)
