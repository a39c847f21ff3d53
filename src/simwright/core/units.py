# SPDX-License-Identifier: Apache-2.0
"""Unit factors.  The model is SI and radians; anything else is converted at a format's edge."""

from __future__ import annotations

import math

DEGREE = math.pi / 180.0
"""Radians in a degree: ``radians = degrees * DEGREE``; per-degree gains divide by it."""

STANDARD_GRAVITY = 9.81
"""Gravity magnitude UsdPhysics, MuJoCo and Gazebo fall back to [m/s^2]."""

LENGTH_UNITS = {
    "m": 1.0,
    "meter": 1.0,
    "meters": 1.0,
    "metre": 1.0,
    "cm": 0.01,
    "centimeter": 0.01,
    "mm": 0.001,
    "millimeter": 0.001,
    "in": 0.0254,
    "inch": 0.0254,
    "inches": 0.0254,
    "ft": 0.3048,
    "foot": 0.3048,
    "km": 1000.0,
}
"""Metres in one unit, by the names files use."""
