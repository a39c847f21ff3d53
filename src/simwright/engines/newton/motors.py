# SPDX-License-Identifier: Apache-2.0
"""Motors: position and velocity servos become target gains of their freedom, the rest rows of the MuJoCo solver.

A builder that has registered the MuJoCo solver's attributes holds every motor of a stage as a row.  Rows of servos
are marked as driven by the targets of their freedom; the others stay under direct control, as Newton leaves them.
"""

from __future__ import annotations

from typing import Any

from simwright.core.diag import Reporter
from simwright.engines.newton.messages import report_lost
from simwright.model.asset import Actuator, Asset
from simwright.model.joint import Joint

_LABEL = "mujoco:actuator_label"


def set_motors(builder: Any, asset: Asset, joints: dict[str, int], reporter: Reporter) -> None:
    """Put every motor of an asset into the builder, where it has a place for it."""
    places = _find_dofs(builder, asset.joints, joints)
    rows = _find_rows(builder)
    lost: list[Actuator] = []
    for actuator in asset.actuators:
        at = places.get(actuator.target) if actuator.transmission == "joint" else None
        plain = at is not None and tuple(actuator.gear[:1]) == (1.0,) and not any(actuator.gear[1:])
        row = rows.get(actuator.path)
        if plain and actuator.kind in ("position", "velocity"):
            assert at is not None
            _set_servo(builder, actuator, at)
            if row is not None:
                _drive_row(builder, actuator, row, at)
        elif plain and actuator.kind == "motor" and row is None:
            import newton

            builder.joint_target_mode[at] = int(newton.JointTargetMode.EFFORT)
        elif row is None:
            lost.append(actuator)
            continue
        if row is None and actuator.force_range is not None:
            builder.joint_effort_limit[at] = max(abs(bound) for bound in actuator.force_range)
    report_lost(reporter, "actuators", lost)


def _set_servo(builder: Any, actuator: Actuator, at: int) -> None:
    """Gains and mode; a freedom may have a position and a velocity servo."""
    import newton

    modes = newton.JointTargetMode
    other = {int(modes.POSITION), int(modes.VELOCITY)}
    mine = modes.POSITION if actuator.kind == "position" else modes.VELOCITY
    had = builder.joint_target_mode[at]
    if actuator.kind == "position":
        builder.joint_target_ke[at] = actuator.stiffness
    if actuator.kind == "velocity" or had == int(modes.NONE):
        builder.joint_target_kd[at] = actuator.damping
    both = had in other - {int(mine)}
    builder.joint_target_mode[at] = int(modes.POSITION_VELOCITY if both else mine)


def _find_rows(builder: Any) -> dict[str, int]:
    """Rows of the MuJoCo solver's motors by prim path."""
    labels = builder.custom_attributes.get(_LABEL)
    values = (labels.values or ()) if labels is not None else ()
    return {str(label): row for row, label in enumerate(values)} if isinstance(values, list) else {}


def _drive_row(builder: Any, actuator: Actuator, row: int, at: int) -> None:
    """Let the targets of the freedom drive a row, rather than a control of its own."""
    import newton
    import warp

    solver = newton.solvers.SolverMuJoCo
    kind = solver.CtrlType.POSITION if actuator.kind == "position" else solver.CtrlType.VELOCITY
    for name, value in (
        ("ctrl_source", int(solver.CtrlSource.JOINT_TARGET)),
        ("actuator_trnid", warp.vec2i(at, 0)),
        ("ctrl_type", int(kind)),
    ):
        attribute = builder.custom_attributes.get(f"mujoco:{name}")
        if attribute is not None:
            attribute.values[row] = value


def _find_dofs(builder: Any, joints: list[Joint], indices: dict[str, int]) -> dict[str, int]:
    """Velocity index of every joint and freedom with one velocity."""
    places: dict[str, int] = {}
    for joint in joints:
        if joint.name in indices:
            at = builder.joint_qd_start[indices[joint.name]]
            for dof in joint.dofs:
                if dof.velocities == 1:
                    places[dof.name or joint.name] = at
                at += dof.velocities
            if joint.velocities == 1:
                places[joint.name] = builder.joint_qd_start[indices[joint.name]]
    return places
