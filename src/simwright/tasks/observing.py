# SPDX-License-Identifier: Apache-2.0
"""What is observed: which parts, as single precision, flat or by name, with pictures of cameras where asked for."""

from __future__ import annotations

from typing import Any

import numpy as np
from pydantic import Field

from simwright.core.documents.record import Record
from simwright.core.errors import UnknownNameError
from simwright.tasks.compose import PREFIX
from simwright.tasks.pictures import Painter
from simwright.tasks.rollout import Observation, SimRollout

ROBOT_KEYS = ("qpos", "qvel", "tool")


class ObserveOptions(Record):
    """Which parts of an observation are wanted."""

    joints: bool = Field(True, description="positions and velocities of the robot's joints")
    tool: bool = Field(True, description="pose of the tool: position, quaternion w, x, y, z")
    objects: bool = Field(True, description="poses of the task's objects, fixtures and marks")
    cameras: list[str] = Field(default_factory=list, description="cameras whose pictures are wanted")
    width: int = Field(128, ge=8, le=4096, description="of pictures [pixels]")
    height: int = Field(128, ge=8, le=4096, description="of pictures [pixels]")
    flat: bool = Field(False, description="one vector of everything but pictures, under 'state'")


class Observer:
    """Chooses and shapes observations of a rollout."""

    def __init__(self, rollout: SimRollout, options: ObserveOptions) -> None:
        self.rollout, self.options = rollout, options
        self._painter: Painter | None = None
        known = [rollout.model.camera(index).name for index in range(rollout.model.ncam)]
        for name in options.cameras:
            if name not in known and PREFIX + name not in known:
                raise UnknownNameError("camera", name, [one.removeprefix(PREFIX) for one in known])
        self._cameras = {name: name if name in known else PREFIX + name for name in options.cameras}

    def choose(self, observation: Observation) -> dict[str, Any]:
        """The wanted parts but for pictures, of one world or of many, as float32."""
        wanted: dict[str, Any] = {}
        for key, value in observation.items():
            if self._wants(key):
                # coordinates of single joints get an axis of their own, behind that of the worlds
                full = np.asarray(value)[..., None] if key in self.rollout.scene.joints else np.asarray(value)
                wanted[key] = full.astype(np.float32)
        if not self.options.flat:
            return wanted
        return {"state": np.concatenate(list(wanted.values()), axis=-1)} if wanted else {}

    def _wants(self, key: str) -> bool:
        if key in ("qpos", "qvel"):
            return self.options.joints
        return self.options.tool if key == "tool" else self.options.objects

    def paint(self) -> dict[str, Any]:
        """Pictures (height x width x 3, uint8) of the wanted cameras, by name."""
        if not self._cameras:
            return {}
        if self._painter is None:
            self._painter = Painter(self.rollout.model, self.options.width, self.options.height)
        return {key: self._painter.paint(self.rollout.data, name) for key, name in self._cameras.items()}

    def read(self, observation: Observation) -> dict[str, Any]:
        """Everything that is wanted."""
        return {**self.choose(observation), **self.paint()}

    def close(self) -> None:
        """Give the graphics back."""
        if self._painter is not None:
            self._painter.close()
            self._painter = None
