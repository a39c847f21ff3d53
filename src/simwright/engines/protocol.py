# SPDX-License-Identifier: Apache-2.0
"""What an engine is: it opens an asset, written in the format it reads, and moves its worlds on.

::

    engine = load_engine("mujoco")
    with engine.open(asset, Settings(dt=0.002)) as simulation:
        simulation.set("elbow", 0.5)
        simulation.step(500)
        simulation.get("elbow")

An adapter is a folder in ``engines/`` with an object that has ``capabilities`` and ``open``, and a subclass of
:class:`Simulation`.  It names the format it reads (``Capabilities.reads``); what that format cannot hold, and what the
engine cannot do, is reported when the asset is opened.  Flat arrays of every engine have the same order and meaning:
see :mod:`simwright.engines.layout`.

At the end: the check for a simulation that diverged (values are not numbers): which dof, which world, at what time.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
import numpy.typing as npt

from simwright.core.diag import Diagnostic, Level, Reporter, declare
from simwright.core.errors import EXIT_FINDINGS, SimwrightError, UnknownNameError, UsageError
from simwright.core.math3d import Array, VectorLike
from simwright.engines.layout import Layout, LayoutDof
from simwright.model.asset import Asset

SimulationT_co = TypeVar("SimulationT_co", bound="Simulation", covariant=True)
Watch = Callable[[int], None]
"""Called with the number of steps since a simulation was opened."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine offers, as data; known without importing the engine itself.

    ``reads`` is the format (a name of the format table) that assets are written in for it, or "model" where the
    adapter hands the neutral model over call by call.  ``solvers`` are its methods, the default first ("" where the
    file decides); ``options`` the names (and meanings) of what can be set beside them, ``scene_options`` those that
    scenes have unless told otherwise.  ``deterministic`` means: the same bits in every run, whatever the number of
    threads.  ``parallel`` engines use several threads; those with ``contact_pairs`` take pairs of shapes that touch
    with values of their own.
    """

    name: str
    title: str
    reads: str
    solvers: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    scene_options: Mapping[str, Any] = field(default_factory=dict)
    devices: tuple[str, ...] = ("cpu",)
    deterministic: bool = False
    parallel: bool = False
    contact_pairs: bool = False

    @property
    def default_solver(self) -> str:
        """The first one."""
        return next(iter(self.solvers))


@dataclass(frozen=True, slots=True)
class Settings:
    """How an asset is run; None and "" leave it to the file, then to the engine.

    ``dt`` is the time step [s]; ``threads`` None is one for each core.  ``solver`` and ``options`` are words of the
    engine, see its :class:`Capabilities`; ``device`` is "cpu" or what the engine can use beside it.
    """

    dt: float | None = None
    solver: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None
    device: str = "cpu"

    def check(self, capabilities: Capabilities) -> None:
        """Raise a UsageError for what the engine does not have."""
        # NaN fails every comparison: finite is asked for by name
        if self.dt is not None and not (math.isfinite(self.dt) and self.dt > 0.0):
            raise UsageError(f"dt is {self.dt}", hint="a time step above zero [s]")
        if self.solver and self.solver not in capabilities.solvers:
            raise UnknownNameError(f"solver of {capabilities.name}", self.solver, capabilities.solvers)
        for name in self.options:
            if name not in capabilities.options:
                raise UnknownNameError(f"option of {capabilities.name}", name, capabilities.options)
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"threads is {self.threads}", hint="at least one")
        # "cuda:1" is the second device of a kind
        kind = self.device.partition(":")[0]
        if kind not in capabilities.devices:
            raise UnknownNameError(f"device of {capabilities.name}", self.device, capabilities.devices)


@dataclass(frozen=True, slots=True, eq=False)
class WorldSet:
    """Several worlds: ``assets`` that differ in numbers only, and for each world which of them it is.

    Every world stands at the origin; worlds do not touch each other.
    """

    assets: tuple[Asset, ...]
    kinds: tuple[int, ...]

    @property
    def worlds(self) -> int:
        """How many worlds there are."""
        return len(self.kinds)


@dataclass(frozen=True, slots=True)
class Contact:
    """Two bodies that touch ("" is the world).

    ``position`` [m] and ``normal`` (from ``a`` to ``b``) are in the world's frame; ``distance`` [m] is negative where
    the surfaces overlap; ``force`` [N] is along the normal, ``friction`` [N] is its length across.
    """

    a: str
    b: str
    position: tuple[float, float, float]
    normal: tuple[float, float, float]
    distance: float
    force: float
    friction: float


class Closeable(abc.ABC):
    """Something with threads or memory of an engine: ``with`` closes it."""

    @abc.abstractmethod
    def close(self) -> None:
        """Give threads and memory back."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


