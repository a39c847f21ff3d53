"""The page in a real browser: it loads, shows the robot, and moves the link that a slider names."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from PIL import Image
from tests.conftest import SAMPLES

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
PATIENCE = 120.0


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
            command = [sys.executable, "-m", "simwright", "view", *arguments, "--no-browser"]
            process = stack.enter_context(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
            stack.callback(process.terminate)
            assert process.stdout is not None
            # findings of the file come first
            return next(line.strip() for line in process.stdout if line.startswith("http://"))

        def open_one(*arguments: str, address: str = "", size: tuple[int, int] = (1280, 800)) -> Any:
            page = browser.new_page(viewport={"width": size[0], "height": size[1]})
            stack.callback(page.close)
            page.said = []
            page.on("console", lambda message: page.said.append((message.type, message.text)))
            page.on("pageerror", lambda error: page.said.append(("error", str(error))))
            page.address = address or start(*arguments)
            page.goto(page.address)
            page.get_by_text("Link frames").wait_for(timeout=PATIENCE * 1000)
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


@pytest.mark.parametrize("source", SOURCES)
def test_the_page_loads_without_errors_and_is_not_blank(source: str, open_page: Callable[..., Any]) -> None:
    page = open_page(str(SAMPLES / source))
    assert wait_until(lambda: is_settled(page))
    assert [text for kind, text in page.said if kind == "error"] == []


def test_a_slider_moves_the_robot_and_toggles_show_and_hide(open_page: Callable[..., Any]) -> None:
    page = open_page(str(SAMPLES / "arm/urdf/arm.urdf"))
    assert wait_until(lambda: is_settled(page))
    before = take(page)
    box = page.get_by_label(re.compile("joint_2")).first
    field = box if box.count() else page.locator("input[type=text]").nth(1)
    field.fill("1.2")
    field.press("Enter")
    assert wait_until(lambda: bool(np.abs(take(page) - before).mean() > 0.5))
    moved = take(page)
    page.locator("input[type=checkbox]:visible").first.click()
    # without its looks only the grid is left
    assert wait_until(lambda: bool(np.abs(take(page) - moved).mean() > 0.5))


def test_two_pages_at_once_and_one_that_is_closed_ends_nothing(open_page: Callable[..., Any]) -> None:
    first = open_page(str(SAMPLES / "arm/urdf/arm.urdf"))
    second = open_page(address=first.address)
    assert wait_until(lambda: is_settled(second))
    first.close()
    assert wait_until(lambda: is_settled(second))


def test_a_phone_shows_it_too(open_page: Callable[..., Any]) -> None:
    page = open_page(str(SAMPLES / "rover/model.sdf"), size=(390, 844))
    assert page.get_by_text("Link frames").is_visible()
