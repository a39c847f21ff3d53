# SPDX-License-Identifier: Apache-2.0
"""Counts what is sent, and writes the number down when it ends."""

from __future__ import annotations

from pathlib import Path

from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.transport import (
    Message,
    Sender,
    SendingTransport,
    Transport,
    TransportOptions,
)


def open_sketch(options: TransportOptions) -> Transport:
    """Open it."""
    del options
    return SketchTransport()


class SketchTransport(SendingTransport):
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