class Simulation(Closeable):
    """Worlds that are open in an engine.

    Arrays have a row for each world.  ``positions`` and ``velocities`` follow ``layout``; ``actuators`` names the
    columns of raw ``controls``, drives of joints among them, named after their dof.  What is set holds until it is
    set again.  ``findings`` says what the engine could not take.  An engine that cannot tell something (mass matrix,
    contacts ...) returns None.
    """

    layout: Layout
    worlds: int
    dt: float
    threads: int
    actuators: tuple[str, ...]
    sensors: tuple[str, ...]
    findings: tuple[Diagnostic, ...] = ()
    count: int = 0
    """Steps since the simulation was opened."""

    @property
    @abc.abstractmethod
    def positions(self) -> Array:
        """Positions of all worlds (worlds x nq), a copy."""

    @property
    @abc.abstractmethod
    def velocities(self) -> Array:
        """Velocities of all worlds (worlds x nv), a copy."""

    @abc.abstractmethod
    def set_state(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """Set positions, velocities or both, of all worlds or of some (a row for each)."""

    @property
    @abc.abstractmethod
    def controls(self) -> Array:
        """Raw controls of all worlds (worlds x actuators), a copy; what a number means is up to the actuator."""

    @abc.abstractmethod
    def set_controls(self, controls: Array) -> None:
        """Set the raw controls of all worlds (worlds x actuators)."""

    @abc.abstractmethod
    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """Set what drives aim at, dof by dof (each worlds x nv): position, velocity, effort added to it.

        What is None counts as zero.  Dofs that no servo or motor drives are left alone.
        """

    @abc.abstractmethod
    def apply_forces(self, forces: Array | None = None, wrenches: Array | None = None) -> None:
        """Apply generalised forces (worlds x nv) and wrenches on bodies (worlds x bodies x 6) until they are set again.

        Of a ball, the force is a torque along the axes of the parent's frame; of a free dof, a force at the child's
        centre of mass and a torque, along the same axes.  Wrenches are force [N] at the centre of mass and torque
        [N m], along the axes of the world.  None applies none.
        """

    @abc.abstractmethod
    def step(self, steps: int = 1) -> None:
        """Move all worlds on by time steps.

        Raises :class:`~simwright.engines.protocol.UnstableError` where a world leaves all bounds; states are then
        the last good ones.
        """

    @abc.abstractmethod
    def body_poses(self) -> Array:
        """Poses of all bodies in their world (worlds x bodies x 7): position [m], quaternion w, x, y, z."""

    def read_sensors(self, world: int = 0) -> dict[str, Array] | None:
        """Values of all sensors at the present state, by name."""
        del world
        return None

    def mass_matrix(self, world: int = 0) -> Array | None:
        """The joint-space inertia at the present positions (nv x nv), armature included."""
        del world
        return None

    def bias(self, world: int = 0) -> Array | None:
        """Coriolis, centrifugal and gravity forces at the present state (nv): M a + bias = applied forces."""
        del world
        return None

    def contacts(self, world: int = 0) -> list[Contact] | None:
        """What touches what, at the present state."""
        del world
        return None

    def actuator_efforts(self, world: int = 0) -> Array | None:
        """What drives and actuators exert on each dof at the present state (nv) [N m, N]."""
        del world
        return None

    def body_velocities(self, world: int = 0) -> Array | None:
        """Velocities of all bodies (bodies x 6): of the body's origin [m/s], then of its turning [rad/s].

        Both are along the axes of the world.
        """
        del world
        return None

    def cast_rays(
        self, origin: VectorLike, directions: Array, *, reach: float, ignore: str = "", world: int = 0
    ) -> Array | None:
        """How far it is from a point along unit vectors (n x 3) to what can be seen [m]; infinite beyond ``reach``.

        Origin and directions are in the frame of the world.  Shapes of the body ``ignore`` are not seen: those of the
        sensor itself.
        """
        del origin, directions, reach, ignore, world
        return None

    def render(
        self, camera: str, size: tuple[int, int], *, depth: bool = False, world: int = 0
    ) -> npt.NDArray[Any] | None:
        """What a camera of the asset sees, width and height in pixels.

        Colours (height x width x 3, bytes), or with ``depth`` distances along the camera's axis [m] (height x width).
        """
        del camera, size, depth, world
        return None

    def capture(self) -> Any:
        """The present state, to go back to with :meth:`restore`; an engine with more than this keeps that too."""
        return self.positions, self.velocities, self.controls

    def restore(self, captured: Any) -> None:
        """Go back to a state that :meth:`capture` gave; ``count`` goes on."""
        positions, velocities, controls = captured
        self.set_state(positions, velocities)
        self.set_controls(controls)

    # what follows is the same for every engine

    def get(self, name: str, world: int = 0) -> float | Array:
        """The position of a dof: a number, or an array for ball and free dofs."""
        return _unpack(self.positions[world], self.layout.find(name).positions)

    def set(
        self,
        name: str,
        position: float | VectorLike | None = None,
        velocity: float | VectorLike | None = None,
        world: int | None = None,
    ) -> None:
        """Set the position, the velocity or both of a dof, in all worlds or in one."""
        freedom = self.layout.find(name)
        # all coordinates of those worlds are sent: engines translate whole rows
        chosen = range(self.worlds) if world is None else [world]
        q, v = self.positions[list(chosen)], self.velocities[list(chosen)]
        if position is not None:
            q[:, freedom.positions] = _check_width(position, freedom, freedom.positions)
        if velocity is not None:
            v[:, freedom.velocities] = _check_width(velocity, freedom, freedom.velocities)
        self.set_state(q, v, list(chosen))

    def control(self, name: str, value: float, world: int | None = None) -> None:
        """Set the raw control of an actuator, in all worlds or in one."""
        if name not in self.actuators:
            raise UnknownNameError("actuator", name, self.actuators)
        controls = self.controls
        controls[slice(None) if world is None else world, self.actuators.index(name)] = value
        self.set_controls(controls)

    def advance(self, steps: int, *, watch: Watch | None = None, every: int = 1) -> None:
        """Move on by time steps; ``watch`` is called after each step whose number is a multiple of ``every``."""
        # zero steps are fine: a caller may have nothing left to do
        if steps < 0 or every < 1:
            raise UsageError(f"{steps} steps, watched every {every}", hint="steps from zero, every from one")
        if watch is None:
            self.step(steps)
            return
        end = self.count + steps
        while self.count < end:
            # in one call up to the next watched step: engines are faster with many steps at once
            self.step(min(every - self.count % every, end - self.count))
            if self.count % every == 0:
                watch(self.count)


class Engine(Protocol):
    """An adapter of one physics engine."""

    @property
    def capabilities(self) -> Capabilities:
        """What it offers."""
        ...

    def open(
        self,
        source: Asset | WorldSet,
        settings: Settings | None = None,
        reporter: Reporter | None = None,
        *,
        worlds: int = 1,
    ) -> Simulation:
        """Open an asset in one or several worlds, or a scene of worlds, in its initial state.

        What the format or the engine cannot take is reported, never silent.
        """
        ...


class EngineAdapter(abc.ABC, Generic[SimulationT_co]):
    """An engine of ours: what all of them do before they open something.  Others may have :class:`Engine` alone."""

    capabilities: Capabilities

    def open(
        self,
        source: Asset | WorldSet,
        settings: Settings | None = None,
        reporter: Reporter | None = None,
        *,
        worlds: int = 1,
    ) -> SimulationT_co:
        """See :class:`Engine`."""
        settings = settings or Settings()
        settings.check(self.capabilities)
        reporter = Reporter() if reporter is None else reporter
        return self.open_worlds(source, worlds, settings, reporter)

    @abc.abstractmethod
    def open_worlds(
        self, source: Asset | WorldSet, worlds: int, settings: Settings, reporter: Reporter
    ) -> SimulationT_co:
        """Open it with settings that have been checked."""


def report_unheld(told: Reporter, reporter: Reporter) -> None:
    """Pass on what writing an asset for an engine told; losses that change nothing about the motion are left out."""
    for finding in told:
        # a lost comment or colour is an INFO: it does not change the motion
        if finding.level is not Level.INFO or not finding.loss:
            reporter.add(finding)


def as_world_set(source: Asset | WorldSet, worlds: int) -> WorldSet:
    """An asset in so many worlds, or the scene as it is."""
    if isinstance(source, WorldSet):
        return source
    if worlds < 1:
        raise UsageError(f"{worlds} worlds", hint="at least one")
    return WorldSet((source,), (0,) * worlds)


def _unpack(row: Array, place: slice) -> float | Array:
    values = row[place]
    return float(values[0]) if len(values) == 1 else values


def _check_width(value: float | VectorLike, freedom: LayoutDof, place: slice) -> Array:
    given = np.atleast_1d(np.asarray(value, dtype=np.float64))
    wanted = place.stop - place.start
    # numpy would spread a single number over a quaternion
    if given.shape != (wanted,):
        raise UsageError(f"{freedom.name!r} has {wanted} numbers here, not {given.size}")
    return given


LARGEST = 1e8
"""Positions and velocities beyond this are no motion any more [m, rad, m/s, rad/s]."""
STATE_UNSTABLE = declare(
    "engine-unstable",
    Level.ERROR,
    "the simulation became unstable at {time:.4f} s in world {world}: {what} {name!r} has {value}",
    hint="use a smaller time step, softer gains, or more joint armature",
    doc="Coordinates or velocities grew without bound or are not numbers any more.",
)


class UnstableError(SimwrightError):
    """Positions or velocities grew without bound.

    ``finding`` says where and when, at ``time`` [s]; the simulation keeps the last good states.
    """

    code = "unstable"
    exit_code = EXIT_FINDINGS

    def __init__(self, finding: Diagnostic, time: float) -> None:
        super().__init__(finding.message, hint=finding.hint)
        self.finding = finding
        self.time = time


def is_sound(values: Array) -> bool:
    """Are all values finite and of a size that motion can have?"""
    # max of nothing raises
    return not values.size or bool(np.abs(values).max() < LARGEST)  # not a number compares as False


def make_error(layout: Layout, positions: Array, velocities: Array, world: int, time: float) -> UnstableError:
    """Name the dof of a world whose position or velocity (nq, nv) is worst."""
    name, value = _find_worst(layout, positions, velocities)
    found = Reporter()
    data: dict[str, Any] = {"time": time, "world": world, "what": "joint", "name": name, "value": value}
    found.report(STATE_UNSTABLE, **data)
    return UnstableError(next(iter(found)), time)


def _find_worst(layout: Layout, positions: Array, velocities: Array) -> tuple[str, str]:
    """The dof with the first value that is not a number, else with the largest, and that value."""
    worst: tuple[float, str, str] = (-1.0, "", "")
    for values, word in ((velocities, "a velocity"), (positions, "a coordinate")):
        for freedom in layout.freedoms:
            own = values[freedom.velocities if values is velocities else freedom.positions]
            # what is not a number is worse than any number
            sizes = np.where(np.isfinite(own), np.abs(own), np.inf)
            at = int(np.argmax(sizes))
            if sizes[at] > worst[0]:
                worst = (float(sizes[at]), freedom.name, f"{word} of {own[at]:.3g}")
    return worst[1], worst[2]
