# SPDX-License-Identifier: Apache-2.0
"""What the source says about the world, and higher orders of couplings, in the vendor layers (REP-0158 1.4).

An asset brings no world of its own, so steps and solver settings are attributes of the root, not of a scene; whoever
places the asset may take them over.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.formats.usd.writer.attributes import make_attribute_name, write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.motors import SINGLE
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.origins import is_fallback

_GRAVITY = (0.0, 0.0, -9.81)
_STEP = 0.002
_MAGNETIC = (0.0, -0.5, 0.0)
"""MuJoCo's own, which need no word."""
_FLAGS = {"disable": False, "enable": True}
_SPACES = {"sdf": "gazebo", "urdf": "gazebo"}


def write_world(layout: Layout, sheets: dict[str, Sheet]) -> None:
    """Gravity, step, wind and solver settings that differ from the solver's default."""
    world = layout.asset.environment
    space = _SPACES.get(layout.asset.provenance.format, "mjc")
    sheet, root = sheets[space], layout.root
    values: dict[str, Any] = {}
    for name, value, usual in (
        ("gravity", world.gravity, _GRAVITY),
        ("wind", world.wind, (0.0, 0.0, 0.0)),
        ("magnetic", world.magnetic_field, _MAGNETIC),
    ):
        if value is not None and not np.array_equal(value, usual):
            values[name] = [float(v) for v in value]
    if world.timestep is not None and world.timestep != _STEP:
        values["timestep"] = world.timestep
    scene = str(layout.asset.provenance.info.get("physicsScene", ""))
    for name, value in world.settings.items():
        if is_fallback(layout.asset.origins, scene, name):
            continue
        if name in _FLAGS and isinstance(value, list):
            for flag in value:
                sheet.set(root, make_attribute_name(space, "flag", flag), "bool", _FLAGS[name], custom=True)
        else:
            values[name] = value
    for name, value in values.items():
        write_plain(sheet, root, make_attribute_name(space, "option", name), value)


def write_couplings(layout: Layout, sheet: Sheet) -> None:
    """The higher powers of mimics, between radians and metres, and how much a weld resists turning."""
    for mimic in layout.asset.mimics:
        path, word = layout.freedoms.get(mimic.follower, ("", ""))
        if path and word in SINGLE and any(mimic.polynomial):
            for power, value in enumerate(mimic.polynomial, 2):
                sheet.set(path, f"mjc:coef{power}", "double", value, custom=True)
    for equality in layout.asset.equalities:
        path = layout.equalities.get(equality.name, "")
        if path and equality.torque_scale != 1.0:
            sheet.set(path, "mjc:torqueScale", "double", equality.torque_scale, custom=True)
