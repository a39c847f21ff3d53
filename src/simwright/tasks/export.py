# SPDX-License-Identifier: Apache-2.0
"""A task with a robot in it as a file, and a draft manifest for a robot that has none.

A task is written as MJCF with all it needs, or in any format that Simwright writes.  MJCF is written from the
composed specification itself, so that it compiles to the model that is run.  The other formats go through the neutral
model, as any MJCF file does.

A draft manifest says what was inferred of the robot, as YAML that can be kept and corrected.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from simwright.core.diag import Reporter, Where, relocate
from simwright.core.errors import InputError, OutputError
from simwright.core.files import write_atomic
from simwright.core.math3d import Array, Pose
from simwright.core.scratch import scratch_folder
from simwright.core.visible import make_visible
from simwright.engines.mujoco.actuation import ActuatorKind
from simwright.engines.mujoco.batch import ModelBatch
from simwright.engines.mujoco.engine import MujocoSimulation
from simwright.engines.mujoco.queries import MjModel
from simwright.formats.format import ReadOptions, WriteOptions
from simwright.formats.mjcf.memory import CompiledAsset, MujocoNames
from simwright.formats.table import choose_writer, find_near, read_asset, write_asset
from simwright.model.asset import Asset
from simwright.model.ros import Controller, Interface, InterfaceKind
from simwright.model.ros_sides import RosSeat, carry_ros_side
from simwright.tasks.compose import PREFIX, Composed, compose_scene
from simwright.tasks.environments import validate_options
from simwright.tasks.home import find_home
from simwright.tasks.manifest import RobotManifest, check_id
from simwright.tasks.reading import complete_pose
from simwright.tasks.robot import TaskRobot
from simwright.tasks.rollout import SimRollout
from simwright.tasks.scene import TaskScene
from simwright.tasks.specs import MjSpec, find_uri_key, write_spec

_ASSETS = "assets"
# the keyframe that has the beginning of the episode
_START = "start"


def export_scene(
    scene: TaskScene,
    robot: TaskRobot,
    target: str | os.PathLike[str],
    *,
    options: Mapping[str, Any] | None = None,
    base: Pose | None = None,
    seed: int = 0,
    to: str | None = None,
    writing: WriteOptions | None = None,
    reporter: Reporter | None = None,
) -> Path:
    """Write the beginning of an episode; gives the path of the file to open.

    ``to`` names the format, else the name of ``target`` decides, as in a conversion.
    """
    reporter = Reporter() if reporter is None else reporter
    row = choose_writer(target, to, reporter)
    rollout = SimRollout(scene, robot, options=validate_options(scene, options or {}), base=base)
    rollout.reset(seed)
    with scratch_folder() as folder:
        staging = folder / scene.name
        staging.mkdir()
        name = Path(target).stem if Path(target).suffix else scene.name
        file = stage_scene(rollout, staging, name)
        if row.name == "mjcf":
            return _deliver(file, Path(target), overwrite=bool(writing and writing.overwrite))
        inner = Reporter()
        try:
            asset = read_asset(file, options=ReadOptions(), reporter=inner)
            return write_asset(asset, target, format_name=to, options=writing, reporter=inner)
        finally:
            # the staged file is gone afterwards; what it says comes from the robot
            for found in inner:
                staged = found.where.file.startswith(str(staging))
                reporter.add(relocate(found, Where(str(robot.file))) if staged else found)


def stage_scene(rollout: SimRollout, folder: Path, name: str) -> Path:
    """Write the scene as MJCF called ``name`` into a folder, with the files it needs in ``assets``."""
    robot, scene = rollout.robot, rollout.scene
    gathered = _AssetFiles(folder, Where(str(robot.file)))

    def amend(spec: MjSpec) -> None:
        robot.amend(spec)
        gathered.take(spec)

    composed = compose_scene(
        robot.source,
        lambda spec: scene.add(spec, rollout.options),
        base=rollout.base,
        period=rollout.composed.period,
        amend_robot=amend,
    )
    spec = composed.spec
    spec.modelname = name
    # MuJoCo looks for files beside the model when it compiles for writing
    spec.modelfiledir = str(folder)
    spec.option.timestep = composed.period / composed.substeps
    _place(rollout, composed)
    file = folder / f"{name}.xml"
    write_spec(spec, file, Where(str(robot.file)))
    return file


def _place(rollout: SimRollout, composed: Composed) -> None:
    """Put the things of the task where the episode has them, and the robot's start into the one keyframe."""
    spec, scene, layout = composed.spec, rollout.scene, rollout.layout
    for name in (*scene.objects, *scene.fixtures):
        pose = complete_pose(layout[name])
        body = spec.body(name)
        body.pos, body.quat = pose[:3].tolist(), pose[3:].tolist()
    for name in scene.marks:
        spec.site(name).pos = layout[name][:3].tolist()
    # keyframes of the robot do not fit the scene's coordinates
    for key in list(spec.keys):
        spec.delete(key)
    spec.add_key(name=_START, qpos=rollout.qpos.tolist(), ctrl=rollout.worlds.view("ctrl")[0].tolist())


