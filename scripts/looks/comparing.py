# SPDX-License-Identifier: Apache-2.0
"""Do a robot in MuJoCo and the GLB made of it have the same colours?

Both are drawn without light: MuJoCo with a headlight that is nothing but ambient, the GLB by Blender (see
``blender.py``).  Only pixels that show the robot in both pictures count, away from outlines, where the two draw edges
differently.
"""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

SIZE = (640, 480)
_MARGIN = 2
"""Pixels that are left out along outlines."""
_SMALLEST = 60
"""Pixels of a region that is too small to be judged by itself."""

Picture = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """What MuJoCo shows: the picture, the geom at each pixel (-1 for none), and from where."""

    picture: Picture
    geoms: npt.NDArray[Any]
    names: list[str]
    camera: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """Differences of 8-bit colour values: mean over all pixels that count, and of the mean colour of each geom."""

    mean: float
    worst: float
    regions: dict[str, float]
    share: float
    """Part of the pixels of the robot that both pictures show."""


def draw_source(file: Path, azimuth: float = 140.0, elevation: float = -25.0) -> View:
    """What MuJoCo's own renderer makes of an MJCF file, without light."""
    os.environ.setdefault("MUJOCO_GL", "osmesa")
    import mujoco

    spec = mujoco.MjSpec.from_file(str(file))
    spec.visual.global_.offwidth, spec.visual.global_.offheight = SIZE
    spec.visual.quality.offsamples = 4
    model: Any = spec.compile()
    model.vis.headlight.ambient[:], model.vis.headlight.active = 1.0, 1
    model.vis.headlight.diffuse[:] = model.vis.headlight.specular[:] = 0.0
    if model.nlight:
        model.light_active[:] = 0
    if model.nmat:
        model.mat_emission[:] = model.mat_reflectance[:] = 0.0
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = _frame(mujoco, model, data, azimuth, elevation)
    with mujoco.Renderer(model, SIZE[1], SIZE[0]) as renderer:
        for flag in ("SHADOW", "REFLECTION", "SKYBOX", "HAZE", "FOG"):
            renderer.scene.flags[getattr(mujoco.mjtRndFlag, f"mjRND_{flag}")] = 0
        renderer.update_scene(data, camera)
        picture = renderer.render()
        eyes = renderer.scene.camera
        where = {
            "position": np.mean([eye.pos for eye in eyes], axis=0).tolist(),
            "forward": np.asarray(eyes[0].forward, dtype=float).tolist(),
            "up": np.asarray(eyes[0].up, dtype=float).tolist(),
            "fovy": float(model.vis.global_.fovy),
        }
        renderer.enable_segmentation_rendering()
        renderer.update_scene(data, camera)
        segments = renderer.render()
    geoms = np.where(segments[..., 1] == int(mujoco.mjtObj.mjOBJ_GEOM), segments[..., 0], -1)
    names = [model.geom(index).name or f"geom {index}" for index in range(model.ngeom)]
    return View(picture, geoms, names, where)


def _frame(mujoco: Any, model: Any, data: Any, azimuth: float, elevation: float) -> Any:
    """A camera that sees everything but floors."""
    seen = np.flatnonzero((model.geom_type != int(mujoco.mjtGeom.mjGEOM_PLANE)) & (model.geom_group < 3))
    spheres = data.geom_xpos[seen], model.geom_rbound[seen][:, None]
    low, high = (spheres[0] - spheres[1]).min(axis=0), (spheres[0] + spheres[1]).max(axis=0)
    camera = mujoco.MjvCamera()
    camera.lookat[:] = (low + high) / 2.0
    camera.distance = (
        1.1 * float(np.linalg.norm(high - low)) / 2.0 / np.tan(np.radians(model.vis.global_.fovy) / 2.0)
    )
    camera.azimuth, camera.elevation = azimuth, elevation
    return camera


def draw_copies(python: Path, copies: list[tuple[Path, View, Path]]) -> list[Picture]:
    """Pictures, with alpha, of GLB files from where their sources were seen; each is left at its third path."""
    jobs = [
        {"file": str(file), "picture": str(picture), "size": list(SIZE), **view.camera}
        for file, view, picture in copies
    ]
    with tempfile.TemporaryDirectory() as folder:
        order = Path(folder) / "jobs.json"
        order.write_text(json.dumps(jobs))
        script = Path(__file__).with_name("blender.py")
        done = subprocess.run(
            [str(python), str(script), str(order)], capture_output=True, text=True, check=False
        )
    if done.returncode:
        raise RuntimeError(f"Blender failed:\n{(done.stdout + done.stderr)[-3000:]}")
    return [np.asarray(Image.open(picture).convert("RGBA")) for _, _, picture in copies]


def compare(view: View, copy: Picture) -> Outcome:
    """How far the colours of two pictures are apart."""
    shown = view.geoms >= 0
    both = shown & (copy[..., 3] == 255)
    inner = both & _is_inside(view.geoms)
    gaps = np.abs(view.picture.astype(float) - copy[..., :3].astype(float)).mean(axis=-1)
    regions = {}
    for index in np.unique(view.geoms[inner]):
        part = inner & (view.geoms == index)
        if int(part.sum()) >= _SMALLEST:
            means = [picture[part][:, :3].astype(float).mean(axis=0) for picture in (view.picture, copy)]
            regions[view.names[int(index)]] = float(np.abs(means[0] - means[1]).max())
    return Outcome(
        mean=float(gaps[inner].mean()) if inner.any() else float("inf"),
        worst=max(regions.values(), default=float("inf")),
        regions=regions,
        share=float(both.sum() / max(int(shown.sum()), 1)),
    )


def _is_inside(geoms: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Pixels whose neighbours all show the same geom."""
    inside = np.ones_like(geoms, dtype=bool)
    for down in range(-_MARGIN, _MARGIN + 1):
        for right in range(-_MARGIN, _MARGIN + 1):
            inside &= np.roll(geoms, (down, right), axis=(0, 1)) == geoms
    return inside


def save_pair(view: View, copy: Picture, file: Path) -> None:
    """Both pictures and their difference, side by side."""
    background = np.zeros_like(view.picture)
    alpha = copy[..., 3:].astype(float) / 255.0
    right = (copy[..., :3] * alpha + background * (1.0 - alpha)).astype(np.uint8)
    left = np.where((view.geoms >= 0)[..., None], view.picture, background)
    gap = np.clip(np.abs(left.astype(int) - right.astype(int)) * 3, 0, 255).astype(np.uint8)
    Image.fromarray(np.concatenate((left, right, gap), axis=1)).save(file)


def describe(outcome: Outcome) -> dict[str, Any]:
    """An outcome as plain values."""
    return dataclasses.asdict(outcome)
