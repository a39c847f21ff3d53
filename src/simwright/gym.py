# SPDX-License-Identifier: Apache-2.0
"""Every task as a Gymnasium environment with an id: importing this module registers them (extra ``gym``).

::

    import gymnasium
    import simwright.gym

    env = gymnasium.make("simwright/reach-v0", robot="sample_arm")
    envs = gymnasium.make_vec("simwright/reach-v0", num_envs=64, robot="sample_arm")

``gymnasium.make("simwright.gym:simwright/reach-v0", ...)`` needs no import.  Keyword arguments are those of
:func:`simwright.tasks.environments.make_env` and :func:`~simwright.tasks.environments.make_vector_env`.
"""

from __future__ import annotations

from simwright.core.errors import MissingExtraError
from simwright.tasks.scenes.table import SCENES

try:
    import gymnasium
except ImportError:
    raise MissingExtraError("gymnasium", "gym", "an environment") from None

from simwright.tasks.gymnasium_env import SimEnv, SimVectorEnv

__all__ = ["SimEnv", "SimVectorEnv", "register_envs"]

_MAKERS = "simwright.tasks.environments"


def register_envs() -> None:
    """Register one environment and one vector environment for each task; ids that are there already stay."""
    for name in SCENES.names():
        identifier = f"simwright/{name}-v0"
        # the module is not looked into here: MuJoCo is imported when an environment is made
        if identifier not in gymnasium.registry:
            gymnasium.register(
                id=identifier,
                entry_point=f"{_MAKERS}:make_env",
                vector_entry_point=f"{_MAKERS}:make_registered_vector_env",
                kwargs={"task": name},
            )


register_envs()
