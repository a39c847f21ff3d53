# SPDX-License-Identifier: Apache-2.0
"""``<tendon>``: sums of joint coordinates (fixed) and paths through sites (spatial)."""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.geoms import DEFAULT_RGBA
from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.xml import Element
from simwright.model.joint import Tendon, TendonPoint

TENDON_DEFAULTS: dict[str, Any] = {
    "stiffness": 0.0, "damping": 0.0, "frictionloss": 0.0, "armature": 0.0, "width": 0.003, "group": 0, "margin": 0.0,
    "rgba": DEFAULT_RGBA, "solreflimit": SOLREF, "solimplimit": SOLIMP, "solreffriction": SOLREF,
    "solimpfriction": SOLIMP,
}  # fmt: skip
_KEPT = (
    "group", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "springyield",
    "actuatorfrcrange", "user",
)  # fmt: skip
_LOOKS = ("rgba", "material")


def write_tendons(draft: Draft) -> None:
    """Every tendon whose path is written."""
    lost = []
    for tendon in draft.asset.tendons:
        points = [_describe(draft, point) for point in tendon.path]
        if not points or any(None in values.values() for _, values in points):
            lost.append(tendon)
            continue
        node = _write_tendon(draft, tendon, fixed=tendon.path[0].kind == "joint")
        for tag, values in points:
            draft.add(node, tag, values)
    draft.lose("tendons over elements that are not written", lost)


def _write_tendon(draft: Draft, tendon: Tendon, *, fixed: bool) -> Element:
    limited = max(-tendon.lower, tendon.upper) < float("inf") or tendon.lower > -float("inf")
    values: dict[str, Any] = {
        "name": draft.claim("tendon", tendon.name),
        "range": (tendon.lower, tendon.upper) if limited or tendon.upper < float("inf") else None,
        "stiffness": tendon.stiffness,
        "damping": tendon.damping,
        "frictionloss": tendon.friction,
        "armature": tendon.armature,
        "springlength": tendon.rest_length,
        **draft.keep(tendon, "tendon", *_KEPT),
    }
    for name, plain in (("stiffness", tendon.stiffness), ("damping", tendon.damping)):
        higher = draft.solver.get(tendon, "tendon", f"{name}poly")
        if higher is not None:
            values[name] = [plain, *higher]
    looks = draft.keep(tendon, "tendon", *_LOOKS)
    if not fixed:
        values |= {"width": tendon.width, **looks}
        if "material" in looks:
            values["material"] = draft.name("material", looks["material"])
    return draft.add(draft.section("tendon"), "fixed" if fixed else "spatial", values, TENDON_DEFAULTS)


def _describe(draft: Draft, point: TendonPoint) -> tuple[str, dict[str, Any]]:
    """Tag and attributes of a step; a None among them means that it leads nowhere."""
    match point.kind:
        case "joint":
            freedom = draft.dofs.get(point.name)
            return "joint", {"joint": freedom.name if freedom else None, "coef": point.value}
        case "pulley":
            return "pulley", {"divisor": point.value}
        case "site":
            return "site", {"site": draft.name("site", point.name)}
    values = {"geom": draft.name("geom", point.name)}
    if point.side:
        values["sidesite"] = draft.name("site", point.side)
    return "geom", values
