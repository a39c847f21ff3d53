# SPDX-License-Identifier: Apache-2.0
"""The service: check, fix, convert, diff and view over HTTP, for uploads.

Every request is an item of a job (:mod:`simwright.app.jobs`), done by one of a few warm worker processes with limits on
time and memory.  Uploads are untrusted: nothing is fetched, nothing outside of the upload is read, every budget is a
tenth.  Files live in a private folder as long as the request; answers name them as the client did.

=====  ===========================================================================================================
200    done; the report says what was found
400    the request is wrong: no file, a name that leads out of the upload, an archive that is none, unknown options
401    no token, or a wrong one
408    the upload took too long
413    the upload, or what an archive becomes, is too large
422    the asset cannot be worked on; the report says why
500    a mistake of Simwright; the report says where
503    too many requests wait already, or the service ends
504    the work took too long
=====  ===========================================================================================================
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import queue
import secrets
import shutil
import stat
import tempfile
import threading
import zipfile
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from simwright import __version__
from simwright.app.jobs.listing import LIMIT_KINDS, OptionKinds, check_options
from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobOptions,
    JobSpec,
    do_item,
    hold_environment,
    lose_item,
)
from simwright.app.jobs.reports import describe_row
from simwright.core.errors import MissingExtraError, SimwrightError
from simwright.core.limits import UNTRUSTED
from simwright.core.pool import OUT_OF_TIME, JobLimits, Loss, PoolStoppedError, WorkerPool
from simwright.core.scratch import Scratch, guard_scratch

MIB = 1 << 20
_READING: OptionKinds = {"arguments": "pairs", "variants": "pairs"}
_STOP_SECONDS = 5
"""How long requests may take to be answered when the service is told to end [s]."""
_LOOKS = 4
"""How often a connection is looked at within the time that it has."""
_EMPTY: JobOptions = {"packages": {}, "arguments": {}, "variants": {}}


@dataclass(frozen=True, slots=True)
class ServedCommand:
    """A command of the service: its options, what they are by default, and how many files it is about."""

    about: str
    kinds: OptionKinds
    options: JobOptions = field(default_factory=dict)
    writes: bool = False
    """Gives files back, as an archive with the report in it."""
    pair: bool = False


COMMANDS: dict[str, ServedCommand] = {
    "check": ServedCommand(
        "Check an OpenUSD asset against REP-0158.",
        {"select": "texts", "ignore": "texts", "profile": "text", "fail_on": "text", "variants": "flag"},
        {
            "select": [], "ignore": [], "profile": None, "fail_on": None, "variants": False, "interfaces": [],
            "packages": {}, "config": None, "cache": False, "baseline": None,
        },
    ),
    "fix": ServedCommand(
        "Repair what check finds, and give the fixed asset back.",
        {"select": "texts", "ignore": "texts", "unsafe": "flag", "values": "pairs"},
        {
            "select": [], "ignore": [], "unsafe": False, "in_place": False, "dry_run": False, "diff": False,
            "values": {}, "packages": {}, "config": None,
        },
        writes=True,
    ),
    "convert": ServedCommand(
        "Convert a robot, prop or scene; `to` names the format.",
        {**_READING, "to": "text", "strict": "flag", "check": "flag", "for_": "text", "flatten": "flag"},
        {**_EMPTY, "to": "usd", "strict": False, "check": True, "writing": {}},
        writes=True,
    ),
    "diff": ServedCommand(
        "Compare two files as machines: `file` and `other`.",
        {**_READING, "only": "texts", "ignore": "texts", "rtol": "number"},
        {**_EMPTY, "only": [], "ignore": [], "rtol": 1e-6, "configurations": 20, "seed": 0},
        pair=True,
    ),
    "view": ServedCommand("Show a file: a page with the machine in 3D.", _READING, dict(_EMPTY)),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ServiceLimits:
    """What a request may take."""

    upload_bytes: int = 64 * MIB
    unpacked_bytes: int = 256 * MIB
    files: int = 2000
    upload_seconds: float = 60.0
    work_seconds: float = 60.0
    gibibytes: float = 2.0
    waiting: int = 256
    """Requests that may wait for a worker."""


class RequestError(Exception):
    """A request that is answered with another status than 200."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status, self.message = status, message


