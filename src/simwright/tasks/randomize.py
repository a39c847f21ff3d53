# SPDX-License-Identifier: Apache-2.0
"""Domain randomisation: what varies from episode to episode beyond the task's own layout.

Everything is drawn from a stream of its own that the episode's seed starts, so that what the scene draws for a seed
stays what it is without it; offsets are added to that.  Factors count against the nominal values, never against the
last ones.
"""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator, Field

from simwright.core.documents.expressions import Number
from simwright.core.documents.record import Record, refuse
from simwright.core.math3d import Array, quat_from_axis_angle, quat_multiply
from simwright.engines.mujoco.queries import SLIDE, MjModel, update_constants
from simwright.tasks.compose import Composed
from simwright.tasks.reading import complete_pose
from simwright.tasks.scene import Layout, TaskScene

# tells this stream of random numbers from that of the layout
_STREAM = 0x51A7


def _check_range(value: tuple[float, float]) -> tuple[float, float]:
    if not 0.0 < value[0] <= value[1]:
        raise refuse(f"a range of factors is low, high with 0 < low <= high, not {value[0]:g}, {value[1]:g}")
    return value


Factor = Annotated[tuple[Number, Number], AfterValidator(_check_range)]
Offset = Annotated[Number, Field(ge=0)]


class Randomize(Record):
    """What varies, and how much.  Factors are drawn evenly from ``[low, high]``; offsets evenly within ``+-value``."""

    position: Offset = Field(0.0, description="of objects, fixtures and marks, along x and y [m]")
    yaw_deg: Offset = Field(0.0, description="of objects and fixtures, about z [deg]")
    mass: Factor | None = Field(None, description="factor of the masses of the task's objects")
    friction: Factor | None = Field(None, description="factor of the friction of the task's geoms")
    light: Factor | None = Field(None, description="factor of the brightness of lamps")
    light_position: Offset = Field(0.0, description="of lamps [m]")
    camera_position: Offset = Field(0.0, description="of the task's cameras [m]")
    camera_angle_deg: Offset = Field(0.0, description="of the task's cameras, about each axis [deg]")
    camera_fovy: Factor | None = Field(None, description="factor of the cameras' field of view")
    joints: Offset = Field(0.0, description="of the robot's joints at the start [rad or m]")
    robot_mass: Factor | None = Field(
        None, description="factor of the masses of the robot's links, each its own"
    )
    gains: Factor | None = Field(
        None, description="factor of the gains of the robot's actuators, each its own"
    )

    @property
    def changes_model(self) -> bool:
        """Does physics differ from world to world?"""
        return any(value is not None for value in (self.mass, self.friction, self.robot_mass, self.gains))


