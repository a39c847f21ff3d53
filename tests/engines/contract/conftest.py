"""Every engine and solver that is installed, as one parameter; the others are skipped, saying so."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from dataclasses import dataclass

import pytest

from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings, Simulation
from simwright.engines.table import load_engine
from simwright.scenes.document import parse_scene
from simwright.scenes.load import LoadedScene, assemble_scene


@dataclass(frozen=True)
class Contender:
    """An engine with one of its solvers, and how exact its methods are."""

    engine: str
    solver: str = ""
    period: float = 2e-3
    """Relative error of a period at 1 ms."""
    energy: float = 1e-2
    """Share of the energy at stake that may come or go in two seconds at 1 ms."""
    drive: float = 5e-3
    """Error of a driven motion against the step it makes."""
    depth: float = 2e-5
    """Error of the depth to which a body at rest sinks into the ground [m]."""
    stops: bool = True
    """Are stops springs of the stiffness that is said?"""
    efforts: bool = True
    """Are drives cut at their effort limit?"""
    holds: bool = True
    """Does friction hold what it should?"""

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.solver}" if self.solver else self.engine


CONTENDERS = (
    Contender("mujoco"),
    Contender("newton", "mujoco"),
    Contender("newton", "featherstone"),
    Contender("newton", "xpbd"),
)


@pytest.fixture(params=CONTENDERS, ids=lambda one: one.name)
def contender(request: pytest.FixtureRequest) -> Contender:
    one: Contender = request.param
    if importlib.util.find_spec(one.engine) is None:
        pytest.skip(f"the extra {one.engine!r} is not installed")
    return one


@pytest.fixture
def load() -> Callable[..., LoadedScene]:
    def make(text: str, worlds: int = 1) -> LoadedScene:
        return assemble_scene(parse_scene(text), num_worlds=worlds)

    return make


@pytest.fixture
def start(contender: Contender) -> Callable[..., Simulation]:
    """Open a scene with the engine of the test."""

    def make(loaded: LoadedScene, dt: float = 0.001, **more: object) -> Simulation:
        settings = Settings(dt=dt, solver=contender.solver, **more)  # type: ignore[arg-type]
        return load_engine(contender.engine).open(loaded.model, settings, Reporter())

    return make
