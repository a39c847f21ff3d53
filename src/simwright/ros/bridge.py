# SPDX-License-Identifier: Apache-2.0
"""The bridge: the graph of an asset bound to a running simulation, over one transport or several.

Everything happens in one thread, step by step: what arrived is handled, controllers write targets, the engine moves
on, and what is due is sent.  Rates hold in time of the simulation; stamps are that time.  The first world is served.
"""

from __future__ import annotations

import abc
import time as clock
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.math3d import Pose, vec3
from simwright.engines.protocol import Closeable, Simulation
from simwright.model.ros import InterfaceKind
from simwright.ros.checking import DEFAULT_RATE, is_simulators
from simwright.ros.control import (
    JOINT_COMMANDS,
    NUMBERS,
    ActiveController,
    ControllerParts,
    PlainCommands,
    make_controller,
)
from simwright.ros.graph import GraphRobot, RosEndpoint, RosGraph
from simwright.ros.messages import NANO, RobotDescriptions, make_stamp
from simwright.ros.moment import SimulationMoment
from simwright.ros.qos import CLOCK_QOS, LATCHED_QOS, TF_QOS
from simwright.ros.servos import JointTargets
from simwright.ros.sources import (
    MessageSource,
    NoDataError,
    SourceContext,
    find_freedoms,
    make_source,
    make_tf_source,
)
from simwright.ros.transports.transport import Message, Sender, Transport

