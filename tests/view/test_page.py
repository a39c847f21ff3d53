"""The page of an asset: only for those who have its address, and it shows where the joints are."""

from __future__ import annotations

import base64
import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest
from tests.conftest import SAMPLES
from tests.view.test_drawing import make_heavy

import simwright
from simwright.app.cli.main import run
from simwright.app.cli.view import ViewRequest, open_view
from simwright.core.diag import Diagnostic, Level, Reporter, Where
from simwright.view import open_page
from simwright.view.drawing import draw_asset
from simwright.view.page import ViewPage
from simwright.view.words import describe_finding, plain


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


def find_sent(page: Any, kind: str) -> dict[str, Any]:
    """What new visitors are sent of that kind, by the name of the node."""
    buffer = page.server._websock_server._broadcast_buffer
    return {
        message.name: message
        for message in list(buffer.message_from_id.values())
        if type(message).__name__ == kind
    }


def test_joints_move_links_on_the_page(page: ViewPage) -> None:
    page.move({"joint_2": 0.5})
    poses = page.configuration.pose()
    sent = find_sent(page, "SetPositionMessage")
    seen = 0
    for number, part in enumerate(page.figure.drawing.parts["Visuals"]):
        if len(part.bodies) == 1 and part.bodies[0] >= 0:
            body = page.configuration.asset.bodies[part.bodies[0]].name
            message = sent.get(f"/asset/visuals/{number}")
            # what was never moved from the origin is not told
            place = (0.0, 0.0, 0.0) if message is None else message.position
            np.testing.assert_allclose(place, poses[body].p, atol=1e-6)
            seen += 1
    assert seen > 5
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


def click(page: ViewPage, body: str, origin: tuple[float, ...], direction: tuple[float, ...]) -> None:
    row = page.configuration.asset.body_names.index(body)
    part = next(part for part in page.figure.drawing.parts["Visuals"] if row in part.bodies)
    place = list(part.bodies).index(row)
    event = SimpleNamespace(instance_index=place, ray_origin=origin, ray_direction=direction)
    page._click(page.figure._find_picked(part, event))


def test_a_link_is_selected_in_the_scene_the_tree_and_its_numbers(page: ViewPage) -> None:
    click(page, "forearm_link", (1.0, 0.0, 0.6), (-1.0, 0.0, 0.0))
    assert "**forearm&#95;link**" in page._facts.content
    assert "mass [kg]" in page._facts.content
    chosen = [row.options[0] for name, row in page._tree._shown if name == "forearm_link"]
    assert chosen == ["\u25b6 forearm_link"]
    assert page.figure._marks
    page.pick("")
    assert not page.figure._marks
    assert not any(row.options[0].startswith("\u25b6") for _, row in page._tree._shown)


def test_the_search_narrows_the_tree_down_and_a_selection_widens_it_again(page: ViewPage) -> None:
    page._tree.search.value = "finger"
    page._tree._fill()
    assert 0 < len(page._tree.list_shown()) < 5
    page.pick("upper_arm_link")
    assert "upper_arm_link" in page._tree.list_shown()
    page.pick("")


def test_the_distance_between_two_points_is_measured() -> None:
    shown = open_page(simwright.load(SAMPLES / "box" / "box.usda"))
    try:
        asset = shown.configuration.asset
        name = asset.body_names[0]
        shown._measures.value = True
        lower, upper = shown.figure.drawing.boxes[0]
        middle = (lower + upper) / 2 + shown.figure.poses[0, 0, :3]
        for side in (-1.0, 1.0):
            click(shown, name, (middle[0] + 5 * side, middle[1], middle[2]), (-side, 0.0, 0.0))
        measured = re.search(r"\*\*([0-9.]+) m", shown._distance.content)
        assert measured is not None
        # the body's box has its colliders in it, which are a little larger than what is seen
        assert float(measured[1]) == pytest.approx(upper[0] - lower[0], abs=2e-3)
    finally:
        shown.close()


def test_contacts_of_the_configuration_are_shown() -> None:
    shown = open_page(simwright.load(SAMPLES / "quadruped" / "quadruped.xml"))
    try:
        shown.move({"FL_abduction": -0.8, "FR_abduction": 0.8})
        assert shown._contact_note.content == ""  # nobody has asked
        shown.move({"FL_abduction": 0.0, "FR_abduction": 0.0})
        shown.show_contacts(True)
        before = shown._contact_note.content
        # both feet of one side through each other
        shown.move({"FL_abduction": -0.8, "FR_abduction": 0.8})
        assert "FL" in shown._contact_note.content
        assert "FR" in shown._contact_note.content
        assert before != shown._contact_note.content
        shown.show_contacts(False)
        assert shown._contact_note.content == ""
    finally:
        shown.close()


def test_a_joint_that_starts_outside_of_its_limits_is_where_its_slider_says() -> None:
    """The legs of the quadruped were drawn straight, and its sliders said that they were bent."""
    shown = open_page(simwright.load(SAMPLES / "quadruped" / "quadruped.xml"))
    try:
        slider = shown._sliders["FL_calf"]
        assert (slider.value, shown.configuration.get("FL_calf")) == (0.0, 0.0)
        assert (slider.min, slider.max) == (-2.65, 0.0)
        shown.move({"FL_calf": -1.0})
        assert slider.value == -1.0
        shown._reset()
        assert slider.value == 0.0
    finally:
        shown.close()


