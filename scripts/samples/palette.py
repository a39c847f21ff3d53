# SPDX-License-Identifier: Apache-2.0
"""The colours of the samples, as physically based looks, linear RGB."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Look:
    """Base colour, roughness and metalness, each 0..1; ``emission`` glows."""

    color: tuple[float, float, float]
    roughness: float = 0.5
    metallic: float = 0.0
    emission: tuple[float, float, float] = (0.0, 0.0, 0.0)


LOOKS: dict[str, Look] = {
    "shell": Look((0.86, 0.87, 0.88), 0.38),
    "graphite": Look((0.055, 0.06, 0.07), 0.45),
    "accent": Look((0.0, 0.36, 0.42), 0.35),
    "amber": Look((0.92, 0.34, 0.03), 0.4),
    "steel": Look((0.56, 0.57, 0.58), 0.32, 1.0),
    "rubber": Look((0.022, 0.022, 0.024), 0.9),
    "glass": Look((0.01, 0.015, 0.03), 0.06),
    "anodised_blue": Look((0.02, 0.12, 0.42), 0.3, 0.85),
    "anodised_red": Look((0.5, 0.035, 0.03), 0.3, 0.85),
    "aluminium": Look((0.66, 0.67, 0.68), 0.38, 1.0),
    "rack_blue": Look((0.012, 0.07, 0.26), 0.45, 0.2),
    "rack_orange": Look((0.83, 0.2, 0.015), 0.45, 0.2),
    "galvanised": Look((0.5, 0.52, 0.53), 0.5, 0.9),
    "cardboard": Look((0.47, 0.29, 0.145), 0.88),
    "tape": Look((0.58, 0.42, 0.2), 0.35),
    "label": Look((0.88, 0.88, 0.86), 0.6),
    "concrete": Look((0.31, 0.31, 0.3), 0.85),
    "floor_paint": Look((0.82, 0.55, 0.02), 0.55),
}


def to_srgb(color: tuple[float, float, float]) -> tuple[float, float, float]:
    """Display colour of a linear one: what URDF, SDF and MJCF viewers expect."""
    r, g, b = (round(12.92 * v if v <= 0.0031308 else 1.055 * v ** (1 / 2.4) - 0.055, 3) for v in color)
    return r, g, b
