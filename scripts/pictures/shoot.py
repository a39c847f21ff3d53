# SPDX-License-Identifier: Apache-2.0
"""Screenshots of live pages, for ``make_pictures.py``: runs in the environment of ``make judge browser``.

Reads one JSON object for each picture from its input: ``address``, ``target``, ``press`` (buttons, in order), ``fill``
(numbers by the label of their row) and ``wait`` [s] before the picture is taken.  Answers each with its target.
"""

from __future__ import annotations

import json
import shutil
import sys
from typing import Any

ARGUMENTS = ["--no-sandbox", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader", "--no-first-run"]
ARGUMENTS += ["--disable-background-networking", "--disable-component-update", "--disable-sync"]
SIZE = {"width": 1280, "height": 800}
PATIENCE = 300_000
"""A browser without a GPU takes a while [ms]."""
CLOSE_NOTICES = (
    """() => document.querySelectorAll('.mantine-Notification-closeButton').forEach(e => e.click())"""
)
"""viser tells people without a GPU about it, which readers of a page of documentation need not know."""


def main() -> None:
    """Take pictures until the input ends."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        for line in sys.stdin:
            asked = json.loads(line)
            shoot(browser, asked)
            print(asked["target"], flush=True)
        browser.close()


def shoot(browser: Any, asked: dict[str, Any]) -> None:
    """Open a page, do on it what is asked for, and keep what it shows."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(PATIENCE)
    page.goto(asked["address"])
    page.get_by_text("Save a picture").wait_for(state="attached")
    page.wait_for_timeout(8000)
    for label, value in asked["fill"].items():
        row = page.locator("div", has=page.get_by_text(label, exact=True)).last.locator("xpath=..")
        box = row.locator("input[type=text], input[inputmode]").last
        box.fill(str(value))
        box.press("Enter")
    for name in asked["press"]:
        page.get_by_role("button", name=name, exact=True).first.click()
    # clicking scrolls the panel: back to its beginning
    page.evaluate("() => document.querySelectorAll('*').forEach(e => { if (e.scrollTop) e.scrollTop = 0; })")
    page.wait_for_timeout(1000 * asked["wait"])
    page.evaluate(CLOSE_NOTICES)
    page.wait_for_timeout(1500)
    page.screenshot(path=asked["target"])
    page.close()


if __name__ == "__main__":
    main()