def test_what_mujoco_hides_at_first_is_a_layer_of_its_own(tmp_path: Path) -> None:
    """Colliders of Apollo touch nothing without their scene, and were drawn as a green cover over it."""
    file = tmp_path / "covered.xml"
    geom = '<geom type="sphere" size="{size}" contype="0" conaffinity="0" group="{group}"/>'
    for groups, layers in (((1, 3), {"Visuals", "Hidden groups"}), ((3, 4), {"Visuals"})):
        geoms = "".join(geom.format(size=0.1 + 0.01 * group, group=group) for group in groups)
        file.write_text(
            f'<mujoco><worldbody><body name="a"><joint axis="0 0 1"/>{geoms}<inertial pos="0 0 0" mass="1" '
            'diaginertia="1 1 1"/></body></worldbody></mujoco>'
        )
        shown = open_page(simwright.load(file))
        try:
            found = {
                layer: sorted(shape.group for part in parts for held in part.shapes for shape in held)
                for layer, parts in shown.figure.drawing.parts.items()
            }
            assert set(found) == layers
            assert found["Visuals"] == ([1] if groups[0] == 1 else [3, 4])
            assert not shown.figure.shown["Hidden groups"]
        finally:
            shown.close()


def test_every_layer_can_be_shown_and_hidden(page: ViewPage) -> None:
    layers = page.figure.list_layers()
    assert {"Visuals", "Colliders", "Inertia", "Joint limits", "Fields of view", "Names"} <= set(layers)
    for layer in layers:
        page.figure.show(layer, True)
    nodes = [node for pairs in page.figure._lines.values() for _, node in pairs]
    assert all(node.visible for node in nodes)
    page.move({"joint_1": 0.7})
    for layer in layers[1:]:
        page.figure.show(layer, False)
    assert not any(node.visible for node in nodes)


def test_every_triangle_of_a_heavy_robot_is_drawn_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    asset = make_heavy()
    monkeypatch.setattr("simwright.view.page.draw_asset", partial(draw_asset, most=100_000))
    page = open_page(asset)
    try:
        assert page.figure.drawing.drawn < 150_000
        buffer = page.server._websock_server._broadcast_buffer
        texts = [str(vars(message)) for message in list(buffer.message_from_id.values())]
        assert any("of 0.89 million triangles" in text for text in texts)
        assert any("Draw every triangle" in text for text in texts)
        page.figure.show("Names", True)
        page.pick("link3")
        page._draw_every_triangle()
        assert page.figure.drawing.drawn == page.figure.drawing.triangles > 800_000
        assert page.figure.shown["Names"]
    finally:
        page.close()


LOOK = """#usda 1.0
(
    defaultPrim = "thing"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "thing"
{{
    def Cube "box" (prepend apiSchemas = ["MaterialBindingAPI"])
    {{
        double size = 0.1
        rel material:binding = </thing/look>
    }}
    def Material "look"
    {{
        token outputs:surface.connect = </thing/look/surface.outputs:surface>
        def Shader "surface"
        {{
            uniform token info:id = "UsdPreviewSurface"
            float inputs:metallic = {0}
            token outputs:surface
        }}
    }}
}}
"""


def list_sent(page: ViewPage, kind: str) -> list[Any]:
    """Messages of a kind that whoever opens the page is sent."""
    kept = page.server._websock_server._broadcast_buffer.message_from_id
    return [message for message in list(kept.values()) if type(message).__name__ == kind]


@pytest.mark.parametrize("metallic", [0.0, 1.0])
def test_only_metal_has_a_room_around_it_to_mirror(metallic: float, tmp_path: Path) -> None:
    file = tmp_path / "thing.usda"
    file.write_text(LOOK.format(metallic))
    page = open_page(simwright.load(file))
    try:
        assert page.figure.drawing.shines == bool(metallic)
        rooms, sky = list_sent(page, "EnvironmentMapMessage"), list_sent(page, "HemisphereLightMessage")
        # nothing is said of the room that is viser's own
        assert [room.hdri_data for room in rooms] == ([] if metallic else [None])
        assert len(sky) == (0 if metallic else 1)
        assert list_sent(page, "EnableLightsMessage")[-1].cast_shadow
    finally:
        page.close()


def test_thousands_of_things_cast_no_shadows(tmp_path: Path) -> None:
    cubes = "".join(
        f'def Cube "c{number}" {{\ndouble size = 0.1\ndouble3 xformOp:translate = ({number}, 0, 0)\n'
        'uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
        for number in range(1100)
    )
    file = tmp_path / "many.usda"
    file.write_text(
        f'#usda 1.0\n(\ndefaultPrim = "a"\nmetersPerUnit = 1\nupAxis = "Z"\n)\ndef Xform "a"\n{{\n{cubes}}}\n'
    )
    page = open_page(simwright.load(file))
    try:
        assert page.figure.drawing.places == 1100
        assert not list_sent(page, "EnableLightsMessage")[-1].cast_shadow
    finally:
        page.close()


