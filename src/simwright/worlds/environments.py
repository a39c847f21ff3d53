# SPDX-License-Identifier: Apache-2.0
"""Making environments of worlds; the one door to Gymnasium, which is an extra."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simwright.core.errors import MissingExtraError
from simwright.worlds.world import World

if TYPE_CHECKING:
    from simwright.worlds.gymnasium_env import WorldEnv


def make_env(world: World, objects: Sequence[str], place: str, **settings: Any) -> WorldEnv:
    """A Gymnasium environment: bring objects (names or categories) to a place."""
    if importlib.util.find_spec("gymnasium") is None:
        raise MissingExtraError("gymnasium", "gym", "an environment")
    from simwright.worlds.gymnasium_env import WorldEnv

    return WorldEnv(world, objects, place, **settings)
