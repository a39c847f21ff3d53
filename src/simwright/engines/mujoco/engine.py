# SPDX-License-Identifier: Apache-2.0
"""The row of MuJoCo in the table of engines: what it offers, and how it is opened."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.engines.mujoco.simulation import MujocoSimulation
from simwright.engines.protocol import Capabilities, Settings
from simwright.runtime.model import Model

CAPABILITIES = Capabilities(
    name="mujoco",
    title="MuJoCo",
    solvers={
        "newton": "Newton's method: few steps, exact",
        "cg": "conjugate gradients: large models",
        "pgs": "projected Gauss-Seidel: rough",
    },
    options={
        "integrator": "implicitfast (default), implicit, euler or rk4",
        "cone": "elliptic (default) or pyramidal friction",
        "impratio": "stiffness of friction over that of contact (100)",
        "iterations": "most iterations of the solver (100)",
        "tolerance": "at which the solver stops (1e-8)",
        "condim": "directions of friction: 1 none, 3 sliding (default), 4 twisting, 6 rolling",
    },
    deterministic=True,
    parallel=True,
)
_WORDS = {
    "integrator": ("implicitfast", "implicit", "euler", "rk4"),
    "cone": ("elliptic", "pyramidal"),
    "condim": ("1", "3", "4", "6"),
}
_NUMBERS = {"impratio": float, "iterations": int, "tolerance": float}


class MujocoEngine:
    """Opens models for MuJoCo."""

    @property
    def capabilities(self) -> Capabilities:
        """What MuJoCo offers."""
        return CAPABILITIES

    def open(self, model: Model, settings: Settings, reporter: Reporter | None = None) -> MujocoSimulation:
        """Compile the model and start the threads."""
        settings.check(CAPABILITIES)
        options = read_options(settings.options)
        options["solver"] = settings.solver or CAPABILITIES.default_solver
        return MujocoSimulation(model, settings, options, Reporter() if reporter is None else reporter)


def read_options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Options with their types; a value that is none is an error that says what there is."""
    options: dict[str, Any] = {}
    for name, value in given.items():
        if name in _WORDS:
            if str(value).lower() not in _WORDS[name]:
                raise UnknownNameError(f"{name} of mujoco", str(value), _WORDS[name])
            options[name] = str(value).lower()
            continue
        try:
            options[name] = _NUMBERS[name](value)
        except (TypeError, ValueError):
            raise UsageError(f"{name} is {value!r}", hint="a number") from None
        if not 0.0 < options[name] < float("inf"):
            raise UsageError(f"{name} is {value!r}", hint="a number above zero")
    return options


ENGINE = MujocoEngine()
