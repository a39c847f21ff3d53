# SPDX-License-Identifier: Apache-2.0
"""A robot that is ready to be put into a task: its file, what its manifest says, and what was inferred.

``open_robot`` takes what ``--robot`` takes: the id of a manifest, ``menagerie:NAME`` and other addresses, a
``robot.yaml``, any robot file.  A manifest is held against the file: every name that is not there and every number that
does not fit is a problem with its place in the manifest.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from simwright.core.diag import Diagnostic, Reporter, Where, sort_diagnostics
from simwright.core.documents.tree import Document, Step
from simwright.core.documents.validate import InvalidDocumentError, make_problem, suggest
from simwright.core.errors import InputError
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.packages import PackageMap
from simwright.engines.mujoco.queries import MjModel, find_body, find_site, pose_bodies, read_body
from simwright.formats.table import detect_format
from simwright.tasks.addresses import SCHEMES, resolve_address
from simwright.tasks.amending import TOOL, Amendment, measure_sites
from simwright.tasks.catalog import CatalogEntry, find_robot, open_manifest
from simwright.tasks.compose import PREFIX, compose_scene
from simwright.tasks.home import find_home
from simwright.tasks.inference import RobotFacts, infer_facts, measure_reach
from simwright.tasks.manifest import FrameEntry, GripControls, RobotManifest
from simwright.tasks.specs import MjSpec, SpecSource, compile_spec, find_uri_key, open_robot_file

# a tool that is no farther out than this is above the base [m]
_ABOVE = 0.05
_YAML = (".yaml", ".yml", ".json")
# formats that do not say whether a base floats
_UNSAID = ("urdf",)


@dataclass(slots=True)
class TaskRobot:
    """A robot and what is known about it.

    ``facts`` are those of the amended robot: ids in them are ids in its own compiled model, which are one lower than
    those in a scene only by the frame: bodies, joints and actuators keep their numbers there.
    """

    id: str
    file: Path
    source: SpecSource = field(repr=False)
    facts: RobotFacts
    manifest: RobotManifest | None = None
    servos: int = 0
    """How many servos were added because its file drives nothing."""
    tool: FrameEntry | None = None
    cameras: tuple[str, ...] = ()
    """Cameras on it: those of its file and those of its manifest."""
    amendment: Amendment | None = field(default=None, repr=False)
    _forward: float | None = field(default=None, repr=False)

    def amend(self, spec: MjSpec) -> None:
        """Change a new specification of the robot as the manifest wants: base, joints, actuators, cameras, tool."""
        if self.amendment is not None:
            self.amendment.apply(spec)

    @property
    def forward(self) -> float:
        """The direction in which the tool is, seen from the base, where the robot starts [rad]; 0 where it is above."""
        if self._forward is None:
            self._forward = _measure_forward(self)
        return self._forward

    @property
    def reach(self) -> float:
        """How far the tool gets from the base [m]: as the manifest says, or as measured."""
        return self.manifest.reach if self.manifest and self.manifest.reach else self.facts.reach

    @property
    def speed_limits(self) -> dict[str, float]:
        """Largest speeds of joints by name [rad/s or m/s]: those of its file, and over them those of the manifest."""
        joints = self.manifest.joints if self.manifest else ()
        said = {joint.name: float(joint.velocity) for joint in joints if joint.velocity is not None}
        return {**self.source.speed_limits, **said}

    @property
    def has_gripper(self) -> bool:
        """Is there something that opens and closes?"""
        return self.facts.grip is not None or bool(self.manifest and self.manifest.gripper)

    @property
    def gripper_actuators(self) -> tuple[int, ...]:
        """Numbers of the actuators of the gripper; none without one."""
        if self.manifest is not None and self.manifest.gripper is not None:
            names = self.manifest.gripper.actuators
            return tuple(actuator.index for actuator in self.facts.actuators if actuator.name in names)
        return self.facts.grip.actuators if self.facts.grip is not None else ()

    @property
    def tools(self) -> tuple[str, ...]:
        """Sites of its tools: one, or none."""
        return (TOOL,) if self.tool is not None else ()

    @property
    def tool_names(self) -> tuple[str, ...]:
        """What tools are called where there are several."""
        return ("",) * len(self.tools)

    @property
    def grips(self) -> tuple[GripControls | None, ...]:
        """The gripper of each tool."""
        said = self.manifest.gripper if self.manifest is not None else None
        if said is not None:
            return ((self.gripper_actuators, said.open, said.closed),)
        grip = self.facts.grip
        return (None if grip is None else (grip.actuators, grip.open, grip.closed),)

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
) -> TaskRobot:
    """Find a robot and look at it."""
    text = str(name)
    path = Path(text)
    if text.startswith(SCHEMES):
        file = resolve_address(text, Path.cwd(), packages=packages)
        return _open_file(file, text, None, packages, reporter)
    if path.suffix.lower() in _YAML and (path.is_file() or "/" in text):
        return open_entry(open_manifest(path), packages=packages, reporter=reporter)
    # what looks like a path is one, so that a missing file is not searched for in the catalog
    if path.is_file() or "/" in text or path.suffix:
        return _open_file(path, path.stem, None, packages, reporter)
    return open_entry(find_robot(text), packages=packages, reporter=reporter)


def open_entry(
    entry: CatalogEntry, *, packages: PackageMap | None = None, reporter: Reporter | None = None
) -> TaskRobot:
    """A robot of the catalog."""
    file = entry.find_asset(packages)
    said, meant = next(iter(entry.manifest.sim.list_uris())), find_uri_key(file)
    if said != meant:
        where = entry.document.find_where("sim", said, key=True)
        _refuse([make_problem(where, f"{said} names a file of another format", f"did you mean {meant!r}?")])
    return _open_file(file, entry.manifest.id, entry, packages, reporter)


def _open_file(
    file: Path, name: str, entry: CatalogEntry | None, packages: PackageMap | None, reporter: Reporter | None
) -> TaskRobot:
    source = open_robot_file(file, packages=packages, reporter=reporter)
    manifest = entry.manifest if entry is not None else None
    amendment, plain = _plan_amendment(file, source, entry)
    spec = source.make_spec()
    amendment.apply(spec)
    model = compile_spec(spec, "the robot", amendment.where)
    if entry is not None:
        names = [model.actuator(index).name for index in range(model.nu)]
        _refuse(review_gripper(entry.manifest, entry.document, names))
    kind = manifest.kind if manifest is not None else None
    facts = infer_facts(model, says_base=True, kind=kind or plain.kind)
    # known only now: the tool is looked for in the amended robot, whose next specifications get a site there
    amendment.tool = tool = _choose_tool(model, facts, manifest)
    if tool is not None and manifest is not None and manifest.end_effector is not None:
        facts = replace(facts, reach=_measure_tool(model, tool, amendment))
    cameras = tuple(model.camera(index).name for index in range(model.ncam))
    return TaskRobot(name, file, source, facts, manifest, amendment.servos, tool, cameras, amendment)


def _plan_amendment(
    file: Path, source: SpecSource, entry: CatalogEntry | None
) -> tuple[Amendment, RobotFacts]:
    """What is changed of a robot, and what its file alone tells; a manifest that does not fit the file is refused."""
    where = Where(str(file))
    spec = source.make_spec()
    if not len(spec.worldbody.bodies):
        raise InputError("the file has no body, so there is no robot in it", where=where)
    plain = compile_spec(spec, "the robot", where)
    manifest, document = (None, None) if entry is None else (entry.manifest, entry.document)
    if entry is not None:
        _refuse(review_manifest(entry.manifest, entry.document, plain))
    facts = infer_facts(plain, says_base=detect_format(file).name not in _UNSAID)
    fixed = not facts.is_floating
    if manifest is not None and manifest.base is not None:
        fixed = manifest.base == "fixed"
    origin = _find_origin(plain, manifest) if fixed else IDENTITY
    return Amendment(where, fixed, manifest, document, measure_sites(plain), origin), facts


def _measure_tool(model: MjModel, tool: FrameEntry, amendment: Amendment) -> float:
    """How far a tool that somebody chose gets."""
    pose, body = Pose.of(tool.position, tool.rotation), find_body(model, tool.frame)
    if body < 0:
        site = model.site(tool.frame)
        pose, body = amendment.sites[tool.frame] @ pose, int(site.bodyid[0])
    return measure_reach(model, body, pose.p)


def _refuse(problems: list[Diagnostic]) -> None:
    if problems:
        raise InvalidDocumentError(sort_diagnostics(problems), what="robot manifest")


def _find_origin(model: MjModel, manifest: RobotManifest | None) -> Pose:
    """Where the base frame is in the robot's file: that place is put at the base pose."""
    if manifest is None or not manifest.base_frame:
        return IDENTITY
    data = pose_bodies(model, model.qpos0)
    body = find_body(model, manifest.base_frame)
    if body >= 0:
        return read_body(data, body)
    site = model.site(manifest.base_frame).id
    return read_body(data, int(model.site_bodyid[site])) @ Pose.of(
        model.site_pos[site], model.site_quat[site]
    )


