# SPDX-License-Identifier: Apache-2.0
"""ROS 2 peers without any ROS: the wire of ``rmw_zenoh``, by Eclipse Zenoh.

Nodes that run with ``RMW_IMPLEMENTATION=rmw_zenoh_cpp`` meet Simwright through the router that they all connect to
(port 7447 of this machine).  Where there is none, Simwright is that router, for this machine only unless it is told
otherwise.  What is sent is CDR; who is there is told by liveliness tokens, with types and policies in their names.
Actions are three services and two topics, as in ROS.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import socket
import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from simwright.engines.protocol import Closeable
from simwright.model.ros import InterfaceKind
from simwright.ros.graph import RosEndpoint
from simwright.ros.messages import make_stamp
from simwright.ros.qos import DEFAULT_QOS, LATCHED_QOS, EndpointQos
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
    ParameterNode,
    ParameterValue,
    Receive,
    Sender,
    Transport,
    TransportOptions,
)
from simwright.ros.transports.types import hash_type, knows_type, list_fields, read_message, write_message

PORT = 7447
"""Of the router, by the convention of rmw_zenoh."""
CONFIG = "ZENOH_SESSION_CONFIG_URI"
"""A configuration of Zenoh that the user has chosen instead, as for rmw_zenoh."""
_GID = 16
_MOST_GOALS = 100
"""Goals whose results are kept for those who ask later."""
_RELIABILITY = {"reliable": "", "best_effort": "2"}
_DURABILITY = {"transient_local": "1", "volatile": ""}
_HISTORY = {"keep_last": "", "keep_all": "2"}
_DEFAULT_DEPTH = 42
"""Numbers of rmw's policies, and nothing for what rmw_zenoh takes for its default."""
_EXECUTING, _CANCELING = 2, 3
_ENDS = {"succeeded": 4, "canceled": 5, "aborted": 6}
"""States of action_msgs/GoalStatus."""


def open_zenoh(options: TransportOptions) -> Transport:
    """Open a session; an error with the line that installs what is missing."""
    try:
        import zenoh  # noqa: F401
    except ImportError as error:
        raise NoTransportError(f"zenoh cannot be imported: {error}", hint=INSTALL["zenoh"]) from None
    return ZenohTransport(options)


