"""The page of an asset: only for those who have its address, and it shows where the joints are."""

from __future__ import annotations

import base64
import http.client
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.conftest import SAMPLES

import simwright
from simwright.app.cli.main import run
from simwright.core.diag import Diagnostic, Level, Where
from simwright.view import open_page
from simwright.view.page import ViewPage


@pytest.fixture(scope="module")
def page() -> Iterator[ViewPage]:
    asset = simwright.load(SAMPLES / "arm" / "urdf" / "arm.urdf")
    finding = Diagnostic("a-kind", Level.WARNING, "<script>alert(1)</script> *told*", Where("arm.urdf", 3))
    shown = open_page(asset, [finding])
    yield shown
    shown.close()


def ask(page: ViewPage, path: str, **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection("127.0.0.1", page.port, timeout=20)
    try:
        connection.request(
            "GET", path, headers={key.replace("_", "-"): value for key, value in headers.items()}
        )
        answer = connection.getresponse()
        answer.content = answer.read()  # type: ignore[attr-defined]
        return answer
    finally:
        connection.close()


UPGRADE = {
    "Connection": "Upgrade", "Upgrade": "websocket", "Sec_WebSocket_Version": "13",
    "Sec_WebSocket_Key": base64.b64encode(bytes(16)).decode(), "Sec_WebSocket_Protocol": "viser-v1.1.1",
}  # fmt: skip


def test_nobody_gets_anything_without_the_token(page: ViewPage) -> None:
    token = urlsplit(page.address).query
    for path in (
        "/",
        "/index.html",
        "/?token=",
        "/?token=wrong",
        f"/?{token}x",
        "/../../etc/passwd",
        "/%2e%2e/setup.py",
    ):
        answer = ask(page, path)
        assert answer.status == 403, path
        assert b"<html" not in answer.content  # type: ignore[attr-defined]
    assert ask(page, "/", **UPGRADE).status == 403
    cookie = f"simwright-{page.port}=wrong"
    assert ask(page, "/", Cookie=cookie).status == 403
    assert ask(page, "/", Cookie=cookie, **UPGRADE).status == 403


def test_the_address_opens_the_page_and_its_cookie_the_rest(page: ViewPage) -> None:
    address = urlsplit(page.address)
    first = ask(page, f"/?{address.query}")
    assert first.status == 200
    cookie = first.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict"} <= {part.strip() for part in cookie.split(";")}
    assert ask(page, "/", Cookie=cookie.partition(";")[0]).status == 200
    assert ask(page, "/", Cookie=cookie.partition(";")[0], **UPGRADE).status == 101
    # nothing outside of viser's own page
    assert ask(page, "/../pyproject.toml", Cookie=cookie.partition(";")[0]).status == 404


def test_another_name_for_this_machine_is_refused(page: ViewPage) -> None:
    """A page elsewhere may let its own name lead here, and the browser would then speak for the user."""
    query = urlsplit(page.address).query
    assert ask(page, f"/?{query}", Host="elsewhere.example").status == 403
    assert ask(page, f"/?{query}", Origin="http://elsewhere.example", **UPGRADE).status == 403


def test_no_other_machine_can_reach_it(page: ViewPage) -> None:
    listening = Path("/proc/net/tcp").read_text() + Path("/proc/net/tcp6").read_text()
    found = re.findall(rf"\s([0-9A-F]+):{page.port:04X}\s[0-9A-F]+:0000\s0A\s", listening)
    assert found == ["0100007F"]


def test_joints_move_links_on_the_page(page: ViewPage) -> None:
    page.move({"joint_2": 0.5})
    poses = page._configuration.pose()
    for name, frame in page._frames.items():
        if name:
            np.testing.assert_allclose(frame.position, poses[name].p, atol=1e-6)
            np.testing.assert_allclose(frame.wxyz, poses[name].q, atol=1e-6)
    assert page._sliders["joint_2"].min == pytest.approx(-2.007129, abs=1e-4)


def test_a_loop_that_cannot_be_closed_is_told() -> None:
    shown = open_page(simwright.load(SAMPLES / "fourbar" / "fourbar.usda"))
    try:
        shown.move({"crank_joint": 0.3})
        assert shown._gap.content == ""
        shown.move({"crank_joint": 0.3, "rocker_joint": -0.9, "coupler_joint": 1.0})
        assert "open by" in shown._gap.content
        shown._reset()
        assert shown._gap.content == ""
    finally:
        shown.close()


def test_a_link_is_selected_in_the_list_the_tree_and_the_scene(page: ViewPage) -> None:
    name = "forearm_link"
    page.pick(name)
    assert page._links.value == name
    assert "mass [kg]" in page._facts.content
    assert page._tree.content.count("**") == 2
    assert page._marks
    page.pick("")
    assert page._links.value == ""
    assert not page._marks


def test_what_files_say_is_text_and_not_markup(page: ViewPage) -> None:
    from simwright.view.page import _describe_finding

    text = _describe_finding(page._findings[0])
    assert "<script>" not in text
    assert "*told*" not in text


def test_the_command_prints_the_address_and_ends_by_a_signal(samples: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "simwright", "view", str(samples / "box" / "box.usda"), "--no-browser"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, cwd=tmp_path, env=os.environ
    ) as process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{32}\n", line)
        finally:
            process.send_signal(signal.SIGINT)
        assert process.wait(20) == 0
    assert list(tmp_path.iterdir()) == []


def test_bad_input_is_one_line(tmp_path: Path, samples: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["view", str(tmp_path / "none.urdf")]) == 2
    assert "no such file" in capsys.readouterr().err
    assert run(["view", str(samples / "arm" / "urdf" / "arm.urdf"), "--q", "join_2=1"]) == 2
    assert "joint_2" in capsys.readouterr().err
