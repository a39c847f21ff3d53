# SPDX-License-Identifier: Apache-2.0
"""What the file does not hold and its table cannot say: what depends on the version, the world or a controller."""

from __future__ import annotations

from typing import Any

from simwright.formats.sdf.context import NAMESPACE
from simwright.formats.sdf.writer.controllers import ControllerWriter
from simwright.formats.sdf.writer.draft import Draft
from simwright.formats.sdf.writer.geometry import OPTIMIZATION
from simwright.formats.sdf.writer.inertials import report_inertials
from simwright.formats.sdf.writer.messages import EXTRAS_LOST, MOVED_TO_ZERO, ROS_DISCARDED
from simwright.model.geometry import Mesh
from simwright.model.joint import Joint
from simwright.resolve import mjc, newton, physx

_SAID = {name for rows in (mjc.ROWS, newton.ROWS, physx.ROWS) for row in rows for name in row.attributes}
"""Attributes of OpenUSD schemas whose value is in the model, and written or reported from there."""
_SPENT = frozenset({"drive", "ext_physics"})
_SENSORS = "gazebo:sensor:"
"""What a stage says of a sensor, which is in the model."""


def report_losses(draft: Draft, controllers: ControllerWriter) -> None:
    """Elements without a place, starts of joints, then attributes of other solvers."""
    asset = draft.asset
    report_inertials(draft)
    homeless = [i for i in asset.interfaces if id(i) not in draft.published]
    if homeless:
        draft.report(ROS_DISCARDED, homeless)
    advice = "Gazebo has no system for them; nodes of the robot run them"
    draft.lose("controller(s)", controllers.lost, advice)
    draft.lose(
        "controller(s) with other settings", controllers.reduced, "the system of Gazebo has no such setting"
    )
    started = [joint for joint in asset.joints if _starts(joint)]
    if started:
        draft.report(MOVED_TO_ZERO, started)
    simplified = [shape for shape in asset.shapes if shape.collision and _is_simplified(draft, shape)]
    draft.lose("simplified mesh collider(s)", simplified, "SDFormat 1.11 has hulls and convex parts")
    _report_extras(draft)


def _starts(joint: Joint) -> bool:
    single = [dof for dof in joint.dofs if dof.positions == 1]
    return any((dof.position if dof.position is not None else dof.ref) for dof in single)


def _is_simplified(draft: Draft, shape: Any) -> bool:
    if not isinstance(shape.geometry, Mesh):
        return False
    token = shape.approximation.token if shape.approximation is not None else "none"
    if token in ("convexHull", "convexDecomposition"):
        return draft.version < OPTIMIZATION
    return bool(token != "none")


def _report_extras(draft: Draft) -> None:
    lost: dict[str, list[str]] = {}
    motors = {actuator.path for actuator in draft.asset.actuators}
    for space, element, attribute, _ in draft.asset.extras:
        is_written = space == NAMESPACE and (element, attribute) in draft.spent
        is_said = attribute in _SAID or attribute.startswith(_SENSORS) or element in motors
        if not (is_written or is_said or space in _SPENT):
            lost.setdefault(space, []).append(f"{element} {attribute}")
    for space, names in lost.items():
        draft.reporter.report(EXTRAS_LOST, count=len(names), space=space, first=names[0])
