"""Pages of reports in a real browser: the 3D view draws, turns, names links, lights them up, and fetches nothing."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.app.test_proof_page import make_proof
from tests.conftest import SAMPLES
from tests.view.test_browser import ARGUMENTS

import simwright
from simwright.app.cli.main import run
from simwright.app.proof.page import render_assets

pytestmark = pytest.mark.judge("browser")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A page of check with a link that is wrong, one of diff, one of prove."""
    folder = tmp_path_factory.mktemp("pages")
    broken = folder / "fourbar"
    shutil.copytree(SAMPLES / "fourbar", broken)
    layer = broken / "physics.usda"
    text = layer.read_text()
    assert "physics:mass = " in text
    first = text.index("physics:mass = ") + len("physics:mass = ")
    layer.write_text(text[:first] + "-" + text[first:])
    arm = SAMPLES / "arm" / "urdf" / "arm.urdf"
    heavy = SAMPLES / "arm" / "urdf" / "arm.urdf.xacro"
    made = {name: folder / f"{name}.html" for name in ("check", "diff", "prove")}
    warehouse = SAMPLES / "warehouse" / "warehouse.usda"
    run(
        [
            "check",
            str(broken / "fourbar.usda"),
            str(warehouse),
            "--format",
            "html",
            "--output",
            str(made["check"]),
        ]
    )
    run(["diff", str(arm), str(heavy), "--format", "html", "-o", str(made["diff"])])
    made["prove"].write_text(render_assets("arm.urdf", [make_proof()], [simwright.load(arm)]))
    return made


@pytest.fixture
def open_file(browser: Any) -> Iterator[Callable[..., Any]]:
    opened = []

    def start(path: Path, size: tuple[int, int] = (1280, 800), **more: Any) -> Any:
        page = browser.new_page(viewport={"width": size[0], "height": size[1]}, **more)
        opened.append(page)
        page.said, page.asked = [], []
        # a graphics driver in software says that screenshots keep it waiting
        page.on("console", lambda one: "GL Driver Message" in one.text or page.said.append(one.text))
        page.on("pageerror", lambda error: page.said.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.goto(path.as_uri())
        page.wait_for_timeout(500)
        return page

    yield start
    for page in opened:
        page.close()


def shoot(page: Any) -> np.ndarray:
    """Pixels of the first view."""
    return np.asarray(
        Image.open(io.BytesIO(page.locator(".stage").first.screenshot())).convert("RGB")
    ).astype(int)


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
@pytest.mark.parametrize("name", ["check", "diff", "prove"])
def test_a_view_draws_turns_and_fetches_nothing(name, size, pages, open_file):
    page = open_file(pages[name], size)
    page.wait_for_selector(".view3d.alive")
    page.wait_for_timeout(500)
    before = shoot(page)
    assert before.reshape(-1, 3).std(axis=0).max() > 12, "not blank"
    box = page.locator("canvas").first.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 120, y + 10, steps=4)
    page.mouse.up()
    page.mouse.move(box["x"] + 3, box["y"] + 3)
    page.wait_for_timeout(400)
    after = shoot(page)
    assert np.abs(before - after).max(axis=2).mean() > 2, "a drag turns it"
    page.mouse.dblclick(box["x"] + 3, box["y"] + 3)
    page.wait_for_timeout(400)
    assert np.abs(before - shoot(page)).max(axis=2).mean() < 1, "a double click brings it back"
    assert page.said == []
    assert page.asked == [pages[name].as_uri()], "nothing but the page itself is asked for"
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), "it fits the screen"


def test_a_link_under_the_pointer_is_named_and_a_wrong_one_is_red(pages, open_file):
    page = open_file(pages["check"])
    page.wait_for_selector(".view3d.alive")
    box = page.locator("canvas").first.bounding_box()
    names = set()
    for column in np.linspace(0.3, 0.7, 15):
        for row in np.linspace(0.2, 0.9, 12):
            page.mouse.move(box["x"] + column * box["width"], box["y"] + row * box["height"])
            page.wait_for_timeout(60)
            names.add(page.locator(".told").first.text_content())
    assert {"crank", "coupler", "rocker"} <= {name.split(":")[0] for name in names}
    assert "" in names, "beside the robot there is nothing"
    page.mouse.move(2, 2)
    page.wait_for_timeout(300)
    picture = shoot(page)
    red = (picture[..., 0] > 1.6 * picture[..., 1]) & (picture[..., 0] > 120)
    assert red.mean() > 0.002
    chip = page.locator(".view3d button").first
    chip.hover()
    page.wait_for_timeout(300)
    assert np.abs(shoot(page) - picture).max() > 20, "its name lights it up"


def test_the_wheel_scrolls_the_page_until_the_view_is_clicked(pages, open_file):
    page = open_file(pages["check"])
    page.wait_for_selector(".view3d.alive")
    box = page.locator("canvas").first.bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, 120)
    page.wait_for_timeout(300)
    assert page.evaluate("window.scrollY") > 0
    page.evaluate("window.scrollTo(0, 0)")
    before = shoot(page)
    page.mouse.click(box["x"] + 50, box["y"] + 50)
    page.mouse.wheel(0, 240)
    page.wait_for_timeout(400)
    assert page.evaluate("window.scrollY") == 0
    assert np.abs(before - shoot(page)).max(axis=2).mean() > 1


def test_without_scripts_a_picture_stands_there(pages, open_file):
    page = open_file(pages["check"], java_script_enabled=False)
    assert page.locator(".view3d img").first.is_visible()
    assert not page.locator("canvas").first.is_visible()
    assert shoot(page).reshape(-1, 3).std(axis=0).max() > 12
    assert page.said == []


def test_a_name_that_looks_like_a_script_does_nothing(tmp_path, open_file):
    from simwright.app.report.html import render
    from simwright.app.report.report import AssetReport, Report
    from simwright.app.report.view3d import LinkMark, make_view
    from simwright.model.asset import Asset, Body, Shape
    from simwright.model.geometry import Box

    name = "</script><script>window.hurt=1</script><img src=x onerror='window.hurt=1'>"
    asset = Asset(name, bodies=[Body(name)], shapes=[Shape("s", Box.of(1, 1, 1), name)])
    file = tmp_path / "page.html"
    file.write_text(
        render(Report([AssetReport(name, view=make_view(asset, {name: LinkMark("error", name)}))]))
    )
    page = open_file(file)
    page.wait_for_selector(".view3d.alive")
    box = page.locator("canvas").first.bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.wait_for_timeout(300)
    assert page.locator(".told").text_content().startswith("</script>")
    assert page.evaluate("window.hurt") is None
    assert page.said == []
    assert page.asked == [file.as_uri()]
