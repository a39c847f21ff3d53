# SPDX-License-Identifier: Apache-2.0
"""A robot that is ready to be put into a task: its file, what its manifest says, and what was inferred.

``open_robot`` takes what ``--robot`` takes: the id of a manifest, ``menagerie:NAME``, a ``robot.yaml``, any robot file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Reporter, Where
from simwright.core.errors import InputError, UnknownNameError
from simwright.core.math3d import Pose
from simwright.core.packages import PackageMap
from simwright.formats.table import detect_format
from simwright.tasks.catalog import CatalogEntry, find_robot, open_manifest
from simwright.tasks.compose import PREFIX, compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.inference import Facts, infer_facts
from simwright.tasks.manifest import FrameEntry, RobotManifest
from simwright.tasks.menagerie import find_menagerie
from simwright.tasks.servos import add_servos, override_actuators
from simwright.tasks.specs import SpecSource, compile_spec, open_robot_file

TOOL = "simwright_tool"
"""The site that is put where the tool is; in a scene it is called ``robot/simwright_tool``."""
_ABOVE = 0.05
"""A tool that is no farther out than this is above the base [m]."""
_MENAGERIE = "menagerie:"
_YAML = (".yaml", ".yml")
_UNSAID = ("urdf",)
"""Formats that do not say whether a base floats."""


@dataclass(slots=True)
class Robot:
    """A robot and what is known of it.

    ``facts`` are those of the amended robot: ids in them are ids in its own compiled model, which are one lower than
    those in a scene only by the frame: bodies, joints and actuators keep their numbers there.
    """

    id: str
    file: Path
    source: SpecSource = field(repr=False)
    facts: Facts
    manifest: RobotManifest | None = None
    servos: int = 0
    """How many servos were added because its file drives nothing."""
    tool: FrameEntry | None = None
    _entry: CatalogEntry | None = field(default=None, repr=False)
    _forward: float | None = field(default=None, repr=False)

    def amend(self, spec: Any) -> None:
        """Change a new specification of the robot as the manifest wants: base, joints, actuators, cameras, tool."""
        _amend(
            spec, self.manifest, self._entry, fixed=not self.facts.is_floating, where=Where(str(self.file))
        )
        _add_tool(spec, self.tool, Where(str(self.file)))

    @property
    def forward(self) -> float:
        """The direction in which the tool is, seen from the base, where the robot starts [rad]; 0 where it is above."""
        if self._forward is None:
            self._forward = _measure_forward(self)
        return self._forward

    @property
    def keyframe(self) -> str:
        """The keyframe that the manifest wants to start from."""
        return self.manifest.sim.keyframe if self.manifest else ""

    @property
    def home_joints(self) -> dict[str, float]:
        """Joints whose start the manifest gives."""
        return self.manifest.home_joints if self.manifest else {}


def open_robot(
    name: str | Path, *, packages: PackageMap | None = None, reporter: Reporter | None = None
) -> Robot:
    """Find a robot and look at it."""
    text = str(name)
    path = Path(text)
    if text.startswith(_MENAGERIE):
        return _open_file(find_menagerie(text.removeprefix(_MENAGERIE)), text, None, packages, reporter)
    if path.suffix.lower() in _YAML and (path.is_file() or "/" in text):
        return open_entry(open_manifest(path), packages=packages, reporter=reporter)
    if path.is_file() or "/" in text or path.suffix:
        return _open_file(path, path.stem, None, packages, reporter)
    return open_entry(find_robot(text), packages=packages, reporter=reporter)


def open_entry(
    entry: CatalogEntry, *, packages: PackageMap | None = None, reporter: Reporter | None = None
) -> Robot:
    """A robot of the catalog."""
    return _open_file(entry.find_asset(), entry.manifest.id, entry, packages, reporter)


def _open_file(
    file: Path, name: str, entry: CatalogEntry | None, packages: PackageMap | None, reporter: Reporter | None
) -> Robot:
    source = open_robot_file(file, packages=packages, reporter=reporter)
    where = Where(str(file))
    manifest = entry.manifest if entry is not None else None
    says_base = detect_format(file).name not in _UNSAID
    facts = infer_facts(compile_spec(source.make_spec(), "the robot", where), says_base=says_base)
    fixed = not facts.is_floating
    if manifest is not None and manifest.base is not None:
        fixed = manifest.base == "fixed"
    spec = source.make_spec()
    if not len(spec.worldbody.bodies):
        raise InputError("the file has no body, so there is no robot in it", where=where)
    servos = _amend(spec, manifest, entry, fixed=fixed, where=where)
    model = compile_spec(spec, "the robot", where)
    facts = infer_facts(model, says_base=True, kind=facts.kind)
    if manifest is not None and manifest.kind is not None:
        facts = facts.replace_kind(manifest.kind)
    tool = _choose_tool(model, facts, manifest)
    robot = Robot(name, file, source, facts, manifest, servos, tool, entry)
    _check_names(model, robot)
    return robot


def _amend(
    spec: Any, manifest: RobotManifest | None, entry: CatalogEntry | None, *, fixed: bool, where: Where
) -> int:
    if fixed:
        _mount(spec)
    if manifest is not None and entry is not None:
        _set_limits(spec, manifest, entry)
        override_actuators(spec, manifest.sim.actuators, entry.document.find_where("sim", "actuators"))
        _add_cameras(spec, manifest, entry)
    return add_servos(spec, where)


def _mount(spec: Any) -> None:
    """Take the free joints of root bodies away, and their coordinates out of the keyframes."""
    import mujoco

    free = [
        joint
        for body in spec.worldbody.bodies
        for joint in body.joints
        if joint.type == mujoco.mjtJoint.mjJNT_FREE
    ]
    if not free:
        return
    if len(spec.keys):
        model = compile_spec(spec.copy(), "the robot", Where())
        gone_q, gone_v = _list_free(model)
        for key in spec.keys:
            key.qpos = np.delete(key.qpos, gone_q) if len(key.qpos) else key.qpos
            key.qvel = np.delete(key.qvel, gone_v) if len(key.qvel) else key.qvel
    for joint in free:
        spec.delete(joint)


def _list_free(model: Any) -> tuple[list[int], list[int]]:
    """Places of the coordinates and velocities of free joints at the root."""
    coordinates: list[int] = []
    velocities: list[int] = []
    for joint in range(model.njnt):
        if model.jnt_type[joint] == 0 and model.body_parentid[model.jnt_bodyid[joint]] == 0:
            coordinates += range(model.jnt_qposadr[joint], model.jnt_qposadr[joint] + 7)
            velocities += range(model.jnt_dofadr[joint], model.jnt_dofadr[joint] + 6)
    return coordinates, velocities


def _set_limits(spec: Any, manifest: RobotManifest, entry: CatalogEntry) -> None:
    joints = {joint.name: joint for joint in spec.joints if joint.name}
    for number, said in enumerate(manifest.joints):
        if said.name not in joints:
            where = entry.document.find_where("joints", number, "name")
            raise UnknownNameError("joint of the robot", said.name, joints, where=where)
        joint = joints[said.name]
        low, high = joint.range
        if said.lower is not None or said.upper is not None:
            limits = [low if said.lower is None else said.lower, high if said.upper is None else said.upper]
            joint.range = np.degrees(limits) if spec.compiler.degree and _turns(joint) else limits
            joint.limited = True


def _turns(joint: Any) -> bool:
    import mujoco

    return bool(joint.type == mujoco.mjtJoint.mjJNT_HINGE)


def _add_cameras(spec: Any, manifest: RobotManifest, entry: CatalogEntry) -> None:
    for number, camera in enumerate(manifest.cameras):
        where = entry.document.find_where("cameras", number, "frame")
        body, position, rotation = _find_frame(spec, camera, where)
        body.add_camera(
            name=camera.name,
            pos=position,
            quat=rotation,
            fovy=camera.fovy,
            resolution=[camera.width, camera.height],
        )


def _add_tool(spec: Any, tool: FrameEntry | None, where: Where) -> None:
    if tool is None:
        return
    body, position, rotation = _find_frame(spec, tool, where)
    body.add_site(
        name=TOOL, pos=position, quat=rotation, size=[0.005, 0.005, 0.005], rgba=[0, 0, 0, 0], group=5
    )


def _find_frame(spec: Any, frame: FrameEntry, where: Where) -> tuple[Any, list[float], list[float]]:
    """The body that a frame is on, and its place there."""
    pose = Pose.of(frame.position, frame.rotation)
    bodies = {body.name: body for body in spec.bodies if body.name and body.name != "world"}
    if frame.frame in bodies:
        return bodies[frame.frame], pose.p.tolist(), pose.q.tolist()
    sites = {site.name: site for site in spec.sites if site.name}
    if frame.frame not in sites:
        raise UnknownNameError("body or site of the robot", frame.frame, {*bodies, *sites}, where=where)
    site = sites[frame.frame]
    placed = Pose.of(site.pos, site.quat) @ pose
    return site.parent, placed.p.tolist(), placed.q.tolist()


def _choose_tool(model: Any, facts: Facts, manifest: RobotManifest | None) -> FrameEntry | None:
    """The manifest's, else a site that is called like a tool, else between the fingers, else the last body."""
    if manifest is not None and manifest.end_effector is not None:
        return manifest.end_effector
    if facts.tool_site >= 0:
        return FrameEntry.model_validate({"frame": model.site(facts.tool_site).name})
    name = model.body(facts.tool).name
    if not name:
        return None
    return FrameEntry.model_validate({"frame": name, "position": facts.tool_offset})


