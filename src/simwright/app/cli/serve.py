# SPDX-License-Identifier: Apache-2.0
"""``simwright serve``."""

from __future__ import annotations

import os
from pathlib import Path

import click

from simwright.app.cli.options import echo

EPILOG = """\b
Examples:
  simwright serve
  simwright serve --port 8080 --workers 4 --token-file /run/secrets/simwright
  curl -H "Authorization: Bearer $TOKEN" -F file=@robot.usda http://127.0.0.1:8000/check
  curl -H "Authorization: Bearer $TOKEN" -F file=@arm.zip -F entry=arm.urdf \\
       -F 'options={"to": "mjcf"}' http://127.0.0.1:8000/convert -o arm_mjcf.zip
"""
_VARIABLE = "SIMWRIGHT_TOKEN"


@click.command("serve", epilog=EPILOG)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8000, show_default=True, help="0 takes any.")
@click.option(
    "--allow-host", multiple=True, metavar="NAME", help="A name that requests may be for; may be repeated."
)
@click.option(
    "--token-file",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="File with the token.  [SIMWRIGHT_TOKEN, else a new one is printed]",
)
@click.option("--workers", type=click.IntRange(1, 256), help="Worker processes.  [one per core]")
@click.option(
    "--max-upload", type=click.FloatRange(0, min_open=True), default=64.0, show_default=True, metavar="MIB"
)
@click.option(
    "--max-memory", type=click.FloatRange(0, min_open=True), default=2.0, show_default=True, metavar="GIB"
)
@click.option(
    "--timeout", type=click.FloatRange(0, min_open=True), default=60.0, show_default=True, metavar="SECONDS"
)
@click.option(
    "--upload-timeout",
    type=click.FloatRange(0, min_open=True),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
)
def serve(
    host: str,
    port: int,
    allow_host: tuple[str, ...],
    token_file: Path | None,
    workers: int | None,
    max_upload: float,
    max_memory: float,
    timeout: float,
    upload_timeout: float,
) -> int:
    """Check, fix, convert, diff and view files that clients upload.

    It listens on this machine only, asks for a token, and treats every upload as hostile: no network, no files outside
    of it, limits on size, time and memory.  /docs has all requests; see docs/service.md.
    """
    from simwright.app.jobs.running import count_cores
    from simwright.app.serving import MIB, Service, ServiceLimits, make_server
    from simwright.core.diag import Where
    from simwright.core.errors import InputError

    given = token_file.read_text().strip() if token_file else os.environ.get(_VARIABLE, "").strip()
    if token_file and len(given) < 16:
        raise InputError("a token has at least 16 characters", where=Where(str(token_file)))
    limits = ServiceLimits(
        upload_bytes=int(max_upload * MIB),
        unpacked_bytes=int(4 * max_upload * MIB),
        upload_seconds=upload_timeout,
        work_seconds=timeout,
        gibibytes=max_memory,
    )
    service = Service(limits, workers or count_cores())
    service.hosts = (*service.hosts, host, *allow_host)
    if given:
        service.token = given
    try:
        server = make_server(service, host, port)
        sockets = [server.config.bind_socket()]
        # before the address is told: whoever reads it may connect at once
        sockets[0].listen(server.config.backlog)
        place = sockets[0].getsockname()[1]
        echo(f"http://{host}:{place}/docs", err=True)
        if not given:
            echo(f"token: {service.token}", err=True)
        server.run(sockets=sockets)
    finally:
        # also where it could not begin, as when the port is taken
        service.scratch.close()
    return 0
