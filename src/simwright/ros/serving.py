# SPDX-License-Identifier: Apache-2.0
"""Endpoints over one transport or several: publishers that send when they are due, and what listens.

Rates hold in time of the simulation.  What the moments are that publishers read is up to who serves: an asset in an
engine (:mod:`simwright.ros.bridge`), or a world in the plane (:mod:`simwright.ros.worlds`).
"""

from __future__ import annotations

import abc
import time as clock
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeAlias, TypeVar

from simwright.core.diag import Level, Reporter, declare
from simwright.engines.protocol import Closeable
from simwright.model.ros import InterfaceKind
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import NANO
from simwright.ros.qos import CLOCK_QOS, DEFAULT_QOS, EndpointQos
from simwright.ros.transports.cdr import STAMP, MessageLayout, PackedMessage
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    Message,
    Receive,
    Sender,
    Transport,
)

ENDPOINT_DISABLED = declare(
    "ros-endpoint-disabled",
    Level.WARNING,
    "{kind} {name!r} is not served: {reason}",
    hint="all other interfaces are served",
    doc="An interface of an asset cannot be started; the others work as usual.",
    section="2.3",
)
CLOCK = "rosgraph_msgs/msg/Clock"
Sendable: TypeAlias = Message | PackedMessage
"""What a publisher may be given to send."""
_NEVER = 2**63


class NoDataError(Exception):
    """An endpoint cannot be served; the message says why."""


class TimedMoment(Protocol):
    """State that publishers read their messages from."""

    @property
    def time(self) -> int:
        """Simulated time [ns]."""
        ...


MomentT = TypeVar("MomentT", bound=TimedMoment)


@dataclass(frozen=True, slots=True)
class MessageSource(Generic[MomentT]):
    """Makes the messages of a publisher.

    With ``looks_ahead`` it is read one step before it is due as well: acceleration is a difference of two velocities.
    """

    read: Callable[[MomentT], Sendable | None]
    looks_ahead: bool = False


