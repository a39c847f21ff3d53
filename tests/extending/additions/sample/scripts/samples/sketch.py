# SPDX-License-Identifier: Apache-2.0
"""A pebble."""

from __future__ import annotations

FOLDER = "sketch"
README = ("a pebble", "URDF", "`pebble.urdf`")


def build() -> dict[str, bytes]:
    """Every file of the sample."""
    return {f"{FOLDER}/pebble.urdf": b'<robot name="pebble"><link name="pebble"/></robot>\n'}