def read_task(rollout: SimRollout, folder: Path, reporter: Reporter) -> Asset:
    """A task with its robot as one asset, with what the robot is to ROS; its files are kept in a folder.

    Elements have the names of the rollout's own model; ROS has the robot's names without the prefix.  A robot that
    says nothing for ROS gets its joint states, and actions for its joints and its gripper.
    """
    asset = read_asset(
        stage_scene(rollout, folder, rollout.scene.name), options=ReadOptions(), reporter=Reporter()
    )
    asset.keyframes = []
    file = rollout.robot.file
    part = read_asset(file, options=ReadOptions(find_near(file)), reporter=reporter)
    bodies, joints = (
        {element.name: PREFIX + element.name for element in mine if PREFIX + element.name in known}
        for mine, known in (
            (part.bodies, {body.name for body in asset.bodies}),
            (part.joints, {joint.name for joint in asset.joints}),
        )
    )
    if not part.interfaces:
        _add_interfaces(part, rollout)
    carry_ros_side(asset, part, RosSeat("/robot", bodies, joints, rollout.base))
    return asset


def _add_interfaces(part: Asset, rollout: SimRollout) -> None:
    """What every robot can tell and be told."""
    grip, known = rollout.robot.gripper_actuators, {joint.name for joint in part.joints}
    moved = {
        actuator.index: rollout.model.joint(actuator.joint).name.removeprefix(PREFIX)
        for actuator in rollout.actuators
        if actuator.joint >= 0
    }
    arm = [name for index, name in moved.items() if index not in grip and name in known]
    fingers = [name for index, name in moved.items() if index in grip and name in known]
    part.interfaces.append(
        Interface(InterfaceKind.TOPIC, "publisher", "joint_states", "sensor_msgs/msg/JointState", rate=50.0)
    )
    for kind, joints, name, action in (
        ("joint_trajectory", arm, "follow_joint_trajectory", "FollowJointTrajectory"),
        ("gripper_action", fingers[:1], "gripper_cmd", "GripperCommand"),
    ):
        if joints:
            part.interfaces.append(
                Interface(InterfaceKind.ACTION, "server", name, f"control_msgs/action/{action}")
            )
            part.controllers.append(Controller(kind, kind, {"command": joints}, {"server": name}))


class TaskSimulation(MujocoSimulation):
    """A rollout as a simulation: the task makes the steps, others read them and aim its servos.

    It has a state of its own, which follows that of the rollout (:meth:`follow`), so that looking changes nothing.
    With ``worlds`` it follows the first ``shown`` of those instead.
    """

    def __init__(
        self, rollout: SimRollout, asset: Asset, worlds: ModelBatch | None = None, shown: int = 1
    ) -> None:
        self._rollout, model = rollout, rollout.model
        self._followed = rollout.worlds if worlds is None else worlds
        names = _name_elements(asset, model)
        compiled = CompiledAsset(model, rollout.composed.spec, b"", {}, names)
        self.adopt(asset, compiled, ModelBatch(model, shown))

    def follow(self, steps: int = 0) -> None:
        """Take the state of the rollout, after so many steps."""
        self.batch.states[:] = self._followed.states[: self.worlds]
        self.count += steps

    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """See the protocol; controls are the rollout's."""
        self.follow()
        super().set_targets(positions, velocities, efforts)
        self._rollout.worlds.view("ctrl")[:] = self.batch.view("ctrl")


