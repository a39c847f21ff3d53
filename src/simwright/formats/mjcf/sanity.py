# SPDX-License-Identifier: Apache-2.0
"""Numbers no model can be worked with: MuJoCo compiles a mass of 1e300 kg, and nothing after it can compute."""

from __future__ import annotations

import numpy as np

from simwright.core.errors import ParseError
from simwright.core.math3d import HUGE
from simwright.formats.mjcf.context import Context

_ARRAYS = {
    "body": ("body_mass", "body_inertia", "body_pos", "body_ipos"),
    "geom": ("geom_pos", "geom_size"),
    "joint": ("jnt_pos",),
    "site": ("site_pos", "site_size"),
}
_POOLS = {"mesh": ("mesh_vert", "mesh_vertadr"), "hfield": ("hfield_data", "hfield_adr")}
"""Numbers of many elements in one array, and where each element's begin."""


def check_numbers(context: Context) -> None:
    """Refuse a model with a mass, an inertia or a length that is not finite or beyond every use."""
    for family, (name, starts) in _POOLS.items():
        absurd = np.argwhere(~np.isfinite(getattr(context.model, name)))
        if len(absurd):
            index = int(np.searchsorted(getattr(context.model, starts), absurd[0][0], side="right")) - 1
            raise ParseError(
                f"{family} {context.name(family, index)!r} has numbers that are not finite",
                hint="correct them",
                where=context.where(family, index),
            )
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