ENDPOINT_DISABLED = declare(
    "ros-endpoint-disabled",
    Level.WARNING,
    "{kind} {name!r} is not served: {reason}",
    hint="all other interfaces are",
    doc="An interface of an asset cannot be brought to life; the others work as usual.",
    section="2.3",
)
CONTROLLER_IDLE = declare(
    "ros-controller-idle",
    Level.WARNING,
    "controller {name!r} does not run: {reason}",
    doc="A controller of an asset cannot be brought to life, or another one commands its joints.",
    section="4.2.3",
)
CLOCK = "rosgraph_msgs/msg/Clock"
TF = "tf2_msgs/msg/TFMessage"
GRAVITY = 9.80665
SET_BOOL, TRIGGER = "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """Rates of /tf and /clock [Hz] in time of the simulation; ``realtime`` lets it go no faster than the clock."""

    tf_rate: float = 50.0
    clock_rate: float = 100.0
    realtime: bool = False
    added: frozenset[str] = frozenset()
    """Joints that got a drive for their controllers."""
    has_clock: bool = True
    """Whether /clock is sent: by one bridge of a simulation."""
    start: int | None = None
    """Step of the simulation at which time is zero; None is the present one."""


@dataclass(slots=True, eq=False)
class _Publisher:
    """A publisher with its source; ``sent`` messages so far, at ``period`` [ns]; no period: sent once."""

    endpoint: RosEndpoint
    source: MessageSource
    period: int
    senders: list[Sender] = field(default_factory=list)
    is_on: bool = False
    sent: int = 0
    origin: int = 0

    def is_due(self, time: int) -> bool:
        """Whether the next message belongs to this time, or an earlier one."""
        if not self.is_on:
            return False
        if not self.period:
            return self.sent == 0
        return time >= self.origin + self.sent * self.period

    def send(self, moment: SimulationMoment) -> None:
        message = self.source.read(moment)
        # what cannot be told yet is left out, not told late
        if message is not None:
            for sender in self.senders:
                sender.send(message, moment.time)
        if self.period:
            # slower than the step is kept up with; faster cannot be, and does not pile up
            self.sent = max(self.sent + 1, (moment.time - self.origin) // self.period + 1)
        else:
            self.sent += 1


@dataclass(slots=True, eq=False)
class _Listener:
    """A subscription, service or action: opened when it is turned on."""

    endpoint: RosEndpoint
    open: Callable[[Transport], Closeable]
    opened: list[Closeable] = field(default_factory=list)
    is_on: bool = False


class SteppedRun(Closeable):
    """Something that moves on step by step, hears peers, and may keep to the clock; ``time`` is simulated [ns]."""

    time: int = 0
    is_paused: bool = False
    is_stopping: bool = False
    is_realtime: bool = False

    @abc.abstractmethod
    def poll(self) -> None:
        """Handle what has arrived."""

    @abc.abstractmethod
    def step(self) -> None:
        """One step of the simulation with all that belongs to it."""

    def has_step_to_do(self) -> bool:
        """Whether the next step is to be taken now."""
        return not self.is_paused

    def run(self, steps: int | None = None, watch: Callable[[int], None] | None = None) -> int:
        """So many steps, or until it is stopped; gives how many there were.  Ctrl-C is for the caller."""
        done = 0
        began = clock.perf_counter() - self.time / NANO
        while (steps is None or done < steps) and not self.is_stopping:
            if not self.has_step_to_do():
                self.poll()
                clock.sleep(0.005)
                began = clock.perf_counter() - self.time / NANO
                continue
            self.step()
            done += 1
            if watch is not None:
                watch(done)
            # steps that are asked for one by one are taken at once
            if self.is_realtime and not self.is_paused:
                ahead = self.time / NANO - (clock.perf_counter() - began)
                # peers are heard while it waits
                if ahead > 0.0 and ahead < 1.0:
                    clock.sleep(ahead)
                elif abs(ahead) > 1.0:
                    # what cannot be caught up is forgotten, and time may have begun anew
                    began = clock.perf_counter() - self.time / NANO
        return done


class RosBridge(SteppedRun):
    """Serves a graph; ``with`` closes it, not the simulation and not the transports."""

    def __init__(
        self,
        graph: RosGraph,
        simulation: Simulation,
        transports: Sequence[Transport],
        reporter: Reporter,
        options: BridgeOptions | None = None,
    ) -> None:
        self._graph, self._simulation, self._transports = graph, simulation, list(transports)
        self._reporter, self._options = reporter, options or BridgeOptions()
        self.targets = JointTargets(simulation, self._options.added)
        self.is_realtime = self._options.realtime
        self._start = simulation.count if self._options.start is None else self._options.start
        self.time = self._read_time()
        self._switches: list[Closeable] = []
        self._publishers: list[_Publisher] = []
        self._listeners: list[_Listener] = []
        self.controllers: dict[str, ActiveController] = {}
        self._moment = SimulationMoment(simulation, self.time)
        self._descriptions = RobotDescriptions(graph)
        for robot in graph.robots:
            self._bind(robot)
        if self._options.has_clock:
            self._add_own()
        self._offer_switches()
        self._look()
        self._publish()

    # what is made when the bridge begins

    def _bind(self, robot: GraphRobot) -> None:
        """Controllers first: endpoints may be theirs."""
        asset = self._graph.asset
        gravity = asset.environment.gravity
        context = SourceContext(
            asset,
            self._simulation,
            robot,
            self._reporter,
            vec3(0, 0, -GRAVITY) if gravity is None else vec3(gravity),
        )
        mine = self._start_controllers(robot)
        for endpoint in robot.endpoints:
            self._bind_endpoint(endpoint, context, mine)
        self._add_frames(robot, mine)
        self._add_description(robot)

    def _start_controllers(self, robot: GraphRobot) -> dict[str, ActiveController]:
        freedoms = find_freedoms(self._simulation.layout, robot)
        mine: dict[str, ActiveController] = {}
        for entry in robot.controllers:
            base = next(
                (f.id for f in robot.frames.frames if f.controller == entry.controller.name and f.body), ""
            )
            try:
                parts = ControllerParts(entry, self._graph.asset, self._simulation, freedoms, base)
                made = make_controller(parts)
            except NoDataError as error:
                self._tell_idle(entry.controller.name, str(error))
                continue
            if made is None:
                continue
            mine[entry.controller.name] = made
            label = entry.controller.name
            # two robots of one asset have controllers of one name
            label = label if label not in self.controllers else f"{robot.namespace.strip('/')}/{label}"
            self.controllers[label] = made
            made.is_enabled = entry.controller.starts_enabled
            rival = self._find_rival(made)
            if made.is_enabled and rival:
                made.is_enabled = False
                self._tell_idle(label, f"{rival!r} commands its joints")
        return mine

    def _find_rival(self, controller: ActiveController) -> str:
        """Another enabled controller that commands one of its joints; "" where there is none."""
        return next(
            (
                label
                for label, other in self.controllers.items()
                if other is not controller and other.is_enabled and other.joints & controller.joints
            ),
            "",
        )

    def _tell_idle(self, name: str, reason: str) -> None:
        self._reporter.report(CONTROLLER_IDLE, name=name, reason=reason)

    def _bind_endpoint(
        self, endpoint: RosEndpoint, context: SourceContext, controllers: dict[str, ActiveController]
    ) -> None:
        # has been told when the graph was built
        if endpoint.problem:
            return
        try:
            self._open_endpoint(endpoint, context, controllers)
        except NoDataError as error:
            self._reporter.report(
                ENDPOINT_DISABLED,
                endpoint.source,
                kind=endpoint.kind.value,
                name=endpoint.name,
                reason=str(error),
            )

    def _open_endpoint(
        self, endpoint: RosEndpoint, context: SourceContext, controllers: dict[str, ActiveController]
    ) -> None:
        if is_simulators(endpoint):
            raise NoDataError("it belongs to the simulator (REP-0158 2.9)")
        if endpoint.role == "client":
            raise NoDataError("nothing in an asset calls it")
        self._check_type(endpoint)
        owner = controllers.get(endpoint.controller)
        if endpoint.role == "publisher":
            own = owner.read_by(endpoint) if owner is not None else None
            source = MessageSource(own) if own is not None else make_source(endpoint, context)
            self._add_publisher(endpoint, source, endpoint.rate or DEFAULT_RATE)
        elif endpoint.kind is InterfaceKind.TOPIC:
            receive = self._find_receiver(endpoint, owner, context, controllers)
            self._add_listener(endpoint, lambda transport: transport.subscribe(endpoint, receive))
        elif endpoint.kind is InterfaceKind.SERVICE:
            answer = self._find_answer(endpoint)
            self._add_listener(endpoint, lambda transport: transport.serve(endpoint, answer))
        else:
            behaviour = owner.act_by(endpoint) if owner is not None else None
            if behaviour is None:
                raise NoDataError(f"no controller takes goals of {endpoint.type}")
            self._add_listener(endpoint, lambda transport: transport.act(endpoint, behaviour))

    def _check_type(self, endpoint: RosEndpoint) -> None:
        reasons = [transport.explain_unknown(endpoint.type) for transport in self._transports]
        # one that can carry it is enough; with none, the first says why
        if reasons and all(reasons):
            raise NoDataError(reasons[0])

    def _find_receiver(
        self,
        endpoint: RosEndpoint,
        owner: ActiveController | None,
        context: SourceContext,
        controllers: dict[str, ActiveController],
    ) -> Callable[[Message], None]:
        candidates = [owner] if owner is not None else list(controllers.values())
        if owner is None and endpoint.type in (JOINT_COMMANDS, NUMBERS):
            # commands for whoever is named in them, or for all joints in order
            freedoms = find_freedoms(context.layout, context.robot)
            made = PlainCommands(endpoint.name, freedoms, "position")
            self.controllers[endpoint.name] = made
            made.is_enabled = not self._find_rival(made)
            candidates = [made]
        for controller in candidates:
            receive = controller.receive_by(endpoint)
            if receive is not None:
                return _guard(controller, receive)
        raise NoDataError(f"no controller takes {endpoint.type}")

    def _find_answer(self, endpoint: RosEndpoint) -> Callable[[Message], Message]:
        if endpoint.type == SET_BOOL:
            return lambda request: self._switch_beside(endpoint, bool(request["data"]))
        if endpoint.type == TRIGGER:
            return lambda _: self._reset_beside(endpoint)
        raise NoDataError(f"nothing is known to do for {endpoint.type}")

    def _list_beside(self, endpoint: RosEndpoint) -> list[str]:
        """Endpoints and controllers below the same prim as a service; without paths, those of its namespace."""
        others = [(o.name, o.interface.path) for o in self._list_endpoints() if o.interface is not None]
        paths = {controller.name: controller.path for controller in self._graph.asset.controllers}
        others += [(name, paths.get(name, "")) for name in self.controllers]
        others = [(name, path) for name, path in others if name != endpoint.name]
        # only OpenUSD has places for interfaces; other formats have names alone
        own = endpoint.interface.path if endpoint.interface is not None else ""
        if own:
            return [name for name, path in others if path.startswith(f"{own.rpartition('/')[0]}/")]
        return [name for name, _ in others if name.startswith(f"{endpoint.name.rpartition('/')[0]}/")]

    def _switch_beside(self, endpoint: RosEndpoint, state: bool) -> Message:
        names = self._list_beside(endpoint)
        problems = [problem for name in names if (problem := self.turn(name, state))]
        if not names:
            return {"success": False, "message": "there is nothing to switch beside it"}
        word = "on" if state else "off"
        return {"success": not problems, "message": "; ".join(problems) or f"{', '.join(names)}: {word}"}

    def _reset_beside(self, endpoint: RosEndpoint) -> Message:
        names = [name for name in self._list_beside(endpoint) if name in self.controllers]
        done = [self.controllers[name].reset() for name in names or self.controllers]
        said = "; ".join(text for text in done if text)
        return {"success": bool(said), "message": said or "there is nothing to begin anew beside it"}

    def _add_publisher(self, endpoint: RosEndpoint, source: MessageSource, rate: float) -> None:
        period = max(round(NANO / rate), 1) if rate > 0.0 else 0
        made = _Publisher(endpoint, source, period)
        self._publishers.append(made)
        if endpoint.enabled:
            self._turn_publisher(made, True)

    def _add_listener(self, endpoint: RosEndpoint, open_on: Callable[[Transport], Closeable]) -> None:
        made = _Listener(endpoint, open_on)
        self._listeners.append(made)
        if endpoint.enabled:
            self._turn_listener(made, True)

    def _add_frames(self, robot: GraphRobot, controllers: dict[str, ActiveController]) -> None:
        odometry: dict[str, Callable[[], Pose]] = {
            name: made.odometry for name, made in controllers.items() if made.odometry is not None
        }
        for name, static in ((robot.static_tf_topic, True), (robot.tf_topic, False)):
            if not robot.frames.list_edges(static=static):
                continue
            endpoint = RosEndpoint(
                InterfaceKind.TOPIC,
                "publisher",
                name,
                TF,
                robot.domain_id,
                None,
                LATCHED_QOS if static else TF_QOS,
            )
            source = make_tf_source(robot.frames, static=static, odometry=odometry)
            self._add_own_publisher(endpoint, source, 0.0 if static else self._options.tf_rate)

    def _add_description(self, robot: GraphRobot) -> None:
        """The robot as URDF, for those who come at any time."""
        endpoint = RosEndpoint(
            InterfaceKind.TOPIC, "publisher", robot.description_topic, "std_msgs/msg/String", robot.domain_id,
            None, LATCHED_QOS,
        )  # fmt: skip
        text = self._descriptions.describe(robot)
        if text:
            self._add_own_publisher(endpoint, lambda _: {"data": text}, 0.0)

    def _add_own(self) -> None:
        endpoint = RosEndpoint(InterfaceKind.TOPIC, "publisher", "/clock", CLOCK, None, None, CLOCK_QOS)
        source = lambda moment: {"clock": make_stamp(moment.time)}  # noqa: E731
        self._add_own_publisher(endpoint, source, self._options.clock_rate)
        # time first: who gets a message should know that its time has come
        self._publishers.insert(0, self._publishers.pop())

    def _add_own_publisher(
        self, endpoint: RosEndpoint, read: Callable[[SimulationMoment], Message | None], rate: float
    ) -> None:
        try:
            self._check_type(endpoint)
        except NoDataError as error:
            self._reporter.report(
                ENDPOINT_DISABLED, kind=endpoint.kind.value, name=endpoint.name, reason=str(error)
            )
            return
        self._add_publisher(endpoint, MessageSource(read), rate)

    # what is turned on and off while it runs

    def _list_endpoints(self) -> Iterator[RosEndpoint]:
        both = [p.endpoint for p in self._publishers] + [item.endpoint for item in self._listeners]
        yield from (endpoint for endpoint in both if endpoint.interface is not None)

    def _offer_switches(self) -> None:
        states = {e.name: e.enabled for e in self._list_endpoints()}
        states |= {name: made.is_enabled for name, made in self.controllers.items()}
        self._switches = [t.offer_switches(dict(states), self.turn) for t in self._transports]

    def turn(self, name: str, state: bool) -> str:
        """Turn an endpoint (by its absolute name) or a controller on or off; gives why not, "" if it is done."""
        known = False
        for publisher in self._publishers:
            if publisher.endpoint.name == name and publisher.endpoint.interface is not None:
                known = True
                self._turn_publisher(publisher, state)
        for listener in self._listeners:
            if listener.endpoint.name == name:
                known = True
                self._turn_listener(listener, state)
        controller = self.controllers.get(name)
        if controller is not None:
            return self._turn_controller(controller, state)
        return "" if known else f"there is no endpoint or controller {name!r}"

    def _turn_publisher(self, publisher: _Publisher, state: bool) -> None:
        if publisher.is_on is state:
            return
        publisher.is_on = state
        if state:
            # the grid of times is that of the simulation, whenever it is turned on
            publisher.origin, publisher.sent = 0, 0
            if publisher.period:
                publisher.sent = -(-self.time // publisher.period)
            publisher.senders = [
                t.advertise(publisher.endpoint)
                for t in self._transports
                if not t.explain_unknown(publisher.endpoint.type)
            ]
            return
        for sender in publisher.senders:
            sender.close()
        publisher.senders = []

    def _turn_listener(self, listener: _Listener, state: bool) -> None:
        if listener.is_on is state:
            return
        listener.is_on = state
        if state:
            listener.opened = [
                listener.open(t) for t in self._transports if not t.explain_unknown(listener.endpoint.type)
            ]
            return
        for opened in listener.opened:
            opened.close()
        listener.opened = []

    def _turn_controller(self, controller: ActiveController, state: bool) -> str:
        if controller.is_enabled is state:
            return ""
        if state:
            rival = self._find_rival(controller)
            if rival:
                return f"{rival!r} commands its joints: turn that off first"
        else:
            controller.stop(self.targets, self._moment.positions)
        controller.is_enabled = state
        return ""

    # what happens in every step

    def poll(self) -> None:
        """Handle what has arrived."""
        for transport in self._transports:
            transport.poll()

    def step(self) -> None:
        """One step of the simulation with all that belongs to it."""
        self.poll()
        self.command()
        self._simulation.step(1)
        self.observe()

    def command(self) -> None:
        """Let controllers write their targets, before a step."""
        for controller in self.controllers.values():
            if controller.is_enabled:
                controller.update(self._moment, self.targets)
        moment = self._moment
        self.targets.apply(lambda: moment.positions)

    def observe(self) -> None:
        """See the present, after a step, and send what is due."""
        self._look()
        self._publish()

    def restart(self, start: int) -> None:
        """Let time be zero at a step, and all that is sent begin anew; states of controllers are not touched."""
        self._start = start
        self._look()
        for publisher in self._publishers:
            publisher.origin, publisher.sent = 0, 0
        self._publish()

    def reset_controllers(self) -> None:
        """End all goals, forget all commands, and aim where the simulation is now."""
        self._look()
        for controller in self.controllers.values():
            controller.stop(self.targets, self._moment.positions)
            controller.reset()
        self.targets = JointTargets(self._simulation, self._options.added)

    def send_static(self) -> None:
        """Send again what is sent once: frames may have been moved."""
        self._look()
        for publisher in self._publishers:
            if not publisher.period and publisher.is_on:
                publisher.send(self._moment)

    def _look(self) -> None:
        """See the present, and let those know who count."""
        self.time = self._read_time()
        self._moment = SimulationMoment(self._simulation, self.time)
        for controller in self.controllers.values():
            controller.look(self._moment)

    def _read_time(self) -> int:
        return round((self._simulation.count - self._start) * self._simulation.dt * NANO)

    def _publish(self) -> None:
        following = self.time + round(self._simulation.dt * NANO)
        for publisher in self._publishers:
            if publisher.is_due(self.time):
                publisher.send(self._moment)
            elif publisher.source.looks_ahead and publisher.is_due(following):
                publisher.source.read(self._moment)

    def close(self) -> None:
        """Close all endpoints, and end all goals; the simulation may have forgotten the asset already."""
        for controller in self.controllers.values():
            controller.stop(self.targets, np.zeros(self._simulation.layout.nq))
        for switches in self._switches:
            switches.close()
        self._switches = []
        for publisher in self._publishers:
            self._turn_publisher(publisher, False)
        for listener in self._listeners:
            self._turn_listener(listener, False)
        self._descriptions.close()


def _guard(controller: ActiveController, receive: Callable[[Message], None]) -> Callable[[Message], None]:
    """Messages for a controller that is off are dropped, not kept."""

    def pass_on(message: Message) -> None:
        if controller.is_enabled:
            receive(message)

    return pass_on