def do_request(task: tuple[JobSpec, JobItem]) -> ItemOutcome:
    """Do the item of a request in a worker process, with the variables of the request: uploads are untrusted."""
    spec, item = task
    with hold_environment(spec):
        return do_item(spec, item)


class RequestQueue:
    """Requests that wait, up to a number, and threads that each give them to a worker process of their own."""

    def __init__(self, workers: int, limits: ServiceLimits) -> None:
        self._waiting: queue.Queue[tuple[tuple[JobSpec, JobItem], Future[ItemOutcome]] | None]
        self._waiting = queue.Queue(limits.waiting)
        self._pools: list[WorkerPool[tuple[JobSpec, JobItem], ItemOutcome]] = []
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(workers)]
        for thread in self._threads:
            thread.start()

    def submit(self, spec: JobSpec, item: JobItem) -> Future[ItemOutcome]:
        """Put an item into the queue; one whose future is cancelled before a worker takes it is left out."""
        future: Future[ItemOutcome] = Future()
        try:
            self._waiting.put_nowait(((spec, item), future))
        except queue.Full:
            raise RequestError(503, "too many requests wait already; try again later") from None
        return future

    def stop(self) -> None:
        """Refuse what waits and what is being worked on, and end the workers that are at it."""
        for pool in list(self._pools):
            pool.stop()

    def close(self) -> None:
        """End threads and processes, when what waits is done or refused."""
        for _ in self._threads:
            self._waiting.put(None)
        for thread in self._threads:
            thread.join()

    def _work(self) -> None:
        # the process belongs to this thread, which lives as long as the service: a worker dies with its thread
        pool: WorkerPool[tuple[JobSpec, JobItem], ItemOutcome] = WorkerPool(
            do_request, lambda task: task[0].find_limits(task[1])
        )
        self._pools.append(pool)
        try:
            while (entry := self._waiting.get()) is not None:
                task, future = entry
                if not future.set_running_or_notify_cancel():
                    continue
                try:
                    ((_, outcome, loss),) = pool.run([task], 1)
                except PoolStoppedError:
                    future.set_exception(
                        RequestError(503, "the service ends; ask another, or try again later")
                    )
                except Exception as error:  # noqa: BLE001 - the request is told, and the next one is done
                    future.set_exception(error)
                else:
                    future.set_result(outcome if loss is None else _lose(task, loss))
        finally:
            pool.close()


def _lose(task: tuple[JobSpec, JobItem], loss: Loss) -> ItemOutcome:
    return lose_item(*task, loss)


def name_upload(name: str) -> PurePosixPath:
    """The path of a file below the folder of an upload, from the name that the client sent; refused if it leads out."""
    # browsers of old Windows send whole paths, with backslashes
    place = PurePosixPath(name.replace("\\", "/"))
    parts = place.parts
    hidden = any(ord(char) < 32 for char in name)
    if not parts or place.is_absolute() or ".." in parts or hidden or ":" in parts[0] or len(name) > 1024:
        raise RequestError(400, f"{name!r} is no name of a file in an upload")
    return place


def unpack_upload(archive: Path, folder: Path, limits: ServiceLimits) -> list[PurePosixPath]:
    """Unpack a zip archive into a folder; bytes are counted as they come, since the sizes in it may be false."""
    try:
        with zipfile.ZipFile(archive) as opened:
            return _unpack_members(opened, folder, limits)
    except RequestError:
        raise
    # the module of zip files raises what its decoders do: zlib.error, lzma.LZMAError, struct.error, RuntimeError ...
    except Exception as error:  # noqa: BLE001
        raise RequestError(400, f"the archive cannot be read: {error}") from None


