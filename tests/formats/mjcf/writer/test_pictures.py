"""Pictures: the source, what is written from it, and what comes back through OpenUSD look the same."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import simwright

SCRIPT = """
import sys
import mujoco, numpy
pictures = []
for path in sys.argv[2:]:
    model = mujoco.MjModel.from_xml_path(path)
    model.vis.headlight.ambient[:] = 0.4
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    camera = mujoco.MjvCamera()
    camera.lookat[:], camera.distance, camera.azimuth, camera.elevation = (0, 0, 0.4), 1.6, 140, -20
    renderer = mujoco.Renderer(model, 180, 240)
    renderer.update_scene(data, camera)
    pictures.append(renderer.render().copy())
    renderer.close()
numpy.save(sys.argv[1], numpy.array(pictures))
"""


def draw(paths: list[Path], folder: Path) -> np.ndarray:
    """Pictures of models, drawn by a process of its own: MuJoCo chooses its graphics when it is imported."""
    result = folder / "pictures.npy"
    command = [sys.executable, "-c", SCRIPT, str(result), *map(str, paths)]
    for graphics in ("egl", "osmesa"):
        environment = {**os.environ, "MUJOCO_GL": graphics}
        subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=False, timeout=120)
        if result.exists():
            return np.load(result).astype(int)
    pytest.skip("MuJoCo finds neither EGL nor OSMesa to draw with")


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["franka_emika_panda/panda", "skydio_x2/x2"])
def test_looks_the_same(name, shared_assets, tmp_path):
    source = shared_assets / "mjcf" / f"{name}.xml"
    direct = simwright.convert(source, tmp_path / "direct" / "robot.xml")
    stage = simwright.convert(source, tmp_path / "usd" / "robot.usda")
    back = simwright.convert(stage, tmp_path / "back" / "robot.xml")
    first, second, third = draw([source, direct, back], tmp_path)
    shown = first.max(axis=2) > 0
    assert 0.01 < shown.mean() < 0.9  # there is a robot in the picture
    assert np.abs(first - second).max() <= 2
    assert np.abs(first - third)[shown].mean() < 2.0
    assert (shown != (third.max(axis=2) > 0)).mean() < 0.005
