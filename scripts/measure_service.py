# SPDX-License-Identifier: Apache-2.0
"""Measure ``simwright serve`` on the loopback address: many clients at once, slow, hostile and vanishing ones.

    python scripts/measure_service.py                       # 200 clients at once, two rounds: a few minutes
    python scripts/measure_service.py --clients 20 --rounds 1 --repeat 5

It starts a service of its own with limits that are soon reached, ends it, and prints one JSON object:

overhead    milliseconds of a request that comes alone, of the same command as a process, and of the same work in a warm
            process: median and 95th percentile of each
rounds      for each round:
  load      clients that upload at the same moment: number of each status, percentiles of the answers, and ``mixed``,
            answers that were about the file of another client (has to be 0)
  health    milliseconds of ``GET /health`` meanwhile
  crowd     more than may wait, but not more than may connect: they are answered with 200 or 503
  slow      clients that send a byte now and then, send no request at all, or do not read their answer: how each ends
  hostile   the status of every hostile upload by name, and ``leaked``, those whose answer has a line of /etc/passwd
  gone      clients that vanish in the middle of an upload, or after it
  left      what the service holds when all of this is over: processes, threads, open files, connections, files in its
            folder for temporary ones, and memory of the service and of its workers [MiB]
stopping    seconds from the signal to the end, while an upload is worked on that would take much longer; its exit code
            (that of the signal), processes and files that are left
wrong       what is not as it should be, one line each; the exit code is 1 if there are any

Nothing leaves the machine.  All clients have time limits, so that it ends whatever the service does.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import io
import json
import os
import re
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

BOX = """#usda 1.0
(
    defaultPrim = "box_{n}"
    metersPerUnit = 1
    upAxis = "Z"
)
def Xform "box_{n}" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{{
    float physics:mass = 2
    def Cube "geometry"
    {{
    }}
}}
"""
ARM = """<robot name="arm_{n}"><link name="base"/><link name="tip"/><joint name="j" type="revolute">
<parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
# doubles with every level: xacro gives up after a minute
ENDLESS = """<robot name="endless" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/>
<xacro:macro name="two" params="n"><xacro:if value="${n > 0}"><xacro:two n="${n - 1}"/><xacro:two n="${n - 1}"/>
</xacro:if></xacro:macro><xacro:two n="22"/></robot>"""
TOKEN = "measure-0123456789abcdef"
LINE = "----measure"
FORM = {"Content-Type": f"multipart/form-data; boundary={LINE}"}
UPLOAD_SECONDS = 8.0
WORK_SECONDS = 30.0
MAX_UPLOAD = 2
WORKERS = 2
MOST_WAITING = 256
SECRET = "root:x:0:0"
PATIENCE = 300.0
"""How long a client waits for an answer [s]."""


@dataclass(slots=True)
class Server:
    """A service that runs, seen from outside: its process, port and folder for temporary files."""

    process: subprocess.Popen[str]
    port: int
    folder: Path
    said: list[str] = field(default_factory=list)
    at_rest: int = 0
    """Temporary files and folders while nobody asks: the folder of the service itself."""

    def ask(
        self, method: str, path: str, body: Any = b"", headers: dict[str, str] | None = None, **more: Any
    ) -> tuple[int, bytes]:
        """Status and body of one request, on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        try:
            connection.request(
                method, path, body, {"Authorization": f"Bearer {TOKEN}", **(headers or {})}, **more
            )
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def post(self, path: str, *files: tuple[str, str, bytes], **fields: str) -> tuple[int, bytes]:
        """Upload files."""
        return self.ask("POST", path, make_form(*files, **fields), FORM)

    def connect(self, deaf: bool = False) -> socket.socket:
        """A bare connection; a deaf one has little room for what it does not read."""
        one = socket.socket()
        if deaf:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(PATIENCE)
        one.connect(("127.0.0.1", self.port))
        return one

    def measure(self) -> dict[str, int]:
        """What it holds."""
        pid = self.process.pid
        place = Path(f"/proc/{pid}")
        workers = [child for child in list_children(pid) if "spawn_main" in read_command(child)]
        files = [str(one.readlink()) for one in list_safely(place / "fd")]
        return {
            "processes": len(workers),
            "threads": len(list_safely(place / "task")),
            "open_files": len(files),
            "sockets": sum(one.startswith("socket:") for one in files),
            "temporary_files": count_files(self.folder),
            "service_mib": read_memory(pid),
            "worker_mib": sum(read_memory(worker) for worker in workers),
        }

    def settle(self) -> dict[str, int]:
        """What it holds when connections that are kept alive are over."""
        end = time.monotonic() + 60
        found = self.measure()
        while time.monotonic() < end:
            time.sleep(2)
            before, found = found, self.measure()
            same = all(before[name] == found[name] for name in ("threads", "open_files", "temporary_files"))
            if same and found["temporary_files"] <= self.at_rest:
                break
        return found


def list_safely(folder: Path) -> list[Path]:
    """What is in a folder of the system, nothing where its process is gone."""
    try:
        return [one for one in folder.iterdir() if os.path.lexists(one)]
    except OSError:
        return []


def count_files(folder: Path) -> int:
    """Files and folders below a folder, some of which may just be going."""
    return sum(len(below) + len(files) for _, below, files in os.walk(folder))


def list_children(pid: int) -> list[int]:
    """Processes that a process started, by whichever of its threads."""
    found: list[int] = []
    for task in list_safely(Path(f"/proc/{pid}/task")):
        with contextlib.suppress(OSError):
            found += map(int, (task / "children").read_text().split())
    return found


def read_command(pid: int) -> str:
    """The command line of a process."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