def _unpack_members(opened: zipfile.ZipFile, folder: Path, limits: ServiceLimits) -> list[PurePosixPath]:
    members = [member for member in opened.infolist() if not member.is_dir()]
    if len(members) > limits.files:
        raise RequestError(413, f"the archive has more than {limits.files} files")
    if sum(member.file_size for member in members) > limits.unpacked_bytes:
        raise RequestError(413, f"the archive holds more than {limits.unpacked_bytes // MIB} MiB")
    left, places = limits.unpacked_bytes, []
    for member in members:
        if stat.S_ISLNK(member.external_attr >> 16) or member.flag_bits & 1:
            raise RequestError(400, f"{member.filename!r} is a link, or encrypted")
        place = name_upload(member.filename)
        left = _extract(opened, member, folder / place, left)
        places.append(place)
    return places


def _extract(opened: zipfile.ZipFile, member: zipfile.ZipInfo, target: Path, left: int) -> int:
    target.parent.mkdir(parents=True, exist_ok=True)
    with opened.open(member) as source, target.open("xb") as out:
        while data := source.read(MIB):
            left -= len(data)
            if left < 0:
                raise RequestError(413, "the archive becomes larger than it says")
            out.write(data)
    return left


def choose_entry(places: list[PurePosixPath], entry: str) -> PurePosixPath:
    """Which file of an upload the command opens: the one named by the field ``entry``, or the only one."""
    if entry:
        chosen = name_upload(entry)
        if chosen not in places:
            raise RequestError(400, f"there is no {entry!r} in the upload")
        return chosen
    if len(places) == 1:
        return places[0]
    raise RequestError(400, "say which file is meant: add the field 'entry'")


def read_options(command: ServedCommand, text: str) -> JobOptions:
    """The field ``options``: JSON, checked against what the command takes."""
    try:
        plain = json.loads(text or "{}")
    except (ValueError, RecursionError) as error:
        raise RequestError(400, f"options cannot be read: {error}") from None
    if not isinstance(plain, dict):
        raise RequestError(400, "options are a JSON object")
    try:
        # a client may ask for less time and memory than there is
        return check_options(plain, {**LIMIT_KINDS, **command.kinds})
    except SimwrightError as error:
        raise RequestError(400, str(error)) from None


def find_status(outcome: ItemOutcome) -> int:
    """The HTTP status for an outcome; see the table of this module."""
    kinds = {finding["kind"] for finding in outcome.findings}
    if outcome.status == "failed":
        return 504 if OUT_OF_TIME.code in kinds else 500 if outcome.code == 3 else 422
    return 200


def forget_folder(value: Any, folder: Path) -> Any:
    """Take the path of the private folder out of a report: clients see the names that they sent."""
    text = json.dumps(value)
    for prefix in (f"{folder}/in/", f"{folder}/other/", f"{folder}/out/", f"{folder}/"):
        text = text.replace(json.dumps(prefix)[1:-1], "")
    return json.loads(text)


