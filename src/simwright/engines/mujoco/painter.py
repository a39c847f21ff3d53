# SPDX-License-Identifier: Apache-2.0
"""Pictures of assets: one or many worlds of an asset, compiled for drawing only, in the studio."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.errors import OutputError
from simwright.core.math3d import Array
from simwright.engines.layout import Layout
from simwright.engines.mujoco.coordinates import CoordinateMap
from simwright.engines.mujoco.framing import (
    CameraPlan,
    CameraWish,
    OutlinePoints,
    StudioCamera,
    plan_film,
    plan_still,
)
from simwright.engines.mujoco.queries import MjData, MjModel
from simwright.engines.mujoco.renderer import Picture
from simwright.engines.mujoco.studio import DEFAULT_LOOK, Studio, StudioLook, dress
from simwright.formats.mjcf.memory import CompiledAsset, build_spec
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial

MOST_WORLDS = 64
"""Worlds that are drawn at most: the first ones."""
SHOWS = ("visual", "collision")
_FORCES = (
    "actuators", "tendons", "sensors", "equalities", "mimics", "contact_filters", "contact_pairs", "keyframes",
)  # fmt: skip
_SHOWN, _HIDDEN, _SHARED = 0, 3, 5
_COLLIDER = (0.20, 0.55, 0.92, 1.0)
_PLAIN = (0.5, 0.5, 0.5, 1.0)
"""The colour of what has none, in MuJoCo."""


class ModelPainter:
    """Draws states of a compiled model in the studio, framed.

    ``dressed`` is the same model with the images of the studio, or the model itself.  ``groups`` of geoms are drawn;
    ``floors`` are geoms instead of which the floor of the studio is laid, besides the level planes without a look.
    """

    def __init__(
        self, model: MjModel, dressed: MjModel, groups: Sequence[int], floors: Collection[int] = ()
    ) -> None:
        import mujoco

        self.model, self._dressed, self._groups = model, dressed, tuple(groups)
        self._data: list[MjData] = [mujoco.MjData(model)]
        shown = np.isin(model.geom_group, self._groups)
        self._points = OutlinePoints(model, shown)
        planes = np.flatnonzero(shown & (model.geom_type == mujoco.mjtGeom.mjGEOM_PLANE)).tolist()
        self._floors = [geom for geom in planes if geom in floors or _is_plain_floor(model, geom)]
        self._planes = [geom for geom in planes if geom not in self._floors]
        self._studio: Studio | None = None

    def find_points(self) -> Array:
        """Points on the outline of everything as it stands (n x 3) [m]."""
        return np.concatenate([self._points.place(data) for data in self._data])

    def plan(self, wish: CameraWish, ratio: float, turns: int = 0) -> CameraPlan:
        """Cameras for a picture of what was placed, or for ``turns`` pictures, once around."""
        return plan_still(self.find_points(), wish, ratio, turns)

    def plan_film(
        self, place: Callable[[int], object], number: int, wish: CameraWish, ratio: float, rate: float
    ) -> CameraPlan:
        """Cameras for a film of ``number`` moments, ``rate`` in a second, each of which is placed by its number."""

        def look() -> Iterator[Array]:
            for moment in range(number):
                place(moment)
                yield self.find_points()

        return plan_film(look(), wish, ratio, rate)

    def open(self, plan: CameraPlan, size: tuple[int, int], look: StudioLook = DEFAULT_LOOK) -> None:
        """Prepare to draw pictures of a size (width, height) [px]."""
        studio = Studio(
            self._dressed,
            self.model,
            size,
            plan.radius,
            distance=max(one.distance for one in plan.cameras),
            look=look,
            worlds=len(self._data),
        )
        studio.set_groups(self._groups, self._floors)
        studio.set_floor(self._choose_floor(plan))
        self._studio = studio

    def _choose_floor(self, plan: CameraPlan) -> float | None:
        """The height of the floor [m]: that of the ground, or the lowest point; None over a ground without end."""
        model, data = self.model, self._data[0]
        if self._floors:
            return float(max(data.geom_xpos[geom][2] for geom in self._floors))
        lowest = min(plan.lowest, float(self._points.place(data, ground=True)[:, 2].min()))
        for geom in self._planes:
            if not np.any(model.geom_size[geom][:2]):
                return None
            # a plane with an end lies on the floor
            lowest = min(lowest, float(data.geom_xpos[geom][2]) - 2e-3 * plan.radius)
        return lowest - 1e-4 * plan.radius

    def draw(self, camera: StudioCamera) -> Picture:
        """A picture of what was placed (height x width x 3; x 4 where the background is transparent)."""
        assert self._studio is not None
        return self._studio.draw(self._data, camera)

    def find_drawn(self, camera: StudioCamera) -> npt.NDArray[np.bool_]:
        """Where in that picture (height x width) anything but the ground is drawn."""
        assert self._studio is not None
        return self._studio.find_drawn(self._data, camera)

    def place_model(self, qpos: Array, world: int = 0) -> MjData:
        """Put a world to MuJoCo's own positions."""
        import mujoco

        data = self._data[world]
        data.qpos[:] = qpos
        for step in (
            mujoco.mj_kinematics, mujoco.mj_comPos, mujoco.mj_camlight, mujoco.mj_flex, mujoco.mj_tendon
        ):  # fmt: skip
            step(self.model, data)
        return data

    def close(self) -> None:
        """Give the graphics back."""
        if self._studio is not None:
            self._studio.close()
        self._studio = None


