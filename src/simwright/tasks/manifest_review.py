# SPDX-License-Identifier: Apache-2.0
"""Holding a manifest against the robot's file: every name that is not there, every number that does not fit.

Each problem has the place in the manifest and the nearest name that is there.
"""

from __future__ import annotations

from collections.abc import Sequence

from simwright.core.diag import Diagnostic
from simwright.core.documents.tree import Document, Step
from simwright.core.documents.validate import make_problem, suggest
from simwright.engines.mujoco.queries import MjModel
from simwright.tasks.manifest import RobotManifest

_SLACK = 1e-6


def review_manifest(manifest: RobotManifest, document: Document, model: MjModel) -> list[Diagnostic]:
    """What is wrong, judged by the robot as its file has it (``model``, compiled alone)."""
    return _Review(manifest, document, model).run()


def review_gripper(manifest: RobotManifest, document: Document, actuators: Sequence[str]) -> list[Diagnostic]:
    """The same of the gripper, judged by the actuators that the robot has in the end."""
    return [
        _unknown(document, "actuator", name, actuators, "gripper", "actuators", number)
        for number, name in enumerate(manifest.gripper.actuators if manifest.gripper else ())
        if name not in actuators
    ]


class _Review:
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
        self.found.append(_unknown(self.document, what, name, known, *path, key=key))

    def _say(self, message: str, *path: Step) -> None:
        self.found.append(make_problem(self.document.find_where(*path), message))


def _unknown(
    document: Document, what: str, name: str, known: Sequence[str], *path: Step, key: bool = False
) -> Diagnostic:
    where = document.find_where(*path, key=key)
    return make_problem(where, f"the robot has no {what} {name!r}", suggest(name, list(known)))
