# SPDX-License-Identifier: Apache-2.0
"""Controllers in ``ros.usda``: the registry's schemas on prims of their own (REP-0158 4.2.3)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from simwright.core.diag import Reporter
from simwright.formats.usd.writer.freedoms import find_form
from simwright.formats.usd.writer.joints import write_drive
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.messages import DRIVE_EMPTY
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.joint import Drive, Joint, Motion
from simwright.model.ros import Controller

_APIS = {
    "diff_drive": "RosControlDiffDriveAPI",
    "joint_trajectory": "RosControlJointTrajectoryAPI",
    "joint_state_broadcaster": "RosControlJointStateBroadcasterAPI",
    "rigid_body_twist": "RosControlRigidBodyTwistAPI",
}
_JOINTS = {"left": "left_wheels", "right": "right_wheels", "command": "command_joints", "state": "joints"}
_COMMANDS = ("left", "right", "command")
_SETTINGS = {
    "diff_drive": {
        "wheel_separation": ("wheel_separation",),
        "wheel_radius": ("wheel_radius",),
        "cmd_vel_timeout": ("cmd_vel_timeout",),
        "linear:x:max_velocity": ("linear.x.max_velocity", "max_linear_velocity"),
        "linear:x:max_acceleration": ("linear.x.max_acceleration", "max_linear_acceleration"),
        "angular:z:max_velocity": ("angular.z.max_velocity", "max_angular_velocity"),
        "angular:z:max_acceleration": ("angular.z.max_acceleration", "max_angular_acceleration"),
    },
    "joint_trajectory": {
        "action_monitor_rate": ("action_monitor_rate",),
        "stopped_velocity_tolerance": ("stopped_velocity_tolerance",),
        "timeout": ("timeout", "goal_time"),
    },
}
"""Attribute -> the words it may have in the model, by kind."""


def write_controllers(
    layout: Layout, sheet: Sheet, physics: Sheet, interfaces: Mapping[str, str], reporter: Reporter
) -> None:
    """Controllers of the registry's kinds; others are beside the simulator."""
    commanded: dict[str, None] = {}
    inside = [c for c in layout.asset.controllers if c.kind in _APIS]
    outside = [c for c in layout.asset.controllers if c.kind not in _APIS]
    for controller in inside:
        if _write_inside(layout, sheet, controller, interfaces):
            commanded |= dict.fromkeys(n for role in _COMMANDS for n in controller.joints.get(role, ()))
        else:
            outside.append(controller)
    for controller in outside:
        joints = [name for name in controller.joints.get("command", ()) if name not in commanded]
        _write_outside(layout, sheet, controller, joints)
        commanded |= dict.fromkeys(joints)
    _add_drives(layout, physics, [name for name in commanded if name in layout.joints], reporter)


def _claim(layout: Layout, sheet: Sheet, controller: Controller) -> str:
    scope = f"{layout.root}/Controllers"
    sheet.define(scope, "Scope")
    path = layout.names.claim(scope, controller.name)
    sheet.define(path)
    sheet.name(path, controller.name)
    layout.controllers[controller.name] = path
    return path


def _note(sheet: Sheet, path: str, controller: Controller, said: Controller) -> None:
    """What is known of a controller and not said by its prim, which is read as ``said``."""
    words: dict[str, Any] = {"kind": controller.kind} if controller.kind != said.kind else {}
    for key in ("joints", "interfaces", "settings"):
        read = getattr(said, key)
        left = {name: value for name, value in getattr(controller, key).items() if name not in read}
        if left:
            words[key] = left
    if words:
        sheet.note(path, controller=json.dumps(words, sort_keys=True, default=str))


def _write_inside(
    layout: Layout, sheet: Sheet, controller: Controller, interfaces: Mapping[str, str]
) -> bool:
    """A controller that the simulator runs; False if it has no interface, which it needs."""
    known = {role: interfaces[name] for role, name in controller.interfaces.items() if name in interfaces}
    if not known:
        return False
    path, space = _claim(layout, sheet, controller), f"ros:{controller.kind}"
    sheet.apply(path, _APIS[controller.kind])
    said = Controller(controller.name, controller.kind, interfaces=known)
    joints = dict(controller.joints)
    if controller.kind == "joint_state_broadcaster" and not joints.get("state"):
        joints["state"] = [joint.name for joint in layout.asset.joints if joint.dofs]
    for role, names in joints.items():
        if controller.kind == "joint_trajectory" and role != "command":
            continue
        targets = [layout.joints[name] for name in names if name in layout.joints]
        sheet.relate(path, f"{space}:{_JOINTS.get(role, role)}", targets)
        if targets:
            said.joints[role] = names
    for role, target in known.items():
        sheet.relate(path, f"{space}:{role}", [target])
    body = controller.settings.get("body")
    if controller.kind == "rigid_body_twist" and body in layout.bodies:
        sheet.relate(path, f"{space}:body", [layout.bodies[body]])
        said.settings["body"] = body
    said.settings |= _write_settings(sheet, path, controller)
    _note(sheet, path, controller, said)
    return True


def _write_settings(sheet: Sheet, path: str, controller: Controller) -> dict[str, float]:
    """Settings that the schema has attributes for; gives them as they are read."""
    written: dict[str, float] = {}
    constraints = controller.settings.get("constraints")
    nested = constraints if isinstance(constraints, dict) else {}
    said: dict[str, Any] = {**nested, **controller.settings}
    for attribute, words in _SETTINGS.get(controller.kind, {}).items():
        value = next((said[word] for word in words if word in said), None)
        if isinstance(value, int | float) and not isinstance(value, bool):
            name = f"ros:{controller.kind}:{attribute}"
            sheet.set(path, name, "double", float(value), uniform=True)
            written[attribute.replace(":", ".")] = float(value)
    return written


def _write_outside(layout: Layout, sheet: Sheet, controller: Controller, joints: list[str]) -> None:
    """A controller beside the simulator: who is commanded is said; one that commands nothing is only noted."""
    path = _claim(layout, sheet, controller)
    targets = [layout.joints[name] for name in joints if name in layout.joints]
    if targets:
        sheet.apply(path, "RosControlExternalAPI", "CollectionAPI:joints")
        sheet.relate(path, "collection:joints:includes", targets)
    _note(sheet, path, controller, Controller(controller.name, "external" if targets else ""))


def _add_drives(layout: Layout, physics: Sheet, names: list[str], reporter: Reporter) -> None:
    """A commanded joint needs a drive or an actuator for its set points."""
    targets = {actuator.target for actuator in layout.asset.actuators}
    bare: list[Joint] = []
    for name in names:
        joint = layout.asset.joint(name)
        if any(dof.drive is not None or dof.name in targets for dof in joint.dofs):
            continue
        form = find_form(joint)
        if form is None or len(form.axes) != 1 or joint.dofs[0].motion is Motion.FREE:
            continue
        word, dof = form.axes[0]
        limit = dof.effort_limit
        drive = Drive(max_force=limit) if limit is not None else Drive()
        write_drive(physics, layout.joints[name], word, dof, drive)
        bare.append(joint)
    if bare:
        reporter.report(DRIVE_EMPTY, bare[0].source, count=len(bare), first=bare[0].name)