def _measure_forward(robot: Robot) -> float:
    import mujoco

    composed = compose_scene(robot.source, lambda spec: None, amend_robot=robot.amend)  # noqa: ARG005 - no task
    if robot.tool is None or robot.facts.is_floating:
        return 0.0
    home = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints)
    data = mujoco.MjData(composed.model)
    data.qpos[:] = home.qpos
    mujoco.mj_kinematics(composed.model, data)
    x, y, _ = data.site(PREFIX + TOOL).xpos - data.xpos[1]
    return math.atan2(y, x) if math.hypot(x, y) > _ABOVE else 0.0


def _check_names(model: Any, robot: Robot) -> None:
    """Names that the manifest uses have to be there."""
    manifest, entry = robot.manifest, robot._entry
    if manifest is None or entry is None:
        return
    actuators = [model.actuator(index).name for index in range(model.nu)]
    if manifest.gripper is not None:
        for number, name in enumerate(manifest.gripper.actuators):
            if name not in actuators:
                where = entry.document.find_where("gripper", "actuators", number)
                raise UnknownNameError("actuator of the robot", name, actuators, where=where)
    bodies = [model.body(index).name for index in range(1, model.nbody)]
    if manifest.base_frame and manifest.base_frame not in bodies:
        raise UnknownNameError(
            "body of the robot", manifest.base_frame, bodies, where=entry.document.find_where("base_frame")
        )
    sites = [model.site(index).name for index in range(model.nsite)]
    if robot.tool is not None and robot.tool.frame not in {*bodies, *sites}:
        where = entry.document.find_where("end_effector", "frame")
        raise UnknownNameError("body or site of the robot", robot.tool.frame, {*bodies, *sites}, where=where)
