# SPDX-License-Identifier: Apache-2.0
"""Free-form Gazebo blocks as plain settings.

The leaves of an element by their snake_case path (``horizontal_samples``, ``clip_near``); the element named
like the kind of sensor and ``scan`` are left out of the path.
"""

from __future__ import annotations

import math
import re
from typing import Any

from simwright.formats.urdf.document import ORIGIN
from simwright.formats.xml import Element

_CONTAINERS = {"camera", "ray", "lidar", "scan", "imu", "contact", "force_torque", "gps", "navsat", "sonar"}
_LOWER_UPPER = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_MAX_DEPTH = 16


def read_settings(element: Element) -> dict[str, Any]:
    """The leaves of an element by their path; plugins, poses and containers are left out."""
    settings: dict[str, Any] = {}
    _collect(element, "", settings, 0)
    return settings


def _collect(element: Element, prefix: str, settings: dict[str, Any], depth: int) -> None:
    for child in element:
        if not isinstance(child.tag, str) or child.tag in ("plugin", "pose") or depth > _MAX_DEPTH:
            continue
        inner = prefix if child.tag in _CONTAINERS and len(child) else f"{prefix}{snake_case(child.tag)}_"
        for attribute, value in child.attrib.items():
            if attribute not in ("name", ORIGIN):
                settings[f"{inner}{snake_case(str(attribute))}"] = read_value(str(value))
        if len(child):
            _collect(child, inner, settings, depth + 1)
        elif (child.text or "").strip():
            settings[inner.rstrip("_")] = read_value(child.text.strip())


def snake_case(name: str) -> str:
    """``updateRate`` -> ``update_rate``."""
    return _LOWER_UPPER.sub("_", name).replace("-", "_").lower()


def read_value(text: str) -> Any:
    """A number or truth value where the text is one, else the text."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        value = float(text)
    except ValueError:
        return text
    if not math.isfinite(value):
        return text
    return int(value) if value.is_integer() and re.fullmatch(r"[+-]?\d+", text) else value
