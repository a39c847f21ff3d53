"""The page in a real browser: it loads, shows the robot, and moves the link that a slider names."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.conftest import SAMPLES

import simwright
from simwright.view.configuration import Configuration

pytestmark = pytest.mark.judge("browser")

ARGUMENTS = [
    "--no-sandbox", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--no-first-run",
]  # fmt: skip
SOURCES = [
    "arm/urdf/arm.urdf",
    "rover/model.sdf",
    "warehouse/warehouse.sdf",
    "quadruped/quadruped.xml",
    "lab/lab.yaml",
]
PATIENCE = 300.0


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        yield driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)


@pytest.fixture
def open_page(browser: Any) -> Iterator[Callable[..., Any]]:
    """Starts the command on a sample and opens its address; gives the page and what its console said."""
    with ExitStack() as stack:

        def start(*arguments: str) -> str:
            command = [sys.executable, "-m", "simwright", *arguments, "--no-browser"]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.terminate)
            assert process.stdout is not None
            # findings of the file come first
            return next(line.strip() for line in process.stdout if line.startswith("http://"))

        def open_one(*arguments: str, address: str = "", size: tuple[int, int] = (1280, 800)) -> Any:
            page = browser.new_page(viewport={"width": size[0], "height": size[1]})
            stack.callback(page.close)
            page.set_default_timeout(PATIENCE * 1000)
            page.said = []
            page.on("console", lambda message: page.said.append((message.type, message.text)))
            page.on("pageerror", lambda error: page.said.append(("error", str(error))))
            page.address = address or start(*arguments)
            page.goto(page.address)
            page.get_by_text("Save a picture").wait_for(state="attached", timeout=PATIENCE * 1000)
            return page

        yield open_one


def take(page: Any) -> np.ndarray:
    """What is drawn beside the panel of controls."""
    picture = np.asarray(Image.open(io.BytesIO(page.screenshot(timeout=PATIENCE * 1000))).convert("RGB"))
    return picture[150:, : picture.shape[1] * 7 // 10].astype(int)


def wait_until(happens: Callable[[], bool]) -> bool:
    """Software draws a few pictures a second, and fewer on a busy machine."""
    ends = time.monotonic() + PATIENCE
    while not happens():
        if time.monotonic() > ends:
            return False
        time.sleep(0.5)
    return True


def is_settled(page: Any) -> bool:
    """Is something drawn, and has it stopped changing?"""
    first = take(page)
    time.sleep(1.0)
    second = take(page)
    return bool(np.abs(second - first).mean() < 0.2 and (second < 200).mean() > 0.003)


def list_errors(page: Any) -> list[str]:
    return [text for kind, text in page.said if kind == "error"]


@pytest.mark.parametrize("source", SOURCES)
def test_the_page_loads_without_errors_and_is_not_blank(source: str, open_page: Callable[..., Any]) -> None:
    page = open_page("view", str(SAMPLES / source))
    assert wait_until(lambda: is_settled(page))
    assert list_errors(page) == []


RUNS = {
    "robot": ("run", str(SAMPLES / "quadruped/quadruped.xml"), "--keyframe", "home", "--ground", "--view"),
    "scene": ("run", str(SAMPLES / "playground/playground.yaml"), "--num-worlds", "4", "--view"),
    "world": ("world", "run", str(SAMPLES / "lab/lab.yaml"), "--view"),
    "task": (
        "task", "run", "tabletop_push", "--robot", "sample_arm", "--policy", "push", "--episodes", "1000", "--view",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", RUNS)
def test_what_runs_is_shown_while_it_goes_without_errors(what: str, open_page: Callable[..., Any]) -> None:
    # small: software draws every picture of what moves
    page = open_page(*RUNS[what], size=(640, 480))
    told = page.get_by_text(re.compile(r"^\d+\.\d{3} s"))
    told.first.wait_for(timeout=PATIENCE * 1000)
    before = told.first.inner_text()
    assert wait_until(lambda: told.first.inner_text() != before)
    assert wait_until(lambda: bool((take(page) < 200).mean() > 0.003))
    page.get_by_role("button", name="Pause").click()
    assert wait_until(lambda: page.get_by_text("paused").count() > 0)
    assert list_errors(page) == []


def test_two_files_are_compared_on_one_page(open_page: Callable[..., Any]) -> None:
    page = open_page("view", str(SAMPLES / "arm/urdf/arm.urdf"), str(SAMPLES / "rover/model.sdf"))
    assert wait_until(lambda: is_settled(page))
    assert page.get_by_text(re.compile(r"^Differences \(\d+\)")).count() == 1
    assert list_errors(page) == []


def test_a_recording_is_replayed(open_page: Callable[..., Any], tmp_path: Path) -> None:
    record = tmp_path / "run.npz"
    file = str(SAMPLES / "quadruped/quadruped.xml")
    subprocess.run(
        [sys.executable, "-m", "simwright", "run", file, "--frames", "500", "--record", str(record)],
        check=True, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    page = open_page("view", file, "--recording", str(record))
    told = page.get_by_text(re.compile(r" s of 1\.000 s")).first
    told.wait_for(timeout=PATIENCE * 1000)
    before = told.inner_text()
    assert wait_until(lambda: told.inner_text() != before)
    assert list_errors(page) == []


def fill(page: Any, joint: str, value: str) -> None:
    """Type a value beside the slider of a joint."""
    row = page.get_by_text(re.compile(f"^{joint} ")).first
    field = row.locator("xpath=ancestor::*[.//input][1]").locator("input[type=text]").first
    field.fill(value)
    field.press("Enter")


def test_a_slider_moves_the_link_that_it_names(open_page: Callable[..., Any]) -> None:
    page = open_page("view", str(SAMPLES / "arm/urdf/arm.urdf"))
    assert wait_until(lambda: is_settled(page))
    # what is selected is described with its pose
    page.get_by_role("button", name="forearm_link").click()
    place = page.locator("tr", has_text="position").first
    assert wait_until(lambda: bool(re.search(r"[-\d]", place.inner_text())))
    stands, before = place.inner_text(), take(page)
    fill(page, "joint_2", "1.2")
    assert wait_until(lambda: place.inner_text() != stands)
    assert wait_until(lambda: bool(np.abs(take(page) - before).mean() > 0.5))
    found = [float(word) for word in re.findall(r"-?[\d.]+(?:e-?\d+)?", place.inner_text().partition("]")[2])]
    configuration = Configuration(simwright.load(SAMPLES / "arm/urdf/arm.urdf"))
    configuration.move({"joint_2": 1.2})
    np.testing.assert_allclose(found, configuration.pose()["forearm_link"].p, atol=2e-3)
    assert list_errors(page) == []


def test_toggles_show_and_hide(open_page: Callable[..., Any]) -> None:
    page = open_page("view", str(SAMPLES / "arm/urdf/arm.urdf"))
    assert wait_until(lambda: is_settled(page))
    before = take(page)
    boxes = page.locator("input[type=checkbox]:visible")
    boxes.first.click()
    # without its looks only the floor is left
    assert wait_until(lambda: bool(np.abs(take(page) - before).mean() > 0.5))
    empty = take(page)
    for number in range(1, boxes.count() - 1):
        boxes.nth(number).click()
    assert wait_until(lambda: bool(np.abs(take(page) - empty).mean() > 0.5))
    assert list_errors(page) == []


def test_a_click_on_a_link_selects_it_in_the_tree(open_page: Callable[..., Any]) -> None:
    page = open_page("view", str(SAMPLES / "arm/urdf/arm.urdf"))
    assert wait_until(lambda: is_settled(page))
    # where something dark or coloured of the robot is, in the middle of the picture
    page.mouse.click(650, 430)
    chosen = page.get_by_role("button", name=re.compile("\u25b6"))
    assert wait_until(lambda: chosen.count() == 1)
    name = chosen.first.inner_text().removeprefix("\u25b6").strip()
    assert page.get_by_text("mass [kg]").count() == 1
    assert name.endswith("_link")
    # and the other way round
    page.get_by_role("button", name="base_link").click()
    assert wait_until(lambda: "base_link" in chosen.first.inner_text())


def test_two_pages_at_once_and_one_that_is_closed_ends_nothing(open_page: Callable[..., Any]) -> None:
    first = open_page(*RUNS["robot"])
    second = open_page(address=first.address)
    told = second.get_by_text(re.compile(r"^\d+\.\d{3} s")).first
    told.wait_for(timeout=PATIENCE * 1000)
    first.close()
    before = told.inner_text()
    assert wait_until(lambda: told.inner_text() != before)
    third = open_page(address=second.address)
    assert third.get_by_text("Speed").count() > 0


def test_a_stranger_gets_nothing(open_page: Callable[..., Any], browser: Any) -> None:
    page = open_page("view", str(SAMPLES / "box/box.usda"))
    address = page.address.partition("?")[0]
    with closing(browser.new_context()) as context:
        stranger = context.new_page()
        for path in ("", "?token=wrong", "assets/../../../etc/passwd", "box.usda"):
            answer = stranger.goto(address + path)
            assert answer.status == 403
            assert stranger.locator("canvas").count() == 0


@pytest.mark.parametrize("what", ["view", "robot", "world"])
def test_a_phone_shows_it_too(what: str, open_page: Callable[..., Any]) -> None:
    arguments = ("view", str(SAMPLES / "rover/model.sdf")) if what == "view" else RUNS[what]
    page = open_page(*arguments, size=(390, 844))
    assert wait_until(lambda: bool((take(page) < 200).mean() > 0.001))
    assert list_errors(page) == []
