# SPDX-License-Identifier: Apache-2.0
"""A robot that is ready to be put into a task: its file, what its manifest says, and what was inferred.

``open_robot`` takes what ``--robot`` takes: the id of a manifest, ``menagerie:NAME`` and other addresses, a
``robot.yaml``, any robot file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from simwright.core.diag import Diagnostic, Reporter, Where, sort_diagnostics
from simwright.core.documents.validate import InvalidDocumentError, make_problem
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
from simwright.tasks.inference import Facts, infer_facts, measure_reach
from simwright.tasks.manifest import FrameEntry, RobotManifest
from simwright.tasks.manifest_review import review_gripper, review_manifest
from simwright.tasks.specs import SpecSource, compile_spec, find_uri_key, open_robot_file

__all__ = ["TOOL", "Robot", "open_entry", "open_robot"]

_ABOVE = 0.05
"""A tool that is no farther out than this is above the base [m]."""
_YAML = (".yaml", ".yml", ".json")
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
    cameras: tuple[str, ...] = ()
    """Cameras on it: those of its file and those of its manifest."""
    amendment: Amendment | None = field(default=None, repr=False)
    _forward: float | None = field(default=None, repr=False)

    def amend(self, spec: Any) -> None:
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
    if text.startswith(SCHEMES):
        file = resolve_address(text, Path.cwd(), packages=packages)
        return _open_file(file, text, None, packages, reporter)
    if path.suffix.lower() in _YAML and (path.is_file() or "/" in text):
        return open_entry(open_manifest(path), packages=packages, reporter=reporter)
    if path.is_file() or "/" in text or path.suffix:
        return _open_file(path, path.stem, None, packages, reporter)
    return open_entry(find_robot(text), packages=packages, reporter=reporter)


def open_entry(
    entry: CatalogEntry, *, packages: PackageMap | None = None, reporter: Reporter | None = None
) -> Robot:
    """A robot of the catalog."""
    file = entry.find_asset(packages)
    said, meant = next(iter(entry.manifest.sim.list_uris())), find_uri_key(file)
    if said != meant:
        where = entry.document.find_where("sim", said, key=True)
        _refuse([make_problem(where, f"{said} names a file of another format", f"did you mean {meant!r}?")])
    return _open_file(file, entry.manifest.id, entry, packages, reporter)


def _open_file(
    file: Path, name: str, entry: CatalogEntry | None, packages: PackageMap | None, reporter: Reporter | None
) -> Robot:
    source = open_robot_file(file, packages=packages, reporter=reporter)
    where = Where(str(file))
    manifest = entry.manifest if entry is not None else None
    spec = source.make_spec()
    if not len(spec.worldbody.bodies):
        raise InputError("the file has no body, so there is no robot in it", where=where)
    plain = compile_spec(spec, "the robot", where)
    if entry is not None:
        _refuse(review_manifest(entry.manifest, entry.document, plain))
    facts = infer_facts(plain, says_base=detect_format(file).name not in _UNSAID)
    fixed = not facts.is_floating
    if manifest is not None and manifest.base is not None:
        fixed = manifest.base == "fixed"
    origin = _find_origin(plain, manifest) if fixed else IDENTITY
    amendment = Amendment(
        where, fixed, manifest, entry.document if entry else None, measure_sites(plain), origin
    )
    spec = source.make_spec()
    amendment.apply(spec)
    model = compile_spec(spec, "the robot", where)
    if entry is not None:
        names = [model.actuator(index).name for index in range(model.nu)]
        _refuse(review_gripper(entry.manifest, entry.document, names))
    kind = manifest.kind if manifest is not None else None
    facts = infer_facts(model, says_base=True, kind=kind or facts.kind)
    amendment.tool = tool = _choose_tool(model, facts, manifest)
    if tool is not None and manifest is not None and manifest.end_effector is not None:
        facts = replace(facts, reach=_measure_tool(model, tool, amendment))
    cameras = tuple(model.camera(index).name for index in range(model.ncam))
    return Robot(name, file, source, facts, manifest, amendment.servos, tool, cameras, amendment)


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


def _choose_tool(model: MjModel, facts: Facts, manifest: RobotManifest | None) -> FrameEntry | None:
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
    if robot.tool is None or robot.facts.is_floating:
        return 0.0
    composed = compose_scene(robot.source, lambda spec: None, amend_robot=robot.amend)  # noqa: ARG005 - no task
    home = find_home(composed, keyframe=robot.keyframe, joints=robot.home_joints)
    x, y, _ = pose_bodies(composed.model, home.qpos).site_xpos[find_site(composed.model, PREFIX + TOOL)]
    return math.atan2(y, x) if math.hypot(x, y) > _ABOVE else 0.0