def read_memory(pid: int) -> int:
    """Resident memory [MiB]."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") >> 20
    except (OSError, IndexError):
        return 0


def is_alive(pid: int) -> bool:
    """Is it there, and not only waiting to be forgotten?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def make_form(*files: tuple[str, str, bytes], **fields: str) -> bytes:
    """A multipart form: files as field, name and content."""
    out = io.BytesIO()
    for field_name, name, data in files:
        head = f'--{LINE}\r\nContent-Disposition: form-data; name="{field_name}"; filename="{name}"\r\n\r\n'
        out.write(head.encode() + data + b"\r\n")
    for field_name, text in fields.items():
        head = f'--{LINE}\r\nContent-Disposition: form-data; name="{field_name}"\r\n\r\n'
        out.write(f"{head}{text}\r\n".encode())
    out.write(f"--{LINE}--\r\n".encode())
    return out.getvalue()


def make_zip(files: dict[str, bytes], link: str = "") -> bytes:
    """A zip archive; the file called ``link`` is a symbolic link to its content."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (0o120777 if name == link else 0o100644) << 16
            archive.writestr(info, data)
    return out.getvalue()


def make_lying_zip() -> bytes:
    """A zip archive of 64 MiB that says it holds ten bytes."""
    bomb = bytearray(make_zip({"a.usda": b"#" * (64 << 20)}))
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = bomb.index(mark) + at
        bomb[place : place + 4] = (10).to_bytes(4, "little")
    return bytes(bomb)


@contextlib.contextmanager
def run_service(folder: Path) -> Iterator[Server]:
    """A service for the time of the block."""
    options = ["--port", "0", "--workers", str(WORKERS), "--max-upload", str(MAX_UPLOAD)]
    options += ["--timeout", str(WORK_SECONDS), "--upload-timeout", str(UPLOAD_SECONDS), "--max-memory", "1"]
    process = subprocess.Popen(
        [sys.executable, "-m", "simwright", "serve", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SIMWRIGHT_TOKEN": TOKEN, "TMPDIR": str(folder)},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/docs", line)
        if not found:
            raise SystemExit(f"the service did not start: {line}")
        server = Server(process, int(found[1]), folder)
        # what it says is read all the time: a full pipe would stop it
        reader = threading.Thread(target=lambda: server.said.extend(process.stderr or ()), daemon=True)
        reader.start()
        yield server
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def run_together(count: int, work: Callable[[int], None]) -> None:
    """Do ``work`` in threads that begin at the same moment; each tells what it met by itself."""
    begin = threading.Barrier(count)

    def go(number: int) -> None:
        begin.wait()
        work(number)

    threads = [threading.Thread(target=go, args=(number,), daemon=True) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)


def find_percentiles(seconds: list[float]) -> dict[str, float]:
    """Milliseconds."""
    if len(seconds) < 2:
        return {}
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return {
        "p50": round(1e3 * cuts[49], 1),
        "p95": round(1e3 * cuts[94], 1),
        "max": round(1e3 * max(seconds), 1),
    }


# --- what is measured


def measure_overhead(server: Server, folder: Path, repeat: int) -> dict[str, Any]:
    """One request at a time against the command line, and against the work alone."""
    from simwright.app.jobs.model import JobItem, JobSpec, do_item
    from simwright.app.serving import COMMANDS

    file = folder / "box.usda"
    file.write_text(BOX.format(n=0))
    for _ in range(WORKERS + 1):
        server.post("/check", ("file", "box.usda", file.read_bytes()))
    spec, item = JobSpec("check", dict(COMMANDS["check"].options)), JobItem(0, str(file), {})
    do_item(spec, item)
    taken: dict[str, list[float]] = {"service": [], "command": [], "work": []}
    for _ in range(repeat):
        for name, do in (
            ("service", lambda: server.post("/check", ("file", "box.usda", file.read_bytes()))),
            ("command", lambda: subprocess.run(
                [sys.executable, "-m", "simwright", "check", str(file), "--no-cache", "--format", "json"],
                check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )),
            ("work", lambda: do_item(spec, item)),
        ):  # fmt: skip
            begun = time.perf_counter()
            do()
            taken[name].append(time.perf_counter() - begun)
    told: dict[str, Any] = {name: find_percentiles(seconds) for name, seconds in taken.items()}
    told["p95_over_command"] = round(told["service"]["p95"] - told["command"]["p95"], 1)
    told["p95_over_work"] = round(told["service"]["p95"] - told["work"]["p95"], 1)
    return told


def measure_load(server: Server, clients: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """All clients at once, each with a file and a command of its own; and how soon the service answers meanwhile."""
    statuses: Counter[str] = Counter()
    seconds: list[float] = []
    mixed: list[int] = []

    def upload(number: int) -> None:
        command = ("check", "convert", "fix", "diff", "view")[number % 5]
        box, arm = BOX.format(n=number).encode(), ARM.format(n=number).encode()
        name = f"box_{number}.usda" if command in ("check", "fix") else f"arm_{number}.urdf"
        files = [("file", name, box if command in ("check", "fix") else arm)]
        if command == "diff":
            files.append(("other", f"other_{number}.urdf", arm.replace(b'upper="1"', b'upper="2"')))
        options = {"convert": '{"to": "mjcf"}', "diff": '{"only": ["limits"]}'}.get(command, "{}")
        begun = time.perf_counter()
        try:
            status, body = server.post(f"/{command}", *files, options=options)
        except OSError as error:
            statuses[type(error).__name__] += 1
            return
        seconds.append(time.perf_counter() - begun)
        statuses[str(status)] += 1
        if not names_own(number, body):
            mixed.append(number)

    pings: list[float] = []
    over = threading.Event()

    def ping() -> None:
        while not over.wait(0.05):
            begun = time.perf_counter()
            with contextlib.suppress(OSError):
                if server.ask("GET", "/health")[0] == 200:
                    pings.append(time.perf_counter() - begun)

    pinging = threading.Thread(target=ping, daemon=True)
    pinging.start()
    begun = time.perf_counter()
    run_together(clients, upload)
    total = time.perf_counter() - begun
    over.set()
    pinging.join(PATIENCE)
    told = {
        "statuses": dict(statuses),
        "seconds": round(total, 1),
        **find_percentiles(seconds),
        "mixed": len(mixed),
    }
    return told, find_percentiles(pings)


def names_own(number: int, body: bytes) -> bool:
    """Is the answer about the file of this client, and of nobody else?"""
    text = body
    if body[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            text = b"\n".join(name.encode() + archive.read(name) for name in archive.namelist())
    found = {int(one) for one in re.findall(rb"(?:box|arm)_(\d+)", text)}
    return found == {number}


def measure_crowd(server: Server) -> dict[str, int]:
    """More clients than may wait."""
    statuses: Counter[str] = Counter()
    body = BOX.format(n=0).encode()

    def upload(_number: int) -> None:
        try:
            statuses[str(server.post("/check", ("file", "box.usda", body))[0])] += 1
        except OSError as error:
            statuses[type(error).__name__] += 1

    run_together(MOST_WAITING + MOST_WAITING // 2, upload)
    return dict(statuses)


def make_head(length: int) -> bytes:
    """The head of an upload."""
    lines = [
        "POST /check HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {TOKEN}",
        f"Content-Type: {FORM['Content-Type']}", f"Content-Length: {length}", "", "",
    ]  # fmt: skip
    return "\r\n".join(lines).encode()


def measure_slow(server: Server, clients: int) -> dict[str, Any]:
    """Slow clients of four kinds, and an honest one that comes while all of them are there."""
    ends: dict[str, Counter[str]] = {name: Counter() for name in ("body", "head", "silent", "deaf")}

    def drip(number: int) -> None:
        kind = tuple(ends)[number % 4]
        try:
            with server.connect(kind == "deaf") as one:
                ends[kind][act_slowly(kind, one)] += 1
        except OSError as error:
            ends[kind][type(error).__name__] += 1

    honest: list[float] = []
    over = threading.Event()

    def work() -> None:
        while not over.wait(0.2):
            begun = time.perf_counter()
            if server.post("/check", ("file", "box.usda", BOX.format(n=0).encode()))[0] == 200:
                honest.append(time.perf_counter() - begun)

    working = threading.Thread(target=work, daemon=True)
    working.start()
    run_together(clients, drip)
    over.set()
    working.join(PATIENCE)
    return {**{name: dict(tally) for name, tally in ends.items()}, "honest": find_percentiles(honest)}


def act_slowly(kind: str, one: socket.socket) -> str:
    """Be slow until the other side ends it: the status that it answers, or ``closed``."""
    one.settimeout(0.5)
    end = time.monotonic() + 6 * UPLOAD_SECONDS + 30
    if kind == "deaf":
        return stay_deaf(one, end)
    form = make_form(("file", "box.usda", b"#" * 4000))
    if kind == "body":
        one.sendall(make_head(len(form)))
    source = iter(form if kind == "body" else make_head(5000))
    while time.monotonic() < end:
        try:
            if kind != "silent":
                one.sendall(bytes([next(source)]))
            told = one.recv(200)
        except TimeoutError:
            continue
        except ConnectionError:
            return "closed"
        return told.split(b" ")[1].decode() if told else "closed"
    return "never"


def stay_deaf(one: socket.socket, end: float) -> str:
    """Ask more and more without reading an answer, until the other side gives up."""
    asked = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    while time.monotonic() < end:
        try:
            one.sendall(20 * asked)
        except TimeoutError:
            continue
        except OSError:
            return "closed"
    return "never"


@dataclass(frozen=True, slots=True)
class Hostile:
    """A hostile upload, and the statuses that are right for it."""

    name: str
    command: str
    file: str
    data: bytes
    right: tuple[int, ...]


READ = (200, 422)
"""What is outside of the upload is not read, which is a finding or an error."""


def list_hostile() -> Iterator[Hostile]:
    """All hostile uploads."""
    yield from list_archives()
    yield from list_wrong_contents()
    yield from list_stages()
    yield from list_robots()


def list_archives() -> Iterator[Hostile]:
    """Zip archives and names of files."""
    box = BOX.format(n=0).encode()
    for name, data, right in (
        ("zip bomb", make_zip({"a.usda": b"#" * (64 << 20)}), (413,)),
        ("zip bomb that lies", make_lying_zip(), (400, 413)),
        ("zip of zips", make_zip({"b.zip": make_zip({"c.usda": box})}), (422,)),
        ("zip of many files", make_zip({f"{n}.usda": b"" for n in range(3000)}), (413,)),
        ("zip with ..", make_zip({"../../evil.usda": box}), (400,)),
        ("zip with an absolute name", make_zip({"/tmp/evil.usda": box}), (400,)),
        ("zip with backslashes", make_zip({"..\\..\\evil.usda": box}), (400,)),
        ("zip with a link", make_zip({"a.usda": b"/etc/passwd"}, link="a.usda"), (400,)),
        ("zip that is none", os.urandom(4000), (400,)),
        ("zip cut short", make_zip({"a.usda": box})[:-30], (400,)),
    ):
        yield Hostile(name, "check", "a.zip", data, right)
    yield Hostile("name with ..", "check", "../../evil.usda", box, (400,))
    yield Hostile("absolute name", "check", "/etc/evil.usda", box, (400,))
    yield Hostile("very long name", "check", "a" * 300 + ".usda", box, (400,))


def list_wrong_contents() -> Iterator[Hostile]:
    """Files that are not what their names say, or far too much of it."""
    large = b"#" * ((MAX_UPLOAD << 20) + 1)
    deep = b"#usda 1.0\n" + b'def "a" {\n' * 100_000 + b"}" * 100_000
    yield Hostile("large", "check", "a.usda", large, (413,))
    yield Hostile("nothing in it", "check", "a.usda", b"", (422,))
    yield Hostile("prims in prims", "check", "a.usda", deep, (422,))
    for ending, mark in (
        (".usda", b""),
        (".usdc", b"PXR-USDC"),
        (".usdz", b"PK\3\4"),
        (".usda", b"#usda 1.0\n"),
    ):
        yield Hostile(f"random {ending} {mark!r}", "check", f"a{ending}", mark + os.urandom(4000), (422,))
    for ending, mark in ((".glb", b"glTF"), (".xml", b""), (".urdf", b"<robot>"), (".sdf", b"<sdf>")):
        yield Hostile(f"random {ending} {mark!r}", "convert", f"a{ending}", mark + os.urandom(4000), (422,))


def list_stages() -> Iterator[Hostile]:
    """OpenUSD layers that name what is not theirs."""

    def write(more: str = "", arc: str = "", inside: str = "") -> bytes:
        head = f'#usda 1.0\n(\n    defaultPrim = "a"\n    metersPerUnit = 1\n    upAxis = "Z"\n{more})\n'
        return f'{head}def Xform "a"{arc}\n{{\n{inside}}}\n'.encode()

    above = "../" * 20 + "etc/passwd"
    for command in ("check", "convert", "fix", "view"):
        for name, data in (
            ("sublayer", write("    subLayers = [@/etc/passwd@]\n")),
            ("reference", write(arc=" (references = @/etc/passwd@)")),
            ("reference with ..", write(arc=f" (references = @{above}@)")),
            ("payload", write(arc=" (payload = @/etc/passwd@)")),
            ("asset", write(inside="    asset inputs:file = @/etc/passwd@\n")),
            ("reference to the network", write(arc=" (references = @http://127.0.0.1:1/a.usda@)")),
        ):
            yield Hostile(f"{command} OpenUSD: {name}", command, "a.usda", data, READ)


def list_robots() -> Iterator[Hostile]:
    """URDF, xacro, MJCF, SDFormat and glTF that name what is not theirs, or do not end."""
    shape = '<link name="tip"><visual><geometry><mesh filename="{file}"/></geometry></visual></link>'
    robot = ARM.replace('<link name="tip"/>', shape)
    above = "../" * 20 + "etc/passwd"
    for file in ("/etc/passwd", "file:///etc/passwd", above, "package://../../etc/passwd"):
        for command in ("convert", "view"):
            data = robot.format(n=0, file=file).encode()
            yield Hostile(f"{command} URDF: mesh {file[:12]}", command, "a.urdf", data, READ)
    entity = (
        '<!DOCTYPE r [<!ENTITY e SYSTEM "file:///etc/passwd">]><robot name="&e;"><link name="&e;"/></robot>'
    )
    multiplied = "".join(f'<!ENTITY e{n + 1} "{f"&e{n};" * 10}">' for n in range(9))
    laughs = f'<!DOCTYPE r [<!ENTITY e0 "lol">{multiplied}]><robot name="&e9;"/>'
    head = '<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro">'
    include = f'{head}<xacro:include filename="/etc/passwd"/><link name="a"/></robot>'
    loading = f'{head}<xacro:property name="x" value="${{load_yaml(\'/etc/passwd\')}}"/><link name="${{x}}"/></robot>'
    code = f'{head}<xacro:property name="x" value="${{__import__(\'os\').getcwd()}}"/><link name="${{x}}"/></robot>'
    power = f'{head}<xacro:property name="x" value="${{9**9**9}}"/><link name="l${{x}}"/></robot>'
    for name, text in (
        ("entity", entity), ("entities that multiply", laughs), ("include", include),
        ("a file is loaded", loading), ("code", code), ("a power", power),
    ):  # fmt: skip
        yield Hostile(f"convert URDF: {name}", "convert", "a.urdf", text.encode(), (422,))
    yield Hostile("convert URDF: no end", "convert", "a.urdf", ENDLESS.encode(), (504,))
    mesh = '<asset><mesh name="a" file="/etc/passwd"/></asset>'
    model = f'<mujoco>{mesh}<worldbody><geom type="mesh" mesh="a"/></worldbody></mujoco>'
    included = "<include><uri>file:///etc/passwd</uri></include>"
    world = f'<sdf version="1.9"><world name="w">{included}</world></sdf>'
    gltf = {
        "asset": {"version": "2.0"},
        "buffers": [{"uri": "/etc/passwd", "byteLength": 100}],
        "bufferViews": [{"buffer": 0, "byteLength": 36}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}}]}],
        "nodes": [{"mesh": 0}],
        "scenes": [{"nodes": [0]}],
    }
    for name, file, text in (
        ("MJCF: include", "a.xml", '<mujoco><include file="/etc/passwd"/></mujoco>'),
        ("MJCF: mesh", "a.xml", model),
        ("SDFormat: include", "a.sdf", world),
        ("glTF: buffer", "a.gltf", json.dumps(gltf)),
    ):
        yield Hostile(f"convert {name}", "convert", file, text.encode(), READ)


def measure_hostile(server: Server) -> dict[str, Any]:
    """Every hostile upload, one after the other."""
    found: dict[str, Any] = {}
    wrong, leaked = [], []
    for one in list_hostile():
        options: dict[str, Any] = {"to": "mjcf"} if one.command == "convert" else {}
        if 504 in one.right:
            options["timeout"] = 5
        try:
            status, body = server.post(
                f"/{one.command}", ("file", one.file, one.data), options=json.dumps(options)
            )
        except ConnectionError as error:
            # it may be refused, and the connection closed, before all of it was sent
            found[one.name] = type(error).__name__
            if 413 not in one.right:
                wrong.append(f"{one.name}: {type(error).__name__}")
            continue
        found[one.name] = status
        if status not in one.right:
            wrong.append(f"{one.name}: {status}, {unpack(body)[:400]}")
        if SECRET in unpack(body):
            leaked.append(one.name)
    form = make_form(("file", "a.usda", b"#" * ((MAX_UPLOAD + 1) << 20)))
    pieces = (form[at : at + 65536] for at in range(0, len(form), 65536))
    try:
        found["large, without a length"] = server.ask("POST", "/check", pieces, FORM, encode_chunked=True)[0]
    except OSError as error:
        # it may be refused, and the connection closed, before all of it was sent
        found["large, without a length"] = 413 if isinstance(error, ConnectionError) else type(error).__name__
    found["no token"] = server.ask("POST", "/check", b"", {**FORM, "Authorization": ""})[0]
    found["other host"] = server.ask("POST", "/check", b"", {**FORM, "Host": "evil.example"})[0]
    for name, right in (("no token", 401), ("other host", 400), ("large, without a length", 413)):
        if found[name] != right:
            wrong.append(f"{name}: {found[name]}")
    return {"statuses": found, "unexpected": wrong, "leaked": leaked}


def unpack(body: bytes) -> str:
    """The text of an answer, and of the files in it."""
    if body[:2] != b"PK":
        return body.decode(errors="replace")
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        return "\n".join(archive.read(name).decode(errors="replace") for name in archive.namelist())


def measure_gone(server: Server, clients: int) -> dict[str, int]:
    """Clients that vanish in the middle of an upload, and others that vanish when they have sent it."""
    form = make_form(("file", "box.usda", BOX.format(n=0).encode()))
    ends: Counter[str] = Counter()

    def vanish(number: int) -> None:
        sent = form if number % 2 else form[: len(form) // 2]
        try:
            with server.connect() as one:
                one.sendall(make_head(len(form)) + sent)
                if number % 3 == 0:
                    # a reset, and no orderly end
                    one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
            ends["sent" if number % 2 else "half sent"] += 1
        except OSError as error:
            ends[type(error).__name__] += 1

    run_together(clients, vanish)
    return dict(ends)


def measure_stopping(server: Server) -> dict[str, Any]:
    """End it while it works on something that takes far longer."""
    pid = server.process.pid

    def upload() -> None:
        with contextlib.suppress(OSError, http.client.HTTPException):
            server.post("/convert", ("file", "a.urdf", ENDLESS.encode()), options='{"to": "mjcf"}')

    threads = [threading.Thread(target=upload, daemon=True) for _ in range(4 * WORKERS)]
    for thread in threads:
        thread.start()
    time.sleep(3)
    children = list_children(pid)
    begun = time.monotonic()
    server.process.send_signal(signal.SIGTERM)
    try:
        code: int | str = server.process.wait(120)
    except subprocess.TimeoutExpired:
        code = "still there"
    taken = round(time.monotonic() - begun, 1)
    time.sleep(1)
    return {
        "seconds": taken,
        "code": code,
        "processes": sum(is_alive(child) for child in children),
        "temporary_files": count_files(server.folder),
        "tracebacks": sum("Traceback" in line for line in server.said),
        "said": Counter(line.strip()[:120] for line in server.said).most_common(5),
    }


def find_wrong(told: dict[str, Any], clients: int) -> list[str]:
    """What is not as it should be."""
    wrong: list[str] = []
    for number, one in enumerate(told["rounds"], 1):
        if one["load"]["statuses"] != {"200": clients} or one["load"]["mixed"]:
            wrong.append(f"round {number}: load {one['load']}")
        if not set(one["crowd"]) <= {"200", "503"} or not one["crowd"].get("200"):
            wrong.append(f"round {number}: crowd {one['crowd']}")
        ends = {"body": {"408"}, "head": {"408", "closed"}, "silent": {"408", "closed"}, "deaf": {"closed"}}
        wrong += [
            f"round {number}: slow clients ({name}) {one['slow'][name]}"
            for name, right in ends.items()
            if not set(one["slow"][name]) <= right
        ]
        wrong += [f"round {number}: {line}" for line in one["hostile"]["unexpected"]]
        wrong += [f"round {number}: {name} leaked" for name in one["hostile"]["leaked"]]
        if (
            one["left"]["temporary_files"] > told["before"]["temporary_files"]
            or one["left"]["processes"] > WORKERS
        ):
            wrong.append(f"round {number}: left {one['left']}")
    first, last = told["rounds"][0]["left"], told["rounds"][-1]["left"]
    wrong += [
        f"{name} grew from {first[name]} to {last[name]}"
        for name, most in (("threads", 0), ("open_files", 2), ("sockets", 2), ("service_mib", 20))
        if last[name] > first[name] + most
    ]
    end = told["stopping"]
    if (
        end["code"] != -signal.SIGTERM
        or end["seconds"] > 30
        or end["processes"]
        or end["temporary_files"]
        or end["tracebacks"]
    ):
        wrong.append(f"stopping: {end}")
    return wrong


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--clients", type=int, default=200, help="uploads at the same moment (default: 200)")
    parser.add_argument("--rounds", type=int, default=2, help="rounds; what is held is compared (default: 2)")
    parser.add_argument("--repeat", type=int, default=40, help="requests for the overhead (default: 40)")
    asked = parser.parse_args()
    told: dict[str, Any] = {"clients": asked.clients, "workers": WORKERS, "load_average": os.getloadavg()}
    with tempfile.TemporaryDirectory() as name:
        served, own = Path(name) / "service", Path(name) / "own"
        served.mkdir()
        own.mkdir()
        with run_service(served) as server:
            told["overhead"] = measure_overhead(server, own, asked.repeat)
            server.at_rest = count_files(served)
            told["before"] = server.settle()
            told["rounds"] = []
            for number in range(asked.rounds):
                one: dict[str, Any] = {}
                for step in ("load", "crowd", "slow", "hostile", "gone"):
                    print(f"round {number + 1}: {step}", file=sys.stderr)
                    if step == "load":
                        one["load"], one["health"] = measure_load(server, asked.clients)
                    elif step == "crowd":
                        one["crowd"] = measure_crowd(server)
                    elif step == "slow":
                        one["slow"] = measure_slow(server, max(asked.clients // 2, 4))
                    elif step == "hostile":
                        one["hostile"] = measure_hostile(server)
                    else:
                        one["gone"] = measure_gone(server, asked.clients)
                one["left"] = server.settle()
                told["rounds"].append(one)
            told["stopping"] = measure_stopping(server)
    told["load_average_after"] = os.getloadavg()
    told["wrong"] = find_wrong(told, asked.clients)
    print(json.dumps(told, indent=2))
    return 1 if told["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
