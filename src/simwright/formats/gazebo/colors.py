# SPDX-License-Identifier: Apache-2.0
"""The plain materials Gazebo ships (``Gazebo/Red``): what their scripts say about colour.

The values are those of Gazebo's ``gazebo.material``.  Materials made of images (wood, bricks ...) are not here.
"""

from __future__ import annotations

from dataclasses import dataclass

from simwright.model.material import Rgb

PREFIX = "Gazebo/"


@dataclass(frozen=True, slots=True)
class GazeboMaterial:
    """A colour, what it shines by itself, and how much of it is there."""

    diffuse: Rgb
    emissive: Rgb = (0.0, 0.0, 0.0)
    opacity: float = 1.0


# Diffuse colours: the model has no ambient ones.
_BASIC: dict[str, Rgb] = {
    "Black": (0.0, 0.0, 0.0),
    "Blue": (0.0, 0.0, 1.0),
    "DarkGrey": (0.175, 0.175, 0.175),
    "DarkYellow": (0.7, 0.7, 0.0),
    "FlatBlack": (0.1, 0.1, 0.1),
    "Gold": (0.8, 0.64869, 0.120759),
    "Green": (0.0, 1.0, 0.0),
    "Grey": (0.7, 0.7, 0.7),
    "Indigo": (0.33, 0.0, 0.5),
    "Orange": (1.0, 0.5088, 0.0468),
    "Pioneer2Body": (0.681193, 0.000923, 0.000923),
    "Purple": (1.0, 0.0, 1.0),
    "Red": (1.0, 0.0, 0.0),
    "RedBright": (0.87, 0.26, 0.07),
    "SkyBlue": (0.0, 0.0, 1.0),
    "Turquoise": (0.0, 1.0, 1.0),
    "White": (1.0, 1.0, 1.0),
    "Yellow": (1.0, 1.0, 0.0),
    "ZincYellow": (0.9725, 0.9529, 0.2078),
}
_GLOWING = ("White", "Red", "Green", "Blue", "Yellow", "Purple", "Turquoise")
_TRANSPARENT: dict[str, tuple[Rgb, float]] = {
    "RedTransparent": ((1.0, 0.0, 0.0), 0.5),
    "GreenTransparent": ((0.0, 1.0, 0.0), 0.5),
    "BlueTransparent": ((0.0, 0.0, 1.0), 0.5),
    "GreyTransparent": ((0.5, 0.5, 0.5), 0.5),
    "YellowTransparent": ((1.0, 1.0, 0.0), 0.5),
    "OrangeTransparent": ((1.0, 0.44, 0.0), 0.4),
    "BlueLaser": ((0.0, 0.0, 1.0), 0.4),
}

LOOKS: dict[str, GazeboMaterial] = {
    **{name: GazeboMaterial(color) for name, color in _BASIC.items()},
    **{f"{name}Glow": GazeboMaterial(_BASIC[name], _BASIC[name]) for name in _GLOWING},
    **{name: GazeboMaterial(color, opacity=opacity) for name, (color, opacity) in _TRANSPARENT.items()},
    "LightOn": GazeboMaterial((0.0, 1.0, 0.0), (0.0, 1.0, 0.0)),
    "LightOff": GazeboMaterial((1.0, 0.0, 0.0), (1.0, 0.0, 0.0)),
}
"""Looks by the name after ``Gazebo/``."""

_BY_WORD = {name.lower(): look for name, look in LOOKS.items()}


def find_look(name: str) -> GazeboMaterial | None:
    """The look of a material name, in any spelling of its case and with ``gray`` for ``grey``."""
    # URDF files spell these names by hand.
    word = name.removeprefix(PREFIX).lower().replace("gray", "grey")
    return _BY_WORD.get(word)
