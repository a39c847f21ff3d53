# SPDX-License-Identifier: Apache-2.0
"""The row of MuJoCo in the table of engines: what it offers, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.engines.mujoco.simulation import MujocoSimulation
from simwright.engines.protocol import Capabilities, Scene, Settings, as_scene
from simwright.model.asset import Asset

CAPABILITIES = Capabilities(
    name="mujoco",
    title="MuJoCo",
    reads="mjcf",
    solvers={
        "newton": "Newton's method: few steps, exact",
        "cg": "conjugate gradients: large models",
        "pgs": "projected Gauss-Seidel: rough",
    },
    options={
        "integrator": "euler, rk4, implicit or implicitfast",
        "cone": "pyramidal or elliptic friction",
        "impratio": "stiffness of friction over that of contact",
        "iterations": "most iterations of the solver",
        "tolerance": "at which the solver stops",
        "condim": "most directions of friction: 1 none, 3 sliding, 4 twisting, 6 rolling",
        "stiff": "yes: hold loops, followers and dry friction as stiffly as the time step allows",
    },
    # what the runtime arrays of scenes mean: springs in contact, nothing creeps, joints hold
    scene_options={
        "integrator": "implicitfast",
        "cone": "elliptic",
        "impratio": 100.0,
        "condim": "3",
        "stiff": "yes",
    },
    deterministic=True,
    parallel=True,
    contact_pairs=True,
)
_WORDS = {
    "integrator": ("euler", "rk4", "implicit", "implicitfast"),
    "cone": ("pyramidal", "elliptic"),
    "condim": ("1", "3", "4", "6"),
    "stiff": ("no", "yes"),
}
_NUMBERS = {"impratio": float, "iterations": int, "tolerance": float}


class MujocoEngine:
    """Opens assets in MuJoCo: written as MJCF in memory, compiled, stepped on all cores."""

    @property
    def capabilities(self) -> Capabilities:
        """What MuJoCo offers."""
        return CAPABILITIES

    def open(
        self,
        source: Asset | Scene,
        settings: Settings | None = None,
        reporter: Reporter | None = None,
        *,
        worlds: int = 1,
    ) -> MujocoSimulation:
        """Compile the asset and start the threads."""
        settings = settings or Settings()
        settings.check(CAPABILITIES)
        options = read_options(settings.options)
        if settings.solver:
            options["solver"] = settings.solver
        reporter = Reporter() if reporter is None else reporter
        return MujocoSimulation(as_scene(source, worlds), settings, options, reporter)


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their types; a value that is none is an error that says what there is."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in _WORDS:
            word = str(value).lower()
            if word not in _WORDS[name]:
                raise UnknownNameError(f"{name} of mujoco", word, _WORDS[name])
            options[name] = word
            continue
        try:
            options[name] = _NUMBERS[name](value)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is {value!r}", hint="a number") from None
        if not 0.0 < options[name] < float("inf"):
            raise UsageError(f"{name} is {value!r}", hint="a number above zero")
    return options


ENGINE = MujocoEngine()
