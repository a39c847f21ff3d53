# SPDX-License-Identifier: Apache-2.0
"""Cameras of a compiled model as pictures, without a window, and MuJoCo's own window."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Collection

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import UsageError
from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.mujoco.coordinates import CoordinateMap
from simwright.engines.mujoco.queries import MjData, MjModel
from simwright.formats.mjcf.memory import compile_asset
from simwright.model.asset import Asset

Picture = npt.NDArray[np.uint8]
_VARIABLE = "MUJOCO_GL"
MOST_WORLDS = 64
"""Worlds that are drawn at most: the first ones."""
_SHARED_GROUP = 5
_FIELD_OF_VIEW = 45.0
_AZIMUTH, _ELEVATION = 125.0, -22.0


class ModelRenderer:
    """Draws cameras of one model."""

    def __init__(self, model: MjModel, width: int, height: int) -> None:
        choose_graphics()
        import mujoco

        # the frame buffer has to be large enough, whatever the file says
        model.vis.global_.offwidth = max(int(model.vis.global_.offwidth), width)
        model.vis.global_.offheight = max(int(model.vis.global_.offheight), height)
        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except Exception as error:  # noqa: BLE001 - graphics fail in ways of their own
            raise UsageError(
                f"MuJoCo cannot draw here: {error}",
                hint=f"set {_VARIABLE} to egl or osmesa, and install that library",
            ) from None

    def render(self, data: MjData, camera: str) -> Picture:
        """What a camera sees (height x width x 3)."""
        self._renderer.update_scene(data, camera=camera)
        return np.array(self._renderer.render(), dtype=np.uint8)

    def render_depth(self, data: MjData, camera: str) -> npt.NDArray[np.float32]:
        """How far away what a camera sees is, along its axis [m] (height x width)."""
        self._renderer.update_scene(data, camera=camera)
        self._renderer.enable_depth_rendering()
        try:
            return np.array(self._renderer.render(), dtype=np.float32)
        finally:
            self._renderer.disable_depth_rendering()

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()


def choose_graphics() -> None:
    """Draw without a screen where there is none and nobody has chosen otherwise."""
    headless = sys.platform.startswith("linux") and not os.environ.get("DISPLAY")
    if not headless or os.environ.get(_VARIABLE):
        return
    # hardware or software, without a screen; the user's own choice is left alone
    os.environ[_VARIABLE] = "egl"
    if "mujoco" not in sys.modules:
        return
    # MuJoCo has chosen when it was imported: let its renderer have the other context
    try:
        context = importlib.import_module("mujoco.egl").GLContext
    except Exception:  # noqa: BLE001 - no such library here: the renderer will say so
        return
    for name in ("mujoco.rendering.classic.gl_context", "mujoco.gl_context"):
        if name in sys.modules:
            sys.modules[name].GLContext = context  # type: ignore[attr-defined]


class WorldPainter:
    """Draws worlds of an asset that stand at ``offsets`` (worlds x 3) [m].

    The camera sees a box from ``lower`` to ``upper`` [m] as a whole.  ``shared`` names shapes that are drawn once, at
    the first world's place at the origin, as the ground of all worlds.
    """

    def __init__(
        self,
        asset: Asset,
        offsets: Array,
        size: tuple[int, int],
        box: tuple[Array, Array],
        shared: Collection[str] = (),
    ) -> None:
        import mujoco

        compiled = compile_asset(asset, Reporter())
        self._mj = compiled.model
        self._map = CoordinateMap(Layout(asset), compiled.names, self._mj)
        self._offsets = np.asarray(offsets, dtype=np.float64)[:MOST_WORLDS]
        common = [self._mj.geom(name).id for shape in shared for name in compiled.names.geoms.get(shape, ())]
        if len(self._offsets) > 1:
            self._mj.geom_group[common] = _SHARED_GROUP
        # assets without lights of their own would be black
        self._mj.vis.headlight.ambient[:] = 0.45
        self._mj.vis.headlight.diffuse[:] = 0.55
        self._mj.vis.headlight.specular[:] = 0.1
        width, height = size
        self._mj.vis.global_.offwidth, self._mj.vis.global_.offheight = width, height
        self._mj.vis.global_.fovy = _FIELD_OF_VIEW
        lower, upper = box
        reach = float(np.linalg.norm(upper - lower)) / 2 + 0.05
        self._mj.stat.extent = max(2.0 * reach, 0.1)
        self._mj.stat.center = (lower + upper) / 2
        # the default of 10,000 is too few for many worlds
        geoms = int(self._mj.ngeom) * len(self._offsets) + 1000
        try:
            self._renderer = mujoco.Renderer(self._mj, height, width, max_geom=geoms)
        except Exception as error:  # noqa: BLE001 - graphics fail in ways of their own
            raise UsageError(
                f"MuJoCo cannot draw here: {error}",
                hint="set MUJOCO_GL to egl or osmesa, and install that library",
            ) from None
        self._data = [mujoco.MjData(self._mj) for _ in self._offsets]
        self._camera = mujoco.MjvCamera()
        self._camera.type = mujoco.mjtCamera.mjCAMERA_FREE
        self._camera.lookat[:] = (lower + upper) / 2
        self._camera.distance = find_distance(upper - lower, width / height)
        self._camera.azimuth, self._camera.elevation = _AZIMUTH, _ELEVATION
        self._options, self._others = mujoco.MjvOption(), mujoco.MjvOption()
        # colliders that are only touched are in group 3: what is seen is shown
        for options in (self._options, self._others):
            options.geomgroup[:] = (1, 1, 1, 0, 1, 1)
        self._others.geomgroup[_SHARED_GROUP] = 0

    def paint(self, positions: Array) -> npt.NDArray[np.uint8]:
        """One picture (height x width x 3) of all worlds at positions (worlds x nq) of the layout."""
        self._show(positions)
        return np.array(self._renderer.render(), dtype=np.uint8)

    def find_drawn(self, positions: Array) -> npt.NDArray[np.bool_]:
        """Where in that picture (height x width) anything is drawn at all."""
        self._renderer.enable_segmentation_rendering()
        try:
            self._show(positions)
            # the number of the geom, less than zero where there is none
            return np.array(self._renderer.render()[..., 0] >= 0)
        finally:
            self._renderer.disable_segmentation_rendering()

    def _show(self, positions: Array) -> None:
        """Put all worlds into the scene."""
        import mujoco

        shown = len(self._data)
        qpos = self._map.to_engine(positions[:shown], np.zeros((shown, self._map.width)))[0]
        for data, row, offset in zip(self._data, qpos, self._offsets, strict=True):
            self._place(data, row, offset)
        scene = self._renderer.scene
        self._renderer.update_scene(self._data[0], camera=self._camera, scene_option=self._options)
        nothing = mujoco.MjvPerturb()
        for data in self._data[1:]:
            mujoco.mjv_addGeoms(self._mj, data, self._others, nothing, int(mujoco.mjtCatBit.mjCAT_ALL), scene)

    def _place(self, data: MjData, qpos: Array, offset: Array) -> None:
        import mujoco

        data.qpos[:] = qpos
        mujoco.mj_kinematics(self._mj, data)
        mujoco.mj_camlight(self._mj, data)
        # MuJoCo draws one model: other worlds are its geoms, moved
        moved = self._mj.geom_group != _SHARED_GROUP
        data.geom_xpos[moved] += offset

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()


def find_distance(size: Array, ratio: float) -> float:
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
    # how far away each corner has to be to stay inside of the picture
    high = np.abs(corners @ up) / slope - corners @ ahead
    wide = np.abs(corners @ right) / (slope * ratio) - corners @ ahead
    return float(max(high.max(), wide.max(), 0.1))
