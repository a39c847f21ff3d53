# SPDX-License-Identifier: Apache-2.0
"""What the reader may have to say."""

from __future__ import annotations

from simwright.core.diag import Level, declare

SKETCH_EMPTY = declare(
    "sketch-empty",
    Level.WARNING,
    "the sketch has no body",
    hint="write one body a line",
    doc="A sketch without bodies is read as an empty asset.",
)
