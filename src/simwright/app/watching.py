# SPDX-License-Identifier: Apache-2.0
"""Runs that somebody watches in a browser: an asset, a scene or a task while it is simulated."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from simwright.app.run_sources import RunSource
from simwright.engines.protocol import Simulation

if TYPE_CHECKING:
    from simwright.view.live import LivePage


@dataclass(frozen=True, slots=True)
class LiveOptions:
    """Where a run is shown; ``announce`` is told the address, ``speed`` is simulated over real time (None: no limit)."""

    announce: Callable[[str], None]
    host: str = "127.0.0.1"
    port: int = 0
    speed: float | None = 1.0


def open_live(
    source: RunSource,
    simulation: Simulation,
    options: LiveOptions,
    stack: contextlib.ExitStack,
    *,
    can_reset: bool,
) -> LivePage:
    """The page of a run; the stack closes it."""
    from simwright.view.live import LivePage

    shown, _ = source.show([source.take(simulation)])
    page = LivePage(
        shown["asset"],
        simulation,
        offsets=np.asarray(shown["offsets"], dtype=np.float64) if simulation.worlds > 1 else None,
        speed=options.speed,
        can_reset=can_reset,
        host=options.host,
        port=options.port,
    )
    stack.callback(page.close)
    options.announce(page.address)
    return page
