# SPDX-License-Identifier: Apache-2.0
"""Cameras of a compiled model as pictures, without a window, and MuJoCo's own window."""

from __future__ import annotations

import ctypes.util
import importlib
import os
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.core.errors import UsageError
from simwright.engines.mujoco.queries import MjData, MjModel

Picture = npt.NDArray[np.uint8]
_VARIABLE = "MUJOCO_GL"
_CONTEXTS = ("mujoco.rendering.classic.gl_context", "mujoco.gl_context")
_INSTALL = (
    "install EGL (on Debian or Ubuntu: apt install libegl1 libgl1-mesa-dri), "
    "or OSMesa (apt install libosmesa6) and set MUJOCO_GL=osmesa"
)


class ModelRenderer:
    """Draws cameras of one model."""

    def __init__(self, model: MjModel, width: int, height: int) -> None:
        # the frame buffer has to be large enough, whatever the file says
        model.vis.global_.offwidth = max(int(model.vis.global_.offwidth), width)
        model.vis.global_.offheight = max(int(model.vis.global_.offheight), height)
        choose_graphics()
        import mujoco

        try:
            self._renderer = mujoco.Renderer(model, height, width)
        except Exception as error:  # noqa: BLE001 - graphics fail in ways of their own
            raise _miss_graphics(error) from None

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


def _miss_graphics(error: Exception) -> UsageError:
    return UsageError(
        f"there is no offscreen OpenGL that MuJoCo can draw with: {_first_line(error)}", hint=_INSTALL
    )


def _first_line(error: Exception) -> str:
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)


class Canvas:
    """A picture buffer with the meshes and images of a model, and the scene that is drawn into it."""

    def __init__(self, model: MjModel, width: int, height: int, most: int) -> None:
        choose_graphics()
        import mujoco

        self._gl: Any = None
        self.context: Any = None
        try:
            self._gl = _find_graphics()(width, height)
            self._gl.make_current()
            self.context = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        except Exception as error:  # noqa: BLE001 - graphics fail in ways of their own
            self.close()
            raise _miss_graphics(error) from None
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, self.context)
        self.scene = mujoco.MjvScene(model, maxgeom=most)
        self._rectangle = mujoco.MjrRect(0, 0, width, height)

    def render(self) -> Picture:
        """The scene as it is now (height x width x 3)."""
        import mujoco

        rectangle = self._rectangle
        pixels = np.empty((rectangle.height, rectangle.width, 3), dtype=np.uint8)
        self._gl.make_current()
        mujoco.mjr_render(rectangle, self.scene, self.context)
        mujoco.mjr_readPixels(pixels, None, rectangle, self.context)
        return pixels[::-1]

    def segment(self) -> npt.NDArray[np.int32]:
        """Which geom of the scene is at each pixel (height x width), less than zero where there is none."""
        import mujoco

        scene = self.scene
        kept = np.array(scene.flags)
        scene.flags[mujoco.mjtRndFlag.mjRND_SEGMENT] = scene.flags[mujoco.mjtRndFlag.mjRND_IDCOLOR] = 1
        try:
            parts = self.render().astype(np.int32)
        finally:
            scene.flags[:] = kept
        numbers = parts[..., 0] + 256 * parts[..., 1] + 65536 * parts[..., 2]
        # numbers of the scene, of which zero is none
        found = np.full(scene.ngeom + 1, -1, dtype=np.int32)
        for place, geom in enumerate(scene.geoms[: scene.ngeom]):
            if geom.segid >= 0:
                found[geom.segid + 1] = place
        return np.asarray(found[numbers], dtype=np.int32)

    def close(self) -> None:
        """Give the graphics back."""
        if self._gl is not None:
            self._gl.make_current()
        if self.context is not None:
            self.context.free()
        if self._gl is not None:
            self._gl.free()
        self._gl = self.context = None


def _find_graphics() -> Any:
    """The class of MuJoCo's offscreen contexts."""
    for name in _CONTEXTS:
        try:
            return importlib.import_module(name).GLContext
        except ModuleNotFoundError:
            continue
    raise ImportError("this MuJoCo has no offscreen contexts")


def choose_graphics() -> None:
    """Draw without a screen where there is none and nobody has chosen otherwise."""
    headless = sys.platform.startswith("linux") and not os.environ.get("DISPLAY")
    if not headless or os.environ.get(_VARIABLE):
        return
    # hardware or software, without a screen; the user's own choice is left alone
    name = "egl" if ctypes.util.find_library("EGL") or not ctypes.util.find_library("OSMesa") else "osmesa"
    os.environ[_VARIABLE] = name
    if "mujoco" not in sys.modules:
        return
    # MuJoCo has chosen when it was imported: let its renderer have the other context
    try:
        context = importlib.import_module(f"mujoco.{name}").GLContext
    except Exception:  # noqa: BLE001 - no such library here: the renderer will say so
        return
    for module in _CONTEXTS:
        if module in sys.modules:
            sys.modules[module].GLContext = context  # type: ignore[attr-defined]
