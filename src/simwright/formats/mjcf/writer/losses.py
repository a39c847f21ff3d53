# SPDX-License-Identifier: Apache-2.0
"""What the folder does not hold and its table cannot say: what depends on attributes of the solver."""

from __future__ import annotations

import re
from typing import Any

from simwright.core.diag import Kind
from simwright.formats.mjcf.context import NAMESPACE
from simwright.formats.mjcf.writer.draft import Draft
from simwright.formats.mjcf.writer.messages import EXTRAS_LOST, LOOK_LOST, SETTING_LOST
from simwright.model.asset import Camera, Shape
from simwright.model.joint import Joint
from simwright.resolve import mjc, newton, physx

_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_CONTACT = {"max_hull_vertices", "mass_model", "priority", "weight", "mu_torsional", "mu_rolling"}
_SOLREF = {"ke", "kd"}
_MIMICS = re.compile(r"newton:mimic|newton:actuator|physxMimicJoint|mjc:compiler:")
"""What is a relation of the model, and how its source was compiled."""
_COUPLING = re.compile(r"mjc:(?:coef\d|target|mimic\w*|polycoef|joint[12]|active|qpos|qvel|ctrl|time|type)\Z")
"""Those of mimics and keyframes, which are in the model too."""
_SPENT = frozenset({"drive", "ext_physics"})
"""Spaces whose attributes are in the model."""


def report_losses(draft: Draft) -> None:
    """Values without an attribute, then attributes of other solvers."""
    asset = draft.asset
    settings: tuple[tuple[Kind, str, list[Any]], ...] = (
        (SETTING_LOST, "the stiffness or damping of stops", [j for j in asset.joints if _has_soft_stops(draft, j)]),
        (SETTING_LOST, "a contact setting", [s for s in asset.shapes if s.collision and _is_set(draft, s)]),
        (LOOK_LOST, "the clip distances", _list_clipped(draft)),
    )  # fmt: skip
    for kind, what, lost in settings:
        if lost:
            draft.reporter.report(kind, lost[0].source, what=what, count=len(lost), first=lost[0].name)
    _report_extras(draft)


def _list_clipped(draft: Draft) -> list[Camera]:
    """Cameras with distances of their own; those of MuJoCo are the same for all, and found again."""
    if draft.asset.provenance.format == "mjcf" or NAMESPACE in draft.asset.extras.table:
        return []
    usual = Camera("")
    return [camera for camera in draft.asset.cameras if (camera.near, camera.far) != (usual.near, usual.far)]


def _is_set(draft: Draft, shape: Shape) -> bool:
    """Settings that MuJoCo has no word for; stiffness and damping are those of solref, where it says them."""
    said = draft.sets_springs or draft.solver.get(shape, "geom", "solref") is not None
    words = _CONTACT | _SOLREF | {"contact_first"} if said else _CONTACT
    return bool(set(shape.settings) - words)


def _has_soft_stops(draft: Draft, joint: Joint) -> bool:
    if draft.sets_springs or not any(dof.limit_stiffness or dof.limit_damping for dof in joint.dofs):
        return False
    return draft.solver.get(joint, "joint", "solreflimit") is None


def _report_extras(draft: Draft) -> None:
    _spend_said(draft)
    lost = {NAMESPACE: list(draft.solver.list_unused())}
    motors = {actuator.path for actuator in draft.asset.actuators}
    for space, element, attribute, _ in draft.asset.extras:
        if space not in (NAMESPACE, *_SPENT) and not (_is_said(attribute) or element in motors):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        if names:
            draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])


def _spend_said(draft: Draft) -> None:
    """Count what the readers of OpenUSD turned into fields of the model."""
    asset, solver = draft.asset, draft.solver
    for path in (*(a.path for a in asset.actuators), *(s.path for s in asset.sensors)):
        solver.take_all(path)
    for tendon in asset.tendons:
        solver.take_all(tendon.source.prim)
    world = asset.environment
    known = {*world.settings, "gravity", "timestep", "wind", "magnetic", "iterations"}
    flags = {name for word in ("disable", "enable") for name in world.settings.get(word, ())}
    for _, key, attribute, _ in asset.extras:
        _, group, name = ("", *attribute.split(":", 2)[1:], "", "")[:3]
        is_option = (group == "option" and name in known) or (group == "flag" and name in flags)
        if is_option or _is_said(attribute) or _COUPLING.match(attribute):
            solver.spend(key, attribute.removeprefix(f"{NAMESPACE}:"))


def _is_said(attribute: str) -> bool:
    return attribute in _SAID or bool(_MIMICS.match(attribute))
