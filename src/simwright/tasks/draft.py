# SPDX-License-Identifier: Apache-2.0
"""Drafting a manifest for a robot that has none: what was inferred of it, as YAML that can be kept and corrected."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from simwright.core.diag import Where
from simwright.core.errors import InputError
from simwright.core.visible import make_visible
from simwright.engines.mujoco.actuation import ActuatorKind
from simwright.engines.mujoco.queries import MjModel
from simwright.tasks.compose import PREFIX, compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.manifest import RobotManifest, check_id
from simwright.tasks.robot import TaskRobot
from simwright.tasks.specs import find_uri_key

_DIGITS = 6


def draft_manifest(robot: TaskRobot, address: str, *, name: str = "") -> dict[str, Any]:
    """A manifest as plain data; ``address`` is what it says of the robot's file."""
    facts, tool = robot.facts, robot.tool
    data: dict[str, Any] = {
        "schema_version": 1,
        "id": check_id(name or make_id(robot.id)),
        "kind": str(facts.kind),
        "base": "floating" if facts.is_floating else "fixed",
    }
    if tool is not None and not facts.is_floating:
        data["end_effector"] = {"frame": tool.frame}
        if any(tool.position):
            data["end_effector"]["position"] = [_round(v) for v in tool.position]
    gripper = _draft_gripper(robot)
    if gripper:
        data["gripper"] = gripper
    keyframe, joints = _draft_home(robot)
    data["joints"] = joints
    if robot.reach > 0.0:
        data["reach"] = round(robot.reach, 3)
    sim: dict[str, Any] = {find_uri_key(robot.file): address}
    if keyframe:
        sim["keyframe"] = keyframe
    sim["control"] = {"mode": "position", "period": 0.02}
    data["sim"] = sim
    # a draft that we would refuse to read helps nobody
    try:
        RobotManifest.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise InputError(
            f"no manifest can say what the robot is: {place} is {first['input']!r:.60}: {first['msg']}",
            hint="look at the lengths, masses and limits of the file; simwright inspect shows them",
            where=Where(str(robot.file)),
        ) from None
    return data


def render_manifest(data: Mapping[str, Any], *comments: str) -> str:
    """Plain data as YAML, below comments."""
    import yaml

    head = "".join(f"# {make_visible(line)}\n" for line in comments)

    def dump(*, allow_unicode: bool) -> str:
        # collections of scalars on one line, the rest in blocks
        return yaml.safe_dump(
            dict(data), sort_keys=False, allow_unicode=allow_unicode, width=100, default_flow_style=None
        )

    text = dump(allow_unicode=True)
    # YAML leaves bidirectional and zero-width characters as they are, unless all but ASCII is escaped
    return head + (text if make_visible(text, keep="\n") == text else dump(allow_unicode=False))


def describe_actuators(robot: TaskRobot) -> str:
    """What the robot's actuators take, in words: ``7 position, 1 motor``."""
    kinds = [actuator.kind for actuator in robot.facts.actuators]
    parts = [f"{kinds.count(kind)} {kind}" for kind in ActuatorKind if kind in kinds]
    return ", ".join(parts) or "none"


def make_id(text: str) -> str:
    """A name that a manifest may have, from a file's name or an address."""
    stem = re.split(r"[:/]", text)[-1]
    cleaned = re.sub(r"[^A-Za-z0-9_.\-]+", "_", stem).strip("_.-")
    return cleaned or "robot"


def _draft_gripper(robot: TaskRobot) -> dict[str, Any] | None:
    if robot.manifest is not None and robot.manifest.gripper is not None:
        return robot.manifest.gripper.model_dump()
    grip = robot.facts.grip
    if grip is None:
        return None
    names = [robot.facts.actuators[index].name for index in grip.actuators]
    # manifests name actuators; those of this gripper have no names
    if not all(names):
        return None
    return {"actuators": names, "open": _round(grip.open), "closed": _round(grip.closed)}


def find_start(robot: TaskRobot) -> tuple[str, dict[str, float]]:
    """Where the robot starts: what says so (``keyframe 'home'``, ``manifest``, ``zero``), and each single joint."""
    composed = compose_scene(robot.source, lambda spec: None, amend_robot=robot.amend)  # noqa: ARG005 - no task
    home = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints)
    model, joints = composed.model, {}
    for joint in range(model.njnt):
        label = model.joint(joint).name.removeprefix(PREFIX)
        if label and model.jnt_type[joint] >= 2:
            value = float(home.qpos[model.jnt_qposadr[joint]])
            # rounding must not push a joint over its limit
            joints[label] = _round(value) if _is_inside(model, joint, _round(value)) else value
    return home.origin, joints


def _draft_home(robot: TaskRobot) -> tuple[str, list[dict[str, Any]]]:
    """The keyframe to start from, or where each joint starts."""
    origin, joints = find_start(robot)
    if origin.startswith("keyframe"):
        return origin.removeprefix("keyframe ").strip("'"), [{"name": name} for name in joints]
    return "", [{"name": name, "home": value} for name, value in joints.items()]


def _round(value: float) -> float:
    return round(float(value), _DIGITS) + 0.0  # no negative zero


def _is_inside(model: MjModel, joint: int, value: float) -> bool:
    low, high = model.jnt_range[joint]
    return not model.jnt_limited[joint] or bool(low <= value <= high)