class ZenohTransport(Transport):
    """See :class:`~simwright.ros.transports.transport.Transport`."""

    name = "zenoh"

    def __init__(self, options: TransportOptions) -> None:
        # types first: without rosbags nothing can be sent
        knows_type("std_msgs/msg/Header")
        self._options = options
        self._session = _open_session(options)
        self._arrived = ArrivalQueue()
        self._numbers = itertools.count(1)
        self._zid = str(self._session.info.zid())
        self._nodes: dict[int, Any] = {}
        self._parameters: ParameterNode | None = None

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        return (
            "" if knows_type(type_name) else f"{type_name} is not among the types that are known without ROS"
        )

    def find_domain(self, endpoint: RosEndpoint) -> int:
        """The domain of an endpoint: its own, the one that was asked for, or that of the environment."""
        chosen = self._options.domain_id if endpoint.domain_id is None else endpoint.domain_id
        return int(os.environ.get("ROS_DOMAIN_ID", "0") or 0) if chosen is None else chosen

    def declare(self, endpoint: RosEndpoint, kind: str, type_name: str, qos: EndpointQos) -> tuple[str, Any]:
        """The key of an endpoint, and the token that tells peers of it; ``kind`` is MP, MS or SS."""
        domain = self.find_domain(endpoint)
        if domain not in self._nodes:
            self._nodes[domain] = self._declare_token(domain, 0, "NN", [])
        known = [_mangle(endpoint.name), name_in_dds(type_name), hash_type(type_name), _write_qos(qos)]
        token = self._declare_token(domain, next(self._numbers), kind, known)
        key = "/".join([str(domain), endpoint.name.strip("/"), *known[1:3]])
        return key, token

    def _declare_token(self, domain: int, number: int, kind: str, rest: list[str]) -> Any:
        # one node without a namespace and without an enclave
        parts = [
            "@ros2_lv",
            str(domain),
            self._zid,
            "0",
            str(number),
            kind,
            "%",
            "%",
            self._options.node,
            *rest,
        ]
        return self._session.liveliness().declare_token("/".join(parts))

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        key, token = self.declare(endpoint, "MP", endpoint.type, endpoint.qos)
        return _ZenohSender(self._session, key, token, endpoint)

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        key, token = self.declare(endpoint, "MS", endpoint.type, endpoint.qos)

        def handle(raw: bytes) -> None:
            # what is not a message of that type is nobody's command
            with contextlib.suppress(ValueError):
                receive(read_message(endpoint.type, raw))

        def arrive(sample: Any) -> None:
            raw = sample.payload.to_bytes()
            self._arrived.put(lambda: handle(raw))

        return _Declared([self._session.declare_subscriber(key, arrive), token])

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        return self.open_service(endpoint, endpoint.type, answer)

    def open_service(self, endpoint: RosEndpoint, type_name: str, answer: Answer) -> Closeable:
        """A service of that type."""
        key, token = self.declare(endpoint, "SS", type_name, DEFAULT_QOS)

        def handle(query: Any) -> None:
            try:
                given = answer(read_message(f"{type_name}_Request", query.payload.to_bytes()))
            except ValueError as error:
                with query:
                    query.reply_err(str(error).encode())
                return

            def tell(message: Message) -> None:
                # the number and the sender of the request go back with the answer
                asked = query.attachment.to_bytes() if query.attachment is not None else b""
                about = asked[:8] + clock.time_ns().to_bytes(8, "little") + asked[16:]
                with query:
                    query.reply(key, write_message(f"{type_name}_Response", message), attachment=about)

            if isinstance(given, LateAnswer):
                given.pass_on(tell)
            else:
                tell(given)

        def arrive(query: Any) -> None:
            self._arrived.put(lambda: handle(query))

        return _Declared([self._session.declare_queryable(key, arrive, complete=True), token])

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class."""
        return _ZenohAction(self, endpoint, behaviour)

    def offer_parameters(self, values: dict[str, ParameterValue], change: Change) -> Closeable:
        """See the base class."""
        if self._parameters is None:
            self._parameters = ParameterNode(self._options.node, self.serve)
        return self._parameters.offer(values, change)

    def poll(self) -> None:
        """See the base class."""
        self._arrived.work()

    def close(self) -> None:
        """See the base class."""
        if self._parameters is not None:
            self._parameters.close()
        for token in self._nodes.values():
            token.undeclare()
        self._nodes.clear()
        self._session.close()


def _make_config(settings: dict[str, Any]) -> Any:
    import zenoh

    config = zenoh.Config()
    for key, value in settings.items():
        config.insert_json5(key, json.dumps(value))
    return config


def _open_session(options: TransportOptions) -> Any:
    """A session with the router of this machine; where there is none, it is the router itself."""
    import zenoh

    chosen = os.environ.get(CONFIG, "")
    # everything goes through the router: peers of a machine need not find each other
    settings: dict[str, Any] = {"mode": "client", "connect/endpoints": [f"tcp/127.0.0.1:{PORT}"]}
    if not _has_router():
        place = "127.0.0.1" if options.local else "0.0.0.0"  # noqa: S104 - asked for by --everywhere
        settings = {"mode": "router", "listen/endpoints": [f"tcp/{place}:{PORT}"]}
    # publishers that keep what they sent number it by time
    settings |= {"scouting/multicast/enabled": False, "timestamping/enabled": True}
    try:
        return zenoh.open(zenoh.Config.from_file(chosen) if chosen else _make_config(settings))
    except zenoh.ZError as error:
        raise NoTransportError(
            f"no session of Zenoh: {error}", hint=f"look at port {PORT}, or {CONFIG}"
        ) from None


def _has_router() -> bool:
    with contextlib.closing(socket.socket()) as probe:
        probe.settimeout(0.5)
        return probe.connect_ex(("127.0.0.1", PORT)) == 0


def name_in_dds(type_name: str) -> str:
    """``sensor_msgs::msg::dds_::Imu_`` of ``sensor_msgs/msg/Imu``."""
    package, kind, title = type_name.split("/")
    return f"{package}::{kind}::dds_::{title}_"


def _mangle(name: str) -> str:
    return name.replace("/", "%")


def _write_qos(qos: EndpointQos) -> str:
    """Policies as tokens have them: what is the default of rmw_zenoh is left out, and peers compare the text."""
    parts = (_RELIABILITY[qos.reliability], _DURABILITY[qos.durability], _HISTORY[qos.history])
    depth = "" if qos.depth == _DEFAULT_DEPTH else str(qos.depth)
    return f"{':'.join(parts)},{depth}:,:,:,,"


class _Declared(Closeable):
    """What was declared with a session, to be taken back."""

    def __init__(self, declared: list[Any]) -> None:
        self._declared = declared

    def close(self) -> None:
        for one in self._declared:
            one.undeclare()
        self._declared = []


class _ZenohSender(Sender):
    def __init__(self, session: Any, key: str, token: Any, endpoint: RosEndpoint) -> None:
        import zenoh

        qos, self._type = endpoint.qos, endpoint.type
        self._publisher: Any
        waits = qos.reliability == "reliable" and qos.history == "keep_all"
        control = zenoh.CongestionControl.BLOCK if waits else zenoh.CongestionControl.DROP
        if qos.durability == "transient_local":
            # who comes later asks for what was sent
            cache = zenoh.ext.CacheConfig(max_samples=qos.depth)
            self._publisher = zenoh.ext.declare_advanced_publisher(
                session, key, congestion_control=control, cache=cache, publisher_detection=True
            )
        else:
            self._publisher = session.declare_publisher(key, congestion_control=control)
        self._token = token
        self._gid, self._sent = os.urandom(_GID), 0

    def send(self, message: Message, time: int) -> None:
        """See the base class."""
        del time
        self._put(write_message(self._type, message))

    def send_packed(self, message: PackedMessage, time: int) -> None:
        """See the base class."""
        del time
        self._put(message.encode(list_fields))

    def _put(self, raw: bytes) -> None:
        """Send; what says who sent it is in the time of the clock."""
        self._sent += 1
        head = self._sent.to_bytes(8, "little") + clock.time_ns().to_bytes(8, "little")
        about = head + bytes([_GID]) + self._gid
        self._publisher.put(raw, attachment=about)

    def close(self) -> None:
        self._publisher.undeclare()
        self._token.undeclare()


class _ZenohGoal(GoalHandle):
    """A goal that was accepted; who asks for its result gets it when it has ended."""

    def __init__(self, action: _ZenohAction, goal_id: bytes, goal: Message) -> None:
        self._action, self.goal_id, self.goal = action, goal_id, goal
        self.stamp = make_stamp(clock.time_ns())
        self.status = _EXECUTING
        self.result = LateAnswer()

    @property
    def is_cancelled(self) -> bool:
        return self.status == _CANCELING

    def cancel(self) -> None:
        self.status = _CANCELING
        self._action.tell_status()

    def tell(self, feedback: Message) -> None:
        self._action.tell_feedback(self.goal_id, feedback)

    def finish(self, state: str, result: Message) -> None:
        self.status = _ENDS[state]
        self._action.tell_status()
        self.result.give({"status": self.status, "result": result})


class _ZenohAction(Closeable):
    """Goals of one action: three services, feedback and states."""

    def __init__(self, transport: ZenohTransport, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> None:
        self._behaviour, kind = behaviour, endpoint.type
        self._goals: dict[bytes, _ZenohGoal] = {}

        def part(name: str, type_name: str, qos: EndpointQos = DEFAULT_QOS) -> RosEndpoint:
            whole = f"{endpoint.name}/_action/{name}"
            return RosEndpoint(InterfaceKind.TOPIC, "", whole, type_name, endpoint.domain_id, None, qos)

        self._feedback = transport.advertise(part("feedback", f"{kind}_FeedbackMessage"))
        self._status = transport.advertise(part("status", "action_msgs/msg/GoalStatusArray", LATCHED_QOS))
        services: list[tuple[str, str, Callable[[Message], Message | LateAnswer]]] = [
            ("send_goal", f"{kind}_SendGoal", self._take_goal),
            ("get_result", f"{kind}_GetResult", self._tell_result),
            ("cancel_goal", "action_msgs/srv/CancelGoal", self._cancel),
        ]
        self._opened = [
            transport.open_service(part(name, type_name), type_name, answer)
            for name, type_name, answer in services
        ]

    def _take_goal(self, request: Message) -> Message:
        goal_id = _read_id(request["goal_id"])
        if goal_id in self._goals or self._behaviour.refuse(request["goal"]):
            return {"accepted": False}
        goal = _ZenohGoal(self, goal_id, request["goal"])
        self._goals[goal_id] = goal
        over = [one for one in self._goals.values() if one.status not in (_EXECUTING, _CANCELING)]
        for old in over[: max(len(over) - _MOST_GOALS, 0)]:
            del self._goals[old.goal_id]
        self._behaviour.begin(goal)
        self.tell_status()
        return {"accepted": True, "stamp": goal.stamp}

    def _tell_result(self, request: Message) -> Message | LateAnswer:
        goal = self._goals.get(_read_id(request["goal_id"]))
        if goal is None:
            return {"status": 0}
        # the same for all who ask
        return goal.result

    def _cancel(self, request: Message) -> Message:
        asked = _read_id(request["goal_info"]["goal_id"])
        # nothing but zeros means all of them
        chosen = [goal for goal in self._goals.values() if not any(asked) or goal.goal_id == asked]
        running = [goal for goal in chosen if goal.status in (_EXECUTING, _CANCELING)]
        for goal in running:
            goal.cancel()
        told = [{"goal_id": {"uuid": list(goal.goal_id)}, "stamp": goal.stamp} for goal in running]
        code = 0 if running else (3 if chosen and any(asked) else 2)
        return {"return_code": code, "goals_canceling": told}

    def tell_feedback(self, goal_id: bytes, feedback: Message) -> None:
        self._feedback.send({"goal_id": {"uuid": list(goal_id)}, "feedback": feedback}, 0)

    def tell_status(self) -> None:
        rows = [
            {
                "goal_info": {"goal_id": {"uuid": list(goal.goal_id)}, "stamp": goal.stamp},
                "status": goal.status,
            }
            for goal in self._goals.values()
        ]
        self._status.send({"status_list": rows}, 0)

    def close(self) -> None:
        for goal in list(self._goals.values()):
            if goal.status in (_EXECUTING, _CANCELING):
                goal.finish("aborted", {})
        for one in [*self._opened, self._feedback, self._status]:
            one.close()


def _read_id(message: Message) -> bytes:
    return bytes(np.asarray(message["uuid"], dtype=np.uint8))
