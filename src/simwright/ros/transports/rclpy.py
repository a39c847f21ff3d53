# SPDX-License-Identifier: Apache-2.0
"""ROS 2 itself, by rclpy: whatever middleware the user has chosen.

rclpy works in threads of its own; what arrives waits in a queue until the bridge polls, and who asked waits for the
answer.  Publishing is done from the bridge's thread, which rclpy allows.

A context and a node for each domain: assets may put a robot into a domain of its own.  Peers turn endpoints and
controllers on and off by parameters of the node.
"""

from __future__ import annotations

import array
import contextlib
import functools
import importlib
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from simwright.engines.protocol import Closeable
from simwright.ros.graph import RosEndpoint
from simwright.ros.qos import EndpointQos
from simwright.ros.transports.cdr import PackedMessage
from simwright.ros.transports.table import INSTALL, NoTransportError
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    ArrivalQueue,
    Change,
    GoalHandle,
    LateAnswer,
    Message,
    ParameterValue,
    Receive,
    Sender,
    Transport,
    TransportOptions,
)

_FAST_DDS = (
    "FASTDDS_DEFAULT_PROFILES_FILE", "FASTRTPS_DEFAULT_PROFILES_FILE", "FASTDDS_BUILTIN_TRANSPORTS",
)  # fmt: skip
"""Variables by which users say how Fast DDS sends; then ours says nothing."""
_PATIENCE = 10.0
"""How long a peer's request waits for the simulation [s]."""
_LOOK = 0.25
"""How often publishers are looked for, to match their policies [s]."""
_DIGITS = {"double": "d", "float": "f", "uint8": "B", "octet": "B", "int8": "b", "uint16": "H", "int16": "h"}
_DIGITS |= {"uint32": "I", "int32": "i", "uint64": "Q", "int64": "q"}


def open_rclpy(options: TransportOptions) -> Transport:
    """Import rclpy and make a node; an error with the line that installs it where it is not there."""
    try:
        importlib.import_module("rclpy")
    except ImportError as error:
        raise NoTransportError(f"rclpy cannot be imported: {error}", hint=INSTALL["rclpy"]) from None
    if not any(os.environ.get(name) for name in _FAST_DDS):
        os.environ["FASTDDS_DEFAULT_PROFILES_FILE"] = str(Path(__file__).with_name("fastdds.xml"))
    if options.local:
        # before a context is made: the middleware reads it then
        os.environ.setdefault("ROS_AUTOMATIC_DISCOVERY_RANGE", "LOCALHOST")
    return RclpyTransport(options)


class RclpyTransport(Transport):
    """See :class:`~simwright.ros.transports.transport.Transport`."""

    name = "rclpy"

    def __init__(self, options: TransportOptions) -> None:
        self._options = options
        self._nodes: dict[int | None, _DomainNode] = {}
        self._arrived = ArrivalQueue()
        self._is_closed = threading.Event()
        self._is_listening = False
        self._offered: list[tuple[dict[str, ParameterValue], Change]] = []
        self._find_node(None)

    def _find_node(self, domain: int | None) -> _DomainNode:
        chosen = self._options.domain_id if domain is None else domain
        if chosen not in self._nodes:
            self._nodes[chosen] = _DomainNode(self._options.node, chosen)
        return self._nodes[chosen]

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        try:
            _import_type(type_name)
        except (ImportError, AttributeError, ValueError) as error:
            return f"{type_name} is not installed here ({error})"
        return ""

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        node = self._find_node(endpoint.domain_id)
        return _RclpySender(node, endpoint)

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        node = self._find_node(endpoint.domain_id)

        def arrive(message: Any) -> None:
            self._arrived.put(lambda: receive(read_message(message)))

        return _RclpySubscription(node, endpoint, arrive)

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        node = self._find_node(endpoint.domain_id)

        def handle(request: Any, response: Any) -> Any:
            given = self._ask(lambda: answer(read_message(request)))
            if isinstance(given, LateAnswer):
                while not given.wait(_LOOK) and not self._is_closed.is_set():
                    pass
                given = given.message
            return fill_message(response, given) if given is not None else response

        made = node.node.create_service(
            _import_type(endpoint.type), endpoint.name, handle, callback_group=node.group
        )
        return _Closing(lambda: node.node.destroy_service(made))

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class."""
        from rclpy.action import ActionServer, CancelResponse, GoalResponse

        node, kind = self._find_node(endpoint.domain_id), _import_type(endpoint.type)

        def decide(goal: Any) -> Any:
            reason = self._ask(lambda: behaviour.refuse(read_message(goal)))
            if reason:
                node.node.get_logger().warning(f"{endpoint.name}: goal refused: {reason}")
            return GoalResponse.ACCEPT if reason == "" else GoalResponse.REJECT

        def execute(goal: Any) -> Any:
            handle = _RclpyGoal(goal, kind)
            self._arrived.put(lambda: behaviour.begin(handle))
            # in a thread of the executor: the simulation goes on meanwhile
            while not handle.done.wait(_LOOK):
                if self._is_closed.is_set():
                    handle.finish("aborted", {})
            return handle.settle()

        made = ActionServer(
            node.node, kind, endpoint.name, execute, goal_callback=decide,
            cancel_callback=lambda _: CancelResponse.ACCEPT, callback_group=node.group,
        )  # fmt: skip
        return _Closing(made.destroy)

    def offer_parameters(self, values: dict[str, ParameterValue], change: Change) -> Closeable:
        """See the base class."""
        node = self._find_node(None).node
        added = [name for name in values if not node.has_parameter(name)]
        # before it is known who changes them: declaring asks that, in this thread
        for name in added:
            node.declare_parameter(name, values[name])
        if not self._is_listening:
            self._is_listening = True
            node.add_on_set_parameters_callback(self._change)
        offered = (dict(values), change)
        self._offered.append(offered)

        def withdraw() -> None:
            self._offered.remove(offered)
            for name in added:
                node.undeclare_parameter(name)

        return _Closing(withdraw)

    def _change(self, parameters: list[Any]) -> Any:
        """Called by rclpy for parameters that are set, also while they are declared."""
        from rcl_interfaces.msg import SetParametersResult

        for parameter in parameters:
            for values, change in [*self._offered]:
                if parameter.name not in values:
                    continue
                reason = self._ask(functools.partial(change, parameter.name, parameter.value))
                if reason != "":
                    told = reason or "the simulation does not answer"
                    return SetParametersResult(successful=False, reason=told)
        return SetParametersResult(successful=True)

    def poll(self) -> None:
        """See the base class."""
        self._arrived.work()

    def _ask(self, question: Callable[[], Any]) -> Any:
        """What the bridge's thread answers, None if it does not begin to in time."""
        answered: queue.Queue[Any] = queue.Queue(1)
        begun = threading.Event()

        def work() -> None:
            begun.set()
            answered.put(question())

        self._arrived.put(work)
        waited = 0.0
        # what has begun is waited for: opening a world takes its time
        while not self._is_closed.is_set() and (waited < _PATIENCE or begun.is_set()):
            with contextlib.suppress(queue.Empty):
                return answered.get(timeout=_LOOK)
            waited += _LOOK
        return None

    def close(self) -> None:
        """See the base class."""
        self._is_closed.set()
        for node in self._nodes.values():
            node.close()
        self._nodes.clear()


