# SPDX-License-Identifier: Apache-2.0
"""Several assets in one simulation, each with coordinates, bodies and names of its own.

A part is an asset that a bridge serves: what was run, and what peers have spawned since.  All parts are put together
into one asset, names of spawned ones behind a prefix, and opened in one engine.  Whenever a part comes or goes, the
whole is opened again, and every other part goes on from where it was.  A bridge sees its part alone, as a simulation
(:class:`PartSimulation`), so that it need not know of the others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, VectorLike
from simwright.engines.layout import Layout
from simwright.engines.protocol import Closeable, Contact, Settings, Simulation
from simwright.engines.table import load_engine
from simwright.model.asset import Asset
from simwright.model.ros import RosContext
from simwright.ros.graph import RosGraph, build_graph
from simwright.ros.servos import add_missing_drives, free_twisted_bodies, list_undriven

Value = TypeVar("Value")
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class EquippedAsset:
    """An asset with drives on all commanded joints: the graph it has, and the joints whose drive was ``added``."""

    asset: Asset
    graph: RosGraph
    added: frozenset[str]


def equip_asset(
    asset: Asset, engine: str, settings: Settings, reporter: Reporter, *, namespace: str = ""
) -> EquippedAsset:
    """Prepare an asset for a bridge: drives for commanded joints, its ROS graph below ``namespace``."""
    if namespace:
        asset = asset.copy()
        # without a path it is above everything
        asset.contexts.insert(0, RosContext(namespace))
    asset = free_twisted_bodies(asset, reporter)
    graph = build_graph(asset, reporter)
    if not list_undriven(asset, graph):
        return EquippedAsset(asset, graph, frozenset())
    made, added = _drive_commanded_joints(asset, graph, engine, settings, reporter)
    return EquippedAsset(made, graph if made is asset else build_graph(made, Reporter()), added)


def _drive_commanded_joints(
    asset: Asset, graph: RosGraph, engine: str, settings: Settings, reporter: Reporter
) -> tuple[Asset, frozenset[str]]:
    """Add drives to commanded joints that have none, sized by the inertia at each joint.

    The mass matrix is the engine's, or MuJoCo's where the engine has none to give.
    """
    # what it reports is reported again when the asset itself is opened
    with load_engine(engine).open(asset, settings, Reporter()) as probe:
        if probe.mass_matrix() is not None:
            return add_missing_drives(asset, graph, probe, reporter)
        same = Settings(dt=probe.dt, threads=1)
    with load_engine("mujoco").open(asset, same, Reporter()) as other:
        return add_missing_drives(asset, graph, other, reporter)


class SharedSimulation(Closeable):
    """One simulation of all parts (``inner``); ``count`` goes on when it is opened again."""

    def __init__(self, inner: Simulation, engine: str, settings: Settings, reporter: Reporter) -> None:
        self._engine, self._settings, self._reporter = engine, settings, reporter
        self.inner, self.count = inner, inner.count
        self.parts: list[PartSimulation] = []
        self._known: dict[str, Any] = {}

    def add_first(self, asset: Asset) -> PartSimulation:
        """The view of the asset that ``inner`` was opened with."""
        part = PartSimulation(self, asset, "")
        self.parts.append(part)
        part.bind(self.inner, [])
        return part

    def reopen(self, parts: Sequence[PartSimulation], *, anew: Sequence[PartSimulation] = ()) -> None:
        """Open the engine again with these parts; nothing is changed if that fails.

        Parts in ``anew`` start as their assets say, the others keep their state.
        """
        base = next((part.asset for part in parts if not part.prefix), None)
        whole = base.copy() if base is not None else Asset("world")
        for part in parts:
            if part.prefix:
                whole.attach(part.asset, prefix=part.prefix, hold=False, reporter=self._reporter)
        made = load_engine(self._engine).open(whole, self._settings, self._reporter)
        before, self.inner = self.inner, made
        prefixes = [part.prefix for part in parts if part.prefix]
        kept = [part for part in parts if part in self.parts and part not in anew]
        _copy_state(before, made, kept)
        before.close()
        for part in parts:
            part.bind(made, prefixes)
        self.parts = list(parts)
        self.forget()

    def ask(self, what: str, read: Callable[[Simulation], Value]) -> Value:
        """A value of the shared simulation, read from the engine once per step."""
        if what not in self._known:
            self._known[what] = read(self.inner)
        value: Value = self._known[what]
        return value

    def forget(self) -> None:
        """Drop values read from the engine, because its state has changed."""
        self._known.clear()

    def step(self, steps: int) -> None:
        """Write targets and forces of all parts to the engine, then step it."""
        self._command(self.inner)
        try:
            self.inner.step(steps)
        finally:
            self.forget()
        self.count += steps
        for part in self.parts:
            part.count = self.count

    def _command(self, inner: Simulation) -> None:
        """Write targets and forces of all parts at once; controls of parts that set none stay as they are."""
        commanded = [part for part in self.parts if part.targets]
        if commanded:
            before, rows = inner.controls, np.zeros((3, 1, inner.layout.nv))
            for part in commanded:
                for row, values in zip(rows, part.targets, strict=True):
                    row[0, part.v_rows] = values
                part.targets = ()
            inner.set_targets(*rows)
            if len(commanded) < len(self.parts):
                after = inner.controls
                columns = np.concatenate([part.control_rows for part in commanded])
                before[:, columns] = after[:, columns]
                inner.set_controls(before)
        if any(part.forces for part in self.parts):
            forces, wrenches = np.zeros((1, inner.layout.nv)), np.zeros((1, len(inner.layout.bodies), 6))
            for part in self.parts:
                if part.forces:
                    forces[0, part.v_rows], wrenches[0, part.body_rows] = part.forces
            inner.apply_forces(forces, wrenches)

    def close(self) -> None:
        """Close the engine."""
        self.inner.close()


def _copy_state(before: Simulation, made: Simulation, parts: Sequence[PartSimulation]) -> None:
    """Copy positions, velocities and controls of parts that stay from one simulation to the next, by name."""
    q, v, controls = made.positions, made.velocities, made.controls
    old_q, old_v, old_controls = before.positions, before.velocities, before.controls
    known = {freedom.name: freedom for freedom in before.layout.freedoms}
    columns = {name: column for column, name in enumerate(before.actuators)}
    names = {f"{part.prefix}{freedom.name}" for part in parts for freedom in part.layout.freedoms}
    for freedom in made.layout.freedoms:
        old = known.get(freedom.name)
        if old is not None and freedom.name in names:
            q[:, freedom.positions] = old_q[:, old.positions]
            v[:, freedom.velocities] = old_v[:, old.velocities]
    for column, name in enumerate(made.actuators):
        if name in columns and any(name.startswith(part.prefix) for part in parts):
            controls[:, column] = old_controls[:, columns[name]]
    made.set_state(q, v)
    made.set_controls(controls)


class PartSimulation(Simulation):
    """One asset of several in a simulation, with its own names and order; a step moves all of them.

    ``prefix`` is what its names have in front in the whole, nothing for the asset that was run.
    """

    def __init__(self, shared: SharedSimulation, asset: Asset, prefix: str) -> None:
        self._shared, self.asset, self.prefix = shared, asset, prefix
        self.layout = Layout(asset)
        self.worlds, self.count = 1, shared.count
        self.dt, self.threads = 0.0, 1
        self.actuators, self.sensors = (), ()
        self.targets: tuple[Array, ...] = ()
        """Targets for the next step: positions, velocities, efforts (nv)."""
        self.forces: tuple[Array, ...] = ()
        """Forces (nv) and wrenches (bodies x 6), until they are set again."""
        self.q_rows, self.v_rows, self.body_rows, self.control_rows = (_no_rows() for _ in range(4))

    def replace_asset(self, asset: Asset) -> None:
        """Stand for another asset; takes effect when the shared simulation is opened again."""
        self.asset, self.layout = asset, Layout(asset)
        self.targets, self.forces = (), ()

    def bind(self, inner: Simulation, prefixes: Sequence[str]) -> None:
        """Find the rows of this part in the shared simulation; ``prefixes`` are those of spawned parts."""
        self.dt, self.threads = inner.dt, inner.threads
        own = [inner.layout.find(f"{self.prefix}{freedom.name}") for freedom in self.layout.freedoms]
        self.q_rows = _join([np.arange(f.positions.start, f.positions.stop) for f in own])
        self.v_rows = _join([np.arange(f.velocities.start, f.velocities.stop) for f in own])
        names = [f"{self.prefix}{name}" for name in self.layout.bodies]
        self.body_rows = np.array([inner.layout.find_body(name) for name in names], dtype=np.int64)
        others = tuple(prefixes)

        def is_mine(name: str) -> bool:
            return name.startswith(self.prefix) if self.prefix else not name.startswith(others)

        mine = [column for column, name in enumerate(inner.actuators) if is_mine(name)]
        self.control_rows = np.array(mine, dtype=np.int64)
        self.actuators = tuple(inner.actuators[column].removeprefix(self.prefix) for column in mine)
        self.sensors = tuple(name.removeprefix(self.prefix) for name in inner.sensors if is_mine(name))

    @property
    def positions(self) -> Array:
        """See the base class."""
        return np.asarray(self._shared.ask("positions", lambda inner: inner.positions)[:, self.q_rows])

    @property
    def velocities(self) -> Array:
        """See the base class."""
        return np.asarray(self._shared.ask("velocities", lambda inner: inner.velocities)[:, self.v_rows])

    def set_state(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """See the base class."""
        del worlds
        inner = self._shared.inner
        q = v = None
        if positions is not None:
            q = inner.positions
            q[:, self.q_rows] = positions
        if velocities is not None:
            v = inner.velocities
            v[:, self.v_rows] = velocities
        inner.set_state(q, v)
        self._shared.forget()

    @property
    def controls(self) -> Array:
        """See the base class."""
        return np.asarray(self._shared.inner.controls[:, self.control_rows])

    def set_controls(self, controls: Array) -> None:
        """See the base class."""
        inner = self._shared.inner
        whole = inner.controls
        whole[:, self.control_rows] = controls
        inner.set_controls(whole)

    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """See the base class; used from the next step on."""
        self.targets = tuple(
            np.zeros(self.layout.nv) if values is None else np.array(values[0])
            for values in (positions, velocities, efforts)
        )

    def apply_forces(self, forces: Array | None = None, wrenches: Array | None = None) -> None:
        """See the base class; used from the next step on."""
        self.forces = (
            np.zeros(self.layout.nv) if forces is None else np.array(forces[0]),
            np.zeros((len(self.layout.bodies), 6)) if wrenches is None else np.array(wrenches[0]),
        )

    def step(self, steps: int = 1) -> None:
        """See the base class."""
        self._shared.step(steps)

    def body_poses(self) -> Array:
        """See the base class."""
        return np.asarray(self._shared.ask("poses", lambda inner: inner.body_poses())[:, self.body_rows])

    def read_sensors(self, world: int = 0) -> dict[str, Array] | None:
        """See the base class."""
        found = self._shared.ask("sensors", lambda inner: inner.read_sensors(world))
        return None if found is None else {name: found[f"{self.prefix}{name}"] for name in self.sensors}

    def mass_matrix(self, world: int = 0) -> Array | None:
        """See the base class."""
        found = self._shared.ask("masses", lambda inner: inner.mass_matrix(world))
        return None if found is None else np.asarray(found[np.ix_(self.v_rows, self.v_rows)])

    def bias(self, world: int = 0) -> Array | None:
        """See the base class."""
        found = self._shared.ask("bias", lambda inner: inner.bias(world))
        return None if found is None else np.asarray(found[self.v_rows])

    def contacts(self, world: int = 0) -> list[Contact] | None:
        """See the base class; bodies of others have the names of the whole."""
        found = self._shared.ask("contacts", lambda inner: inner.contacts(world))
        if found is None or not self.prefix:
            return found
        own = self.prefix
        return [
            Contact(c.a.removeprefix(own), c.b.removeprefix(own), c.position, c.normal, c.distance, c.force,
                    c.friction)
            for c in found
            if c.a.startswith(own) or c.b.startswith(own)
        ]  # fmt: skip

    def actuator_efforts(self, world: int = 0) -> Array | None:
        """See the base class."""
        del world
        found = self._shared.ask("efforts", lambda inner: inner.actuator_efforts())
        return None if found is None else found[self.v_rows]

    def body_velocities(self, world: int = 0) -> Array | None:
        """See the base class."""
        found = self._shared.ask("rates", lambda inner: inner.body_velocities(world))
        return None if found is None else np.asarray(found[self.body_rows])

    def cast_rays(
        self, origin: VectorLike, directions: Array, *, reach: float, ignore: str = "", world: int = 0
    ) -> Array | None:
        """See the base class."""
        inner = self._shared.inner
        unseen = f"{self.prefix}{ignore}" if ignore else ""
        return inner.cast_rays(origin, directions, reach=reach, ignore=unseen, world=world)

    def render(
        self, camera: str, size: tuple[int, int], *, depth: bool = False, world: int = 0
    ) -> npt.NDArray[Any] | None:
        """See the base class."""
        inner = self._shared.inner
        return inner.render(f"{self.prefix}{camera}", size, depth=depth, world=world)

    def close(self) -> None:
        """Does nothing: the shared simulation is closed as a whole."""


def _no_rows() -> Rows:
    return np.zeros(0, dtype=np.int64)


def _join(rows: Sequence[npt.NDArray[Any]]) -> Rows:
    return np.concatenate([_no_rows(), *rows]).astype(np.int64)
