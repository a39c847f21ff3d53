# SPDX-License-Identifier: Apache-2.0
"""What an engine is: something that opens a runtime model and moves its states on.

An engine sees runtime arrays only, never a file.  It owns whatever it makes of them; what callers hold are the flat
arrays of :class:`~simwright.runtime.state.State`, in the conventions written there.

::

    engine = load_engine("mujoco")
    with engine.open(loaded.model, Settings(dt=0.002)) as simulation:
        simulation.advance(state, control, steps=500)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.runtime.model import Model
from simwright.runtime.state import Control, State

Watch = Callable[[int, State], None]
"""Called with the number of steps since a simulation was opened, and the state then."""


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What an engine offers, as data.

    ``solvers`` are its methods, the default first; ``options`` the names (and meanings) of what can be set beside
    them.  ``deterministic`` means: the same bits in every run, whatever the number of threads.  ``parallel`` engines
    use several threads.
    """

    name: str
    title: str
    solvers: Mapping[str, str]
    options: Mapping[str, str] = field(default_factory=dict)
    devices: tuple[str, ...] = ("cpu",)
    deterministic: bool = False
    parallel: bool = False

    @property
    def default_solver(self) -> str:
        """The first one."""
        return next(iter(self.solvers))


@dataclass(frozen=True, slots=True)
class Settings:
    """How a model is run.  ``dt`` is the time step [s]; ``threads`` None is one for each core.

    ``solver`` and ``options`` are words of the engine, see its :class:`Capabilities`; ``device`` is "cpu" or what the
    engine can use beside it.
    """

    dt: float = 0.002
    solver: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    threads: int | None = None
    device: str = "cpu"

    def check(self, capabilities: Capabilities) -> None:
        """Raise a UsageError for what the engine does not have."""
        if not (math.isfinite(self.dt) and self.dt > 0.0):
            raise UsageError(f"dt is {self.dt}", hint="a time step above zero [s]")
        if self.solver and self.solver not in capabilities.solvers:
            raise UnknownNameError(f"solver of {capabilities.name}", self.solver, capabilities.solvers)
        for name in self.options:
            if name not in capabilities.options:
                raise UnknownNameError(f"option of {capabilities.name}", name, capabilities.options)
        if self.threads is not None and self.threads < 1:
            raise UsageError(f"threads is {self.threads}", hint="at least one")
        kind = self.device.partition(":")[0]
        if kind not in capabilities.devices:
            raise UnknownNameError(f"device of {capabilities.name}", self.device, capabilities.devices)


class Simulation(Protocol):
    """A model that is open.  ``worlds`` move independently; ``threads`` move them."""

    worlds: int
    dt: float
    threads: int

    def advance(
        self,
        state: State,
        control: Control,
        steps: int = 1,
        *,
        watch: Watch | None = None,
        every: int = 1,
        poses: bool = True,
    ) -> None:
        """Move a state on by time steps, in place, the control held.

        ``watch`` is called after each step whose number is a multiple of ``every``; it changes nothing about the
        motion.  Poses and velocities of bodies are brought in line with the joints at the end (and before each
        ``watch``) unless ``poses`` is False.
        """
        ...

    def close(self) -> None:
        """Give threads and memory back."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class Engine(Protocol):
    """An adapter of one physics engine."""

    @property
    def capabilities(self) -> Capabilities:
        """What it offers; known without importing the engine itself."""
        ...

    def open(self, model: Model, settings: Settings, reporter: Reporter | None = None) -> Simulation:
        """Make the engine's own model.  What it cannot do is reported, never silent."""
        ...


def step(simulation: Simulation, state_in: State, state_out: State, control: Control) -> None:
    """One time step from one state to another; both keep their own arrays."""
    state_out.assign(state_in)
    simulation.advance(state_out, control, 1)