class Randomizer:
    """Applies a :class:`Randomize` block to models of one scene."""

    def __init__(self, options: Randomize, scene: TaskScene, composed: Composed) -> None:
        self.options, self.scene, self.composed = options, scene, composed
        model = composed.model
        self._nominal: dict[str, Any] = {
            name: np.array(getattr(model, name))
            for name in (
                "body_mass",
                "body_inertia",
                "geom_friction",
                "light_diffuse",
                "light_pos",
                "cam_pos",
                "cam_quat",
                "cam_fovy",
                "actuator_gainprm",
                "actuator_biasprm",
            )
        }
        last = composed.robot_nbody
        bodies = np.arange(model.nbody)
        self._things = bodies[(bodies > last) & (np.asarray(model.body_mass) > 0.0)]
        self._links = bodies[(bodies >= 1) & (bodies <= last)]
        owners = np.asarray(model.geom_bodyid)
        self._geoms = np.flatnonzero((owners == 0) | (owners > last))
        self._cameras = np.flatnonzero(_is_of_task(np.asarray(model.cam_bodyid), last))
        self._lights = np.flatnonzero(_is_of_task(np.asarray(model.light_bodyid), last))

    def start(self, seed: int) -> np.random.Generator:
        """The stream of an episode."""
        # generators take whole numbers from 0; seeds of episodes may be negative
        return np.random.default_rng([_STREAM, int(seed) & 0xFFFFFFFFFFFFFFFF])

    def change_model(self, rng: np.random.Generator, model: MjModel) -> None:
        """Give a model new masses, friction, lamps, cameras and gains."""
        for step in (self._change_masses, self._change_friction, self._change_lights, self._change_cameras):
            step(rng, model)
        self._change_gains(rng, model)
        if self.options.mass is not None or self.options.robot_mass is not None:
            update_constants(model)

    def shift_layout(self, rng: np.random.Generator, layout: Layout) -> Layout:
        """Where things are, moved a little; heights stay."""
        options, moved = self.options, {}
        if not options.position and not options.yaw_deg:
            return layout
        turned = {*self.scene.objects, *self.scene.fixtures}
        for name, place in layout.items():
            offset, yaw = rng.uniform(-1.0, 1.0, 2), rng.uniform(-1.0, 1.0)
            if name not in turned and name not in self.scene.marks:
                moved[name] = place
                continue
            there = place.copy()
            there[:2] += options.position * offset
            if name in turned and options.yaw_deg:
                there = complete_pose(there)
                turn = quat_from_axis_angle((0.0, 0.0, 1.0), math.radians(options.yaw_deg) * yaw)
                there[3:] = quat_multiply(turn, there[3:])
            moved[name] = there
        return moved

    def shift_joints(self, rng: np.random.Generator, model: MjModel, qpos: Array) -> bool:
        """Move the robot's single joints, within their limits; tells whether there was anything to do."""
        if not self.options.joints:
            return False
        for joint in range(model.njnt):
            address = int(model.jnt_qposadr[joint])
            if address >= self.composed.robot_nq or model.jnt_type[joint] < SLIDE:
                continue
            value = qpos[address] + rng.uniform(-self.options.joints, self.options.joints)
            if model.jnt_limited[joint]:
                value = np.clip(value, *model.jnt_range[joint])
            qpos[address] = value
        return True

    def _change_masses(self, rng: np.random.Generator, model: MjModel) -> None:
        for bodies, factor in ((self._things, self.options.mass), (self._links, self.options.robot_mass)):
            if factor is None:
                continue
            drawn = rng.uniform(*factor, len(bodies))
            model.body_mass[bodies] = self._nominal["body_mass"][bodies] * drawn
            model.body_inertia[bodies] = self._nominal["body_inertia"][bodies] * drawn[:, None]

    def _change_friction(self, rng: np.random.Generator, model: MjModel) -> None:
        if self.options.friction is not None:
            drawn = rng.uniform(*self.options.friction, len(self._geoms))
            model.geom_friction[self._geoms] = self._nominal["geom_friction"][self._geoms] * drawn[:, None]

    def _change_lights(self, rng: np.random.Generator, model: MjModel) -> None:
        options, count = self.options, len(self._lights)
        if options.light is not None:
            drawn = rng.uniform(*options.light, count)
            bright = self._nominal["light_diffuse"][self._lights] * drawn[:, None]
            model.light_diffuse[self._lights] = np.clip(bright, 0.0, 1.0)
        if options.light_position:
            offset = rng.uniform(-1.0, 1.0, (count, 3)) * options.light_position
            model.light_pos[self._lights] = self._nominal["light_pos"][self._lights] + offset

    def _change_cameras(self, rng: np.random.Generator, model: MjModel) -> None:
        options, count = self.options, len(self._cameras)
        if options.camera_position:
            offset = rng.uniform(-1.0, 1.0, (count, 3)) * options.camera_position
            model.cam_pos[self._cameras] = self._nominal["cam_pos"][self._cameras] + offset
        if options.camera_angle_deg:
            angles = rng.uniform(-1.0, 1.0, (count, 3)) * math.radians(options.camera_angle_deg)
            for camera, turn in zip(self._cameras, angles, strict=True):
                quat = self._nominal["cam_quat"][camera]
                for axis, angle in zip(np.eye(3), turn, strict=True):
                    quat = quat_multiply(quat, quat_from_axis_angle(axis, float(angle)))
                model.cam_quat[camera] = quat
        if options.camera_fovy is not None:
            drawn = rng.uniform(*options.camera_fovy, count)
            model.cam_fovy[self._cameras] = np.clip(
                self._nominal["cam_fovy"][self._cameras] * drawn, 1.0, 170.0
            )

    def _change_gains(self, rng: np.random.Generator, model: MjModel) -> None:
        if self.options.gains is None:
            return
        count = self.composed.robot_nu
        drawn = rng.uniform(*self.options.gains, count)[:, None]
        model.actuator_gainprm[:count] = self._nominal["actuator_gainprm"][:count] * drawn
        model.actuator_biasprm[:count] = self._nominal["actuator_biasprm"][:count] * drawn


def _is_of_task(bodies: npt.NDArray[Any], last: int) -> npt.NDArray[np.bool_]:
    return np.asarray((bodies == 0) | (bodies > last))
