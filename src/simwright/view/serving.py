# SPDX-License-Identifier: Apache-2.0
"""A server for one page (viser) that only those reach who have its address.

It listens on this machine only unless another address is asked for.  The address carries a token, which the browser
then keeps as a cookie.  Nothing is served but viser's own page; what is drawn goes over its connection.
"""

from __future__ import annotations

import errno
import http
import http.client
import importlib
import importlib.util
import io
import ipaddress
import secrets
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, redirect_stdout
from typing import Any
from urllib.parse import parse_qs, urlsplit

from simwright.core.errors import MissingExtraError, UsageError
from simwright.core.visible import make_visible

_EVERYWHERE = frozenset({"0.0.0.0", "::"})  # noqa: S104 - only where it is asked for
"""All addresses of this machine."""
_KEEP_SECRET = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


def import_viser() -> Any:
    """The library of the page, or the line that installs it."""
    if importlib.util.find_spec("viser") is None:
        raise MissingExtraError("viser", "view", "looking at assets in a browser")
    return importlib.import_module("viser")


class TokenGate:
    """Lets only those in who have the token: in the address first, in a cookie after that.

    Requests that name another host are refused too: a page elsewhere could else reach this one under a name of its own.
    """

    def __init__(self, hosts: Sequence[str], *, is_everywhere: bool = False) -> None:
        self.token = secrets.token_urlsafe(24)
        self._hosts = {host.lower() for host in hosts}
        self._is_everywhere = is_everywhere

    def wrap(self, serve: Callable[..., Any]) -> Callable[..., Any]:
        """``websockets``' function that starts a server, with every request asked for the token first."""

        def serve_guarded(*given: Any, process_request: Callable[..., Any] | None = None, **more: Any) -> Any:
            def ask(connection: Any, request: Any) -> Any:
                port = connection.local_address[1]
                if not self._admits(request, port):
                    return _respond(http.HTTPStatus.FORBIDDEN, "open the whole address that was printed\n")
                response = None if process_request is None else process_request(connection, request)
                if response is not None:
                    response.headers["Set-Cookie"] = (
                        f"{_name_cookie(port)}={self.token}; HttpOnly; SameSite=Strict; Path=/"
                    )
                    for name, value in _KEEP_SECRET.items():
                        response.headers[name] = value
                return response

            return serve(*given, process_request=ask, **more)

        return serve_guarded

    def _admits(self, request: Any, port: int) -> bool:
        host = urlsplit(f"//{request.headers.get('Host', '')}").hostname or ""
        origin = request.headers.get("Origin")
        if not self._knows(host) or (origin and not self._knows(urlsplit(origin).hostname or "")):
            return False
        given = parse_qs(urlsplit(request.path).query).get("token", [""])[0]
        return any(
            secrets.compare_digest(self.token, each) for each in (given, *_read_cookies(request, port))
        )

    def _knows(self, host: str) -> bool:
        # numbers cannot be made to lead here by somebody else, as names can
        return host in self._hosts or (self._is_everywhere and _is_number(host))


def _is_number(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _check_place(host: str, port: int) -> None:
    """Is an address free?  viser takes the next port where it is not, and waits for ever where no port is."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        socket.create_server(place[:2], family=family).close()
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise UsageError(
                f"port {port} of {host} is in use", hint="another --port, or none: one that is free"
            ) from None
        raise UsageError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}",
            hint="an address of this machine: --host",
        ) from None


def _name_cookie(port: int) -> str:
    # browsers give cookies to every port of a host: each page has one of its own
    return f"simwright-{port}"


def _read_cookies(request: Any, port: int) -> Iterator[str]:
    for line in request.headers.get_all("Cookie"):
        for part in line.split(";"):
            name, _, value = part.strip().partition("=")
            if name == _name_cookie(port):
                yield value


def _respond(status: http.HTTPStatus, text: str) -> Any:
    answers = importlib.import_module("websockets.http11")
    headers = importlib.import_module("websockets.datastructures").Headers(
        {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(text)), **_KEEP_SECRET}
    )
    return answers.Response(status.value, status.phrase, headers, text.encode())


@contextmanager
def _guarded(gate: TokenGate) -> Iterator[None]:
    """While viser starts its server, let the gate stand before it: viser has no setting for that."""
    servers: Any = importlib.import_module("websockets.asyncio.server")
    serve = servers.serve
    servers.serve = gate.wrap(serve)
    try:
        yield
    finally:
        servers.serve = serve


class PageServer:
    """viser, behind the gate: ``viser`` is the server, ``address`` what to open."""

    def __init__(self, label: str, host: str = "127.0.0.1", port: int = 0) -> None:
        viser = import_viser()
        _check_place(host, port)
        is_everywhere = host in _EVERYWHERE
        own = socket.gethostname() if is_everywhere else host
        gate = TokenGate([host, own, "127.0.0.1", "localhost"], is_everywhere=is_everywhere)
        # viser prints the address without the token, which would lead nowhere
        with _guarded(gate), redirect_stdout(io.StringIO()):
            self.viser: Any = viser.ViserServer(
                host=host, port=port, label=make_visible(label), verbose=False
            )
        self.port: int = self.viser.get_port()
        self.address = f"http://{f'[{own}]' if ':' in own else own}:{self.port}/?token={gate.token}"
        self._check_gate(host)
        # viser's own button would publish the page on the internet
        self.viser.gui.configure_theme(show_logo=False, show_share_button=False, control_width="medium")
        self.viser.scene.set_up_direction("+z")

    def _check_gate(self, host: str) -> None:
        """A page that answers without the token is not left standing."""
        asked = http.client.HTTPConnection(host, self.port, timeout=10)
        try:
            asked.request("GET", "/")
            status = asked.getresponse().status
        finally:
            asked.close()
        if status != http.HTTPStatus.FORBIDDEN:
            self.close()
            raise UsageError(
                "this version of viser serves the page to everybody on this machine, so it was stopped",
                hint="pip install 'viser>=1.1,<1.2'",
            )

    @property
    def is_visited(self) -> bool:
        """Does anybody have the page open?"""
        # from the first byte on; viser lists clients when they have told where their camera is
        return bool(self.viser._websock_server._live_connections)

    def close(self) -> None:
        """Stop serving."""
        with redirect_stdout(io.StringIO()):  # viser says so by itself
            self.viser.stop()
