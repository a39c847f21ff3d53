"""The service: uploads of all sorts over real connections, and what is left of them."""

from __future__ import annotations

import contextlib
import http.client
import io
import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from simwright.app.jobs.model import JobItem, JobSpec
from simwright.app.serving import (
    COMMANDS,
    RequestError,
    RequestQueue,
    ServiceLimits,
    choose_entry,
    name_upload,
    unpack_upload,
)

BOX = b'#usda 1.0\n(\n    defaultPrim = "box"\n    metersPerUnit = 0.01\n)\ndef Xform "box" {}\n'
ARM = b"""<robot name="arm"><link name="base"/><link name="tip"/><joint name="j" type="revolute"><parent link="base"/>
<child link="tip"/><axis xyz="0 0 1"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
ENDLESS = b"""<robot name="a" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/>
<xacro:macro name="two" params="n"><xacro:if value="${n > 0}"><xacro:two n="${n - 1}"/><xacro:two n="${n - 1}"/>
</xacro:if></xacro:macro><xacro:two n="22"/></robot>"""
"""Four million calls of a macro."""
TOKEN = "0123456789abcdef0123"
LINE = "----line"


class Client:
    """A client on one machine; every request is a connection of its own."""

    def __init__(self, port: int, folder: Path) -> None:
        self.port, self.folder = port, folder

    def ask(
        self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None
    ) -> tuple[int, bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request(method, path, body, {"Authorization": f"Bearer {TOKEN}", **(headers or {})})
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def post(self, path: str, *files: tuple[str, str, bytes], **fields: str) -> tuple[int, bytes]:
        return self.ask("POST", path, make_form(*files, **fields), FORM)

    def list_left(self) -> list[str]:
        """Files that requests left behind."""
        return [str(file) for file in self.folder.rglob("*") if file.is_file()]


FORM = {"Content-Type": f"multipart/form-data; boundary={LINE}"}


def make_form(*files: tuple[str, str, bytes], **fields: str) -> bytes:
    out = io.BytesIO()
    for field, name, data in files:
        head = f'--{LINE}\r\nContent-Disposition: form-data; name="{field}"; filename="{name}"\r\n\r\n'
        out.write(head.encode() + data + b"\r\n")
    for field, text in fields.items():
        out.write(f'--{LINE}\r\nContent-Disposition: form-data; name="{field}"\r\n\r\n{text}\r\n'.encode())
    out.write(f"--{LINE}--\r\n".encode())
    return out.getvalue()


def make_zip(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name.replace("__", "/").replace("_DOT_", "."), data)
    return out.getvalue()


@contextlib.contextmanager
def run_service(folder: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], Client]]:
    process = subprocess.Popen(
        [sys.executable, "-m", "simwright", "serve", "--port", "0", *options],
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SIMWRIGHT_TOKEN": TOKEN, "TMPDIR": str(folder)},
    )
    try:
        assert process.stderr is not None
        line = process.stderr.readline()
        found = re.match(r"http://127\.0\.0\.1:(\d+)/docs", line)
        assert found, line + process.stderr.read()
        yield process, Client(int(found[1]), folder)
    finally:
        process.kill()
        process.wait()
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture(scope="module")
def client(tmp_path_factory) -> Iterator[Client]:
    options = ["--workers", "1", "--max-upload", "1", "--timeout", "60", "--upload-timeout", "2"]
    with run_service(tmp_path_factory.mktemp("service"), *options) as (process, client):
        yield client
        process.terminate()
        _, wrong = process.communicate(timeout=60)
        assert "Traceback" not in wrong


def test_every_command_answers(client):
    status, body = client.post("/check", ("file", "box.usda", BOX), options='{"select": ["units-meters"]}')
    told = json.loads(body)
    assert (status, told["status"], told["path"]) == (200, "findings", "box.usda")
    assert [(one["rule"], one["layer"]) for one in told["findings"]] == [("units-meters", "box.usda")]
    status, body = client.post("/convert", ("file", "arm.urdf", ARM), options='{"to": "mjcf"}')
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        assert archive.namelist()[0] == "report.json"
        assert [name for name in archive.namelist() if name.endswith(".xml")]
        assert str(client.folder) not in archive.read("report.json").decode()
    options = '{"select": ["units-kilograms"]}'
    status, body = client.post("/fix", ("file", "box.zip", make_zip(a__box_DOT_usda=BOX)), options=options)
    assert status == 200
    with zipfile.ZipFile(io.BytesIO(body)) as archive:
        (fixed,) = (name for name in archive.namelist() if name.endswith(".usda"))
        assert b"kilogramsPerUnit = 1" in archive.read(fixed)
    other = ("other", "b.urdf", ARM.replace(b'upper="1"', b'upper="2"'))
    status, body = client.post("/diff", ("file", "a.urdf", ARM), other, options='{"only": ["limits"]}')
    assert (status, json.loads(body)["status"]) == (200, "different")
    status, body = client.post("/view", ("file", "arm.urdf", ARM))
    assert status == 200
    assert body.startswith(b"<!DOCTYPE html>")
    assert client.list_left() == []


def test_what_is_wrong_has_its_status(client):
    good = ("file", "box.usda", BOX)
    assert client.ask("POST", "/check", make_form(good), {**FORM, "Authorization": "Bearer no"})[0] == 401
    assert client.ask("POST", "/check", make_form(good), {**FORM, "Authorization": ""})[0] == 401
    assert client.ask("POST", "/check", make_form(good), {**FORM, "Host": "evil.example"})[0] == 400
    assert client.ask("GET", "/check")[0] == 405
    assert client.ask("POST", "/nothing")[0] == 404
    assert client.ask("POST", "/check", b"rubbish", {"Content-Type": "text/plain"})[0] == 400
    assert client.ask("POST", "/check", b"rubbish", FORM)[0] == 400
    assert client.post("/check")[0] == 400
    assert client.post("/check", good, good)[0] == 400
    assert client.post("/check", ("file", "../../box.usda", BOX))[0] == 400
    assert client.post("/check", ("file", "/etc/passwd", BOX))[0] == 400
    assert client.post("/check", good, options="[1]")[0] == 400
    assert client.post("/check", good, options='{"config": "/etc/passwd"}')[0] == 400
    assert client.post("/check", good, options='{"select": ["no-such-rule"]}')[0] == 422
    assert client.post("/check", ("file", "box.usda", b"no layer"))[0] == 422
    assert client.post("/check", ("file", "box.zip", b"PK no zip"))[0] == 400
    assert client.post("/check", ("file", "box.zip", make_zip(a_DOT_usda=BOX, b_DOT_usda=BOX)))[0] == 400
    assert client.post("/check", ("file", "box.usda", b"#" * (2 << 20)))[0] == 413
    assert client.post("/check", ("file", "b.zip", make_zip(a_DOT_usda=b"#" * (5 << 20))))[0] == 413
    # the robot names a file that is not its own
    stranger = b'<mujoco><include file="/etc/hostname"/></mujoco>'
    status, body = client.post("/convert", ("file", "a.xml", stranger), options='{"to": "urdf"}')
    assert status == 422
    assert Path("/etc/hostname").read_text().strip() not in body.decode()
    assert client.list_left() == []


def test_bodies_without_a_length_have_an_end(client):
    connection = http.client.HTTPConnection("127.0.0.1", client.port, timeout=60)
    form = make_form(("file", "box.usda", b"#" * (3 << 20)))
    pieces = (form[at : at + 65536] for at in range(0, len(form), 65536))
    headers = {**FORM, "Authorization": f"Bearer {TOKEN}"}
    try:
        connection.request("POST", "/check", pieces, headers, encode_chunked=True)
        assert connection.getresponse().status == 413
    except BrokenPipeError:
        # it was refused while it was still being sent
        pass
    finally:
        connection.close()


def test_slow_clients_vanished_clients_and_work_that_does_not_end(client):
    head = (
        f"POST /check HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: multipart/form-data; boundary={LINE}\r\nContent-Length: 5000\r\n\r\n"
    ).encode()
    with socket.create_connection(("127.0.0.1", client.port), 60) as slow:
        slow.sendall(head + make_form(("file", "box.usda", BOX))[:100])
        assert b" 408 " in slow.recv(100)
    with socket.create_connection(("127.0.0.1", client.port), 60) as gone:
        gone.sendall(head + b"--")
    assert client.post("/convert", ("file", "a.urdf", ENDLESS), options='{"timeout": 0.5}')[0] == 504
    # the next one finds a new worker
    assert client.post("/check", ("file", "box.usda", BOX))[0] == 200
    assert client.list_left() == []


@pytest.mark.parametrize("sent", [b"", b"POST /check HTTP/1.1\r\nHost: 127"])
def test_connections_that_send_no_request_are_closed(client, sent):
    """Slots are few: whoever says nothing, or half of it, would keep others out for ever."""
    with socket.create_connection(("127.0.0.1", client.port), 30) as silent:
        silent.sendall(sent)
        assert silent.recv(100) == b""


def test_connections_that_do_not_read_their_answers_are_closed(client):
    with socket.socket() as deaf:
        # little room for what is not read, so that it stays with the service
        deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        deaf.settimeout(5)
        deaf.connect(("127.0.0.1", client.port))
        asked = b"GET /openapi.json HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        end, closed = time.monotonic() + 60, False
        while not closed and time.monotonic() < end:
            try:
                # more and more, until the service takes no more and gives it up
                deaf.sendall(asked * 20)
            except TimeoutError:
                continue
            except ConnectionError:
                closed = True
        assert closed


def test_it_ends_although_work_does_not(tmp_path):
    """Clients are told, workers are ended and files are removed; how long the work may take does not matter."""
    statuses: Counter[int] = Counter()
    with run_service(tmp_path, "--workers", "1", "--timeout", "600") as (process, client):
        assert process.stderr is not None

        def upload() -> None:
            statuses[client.post("/convert", ("file", "a.urdf", ENDLESS), options='{"to": "mjcf"}')[0]] += 1

        threads = [threading.Thread(target=upload) for _ in range(3)]
        for thread in threads:
            thread.start()
        end = time.monotonic() + 60
        while len(client.list_left()) < 3:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.terminate()
        begun = time.monotonic()
        _, wrong = process.communicate(timeout=60)
        for thread in threads:
            thread.join()
        assert time.monotonic() - begun < 30
    assert statuses == {503: 3}
    assert "Traceback" not in wrong
    assert client.list_left() == []


def test_what_a_killed_service_left_is_removed_by_the_next(tmp_path):
    """Of any number of requests: with a folder beside each other, only the first few would be found again."""
    form = make_form(("file", "a.usda", BOX))
    head = (
        f"POST /check HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {TOKEN}\r\n"
        f"Content-Type: multipart/form-data; boundary={LINE}\r\nContent-Length: {len(form)}\r\n\r\n"
    ).encode()
    with contextlib.ExitStack() as stack, run_service(tmp_path) as (process, client):
        before = len(list(tmp_path.rglob("*")))
        for _ in range(30):
            waiting = stack.enter_context(socket.create_connection(("127.0.0.1", client.port), 30))
            waiting.sendall(head + form[:-10])
        end = time.monotonic() + 30
        while len(list(tmp_path.rglob("*"))) < before + 30:
            assert time.monotonic() < end
            time.sleep(0.05)
        process.kill()
        process.wait()
    with run_service(tmp_path) as (_, client):
        assert len(list(tmp_path.rglob("*"))) == before


def test_many_at_once(client):
    """More than there are workers: all are answered, each with what it asked for."""
    found: Counter[int] = Counter()
    names = []

    def upload(number: int) -> None:
        status, body = client.post(
            "/check", ("file", f"box{number}.usda", BOX), options='{"select": ["units-meters"]}'
        )
        found[status] += 1
        names.append(json.loads(body).get("path") == f"box{number}.usda")

    threads = [threading.Thread(target=upload, args=(number,)) for number in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {200: 60}
    assert all(names)
    assert client.list_left() == []


def test_an_error_of_the_service_itself_is_told_and_the_next_request_is_done(tmp_path: Path) -> None:
    requests = RequestQueue(1, ServiceLimits())
    try:
        # what cannot be sent to a worker is no fault of a worker
        failed = requests.submit(JobSpec("check"), JobItem(0, "a.usda", {"select": threading.Lock()}))
        with pytest.raises(TypeError, match="pickle"):
            failed.result(60)
        spec = JobSpec("check", dict(COMMANDS["check"].options))
        done = requests.submit(spec, JobItem(0, str(tmp_path / "a.usda"), {}))
        assert "no such file" in str(done.result(60))
    finally:
        requests.stop()
        requests.close()


def test_the_description_fetches_nothing(client):
    status, body = client.ask("GET", "/docs")
    assert status == 200
    assert b"POST /convert" in body
    assert b"http" not in body.replace(b"</html>", b"")
    status, body = client.ask("GET", "/openapi.json")
    assert set(json.loads(body)["paths"]) == {"/check", "/fix", "/convert", "/diff", "/view", "/health"}


@pytest.mark.parametrize(
    "name", ["", "/a", "../a", "a/../../b", "a\\..\\..\\b", "C:/a", "a\0b", "a\nb", "x" * 2000]
)
def test_names_that_lead_out_are_refused(name):
    with pytest.raises(RequestError):
        name_upload(name)


def test_archives_that_lie_or_hold_links(tmp_path):
    limits = ServiceLimits(unpacked_bytes=1 << 20, files=3)
    bomb = bytearray(make_zip(a_DOT_txt=b"0" * (8 << 20)))
    # it says that it holds nothing: once in front of the data, once in the directory
    for mark, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = bomb.index(mark) + at
        bomb[place : place + 4] = (10).to_bytes(4, "little")
    link = zipfile.ZipInfo("a.usda")
    link.external_attr = 0o120777 << 16
    linked = io.BytesIO()
    with zipfile.ZipFile(linked, "w") as archive:
        archive.writestr(link, "/etc/passwd")
    many = make_zip(**{f"f{number}": b"" for number in range(4)})
    for number, data in enumerate((bytes(bomb), linked.getvalue(), many, make_zip(__a=b""))):
        file = tmp_path / f"{number}.zip"
        file.write_bytes(data)
        folder = tmp_path / str(number)
        folder.mkdir()
        with pytest.raises(RequestError) as caught:
            unpack_upload(file, folder, limits)
        assert caught.value.status in (400, 413), number
        assert sum(one.stat().st_size for one in folder.rglob("*")) <= 1 << 20


def test_which_file_is_meant():
    places = [name_upload("a.usda"), name_upload("in/b.usda")]
    assert choose_entry(places, "in/b.usda") == places[1]
    for wrong in ("", "c.usda", "../a.usda"):
        with pytest.raises(RequestError):
            choose_entry(places, wrong)


def test_an_archive_is_unpacked_as_it_is(tmp_path: Path) -> None:
    content = {"robot/arm.urdf": b"<robot name='arm'/>", "robot/meshes/link.stl": bytes(range(256)) * 9000}
    with zipfile.ZipFile(tmp_path / "robot.zip", "w") as archive:
        for name, data in content.items():
            archive.writestr(name, data)
    folder = tmp_path / "unpacked"
    folder.mkdir()
    places = unpack_upload(tmp_path / "robot.zip", folder, ServiceLimits())
    assert {str(place): (folder / place).read_bytes() for place in places} == content
