# SPDX-License-Identifier: Apache-2.0
"""The studio in which every picture and film is taken: light with shadows, a floor, a sky, a camera that frames.

What is drawn is a compiled model and its states, as they are: the studio draws with a copy of the specification that
has two more images, and puts light and floor beside the things of the model, so nothing of what moves is touched.
Lamps and sky of the file give way to those of the studio; its materials, textures and floors stay.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from simwright.engines.mujoco.framing import FIELD_OF_VIEW, StudioCamera
from simwright.engines.mujoco.queries import MjData, MjModel
from simwright.engines.mujoco.renderer import Canvas, Picture

_SKY = "simwright studio sky"
_FLOOR = "simwright studio floor"
_HORIZON = (0.85, 0.88, 0.91)
_ZENITH = (0.42, 0.55, 0.70)
_GROUND = (0.80, 0.805, 0.81)
_LINE = (0.66, 0.68, 0.71)
_CELLS = 5
_GOLDEN = np.pi * (3.0 - np.sqrt(5.0))
_TILE = 640
"""Pixels of the image of the floor, which shows five by five cells."""
_SOFT = 0.74
"""The power by which brightness is raised: dark paint still shows its shape."""
_SHADOWED = 3.0
"""How far shadows are drawn, in radii of what is shown."""
_FAR = 60.0
"""How far the floor goes, in distances of the camera."""


@dataclass(frozen=True, slots=True)
class StudioLook:
    """What is in a picture: a floor, a sky (transparent where none), sites, hulls instead of meshes.

    ``passes``: a picture is the mean of this many, each with the camera moved by less than a pixel and the lamps by a
    little, which makes edges smooth and shadows soft; films are drawn once.
    """

    floor: bool = True
    sky: bool = True
    sites: bool = False
    hulls: bool = False
    passes: int = 1


DEFAULT_LOOK = StudioLook()


@dataclass(frozen=True, slots=True)
class _Lamp:
    """A light from far away; ``direction`` is where it shines, in the frame of the camera's azimuth."""

    direction: tuple[float, float, float]
    diffuse: float
    ambient: float = 0.0
    specular: float = 0.0
    shadow: bool = False
    spread: float = 0.0
    """How far a pass may turn it, as the tangent of an angle; 0 for one that stays."""


# ahead (away from the camera), left, up; together they stay below what would make white paint burn out
_LAMPS = (
    _Lamp((0.45, -0.60, -1.0), 0.48, 0.18, 0.35, shadow=True, spread=0.08),
    # the sky: from everywhere above over the passes, so that nooks are darker than what is open
    _Lamp((0.15, 0.10, -1.0), 0.27, 0.0, 0.0, shadow=True, spread=1.1),
    _Lamp((0.65, 0.70, -0.10), 0.16, 0.0, 0.05),
    _Lamp((-0.90, 0.15, -0.35), 0.16, 0.0, 0.40),
)