@dataclass(slots=True)
class Service:
    """Answers requests.  Each has to carry ``token``, and one of ``hosts`` in its Host header."""

    limits: ServiceLimits = field(default_factory=ServiceLimits)
    workers: int = 2
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    hosts: tuple[str, ...] = ("127.0.0.1", "localhost", "[::1]")
    queue: RequestQueue = field(init=False)
    scratch: Scratch = field(init=False)
    """Folders of requests are below one of the service: hundreds that look for a place beside each other take seconds,
    and the next service removes all of them where this one was killed."""

    def __post_init__(self) -> None:
        self.scratch = Scratch()
        self.queue = RequestQueue(self.workers, self.limits)

    def close(self) -> None:
        """End threads and processes, and remove all files."""
        self.queue.close()
        self.scratch.close()

    async def answer(self, name: str, request: Any) -> Any:
        """Receive the files of a request, work on them, and give the response; its folder is removed at the end."""
        self._admit(request)
        with contextlib.ExitStack() as stack:
            folder = stack.enter_context(self._make_folder())
            command = COMMANDS[name]
            options = await self._receive(command, request, folder)
            seconds, gibibytes = self.limits.work_seconds, self.limits.gibibytes
            limits = JobLimits(seconds, gibibytes)
            options["timeout"] = min(options.get("timeout", seconds), seconds)
            options["max_memory"] = min(options.get("max_memory", gibibytes), gibibytes)
            item = JobItem(0, options.pop("asset"), options)
            spec = JobSpec(name, dict(command.options), limits, environment={UNTRUSTED: "1"})
            outcome = await self._work(spec, item, request)
            report = forget_folder({"version": 1, **describe_row(name, item, outcome)}, folder)
            return self._respond(name, outcome, report, folder)

    @contextlib.contextmanager
    def _make_folder(self) -> Iterator[Path]:
        """A private folder for one request; its name is new every time, as OpenUSD knows layers by their paths."""
        with guard_scratch():
            folder = Path(tempfile.mkdtemp(dir=self.scratch.path))
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _admit(self, request: Any) -> None:
        host = request.headers.get("host", "").rpartition(":")[0] or request.headers.get("host", "")
        # a page of somebody else could ask a name that leads here
        if host not in self.hosts:
            raise RequestError(400, f"this service is not called {host!r}")
        word, _, given = request.headers.get("authorization", "").partition(" ")
        if word.lower() != "bearer" or not secrets.compare_digest(given.encode(), self.token.encode()):
            raise RequestError(401, "a token is needed: Authorization: Bearer TOKEN")

    async def _receive(self, command: ServedCommand, request: Any, folder: Path) -> JobOptions:
        from starlette.formparsers import MultiPartException
        from starlette.requests import ClientDisconnect

        length = request.headers.get("content-length", "")
        if length.isdecimal() and int(length) > self.limits.upload_bytes:
            raise RequestError(413, f"an upload has at most {self.limits.upload_bytes // MIB} MiB")
        request._receive = _count_bytes(request.receive, self.limits.upload_bytes)
        try:
            async with asyncio.timeout(self.limits.upload_seconds):
                async with request.form(max_files=self.limits.files, max_fields=20) as form:
                    return await asyncio.to_thread(self._store, command, form, folder)
        except TimeoutError:
            raise RequestError(408, f"the upload took more than {self.limits.upload_seconds:g} s") from None
        except ClientDisconnect:
            raise RequestError(400, "the client is gone") from None
        except MultiPartException as error:
            raise RequestError(400, f"the upload cannot be read: {error.message}") from None
        except Exception as error:
            if getattr(error, "status_code", 0) == 400:
                raise RequestError(400, "the upload cannot be read") from None
            raise

    def _store(self, command: ServedCommand, form: Any, folder: Path) -> JobOptions:
        options = read_options(command, _read_field(form, "options"))
        options["asset"] = str(self._place(form, "file", "entry", folder / "in"))
        if command.pair:
            options["other"] = str(self._place(form, "other", "other_entry", folder / "other"))
        if command.writes:
            options["target"] = str(folder / "out" / Path(options["asset"]).stem)
            (folder / "out").mkdir()
        return options

    def _place(self, form: Any, field_name: str, entry: str, folder: Path) -> Path:
        """Write the files of a field to a folder; gives the one that is meant."""
        uploads = [one for one in form.getlist(field_name) if hasattr(one, "filename")]
        if not uploads:
            raise RequestError(400, f"there is no file in the field {field_name!r}")
        folder.mkdir()
        places: list[PurePosixPath] = []
        for upload in uploads:
            place = name_upload(upload.filename or "")
            target = folder / place
            if place.suffix.lower() == ".zip":
                target = folder.parent / f"{field_name}-{len(places)}.zip"
            elif place in places:
                raise RequestError(400, f"{str(place)!r} is there twice")
            target.parent.mkdir(parents=True, exist_ok=True)
            try:
                with target.open("xb") as out:
                    shutil.copyfileobj(upload.file, out, MIB)
            except OSError as error:
                raise RequestError(400, f"{str(place)!r} cannot be written: {error.strerror}") from None
            if place.suffix.lower() == ".zip":
                places += unpack_upload(target, folder, self.limits)
                target.unlink()
            else:
                places.append(place)
        return folder / choose_entry(places, _read_field(form, entry))

    async def _work(self, spec: JobSpec, item: JobItem, request: Any) -> ItemOutcome:
        future = self.queue.submit(spec, item)
        waited = asyncio.wrap_future(future)
        while True:
            done, _ = await asyncio.wait([waited], timeout=1.0)
            if done:
                return waited.result()
            # cancelled only while it waits in the queue; a worker that has begun is ended by its limits
            if await request.is_disconnected() and future.cancel():
                raise RequestError(400, "the client is gone")

    def _respond(self, name: str, outcome: ItemOutcome, report: dict[str, Any], folder: Path) -> Any:
        from starlette.responses import HTMLResponse, JSONResponse, Response

        status = find_status(outcome)
        if status == 200 and name == "view":
            return HTMLResponse(report["result"]["page"])
        files = sorted(file for file in (folder / "out").rglob("*") if file.is_file())
        if status != 200 or not files:
            return JSONResponse(report, status)
        with tempfile.TemporaryFile() as packed:
            with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
                archive.writestr("report.json", json.dumps(report, indent=2))
                for file in files:
                    archive.write(file, file.relative_to(folder / "out").as_posix())
            packed.seek(0)
            return Response(packed.read(), media_type="application/zip")