def _choose_tool(model: MjModel, facts: RobotFacts, manifest: RobotManifest | None) -> FrameEntry | None:
    """The manifest's, else a site that is called like a tool, else between the fingers, else the last body."""
    if manifest is not None and manifest.end_effector is not None:
        return manifest.end_effector
    if facts.tool_site >= 0:
        return FrameEntry.model_validate({"frame": model.site(facts.tool_site).name})
    name = model.body(facts.tool).name
    if not name:
        return None
    return FrameEntry.model_validate({"frame": name, "position": facts.tool_offset})


def _measure_forward(robot: TaskRobot) -> float:
    if robot.tool is None or robot.facts.is_floating:
        return 0.0
    composed = compose_scene(robot.source, lambda spec: None, amend_robot=robot.amend)  # noqa: ARG005 - no task
    home = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints)
    x, y, _ = pose_bodies(composed.model, home.qpos).site_xpos[find_site(composed.model, PREFIX + TOOL)]
    return math.atan2(y, x) if math.hypot(x, y) > _ABOVE else 0.0


_SLACK = 1e-6


def review_manifest(manifest: RobotManifest, document: Document, model: MjModel) -> list[Diagnostic]:
    """What is wrong, judged by the robot as its file has it (``model``, compiled alone)."""
    return _ManifestReview(manifest, document, model).run()