class Studio:
    """Draws states of ``model`` in pictures of ``size`` (width, height) [px].

    ``dressed`` is the same model with the images of the studio (see :func:`dress`), or the model itself where it has
    them.  ``radius`` is about how far things are from the middle of a picture [m]; shadows are drawn within;
    ``distance`` is the largest from which they are looked at [m].
    """

    def __init__(
        self,
        dressed: MjModel,
        model: MjModel,
        size: tuple[int, int],
        radius: float,
        *,
        distance: float = 0.0,
        look: StudioLook = DEFAULT_LOOK,
        worlds: int = 1,
    ) -> None:
        self._model, self._look, self.size = model, look, size
        self._radius = max(radius, 1e-3)
        vis = dressed.vis
        vis.global_.offwidth, vis.global_.offheight = size
        # passes smooth edges by themselves; edges of what is cut out must not be mixed with what is behind
        vis.quality.offsamples = 4 if look.passes == 1 and look.sky else 0
        vis.quality.shadowsize = 2048
        dressed.stat.extent, vis.map.shadowclip = self._radius, _SHADOWED
        # the floor goes over into the sky, what is shown stays clear
        clear = distance + 1.5 * self._radius
        vis.map.fogstart, vis.map.fogend = clear / self._radius, 4.0 * clear / self._radius
        vis.rgba.fog = (*_HORIZON, 1.0)
        self._material = int(dressed.material(_FLOOR).id)
        self._options, self._others = self._choose_options(), self._choose_options()
        self._hidden: frozenset[int] = frozenset()
        self._canvas = Canvas(dressed, *size, _count_geoms(model) * worlds)
        self._floor: float | None = None

    def _choose_options(self) -> Any:
        import mujoco

        options = mujoco.MjvOption()
        options.geomgroup[:] = 1
        options.sitegroup[:] = (1, 1, 1, 0, 0, 0) if self._look.sites else 0
        options.flags[mujoco.mjtVisFlag.mjVIS_CONVEXHULL] = self._look.hulls
        options.flags[mujoco.mjtVisFlag.mjVIS_STATIC] = 1
        return options

    def set_groups(self, shown: Sequence[int], hidden: Collection[int] = ()) -> None:
        """Which groups of geoms are drawn, and which geoms are not all the same.

        The group after the first is drawn once, for the first of several states.
        """
        self._options.geomgroup[:] = [number in shown for number in range(6)]
        self._others.geomgroup[:] = [number in shown[: max(1, len(shown) - 1)] for number in range(6)]
        self._hidden = frozenset(hidden)

    def set_floor(self, height: float | None) -> None:
        """Put the floor at a height [m], or take it away."""
        self._floor = height if self._look.floor else None

    def draw(self, worlds: Sequence[MjData], camera: StudioCamera) -> Picture:
        """A picture (height x width x 3, or x 4 without a sky) of states of the model, all at once."""
        import mujoco

        self._compose(worlds, camera)
        flags = self._canvas.scene.flags
        flags[mujoco.mjtRndFlag.mjRND_SHADOW] = 1
        flags[mujoco.mjtRndFlag.mjRND_SKYBOX] = self._look.sky
        flags[mujoco.mjtRndFlag.mjRND_FOG] = self._look.sky and not camera.name
        flags[mujoco.mjtRndFlag.mjRND_HAZE] = 0
        if self._look.passes == 1 and self._look.sky:
            return _TONES[self._canvas.render()]
        sums, share = (
            np.zeros((*self.size[::-1], 3), dtype=np.float32),
            np.zeros(self.size[::-1], dtype=np.float32),
        )
        number = max(self._look.passes, 8) if not self._look.sky else self._look.passes
        eyes = [
            (eye.frustum_center, eye.frustum_bottom, eye.frustum_top) for eye in self._canvas.scene.camera
        ]
        for place in range(number):
            self._shift(eyes, place)
            self._light(camera, place)
            picture = self._canvas.render()
            if self._look.sky:
                sums += picture
                continue
            drawn = self._segment()
            sums[drawn] += picture[drawn]
            share += drawn
        if self._look.sky:
            return _develop(sums / number)
        colors = sums / np.maximum(share, 1.0)[..., None]
        return np.dstack((_develop(colors), np.round(255.0 * share / number).astype(np.uint8)))

    def _shift(self, eyes: Sequence[tuple[float, float, float]], place: int) -> None:
        """Move the camera by a part of a pixel, another one for each pass."""
        right, up = _scatter(place, 2, 3)
        for eye, (center, bottom, top) in zip(self._canvas.scene.camera, eyes, strict=True):
            pixel = (top - bottom) / self.size[1]
            eye.frustum_center = center + right * pixel / 2
            eye.frustum_bottom, eye.frustum_top = bottom + up * pixel / 2, top + up * pixel / 2

    def find_drawn(self, worlds: Sequence[MjData], camera: StudioCamera) -> npt.NDArray[np.bool_]:
        """Where in that picture (height x width) anything but the floor of the studio is drawn."""
        self._compose(worlds, camera)
        return self._segment()

    def _segment(self) -> npt.NDArray[np.bool_]:
        import mujoco

        found, scene = self._canvas.segment(), self._canvas.scene
        counts = [geom.type != mujoco.mjtGeom.mjGEOM_PLANE for geom in scene.geoms[: scene.ngeom]]
        # the last one stands for nothing at all
        return np.array([*counts, False])[found]

    def _compose(self, worlds: Sequence[MjData], camera: StudioCamera) -> None:
        import mujoco

        scene, nothing = self._canvas.scene, mujoco.MjvPerturb()
        everything = int(mujoco.mjtCatBit.mjCAT_ALL)
        view = mujoco.MjvCamera()
        if camera.name:
            view.type, view.fixedcamid = mujoco.mjtCamera.mjCAMERA_FIXED, self._model.camera(camera.name).id
        mujoco.mjv_updateScene(self._model, worlds[0], self._options, nothing, view, everything, scene)
        for data in worlds[1:]:
            mujoco.mjv_addGeoms(self._model, data, self._others, nothing, everything, scene)
        if self._hidden:
            for geom in scene.geoms[: scene.ngeom]:
                if geom.objtype == mujoco.mjtObj.mjOBJ_GEOM and geom.objid in self._hidden:
                    geom.rgba[3], geom.transparent = 0.0, 1
        if not camera.name:
            self._aim(camera)
        self._light(camera)
        if self._floor is not None:
            self._lay_floor(camera, self._floor)

    def _aim(self, camera: StudioCamera) -> None:
        """Put the camera of the scene in place, without a word to the model."""
        _, up, near = camera.axes()
        close = max(camera.distance - 4 * self._radius, 0.02 * camera.distance)
        high = close * float(np.tan(np.radians(FIELD_OF_VIEW / 2)))
        for eye in self._canvas.scene.camera:
            eye.pos[:] = np.array(camera.lookat) + near * camera.distance
            eye.forward[:], eye.up[:] = -near, up
            eye.frustum_center = 0.0
            eye.frustum_width = 0.0
            eye.frustum_bottom, eye.frustum_top = -high, high
            eye.frustum_near, eye.frustum_far = close, _FAR * camera.distance

    def _light(self, camera: StudioCamera, place: int | None = None) -> None:
        import mujoco

        scene = self._canvas.scene
        eye = scene.camera[0]
        ahead = np.array((eye.forward[0], eye.forward[1], 0.0))
        # a camera that looks straight down has its own up ahead
        if np.linalg.norm(ahead) < 1e-6:
            ahead = np.array((eye.up[0], eye.up[1], 0.0))
        ahead /= np.linalg.norm(ahead)
        left = np.array((-ahead[1], ahead[0], 0.0))
        middle = np.array(camera.lookat) if not camera.name else np.asarray(self._model.stat.center)
        for light, lamp in zip(scene.lights, _LAMPS, strict=False):
            forward, side, up = lamp.direction
            direction = forward * ahead + side * left + np.array((0.0, 0.0, up))
            if place is not None and lamp.spread:
                # as seeds stand in a sunflower: even over the disc, however many there are
                turn, out = _GOLDEN * place, np.sqrt((place + 0.5) / max(self._look.passes, 1))
                reach = lamp.spread * np.linalg.norm(direction) * out
                direction += reach * (np.cos(turn) * ahead + np.sin(turn) * left)
            direction /= np.linalg.norm(direction)
            light.type = mujoco.mjtLightType.mjLIGHT_DIRECTIONAL
            light.pos[:], light.dir[:] = middle - 3 * self._radius * direction, direction
            light.diffuse[:], light.ambient[:] = lamp.diffuse, lamp.ambient
            light.specular[:] = lamp.specular
            light.attenuation[:] = (1.0, 0.0, 0.0)
            light.castshadow, light.headlight = lamp.shadow and (place is not None or lamp.spread < 1.0), 0
        scene.nlight = len(_LAMPS)

    def _lay_floor(self, camera: StudioCamera, height: float) -> None:
        import mujoco

        scene = self._canvas.scene
        if scene.ngeom >= scene.maxgeom:
            return
        cell = choose_cell(self._radius)
        tile = cell * _CELLS
        # in whole tiles from the origin: lines stay where they are while the camera moves
        middle = [round(float(v) / tile) * tile for v in camera.lookat[:2]]
        side = np.ceil(_FAR * max(camera.distance, self._radius) / tile) * tile
        geom = scene.geoms[scene.ngeom]
        mujoco.mjv_initGeom(
            geom, mujoco.mjtGeom.mjGEOM_PLANE, np.array((side, side, tile)), np.array((*middle, height)),
            np.eye(3).flatten(), np.ones(4, dtype=np.float32),
        )  # fmt: skip
        geom.category, geom.matid = int(mujoco.mjtCatBit.mjCAT_STATIC), self._material
        geom.objtype, geom.objid, geom.segid = int(mujoco.mjtObj.mjOBJ_UNKNOWN), -1, -1
        geom.specular, geom.shininess, geom.reflectance = 0.0, 0.0, 0.0
        self._set_tile(tile)
        scene.ngeom += 1

    def _set_tile(self, tile: float) -> None:
        """How often the image of the floor is repeated: once for each tile."""
        context = self._canvas.context
        context.mat_texuniform[self._material] = 1
        context.mat_texrepeat[2 * self._material : 2 * self._material + 2] = 1.0 / tile

    def close(self) -> None:
        """Give the graphics back."""
        self._canvas.close()