def _read_field(form: Any, name: str) -> str:
    value = form.get(name, "")
    return value if isinstance(value, str) else ""


def _count_bytes(receive: Callable[[], Awaitable[Any]], most: int) -> Callable[[], Awaitable[Any]]:
    """Wrap ``receive`` of a request and refuse a body that grows too large: its length need not be in the headers."""
    left = most

    async def count() -> Any:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise RequestError(413, f"an upload has at most {most // MIB} MiB")
        return message

    return count


def make_app(service: Service) -> Any:
    """The application: a route for each command, its description in ``/openapi.json``, and a page of it."""
    try:
        import python_multipart  # noqa: F401 - forms need it, and would say so at the first request only
        from fastapi import FastAPI, Request
        from fastapi.responses import HTMLResponse, JSONResponse
    except ImportError as error:
        raise MissingExtraError(error.name or "fastapi", "serve", "the service") from None

    @contextlib.asynccontextmanager
    async def live(_app: Any) -> Any:
        yield
        await asyncio.to_thread(service.close)

    # the pages that FastAPI has for this fetch scripts from elsewhere
    app = FastAPI(
        title="Simwright", version=__version__, docs_url=None, redoc_url=None, lifespan=live,
        description="Robot simulation assets: check, fix, convert, diff, view.",
    )  # fmt: skip

    async def refuse(_request: Any, error: RequestError) -> Any:
        headers = {"WWW-Authenticate": "Bearer"} if error.status == 401 else {}
        headers |= {"Retry-After": "5"} if error.status == 503 else {}
        return JSONResponse({"version": 1, "error": error.message}, error.status, headers=headers)

    app.add_exception_handler(RequestError, refuse)  # type: ignore[arg-type]
    for name, command in COMMANDS.items():

        async def endpoint(request: Any, name: str = name) -> Any:
            return await service.answer(name, request)

        # FastAPI looks at annotations: the request itself, and nothing else of the function
        route = _take_request(endpoint, Request)
        app.add_api_route(
            f"/{name}",
            route,
            methods=["POST"],
            summary=command.about,
            operation_id=name,
            response_model=None,
            openapi_extra=_describe_form(command),
            responses={code: {"description": about} for code, about in _STATUSES.items()},
        )

    async def health() -> dict[str, str]:
        return {"status": "ok", "version": __version__}

    async def page() -> Any:
        return HTMLResponse(_write_docs(app.openapi()))

    app.add_api_route("/health", health, methods=["GET"], summary="Is it there?")
    app.add_api_route("/docs", page, methods=["GET"], include_in_schema=False)
    return app


_STATUSES: dict[int | str, str] = {
    400: "The request is wrong.", 401: "No token, or a wrong one.", 408: "The upload took too long.",
    413: "The upload is too large.", 422: "The asset cannot be worked on; the report says why.",
    500: "A mistake of Simwright.", 503: "Too many requests wait, or the service ends.", 504: "The work took too long.",
}  # fmt: skip