def _name_elements(asset: Asset, model: MjModel) -> MujocoNames:
    """Names of an asset that was read from the model's own MJCF; what has none there is left out."""
    # one function: one line for each family of names, comprehensions count as branches

    def pick(kind: str, count: int, names: Iterable[str]) -> dict[str, str]:
        known = {getattr(model, kind)(number).name for number in range(count)}
        return {name: name for name in names if name in known}

    dofs = {dof.name: dof.name or joint.name for joint in asset.joints for dof in joint.dofs}
    dofs |= {joint.name: joint.name for joint in asset.joints if len(joint.dofs) == 1}
    known = pick("joint", model.njnt, dofs.values())
    sensors = pick("sensor", model.nsensor, (sensor.name for sensor in asset.sensors))
    return MujocoNames(
        bodies=pick("body", model.nbody, (body.name for body in asset.bodies)),
        joints={ours: (made,) for ours, made in dofs.items() if made in known},
        free_joints={},
        geoms={},
        sites=pick("site", model.nsite, (site.name for site in asset.sites)),
        cameras=pick("camera", model.ncam, (camera.name for camera in asset.cameras)),
        tendons={},
        actuators=pick("actuator", model.nu, (actuator.name for actuator in asset.actuators)),
        drives={},
        sensors={name: (made,) for name, made in sensors.items()},
        keyframes={},
        initial=None,
    )


class _AssetFiles:
    """Files of a robot, copied into one folder under names of their own."""

    def __init__(self, folder: Path, where: Where) -> None:
        self.folder, self.where = folder, where
        self._names: dict[Path, str] = {}

    def take(self, spec: MjSpec) -> None:
        """Copy the files that a specification names, and name the copies."""
        base = Path(spec.modelfiledir)
        for kind, place in (
            ("meshes", "meshdir"),
            ("hfields", "meshdir"),
            ("skins", "meshdir"),
            ("textures", "texturedir"),
        ):
            for element in getattr(spec, kind):
                folder = base / getattr(spec, place)
                if element.file:
                    element.file = self._copy(folder / element.file)
                if kind == "textures" and any(element.cubefiles):
                    element.cubefiles = [name and self._copy(folder / name) for name in element.cubefiles]
        spec.meshdir, spec.texturedir, spec.modelfiledir = "", "", str(self.folder)

    def _copy(self, file: Path) -> str:
        file = file.resolve()
        if file not in self._names:
            taken = set(self._names.values())
            name, number = f"{_ASSETS}/{file.name}", 1
            # files of one name from several folders
            while name in taken:
                number += 1
                name = f"{_ASSETS}/{file.stem}_{number}{file.suffix}"
            (self.folder / _ASSETS).mkdir(exist_ok=True)
            try:
                shutil.copyfile(file, self.folder / name)
            except OSError as error:
                raise InputError(
                    f"cannot be read: {error.strerror or error}", where=Where(str(file))
                ) from None
            self._names[file] = name
        return self._names[file]


def _deliver(file: Path, target: Path, *, overwrite: bool) -> Path:
    """Move a staged scene to where it is wanted: what it needs first, the scene itself last."""
    entry = target if target.suffix.lower() in (".xml", ".mjcf") else target / file.name
    source = file.parent / _ASSETS
    pieces = sorted(piece for piece in source.iterdir()) if source.is_dir() else []
    goals = [entry.parent / _ASSETS / piece.name for piece in pieces]
    there = next((goal for goal in (entry, *goals) if goal.exists()), None)
    if there is not None and not overwrite:
        raise OutputError("there is a file already", hint="--overwrite replaces it", where=Where(str(there)))
    for piece, goal in zip(pieces, goals, strict=True):
        write_atomic(goal, piece.read_bytes())
    return write_atomic(entry, file.read_bytes())


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