def review_gripper(manifest: RobotManifest, document: Document, actuators: Sequence[str]) -> list[Diagnostic]:
    """The same of the gripper, judged by the actuators that the robot has in the end."""
    return [
        _make_unknown(document, "actuator", name, actuators, "gripper", "actuators", number)
        for number, name in enumerate(manifest.gripper.actuators if manifest.gripper else ())
        if name not in actuators
    ]


class _ManifestReview:
    def __init__(self, manifest: RobotManifest, document: Document, model: MjModel) -> None:
        self.manifest, self.document, self.model = manifest, document, model
        self.joints = {name: i for i in range(model.njnt) if (name := model.joint(i).name)}
        self.bodies = {name: i for i in range(1, model.nbody) if (name := model.body(i).name)}
        self.sites = {name: i for i in range(model.nsite) if (name := model.site(i).name)}
        self.found: list[Diagnostic] = []

    def run(self) -> list[Diagnostic]:
        self._review_joints()
        for name in self.manifest.sim.actuators:
            if name not in self.joints:
                self._miss("joint", name, list(self.joints), "sim", "actuators", name, key=True)
            elif self.model.jnt_type[self.joints[name]] < 2:
                self._say(
                    f"the joint {name!r} has more than one axis, so it cannot be driven",
                    "sim",
                    "actuators",
                    name,
                )
        self._review_frames()
        self._review_cameras()
        keys = [self.model.key(i).name for i in range(self.model.nkey)]
        if self.manifest.sim.keyframe and self.manifest.sim.keyframe not in keys:
            self._miss("keyframe", self.manifest.sim.keyframe, keys, "sim", "keyframe")
        return self.found

    def _review_joints(self) -> None:
        for number, said in enumerate(self.manifest.joints):
            if said.name not in self.joints:
                self._miss("joint", said.name, list(self.joints), "joints", number, "name")
                continue
            joint = self.joints[said.name]
            if self.model.jnt_type[joint] < 2:
                self._say(f"the joint {said.name!r} has more than one axis", "joints", number, "name")
                continue
            low, high = (float(v) for v in self.model.jnt_range[joint])
            limited = bool(self.model.jnt_limited[joint])
            lower = said.lower if said.lower is not None else low if limited else -float("inf")
            upper = said.upper if said.upper is not None else high if limited else float("inf")
            if lower >= upper:
                self._say(f"the limits of {said.name!r} would be {lower:g} .. {upper:g}", "joints", number)
            elif said.home is not None and not lower - _SLACK <= said.home <= upper + _SLACK:
                limits = f"{lower:.6g} .. {upper:.6g}"
                message = f"{said.name!r} cannot start at {said.home:g}: its limits are {limits}"
                self._say(message, "joints", number, "home")

    def _review_frames(self) -> None:
        manifest, frames = self.manifest, [*self.bodies, *self.sites]
        if manifest.end_effector is not None and manifest.end_effector.frame not in frames:
            self._miss("body or site", manifest.end_effector.frame, frames, "end_effector", "frame")
        name = manifest.base_frame
        if not name:
            return
        if name not in frames:
            self._miss("body or site", name, frames, "base_frame")
            return
        body = self.bodies[name] if name in self.bodies else int(self.model.site_bodyid[self.sites[name]])
        welded = int(self.model.body_weldid[body])
        # bodies that are welded to the root stand still on it
        if welded and self.model.body_parentid[welded]:
            self._say(f"the frame {name!r} moves on the robot, so it cannot be its base", "base_frame")

    def _review_cameras(self) -> None:
        frames = [*self.bodies, *self.sites]
        there = [self.model.camera(i).name for i in range(self.model.ncam)]
        for number, camera in enumerate(self.manifest.cameras):
            if camera.frame not in frames:
                self._miss("body or site", camera.frame, frames, "cameras", number, "frame")
            if camera.name in there:
                self._say(f"the robot's file has a camera {camera.name!r} already", "cameras", number, "name")

    def _miss(self, what: str, name: str, known: Sequence[str], *path: Step, key: bool = False) -> None:
        self.found.append(_make_unknown(self.document, what, name, known, *path, key=key))

    def _say(self, message: str, *path: Step) -> None:
        self.found.append(make_problem(self.document.find_where(*path), message))


def _make_unknown(
    document: Document, what: str, name: str, known: Sequence[str], *path: Step, key: bool = False
) -> Diagnostic:
    where = document.find_where(*path, key=key)
    return make_problem(where, f"the robot has no {what} {name!r}", suggest(name, list(known)))
