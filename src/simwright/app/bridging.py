# SPDX-License-Identifier: Apache-2.0
"""ROS beside a run: an asset, a scene, a task or a world in the plane, with a bridge and its transports."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from simwright.app.run_sources import AssetSource, RunSource, SceneSource
from simwright.app.scenes import split_scenes
from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.core.gate import parse_folders
from simwright.core.packages import PackageMap, find_packages
from simwright.engines.protocol import Settings, Simulation
from simwright.formats.format import ReadOptions
from simwright.formats.table import FORMATS, detect_format, read_asset
from simwright.model.asset import Asset
from simwright.scenes.document import read_scene
from simwright.scenes.load import assemble_scene

if TYPE_CHECKING:
    from simwright.ros.entities import VariantSet
    from simwright.ros.serving import SteppedRun
    from simwright.ros.transports.transport import Transport
    from simwright.ros.worlds import WorldBridge, WorldServing
    from simwright.worlds.acting.simulation import WorldSimulation


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
        from simwright.ros.parts import equip_asset

        self._engine, self._settings = engine, found.settle(engine, settings)
        self.equipped = equip_asset(found.prepare_ros(engine), engine, self._settings, reporter)
        self.asset, self.added, self.graph = (
            self.equipped.asset, self.equipped.added, self.equipped.graph,
        )  # fmt: skip
        self._prepare = found.prepare if isinstance(found, AssetSource) else _leave
        self.source = found.take_equipped(self.asset)

    def connect(
        self,
        simulation: Simulation,
        options: RosOptions,
        reporter: Reporter,
        stack: contextlib.ExitStack,
        *,
        allow_outside: Iterable[str | os.PathLike[str]] = (),
        is_recorded: bool = False,
    ) -> tuple[SteppedRun, Simulation]:
        """What moves a simulation of the asset with ROS, and the simulation of the asset from then on.

        With peers it is a simulator of its own, whose services spawn and delete.  The stack closes all that is opened.
        """
        from simwright.ros.bridge import BridgeOptions, RosBridge
        from simwright.ros.parts import SharedSimulation
        from simwright.ros.resources import Resources
        from simwright.ros.simulator import RosSimulator, SimulatorParts

        settings = BridgeOptions(realtime=options.is_paced, added=self.added)
        made = open_transports(options, stack)
        if not any(transport.listens for transport in made):
            return stack.enter_context(
                RosBridge(self.graph, simulation, made, reporter, settings)
            ), simulation
        file = self.asset.provenance.file
        packages = find_packages(near=[Path(file).parent], allowed=parse_folders(allow_outside))
        shared = stack.enter_context(SharedSimulation(simulation, self._engine, self._settings, reporter))
        resources = Resources(file, _PeerFiles(packages, self._engine), packages)
        uri = Path(file).resolve().as_uri() if file else ""
        parts = SimulatorParts(
            shared,
            self.equipped,
            self._engine,
            self._settings,
            resources,
            uri,
            is_recorded,
            self._prepare,
        )
        simulator = stack.enter_context(RosSimulator(parts, made, reporter, settings))
        return simulator, simulator.view


def _leave(asset: Asset) -> Asset:
    return asset


class _PeerFiles:
    """Reads files that peers name: assets, scenes, and 2D worlds as rooms in space."""

    def __init__(self, packages: PackageMap, engine: str) -> None:
        self._packages, self._engine = packages, engine
        # formats are a tier below worlds and cannot list them
        FORMATS.add("world", "simwright.app.world_format:FORMAT")

    def read(self, path: Path, reporter: Reporter, variants: Mapping[str, str]) -> Asset:
        """See the protocol."""
        if split_scenes([path])[0]:
            file = read_scene(path, reporter=reporter)
            source = SceneSource(assemble_scene(file, num_worlds=1, reporter=reporter))
            return source.prepare_ros(self._engine)
        options = ReadOptions(self._packages, variants=dict(variants))
        return read_asset(path, options=options, reporter=reporter)

    def is_world(self, path: Path) -> bool:
        """See the protocol."""
        if split_scenes([path])[0]:
            return True
        try:
            return detect_format(path).name == "world"
        except SimwrightError:
            return False

    def list_variants(self, path: Path, chosen: Mapping[str, str]) -> dict[str, VariantSet]:
        """See the protocol."""
        from simwright.ros.entities import VariantSet

        if self.is_world(path) or detect_format(path).name != "usd":
            return {}
        from simwright.formats.usd.scan import list_variants

        found = list_variants(path, ReadOptions(self._packages, variants=dict(chosen)))
        return {name: VariantSet(selected, tuple(names)) for name, (selected, names) in found.items()}


def connect_world(
    simulation: WorldSimulation,
    options: RosOptions,
    serving: WorldServing,
    reporter: Reporter,
    stack: contextlib.ExitStack,
) -> WorldBridge:
    """What moves a world in the plane with ROS; the stack closes all that is opened."""
    from simwright.ros.worlds import WorldBridge

    made = open_transports(options, stack)
    return stack.enter_context(WorldBridge(simulation, made, reporter, serving))


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
