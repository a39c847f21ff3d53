# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of robot manifests."""

from __future__ import annotations

from simwright.tasks.manifest import render_schema


def generate() -> str:
    """The text of ``robot.schema.json``."""
    return render_schema()
