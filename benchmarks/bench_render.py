# SPDX-License-Identifier: Apache-2.0
"""Pictures: what the studio adds to MuJoCo's own drawing of the same scene, which is the floor.

MuJoCo has to draw more lamps, shadows, floor and sky than a plain ``mujoco.Renderer`` of the file draws; of software
drawing they are most of the time (shadows alone nearly half of it).  So the limits are against MuJoCo drawing the very
scene of the picture, once for a film and twenty times for a still.  What a plain ``mujoco.Renderer`` takes, without
all that, is a row to read, without a limit.  Framing is measured against drawing: it looks at every moment of a
film before the first picture.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import simwright
from benchmarks.measure import Result, cpu_times, growth
from simwright.app.rendering import find_positions
from simwright.engines.mujoco.framing import CameraWish
from simwright.engines.mujoco.painter import WorldPainter
from simwright.engines.mujoco.renderer import choose_graphics
from simwright.engines.mujoco.studio import StudioLook

SAMPLES = Path(__file__).resolve().parents[1] / "samples" / "simwright_samples"
ASSETS = Path(__file__).resolve().parents[2] / "shared" / "assets" / "mjcf"
SHARED = ("unitree_h1/h1.xml", "shadow_hand/right_hand.xml")
SIZE = (1280, 720)
STUDIO = 1.15
"""Most CPU time of a picture, as a multiple of MuJoCo drawing the same scene as often."""
PASSES = 20
"""Drawings of which a still is the mean."""
FRAMING = 0.1
"""Most CPU time of looking at a moment before it is drawn, as a share of drawing it."""
REPEAT = 5
MOMENTS = (10, 40, 160)


def run() -> Iterator[Result | str]:
    """Rows for a sample, and for robots with many triangles where they are."""
    choose_graphics()
    files = [SAMPLES / "arm" / "urdf" / "arm.urdf"]
    files += [path for path in (ASSETS / name for name in SHARED) if path.exists()]
    for file in files:
        yield from measure_robot(file)


def draw_scene(painter: WorldPainter) -> None:
    """Let MuJoCo draw the scene that the last picture was drawn from, and read its pixels: the least that it takes."""
    assert painter._studio is not None
    painter._studio._canvas.render()


def measure_robot(file: Path) -> Iterator[Result | str]:
    """A picture of a film, a still, and the framing of a film."""
    import mujoco

    asset = simwright.load(file)
    painter = WorldPainter(asset)
    start = find_positions(asset, painter.layout)
    painter.place(start[None])
    plan = painter.plan(CameraWish(), SIZE[0] / SIZE[1])
    (camera,) = plan.cameras

    plain = WorldPainter(asset)
    plain.place(start[None])
    model, data = plain.model, plain._data[0]
    model.vis.global_.offwidth, model.vis.global_.offheight = SIZE
    by_hand = mujoco.Renderer(model, SIZE[1], SIZE[0])
    view = mujoco.MjvCamera()
    view.azimuth, view.elevation, view.distance = camera.azimuth, camera.elevation, 0.7 * camera.distance
    view.lookat[:] = camera.lookat

    def draw_plain() -> None:
        by_hand.update_scene(data, view)
        by_hand.render()

    painter.open(plan, SIZE)
    ours, floor, bare = cpu_times(
        [lambda: painter.draw(camera), lambda: draw_scene(painter), draw_plain], REPEAT
    )
    painter.close()
    yield Result(f"{file.stem}: a picture of a film", ours, "MuJoCo, same scene", floor, STUDIO)
    yield Result(f"{file.stem}: a picture of a film", ours, "mujoco.Renderer, no shadows", bare, None)
    painter.open(plan, SIZE, StudioLook(passes=PASSES))
    still, floor = cpu_times([lambda: painter.draw(camera), lambda: draw_scene(painter)], 3)
    painter.close()
    yield Result(f"{file.stem}: a still", still, f"MuJoCo, same scene {PASSES} times", PASSES * floor, STUDIO)
    by_hand.close()

    def frame(number: int) -> None:
        painter.plan_film(lambda _: painter.place(start[None]), number, CameraWish(), SIZE[0] / SIZE[1], 30.0)

    times = [cpu_times([lambda count=count: frame(count)], REPEAT)[0] for count in MOMENTS]
    yield Result(f"{file.stem}: framing a moment", times[-1] / MOMENTS[-1], "drawing it", ours, FRAMING)
    yield f"{file.stem}: framing {growth(MOMENTS, times)} moments"
