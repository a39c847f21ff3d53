# SPDX-License-Identifier: Apache-2.0
"""Contact pairs, exclusions, and what MuJoCo keeps apart without being told.

Bodies without a joint are one with their parent: none of them touches another, nor the parent of the whole unless
that stands still.  Joints tell of their two ends only, so the others are filters here, without a place in the file.
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np

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
    _add_neighbours(context)


def _add_neighbours(context: Context) -> None:
    """Filters for colliders of welded bodies and of their common parent, where no joint is between them."""
    model = context.model
    unfiltered = int(context.mujoco.mjtDisableBit.mjDSBL_FILTERPARENT) & int(model.opt.disableflags)
    touchable = (np.asarray(model.geom_contype) != 0) | (np.asarray(model.geom_conaffinity) != 0)
    members: dict[int, list[int]] = {}
    for body in np.unique(np.asarray(model.geom_bodyid)[touchable]):
        members.setdefault(int(model.body_weldid[body]), []).append(int(body))
    told = {(f.a, f.b) for f in context.asset.contact_filters}
    for weld, inside in sorted(members.items()):
        if weld == 0:
            continue
        outer = int(model.body_weldid[model.body_parentid[weld]])
        across = product(members.get(outer, ()), inside) if outer and not unfiltered else ()
        for a, b in (*combinations(inside, 2), *across):
            names = (context.name("body", a), context.name("body", b))
            joined = a == model.body_parentid[b] or b == model.body_parentid[a]
            if not joined and names not in told and names[::-1] not in told:
                context.asset.contact_filters.append(ContactFilter(*names))
