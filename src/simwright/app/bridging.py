# SPDX-License-Identifier: Apache-2.0
"""ROS beside a run: an asset, a scene, a task or a world in the plane, with a bridge and its transports."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simwright.app.run_sources import RunSource
from simwright.core.diag import Reporter
from simwright.engines.protocol import Settings, Simulation

if TYPE_CHECKING:
    from simwright.ros.bridge import RosBridge
    from simwright.ros.graph import RosGraph
    from simwright.ros.transports.transport import Transport


@dataclass(frozen=True, slots=True)
class RosOptions:
    """What a run is asked for: ``transport`` to peers ("" for none), ``bag`` to write, domain, pace, reach.

    ``realtime`` None means: with peers, not without.  ``everywhere`` lets other machines see it.
    """

    transport: str = ""
    bag: str = ""
    domain_id: int | None = None
    realtime: bool | None = None
    everywhere: bool = False

    @property
    def is_asked(self) -> bool:
        """Whether there is anything to do."""
        return bool(self.transport or self.bag)

    @property
    def is_paced(self) -> bool:
        """Whether it keeps to the clock."""
        return bool(self.transport) if self.realtime is None else self.realtime


NO_ROS = RosOptions()


class BridgedSource:
    """What a bridge is to serve: ``source`` is what to run, with drives on all commanded joints."""

    def __init__(self, found: RunSource, engine: str, settings: Settings, reporter: Reporter) -> None:
        from simwright.ros.graph import build_graph
        from simwright.ros.servos import equip, list_undriven

        asset = found.prepare_ros(engine)
        graph = build_graph(asset, reporter)
        self.asset, self.added = asset, frozenset[str]()
        if list_undriven(asset, graph):
            # what it reports is reported again when the asset itself is opened
            with found.open(engine, settings, Reporter()) as probe:
                self.asset, self.added = equip(asset, graph, probe, reporter)
        self.graph: RosGraph = graph if self.asset is asset else build_graph(self.asset, Reporter())
        self.source = found.take_equipped(self.asset)

    def connect(
        self, simulation: Simulation, options: RosOptions, reporter: Reporter, stack: contextlib.ExitStack
    ) -> RosBridge:
        """A bridge to a simulation of the asset; the stack closes all that it opens."""
        from simwright.ros.bridge import BridgeOptions, RosBridge

        settings = BridgeOptions(realtime=options.is_paced, added=self.added)
        made = open_transports(options, stack)
        return stack.enter_context(RosBridge(self.graph, simulation, made, reporter, settings))


def open_transports(options: RosOptions, stack: contextlib.ExitStack) -> list[Transport]:
    """The transports that are asked for; the stack closes them."""
    from simwright.ros.transports.table import open_transport
    from simwright.ros.transports.transport import TransportOptions

    made = []
    for name, target in ((options.transport, ""), ("bag" if options.bag else "", options.bag)):
        if name:
            reach = TransportOptions(domain_id=options.domain_id, local=not options.everywhere, target=target)
            made.append(stack.enter_context(open_transport(name, reach)))
    return made
