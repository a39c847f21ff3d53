# SPDX-License-Identifier: Apache-2.0
"""Pictures and turning films of everything that is read: robots, scenes, worlds and tasks, without a screen."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.app.api import load
from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.files import write_atomic
from simwright.core.math3d import Array
from simwright.engines.films import encode_png, import_video, open_film
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.mujoco.framing import CameraPlan, CameraWish, StudioCamera
from simwright.engines.mujoco.painter import SHOWS, ModelPainter, WorldPainter
from simwright.engines.mujoco.studio import StudioLook
from simwright.model.asset import Asset
from simwright.view.configuration import Configuration

ENDINGS = (".png", ".gif", ".mp4")
SIZE = (1280, 800)
_PASSES = 20
"""How many times a still is drawn and averaged."""
_MOST_PIXELS = 8192
_SECONDS = 4.0
_RATES = {".gif": 15.0, ".mp4": 30.0}
_TASK = re.compile(rb"^task\s*:", re.MULTILINE)
_HEAD = 65_536
_YAML = (".yaml", ".yml")
VERSION = 1


@dataclass(frozen=True, slots=True)
class RenderResult:
    """A picture or film that was written.

    ``camera`` is that of the first picture: the name of a camera of the file, or azimuth, elevation [degrees],
    distance [m] and the point it looks at.
    """

    path: Path
    size: tuple[int, int]
    frames: int
    camera: StudioCamera
    findings: tuple[Any, ...] = field(default=(), repr=False)

    def __fspath__(self) -> str:
        return str(self.path)

    def describe(self) -> dict[str, Any]:
        """The result as a JSON-ready dictionary."""
        camera = self.camera
        told = (
            {"name": camera.name}
            if camera.name
            else {
                "azimuth": round(camera.azimuth, 3), "elevation": round(camera.elevation, 3),
                "distance": round(camera.distance, 6), "lookat": [round(v, 6) for v in camera.lookat],
            }
        )  # fmt: skip
        return {
            "version": VERSION,
            "file": str(self.path),
            "width": self.size[0],
            "height": self.size[1],
            "frames": self.frames,
            "camera": told,
        }


def render(
    source: str | os.PathLike[str] | Asset,
    target: str | os.PathLike[str] | None = None,
    *,
    size: tuple[int, int] = SIZE,
    camera: str | CameraWish = "",
    q: Mapping[str, float] | None = None,
    keyframe: str = "",
    turntable: bool = False,
    seconds: float = _SECONDS,
    fps: float | None = None,
    show: str = "visual",
    floor: bool = True,
    transparent: bool = False,
    robot: str = "",
    reporter: Reporter | None = None,
    progress: Callable[[str, int, int], None] | None = None,
    **reading: Any,
) -> npt.NDArray[np.uint8] | RenderResult:
    """A picture of an asset or file: an array (height x width x 3, x 4 if transparent), or the file ``target``.

    ``target`` ends in ``.png``, ``.gif`` or ``.mp4``; films show it from all around within ``seconds``.  ``camera`` is
    the name of a camera of the file, or ``azimuth,elevation[,distance]`` as MuJoCo has them [degrees, m]; without it,
    all there is fills the picture, from the front left.  ``q`` are joint coordinates [rad or m]: mimics follow,
    loops close; ``keyframe`` is a named state of the file.  ``show`` is ``visual`` or ``collision``.  ``source`` may
    be an environment file or, with ``robot``, the name of a task.  ``reading`` is for :func:`simwright.load`.
    """
    # one function: wishes are checked before anything is read, then read, framed and drawn in this order
    reporter = Reporter() if reporter is None else reporter
    path = None if target is None else Path(target)
    _check_wishes(size, show, seconds, fps)
    _check_target(path, turntable=turntable, transparent=transparent)
    wish = camera if isinstance(camera, CameraWish) else read_camera(camera)
    rate, turns = _count_turns(path, seconds, fps)
    if not isinstance(source, Asset) and _is_task(source, robot):
        if q or keyframe or show != "visual":
            raise UsageError(
                "a task is drawn as an episode begins", hint="leave --q, --keyframe and --show out"
            )
        painter, wish = _prepare_task(os.fspath(source), robot, wish)
    else:
        asset = source if isinstance(source, Asset) else load(source, reporter=reporter, **reading)
        painter, wish = _prepare(asset, wish, show, q or {}, keyframe)
    look = StudioLook(
        floor=floor and not transparent, sky=not transparent, hulls=show == "collision",
        sites=not isinstance(painter, WorldPainter), passes=1 if turns else _PASSES,
    )  # fmt: skip
    plan = painter.plan(wish, size[0] / size[1], turns)
    with contextlib.closing(painter):
        painter.open(plan, size, look)
        if path is None:
            return painter.draw(plan.cameras[0])
        if turns:
            _write_film(path, painter, plan, rate, progress)
        else:
            write_atomic(path, encode_png(painter.draw(plan.cameras[0])))
    return RenderResult(path, size, len(plan.cameras), plan.cameras[0], tuple(reporter))


def _count_turns(path: Path | None, seconds: float, fps: float | None) -> tuple[float, int]:
    """Pictures in a second, and how many of them; none where it is not a film."""
    rate = fps or _RATES.get("" if path is None else path.suffix.lower(), 0.0)
    is_film = path is not None and path.suffix.lower() in _RATES
    return rate, max(2, round(seconds * rate)) if is_film else 0


def _write_film(
    path: Path,
    painter: ModelPainter,
    plan: CameraPlan,
    rate: float,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    film = open_film(path, rate)
    try:
        for number, camera in enumerate(plan.cameras):
            film.add(painter.draw(camera))
            if progress is not None:
                progress("pictures", number + 1, len(plan.cameras))
        film.finish()
    finally:
        film.discard()


def _check_wishes(size: tuple[int, int], show: str, seconds: float, fps: float | None) -> None:
    """Raise a UsageError for numbers and words that cannot be meant."""
    if not all(16 <= side <= _MOST_PIXELS for side in size):
        raise UsageError(
            f"{size[0]} x {size[1]} is not a size", hint=f"from 16 to {_MOST_PIXELS} pixels each"
        )
    if show not in SHOWS:
        raise UnknownNameError("kind of shapes", show, SHOWS)
    if not 0.0 < seconds <= 600.0 or (fps is not None and not 0.0 < fps <= 240.0):
        raise UsageError(f"{seconds} s of {fps} pictures a second", hint="up to 600 s, up to 240 a second")


def _check_target(path: Path | None, *, turntable: bool, transparent: bool) -> None:
    """Raise a UsageError for a file that cannot be written, or not so."""
    ending = "" if path is None else path.suffix.lower()
    if path is not None and ending not in ENDINGS:
        raise UsageError(
            f"cannot draw to {path.name!r}",
            hint=f"a name that ends in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}",
        )
    if turntable and ending not in _RATES:
        raise UsageError("a turntable is a film", hint="write it to a .gif or .mp4")
    if transparent and ending in _RATES:
        raise UsageError("films have no transparent background", hint="write a .png")
    if ending == ".mp4":
        # before anything is drawn
        import_video()


def read_camera(text: str) -> CameraWish:
    """A camera as it stands on a command line: a name, or ``azimuth,elevation[,distance]`` [degrees, m]."""
    parts = [part.strip() for part in text.split(",")] if text else []
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return CameraWish(name=text)
    if not numbers:
        return CameraWish()
    if len(numbers) not in (2, 3) or not np.all(np.isfinite(numbers)):
        raise UsageError(
            f"{text!r} is not a camera",
            hint="azimuth,elevation or azimuth,elevation,distance, such as 215,-20,3",
        )
    if not -90.0 <= numbers[1] <= 90.0 or (len(numbers) == 3 and numbers[2] <= 0.0):
        raise UsageError(
            f"{text!r} is not a camera",
            hint="an elevation from -90 (straight down) to 90, a distance above zero",
        )
    return CameraWish("", *numbers)


def _prepare(
    asset: Asset, wish: CameraWish, show: str, q: Mapping[str, float], keyframe: str
) -> tuple[ModelPainter, CameraWish]:
    """What draws the asset, placed, and the camera by the name that it has there."""
    painter = WorldPainter(asset, show=show)
    painter.place(find_positions(asset, painter.layout, q, keyframe)[None])
    if wish.name:
        if wish.name not in painter.cameras:
            raise UnknownNameError("camera", wish.name, painter.cameras)
        wish = CameraWish(painter.cameras[wish.name])
    return painter, wish


def draw_states(
    asset: Asset, states: Sequence[Array], size: tuple[int, int], passes: int = _PASSES
) -> list[npt.NDArray[np.uint8]]:
    """Transparent pictures (height x width x 4) of an asset at positions of its layout, all by one camera."""
    painter = WorldPainter(asset)
    try:
        plan = painter.plan_film(
            lambda number: painter.place(states[number][None]),
            len(states),
            CameraWish(),
            size[0] / size[1],
            1e-3,
        )
        painter.open(plan, size, StudioLook(floor=False, sky=False, passes=passes))
        found = []
        for state, camera in zip(states, plan.cameras, strict=True):
            painter.place(state[None])
            found.append(painter.draw(camera))
        return found
    finally:
        painter.close()


def find_positions(
    asset: Asset, layout: Layout, q: Mapping[str, float] | None = None, keyframe: str = ""
) -> Array:
    """Positions of a layout where an asset starts, or at a keyframe, with joints at coordinates [rad or m]."""
    configuration = Configuration(asset)
    kept = asset.keyframe(keyframe).positions if keyframe else {}
    for freedom, rows in _list_rows(layout):
        if freedom.joint is not None and kept.get(freedom.name) is not None:
            configuration.values[freedom.joint.name][rows] = kept[freedom.name]
    configuration.move(q or {})
    places = np.zeros(layout.nq)
    for freedom, rows in _list_rows(layout):
        if freedom.joint is not None:
            places[freedom.positions] = configuration.values[freedom.joint.name][rows]
        elif kept.get(freedom.name) is not None:
            places[freedom.positions] = kept[freedom.name]
        else:
            pose = asset.body(freedom.body).pose
            places[freedom.positions] = (*pose.p, *pose.q)
    return places


def _list_rows(layout: Layout) -> Iterator[tuple[LayoutDof, slice]]:
    """Dofs with their places among the coordinates of their joints."""
    used: dict[str, int] = {}
    for freedom in layout.freedoms:
        name = freedom.name if freedom.joint is None else freedom.joint.name
        first = used.get(name, 0)
        used[name] = first + freedom.positions.stop - freedom.positions.start
        yield freedom, slice(first, used[name])


def _is_task(source: str | os.PathLike[str], robot: str) -> bool:
    """Is it the name of a task, or a file that sets one up?"""
    path = Path(source)
    if not path.exists():
        from simwright.tasks.scenes.table import SCENES

        return bool(robot) or os.fspath(source) in SCENES
    if path.suffix.lower() not in _YAML:
        return False
    with path.open("rb") as stream:
        return bool(_TASK.search(stream.read(_HEAD)))


def _prepare_task(name: str, robot: str, wish: CameraWish) -> tuple[ModelPainter, CameraWish]:
    """The beginning of the first episode."""
    from simwright.app.tasking import RunRequest, prepare_run
    from simwright.tasks.observing import find_camera
    from simwright.tasks.recording import RolloutPainter

    run = prepare_run(RunRequest(name, robot=robot or None))
    run.rollout.reset(seed=run.said.seed)
    painter = RolloutPainter(run.rollout)
    painter.place_model(run.rollout.qpos)
    if wish.name:
        wish = CameraWish(find_camera(run.rollout.model, wish.name))
    return painter, wish


def draw_plain(asset: Asset, size: tuple[int, int], passes: int = _PASSES) -> npt.NDArray[np.uint8]:
    """A picture (height x width x 3) of an asset as it starts, with floor and sky."""
    painter, wish = _prepare(asset, CameraWish(), "visual", {}, "")
    with contextlib.closing(painter):
        plan = painter.plan(wish, size[0] / size[1])
        painter.open(plan, size, StudioLook(passes=passes))
        return painter.draw(plan.cameras[0])
