# SPDX-License-Identifier: Apache-2.0
"""Counts what is sent, and writes the number down when it ends."""

from __future__ import annotations

from pathlib import Path

from simwright.engines.protocol import Closeable
from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    Message,
    Nothing,
    Receive,
    Sender,
    Transport,
    TransportOptions,
)


def open_sketch(options: TransportOptions) -> Transport:
    """Open it."""
    del options
    return SketchTransport()


class SketchTransport(Transport):
    """See the base class."""

    name = "sketch"

    def __init__(self) -> None:
        self.sent = 0

    def explain_unknown(self, type_name: str) -> str:
        """See the base class."""
        return "there are no services" if type_name.startswith("simulation_interfaces/") else ""

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """See the base class."""
        del endpoint
        return SketchSender(self)

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        del endpoint, receive
        return Nothing()

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        del endpoint, answer
        return Nothing()

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class."""
        del endpoint, behaviour
        return Nothing()

    def close(self) -> None:
        """See the base class."""
        Path("sketch.txt").write_text(str(self.sent))


class SketchSender(Sender):
    """See the base class."""

    def __init__(self, transport: SketchTransport) -> None:
        self._transport = transport

    def send(self, message: Message, time: int) -> None:
        """See the base class."""
        del message, time
        self._transport.sent += 1

    def close(self) -> None:
        """See the base class."""
