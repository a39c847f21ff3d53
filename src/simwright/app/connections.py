# SPDX-License-Identifier: Apache-2.0
"""The service's server: connections that hold a place without using it are closed, and stopping takes seconds.

uvicorn limits how long a connection rests between two requests, and nothing else.  Connections are limited in number:
a client that never finishes the head of a request, or never reads its answer, would keep a place as long as it likes.
The body of a request has a limit of its own, in :mod:`simwright.app.serving`.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

from uvicorn import Config, Server
from uvicorn.protocols.http.h11_impl import H11Protocol

_LOOKS = 4
"""How often a connection is looked at within the time that it has."""


def make_protocol(seconds: float) -> type[H11Protocol]:
    """A protocol for uvicorn that closes a connection which for ``seconds`` sends no whole head, or reads nothing."""

    class TimedProtocol(H11Protocol):
        """One connection."""

        def connection_made(self, transport: Any) -> None:
            """Begin to look after it."""
            super().connection_made(transport)
            self._unsent = 0
            self._idle_since = self._stuck_since = self.loop.time()
            self._look_again()

        def connection_lost(self, exc: Exception | None) -> None:
            """It is over."""
            self._timer.cancel()
            super().connection_lost(exc)

        def _look_again(self) -> None:
            self._timer = self.loop.call_later(seconds / _LOOKS, self._look)

        def _look(self) -> None:
            now = self.loop.time()
            if self.cycle is not None and not self.cycle.response_complete:
                self._idle_since = now
            unsent = self.transport.get_write_buffer_size()
            if not unsent or unsent != self._unsent:
                self._unsent, self._stuck_since = unsent, now
            if now - min(self._stuck_since, self._idle_since) > seconds:
                # not close: that waits until everything is sent
                self.transport.abort()
                return
            self._look_again()

    return TimedProtocol


class StoppingServer(Server):
    """A server that calls ``stop`` when it was told to end and requests are still not answered after ``seconds``."""

    def __init__(self, config: Config, stop: Callable[[], None], seconds: float) -> None:
        super().__init__(config)
        self._stop, self._seconds = stop, seconds

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End, after what is being worked on, or without it."""
        import asyncio

        timer = asyncio.get_running_loop().call_later(self._seconds, self._stop)
        try:
            await super().shutdown(sockets)
        finally:
            timer.cancel()
