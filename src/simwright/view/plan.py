# SPDX-License-Identifier: Apache-2.0
"""The page of a world while it goes: rooms with their names, doors that a click opens, robots that a click sends.

Things of the world that look alike are instances of one part, each at its place.
"""

from __future__ import annotations

import functools
import math
import threading
import time
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import shapely

from simwright.core.errors import SimwrightError
from simwright.core.math3d import Array, poses_compose, poses_invert, quat_from_axis_angle
from simwright.model.kinematics import build_tree, forward_kinematics
from simwright.model.scene import Placement, Scene
from simwright.view.configuration import stack_poses
from simwright.view.drawing import draw_asset
from simwright.view.figure import AssetFigure, Picked
from simwright.view.pace import Pace, PacePanel
from simwright.view.serving import PageServer
from simwright.view.stage import FROM_ABOVE, dress, light, save_picture
from simwright.view.words import list_choices, plain, short
from simwright.worlds.acting.action import Action
from simwright.worlds.acting.simulation import WorldSimulation
from simwright.worlds.entities import Hallway, Location, WorldObject, WorldRobot
from simwright.worlds.poses import WorldPose

STEP = 0.05
"""Simulated time between two looks at the controls [s]."""
_OPEN, _CLOSED, _LOCKED = (60, 170, 90), (215, 120, 30), (190, 50, 50)
_EVENTS = 12
_CHOOSE = "choose"
_LAYERS = ("Visuals", "Colliders")
_PATH = (230, 60, 120)