def _is_plain_floor(model: MjModel, geom: int) -> bool:
    """Is it a level plane of the world that nobody has given a look?"""
    is_level = abs(abs(model.geom_quat[geom, 0]) - 1.0) < 1e-6
    has_look = model.geom_matid[geom] >= 0 or not np.allclose(model.geom_rgba[geom], _PLAIN)
    return bool(is_level and model.geom_bodyid[geom] == 0 and not has_look)


class WorldPainter(ModelPainter):
    """Draws worlds of an asset that stand at ``offsets`` (worlds x 3) [m].

    ``shared`` names shapes that are drawn once, at the first world's place at the origin, as the ground of all worlds.
    ``show`` is what is drawn of shapes: ``visual`` or ``collision``, where meshes are the hulls that collide.
    """

    def __init__(
        self,
        asset: Asset,
        offsets: Array | None = None,
        shared: Collection[str] = (),
        *,
        show: str = "visual",
    ) -> None:
        import mujoco

        asset, self._compiled = compile_picture(asset)
        self.layout = Layout(asset)
        model: MjModel = self._compiled.model
        self._map = CoordinateMap(self.layout, self._compiled.names, model)
        places = np.zeros((1, 3)) if offsets is None else np.asarray(offsets, dtype=np.float64)
        self._offsets = places[:MOST_WORLDS]
        self._choose_groups(asset, shared if len(self._offsets) > 1 else (), show)
        super().__init__(model, model, (_SHOWN, _SHARED))
        self._data = [mujoco.MjData(model) for _ in self._offsets]

    @property
    def cameras(self) -> dict[str, str]:
        """Names of the cameras of the asset, and what MuJoCo calls them."""
        return dict(self._compiled.names.cameras)

    def _choose_groups(self, asset: Asset, shared: Collection[str], show: str) -> None:
        """Geoms into the groups of what is drawn, drawn once for all worlds, and not drawn."""
        model, names = self._compiled.model, self._compiled.names.geoms
        has_looks = any(shape.visual for shape in asset.shapes)
        model.geom_group[:] = _HIDDEN
        for shape in asset.shapes:
            geoms = [model.geom(name).id for name in names.get(shape.name, ())]
            collides = show == "collision" and shape.collision
            if collides or (show == "visual" and (shape.visual or not has_looks)):
                model.geom_group[geoms] = _SHARED if shape.name in shared else _SHOWN
            if collides:
                model.geom_matid[geoms], model.geom_rgba[geoms] = -1, _COLLIDER

    def place(self, positions: Array) -> None:
        """Put all worlds to positions (worlds x nq) of the layout."""
        shown = len(self._data)
        qpos = self._map.to_engine(positions[:shown], np.zeros((shown, self._map.width)))[0]
        for world, offset in enumerate(self._offsets):
            data = self.place_model(qpos[world], world)
            # MuJoCo draws one model: other worlds are its geoms, moved
            if offset.any():
                moved = self.model.geom_group != _SHARED
                data.geom_xpos[moved] += offset


def compile_picture(asset: Asset) -> tuple[Asset, CompiledAsset]:
    """An asset compiled for drawing: one that MuJoCo refuses to simulate is drawn without what it refuses."""
    try:
        return asset, _compile(asset)
    except OutputError:
        bare = _strip(asset)
        return bare, _compile(bare)


def _compile(asset: Asset) -> CompiledAsset:
    written = build_spec(asset, Reporter())
    dress(written.spec)
    return written.compile()


def _strip(asset: Asset) -> Asset:
    """A copy that has looks and joints only, with masses that any engine takes."""
    twin = asset.copy()
    for name in _FORCES:
        setattr(twin, name, [])
    for body in twin.bodies:
        body.inertial = Inertial(1.0, np.zeros(3), np.eye(3))
    return twin
