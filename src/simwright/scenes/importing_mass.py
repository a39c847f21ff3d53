# SPDX-License-Identifier: Apache-2.0
"""Masses that follow from shapes: told apart from those a file states, so that the scene's densities count for them."""

from __future__ import annotations

import numpy as np

from simwright.model.asset import Asset
from simwright.model.inertia import Inertial
from simwright.model.mass import body_inertials

_SAME = 1e-9


def free_derived(asset: Asset) -> None:
    """Bodies that weigh exactly what their colliders do have no mass of their own.

    Readers of formats whose rules derive masses from colliders (OpenUSD, MJCF) have applied those rules already.
    """
    if asset.provenance.format not in ("usd", "mjcf"):
        return
    stated = {body.name: body.inertial for body in asset.bodies}
    for body in asset.bodies:
        body.inertial = None
    derived = body_inertials(asset)
    for body in asset.bodies:
        held = stated[body.name]
        body.inertial = None if held is None or _is_same(held, derived[body.name]) else held


def _is_same(a: Inertial, b: Inertial) -> bool:
    size = float(np.abs(b.inertia).max())
    return bool(
        a.mass > 0.0
        and abs(a.mass - b.mass) <= _SAME * a.mass
        and np.all(np.abs(a.com - b.com) <= _SAME * (1.0 + np.abs(b.com)))
        and np.all(np.abs(a.inertia - b.inertia) <= _SAME * size)
    )
