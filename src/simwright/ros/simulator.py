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
from simwright.core.errors import NotFoundError, SimwrightError, UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.core.names import NameScope
from simwright.engines.protocol import Closeable, Settings
from simwright.model.asset import Asset
from simwright.model.joint import WORLD
from simwright.model.renaming import place_asset
from simwright.model.ros import InterfaceKind
from simwright.ros.bridge import BridgeOptions, RosBridge
from simwright.ros.entities import (
    BOX,
    Entity,
    EntityFilter,
    ResourceError,
    Resources,
    UnsupportedError,
    list_entities,
    measure_bounds,
    move_entity,
    set_twist,
)
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import (
    are_finite,
    make_header,
    make_pose,
    make_twist,
    make_vector,
    read_pose,
    read_vector,
)
from simwright.ros.parts import EquippedAsset, PartSimulation, SharedSimulation, equip_asset
from simwright.ros.serving import SteppedRun
from simwright.ros.transports.transport import ActionBehaviour, GoalHandle, LateAnswer, Message, Transport

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
UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
"""Codes of Result."""
STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD = range(5)
"""States of SimulationState; a world is loaded while nobody is heard, so that loading is never seen."""
_TIME, _STATE, _SPAWNED, _ALL = 1, 2, 4, 255
"""Scopes of ResetSimulation."""
_SPAWN_CODES = {
    "NAME_NOT_UNIQUE": 101, "NAME_INVALID": 102, "UNSUPPORTED_FORMAT": 103, "NO_RESOURCE": 104,
    "NAMESPACE_INVALID": 105, "RESOURCE_PARSE_ERROR": 106, "MISSING_ASSETS": 107, "INVALID_POSE": 109,
}  # fmt: skip
_LOAD_CODES = {
    "UNSUPPORTED_FORMAT": 101, "NO_RESOURCE": 102, "RESOURCE_PARSE_ERROR": 103, "MISSING_ASSETS": 104,
    "UNSUPPORTED_ELEMENTS": 106,
}  # fmt: skip
_STATE_CODES = {"ALREADY_IN_TARGET_STATE": 101, "INCORRECT_TRANSITION": 103}
_NO_WORLD_LOADED = 101
_SPAWN_FAILED = 150
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
_NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?")
_MOST_SPAWNED = 1000
"""Parts at most: every one that comes or goes opens the simulation again."""
_FARTHEST = 1e6
"""Poses beyond are taken for mistakes [m]."""


