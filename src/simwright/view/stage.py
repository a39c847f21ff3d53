# SPDX-License-Identifier: Apache-2.0
"""Around what is shown: a floor, light, and a camera that has all of it in the picture."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np

from simwright.core.math3d import Array

_FOV = math.radians(40.0)
FROM_FRONT = (0.8, 0.95, 0.5)
"""From the front left and above."""
FROM_ABOVE = (0.15, -0.75, 1.4)
"""As a plan is looked at."""


def dress(server: Any, lower: Array, upper: Array, toward: tuple[float, float, float] = FROM_FRONT) -> None:
    """Floor, light and the first camera, for things between two corners [m], seen from the side of ``toward``."""
    scene = server.scene
    size = float(np.max(upper - lower))
    cell = 10.0 ** math.floor(math.log10(size)) / 2
    middle = (lower + upper) / 2
    scene.add_grid(
        "/floor", infinite_grid=True, cell_size=cell, section_size=10 * cell, plane="xy",
        fade_distance=12 * size, fade_from="camera", cell_color=(205, 208, 212), section_color=(165, 170, 178),
        plane_color=(236, 238, 241), plane_opacity=1.0, shadow_opacity=0.25,
        position=(0.0, 0.0, min(0.0, float(lower[2])) - 1e-3 * size),
    )  # fmt: skip
    scene.configure_default_lights(enabled=True, cast_shadow=True)
    frame(server.initial_camera, middle, float(np.linalg.norm(upper - lower)) / 2, toward)
    server.on_client_connect(lambda client: _step_back(client, middle, upper - lower, toward))
    server.initial_camera.near, server.initial_camera.far = 0.002 * size, 200.0 * size


def frame(camera: Any, middle: Array, radius: float, toward: tuple[float, float, float]) -> None:
    """Turn a camera to what is in a ball."""
    distance = 1.15 * radius / math.sin(_FOV / 2)
    camera.fov = _FOV
    camera.position = tuple(
        float(value) for value in middle + distance * np.array(toward) / np.linalg.norm(toward)
    )
    camera.look_at = tuple(float(value) for value in middle)


def _step_back(client: Any, middle: Array, size: Array, toward: tuple[float, float, float]) -> None:
    """On a screen that is higher than wide, such as a phone's: further away, and higher, above the panel."""
    aspect = float(client.camera.aspect)
    if aspect < 1.0:
        radius = float(np.linalg.norm(size)) / 2 / max(aspect, 0.2)
        frame(client.camera, middle - np.array((0.0, 0.0, 0.7 * radius)), radius, toward)


def save_picture(client: Any) -> None:
    """What a person sees, as a file that their browser saves."""
    if client is not None:
        camera = client.camera
        width = 1600
        height = max(400, min(2400, round(width / max(camera.aspect, 0.2))))
        client.send_file_download(
            "view.png", encode_png(np.asarray(client.get_render(height=height, width=width)))
        )


def encode_png(pixels: Array) -> bytes:
    """A picture (height x width x 3 or 4) as PNG."""
    from PIL import Image

    stream = io.BytesIO()
    Image.fromarray(pixels.astype(np.uint8)).save(stream, "PNG")
    return stream.getvalue()