class _DomainNode:
    """A context, a node and the thread that serves it."""

    def __init__(self, name: str, domain: int | None) -> None:
        import rclpy
        from rclpy.callback_groups import ReentrantCallbackGroup
        from rclpy.executors import MultiThreadedExecutor

        self._is_closed = False
        self._context = rclpy.Context()
        rclpy.init(args=[], context=self._context, domain_id=domain)
        self.node = rclpy.create_node(name, context=self._context)
        self.group = ReentrantCallbackGroup()
        # goals that are worked on hold a thread each
        self._executor = MultiThreadedExecutor(num_threads=16, context=self._context)
        self._executor.add_node(self.node)
        self._thread = threading.Thread(target=self._spin, name=f"{name}-ros", daemon=True)
        self._thread.start()

    def _spin(self) -> None:
        from rclpy.exceptions import InvalidHandle
        from rclpy.executors import ExternalShutdownException

        with contextlib.suppress(ExternalShutdownException):
            while self._context.ok() and not self._is_closed:
                # an endpoint that is turned off while something for it is under way: all others go on
                with contextlib.suppress(InvalidHandle):
                    self._executor.spin()

    def close(self) -> None:
        self._is_closed = True
        self._executor.shutdown(timeout_sec=2.0)
        self._thread.join(timeout=2.0)
        self.node.destroy_node()
        self._context.try_shutdown()


class _Closing(Closeable):
    def __init__(self, close: Callable[[], object]) -> None:
        self._close = close

    def close(self) -> None:
        self._close()


class _RclpySender(Sender):
    def __init__(self, node: _DomainNode, endpoint: RosEndpoint) -> None:
        self._node, self._kind = node.node, _import_type(endpoint.type)
        self._publisher = self._node.create_publisher(self._kind, endpoint.name, make_profile(endpoint.qos))

    def send(self, message: Message, time: int) -> None:
        del time
        self._publisher.publish(fill_message(self._kind(), message))

    def send_packed(self, message: PackedMessage, time: int) -> None:
        del time
        # bytes are taken for CDR, and sent as they are
        self._publisher.publish(message.encode(_list_fields))

    def close(self) -> None:
        self._node.destroy_publisher(self._publisher)


