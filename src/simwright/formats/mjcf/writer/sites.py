# SPDX-License-Identifier: Apache-2.0
"""``<site>``: the named frames of the model, and points that constraints and sensors need."""

from __future__ import annotations

from typing import Any

import numpy as np

from simwright.core.math3d import Pose
from simwright.formats.mjcf.geoms import DEFAULT_RGBA
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.shapes import fit_primitive

SITE_DEFAULTS: dict[str, Any] = {"type": "sphere", "size": 0.005, "group": 0, "rgba": DEFAULT_RGBA}
_SAME = 1e-12
OWN_GROUP = 4
"""Display group of sites that only exist for a constraint; viewers hide it."""


def write_sites(draft: Draft) -> None:
    """Every frame on its body."""
    for site in draft.asset.sites:
        values: dict[str, Any] = {"name": draft.claim("site", site.name), **draft.place(site.pose)}
        fitted = fit_primitive(site.geometry, np.ones(3)) if site.geometry is not None else None
        values |= fitted or {}
        values |= draft.keep(site, "site", "group", "rgba", "material", "user")
        if "material" in values:
            values["material"] = draft.name("material", values["material"])
        draft.add(draft.nodes[site.body], "site", values, SITE_DEFAULTS)


def find_site(draft: Draft, name: str, body: str, pose: Pose) -> str:
    """A site of the model at a place, or one of the writer's own."""
    for site in draft.asset.sites:
        if site.body == body and site.pose.is_close(pose, _SAME):
            return draft.name("site", site.name) or site.name
    return add_site(draft, name, body, pose)


def add_site(draft: Draft, name: str, body: str, pose: Pose) -> str:
    """A site of the writer's own."""
    values = {"name": draft.claim("site", name), **draft.place(pose), "group": OWN_GROUP}
    draft.add(draft.nodes[body], "site", values)
    return str(values["name"])