class WorldPage:
    """A world in time; ``address`` is what to open.  Whoever runs the simulation asks :meth:`follow`."""

    def __init__(
        self,
        simulation: WorldSimulation,
        scene: Scene,
        *,
        speed: float | None = 1.0,
        can_reset: bool = True,
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.simulation, self.world = simulation, simulation.world
        self.pace, self._can_reset = Pace(speed=speed), can_reset
        self._lock = threading.RLock()
        self._asked: list[tuple[str, Any]] = []
        self._trails: dict[str, Any] = {}
        self._pads: dict[str, Any] = {}
        self._told = 0
        self._serving = PageServer(self.world.name, host, port)
        self.server, self.address, self.port = self._serving.viser, self._serving.address, self._serving.port
        low_x, low_y, high_x, high_y = self.world.bounds
        dress(self.server, np.array((low_x, low_y, 0.0)), np.array((high_x, high_y, 1.0)), FROM_ABOVE)
        self.figures: list[tuple[list[Placement], AssetFigure]] = []
        self._starts: dict[str, Array] = {}
        self._draw(scene)
        light(self.server, [figure.drawing for _, figure in self.figures])
        self._draw_names()
        self._add_controls()
        self.show()

    def close(self) -> None:
        """Stop serving."""
        self.pace.end()
        self._serving.close()

    # -- drawing -------------------------------------------------------------------------------------------------

    def _draw(self, scene: Scene) -> None:
        alike: dict[Any, list[Placement]] = defaultdict(list)
        for number, placement in enumerate(scene.placements):
            # doors come and go one by one
            alike[number if placement.variant else id(placement.asset)].append(placement)
        for number, placements in enumerate(alike.values()):
            asset = placements[0].asset
            tree = build_tree(asset)
            poses = stack_poses(asset, forward_kinematics(asset, {}, tree))
            roots = np.array([np.concatenate((one.pose.p, one.pose.q)) for one in placements])
            figure = AssetFigure(
                self.server, draw_asset(asset, tree, poses), poses, path=f"/things/{number}", roots=roots,
                on_pick=functools.partial(self._pick, placements),
            )  # fmt: skip
            self.figures.append((placements, figure))
            for placement, root in zip(placements, roots, strict=True):
                entity = self.world.names.get(placement.name)
                if isinstance(entity, (Location, WorldObject, WorldRobot)):
                    # from where the entity is to where its asset is
                    self._starts[placement.name] = poses_compose(poses_invert(_stand(entity.pose)), root)

    def _draw_names(self) -> None:
        scene = self.server.scene
        for number, room in enumerate(self.world.rooms):
            middle = room.polygon.representative_point()
            scene.add_label(f"/names/room{number}", short(room.name, 30), position=(middle.x, middle.y, 0.05))
        for number, hallway in enumerate(self.world.hallways):
            self._draw_pad(number, hallway)

    def _draw_pad(self, number: int, hallway: Hallway) -> None:
        """A plate on the floor of a doorway, which opens and closes it."""
        # between the rooms: the polygon of a hallway reaches into them
        free = hallway.polygon.difference(shapely.union_all([room.polygon for room in hallway.rooms]))
        points, faces = cover(hallway.polygon if free.is_empty else free)
        if not len(faces):
            return
        flat = np.concatenate((points, np.full((len(points), 1), 0.02)), axis=1).astype(np.float32)
        pad = self.server.scene.add_mesh_simple(
            f"/doors/{number}", flat, faces, color=_find_color(hallway), opacity=0.55, side="double",
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip
        pad.on_click(lambda _: self.toggle(hallway.name))
        self._pads[hallway.name] = pad

    def _add_controls(self) -> None:
        gui, world = self.server.gui, self.world
        gui.set_panel_label(short(world.name, 40))
        self._run = PacePanel(gui, self.pace, can_reset=self._can_reset)
        with gui.add_folder("Robots"):
            self._names = list_choices(robot.name for robot in world.robots)
            if self._names:
                self._robot = gui.add_dropdown(
                    "Send", tuple(self._names), initial_value=next(iter(self._names))
                )
                gui.add_markdown("Click the floor or a piece of furniture, or choose a place.")
                named = [*(one.name for one in world.rooms), *(one.name for one in world.locations)]
                places = list_choices(named, taken=(_CHOOSE,))
                place = gui.add_dropdown("To", (_CHOOSE, *places), initial_value=_CHOOSE)
                place.on_update(lambda event: self.send(self._chosen(), places.get(event.target.value)))
                stop = gui.add_button_group("", ("Stop",))
                stop.on_click(lambda _: self._ask("cancel", self._chosen()))
            self._states = gui.add_markdown("")
        if world.hallways:
            with gui.add_folder(f"Doors ({len(world.hallways)})"):
                gui.add_markdown("Click the plate in a doorway, or here.")
                self._doors = {hallway.name: self._add_door(hallway) for hallway in world.hallways[:60]}
        else:
            self._doors = {}
        with gui.add_folder("Log"):
            self._log = gui.add_markdown("")
        with gui.add_folder("Show", expand_by_default=False):
            for layer in _LAYERS:
                box = gui.add_checkbox(layer, layer == "Visuals")
                box.on_update(lambda event, layer=layer: self._show_layer(layer, event.target.value))
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: save_picture(event.client))

    def _add_door(self, hallway: Hallway) -> Any:
        row = self.server.gui.add_button_group(short(hallway.name, 40), (_tell_door(hallway),))
        row.on_click(lambda _: self.toggle(hallway.name))
        return row

    def _show_layer(self, layer: str, shown: bool) -> None:
        for placements, figure in self.figures:
            figure.show(layer, shown and self._is_there(placements))

    # -- asking --------------------------------------------------------------------------------------------------

    def _chosen(self) -> str:
        return self._names[self._robot.value]

    def _ask(self, what: str, value: Any) -> None:
        """Leave a wish for the thread that runs the world."""
        with self._lock:
            self._asked.append((what, value))
        self.pace.pause(self.pace.is_paused)  # wakes it

    def toggle(self, hallway: str) -> None:
        """Open a door, or close it."""
        self._ask("toggle", hallway)

    def send(self, robot: str, target: Any) -> None:
        """Send a robot to a place: a name, or a pose on the floor; what it did is stopped."""
        if target is not None:
            self._ask("send", (robot, target))

    def _pick(self, placements: list[Placement], picked: Picked) -> None:
        placement = placements[picked.world]
        hallway = placement.facts.get("hallway")
        if isinstance(hallway, str):
            self.toggle(hallway)
        elif any(robot.name == placement.name for robot in self.world.robots):
            self._robot.value = next(label for label, name in self._names.items() if name == placement.name)
        elif any(location.name == placement.name for location in self.world.locations):
            self.send(self._chosen(), placement.name)
        elif picked.direction[2] < -1e-3:
            self._send_along(picked.origin, picked.direction)

    def _send_along(self, origin: Array, direction: Array) -> None:
        point = origin - direction * origin[2] / direction[2]
        self.send(self._chosen(), WorldPose.from_yaw(float(point[0]), float(point[1]), 0.0, 0.0))

    # -- the world asks ------------------------------------------------------------------------------------------

    def follow(self) -> None:
        """Do what was asked for on the page; called by whoever lets time pass."""
        with self._lock:
            asked, self._asked = self._asked, []
        for what, value in asked:
            try:
                problem = self._do(what, value)
            except SimwrightError as error:
                problem = str(error)
            if problem:
                self._run.note = plain(short(problem, 200))

    def _do(self, what: str, value: Any) -> str:
        simulation = self.simulation
        self._run.note = ""
        if what == "toggle":
            hallway = next(one for one in self.world.hallways if one.name == value)
            return self.world.close(value) if hallway.is_open else self.world.open(value)
        robot = value if what == "cancel" else value[0]
        if simulation.is_busy(robot):
            simulation.cancel(robot)
        if what == "send":
            simulation.start(robot, Action("navigate", value[1]))
        return ""

    def show(self) -> None:
        """Draw where everything is, if it is time for a picture."""
        if not self.pace.is_picture_due():
            return
        before = time.perf_counter()
        for placements, figure in self.figures:
            if placements[0].variant:
                figure.show("Visuals", self._is_there(placements))
            else:
                figure.move_to(np.array([self._find_root(one) for one in placements]))
        for hallway in self.world.hallways:
            pad, color = self._pads.get(hallway.name), _find_color(hallway)
            if pad is not None and tuple(pad.color) != color:
                pad.color = color
            row, told = self._doors.get(hallway.name), (_tell_door(hallway),)
            if row is not None and tuple(row.options) != told:
                row.options = told
        self._show_robots()
        events = self.simulation.events
        if len(events) != self._told:
            self._told = len(events)
            self._log.content = "\n\n".join(plain(str(event)) for event in events[-_EVENTS:])
        self._run.show(self.simulation.time)
        self.pace.note_picture(time.perf_counter() - before)

    def _is_there(self, placements: list[Placement]) -> bool:
        hallway = placements[0].facts.get("hallway") if placements[0].variant else None
        found = next((one for one in self.world.hallways if one.name == hallway), None)
        return found is None or not found.is_open

    def _find_root(self, placement: Placement) -> Array:
        entity = self.world.names.get(placement.name)
        start = self._starts.get(placement.name)
        if start is None or not isinstance(entity, (Location, WorldObject, WorldRobot)):
            return np.concatenate((placement.pose.p, placement.pose.q))
        return poses_compose(_stand(entity.pose), start)

    def _show_robots(self) -> None:
        rows = []
        for robot in self.world.robots:
            state = "busy" if self.simulation.is_busy(robot) else "idle"
            at = getattr(robot.location, "name", "")
            rows.append(f"{plain(robot.name)}: {state}" + (f", at {plain(at)}" if at else ""))
            self._show_trail(robot.name)
        self._states.content = "  \n".join(rows)

    def _show_trail(self, name: str) -> None:
        """The way that a robot has gone."""
        trail = self.simulation.trails.get(name, [])
        if len(trail) < 2:
            if name in self._trails:
                self._trails.pop(name)[1].remove()
            return
        if self._trails.get(name, (0, None))[0] == len(trail):
            return
        step = max(1, len(trail) // 500)
        points = np.array([(pose.x, pose.y, 0.03) for pose in [*trail[::step], trail[-1]]], dtype=np.float32)
        lines = np.stack((points[:-1], points[1:]), axis=1)
        node = self.server.scene.add_line_segments(
            f"/trails/{self._find_number(name)}", lines, _PATH, thickness=3.0, thickness_units="screen"
        )
        self._trails[name] = (len(trail), node)

    def _find_number(self, name: str) -> int:
        return next(number for number, robot in enumerate(self.world.robots) if robot.name == name)


def watch_world(
    page: WorldPage,
    go_on: Callable[[], object],
    seconds: float = math.inf,
    step: Callable[[], object] | None = None,
    dt: float = STEP,
) -> None:
    """Let time pass in the world of a page, at its pace, for so long [s]; ``go_on`` is called before each step.

    ``step`` takes a step of ``dt`` [s] where something else than the simulation does.
    """
    simulation = page.simulation
    while simulation.time < seconds and not page.pace.is_ended:
        if page.pace.take_reset():
            simulation.reset()
            page.pace.begin(0.0)
        page.follow()
        page.show()
        go_on()
        if page.pace.take_steps(simulation.time, dt, 1):
            if step is None:
                simulation.step(dt)
            else:
                step()


def cover(polygon: Any) -> tuple[Array, Any]:
    """Points (n x 2) and triangles of a polygon."""
    pieces = [
        piece
        for piece in shapely.get_parts(shapely.delaunay_triangles(polygon))
        if polygon.contains(piece.centroid)
    ]
    if not pieces:
        return np.zeros((0, 2)), np.zeros((0, 3), dtype=np.uint32)
    points = np.concatenate([shapely.get_coordinates(piece)[:3] for piece in pieces])
    return points, np.arange(len(points), dtype=np.uint32).reshape(-1, 3)


def _stand(pose: WorldPose) -> Array:
    """Upright at a pose (7)."""
    turn = quat_from_axis_angle((0, 0, 1), pose.yaw)
    return np.concatenate(((pose.x, pose.y, pose.z), turn))


def _find_color(hallway: Hallway) -> tuple[int, int, int]:
    return _LOCKED if hallway.is_locked else _OPEN if hallway.is_open else _CLOSED


def _tell_door(hallway: Hallway) -> str:
    return f"{'open' if hallway.is_open else 'closed'}{', locked' if hallway.is_locked else ''}"