@dataclass(slots=True, eq=False)
class _ServedPart:
    """An asset that is simulated and served; ``home`` is the asset as it was put here."""

    view: PartSimulation
    bridge: RosBridge
    equipped: EquippedAsset
    home: Asset
    entities: list[Entity] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _StepJob:
    """Steps that a peer waits for."""

    left: int
    done: int = 0
    answer: LateAnswer | None = None
    handle: GoalHandle | None = None


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
        self._state = PLAYING
        self._job: _StepJob | None = None
        self._world: tuple[str, EquippedAsset] | None = (parts.uri, parts.base)
        """What was loaded, to begin with it again."""
        self._spawned: list[_ServedPart] = []
        self.view = self._shared.add_first(parts.base.asset)
        """The asset that was run, or the world that was loaded, as a simulation of its own."""
        self._base: _ServedPart | None = self._serve(self.view, parts.base)
        self._base.entities = list_entities(self.view)
        self._opened = self._open_services()

    # parts

    def _serve(self, view: PartSimulation, equipped: EquippedAsset) -> _ServedPart:
        options = BridgeOptions(
            self._options.tf_rate,
            self._options.clock_rate,
            False,
            equipped.added,
            not view.prefix,
            self._zero,
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

    def _find(self, name: str) -> Entity:
        found = self.entities.get(name)
        if found is None:
            raise NotFoundError(f"there is no entity {name[:200]!r}")
        return found

    # every step

    def poll(self) -> None:
        """See the base class."""
        for transport in self._transports:
            transport.poll()

    def has_step_to_do(self) -> bool:
        """See the base class."""
        if self._base is None:
            return False
        if self._job is not None and self._job.handle is not None and self._job.handle.is_cancelled:
            self._end_job(OK, "", "canceled")
        return self._state == PLAYING or self._job is not None

    def step(self) -> None:
        """See the base class."""
        self.poll()
        # a peer may have stopped it, or taken the world away, by what has just been heard
        if not self.has_step_to_do() or self.is_stopping:
            return
        for part in self._served:
            part.bridge.command()
        self._shared.step(1)
        for part in self._served:
            part.bridge.observe()
        assert self._base is not None
        self.time = self._base.bridge.time
        if self._job is not None:
            self._count_step(self._job)

    def _count_step(self, job: _StepJob) -> None:
        job.left, job.done = job.left - 1, job.done + 1
        if job.handle is not None:
            job.handle.tell({"completed_steps": job.done, "remaining_steps": job.left})
        if not job.left:
            self._end_job(OK)

    def _end_job(self, code: int, reason: str = "", state: str = "") -> None:
        job, self._job = self._job, None
        if job is None:
            return
        result = {"result": make_result(code, reason)}
        if job.answer is not None:
            job.answer.give(result)
        if job.handle is not None:
            job.handle.finish(state or ("succeeded" if code == OK else "aborted"), result)

    def _enter(self, state: int) -> None:
        self._state, self.is_paused = state, state != PLAYING

    # services

    def _open_services(self) -> list[Closeable]:
        services: dict[str, Callable[[Message], Message | LateAnswer]] = {
            "SpawnEntity": self._spawn_entity,
            "SpawnEntities": self._spawn_entities,
            "DeleteEntity": self._delete_entity,
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_entities_states,
            "GetEntityState": lambda request: {"state": self._tell_state(self._find(request["entity"]))},
            "SetEntityState": self._set_entity_state,
            "GetEntityInfo": self._get_entity_info,
            "SetEntityInfo": self._set_entity_info,
            "GetEntityBounds": self._get_entity_bounds,
            "GetNamedPoses": self._get_named_poses,
            "GetSpawnables": self._get_spawnables,
            "ResetSimulation": self._reset_simulation,
            "GetSimulationState": lambda _: {"state": {"state": self._state}},
            "SetSimulationState": self._set_simulation_state,
            "StepSimulation": self._step_simulation,
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
                opened.append(transport.serve(endpoint, functools.partial(_answer, answer)))
            endpoint = _make_endpoint(InterfaceKind.SERVICE, "GetSimulatorFeatures")
            opened.append(transport.serve(endpoint, self._tell_features))
            opened.append(transport.act(action, _StepsAction(self._begin_steps)))
        return opened

    def _tell_features(self, _: Message) -> Message:
        told = {"features": sorted(FEATURES.values()), "spawn_formats": self._resources.formats}
        return {"features": {**told, "custom_info": "Simwright; accelerations are not told"}}

    # spawning and deleting

    def _spawn_entity(self, request: Message) -> Message:
        return {"entity_name": self._spawn(request)}

    def _spawn_entities(self, request: Message) -> Message:
        results = []
        for one in request["spawn_requests"]:
            given = _answer(self._spawn_entity, one)
            assert not isinstance(given, LateAnswer)
            results.append(given)
        failed = sum(1 for one in results if one["result"]["result"] != OK)
        code = _SPAWN_FAILED if failed else OK
        return {"results": results, "result": make_result(code, f"{failed} failed" if failed else "")}

    def _spawn(self, request: Message) -> str:
        if self._base is None:
            raise StateError("no world is loaded")
        if len(self._spawned) >= _MOST_SPAWNED:
            raise UsageError(f"there are {_MOST_SPAWNED} spawned entities already")
        namespace = str(request["entity_namespace"])
        if namespace and not _NAMESPACE.fullmatch(namespace):
            raise AnsweredError(
                _SPAWN_CODES["NAMESPACE_INVALID"], f"{namespace[:200]!r} is no namespace of ROS"
            )
        pose = self._read_pose(request["initial_pose"]["pose"], request["initial_pose"]["header"]["frame_id"])
        told = Reporter()
        try:
            asset = self._resources.open(request["entity_resource"], told)
            self._resources.check_files(told)
        except ResourceError as error:
            raise AnsweredError(_SPAWN_CODES[error.reason], error.message) from None
        self._reporter.extend(told)
        name = self._choose_name(str(request["name"]) or asset.name, bool(request["allow_renaming"]))
        asset = asset.copy()
        place_asset(asset, pose, WORLD, pose)
        self._add_part(name, asset, namespace, pose)
        return name

    def _choose_name(self, wanted: str, may_rename: bool) -> str:
        if not _NAME.fullmatch(wanted):
            if not may_rename:
                raise AnsweredError(
                    _SPAWN_CODES["NAME_INVALID"], f"{wanted[:200]!r} is no name: letters, digits, _ . / -"
                )
            wanted = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:100] or "entity"
        taken = self.entities
        if wanted in taken and not may_rename:
            raise AnsweredError(_SPAWN_CODES["NAME_NOT_UNIQUE"], f"there is an entity {wanted!r} already")
        return NameScope(taken).claim(wanted)

    def _add_part(self, name: str, asset: Asset, namespace: str, pose: Pose) -> None:
        equipped = equip_asset(
            asset, self._own.engine, self._own.settings, self._reporter, namespace=namespace
        )
        self._check_clashes(equipped)
        view = PartSimulation(self._shared, equipped.asset, f"{name}/")
        try:
            self._shared.reopen([*self._shared.parts, view])
        except SimwrightError as error:
            raise AnsweredError(FAILED, error.message) from None
        part = self._serve(view, equipped)
        part.entities = list_entities(view, name)
        part.entities[0].place = pose
        self._spawned.append(part)

    def _check_clashes(self, equipped: EquippedAsset) -> None:
        """Two robots must not answer to one name."""
        taken = {
            (e.kind, e.name)
            for part in self._served
            for e in part.equipped.graph.endpoints
            if e.role in ("publisher", "server")
        }
        for endpoint in equipped.graph.endpoints:
            if (endpoint.kind, endpoint.name) in taken and endpoint.role in ("publisher", "server"):
                raise AnsweredError(
                    _SPAWN_CODES["NAMESPACE_INVALID"],
                    f"{endpoint.kind.value} {endpoint.name!r} is served already: give it a namespace of its own",
                )

    def _delete_entity(self, request: Message) -> Message:
        entity = self._find(request["entity"])
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
        view.become(equipped.asset)
        try:
            self._shared.reopen([view, *(part.view for part in spawned)], anew=() if carry else (view,))
        except SimwrightError:
            view.become(before)
            if old is not None:
                self._base = self._serve(view, old.equipped)
                self._base.home, self._base.entities = old.home, old.entities
            raise
        for part in self._spawned:
            if part not in spawned:
                part.bridge.close()
        self._spawned = list(spawned)
        self._base = self._serve(view, equipped)
        self._base.entities = list_entities(view)

    # queries and states of entities

    def _select(self, request: Message) -> list[Entity]:
        chosen = EntityFilter(request["filters"])
        return [entity for entity in self.entities.values() if chosen.accepts(entity)]

    def _get_entities(self, request: Message) -> Message:
        return {"entities": [entity.name for entity in self._select(request)]}

    def _get_entities_states(self, request: Message) -> Message:
        chosen = self._select(request)
        return {"entities": [e.name for e in chosen], "states": [self._tell_state(e) for e in chosen]}

    def _tell_state(self, entity: Entity) -> Message:
        linear, angular = entity.find_twist()
        return {
            "header": make_header(self.time, "world"),
            "pose": make_pose(entity.find_pose()),
            "twist": make_twist(linear, angular),
        }

    def _set_entity_state(self, request: Message) -> Message:
        entity, state = self._find(request["entity"]), request["state"]
        frame = str(state["header"]["frame_id"])
        if request["set_pose"]:
            pose = self._read_pose(state["pose"], frame, code=101)
            if move_entity(entity, pose, self._shared):
                next(part for part in self._served if entity in part.entities).bridge.send_static()
        if request["set_twist"]:
            linear, angular = (read_vector(state["twist"][key]) for key in ("linear", "angular"))
            if not are_finite((*linear, *angular)):
                raise UsageError("the twist has values that are no numbers")
            turn = self._find_frame(frame)
            set_twist(entity, turn.rotation @ linear, turn.rotation @ angular)
        if request["set_acceleration"]:
            raise UnsupportedError("accelerations follow from forces, and cannot be set")
        return {}

    def _find_frame(self, name: str) -> Pose:
        """The pose of a frame that poses of requests may be in: the world, or an entity."""
        if name in ("", "world"):
            return IDENTITY
        found = self.entities.get(name)
        if found is None:
            raise AnsweredError(FAILED, f"frame {name[:200]!r} is neither the world nor an entity")
        return found.find_pose()

    def _read_pose(self, pose: Message, frame: str, code: int = 109) -> Pose:
        place, turn = pose["position"], pose["orientation"]
        numbers = [*read_vector(place), *(float(turn[key]) for key in ("w", "x", "y", "z"))]
        length = sum(value * value for value in numbers[3:])
        if not are_finite(numbers) or max(map(abs, numbers[:3])) > _FARTHEST:
            raise AnsweredError(code, "the position has no place in the world")
        # all zero is what messages have that nobody filled in
        if length and abs(length - 1.0) > 1e-3:
            raise AnsweredError(
                code, f"the orientation is no unit quaternion: its length is {length**0.5:.4g}"
            )
        return self._find_frame(frame) @ read_pose(pose)

    def _get_entity_info(self, request: Message) -> Message:
        entity = self._find(request["entity"])
        info = {"category": {"category": entity.category}, "description": entity.description}
        return {"info": {**info, "tags": list(entity.tags)}}

    def _set_entity_info(self, request: Message) -> Message:
        entity, info = self._find(request["entity"]), request["info"]
        entity.category = int(info["category"]["category"])
        entity.description, entity.tags = str(info["description"]), [str(tag) for tag in info["tags"]]
        return {}

    def _get_entity_bounds(self, request: Message) -> Message:
        entity = self._find(request["entity"])
        found = measure_bounds(entity, entity.find_pose())
        if found is None:
            return {"bounds": {"type": 0, "points": []}}
        lower, upper = found
        return {"bounds": {"type": BOX, "points": [make_vector(upper), make_vector(lower)]}}

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
            self._end_job(FAILED, "the simulator quits")
            self.is_stopping = True
            return {}
        if self._state == NO_WORLD or wanted not in (STOPPED, PLAYING, PAUSED):
            raise AnsweredError(
                _STATE_CODES["INCORRECT_TRANSITION"], "a world is needed, and a state to be in"
            )
        if wanted == self._state:
            raise AnsweredError(_STATE_CODES["ALREADY_IN_TARGET_STATE"], "")
        self._end_job(FAILED, "the state of the simulation was changed")
        if wanted == STOPPED:
            self._reset(_ALL)
        self._enter(wanted)
        return {}

    def _reset_simulation(self, request: Message) -> Message:
        scope = int(request["scope"]) or _ALL
        if self._base is None:
            raise StateError("no world is loaded")
        self._end_job(FAILED, "the simulation was reset")
        self._reset(scope)
        return {}

    def _reset(self, scope: int) -> None:
        is_whole = scope == _ALL and self._world is not None and not self._own.is_recorded
        if is_whole and self._world is not None:
            # as if it had just been started: what was deleted is there again
            self._replace_base(self._world[1], [])
        elif scope & _SPAWNED and self._spawned:
            self._remove(list(self._spawned))
        if scope & _STATE and not is_whole:
            for part in self._served:
                part.view.asset = part.home
            self._shared.reopen(self._shared.parts, anew=self._shared.parts)
            for part in self._served:
                part.bridge.reset_controllers()
        if scope & _TIME:
            self._zero = self._shared.count
        for part in self._served:
            if scope & _TIME:
                part.bridge.restart(self._zero)
            part.bridge.send_static()
        if self._base is not None:
            self.time = self._base.bridge.time

    def _step_simulation(self, request: Message) -> Message | LateAnswer:
        steps = int(request["steps"])
        self._check_steps(steps)
        self._job = _StepJob(steps, answer=LateAnswer())
        assert self._job.answer is not None
        return self._job.answer

    def _begin_steps(self, handle: GoalHandle) -> None:
        steps = int(handle.goal["steps"])
        try:
            self._check_steps(steps)
        except UsageError as error:
            handle.finish("aborted", {"result": make_result(FAILED, error.message)})
            return
        self._job = _StepJob(steps, handle=handle)

    def _check_steps(self, steps: int) -> None:
        if self._state != PAUSED:
            raise UsageError("steps are taken one by one only while the simulation is paused")
        if self._job is not None:
            raise UsageError(f"{self._job.left} steps of another request are not done yet")
        if steps < 1:
            raise UsageError("no steps to do")

    # worlds

    def _load_world(self, request: Message) -> Message:
        self._check_replaceable()
        told = Reporter()
        try:
            asset = self._resources.open(request["world_resource"], told)
            if not request["ignore_missing_or_unsupported_assets"]:
                self._resources.check_files(told)
        except ResourceError as error:
            raise AnsweredError(_LOAD_CODES[error.reason], error.message) from None
        lost = next((found for found in told if found.level is not Level.INFO), None)
        if lost is not None and request["fail_on_unsupported_element"]:
            raise AnsweredError(_LOAD_CODES["UNSUPPORTED_ELEMENTS"], lost.message)
        equipped = equip_asset(asset, self._own.engine, self._own.settings, told)
        self._reporter.extend(told)
        self._end_job(FAILED, "another world was loaded")
        self._zero = self._shared.count
        self._replace_base(equipped, [])
        uri = str(request["world_resource"]["uri"])
        self._world = (uri, equipped)
        self.time = 0
        self._enter(STOPPED)
        return {"world": self._tell_world(), "result": make_result(OK, uri)}

    def _tell_world(self) -> Message:
        assert self._world is not None
        uri, equipped = self._world
        return {"name": equipped.asset.name, "world_resource": {"uri": uri}}

    def _unload_world(self, _: Message) -> Message:
        if self._base is None:
            raise AnsweredError(_NO_WORLD_LOADED, "no world is loaded")
        self._check_replaceable()
        self._end_job(FAILED, "the world was unloaded")
        for part in self._served:
            part.bridge.close()
        self._base, self._spawned, self._world = None, [], None
        self._shared.parts = []
        self._enter(NO_WORLD)
        return {}

    def _get_current_world(self, _: Message) -> Message:
        if self._base is None:
            raise AnsweredError(_NO_WORLD_LOADED, "no world is loaded")
        return {"world": self._tell_world()}

    def _get_available_worlds(self, request: Message) -> Message:
        if request["filter"]["tags"]:
            return {"worlds": []}
        files, unknown = self._resources.list_files([str(one) for one in request["additional_sources"]])
        if unknown and not request["continue_on_error"]:
            raise UsageError("; ".join(unknown))
        worlds = [{"name": path.stem, "world_resource": {"uri": path.as_uri()}} for path in files]
        return {"worlds": worlds, "result": make_result(OK, "; ".join(unknown))}

    def close(self) -> None:
        """See the base class."""
        self._end_job(FAILED, "the simulator quits")
        for opened in self._opened:
            opened.close()
        for part in self._served:
            part.bridge.close()
        self._resources.close()


class AnsweredError(SimwrightError):
    """A request cannot be met; ``number`` is the result code of the standard."""

    code = "ros-request"

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


class StateError(SimwrightError):
    """A request does not fit the state of the simulation."""

    code = "ros-state"


def make_result(number: int, reason: str = "") -> Message:
    """``simulation_interfaces/Result``."""
    return {"result": number, "error_message": reason}


def _answer(handle: Callable[[Message], Message | LateAnswer], request: Message) -> Message | LateAnswer:
    """What is done with a request; what goes wrong becomes its result."""
    try:
        given = handle(request)
    except AnsweredError as error:
        return {"result": make_result(error.number, error.message)}
    except NotFoundError as error:
        return {"result": make_result(NOT_FOUND, error.message)}
    except UnsupportedError as error:
        return {"result": make_result(UNSUPPORTED, error.message)}
    except StateError as error:
        return {"result": make_result(INCORRECT_STATE, error.message)}
    except SimwrightError as error:
        told = f"{error.message} ({error.hint})" if error.hint else error.message
        return {"result": make_result(FAILED, told)}
    return given if isinstance(given, LateAnswer) else {"result": make_result(OK), **given}


class _StepsAction(ActionBehaviour):
    """SimulateSteps: every goal is taken, and one that cannot be met says so in its result."""

    def __init__(self, begin: Callable[[GoalHandle], None]) -> None:
        self._begin = begin

    def refuse(self, goal: Message) -> str:
        """See the base class."""
        del goal
        return ""

    def begin(self, handle: GoalHandle) -> None:
        """See the base class."""
        self._begin(handle)


def _make_endpoint(kind: InterfaceKind, title: str) -> RosEndpoint:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", title).lower()
    folder = "srv" if kind is InterfaceKind.SERVICE else "action"
    return RosEndpoint(kind, "server", f"/{name}", f"simulation_interfaces/{folder}/{title}")