def make_server(service: Service, host: str, port: int) -> Any:
    """The server: connections that hold a place without using it are closed, and stopping takes seconds.

    uvicorn limits how long a connection rests between two requests, and nothing else.  Places are few: a client that
    never finishes the head of a request, or never reads its answer, would keep one as long as it likes.
    """
    try:
        from uvicorn import Config, Server
        from uvicorn.protocols.http.h11_impl import H11Protocol
    except ImportError:
        raise MissingExtraError("uvicorn", "serve", "the service") from None
    seconds = service.limits.upload_seconds

    class TimedProtocol(H11Protocol):
        """A connection that is given up when it sends no whole head, or reads nothing, for so long."""

        def connection_made(self, transport: Any) -> None:
            """Begin to look after it."""
            super().connection_made(transport)
            self._unsent = 0
            self._idle_since = self._stuck_since = self.loop.time()
            self._timer = self.loop.call_later(seconds / _LOOKS, self._look)

        def connection_lost(self, exc: Exception | None) -> None:
            """It is over."""
            self._timer.cancel()
            super().connection_lost(exc)

        def _look(self) -> None:
            now = self.loop.time()
            # how long a body and the work may take is limited elsewhere
            if self.cycle is not None and not self.cycle.response_complete:
                self._idle_since = now
            unsent = self.transport.get_write_buffer_size()
            if not unsent or unsent != self._unsent:
                self._unsent, self._stuck_since = unsent, now
            if now - min(self._stuck_since, self._idle_since) > seconds:
                # not close: that waits until everything is sent
                self.transport.abort()
                return
            self._timer = self.loop.call_later(seconds / _LOOKS, self._look)

    class StoppingServer(Server):
        """Refuses requests that are not answered in time when it was told to end."""

        async def shutdown(self, sockets: Any = None) -> None:
            """End, after what is being worked on, or without it."""
            timer = asyncio.get_running_loop().call_later(_STOP_SECONDS, service.queue.stop)
            try:
                await super().shutdown(sockets)
            finally:
                timer.cancel()

    config = Config(
        make_app(service),
        host=host,
        port=port,
        http=TimedProtocol,
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        # connections that say nothing cost little, but not nothing
        limit_concurrency=service.limits.waiting * 2,
        timeout_keep_alive=10,
        timeout_graceful_shutdown=2 * _STOP_SECONDS,
    )
    return StoppingServer(config)


def _take_request(endpoint: Any, kind: type) -> Any:
    async def route(request: Any) -> Any:
        return await endpoint(request)

    route.__annotations__ = {"request": kind}
    return route


def _describe_form(command: ServedCommand) -> dict[str, Any]:
    file = {"type": "array", "items": {"type": "string", "format": "binary"}}
    fields: dict[str, Any] = {
        "file": {**file, "description": "The asset: a file, all of its files, or a .zip of them."},
        "entry": {"type": "string", "description": "Which of several files is meant."},
        "options": {
            "type": "string",
            "description": f"JSON with any of {', '.join(command.kinds)}, as in a manifest of a job.",
        },
    }
    if command.pair:
        fields |= {"other": file, "other_entry": {"type": "string"}}
    schema = {"type": "object", "required": ["file"], "properties": fields}
    return {
        "requestBody": {"required": True, "content": {"multipart/form-data": {"schema": schema}}},
        "security": [{"bearer": []}],
    }


def _write_docs(schema: dict[str, Any]) -> str:
    """The description as a page that fetches nothing."""
    from html import escape

    rows: Iterator[str] = (
        f"<tr><td><code>{method.upper()} {escape(path)}</code></td><td>{escape(about.get('summary', ''))}</td><td>"
        + "<br>".join(
            f"<code>{escape(name)}</code> {escape(one.get('description', ''))}"
            for form in about.get("requestBody", {}).get("content", {}).values()
            for name, one in form["schema"]["properties"].items()
        )
        + "</td></tr>"
        for path, methods in schema["paths"].items()
        for method, about in methods.items()
    )
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Simwright service</title>'
        "<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}"
        "td{vertical-align:top;padding:.4rem .8rem;border-top:1px solid #ccc}</style></head><body>"
        f"<h1>Simwright {escape(schema['info']['version'])}</h1><p>Requests carry <code>Authorization: Bearer TOKEN"
        '</code>. The whole description is in <a href="openapi.json">openapi.json</a>.</p><table>'
        + "".join(rows)
        + "</table></body></html>"
    )
