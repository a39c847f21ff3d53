# SPDX-License-Identifier: Apache-2.0
"""Around what is shown: a floor, light, and a camera that has all of it in the picture."""

from __future__ import annotations

import io
import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array
from simwright.view.drawing import AssetDrawing

_FOV = math.radians(40.0)
FROM_FRONT = (0.8, 0.95, 0.5)
"""From the front left and above."""
FROM_ABOVE = (0.15, -0.75, 1.4)
"""As a plan is looked at."""


_PANEL = 340.0
"""Width of the panel of controls on a wide page [pixels]; viser 1.0 has it on the right, over the scene."""
_SHEET = 0.6
"""Part of the height that the same panel covers on a narrow page, at its lower end."""
_NOTICE = 0.02
"""Part of the height that is left free above."""
_MOST_PLACES, _MOST_SHADED = 1000, 100_000
"""Things, and triangles of meshes, with more of which nothing casts a shadow."""
_SKY = 2.0
_FROM = (0.75, -0.35, 0.9)
"""Where the sky is: above, and to the left of the first camera, so that what stands upright has a light side."""


def light(server: Any, drawings: Sequence[AssetDrawing], *, again: bool = False) -> None:
    """Light for what is drawn, with no more work for the browser than it needs; ``again`` where there was light before.

    Only metal needs a room around it to mirror, and making one ready takes a browser without a GPU about eight seconds.
    Shadows have everything drawn four times.
    """
    scene = server.scene
    is_much = (
        sum(one.places for one in drawings) > _MOST_PLACES
        or sum(one.drawn for one in drawings) > _MOST_SHADED
        or any(one.drawn < one.triangles for one in drawings)
    )
    scene.configure_default_lights(enabled=True, cast_shadow=not is_much)
    if any(one.shines for one in drawings):
        if again:
            scene.configure_environment_map("city")
        return
    scene.configure_environment_map(None)
    scene.add_light_hemisphere(
        "/sky",
        sky_color=(255, 255, 255),
        ground_color=(150, 150, 155),
        intensity=_SKY,
        wxyz=_find_turn(_FROM),
    )


def _find_turn(direction: tuple[float, float, float]) -> tuple[float, float, float, float]:
    """The quaternion (w, x, y, z) that turns the Y axis, along which the sky of a browser is, to a direction."""
    x, y, z = np.array(direction) / np.linalg.norm(direction)
    turn = np.array((1.0 + y, z, 0.0, -x))
    w, i, j, k = (turn / np.linalg.norm(turn)).tolist()
    return w, i, j, k


def dress(server: Any, lower: Array, upper: Array, toward: tuple[float, float, float] | None = None) -> None:
    """Floor and the first camera, for things between two corners [m], seen from the side of ``toward``."""
    scene = server.scene
    size = float(np.max(upper - lower))
    cell = 10.0 ** math.floor(math.log10(size)) / 2
    scene.add_grid(
        "/floor", infinite_grid=True, cell_size=cell, section_size=10 * cell, plane="xy",
        fade_distance=12 * size, fade_from="camera", cell_color=(205, 208, 212), section_color=(165, 170, 178),
        plane_color=(236, 238, 241), plane_opacity=1.0, shadow_opacity=0.25,
        position=(0.0, 0.0, min(0.0, float(lower[2])) - 1e-3 * size),
    )  # fmt: skip
    side = toward or choose_side(lower, upper)
    frame(server.initial_camera, lower, upper, side, (1280.0, 800.0))
    # how large the page is, only the browser can tell
    server.on_client_connect(lambda client: _frame_again(client, lower, upper, side))
    server.initial_camera.near, server.initial_camera.far = 0.002 * size, 200.0 * size


def choose_side(lower: Array, upper: Array) -> tuple[float, float, float]:
    """From where to look: into a building from above, since its walls would hide what is in it, else at the front."""
    width, depth, height = (upper - lower).tolist()
    return FROM_ABOVE if min(width, depth) > max(2.0 * height, 3.0) else FROM_FRONT


def frame(
    camera: Any, lower: Array, upper: Array, toward: tuple[float, float, float], page: tuple[float, float]
) -> None:
    """Turn a camera such that a box fills what the panel leaves of a page [pixels]."""
    width, height = page
    left, right, low, high = _find_free(width, height)
    back = np.array(toward) / np.linalg.norm(toward)
    across = np.cross((0.0, 0.0, 1.0), back)
    across /= np.linalg.norm(across)
    axes = np.stack([across, np.cross(back, across), back])
    corners = np.array(list(itertools.product(*zip(lower, upper, strict=True)))) @ axes.T
    tangent = math.tan(_FOV / 2)
    slopes = np.array(((left, right), (low, high))) * tangent
    slopes[0] *= width / height
    # an eye at (a, t) sees a corner at (x, z) between two borders if s0 (t - z) <= x - a <= s1 (t - z), so
    # a + s0 t <= least and a + s1 t >= most
    least = [np.min(corners[:, i] + slopes[i, 0] * corners[:, 2]) for i in (0, 1)]
    most = [np.max(corners[:, i] + slopes[i, 1] * corners[:, 2]) for i in (0, 1)]
    distance = max((most[i] - least[i]) / (slopes[i, 1] - slopes[i, 0]) for i in (0, 1))
    beside = [(least[i] + most[i] - (slopes[i, 0] + slopes[i, 1]) * distance) / 2 for i in (0, 1)]
    camera.fov = _FOV
    camera.position = tuple((np.array((*beside, distance)) @ axes).tolist())
    camera.look_at = tuple((np.array((*beside, np.mean(corners[:, 2]))) @ axes).tolist())


def _frame_again(client: Any, lower: Array, upper: Array, toward: tuple[float, float, float]) -> None:
    """Fit the camera of a person to the size of their page."""
    page = float(client.camera.image_width), float(client.camera.image_height)
    if min(page) > 0.0:
        frame(client.camera, lower, upper, toward, page)


def _find_free(width: float, height: float) -> tuple[float, float, float, float]:
    """What the panel leaves free: left, right, low and high, from -1 to 1."""
    if width < height:
        return -0.94, 0.94, 2.0 * _SHEET - 1.0 + 0.04, 1.0 - 2.0 * _NOTICE
    # the same on both sides, so that turning the view turns about the middle of what is shown
    side = max(0.3, 1.0 - 2.0 * (_PANEL + 20.0) / width)
    return -side, side, -0.9, 0.9


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
