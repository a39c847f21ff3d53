# SPDX-License-Identifier: Apache-2.0
"""Pictures of all worlds of a model, drawn by MuJoCo without a window, whichever engine moved them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.engines.mujoco.build import build_model
from simwright.engines.mujoco.coordinates import CoordinateMap
from simwright.runtime.arrays import AnyArray
from simwright.runtime.kinds import JointType
from simwright.runtime.model import Model
from simwright.runtime.rotation import conjugate, rotate

MOST_WORLDS = 64
"""Worlds that are drawn at most: the first ones."""
_SHARED_GROUP = 5
_FIELD_OF_VIEW = 45.0
_AZIMUTH, _ELEVATION = 125.0, -22.0


class WorldPainter:
    """Draws states of a model; the camera sees a box from ``lower`` to ``upper`` [m] as a whole."""

    def __init__(self, model: Model, size: tuple[int, int], lower: AnyArray, upper: AnyArray) -> None:
        import mujoco

        self._model = model
        built = build_model(model, 0.002, visuals=True, reporter=Reporter())
        self._mj, self._map = built.mj, CoordinateMap(built)
        self._one = built.world
        self._shown = min(model.world_count, MOST_WORLDS)
        shared = [mj_id for shape in range(built.world.local_shapes, len(built.world.shape_type))
                  if (mj_id := mujoco.mj_name2id(self._mj, mujoco.mjtObj.mjOBJ_GEOM, f"g{shape}")) >= 0]  # fmt: skip
        self._mj.geom_group[shared] = _SHARED_GROUP
        self._light()
        self._color(shared)
        width, height = size
        self._mj.vis.global_.offwidth, self._mj.vis.global_.offheight = width, height
        self._mj.vis.global_.fovy = _FIELD_OF_VIEW
        reach = float(np.linalg.norm(upper - lower)) / 2 + 0.05
        self._mj.stat.extent = max(2.0 * reach, 0.1)
        self._mj.stat.center = (lower + upper) / 2
        geoms = int(self._mj.ngeom) * self._shown + 1000
        try:
            self._renderer = mujoco.Renderer(self._mj, height, width, max_geom=geoms)
        except Exception as error:  # noqa: BLE001 - graphics fail in ways of their own
            raise UsageError(
                f"MuJoCo cannot draw here: {error}",
                hint="set MUJOCO_GL to egl or osmesa, and install that library",
            ) from None
        self._data = [mujoco.MjData(self._mj) for _ in range(self._shown)]
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        self._camera.lookat[:] = (lower + upper) / 2
        self._camera.distance = find_distance(upper - lower, width / height)
        self._camera.azimuth, self._camera.elevation = _AZIMUTH, _ELEVATION
        self._options, self._others = mujoco.MjvOption(), mujoco.MjvOption()
        for options in (self._options, self._others):
            options.geomgroup[:] = (1, 1, 1, 0, 1, 1)
        self._others.geomgroup[_SHARED_GROUP] = 0

    def _light(self) -> None:
        self._mj.vis.headlight.ambient[:] = 0.45
        self._mj.vis.headlight.diffuse[:] = 0.55
        self._mj.vis.headlight.specular[:] = 0.1

    def _color(self, shared: list[int]) -> None:
        """A ground without a colour of its own is a calm one."""
        for geom in shared:
            self._mj.geom_rgba[geom] = (0.78, 0.8, 0.82, 1.0)

    def paint(self, joint_q: AnyArray) -> npt.NDArray[np.uint8]:
        """One picture (height x width x 3) of all worlds at coordinates ``joint_q``."""
        import mujoco

        for world, data in enumerate(self._data):
            self._place(world, data, joint_q)
        scene = self._renderer.scene
        self._renderer.update_scene(self._data[0], camera=self._camera, scene_option=self._options)
        nothing = mujoco.MjvPerturb()
        for data in self._data[1:]:
            mujoco.mjv_addGeoms(self._mj, data, self._others, nothing, int(mujoco.mjtCatBit.mjCAT_ALL), scene)
        return np.array(self._renderer.render(), dtype=np.uint8)

    def _place(self, world: int, data: Any, joint_q: AnyArray) -> None:
        import mujoco

        rows = self._model.rows_of("joint_coord", world)
        q = joint_q[rows].astype(np.float64)[None].copy()
        offset = self._model.world_offset[world].astype(np.float64)
        for joint in range(self._one.joint_count):
            floats = self._one.joint_type[joint] in (JointType.FREE, JointType.DISTANCE)
            if floats and self._one.joint_parent[joint] < 0:
                start = int(self._one.joint_q_start[joint])
                q[0, start : start + 3] -= rotate(conjugate(self._one.joint_X_p[joint, 3:]), offset)
        qd = np.zeros((1, self._model.per_world["joint_dof"]))
        data.qpos[:] = self._map.to_engine(q, qd)[0][0]
        mujoco.mj_kinematics(self._mj, data)
        mujoco.mj_camlight(self._mj, data)
        moved = self._mj.geom_group != _SHARED_GROUP
        data.geom_xpos[moved] += offset

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()


def find_distance(size: AnyArray, ratio: float) -> float:
    """How far the camera has to be from the middle of a box to see all its corners [m]; ``ratio`` is width / height."""
    azimuth, elevation = np.radians((_AZIMUTH, _ELEVATION))
    ahead = np.array(
        (np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation))
    )
    right = np.cross(ahead, (0.0, 0.0, 1.0))
    right /= np.linalg.norm(right)
    up = np.cross(right, ahead)
    corners = np.array([(x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)]) * size
    slope = np.tan(np.radians(_FIELD_OF_VIEW / 2)) * 0.95
    high = np.abs(corners @ up) / slope - corners @ ahead
    wide = np.abs(corners @ right) / (slope * ratio) - corners @ ahead
    return float(max(high.max(), wide.max(), 0.1))
