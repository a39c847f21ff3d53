# SPDX-License-Identifier: Apache-2.0
"""The page of a simulation while it goes: pace, signals, contacts, dragging bodies, commanding joints, many worlds.

The simulation runs in the thread of whoever steps it and asks the page between steps; the page never steps it.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.math3d import Array, Pose
from simwright.engines.protocol import Contact, Simulation
from simwright.model.asset import Asset
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Motion
from simwright.model.kinematics import build_tree
from simwright.model.mass import body_inertials
from simwright.view.configuration import choose_step, mark_ends
from simwright.view.drawing import draw_asset
from simwright.view.figure import LAYERS, AssetFigure, Dragged, Picked, at_offsets
from simwright.view.overlay import ContactArrows
from simwright.view.pace import Pace, PacePanel
from simwright.view.panel import TreePanel
from simwright.view.plots import SignalPlot
from simwright.view.serving import PageServer
from simwright.view.stage import dress, light, save_picture
from simwright.view.streaming import PoseStream
from simwright.view.words import numbers, plain, short, table

MOST_WORLDS = 256
"""Worlds that are shown."""
_PULL = 60.0
"""Force of a pulled body [N] for each metre and kilogram of all that it is part of."""
_FORCE = "contact force [N]"
_CONTACTS = "contacts"
_MOST_COMMANDS = 60


class LivePage:
    """A simulation of an asset, in one or several worlds; ``address`` is what to open.

    ``offsets`` (worlds x 3) [m] are where worlds stand; ``signals`` are names of further values that
    :meth:`show` is given, such as a reward.
    """

    def __init__(
        self,
        asset: Asset,
        simulation: Simulation,
        *,
        offsets: Array | None = None,
        signals: Sequence[str] = (),
        speed: float | None = 1.0,
        can_reset: bool = True,
        can_command: bool = True,
        title: str = "",
        host: str = "127.0.0.1",
        port: int = 0,
    ) -> None:
        self.asset, self.pace = asset, Pace(speed=speed)
        self._lock = threading.RLock()
        self._layout = simulation.layout
        rows = {name: row for row, name in enumerate(simulation.layout.bodies)}
        # the asset that is drawn may have its bodies in another order
        self._order = np.array([rows[name] for name in asset.body_names], dtype=np.int64)
        self._inertials = body_inertials(asset)
        self._mass = max(sum(one.mass for one in self._inertials.values()), 1e-3)
        self.worlds = min(simulation.worlds, MOST_WORLDS)
        self.world = 0
        self._picked = -1
        self._pull: Dragged | None = None
        self._pulled = False
        self._commands: dict[str, float] = {}
        self._commanded = False
        self._shows_contacts = False
        self._signals = tuple(signals)
        poses = self._take_poses(simulation)
        tree = build_tree(asset)
        drawing = draw_asset(asset, tree, poses[0], copies=self.worlds)
        places = place_worlds(self.worlds, drawing.lower, drawing.upper) if offsets is None else offsets
        self._serving = PageServer(title or asset.name, host, port)
        self.server, self.address, self.port = self._serving.viser, self._serving.address, self._serving.port
        low, high = places.min(axis=0), places.max(axis=0)
        dress(self.server, drawing.lower + low, drawing.upper + high)
        light(self.server, [drawing])
        self.figure = AssetFigure(
            self.server,
            drawing,
            poses,
            roots=at_offsets(places[: self.worlds]),
            on_pick=self._click,
            on_drag=self._drag,
            stream=PoseStream.open(self.server),
        )
        self.server.on_client_connect(self._welcome)
        self._arrows = ContactArrows(self.server, 0.03 * drawing.size)
        self._add_controls(
            tree, simulation, title or asset.name, can_reset=can_reset, can_command=can_command
        )

    def close(self) -> None:
        """Stop serving."""
        self.pace.end()
        self._serving.close()

    # -- controls ------------------------------------------------------------------------------------------------

    def _add_controls(
        self, tree: Any, simulation: Simulation, title: str, *, can_reset: bool, can_command: bool
    ) -> None:
        gui = self.server.gui
        gui.set_panel_label(short(title, 40))
        self._run = PacePanel(gui, self.pace, can_reset=can_reset)
        if simulation.worlds > 1:
            gui.add_markdown(
                f"{simulation.worlds} worlds"
                + (f", {self.worlds} shown" if self.worlds < simulation.worlds else "")
            )
            self._world = gui.add_number("World", 0, min=0, max=self.worlds - 1, step=1)
            self._world.on_update(lambda event: self._choose_world(int(event.target.value)))
        names = [
            freedom.name
            for freedom in self._layout.freedoms
            if freedom.motion in (Motion.HINGE, Motion.SLIDE)
        ]
        rates = [f"{name} velocity" for name in names]
        found = {freedom.name: freedom for freedom in self._layout.freedoms}
        self._columns = {name: (False, found[name].q) for name in names}
        self._columns |= {f"{name} velocity": (True, found[name].v) for name in names}
        chosen = list(self._signals)[:1] or names[:3]
        self.plot = SignalPlot(gui, [*self._signals, *names, *rates, _FORCE, _CONTACTS], chosen)
        if can_command:
            self._add_commands(simulation)
        with gui.add_folder("Show", expand_by_default=True):
            for name in self.figure.list_layers():
                box = gui.add_checkbox(name, LAYERS[name])
                box.on_update(lambda event, name=name: self.figure.show(name, event.target.value))
            box = gui.add_checkbox("Contacts", False)
            box.on_update(lambda event: self._show_contacts(event.target.value))
        with gui.add_folder("Selected"):
            self._facts = gui.add_markdown("Click a link; Ctrl and drag pulls it.")
        self._tree = TreePanel(gui, tree, self.pick)
        picture = gui.add_button("Save a picture")
        picture.on_click(lambda event: save_picture(event.client))

    def _add_commands(self, simulation: Simulation) -> None:
        """Sliders for what drives aim at, and for actuators that are no drives."""
        found = list_commands(self.asset, simulation)
        if not found:
            return
        gui = self.server.gui
        with gui.add_folder(f"Commands ({len(found)})", expand_by_default=False):
            by_hand = gui.add_checkbox("By hand", False, hint="Else the control file or the policy commands")
            by_hand.on_update(lambda event: self.command_by_hand(event.target.value))
            for name, (lower, upper, value) in list(found.items())[:_MOST_COMMANDS]:
                step = choose_step(lower, upper)
                slider = gui.add_slider(
                    short(name, 40),
                    lower,
                    upper,
                    step,
                    float(np.clip(value, lower, upper)),
                    marks=mark_ends(lower, upper),
                )
                slider.on_update(lambda event, name=name: self.command(name, float(event.target.value)))
                self._commands[name] = float(slider.value)

    def command_by_hand(self, by_hand: bool) -> None:
        """Take over the commands of the simulation, or leave them to its control file or policy again."""
        self._commanded = by_hand

    def command(self, name: str, value: float) -> None:
        """What an actuator is told from now on, as long as commands are given by hand."""
        with self._lock:
            self._commands[name] = value

    def _welcome(self, _: Any) -> None:
        self.figure.welcome()
        self.pace.look()

    def _choose_world(self, world: int) -> None:
        with self._lock:
            self.world = min(max(world, 0), self.worlds - 1)
            self._mark()

    def _show_contacts(self, shown: bool) -> None:
        self._shows_contacts = shown
        if not shown:
            self._arrows.hide()

    # -- selecting -----------------------------------------------------------------------------------------------

    def _click(self, picked: Picked) -> None:
        with self._lock:
            self.world = picked.world
            if self.worlds > 1:
                self._world.value = picked.world
            self.pick(self.asset.body_names[picked.body] if picked.body >= 0 else "")

    def pick(self, name: str) -> None:
        """Select a link of the world that is picked."""
        with self._lock:
            self._picked = self.asset.body_names.index(name) if name else -1
            self._tree.pick(name)
            self._mark()

    def _mark(self) -> None:
        self.figure.mark([self._picked] if self._picked >= 0 else [], world=self.world)

    def _drag(self, dragged: Dragged) -> None:
        if dragged.body >= 0:
            self._pull = dragged if dragged.phase != "end" else None

    # -- the simulation asks -------------------------------------------------------------------------------------

    def act(self, simulation: Simulation) -> None:
        """Before steps: pull what is dragged, and give commands that are given by hand."""
        pull = self._pull
        if pull is not None and self._fits(simulation):
            simulation.apply_forces(wrenches=self._find_wrenches(simulation, pull))
            self._pulled = True
        elif self._pulled:
            simulation.apply_forces()
            self._pulled = False
        if self._commanded:
            with self._lock:
                controls = simulation.controls
                for column, name in enumerate(simulation.actuators):
                    if name in self._commands:
                        controls[:, column] = self._commands[name]
            simulation.set_controls(controls)

    def _find_wrenches(self, simulation: Simulation, pull: Dragged) -> Array:
        """A spring from where a body was taken to where the pointer is."""
        row = int(self._order[pull.body])
        wrenches = np.zeros((simulation.worlds, len(self._layout.bodies), 6))
        force = _PULL * self._mass * (pull.end - pull.start)
        seven = self.figure.poses[pull.world, pull.body]
        pose = Pose.of(seven[:3], seven[3:])
        held = self._inertials.get(self.asset.body_names[pull.body])
        middle = pose.apply(held.com if isinstance(held, Inertial) else np.zeros(3))
        arm = pull.start - self.figure.roots[pull.world, :3] - middle
        wrenches[pull.world, row, :3] = force
        wrenches[pull.world, row, 3:] = np.cross(arm, force)
        return wrenches

    def show(self, simulation: Simulation, moment: float, signals: Mapping[str, float] | None = None) -> None:
        """After steps: draw where everything is, if it is time for a picture; ``moment`` is simulated time [s]."""
        if not (self._serving.is_visited and self.pace.is_picture_due() and self._fits(simulation)):
            return
        before = time.perf_counter()
        self.figure.place(self._take_poses(simulation))
        contacts = self._list_contacts(simulation)
        if self._shows_contacts:
            self._arrows.show(contacts or [], self.figure.roots[self.world, :3])
        self.plot.take(moment, self._list_signals(simulation, contacts, signals or {}))
        told = "".join(f", {plain(name)} {value:.3g}" for name, value in (signals or {}).items())
        self._run.show(moment, told)
        if self._picked >= 0:
            self._describe()
        self.pace.note_picture(time.perf_counter() - before)

    def _fits(self, simulation: Simulation) -> bool:
        """Does a simulation still have the bodies of the page?  If not, the page says so."""
        layout = simulation.layout
        if layout is self._layout or layout.bodies == self._layout.bodies:
            return True
        self._run.note = "Another world was loaded, which this page does not show."
        self._run.show(0.0)
        return False

    def warn(self, text: str) -> None:
        """Stand still and say why."""
        self._run.warn(plain(text))

    def _take_poses(self, simulation: Simulation) -> Array:
        return np.asarray(simulation.body_poses()[: self.worlds][:, self._order])

    def _list_contacts(self, simulation: Simulation) -> list[Contact] | None:
        if self._shows_contacts or not {_FORCE, _CONTACTS}.isdisjoint(self.plot.chosen):
            return simulation.contacts(self.world)
        return None

    def _list_signals(
        self, simulation: Simulation, contacts: Sequence[Contact] | None, more: Mapping[str, float]
    ) -> dict[str, float]:
        values = dict(more)
        chosen = [name for name in self.plot.chosen if name in self._columns]
        if chosen:
            now = {
                is_rate: (simulation.velocities if is_rate else simulation.positions)[self.world]
                for is_rate in {self._columns[name][0] for name in chosen}
            }
            for name in chosen:
                is_rate, column = self._columns[name]
                values[name] = float(now[is_rate][column])
        if contacts is not None:
            values[_FORCE] = float(sum(abs(one.force) for one in contacts))
            values[_CONTACTS] = float(len(contacts))
        return values

    def _describe(self) -> None:
        name, seven = self.asset.body_names[self._picked], self.figure.poses[self.world, self._picked]
        rows = [("position [m]", numbers(seven[:3])), ("quaternion w x y z", numbers(seven[3:]))]
        held = self._inertials.get(name)
        if held is not None:
            rows.append(("mass [kg]", f"{held.mass:.6g}"))
        world = f", world {self.world}" if self.worlds > 1 else ""
        self._facts.content = f"**{plain(name)}**{world}\n\n{table(rows)}\n\nCtrl and drag pulls it."

    def wait_over(self, moment: float, dt: float) -> bool:
        """For simulations that step themselves: wait until the step after ``moment`` [s] is due; False at the end.

        Asked for the beginning, it comes back at once.
        """
        return self.pace.take_steps(moment, dt, 1) > 0


def place_worlds(count: int, lower: Array, upper: Array) -> Array:
    """Offsets of worlds in a grid [m], with room between them."""
    wide = 1.3 * (upper - lower)
    across = max(1, math.ceil(math.sqrt(count)))
    rows, columns = np.divmod(np.arange(count), across)
    return np.stack((columns * wide[0], rows * wide[1], np.zeros(count)), axis=1)


def list_commands(asset: Asset, simulation: Simulation) -> dict[str, tuple[float, float, float]]:
    """Actuators by name: between which values they may be told, and what they are told now."""
    known = {actuator.name: actuator.control_range for actuator in asset.actuators}
    dofs = {dof.name or joint.name: dof for joint in asset.joints for dof in joint.dofs}
    dofs |= {joint.name: joint.dofs[0] for joint in asset.joints if len(joint.dofs) == 1}
    now = simulation.controls[0]
    found: dict[str, tuple[float, float, float]] = {}
    for column, name in enumerate(simulation.actuators):
        lower, upper = known.get(name) or _find_range(dofs.get(name))
        if math.isfinite(lower) and math.isfinite(upper) and upper > lower:
            found[name] = (float(lower), float(upper), float(now[column]))
    return found


def _find_range(dof: Dof | None) -> tuple[float, float]:
    """What a drive of a dof may aim at: its limits, or a usual range where it has none."""
    if dof is None:
        return -1.0, 1.0
    free = math.pi if dof.motion is Motion.HINGE else 1.0
    lower = dof.lower if math.isfinite(dof.lower) else -free
    return lower, dof.upper if math.isfinite(dof.upper) else free


_HANDLE_NAME = "/tool target"


class DrivingPanel:
    """A handle to drag the tool by, and a button for each command; ``keys`` are shown beside them and work on the page.

    ``aim`` is told where the handle is dragged, ``press`` which command was given: a name of ``commands``.
    """

    def __init__(
        self,
        server: Any,
        size: float,
        aim: Callable[[Pose], None],
        press: Callable[[str], None],
        *,
        commands: Mapping[str, str],
        keys: Mapping[str, str],
    ) -> None:
        self._aim, self._dragged, self._lock = aim, False, threading.Lock()
        self._handle = server.scene.add_transform_controls(_HANDLE_NAME, scale=size, depth_test=False)
        self._handle.on_drag_start(lambda _: self._set_dragged(True))
        self._handle.on_drag_end(lambda _: self._set_dragged(False))
        self._handle.on_update(lambda _: self._drag())
        with server.gui.add_folder("Drive"):
            server.gui.add_markdown("Drag the handle at the tool, or use the keys.")
            for label, key in commands.items():
                server.gui.add_button(label).on_click(lambda _, key=key: press(key))
        for label, key in keys.items():
            # keys of the page repeat while they are held, as those of a terminal do
            command = server.gui.add_command(label, hotkey=key.upper())
            command.on_trigger(lambda _, key=key: press(key))

    def _set_dragged(self, dragged: bool) -> None:
        with self._lock:
            self._dragged = dragged

    def _drag(self) -> None:
        self._aim(Pose.of(self._handle.position, self._handle.wxyz))

    def follow(self, pose: Pose) -> None:
        """Put the handle where the tool is to go, unless somebody holds it."""
        with self._lock:
            if not self._dragged:
                self._handle.position, self._handle.wxyz = tuple(pose.p), tuple(pose.q)
