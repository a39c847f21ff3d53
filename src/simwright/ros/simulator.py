# SPDX-License-Identifier: Apache-2.0
"""The simulator's own side of ROS: the services and the action of ``simulation_interfaces``.

Peers spawn assets by URI or text, delete, list, query and move entities, step, pause, reset, and load worlds, with the
same calls as in other simulators.  :data:`FEATURES` is what is implemented, and what GetSimulatorFeatures tells.

Everything runs in the thread of the bridge.  Who asks for steps gets the answer when they are done; meanwhile others
are heard.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import SimwrightError, UsageError
from simwright.core.math3d import Pose
from simwright.engines.protocol import Closeable, Settings
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.renaming import place_asset
from simwright.model.ros import InterfaceKind
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.entities import Entity, EntityServices, list_entities
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import NANO, make_pose
from simwright.ros.parts import EquippedAsset, PartSimulation, SharedSimulation, equip_asset
from simwright.ros.resources import (
    ResourceError,
    Resources,
    WorldVariants,
    check_clashes,
    check_namespace,
    choose_name,
)
from simwright.ros.serving import ClockServer, SteppedRun
from simwright.ros.simulator_answers import (
    ALL_SCOPES,
    FAILED,
    LOAD_CODES,
    NO_WORLD,
    NO_WORLD_LOADED,
    OK,
    PAUSED,
    PLAYING,
    QUITTING,
    SPAWN_CODES,
    SPAWN_FAILED,
    SPAWNED_SCOPE,
    STATE_CODES,
    STATE_SCOPE,
    STOPPED,
    TIME_SCOPE,
    AnsweredError,
    StateError,
    StepRequests,
    answer_request,
    make_result,
)
from simwright.ros.transports.transport import LateAnswer, Message, Transport

SERVICES_OFF = declare(
    "ros-simulator-off",
    Level.WARNING,
    "the services of the simulator are not served: {reason}",
    hint="install simulation_interfaces (apt install ros-$ROS_DISTRO-simulation-interfaces) to have them",
    doc="Peers cannot spawn, move, step, pause and reset; the interfaces of the asset are served as usual.",
    section="2.9",
)
FEATURES = {
    "SPAWNING": 0, "DELETING": 1, "NAMED_POSES": 2, "ENTITY_TAGS": 4, "ENTITY_BOUNDS": 5, "ENTITY_BOUNDS_BOX": 6,
    "ENTITY_CATEGORIES": 8, "SPAWNING_RESOURCE_STRING": 9, "ENTITY_STATE_GETTING": 10, "ENTITY_STATE_SETTING": 11,
    "ENTITY_INFO_GETTING": 12, "ENTITY_INFO_SETTING": 13, "SPAWNABLES": 14, "SIMULATION_RESET": 20,
    "SIMULATION_RESET_TIME": 21, "SIMULATION_RESET_STATE": 22, "SIMULATION_RESET_SPAWNED": 23,
    "SIMULATION_STATE_GETTING": 24, "SIMULATION_STATE_SETTING": 25, "SIMULATION_STATE_PAUSE": 26,
    "STEP_SIMULATION_SINGLE": 31, "STEP_SIMULATION_MULTIPLE": 32, "STEP_SIMULATION_ACTION": 33,
    "WORLD_LOADING": 40, "WORLD_RESOURCE_STRING": 41, "WORLD_UNLOADING": 43, "WORLD_INFO_GETTING": 44,
    "AVAILABLE_WORLDS": 45, "SPAWNING_ENTITIES": 50,
}  # fmt: skip
"""What is implemented, by the numbers of SimulatorFeatures; bounds of poses, hulls and tags of worlds are not."""
_MOST_SPAWNED = 1000
"""Parts at most: every one that comes or goes opens the simulation again."""


@dataclass(slots=True, eq=False)
class _ServedPart:
    """An asset that is simulated and served; ``home`` is the asset as it was put here."""

    view: PartSimulation
    bridge: RosBridge
    equipped: EquippedAsset
    home: Asset
    entities: list[Entity] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SimulatorParts:
    """What a simulator is made of: the simulation that is open, what it was opened with, and who reads files."""

    shared: SharedSimulation
    base: EquippedAsset
    engine: str
    settings: Settings
    resources: Resources
    uri: str = ""
    is_recorded: bool = False
    """Whether somebody keeps the coordinates of the base: it cannot be replaced then."""
    prepare: Callable[[Asset], Asset] = lambda asset: asset
    """What is done to the asset of ``uri`` before it is run, such as a ground below it."""


class RosSimulator(SteppedRun):
    """Serves all assets of a simulation, and the simulator's own services; ``with`` closes all of it."""

    def __init__(
        self,
        parts: SimulatorParts,
        transports: Sequence[Transport],
        reporter: Reporter,
        options: BridgeOptions,
    ) -> None:
        self._own, self._shared, self._resources = parts, parts.shared, parts.resources
        self._transports, self._reporter, self._options = list(transports), reporter, options
        self.is_realtime = options.realtime
        self._zero = self._shared.count
        """The step at which time is zero."""
        # apart from all assets: who listens to the clock keeps it when they go
        self._clock = ClockServer(self._transports, reporter, options.clock_rate)
        self._clock.restart()
        self._state = PLAYING
        self._steps = StepRequests(self._explain_no_steps)
        self._world: tuple[str, EquippedAsset] | None = (parts.uri, parts.base)
        """What was loaded, to begin with it again."""
        self._spawned: list[_ServedPart] = []
        self._about = EntityServices(
            self._shared, lambda: self.entities, lambda: self.time, self._send_static
        )
        self.view = self._shared.add_first(parts.base.asset)
        """The asset that was run, or the world that was loaded, as a simulation of its own."""
        self._base: _ServedPart | None = self._serve(self.view, parts.base)
        self._base.entities = list_entities(self.view)
        self._variants = WorldVariants(parts.resources, self._transports, self.select_variant)
        self._variants.open("" if parts.is_recorded else parts.uri, parts.prepare)
        self._opened = self._open_services()

    # parts

    def _serve(self, view: PartSimulation, equipped: EquippedAsset, *, goes_on: bool = False) -> _ServedPart:
        options = BridgeOptions(
            self._options.tf_rate,
            self._options.clock_rate,
            False,
            equipped.added,
            False,
            self._zero,
            goes_on,
        )
        bridge = RosBridge(equipped.graph, view, self._transports, self._reporter, options)
        return _ServedPart(view, bridge, equipped, equipped.asset)

    @property
    def _served(self) -> list[_ServedPart]:
        return [*([self._base] if self._base is not None else []), *self._spawned]

    @property
    def entities(self) -> dict[str, Entity]:
        """All entities by name."""
        return {entity.name: entity for part in self._served for entity in part.entities}

    def _send_static(self, entity: Entity) -> None:
        next(part for part in self._served if entity in part.entities).bridge.send_static()

    # every step

    def poll(self) -> None:
        """See the base class."""
        for transport in self._transports:
            transport.poll()
        self._variants.offer()

    def has_step_to_do(self) -> bool:
        """See the base class."""
        if self._base is None:
            return False
        return self._state == PLAYING or self._steps.is_waiting()

    def step(self) -> None:
        """See the base class."""
        self.poll()
        # a peer may have stopped it, or taken the world away, by what has just been heard
        if not self.has_step_to_do() or self.is_stopping:
            return
        for part in self._served:
            part.bridge.command()
        self._shared.step(1)
        dt = self.view.dt
        # time first: who gets a message should know that its time has come
        self._clock.publish_time(round((self._shared.count - self._zero) * dt * NANO), round(dt * NANO))
        for part in self._served:
            part.bridge.observe()
        assert self._base is not None
        self.time = self._base.bridge.time
        self._steps.count()

    def _explain_no_steps(self) -> str:
        return (
            "" if self._state == PAUSED else "steps are taken one by one only while the simulation is paused"
        )

    def _enter(self, state: int) -> None:
        self._state, self.is_paused = state, state != PLAYING

    # services

    def _open_services(self) -> list[Closeable]:
        services: dict[str, Callable[[Message], Message | LateAnswer]] = {
            "SpawnEntity": self._spawn_entity,
            "SpawnEntities": self._spawn_entities,
            "DeleteEntity": self._delete_entity,
            **self._about.answers,
            "GetNamedPoses": self._get_named_poses,
            "GetSpawnables": self._get_spawnables,
            "ResetSimulation": self._reset_simulation,
            "GetSimulationState": lambda _: {"state": {"state": self._state}},
            "SetSimulationState": self._set_simulation_state,
            "StepSimulation": self._steps.ask,
            "LoadWorld": self._load_world,
            "UnloadWorld": self._unload_world,
            "GetCurrentWorld": self._get_current_world,
            "GetAvailableWorlds": self._get_available_worlds,
        }
        action = _make_endpoint(InterfaceKind.ACTION, "SimulateSteps")
        opened: list[Closeable] = []
        for transport in self._transports:
            if not transport.listens:
                continue
            reason = transport.explain_unknown(action.type)
            if reason:
                self._reporter.report(SERVICES_OFF, reason=reason)
                continue
            for title, answer in services.items():
                endpoint = _make_endpoint(InterfaceKind.SERVICE, title)
                opened.append(transport.serve(endpoint, functools.partial(answer_request, answer)))
            endpoint = _make_endpoint(InterfaceKind.SERVICE, "GetSimulatorFeatures")
            opened.append(transport.serve(endpoint, self._tell_features))
            opened.append(transport.act(action, self._steps))
        return opened

    def _tell_features(self, _: Message) -> Message:
        told = {"features": sorted(FEATURES.values()), "spawn_formats": self._resources.formats}
        return {"features": {**told, "custom_info": "Simwright; accelerations are not reported"}}

    # spawning and deleting

    def _spawn_entity(self, request: Message) -> Message:
        return {"entity_name": self._spawn(request)}

    def _spawn_entities(self, request: Message) -> Message:
        results = []
        for one in request["spawn_requests"]:
            given = answer_request(self._spawn_entity, one)
            assert not isinstance(given, LateAnswer)
            results.append(given)
        failed = sum(1 for one in results if one["result"]["result"] != OK)
        code = SPAWN_FAILED if failed else OK
        return {"results": results, "result": make_result(code, f"{failed} failed" if failed else "")}

    def _spawn(self, request: Message) -> str:
        if self._base is None:
            raise StateError("no world is loaded")
        if len(self._spawned) >= _MOST_SPAWNED:
            raise UsageError(f"there are {_MOST_SPAWNED} spawned entities already")
        namespace = str(request["entity_namespace"])
        check_namespace(namespace)
        pose = self._about.read_pose(
            request["initial_pose"]["pose"], request["initial_pose"]["header"]["frame_id"]
        )
        told = Reporter()
        try:
            asset = self._resources.open(request["entity_resource"], told)
            self._resources.check_files(told)
        except ResourceError as error:
            raise AnsweredError(SPAWN_CODES[error.reason], error.message) from None
        self._reporter.extend(told)
        name = choose_name(
            str(request["name"]) or asset.name, self.entities, may_rename=bool(request["allow_renaming"])
        )
        asset = asset.copy()
        place_asset(asset, pose, WORLD, pose)
        self._add_part(name, asset, namespace, pose)
        return name

    def _add_part(self, name: str, asset: Asset, namespace: str, pose: Pose) -> None:
        equipped = equip_asset(
            asset, self._own.engine, self._own.settings, self._reporter, namespace=namespace
        )
        check_clashes(equipped.graph, (part.equipped.graph for part in self._served))
        view = PartSimulation(self._shared, equipped.asset, f"{name}/")
        try:
            self._shared.reopen([*self._shared.parts, view])
        except SimwrightError as error:
            raise AnsweredError(FAILED, error.message) from None
        part = self._serve(view, equipped)
        part.entities = list_entities(view, name)
        part.entities[0].place = pose
        self._spawned.append(part)

    def _delete_entity(self, request: Message) -> Message:
        entity = self._about.find(request["entity"])
        if entity.is_spawned:
            self._remove([part for part in self._spawned if entity in part.entities])
        else:
            self._take_out(entity)
        return {}

    def _remove(self, parts: Sequence[_ServedPart]) -> None:
        for part in parts:
            # before the simulation forgets it: controllers end their goals
            part.bridge.close()
            self._spawned.remove(part)
        gone = {id(part.view) for part in parts}
        self._shared.reopen([view for view in self._shared.parts if id(view) not in gone])

    def _take_out(self, entity: Entity) -> None:
        """Leave a mechanism out of the asset that was run: its bridge begins anew, the motion goes on."""
        assert self._base is not None
        self._check_replaceable()
        asset = self._base.view.asset.copy()
        for root in entity.bodies:
            asset.detach(root, reporter=self._reporter)
        known = {one.name: one for one in self._base.entities}
        self._replace_base(
            equip_asset(asset, self._own.engine, self._own.settings, Reporter()), self._spawned, carry=True
        )
        assert self._base is not None
        # names stay, whatever is left
        names = {next(iter(one.bodies)): name for name, one in known.items()}
        for one in self._base.entities:
            old = known[names[next(iter(one.bodies))]]
            one.name, one.category, one.description, one.tags = (
                old.name, old.category, old.description, old.tags,
            )  # fmt: skip

    def _check_replaceable(self) -> None:
        if self._own.is_recorded:
            raise UsageError("a recording is being made of it", hint="run without --record")

    def _replace_base(
        self, equipped: EquippedAsset, spawned: Sequence[_ServedPart], *, carry: bool = False
    ) -> None:
        """Another asset in the place of the one that is run; nothing is changed where it cannot be opened.

        With ``carry``, what both have goes on from where it is.
        """
        view, old = self.view, self._base
        before = view.asset
        if old is not None:
            old.bridge.close()
        view.replace_asset(equipped.asset)
        try:
            self._shared.reopen([view, *(part.view for part in spawned)], anew=() if carry else (view,))
        except SimwrightError:
            view.replace_asset(before)
            if old is not None:
                self._base = self._serve(view, old.equipped, goes_on=True)
                self._base.home, self._base.entities = old.home, old.entities
            raise
        for part in self._spawned:
            if part not in spawned:
                part.bridge.close()
        self._spawned = list(spawned)
        self._base = self._serve(view, equipped, goes_on=carry)
        self._base.entities = list_entities(view)

    # files and places

    def _get_named_poses(self, request: Message) -> Message:
        """Frames that the asset that is run has in the world."""
        if self._base is None or request["tags"]["tags"]:
            return {"poses": []}
        sites = [site for site in self._base.view.asset.sites if site.body == WORLD]
        return {"poses": [{"name": site.name, "pose": make_pose(site.pose)} for site in sites]}

    def _get_spawnables(self, request: Message) -> Message:
        files, unknown = self._resources.list_files([str(source) for source in request["sources"]])
        spawnables = [{"entity_resource": {"uri": path.as_uri()}, "description": path.stem} for path in files]
        return {"spawnables": spawnables, "result": make_result(OK, "; ".join(unknown))}

    # time

    def _set_simulation_state(self, request: Message) -> Message:
        wanted = int(request["state"]["state"])
        if wanted == QUITTING:
            self._steps.end(FAILED, "the simulator quits")
            self.is_stopping = True
            return {}
        if self._state == NO_WORLD or wanted not in (STOPPED, PLAYING, PAUSED):
            raise AnsweredError(
                STATE_CODES["INCORRECT_TRANSITION"], "a world is needed, and a state to be in"
            )
        if wanted == self._state:
            raise AnsweredError(STATE_CODES["ALREADY_IN_TARGET_STATE"], "")
        self._steps.end(FAILED, "the state of the simulation was changed")
        if wanted == STOPPED:
            self._reset(ALL_SCOPES)
        self._enter(wanted)
        return {}

    def _reset_simulation(self, request: Message) -> Message:
        scope = int(request["scope"]) or ALL_SCOPES
        if self._base is None:
            raise StateError("no world is loaded")
        self._steps.end(FAILED, "the simulation was reset")
        self._reset(scope)
        return {}

    def _reset(self, scope: int) -> None:
        if scope & TIME_SCOPE:
            self._zero = self._shared.count
            self._clock.restart()
        is_whole = scope == ALL_SCOPES and self._world is not None and not self._own.is_recorded
        if is_whole and self._world is not None:
            # as if it had just been started: what was deleted is there again
            self._replace_base(self._world[1], [])
        elif scope & SPAWNED_SCOPE and self._spawned:
            self._remove(list(self._spawned))
        if scope & STATE_SCOPE and not is_whole:
            for part in self._served:
                part.view.asset = part.home
            self._shared.reopen(self._shared.parts, anew=self._shared.parts)
            for part in self._served:
                part.bridge.reset_controllers()
        for part in self._served:
            if scope & TIME_SCOPE:
                part.bridge.restart(self._zero)
            part.bridge.send_static()
        if self._base is not None:
            self.time = self._base.bridge.time

    # worlds

    def _load_world(self, request: Message) -> Message:
        self._check_replaceable()
        told = Reporter()
        try:
            asset = self._resources.open(request["world_resource"], told, worlds=True)
            if not request["ignore_missing_or_unsupported_assets"]:
                self._resources.check_files(told)
        except ResourceError as error:
            raise AnsweredError(LOAD_CODES[error.reason], error.message) from None
        lost = next((found for found in told if found.level is not Level.INFO), None)
        if lost is not None and request["fail_on_unsupported_element"]:
            raise AnsweredError(LOAD_CODES["UNSUPPORTED_ELEMENTS"], lost.message)
        equipped = equip_asset(asset, self._own.engine, self._own.settings, told)
        self._reporter.extend(told)
        self._steps.end(FAILED, "another world was loaded")
        self._zero = self._shared.count
        self._clock.restart()
        self._replace_base(equipped, [])
        uri = str(request["world_resource"]["uri"])
        self._world = (uri, equipped)
        self._variants.open("" if self._own.is_recorded else uri)
        self.time = 0
        self._enter(STOPPED)
        return {"world": self._tell_world(), "result": make_result(OK, uri)}

    def _tell_world(self) -> Message:
        assert self._world is not None
        uri, equipped = self._world
        return {"name": equipped.asset.name, "world_resource": {"uri": uri}}

    def _unload_world(self, _: Message) -> Message:
        if self._base is None:
            raise AnsweredError(NO_WORLD_LOADED, "no world is loaded")
        self._check_replaceable()
        self._steps.end(FAILED, "the world was unloaded")
        for part in self._served:
            part.bridge.close()
        self._base, self._spawned, self._world = None, [], None
        self._variants.open("")
        self._shared.parts = []
        self._enter(NO_WORLD)
        return {}

    def _get_current_world(self, _: Message) -> Message:
        if self._base is None:
            raise AnsweredError(NO_WORLD_LOADED, "no world is loaded")
        return {"world": self._tell_world()}

    def _get_available_worlds(self, request: Message) -> Message:
        if request["filter"]["tags"]:
            return {"worlds": []}
        sources = [str(one) for one in request["additional_sources"]]
        files, unknown = self._resources.list_files(sources, worlds=True)
        if unknown and not request["continue_on_error"]:
            raise UsageError("; ".join(unknown))
        worlds = [{"name": path.stem, "world_resource": {"uri": path.as_uri()}} for path in files]
        return {"worlds": worlds, "result": make_result(OK, "; ".join(unknown))}

    def select_variant(self, name: str, choice: str) -> str:
        """Go on with another variant of a set; gives why not, "" if it is done.

        Its interfaces come, and those of the one before are gone; joints that both have go on from where they are.
        """
        if self._world is None:
            return "no world is loaded"
        if self._variants.is_selected(name, choice):
            return ""
        told = Reporter()
        try:
            self._check_replaceable()
            asset = self._variants.read(name, choice, told)
            equipped = equip_asset(asset, self._own.engine, self._own.settings, told)
            check_clashes(equipped.graph, (part.equipped.graph for part in self._spawned))
            self._steps.end(FAILED, "another variant was selected")
            self._replace_base(equipped, self._spawned, carry=True)
        except SimwrightError as error:
            return error.message
        self._reporter.extend(told)
        self._variants.choose(name, choice)
        self._world = (self._world[0], equipped)
        return ""

    def close(self) -> None:
        """See the base class."""
        self._steps.end(FAILED, "the simulator quits")
        for opened in (*self._opened, self._variants, self._clock):
            opened.close()
        for part in self._served:
            part.bridge.close()
        self._resources.close()


def _make_endpoint(kind: InterfaceKind, title: str) -> RosEndpoint:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", title).lower()
    folder = "srv" if kind is InterfaceKind.SERVICE else "action"
    return RosEndpoint(kind, "server", f"/{name}", f"simulation_interfaces/{folder}/{title}")
