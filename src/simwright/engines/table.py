# SPDX-License-Identifier: Apache-2.0
"""The visible list of engines; packages add rows through entry points in the group ``simwright.engines``."""

from __future__ import annotations

from simwright.core.registry import Registry
from simwright.engines.protocol import Engine

ENGINES: Registry[Engine] = Registry(
    "engine",
    "simwright.engines",
    {
        "mujoco": "simwright.engines.mujoco.engine:ENGINE",
        "newton": "simwright.engines.newton.simulate:ENGINE",
        # in a process of its own, as prove has it
        "drake": "simwright.prover.drake_engine:ENGINE",
    },
)
DEFAULT_ENGINE = "mujoco"


def load_engine(name: str = DEFAULT_ENGINE) -> Engine:
    """The engine of that name; an unknown one is an error that names those there are."""
    return ENGINES.get(name)