def choose_cell(radius: float) -> float:
    """Sides of the squares of the floor [m]: 1, 2 or 5 times a power of ten, about a quarter of what is shown."""
    wanted = 0.35 * radius
    power = 10.0 ** np.floor(np.log10(wanted))
    return float(max((f * power for f in (1.0, 2.0, 5.0) if f * power <= wanted), default=power))


def dress(spec: Any) -> None:
    """Add the images of the studio to a specification (``MjSpec``), after all its own, whose numbers stay."""
    import mujoco

    for texture in spec.textures:
        # MuJoCo draws one sky
        if texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX:
            texture.type = mujoco.mjtTexture.mjTEXTURE_CUBE
    spec.add_texture(
        name=_SKY, type=mujoco.mjtTexture.mjTEXTURE_SKYBOX, builtin=mujoco.mjtBuiltin.mjBUILTIN_GRADIENT,
        rgb1=_ZENITH, rgb2=_HORIZON, width=256, height=1536,
    )  # fmt: skip
    floor = spec.add_texture(
        name=_FLOOR, type=mujoco.mjtTexture.mjTEXTURE_2D, width=_TILE, height=_TILE, nchannel=3
    )
    floor.data = _paint_floor().tobytes()
    material = spec.add_material(name=_FLOOR, texuniform=True, texrepeat=[1.0, 1.0])
    material.textures[int(mujoco.mjtTextureRole.mjTEXROLE_RGB)] = _FLOOR


