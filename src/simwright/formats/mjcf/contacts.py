# SPDX-License-Identifier: Apache-2.0
"""Contact pairs and exclusions."""

from __future__ import annotations

from simwright.formats.mjcf.context import Context, make_plain
from simwright.model.asset import ContactFilter, ContactPair

_SETTINGS = ("friction", "solref", "solreffriction", "solimp", "margin", "gap", "adhesion")


def read_contacts(context: Context) -> None:
    """Pairs that always touch, bodies that never do."""
    model = context.model
    for index in range(context.count("pair")):
        settings = {"condim": int(model.pair_dim[index])}
        for name in _SETTINGS:
            value = context.field(f"pair_{name}", index)
            if value is not None:
                settings[name] = make_plain(value)
        context.asset.contact_pairs.append(
            ContactPair(
                a=context.name("geom", int(model.pair_geom1[index])),
                b=context.name("geom", int(model.pair_geom2[index])),
                name=context.name("pair", index),
                settings=settings,
                source=context.where("pair", index),
            )
        )
    for index in range(context.count("exclude")):
        # MuJoCo packs both body ids into one number: body1 << 16 plus body2
        signature = int(model.exclude_signature[index])
        context.asset.contact_filters.append(
            ContactFilter(
                a=context.name("body", signature >> 16),
                b=context.name("body", signature & 0xFFFF),
                source=context.where("exclude", index),
            )
        )
