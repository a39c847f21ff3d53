# SPDX-License-Identifier: Apache-2.0
"""Cameras that see all of a machine: from points on its outline, exactly, at one moment or over a film.

A camera is that of MuJoCo's free camera: it looks at a point from a distance, along an azimuth (90 looks along +Y) and
an elevation (negative looks down), in degrees.  What stands on the ground without end is framed, the ground is not.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array
from simwright.engines.mujoco.queries import MjData, MjModel

FIELD_OF_VIEW = 30.0
"""Height of what the camera sees [degrees]: narrow, as for pictures of products, so that nothing looks bent."""
AZIMUTH = 215.0
"""From the front left: robots look along +X."""
_MARGIN = 0.09
"""Share of the picture that stays free at each side."""
_DIRECTIONS = 48
_MOST_VERTICES = 20_000
_GROUND = 2.5
"""A flat thing of the world that is this much wider than all the rest is its ground."""
_FOLLOW = 1.9
"""A camera that sees the whole way stands still up to this many times the distance that one moment needs."""
_SMALLEST = 1e-3


@dataclass(frozen=True, slots=True)
class StudioCamera:
    """Where a picture is taken from; a ``name`` is that of a camera of the model, and the rest says nothing then."""

    azimuth: float = AZIMUTH
    elevation: float = 0.0
    distance: float = 0.0
    lookat: tuple[float, float, float] = (0.0, 0.0, 0.0)
    name: str = ""

    def axes(self) -> tuple[Array, Array, Array]:
        """To the right, up, and towards the camera."""
        turn, lift = np.radians(self.azimuth), np.radians(self.elevation)
        right = np.array((np.sin(turn), -np.cos(turn), 0.0))
        ahead = np.array((np.cos(lift) * np.cos(turn), np.cos(lift) * np.sin(turn), np.sin(lift)))
        return right, np.cross(right, ahead), -ahead


@dataclass(frozen=True, slots=True)
class CameraWish:
    """What a person asks of the camera; None where the picture decides: angles [degrees], distance [m]."""

    name: str = ""
    azimuth: float | None = None
    elevation: float | None = None
    distance: float | None = None

    def start(self, size: Array) -> StudioCamera:
        """The camera before it is moved back to see everything; ``size`` are the sides of what is there [m]."""
        lift = self.elevation if self.elevation is not None else choose_elevation(size)
        return StudioCamera(AZIMUTH if self.azimuth is None else self.azimuth, lift, name=self.name)


def choose_elevation(size: Array) -> float:
    """Flat things are looked at from above, tall ones from the side [degrees]."""
    wide = max(float(np.max(size[:2])), _SMALLEST)
    return -float(np.interp(float(size[2]) / wide, (0.05, 0.25, 0.5, 0.8), (55.0, 46.0, 24.0, 17.0)))


class OutlinePoints:
    """Points on the outline of everything that is drawn of a model, in the frames of its geoms."""

    def __init__(self, model: MjModel, shown: npt.NDArray[np.bool_]) -> None:
        self._model = model
        parts = [
            (geom, points)
            for geom in np.flatnonzero(shown).tolist()
            if (points := _outline(model, geom)) is not None
        ]
        self._geoms = np.repeat([geom for geom, _ in parts], [len(points) for _, points in parts]).astype(int)
        self._points = np.concatenate([points for _, points in parts]) if parts else np.zeros((0, 3))
        self._on_world = model.geom_bodyid[self._geoms] == 0

    def place(self, data: MjData, *, ground: bool = False) -> Array:
        """The points in the world (n x 3) [m]; those of the ground only where they are asked for, or all there is."""
        turns = data.geom_xmat.reshape(-1, 3, 3)[self._geoms]
        places = np.einsum("nij,nj->ni", turns, self._points) + data.geom_xpos[self._geoms]
        soft = [data.flexvert_xpos] if self._model.nflex else []
        if not ground and self._on_world.any():
            places = places[~self._find_ground(places)]
        found = np.concatenate([places, *soft])
        if not len(found):
            # nothing but frames: what can be told of its size
            found = np.asarray(data.xpos[1:]) if self._model.nbody > 1 else np.zeros((1, 3))
        return found[np.all(np.isfinite(found), axis=1)]

    def _find_ground(self, places: Array) -> npt.NDArray[np.bool_]:
        """Which points belong to flat, wide geoms of the world below everything else."""
        found = np.zeros(len(places), dtype=bool)
        for geom in np.unique(self._geoms[self._on_world]):
            own = self._geoms == geom
            rest = places[~own & ~found]
            if not len(rest):
                continue
            size, others = np.ptp(places[own], axis=0), np.ptp(rest, axis=0)
            wide = float(np.max(size[:2]))
            is_flat = size[2] < 0.1 * wide and places[own, 2].max() <= rest[:, 2].min() + 0.1 * others.max()
            if is_flat and wide > _GROUND * float(np.max(others)):
                found |= own
        return found


def _outline(model: MjModel, geom: int) -> Array | None:
    """Points of a geom in its own frame, None for what has no end."""
    import mujoco

    kind, size = model.geom_type[geom], model.geom_size[geom]
    match kind:
        case mujoco.mjtGeom.mjGEOM_PLANE:
            return None
        case mujoco.mjtGeom.mjGEOM_SPHERE:
            return np.asarray(_spread() * size[0])
        case mujoco.mjtGeom.mjGEOM_ELLIPSOID:
            return np.asarray(_spread() * size)
        case mujoco.mjtGeom.mjGEOM_CAPSULE:
            ball = _spread() * size[0]
            return np.asarray(ball + np.sign(ball[:, 2:]) * np.array((0.0, 0.0, size[1])))
        case mujoco.mjtGeom.mjGEOM_CYLINDER:
            angles = np.linspace(0.0, 2.0 * np.pi, 24, endpoint=False)
            ring = np.stack((np.cos(angles) * size[0], np.sin(angles) * size[0]), axis=1)
            return np.concatenate([np.column_stack((ring, np.full(24, end))) for end in (size[1], -size[1])])
        case mujoco.mjtGeom.mjGEOM_MESH:
            mesh = int(model.geom_dataid[geom])
            first, number = int(model.mesh_vertadr[mesh]), int(model.mesh_vertnum[mesh])
            step = max(1, number // _MOST_VERTICES)
            vertices = np.asarray(model.mesh_vert[first : first + number : step], dtype=np.float64)
            return np.asarray(vertices[np.unique(np.argmax(vertices @ _spread().T, axis=0))])
    # boxes, height fields and what else there is: the box around it
    middle, half = model.geom_aabb[geom][:3], model.geom_aabb[geom][3:]
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    return np.asarray(middle + corners * half)


def _spread() -> Array:
    """Directions that are spread evenly, with the six axes among them (n x 3)."""
    number = np.arange(_DIRECTIONS) + 0.5
    height = 1.0 - 2.0 * number / _DIRECTIONS
    turn = np.pi * (1.0 + np.sqrt(5.0)) * number
    radius = np.sqrt(1.0 - height**2)
    axes = np.concatenate((np.eye(3), -np.eye(3)))
    return np.concatenate((np.stack((radius * np.cos(turn), radius * np.sin(turn), height), axis=1), axes))


def _slopes(ratio: float) -> tuple[float, float]:
    """How far to the side and up the camera sees at a distance of one, less the margin; ``ratio`` is width / height."""
    high = float(np.tan(np.radians(FIELD_OF_VIEW / 2)))
    free = 1.0 - 2.0 * _MARGIN
    return high * ratio * free, high * free


def _support(points: Array, camera: StudioCamera, ratio: float) -> Array:
    """What the four sides of the picture need: points are inside where the camera is beyond these (4)."""
    right, up, near = (points @ axis for axis in camera.axes())
    across, high = _slopes(ratio)
    sides = (right + across * near, -right + across * near, up + high * near, -up + high * near)
    return np.array([side.max() for side in sides])


def fit_camera(points: Array, camera: StudioCamera, ratio: float) -> StudioCamera:
    """The camera moved to where it sees all points (n x 3) [m] as large as the picture allows."""
    return _fit(_support(points, camera, ratio), points.min(axis=0), points.max(axis=0), camera, ratio)


def _fit(support: Array, lower: Array, upper: Array, camera: StudioCamera, ratio: float) -> StudioCamera:
    across, high = _slopes(ratio)
    one, other, top, bottom = support
    away = max((one + other) / (2 * across), (top + bottom) / (2 * high))
    right, up, near = camera.axes()
    middle = float(near @ (lower + upper)) / 2
    lookat = right * (one - other) / 2 + up * (top - bottom) / 2 + near * middle
    return _look(camera, lookat, max(away - middle, _SMALLEST))


def _look(camera: StudioCamera, lookat: Array, distance: float) -> StudioCamera:
    x, y, z = (float(value) for value in lookat)
    return replace(camera, lookat=(x, y, z), distance=float(distance))


def turn_camera(points: Array, camera: StudioCamera, ratio: float, frames: int) -> list[StudioCamera]:
    """Once around points (n x 3) that stand still, always seeing all of them."""
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    turned = [replace(camera, azimuth=camera.azimuth + 360.0 * i / frames) for i in range(frames)]
    away = max(_reach(_support(points - middle, one, ratio), ratio) for one in turned)
    return [_look(one, middle, away) for one in turned]


def _reach(support: Array, ratio: float) -> float:
    """How far from the middle the camera has to be without moving to a side."""
    across, high = _slopes(ratio)
    return float(max(support[:2].max() / across, support[2:].max() / high, _SMALLEST))


@dataclass(frozen=True, slots=True)
class CameraPlan:
    """A camera for each picture; ``radius`` is that of what is in one [m], ``lowest`` the lowest point of all [m]."""

    cameras: list[StudioCamera]
    radius: float
    lowest: float


def plan_still(points: Array, wish: CameraWish, ratio: float, turns: int = 0) -> CameraPlan:
    """One picture of points (n x 3) [m], or ``turns`` of them, once around."""
    camera = wish.start(np.ptp(points, axis=0))
    cameras = turn_camera(points, camera, ratio, turns) if turns else [fit_camera(points, camera, ratio)]
    radius = float(np.linalg.norm(np.ptp(points, axis=0))) / 2
    return CameraPlan([_keep_distance(one, wish) for one in cameras], radius, float(points[:, 2].min()))


def plan_film(moments: Iterable[Array], wish: CameraWish, ratio: float, rate: float) -> CameraPlan:
    """A film of points (n x 3) [m] that move; one camera that stands still, or one that goes along with what travels.

    ``rate`` are moments in a second: the camera is slower than what it follows.
    """
    camera: StudioCamera | None = None
    found: list[tuple[Array, Array, Array]] = []
    for points in moments:
        if camera is None:
            camera = wish.start(np.ptp(points, axis=0))
        found.append((_support(points, camera, ratio), points.min(axis=0), points.max(axis=0)))
    assert camera is not None
    supports, lows, highs = (np.array(column) for column in zip(*found, strict=True))
    lower, upper = lows.min(axis=0), highs.max(axis=0)
    still = _fit(supports.max(axis=0), lower, upper, camera, ratio)
    single = max(_fit(*one, camera, ratio).distance for one in found)
    if still.distance <= _FOLLOW * single:
        cameras, radius = [still] * len(found), float(np.linalg.norm(upper - lower)) / 2
    else:
        cameras = _follow(supports, (lows + highs) / 2, camera, ratio, rate)
        radius = float(np.linalg.norm(highs - lows, axis=1).max()) / 2
    return CameraPlan([_keep_distance(one, wish) for one in cameras], radius, float(lower[2]))


def _keep_distance(camera: StudioCamera, wish: CameraWish) -> StudioCamera:
    return camera if wish.distance is None else replace(camera, distance=wish.distance)


def _follow(
    supports: Array, middles: Array, camera: StudioCamera, ratio: float, rate: float
) -> list[StudioCamera]:
    """Cameras that go along with middles (n x 3), all at the distance that the largest moment needs."""
    path = _smooth(middles, rate)
    right, up, near = camera.axes()
    across, high = _slopes(ratio)
    sides = (right + across * near, -right + across * near, up + high * near, -up + high * near)
    away = max(_reach(one, ratio) for one in supports - np.stack([path @ side for side in sides], axis=1))
    return [_look(camera, place, away) for place in path]


def _smooth(path: Array, rate: float) -> Array:
    """A path (n x 3) without its quick turns, over about a second; what falls freely or drives on stays as it is."""
    # imported here: most films need no path
    from scipy.signal import savgol_filter  # type: ignore[import-untyped]

    window = min(2 * round(rate / 2) + 1, len(path) - 1 + len(path) % 2)
    return np.asarray(savgol_filter(path, window, 2, axis=0) if window > 3 else path)
