# SPDX-License-Identifier: Apache-2.0
"""``<worldbody>``: the nested bodies with their inertials and joints."""

from __future__ import annotations

from typing import Any

from simwright.formats.mjcf.joints import SOLIMP, SOLREF
from simwright.formats.mjcf.writer.draft import Draft, Freedom, Limb, set_values
from simwright.formats.mjcf.writer.inertials import report_adjusted, settle_inertials, write_inertial
from simwright.formats.mjcf.writer.messages import JOINT_REDUCED
from simwright.formats.mjcf.writer.numbers import is_equal
from simwright.formats.xml import Element
from simwright.model.joint import WORLD, Dof, Motion

JOINT_DEFAULTS: dict[str, Any] = {
    "type": "hinge", "pos": (0, 0, 0), "axis": (0, 0, 1), "ref": 0.0, "springref": 0.0, "stiffness": 0.0,
    "damping": 0.0, "armature": 0.0, "frictionloss": 0.0, "group": 0, "margin": 0.0, "solreflimit": SOLREF,
    "solimplimit": SOLIMP, "solreffriction": SOLREF, "solimpfriction": SOLIMP, "actuatorgravcomp": False,
}  # fmt: skip
_KEPT = (
    "group", "margin", "solreflimit", "solimplimit", "solreffriction", "solimpfriction", "actuatorgravcomp",
    "springyield", "user",
)  # fmt: skip


def write_bodies(draft: Draft) -> None:
    """Every body in its parent."""
    settle_inertials(draft)
    draft.nodes[WORLD] = draft.section("worldbody")
    shaped = {shape.body for shape in draft.asset.shapes}
    for name, limb in draft.limbs.items():
        node = draft.add(draft.nodes[limb.parent], "body", {"name": limb.name, **draft.place(limb.pose)})
        draft.nodes[name] = node
        _write_settings(draft, limb, node)
        write_inertial(draft, limb, node, name in shaped)
        for freedom in limb.freedoms:
            _write_joint(draft, limb, freedom, node)
    report_adjusted(draft)


def _write_settings(draft: Draft, limb: Limb, node: Element) -> None:
    body = limb.body
    if limb.mocap:
        node.set("mocap", "true")
    values = {"gravcomp": 1.0 - body.gravity_scale, **draft.keep(body, "body", "user", "sleep")}
    values["gravcomp"] = draft.spell(values["gravcomp"], draft.solver.get(body, "body", "gravcomp"))
    if "sleep" in values:
        values["sleep"] = str(values["sleep"]).rpartition("_")[2].lower()
    set_values(node, values, {"gravcomp": 0.0})


def _write_joint(draft: Draft, limb: Limb, freedom: Freedom, node: Element) -> None:
    if freedom.motion is Motion.FREE:
        _write_free(draft, limb, freedom, node)
        return
    values: dict[str, Any] = {"name": freedom.name, "type": freedom.motion.value}
    kept = draft.solver.take(f"joint/{freedom.dof.name}", "pos") if freedom.dof else None
    values["pos"] = kept if freedom.motion is Motion.SLIDE else draft.spell(freedom.anchor, kept)
    if freedom.motion is not Motion.BALL:
        values["axis"] = freedom.axis
    if freedom.dof is not None:
        values |= _describe(draft, limb, freedom.dof) | _restore(draft, freedom)
    draft.add(node, "joint", values, JOINT_DEFAULTS)


def _write_free(draft: Draft, limb: Limb, freedom: Freedom, node: Element) -> None:
    """A free joint; written as a joint where it has damping, armature or the like."""
    values: dict[str, Any] = {}
    if freedom.dof is not None:
        values = _describe(draft, limb, freedom.dof) | _restore(draft, freedom)
        values.pop("range", None)
    values = {k: v for k, v in values.items() if v is not None and not is_equal(v, JOINT_DEFAULTS.get(k))}
    if set(values) <= {"group"}:
        draft.add(node, "freejoint", {"name": freedom.name, **values})
    else:
        draft.add(node, "joint", {"name": freedom.name, "type": "free", **values})


def _describe(draft: Draft, limb: Limb, dof: Dof) -> dict[str, Any]:
    values: dict[str, Any] = {
        "range": _find_range(draft, limb, dof),
        "stiffness": dof.stiffness,
        "damping": dof.damping,
        "armature": dof.armature,
        "frictionloss": dof.friction,
    }
    if dof.motion in (Motion.HINGE, Motion.SLIDE):
        values |= {"ref": dof.ref, "springref": dof.spring_ref}
    if dof.effort_limit is not None:
        values["actuatorfrcrange"] = _bound(dof.effort_limit)
    return values


def _bound(limit: float) -> tuple[float, float] | None:
    return (-limit, limit) if limit < float("inf") else None


def _find_range(draft: Draft, limb: Limb, dof: Dof) -> tuple[float, float] | None:
    if dof.motion is Motion.BALL:
        if dof.swing is None:
            return None
        if dof.swing[0] != dof.swing[1] or not dof.is_limited:
            what = "the cone of swing limits, other than by the whole angle,"
            draft.reporter.report(JOINT_REDUCED, limb.body.source, name=dof.name or limb.name, what=what)
        return 0.0, max(dof.swing)
    return (dof.lower, dof.upper) if dof.is_limited and dof.lower < dof.upper else None


def _restore(draft: Draft, freedom: Freedom) -> dict[str, Any]:
    """Solver values the joint was read with, by its own name or the prim of its joint."""
    values: dict[str, Any] = {}
    keys = [f"joint/{freedom.dof.name}" if freedom.dof else "", freedom.path]
    for key in filter(None, dict.fromkeys(keys)):
        for attribute in (*_KEPT, "actuatorfrcrange"):
            # on a prim they are those of whatever joint the body has
            word = f"free:{attribute}" if freedom.motion is Motion.FREE and key.startswith("/") else attribute
            found = draft.solver.take(key, word)
            if found is not None:
                values.setdefault(attribute, found)
        assert freedom.dof is not None
        for name, plain in (("stiffness", freedom.dof.stiffness), ("damping", freedom.dof.damping)):
            higher = draft.solver.take(key, f"{name}poly")
            if higher is not None:
                values[name] = [plain or 0.0, *higher]
    return values
