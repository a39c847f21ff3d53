# SPDX-License-Identifier: Apache-2.0
"""Robots of the shared assets, for tests."""

from __future__ import annotations

from pathlib import Path

SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "assets"
_ASIDE = ("scene", "keyframes", "single_cube")


def list_mjcf() -> list[str]:
    """Robot files in MJCF, by their path in the shared assets."""
    files = sorted((SHARED / "mjcf").glob("*/*.xml")) if SHARED.is_dir() else []
    return [
        f"{file.parent.name}/{file.name}" for file in files if not any(word in file.name for word in _ASIDE)
    ]


def list_urdf() -> list[str]:
    """Robot files in URDF."""
    files = sorted((SHARED / "urdf").rglob("*.urdf")) if SHARED.is_dir() else []
    return [str(file.relative_to(SHARED / "urdf")) for file in files]
