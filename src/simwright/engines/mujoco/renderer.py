# SPDX-License-Identifier: Apache-2.0
"""Cameras of a compiled model as pictures, without a window, and MuJoCo's own window."""

from __future__ import annotations

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

    def close(self) -> None:
        """Give the graphics back."""
        self._renderer.close()


def choose_graphics() -> None:
    """Draw without a screen where there is none and nobody has chosen otherwise."""
    headless = sys.platform.startswith("linux") and not os.environ.get("DISPLAY")
    if not headless or os.environ.get(_VARIABLE):
        return
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


def open_window(model: MjModel, data: MjData) -> Any:
    """MuJoCo's passive window on a model: ``sync()`` shows what ``data`` has, ``is_running()``, ``close()``."""
    import mujoco.viewer

    try:
        return mujoco.viewer.launch_passive(model, data, show_left_ui=False, show_right_ui=False)
    except Exception as error:  # noqa: BLE001 - windows fail in ways of their own
        raise UsageError(f"MuJoCo cannot open a window: {error}") from None