@dataclass(slots=True, eq=False)
class ServedPublisher(Generic[MomentT]):
    """A publisher with its source; ``sent`` messages so far, at ``period`` [ns]; no period: sent once."""

    endpoint: RosEndpoint
    source: MessageSource[MomentT]
    period: int
    senders: list[Sender] = field(default_factory=list)
    is_on: bool = False
    sent: int = 0
    origin: int = 0

    @property
    def due(self) -> int:
        """Simulated time of the next message [ns]; beyond all times if there is none."""
        if not self.is_on:
            return _NEVER
        if not self.period:
            return _NEVER if self.sent else 0
        return self.origin + self.sent * self.period

    def send(self, moment: MomentT) -> None:
        """Publish one message, unless the source has none for this moment."""
        message = self.source.read(moment)
        # a source without data yet (a velocity before the second step) publishes nothing, rather than late
        for sender in self.senders:
            if isinstance(message, PackedMessage):
                sender.send_packed(message, moment.time)
            elif message is not None:
                sender.send(message, moment.time)
        if self.period:
            # a rate above that of the steps cannot be kept: due times that have passed are dropped, not sent in a burst
            self.sent = max(self.sent + 1, (moment.time - self.origin) // self.period + 1)
        else:
            self.sent += 1

    def set_enabled(self, state: bool, time: int, transports: Sequence[Transport]) -> None:
        """Advertise it on all transports that know its type, or withdraw it."""
        if self.is_on is state:
            return
        self.is_on = state
        if state:
            # due times are multiples of the period from time zero, whenever it is enabled: runs can be compared
            self.origin, self.sent = 0, -(-time // self.period) if self.period else 0
            self.senders = [
                t.advertise(self.endpoint) for t in transports if not t.explain_unknown(self.endpoint.type)
            ]
            return
        for sender in self.senders:
            sender.close()
        self.senders = []


@dataclass(slots=True, eq=False)
class ServedListener:
    """A subscription, service or action: opened when it is turned on."""

    endpoint: RosEndpoint
    open: Callable[[Transport], Closeable]
    opened: list[Closeable] = field(default_factory=list)
    is_on: bool = False

    def set_enabled(self, state: bool, transports: Sequence[Transport]) -> None:
        """Open it on all transports that know its type, or close it."""
        if self.is_on is state:
            return
        self.is_on = state
        if state:
            self.opened = [self.open(t) for t in transports if not t.explain_unknown(self.endpoint.type)]
            return
        for opened in self.opened:
            opened.close()
        self.opened = []


class EndpointServer(Closeable, Generic[MomentT]):
    """Serves endpoints over transports; leaving its ``with`` block closes the endpoints, not the transports."""

    def __init__(self, transports: Sequence[Transport], reporter: Reporter) -> None:
        self._transports, self._reporter = list(transports), reporter
        self.time = 0
        """Of the simulation [ns]."""
        self._publishers: list[ServedPublisher[MomentT]] = []
        self._listeners: list[ServedListener] = []
        self._wake = 0
        """Before this time nothing is due [ns]; whoever changes publishers sets it to 0."""

    def _check_type(self, endpoint: RosEndpoint) -> None:
        reasons = [transport.explain_unknown(endpoint.type) for transport in self._transports]
        # one that can carry it is enough; with none, the first says why
        if reasons and all(reasons):
            raise NoDataError(reasons[0])

    def _add_publisher(self, endpoint: RosEndpoint, source: MessageSource[MomentT], rate: float) -> None:
        period = max(round(NANO / rate), 1) if rate > 0.0 else 0
        made = ServedPublisher(endpoint, source, period)
        self._publishers.append(made)
        self._wake = 0
        if endpoint.enabled:
            made.set_enabled(True, self.time, self._transports)

    def _add_listener(self, endpoint: RosEndpoint, open_on: Callable[[Transport], Closeable]) -> None:
        made = ServedListener(endpoint, open_on)
        self._listeners.append(made)
        if endpoint.enabled:
            made.set_enabled(True, self._transports)

    def _add_own_publisher(
        self, endpoint: RosEndpoint, read: Callable[[MomentT], Sendable | None], rate: float
    ) -> None:
        """Add a publisher of the simulator itself; reports a type that no transport can carry."""
        if self._is_carried(endpoint):
            self._add_publisher(endpoint, MessageSource(read), rate)

    def add_topic(
        self,
        name: str,
        kind: str,
        read: Callable[[MomentT], Sendable | None],
        rate: float,
        qos: EndpointQos = DEFAULT_QOS,
    ) -> None:
        """Publish a topic of the simulator itself at ``rate`` [Hz]; with rate 0, once."""
        endpoint = RosEndpoint(InterfaceKind.TOPIC, "publisher", name, kind, None, rate or None, qos)
        self._add_own_publisher(endpoint, read, rate)

    def add_subscription(self, name: str, kind: str, receive: Receive) -> None:
        """Subscribe to a topic of the simulator itself."""
        endpoint = RosEndpoint(InterfaceKind.TOPIC, "subscription", name, kind)
        if self._is_carried(endpoint):
            self._add_listener(endpoint, lambda transport: transport.subscribe(endpoint, receive))

    def add_service(self, name: str, kind: str, answer: Answer) -> None:
        """Offer a service of the simulator itself."""
        endpoint = RosEndpoint(InterfaceKind.SERVICE, "server", name, kind)
        if self._is_carried(endpoint):
            self._add_listener(endpoint, lambda transport: transport.serve(endpoint, answer))

    def add_action(self, name: str, kind: str, behaviour: ActionBehaviour) -> None:
        """Offer an action of the simulator itself."""
        endpoint = RosEndpoint(InterfaceKind.ACTION, "server", name, kind)
        if self._is_carried(endpoint):
            self._add_listener(endpoint, lambda transport: transport.act(endpoint, behaviour))

    def _is_carried(self, endpoint: RosEndpoint) -> bool:
        try:
            self._check_type(endpoint)
        except NoDataError as error:
            self._report_disabled(endpoint, str(error))
            return False
        return True

    def _report_disabled(self, endpoint: RosEndpoint, reason: str) -> None:
        self._reporter.report(
            ENDPOINT_DISABLED, endpoint.source, kind=endpoint.kind.value, name=endpoint.name, reason=reason
        )

    def _add_clock(self, rate: float) -> None:
        layout = MessageLayout(CLOCK, {"clock": STAMP})
        self.add_topic("/clock", CLOCK, lambda moment: layout.pack(moment.time), rate, CLOCK_QOS)
        # /clock goes out first: a node with use_sim_time drops messages that are newer than its clock
        self._publishers.insert(0, self._publishers.pop())

    def poll(self) -> None:
        """Handle messages, requests and goals that have arrived."""
        for transport in self._transports:
            transport.poll()

    def _publish(self, moment: MomentT, step: int) -> None:
        """Send what is due; ``step`` [ns] is how long it is to the next moment."""
        if moment.time < self._wake:
            return
        next_due = _NEVER
        for publisher in self._publishers:
            if publisher.due <= moment.time:
                publisher.send(moment)
            elif publisher.source.looks_ahead and publisher.due <= moment.time + step:
                publisher.source.read(moment)
            next_due = min(next_due, publisher.due)
        # a step earlier: some look ahead
        self._wake = next_due - step

    def _send_again(self, wants: Callable[[ServedPublisher[MomentT]], bool]) -> None:
        """Start the schedule of publishers again; latched messages are sent once more."""
        for publisher in self._publishers:
            if wants(publisher):
                publisher.origin = publisher.sent = 0
        self._wake = 0

    def close(self) -> None:
        """Close all endpoints."""
        for publisher in self._publishers:
            publisher.set_enabled(False, self.time, self._transports)
        for listener in self._listeners:
            listener.set_enabled(False, self._transports)


@dataclass(frozen=True, slots=True)
class ClockMoment:
    """A time [ns]."""

    time: int


class ClockServer(EndpointServer[ClockMoment]):
    """The clock of a simulation whose assets come and go."""

    def __init__(self, transports: Sequence[Transport], reporter: Reporter, rate: float) -> None:
        super().__init__(transports, reporter)
        self._add_clock(rate)

    def publish_time(self, time: int, step: int) -> None:
        """Publish simulated time [ns] if it is due; the next call comes ``step`` [ns] later."""
        self.time = time
        self._publish(ClockMoment(time), step)

    def restart(self) -> None:
        """Set simulated time back to zero."""
        self._send_again(lambda _: True)
        self.publish_time(0, 0)


class ClockPace:
    """Keeps a simulation from running faster than real time."""

    def __init__(self, time: int) -> None:
        self._began = clock.perf_counter() - time / NANO

    def wait(self, time: int) -> None:
        """Sleep until real time reaches simulated ``time`` [ns]; a delay of more than a second is not caught up."""
        ahead = time / NANO - (clock.perf_counter() - self._began)
        if ahead > 0.0:
            clock.sleep(ahead)
        elif ahead < -1.0:
            self._began = clock.perf_counter() - time / NANO


class SteppedRun(Closeable):
    """A simulation that is stepped while it serves ROS, at most at real time on request; ``time`` is simulated [ns]."""

    time: int = 0
    is_paused: bool = False
    is_stopping: bool = False
    is_realtime: bool = False

    @abc.abstractmethod
    def poll(self) -> None:
        """Handle messages, requests and goals that have arrived."""

    @abc.abstractmethod
    def step(self) -> None:
        """Handle messages, step once and publish what is due."""

    def has_step_to_do(self) -> bool:
        """Whether the next step is to be taken now."""
        return not self.is_paused

    def run(self, steps: int | None = None, watch: Callable[[int], None] | None = None) -> int:
        """Run ``steps`` steps, or until it is stopped; gives the number done.  The caller handles Ctrl-C."""
        done, pace = 0, ClockPace(self.time)
        while (steps is None or done < steps) and not self.is_stopping:
            if not self.has_step_to_do():
                self.poll()
                clock.sleep(0.005)
                pace = ClockPace(self.time)
                continue
            before = self.time
            self.step()
            done += 1
            if watch is not None:
                watch(done)
            if self.time < before:
                # a peer has reset the simulation
                pace = ClockPace(self.time)
            # single steps that a peer asks for while paused are done at once
            if self.is_realtime and not self.is_paused:
                pace.wait(self.time)
        return done