class _RclpySubscription(Closeable):
    """A subscription; with ``match_publisher`` it takes the policies of the publisher that is there."""

    def __init__(self, node: _DomainNode, endpoint: RosEndpoint, arrive: Callable[[Any], None]) -> None:
        self._domain, self._endpoint, self._arrive = node, endpoint, arrive
        self._kind = _import_type(endpoint.type)
        self._qos = endpoint.qos
        self._subscription = self._open()
        self._timer = (
            node.node.create_timer(_LOOK, self._match, callback_group=node.group)
            if endpoint.qos.match_publisher
            else None
        )

    def _open(self) -> Any:
        return self._domain.node.create_subscription(
            self._kind,
            self._endpoint.name,
            self._arrive,
            make_profile(self._qos),
            callback_group=self._domain.group,
        )

    def _match(self) -> None:
        from rclpy.qos import DurabilityPolicy, ReliabilityPolicy

        found = self._domain.node.get_publishers_info_by_topic(self._endpoint.name)
        if not found:
            return
        # what all of them offer: a subscription that asks for more would miss some
        reliable = all(one.qos_profile.reliability == ReliabilityPolicy.RELIABLE for one in found)
        kept = all(one.qos_profile.durability == DurabilityPolicy.TRANSIENT_LOCAL for one in found)
        wanted = EndpointQos(
            "reliable" if reliable else "best_effort",
            "transient_local" if kept else "volatile",
            self._qos.history,
            self._qos.depth,
        )
        if wanted != self._qos:
            self._qos = wanted
            old, self._subscription = self._subscription, self._open()
            self._domain.node.destroy_subscription(old)

    def close(self) -> None:
        if self._timer is not None:
            self._domain.node.destroy_timer(self._timer)
        self._domain.node.destroy_subscription(self._subscription)


class _RclpyGoal(GoalHandle):
    """A goal; its own thread waits until the bridge is done with it."""

    def __init__(self, goal: Any, kind: Any) -> None:
        self._handle, self._kind = goal, kind
        self.goal = read_message(goal.request)
        self.done = threading.Event()
        self._state, self._result = "aborted", Message()

    @property
    def is_cancelled(self) -> bool:
        return bool(self._handle.is_cancel_requested)

    def tell(self, feedback: Message) -> None:
        if self._handle.is_active:
            self._handle.publish_feedback(fill_message(self._kind.Feedback(), feedback))

    def finish(self, state: str, result: Message) -> None:
        self._state, self._result = state, result
        self.done.set()

    def settle(self) -> Any:
        """Tell the action server how it ended, from its own thread."""
        if self._state == "succeeded":
            self._handle.succeed()
        elif self._state == "canceled" and self.is_cancelled:
            self._handle.canceled()
        else:
            self._handle.abort()
        return fill_message(self._kind.Result(), self._result)


def make_profile(qos: EndpointQos) -> Any:
    """Our policies as rclpy has them."""
    from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

    return QoSProfile(
        reliability=ReliabilityPolicy[qos.reliability.upper()],
        durability=DurabilityPolicy[qos.durability.upper()],
        history=HistoryPolicy[qos.history.upper()],
        depth=qos.depth,
    )


def _import_type(type_name: str) -> Any:
    """The class of ``package/msg|srv|action/Type``."""
    package, kind, name = type_name.split("/")
    return getattr(importlib.import_module(f"{package}.{kind}"), name)


@functools.cache
def _list_fields(type_name: str) -> list[tuple[str, str]]:
    """Fields of a message in order, with their types; those of messages have three parts."""
    rows = _import_type(type_name).get_fields_and_field_types().items()
    return [(name, re.sub(r"^((?:sequence<)?\w+)/(\w+)", r"\1/msg/\2", text)) for name, text in rows]


def fill_message(message: Any, values: Message) -> Any:
    """Put a dictionary into a message of rclpy; what it does not name keeps its default."""
    types = message.get_fields_and_field_types()
    for name, value in values.items():
        if isinstance(value, dict):
            fill_message(getattr(message, name), value)
        elif isinstance(value, list) and value and isinstance(value[0], dict):
            kind = _import_element(types[name])
            setattr(message, name, [fill_message(kind(), item) for item in value])
        elif isinstance(value, np.ndarray):
            setattr(message, name, _convert_array(value, types[name]))
        else:
            setattr(message, name, value)
    return message


def _import_element(text: str) -> Any:
    """The class of the elements of ``sequence<package/Type>`` or ``package/Type[3]``."""
    inner = text.removeprefix("sequence<").rstrip(">").partition("[")[0].partition(",")[0]
    package, _, name = inner.partition("/")
    return _import_type(f"{package}/msg/{name}")


def _convert_array(value: Any, text: str) -> Any:
    digit = _DIGITS.get(text.removeprefix("sequence<").rstrip(">").partition(",")[0])
    # rclpy takes arrays of the right type without looking at every element
    if text.startswith("sequence<") and digit is not None:
        return array.array(digit, np.ascontiguousarray(value, dtype=np.dtype(digit)).tobytes())
    return value.ravel().tolist()


def read_message(message: Any) -> Message:
    """A message of rclpy as a dictionary."""
    return dict(_read_fields(message))


def _read_fields(message: Any) -> Iterator[tuple[str, Any]]:
    for name in message.get_fields_and_field_types():
        value = getattr(message, name)
        if hasattr(value, "get_fields_and_field_types"):
            yield name, read_message(value)
        elif isinstance(value, list | tuple) and value and hasattr(value[0], "get_fields_and_field_types"):
            yield name, [read_message(item) for item in value]
        elif isinstance(value, array.array):
            yield name, np.array(value)
        else:
            yield name, value
