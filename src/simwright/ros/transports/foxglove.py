# SPDX-License-Identifier: Apache-2.0
"""Foxglove and other viewers that speak its websocket: what is published, as CDR with its type, and commands back.

Viewers on this machine connect to ``ws://127.0.0.1:8765``.  Topics, commands that a viewer publishes, and services; the
wire has no actions.  Nobody is asked who they are, so it listens on this machine only unless it is told otherwise.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

from simwright.core.errors import UsageError
from simwright.engines.protocol import Closeable
from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.cdr import PackedMessage
from simwright.ros.transports.table import INSTALL, NoTransportError
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    ArrivalQueue,
    LateAnswer,
    Message,
    Nothing,
    Receive,
    Sender,
    Transport,
    TransportOptions,
)
from simwright.ros.transports.types import describe_type, knows_type, list_fields, read_message, write_message

PORT = 8765
"""Where viewers look by default."""
_ENCODING, _SCHEMA = "cdr", "ros2msg"
_PATIENCE = 10.0
"""How long a viewer waits for the answer of a service [s]."""


def open_foxglove(options: TransportOptions) -> Transport:
    """Begin to serve; an error with the line that installs what is missing."""
    try:
        import foxglove  # noqa: F401
    except ImportError as error:
        raise NoTransportError(f"foxglove cannot be imported: {error}", hint=INSTALL["foxglove"]) from None
    return FoxgloveTransport(options)


class FoxgloveTransport(Transport):
    """See :class:`~simwright.ros.transports.transport.Transport`."""

    name = "foxglove"

    def __init__(self, options: TransportOptions) -> None:
        import foxglove

        # types first: without rosbags nothing can be sent
        knows_type("std_msgs/msg/Header")
        self._arrived = ArrivalQueue()
        self._receivers: dict[str, tuple[str, Receive]] = {}
        self._senders: dict[str, _FoxgloveSender] = {}
        self._client_topics: dict[tuple[int, int], str] = {}
        self._context = foxglove.Context()
        try:
            self._server = foxglove.start_server(
                name=options.node,
                host="127.0.0.1" if options.local else "0.0.0.0",  # noqa: S104 - asked for
                port=PORT,
                capabilities=[foxglove.Capability.ClientPublish, foxglove.Capability.Services],
                server_listener=self,
                supported_encodings=[_ENCODING],
                context=self._context,
            )
        except RuntimeError as error:
            raise UsageError(
                f"port {PORT} cannot be listened on: {error}", hint="end the program that has it"
            ) from None

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        if "/action/" in type_name:
            return "the websocket of Foxglove has no actions"
        return (
            "" if knows_type(type_name) else f"{type_name} is not among the types that are known without ROS"
        )

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        import foxglove

        schema = _make_schema(endpoint.type)
        channel = foxglove.Channel(
            endpoint.name, schema=schema, message_encoding=_ENCODING, context=self._context
        )
        self._senders[endpoint.name] = _FoxgloveSender(channel, endpoint)
        return self._senders[endpoint.name]

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        self._receivers[endpoint.name] = (endpoint.type, receive)
        return _Registered(lambda: self._receivers.pop(endpoint.name, None))

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        import foxglove

        def handle(request: Any) -> bytes:
            # in a thread of the server, which waits for the one of the simulation
            given = read_message(f"{endpoint.type}_Request", request.payload)
            late = LateAnswer()
            self._arrived.put(lambda: _pass_on(answer(given), late))
            if not late.wait(_PATIENCE):
                raise TimeoutError("the simulation does not answer; is it paused?")
            return write_message(f"{endpoint.type}_Response", late.message)

        parts = (
            foxglove.MessageSchema(encoding=_ENCODING, schema=_make_schema(f"{endpoint.type}_{part}"))
            for part in ("Request", "Response")
        )
        schema = foxglove.ServiceSchema(
            endpoint.type, **dict(zip(("request", "response"), parts, strict=True))
        )
        self._server.add_services([foxglove.Service(endpoint.name, schema=schema, handler=handle)])
        return _Registered(lambda: self._server.remove_services([endpoint.name]))

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class; never called, since no type of an action is known."""
        del endpoint, behaviour
        return Nothing()

    def poll(self) -> None:
        """See the base class."""
        self._arrived.work()

    def close(self) -> None:
        """See the base class."""
        self._server.stop()

    # What the server calls, in threads of its own.
    def on_subscribe(self, client: Any, channel: Any) -> None:
        """A viewer wants a topic: of one that keeps its last message, it gets that."""
        del client
        topic = channel.topic
        self._arrived.put(lambda: self._repeat(topic))

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """Nothing: the server sends no more."""

    def on_client_advertise(self, client: Any, channel: Any) -> None:
        """A viewer is going to publish."""
        if channel.encoding == _ENCODING:
            self._client_topics[client.id, channel.id] = channel.topic

    def on_client_unadvertise(self, client: Any, client_channel_id: int) -> None:
        """A viewer publishes no more."""
        self._client_topics.pop((client.id, client_channel_id), None)

    def on_message_data(self, client: Any, client_channel_id: int, data: bytes) -> None:
        """A viewer has published."""
        topic = self._client_topics.get((client.id, client_channel_id), "")
        self._arrived.put(lambda: self._receive(topic, data))

    def _repeat(self, topic: str) -> None:
        if topic in self._senders:
            self._senders[topic].repeat()

    def _receive(self, topic: str, data: bytes) -> None:
        if topic in self._receivers:
            type_name, receive = self._receivers[topic]
            # what is not a message of that type is nobody's command
            with contextlib.suppress(ValueError):
                receive(read_message(type_name, data))


class _FoxgloveSender(Sender):
    def __init__(self, channel: Any, endpoint: RosEndpoint) -> None:
        self._channel, self._type = channel, endpoint.type
        self._keeps = endpoint.qos.durability == "transient_local"
        self._last: tuple[bytes, int] | None = None

    def send(self, message: Message, time: int) -> None:
        self._log(lambda: write_message(self._type, message), time)

    def send_packed(self, message: PackedMessage, time: int) -> None:
        self._log(lambda: message.encode(list_fields), time)

    def _log(self, write: Callable[[], bytes], time: int) -> None:
        # without a viewer nothing is packed, which takes longest
        if not self._keeps and not self._channel.has_sinks():
            return
        raw = write()
        if self._keeps:
            self._last = raw, time
        self._channel.log(raw, log_time=time)

    def repeat(self) -> None:
        """The last message again, for who came late."""
        if self._last is not None:
            raw, time = self._last
            self._channel.log(raw, log_time=time)

    def close(self) -> None:
        """Tell viewers that there is no such topic any more."""
        self._channel.close()


class _Registered(Closeable):
    def __init__(self, remove: Callable[[], object]) -> None:
        self._remove = remove

    def close(self) -> None:
        """Take it away."""
        self._remove()


def _make_schema(type_name: str) -> Any:
    import foxglove

    return foxglove.Schema(name=type_name, encoding=_SCHEMA, data=describe_type(type_name).encode())


def _pass_on(given: Message | LateAnswer, late: LateAnswer) -> None:
    if isinstance(given, LateAnswer):
        given.pass_on(late.give)
    else:
        late.give(given)
