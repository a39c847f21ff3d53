# SPDX-License-Identifier: Apache-2.0
"""What is observed: which parts, as single precision, flat or by name, with pictures of cameras where asked for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from pydantic import Field

from simwright.core.documents.record import Record
from simwright.core.errors import UnknownNameError
from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import FREE, SLIDE, MjData, MjModel
from simwright.engines.mujoco.renderer import ModelRenderer
from simwright.tasks.compose import PREFIX
from simwright.tasks.rollout import Observation, SimRollout
from simwright.tasks.terms import Term

Bounds = tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]

# no place and no free joint is farther from zero [m or rad]
_FAR = 1000.0
# above any speed of a robot that has not broken down [m/s, rad/s]
_FAST = 1000.0
# how far joints may leave their limits, which are soft [rad or m]
_SLACK = 0.1


class ObserveOptions(Record):
    """Which parts of an observation are wanted."""

    joints: bool = Field(True, description="positions and velocities of the robot's joints")
    tool: bool = Field(True, description="pose of the tool: position, quaternion w, x, y, z")
    objects: bool = Field(True, description="poses of the task's objects, fixtures and marks")
    terms: list[Term] = Field(
        default_factory=list, description="names of terms, or {NAME: places}: {offset: [tool, cube]}"
    )
    cameras: list[str] = Field(default_factory=list, description="cameras whose pictures are wanted")
    width: int = Field(128, ge=8, le=4096, description="of pictures [pixels]")
    height: int = Field(128, ge=8, le=4096, description="of pictures [pixels]")
    flat: bool = Field(
        False, description="one vector of everything but pictures; with cameras it is called 'state'"
    )


class Observer:
    """Chooses and shapes observations of a rollout."""

    def __init__(self, rollout: SimRollout, options: ObserveOptions) -> None:
        self.rollout, self.options = rollout, options
        rollout.add_terms(options.terms)
        self._terms = {chosen.key: chosen.term for chosen in rollout.terms}
        self._renderer: ModelRenderer | None = None
        self._cameras = {name: find_camera(rollout.model, name) for name in options.cameras}
        self._bounds: dict[str, Bounds] = {}

    def choose(self, observation: Observation) -> dict[str, Any]:
        """The wanted parts but for pictures, of one world or of many, as float32."""
        wanted: dict[str, Any] = {}
        for key, value in observation.items():
            if self._wants(key):
                # coordinates of single joints get an axis of their own, behind that of the worlds
                full = np.asarray(value)[..., None] if key in self.rollout.scene.joints else np.asarray(value)
                wanted[key] = np.clip(full.astype(np.float32), *self._find_bounds(key, full.shape[-1]))
        if not self.options.flat:
            return wanted
        return {"state": np.concatenate(list(wanted.values()), axis=-1)} if wanted else {}

    def bound(self) -> dict[str, Bounds]:
        """Least and largest values of the parts but for pictures: limits of joints, and generous numbers elsewhere."""
        chosen = self.choose(self.rollout.reset(seed=0))
        if not self.options.flat:
            return {key: self._find_bounds(key, value.shape[-1]) for key, value in chosen.items()}
        lows = [low for key, (low, _) in self._bounds.items() if self._wants(key)]
        highs = [high for key, (_, high) in self._bounds.items() if self._wants(key)]
        return {"state": (np.concatenate(lows), np.concatenate(highs))} if lows else {}

    def _find_bounds(self, key: str, size: int) -> Bounds:
        if key not in self._bounds:
            if key in self._terms:
                low, high = np.full(size, self._terms[key].low), np.full(size, self._terms[key].high)
            elif key == "qpos":
                low, high = _bound_joints(self.rollout.model, size)
            else:
                low, high = _bound_other(key, size)
            self._bounds[key] = (low.astype(np.float32), high.astype(np.float32))
        return self._bounds[key]

    def _wants(self, key: str) -> bool:
        if key in self._terms:
            return True
        if key in ("qpos", "qvel"):
            return self.options.joints
        return self.options.tool if key == "tool" or key.startswith("tool_") else self.options.objects

    def paint(self) -> dict[str, Any]:
        """Pictures (height x width x 3, uint8) of the wanted cameras, by name."""
        if not self._cameras:
            return {}
        renderer = self._open_renderer()
        return {key: renderer.render(self.rollout.data, name) for key, name in self._cameras.items()}

    def paint_worlds(self, pose: Callable[[int], MjData], count: int) -> dict[str, Any]:
        """Pictures of the wanted cameras (worlds x height x width x 3); ``pose`` gives the data of a world."""
        if not self._cameras:
            return {}
        renderer, options = self._open_renderer(), self.options
        shape = (count, options.height, options.width, 3)
        found = {key: np.empty(shape, dtype=np.uint8) for key in self._cameras}
        for world in range(count):
            # one context draws all worlds: meshes and images are in graphics memory once
            data = pose(world)
            for key, name in self._cameras.items():
                found[key][world] = renderer.render(data, name)
        return found

    def _open_renderer(self) -> ModelRenderer:
        if self._renderer is None:
            self._renderer = ModelRenderer(self.rollout.model, self.options.width, self.options.height)
        return self._renderer

    def read(self, observation: Observation) -> Any:
        """Everything that is wanted, in the form of :attr:`is_vector`."""
        return self.shape({**self.choose(observation), **self.paint()})

    @property
    def is_vector(self) -> bool:
        """Is an observation one vector, not a mapping?"""
        return self.options.flat and not self.options.cameras

    def shape(self, chosen: dict[str, Any]) -> Any:
        """What was chosen as it is given to the user: the vector itself where there is nothing beside it."""
        return chosen["state"] if self.is_vector and "state" in chosen else chosen

    def close(self) -> None:
        """Give the graphics back."""
        if self._renderer is not None:
            self._renderer.close()
            self._renderer = None


def find_camera(model: MjModel, name: str) -> str:
    """The camera of a name, of the task or of the robot, as the model calls it."""
    known = [model.camera(index).name for index in range(model.ncam)]
    for candidate in (name, PREFIX + name):
        if candidate in known:
            return candidate
    raise UnknownNameError("camera", name, [one.removeprefix(PREFIX) for one in known])


def _bound_other(key: str, size: int) -> tuple[Array, Array]:
    """Speeds, or a place with or without a quaternion."""
    wide = np.full(size, _FAST if key == "qvel" else _FAR)
    if key != "qvel" and size == 7:
        wide[3:] = 1.0
    return -wide, wide


def _bound_joints(model: MjModel, size: int) -> tuple[Array, Array]:
    low, high = np.full(size, -_FAR), np.full(size, _FAR)
    for joint in range(model.njnt):
        first, kind = int(model.jnt_qposadr[joint]), int(model.jnt_type[joint])
        if first >= size:
            break
        if kind < SLIDE:
            turn = slice(first + 3, first + 7) if kind == FREE else slice(first, first + 4)
            low[turn], high[turn] = -1.0, 1.0
        elif model.jnt_limited[joint]:
            least, most = model.jnt_range[joint]
            low[first], high[first] = least - _SLACK, most + _SLACK
    return low, high
