# SPDX-License-Identifier: Apache-2.0
"""Lights: directional, spot, point and image lights.

MuJoCo's default light has no intensity in candela but a colour and OpenGL attenuation; it gets intensity
1 here, and what only OpenGL knows (attenuation, exponent, ambient, specular) is kept as extras.
"""

from __future__ import annotations

import math

from simwright.core.math3d import Pose, quat_between
from simwright.formats.mjcf.cameras import keep_mode
from simwright.formats.mjcf.context import Context, read_floats
from simwright.model.asset import Light, LightKind

_KINDS = {
    "spot": LightKind.SPOT,
    "directional": LightKind.DIRECTIONAL,
    "point": LightKind.POINT,
    "image": LightKind.DOME,
}
_DEFAULTS = {
    "attenuation": (1.0, 0.0, 0.0),
    "exponent": 10.0,
    "ambient": (0.0, 0.0, 0.0),
    "specular": (0.3, 0.3, 0.3),
    "softness": 0.2,
    "active": True,
}


def read_lights(context: Context) -> None:
    """Lights in MuJoCo's order."""
    model = context.model
    for index in range(context.count("light")):
        kind = kind_of_light(context, index)
        red, green, blue = read_floats(model.light_diffuse[index])
        turn = quat_between((0.0, 0.0, -1.0), model.light_dir[index])
        reach = context.field("light_range", index)
        light = Light(
            name=context.name("light", index),
            kind=kind,
            body=context.name("body", int(model.light_bodyid[index])),
            pose=Pose.of(model.light_pos[index], turn),
            color=(red, green, blue),
            intensity=read_floats(context.field("light_intensity", index, 0.0))[0] or 1.0,
            radius=read_floats(context.field("light_bulbradius", index, 0.0))[0],
            range=None if reach is None or kind is LightKind.DIRECTIONAL else read_floats(reach)[0],
            cast_shadows=bool(model.light_castshadow[index]),
            path=context.key("light", index),
            source=context.where("light", index),
        )
        if kind is LightKind.SPOT:
            outer = math.radians(read_floats(model.light_cutoff[index])[0])
            softness = read_floats(context.field("light_softness", index, 0.0))[0]
            light.cone = (outer * (1.0 - softness), outer)
        context.asset.lights.append(light)
        _keep_extras(context, index)


def kind_of_light(context: Context, index: int) -> LightKind:
    """By the field of this MuJoCo: ``light_type``, before it ``light_directional``."""
    number = context.field("light_type", index)
    if number is None:
        return LightKind.DIRECTIONAL if context.field("light_directional", index, 0) else LightKind.SPOT
    return _KINDS[str(context.mujoco.mjtLightType(int(number)).name)[8:].lower()]


def _keep_extras(context: Context, index: int) -> None:
    for attribute, default in _DEFAULTS.items():
        value = context.field(f"light_{attribute}", index)
        if attribute == "active" and value is not None:
            value = bool(value)
        context.keep("light", index, attribute, value, default)
    texture = int(context.field("light_texid", index, -1))
    context.keep("light", index, "texture", context.name("texture", texture), "")
    keep_mode(context, "light", index, "light")
