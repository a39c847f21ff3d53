"""Every engine and solver as one parameter; those of other environments than ours are for ``make judge``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import pytest

from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings
from simwright.scenes.document import parse_scene
from simwright.scenes.load import LoadedScene, assemble_scene
from simwright.scenes.simulation import SceneSimulation, open_scene


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
    stop: float = 1e-3
    """Error of where a stop holds a load [rad]; it is a spring of the stiffness that is said."""
    slide: float = 0.02
    """Relative error of the speed of sliding."""
    lacks: Mapping[str, str] = field(default_factory=dict)
    """Points of the contract that the method does not have, and why."""

    @property
    def name(self) -> str:
        return f"{self.engine}-{self.solver}" if self.solver else self.engine


_NO_EFFORT = "its drives have no effort limit"
CONTENDERS = (
    Contender("mujoco"),
    Contender(
        "newton",
        "mujoco",
        depth=2e-3,
        slide=0.04,
        lacks={"stop": "Newton turns the stiffness and damping of stops into softer ones"},
    ),
    Contender(
        "newton",
        "featherstone",
        depth=1e-3,
        lacks={
            "slide": "its friction is viscous",
            "stick": "its friction is viscous",
            "effort": _NO_EFFORT,
        },
    ),
    Contender(
        "newton",
        "xpbd",
        period=0.03,
        energy=0.1,
        depth=2e-3,
        stop=0.02,
        lacks={
            "drive": "its drives are compliant constraints, damped by its iterations",
            "effort": _NO_EFFORT,
            "force": "its joint forces act on bodies without the arm of the joint",
        },
    ),
    Contender("drake", "sap", lacks={"stop": "its stops are as stiff as the time step allows"}),
)


JUDGES = {"newton": "newton", "drake": "prove"}


def mark(one: Contender) -> object:
    """A parameter of a test; engines that are not among our dependencies have an environment of their own."""
    return pytest.param(
        one, id=one.name, marks=() if one.engine == "mujoco" else pytest.mark.judge(JUDGES[one.engine])
    )


@pytest.fixture(params=[mark(one) for one in CONTENDERS])
def contender(request: pytest.FixtureRequest) -> Contender:
    one: Contender = request.param
    return one


@pytest.fixture
def need(contender: Contender) -> Callable[[str], None]:
    """Skip what the method does not have, saying so."""

    def ask(point: str) -> None:
        if point in contender.lacks:
            pytest.skip(f"{contender.name}: {contender.lacks[point]}")

    return ask


@pytest.fixture
def load() -> Callable[..., LoadedScene]:
    def make(text: str, worlds: int = 1) -> LoadedScene:
        return assemble_scene(parse_scene(text), num_worlds=worlds)

    return make


@pytest.fixture
def start(contender: Contender) -> Callable[..., SceneSimulation]:
    """Open a scene with the engine of the test."""

    def make(loaded: LoadedScene, dt: float = 0.001, **more: object) -> SceneSimulation:
        settings = Settings(dt=dt, solver=contender.solver, **more)  # type: ignore[arg-type]
        return open_scene(loaded.model, settings, Reporter(), engine=contender.engine)

    return make