def _paint_floor() -> npt.NDArray[np.uint8]:
    """Five by five cells with thin lines between them."""
    cell = _TILE // _CELLS
    place = np.arange(_TILE)
    away = np.minimum(place % cell, cell - place % cell)
    line = np.clip(1.8 - away, 0.0, 1.0)
    strong = np.clip(2.6 - np.minimum(place, _TILE - place), 0.0, 1.0)
    share = np.maximum(np.maximum(line[:, None], line[None]) * 0.7, np.maximum(strong[:, None], strong[None]))
    colors = np.array(_GROUND) + share[..., None] * (np.array(_LINE) - np.array(_GROUND))
    return np.asarray(np.round(255 * colors), dtype=np.uint8)


def _count_geoms(model: MjModel) -> int:
    return int(model.ngeom + model.nsite + model.ntendon * 20) + 1000


def _develop(values: npt.NDArray[Any]) -> Picture:
    """Brightness from 0 to 255 as it is shown."""
    return np.asarray(np.round(255.0 * (values / 255.0) ** _SOFT), dtype=np.uint8)


_TONES = _develop(np.arange(256.0))


def _scatter(place: int, *bases: int) -> tuple[float, ...]:
    """Numbers from -1 to 1 that fill the range evenly, the same for the same place."""
    found = []
    for base in bases:
        value, part, rest = 0.0, 1.0, place + 1
        while rest:
            part /= base
            value += part * (rest % base)
            rest //= base
        found.append(2.0 * value - 1.0)
    return tuple(found)
