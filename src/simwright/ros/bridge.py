# SPDX-License-Identifier: Apache-2.0
"""The bridge: the graph of an asset bound to a running simulation, over one transport or several.

Everything happens in one thread, step by step: what arrived is handled, controllers write targets, the engine moves
on, and what is due is sent.  Rates hold in time of the simulation; stamps are that time.  The first world is served.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

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
from simwright.ros.messages import NANO, RobotDescriptions
from simwright.ros.moment import SimulationMoment
from simwright.ros.motion_sources import TF, TransformTable, make_tf_source
from simwright.ros.qos import LATCHED_QOS, TF_QOS
from simwright.ros.serving import EndpointServer, MessageSource, NoDataError, SteppedRun
from simwright.ros.servos import SERVO_SAGS, JointTargets
from simwright.ros.source_parts import SourceContext, find_freedoms
from simwright.ros.sources import make_source
from simwright.ros.transports.transport import Message, ParameterValue, Transport

CONTROLLER_IDLE = declare(
    "ros-controller-idle",
    Level.WARNING,
    "controller {name!r} does not run: {reason}",
    doc="A controller of an asset cannot be started, or another one commands its joints.",
    section="4.2.3",
)
GRAVITY = 9.80665
_SWITCH = "enabled."
SET_BOOL, TRIGGER = "std_srvs/srv/SetBool", "std_srvs/srv/Trigger"


@dataclass(frozen=True, slots=True)
class BridgeOptions:
    """Rates of /tf and /clock [Hz] in simulated time; ``realtime`` keeps it from running faster than real time."""

    tf_rate: float = 50.0
    clock_rate: float = 100.0
    realtime: bool = False
    added: frozenset[str] = frozenset()
    """Joints that had no drive and were given one because a controller commands them."""
    has_clock: bool = True
    """Whether this bridge publishes /clock: one bridge of a simulation does."""
    start: int | None = None
    """Step of the simulation at which time is zero; None is the present one."""
    goes_on: bool = False
    """Whether another bridge has published the present state already: only latched topics are published at once."""


class RosBridge(EndpointServer[SimulationMoment], SteppedRun):
    """Serves the ROS graph of an asset while its simulation runs.

    Leaving its ``with`` block closes the endpoints; the simulation and the transports stay open.
    """

    def __init__(
        self,
        graph: RosGraph,
        simulation: Simulation,
        transports: Sequence[Transport],
        reporter: Reporter,
        options: BridgeOptions | None = None,
    ) -> None:
        super().__init__(transports, reporter)
        self._graph, self._simulation = graph, simulation
        self._options = options or BridgeOptions()
        self.targets = JointTargets(simulation, self._options.added)
        self.is_realtime = self._options.realtime
        self._start = simulation.count if self._options.start is None else self._options.start
        self.time = self._read_time()
        self._switches: list[Closeable] = []
        self.controllers: dict[str, ActiveController] = {}
        self._moment = SimulationMoment(simulation, self.time)
        self._transforms = {static: TransformTable(simulation.layout) for static in (True, False)}
        self._descriptions = RobotDescriptions(graph)
        for robot in graph.robots:
            self._bind(robot)
        if self._options.has_clock:
            self._add_clock(self._options.clock_rate)
        self._offer_parameters()
        self._check_loads()
        if self._options.goes_on:
            for publisher in self._publishers:
                if publisher.period:
                    publisher.sent = self.time // publisher.period + 1
        self.observe()

    # what is made when the bridge begins

    def _bind(self, robot: GraphRobot) -> None:
        """Start the controllers of a robot, then its endpoints, some of which belong to controllers."""
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
                self._report_idle(entry.controller.name, str(error))
                continue
            if made is None:
                continue
            mine[entry.controller.name] = made
            made.moment = self._moment
            label = entry.controller.name
            # two robots of one asset have controllers of one name
            label = label if label not in self.controllers else f"{robot.namespace.strip('/')}/{label}"
            self.controllers[label] = made
            made.is_enabled = entry.controller.starts_enabled
            rival = self._find_rival(made)
            if made.is_enabled and rival:
                made.is_enabled = False
                self._report_idle(label, f"{rival!r} commands its joints")
        return mine

    def _find_rival(self, controller: ActiveController) -> str:
        """Name of another enabled controller that commands one of the same joints; "" if there is none."""
        return next(
            (
                label
                for label, other in self.controllers.items()
                if other is not controller and other.is_enabled and other.joints & controller.joints
            ),
            "",
        )

    def _check_loads(self) -> None:
        """Report drives that were added and cannot compensate gravity, because the engine gives no bias forces."""
        commanded = {
            name
            for robot in self._graph.robots
            for entry in robot.controllers
            for name in entry.controller.joints.get("command", ())
        }
        carrying = sorted(commanded & self._options.added)
        if carrying and self._simulation.bias() is None:
            self._reporter.report(SERVO_SAGS, joints=", ".join(carrying[:5]))

    def _report_idle(self, name: str, reason: str) -> None:
        self._reporter.report(CONTROLLER_IDLE, name=name, reason=reason)

    def _bind_endpoint(
        self, endpoint: RosEndpoint, context: SourceContext, controllers: dict[str, ActiveController]
    ) -> None:
        # reported when the graph was built
        if endpoint.problem:
            return
        try:
            self._open_endpoint(endpoint, context, controllers)
        except NoDataError as error:
            self._report_disabled(endpoint, str(error))

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

    def _find_receiver(
        self,
        endpoint: RosEndpoint,
        owner: ActiveController | None,
        context: SourceContext,
        controllers: dict[str, ActiveController],
    ) -> Callable[[Message], None]:
        candidates = [owner] if owner is not None else list(controllers.values())
        if owner is None and endpoint.type in (JOINT_COMMANDS, NUMBERS):
            # no controller owns this topic: it commands the joints that its messages name, or all joints in their order
            freedoms = find_freedoms(context.layout, context.robot)
            made = PlainCommands(endpoint.name, freedoms, "position")
            made.moment = self._moment
            self.controllers[endpoint.name] = made
            made.is_enabled = not self._find_rival(made)
            candidates = [made]
        for controller in candidates:
            receive = controller.receive_by(endpoint)
            if receive is not None:
                return _drop_while_disabled(controller, receive)
        raise NoDataError(f"no controller takes {endpoint.type}")

    def _find_answer(self, endpoint: RosEndpoint) -> Callable[[Message], Message]:
        if endpoint.type == SET_BOOL:
            return lambda request: self._enable_siblings(endpoint, bool(request["data"]))
        if endpoint.type == TRIGGER:
            return lambda _: self._reset_siblings(endpoint)
        raise NoDataError(f"nothing is known to do for {endpoint.type}")

    def _list_siblings(self, endpoint: RosEndpoint) -> list[str]:
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

    def _enable_siblings(self, endpoint: RosEndpoint, state: bool) -> Message:
        names = self._list_siblings(endpoint)
        problems = [problem for name in names if (problem := self.set_enabled(name, state))]
        if not names:
            return {"success": False, "message": "there is nothing to switch beside it"}
        word = "on" if state else "off"
        return {"success": not problems, "message": "; ".join(problems) or f"{', '.join(names)}: {word}"}

    def _reset_siblings(self, endpoint: RosEndpoint) -> Message:
        names = [name for name in self._list_siblings(endpoint) if name in self.controllers]
        done = [self.controllers[name].reset() for name in names or self.controllers]
        said = "; ".join(text for text in done if text)
        return {"success": bool(said), "message": said or "there is nothing to reset beside it"}

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
            source = make_tf_source(robot.frames, self._transforms[static], static=static, odometry=odometry)
            self._add_own_publisher(endpoint, source, 0.0 if static else self._options.tf_rate)

    def _add_description(self, robot: GraphRobot) -> None:
        """Publish the robot as URDF on a latched topic, so that late subscribers get it too."""
        endpoint = RosEndpoint(
            InterfaceKind.TOPIC, "publisher", robot.description_topic, "std_msgs/msg/String", robot.domain_id,
            None, LATCHED_QOS,
        )  # fmt: skip
        text = self._descriptions.describe(robot)
        if text:
            self._add_own_publisher(endpoint, lambda _: {"data": text}, 0.0)

    # what is turned on and off while it runs

    def _list_endpoints(self) -> Iterator[RosEndpoint]:
        both = [p.endpoint for p in self._publishers] + [item.endpoint for item in self._listeners]
        yield from (endpoint for endpoint in both if endpoint.interface is not None)

    def _offer_parameters(self) -> None:
        """Offer a ROS parameter ``enabled.<name>`` for each endpoint and controller."""
        states = {e.name: e.enabled for e in self._list_endpoints()}
        states |= {name: made.is_enabled for name, made in self.controllers.items()}
        values: dict[str, ParameterValue] = {f"{_SWITCH}{name}": state for name, state in states.items()}
        self._switches = [t.offer_parameters(values, self._change) for t in self._transports]

    def _change(self, name: str, value: ParameterValue) -> str:
        return self.set_enabled(name.removeprefix(_SWITCH), bool(value))

    def set_enabled(self, name: str, state: bool) -> str:
        """Enable or disable an endpoint (by absolute name) or a controller; gives the reason if refused, else ""."""
        known, self._wake = False, 0
        for publisher in self._publishers:
            if publisher.endpoint.name == name and publisher.endpoint.interface is not None:
                known = True
                publisher.set_enabled(state, self.time, self._transports)
        for listener in self._listeners:
            if listener.endpoint.name == name:
                known = True
                listener.set_enabled(state, self._transports)
        controller = self.controllers.get(name)
        if controller is not None:
            return self._set_controller_enabled(controller, state)
        return "" if known else f"there is no endpoint or controller {name!r}"

    def _set_controller_enabled(self, controller: ActiveController, state: bool) -> str:
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

    def step(self) -> None:
        """Handle messages, let controllers act, step the engine once and publish what is due."""
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
        """Read the state after a step and publish what is due."""
        self._update_moment()
        self._publish(self._moment, round(self._simulation.dt * NANO))

    def _update_moment(self) -> None:
        """Take over the time of the simulation; everything else is read from the engine when it is asked for."""
        self.time = self._read_time()
        self._moment.advance(self.time)

    def _read_time(self) -> int:
        return round((self._simulation.count - self._start) * self._simulation.dt * NANO)

    def restart(self, start: int) -> None:
        """Let simulated time be zero at step ``start`` and publish from the beginning; controllers keep their state."""
        self._start = start
        self._send_again(lambda _: True)
        self.observe()

    def reset_controllers(self) -> None:
        """End all goals, drop all commands, and hold the present positions."""
        self._update_moment()
        for controller in self.controllers.values():
            controller.stop(self.targets, self._moment.positions)
            controller.reset()
        self.targets = JointTargets(self._simulation, self._options.added)

    def send_static(self) -> None:
        """Publish latched topics again, after frames have been moved."""
        self._update_moment()
        for publisher in self._publishers:
            if not publisher.period and publisher.is_on:
                publisher.send(self._moment)

    def close(self) -> None:
        """End all goals and close all endpoints; the simulation may not have the asset any more."""
        for controller in self.controllers.values():
            controller.stop(self.targets, np.zeros(self._simulation.layout.nq))
        for switches in self._switches:
            switches.close()
        self._switches = []
        super().close()
        self._descriptions.close()


def _drop_while_disabled(
    controller: ActiveController, receive: Callable[[Message], None]
) -> Callable[[Message], None]:
    """Pass messages on to an enabled controller only: a queue of old commands must not act once it is enabled."""

    def pass_on(message: Message) -> None:
        if controller.is_enabled:
            receive(message)

    return pass_on