def test_variants_are_switched_on_the_page(tmp_path: Path) -> None:
    file = tmp_path / "robot.usda"
    file.write_text(VARIANTS)
    request, reporter = ViewRequest(), Reporter()
    shown = open_view(str(file), request, reporter)
    try:
        assert shown._variants.sets == {"tool": (["large", "small"], "small")}
        assert shown.configuration.asset.shapes[0].geometry.size[0] == pytest.approx(0.1)
        shown._choose("tool", "large")
        assert shown.configuration.asset.shapes[0].geometry.size[0] == pytest.approx(0.5)
        assert shown._variants.sets["tool"][1] == "large"
    finally:
        shown.close()


VARIANTS = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "robot" (
    variants = { string tool = "small" }
    prepend variantSets = "tool"
)
{
    variantSet "tool" = {
        "large" {
            def Cube "box"
            {
                double size = 0.5
            }
        }
        "small" {
            def Cube "box"
            {
                double size = 0.1
            }
        }
    }
}
"""


def test_findings_are_shown_at_the_link_they_are_about(page: ViewPage) -> None:
    source = page.configuration.asset.body("forearm_link").source
    finding = Diagnostic("a-kind", Level.WARNING, "here", where=source)
    page.show_findings([*page._findings, finding])
    assert page._about == {1: "forearm_link"}
    page._mark(True)
    assert page.figure._marks
    page._mark(False)


def test_findings_take_the_place_of_those_before(page: ViewPage) -> None:
    before = list(page._findings)
    for count in (3, 1):
        page.show_findings([Diagnostic("a-kind", Level.WARNING, f"number {n}") for n in range(count)])
        sent = list(page.server._websock_server._broadcast_buffer.message_from_id.values())
        gone = {message.uuid for message in sent if type(message).__name__ == "GuiRemoveMessage"}
        rows = {
            message.uuid
            for message in sent
            if type(message).__name__ == "GuiMarkdownMessage" and "number " in message.props._markdown
        }
        assert len(rows - gone) == count
    page.show_findings(before)


def test_what_files_say_is_text_and_not_markup(page: ViewPage) -> None:
    text = describe_finding(page._findings[0])
    assert "<script>" not in text
    assert "*told*" not in text
    for hostile in (
        "<img src=x onerror=alert(1)>",
        "[a](javascript:alert(1))",
        "| a | b",
        "`x`",
        "https://x.example",
    ):
        assert not set("<>[]()`|:/") & set(plain(hostile))


def test_names_that_are_markup_reach_the_page_as_text(tmp_path: Path) -> None:
    hostile = "&lt;img src=x onerror=alert(1)&gt;"
    file = tmp_path / "hostile.urdf"
    file.write_text(
        f'<robot name="{hostile}"><link name="{hostile}"><inertial><mass value="1"/>'
        '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link></robot>'
    )
    shown = open_page(simwright.load(file))
    try:
        shown.pick(shown.configuration.asset.body_names[0])
        shown.figure.show("Names", True)
        assert "<img" in shown.configuration.asset.body_names[0]
        buffer = shown.server._websock_server._broadcast_buffer
        for message in list(buffer.message_from_id.values()):
            if type(message).__name__ in ("GuiMarkdownMessage", "GuiHtmlMessage"):
                assert "<img" not in str(message)
        assert "<img" not in shown._facts.content
    finally:
        shown.close()


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


def test_a_port_that_is_taken_is_told_and_no_other_is_used(
    samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        arguments = ["view", str(samples / "box" / "box.usda"), "--no-browser", "--port", str(port)]
        assert run(arguments) == 2
    said = capsys.readouterr()
    assert f"port {port} of 127.0.0.1 is in use" in said.err
    assert "http://" not in said.out


@pytest.mark.parametrize("host", ["192.0.2.7", "no-such-machine.invalid"])
def test_an_address_that_this_machine_does_not_have_is_told(
    host: str, samples: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """viser tries a thousand ports and then waits for ever."""
    assert run(["view", str(samples / "box" / "box.usda"), "--no-browser", "--host", host]) == 2
    assert f"cannot listen on {host}" in capsys.readouterr().err


def test_who_asks_for_all_addresses_is_reached_by_each_of_them() -> None:
    shown = open_page(simwright.load(SAMPLES / "box" / "box.usda"), host="0.0.0.0")
    try:
        address = urlsplit(shown.address)
        # a browser elsewhere cannot go to 0.0.0.0
        assert address.hostname == socket.gethostname().lower()
        for name in (f"192.0.2.7:{shown.port}", socket.gethostname(), "127.0.0.1", "[2001:db8::1]"):
            assert ask(shown, f"/?{address.query}", Host=name).status == 200, name
            assert ask(shown, "/", Host=name).status == 403, name
        # a name that leads here may be anybody's
        assert ask(shown, f"/?{address.query}", Host="elsewhere.example").status == 403
    finally:
        shown.close()
