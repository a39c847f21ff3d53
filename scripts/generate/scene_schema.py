# SPDX-License-Identifier: Apache-2.0
"""The JSON Schema of scene files."""

from __future__ import annotations

from simwright.scenes.document import render_schema


def generate() -> str:
    """The text of ``scene.schema.json``."""
    return render_schema()
