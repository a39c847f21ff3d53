# SPDX-License-Identifier: Apache-2.0
"""Numbers no model can be worked with: MuJoCo compiles a mass of 1e300 kg, and nothing after it can compute."""

from __future__ import annotations

import numpy as np

from simwright.core.errors import ParseError
from simwright.formats.mjcf.context import Context
from simwright.formats.xml import HUGE

_ARRAYS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_ipos"),
    "geom": ("geom_pos", "geom_size"),
    "joint": ("jnt_pos",),
    "site": ("site_pos", "site_size"),
}


def check_numbers(context: Context) -> None:
    """Refuse a model with a mass, an inertia or a length that is not finite or beyond every use."""
    for family, names in _ARRAYS.items():
        for name in names:
            values = getattr(context.model, name)
            absurd = np.argwhere(~(np.abs(values) <= HUGE))
            if len(absurd):
                index = int(absurd[0][0])
                what = name.partition("_")[2]
                raise ParseError(
                    f"the {what} of {family} {context.name(family, index)!r} is {values[index]}, beyond every use",
                    hint="correct the number",
                    where=context.where(family, index),
                )
