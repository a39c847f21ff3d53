# SPDX-License-Identifier: Apache-2.0
"""A real browser that opens pages: runs in the environment of ``make judge browser``, started by ``bench_view``.

It says first whether it draws with a GPU ("gpu") or without ("software").  Then it reads an address from every line of
its input, opens it, and prints the CPU seconds of all processes of the browser, and those of the clock, until something
is drawn on the page and has its full colours.  The browser itself is started before the first one.
"""

from __future__ import annotations

import io
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

ARGUMENTS = ["--no-sandbox", "--ignore-gpu-blocklist", "--enable-unsafe-swiftshader", "--no-first-run"]
SIZE = {"width": 1280, "height": 800}
DARK, SHARE = 200, 0.003
"""Something is drawn where more than this share of the pixels beside the panel is darker than an empty page is."""
PATIENCE = 300.0
RENDERER = """() => {
  const gl = document.createElement("canvas").getContext("webgl2");
  const info = gl && gl.getExtension("WEBGL_debug_renderer_info");
  return info ? gl.getParameter(info.UNMASKED_RENDERER_WEBGL) : "none";
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        print("software" if is_software(browser) else "gpu", flush=True)
        for line in sys.stdin:
            print(*measure(browser, line.strip()), flush=True)
        browser.close()


def is_software(browser: Any) -> bool:
    """Does the browser draw without a GPU?"""
    page = browser.new_page()
    name = str(page.evaluate(RENDERER)).lower()
    page.close()
    return any(word in name for word in ("swiftshader", "llvmpipe", "software", "none"))


def measure(browser: Any, address: str) -> tuple[float, float]:
    """CPU and clock seconds until a page shows something."""
    page = browser.new_page(viewport=SIZE)
    page.set_default_timeout(PATIENCE * 1000)
    before, start = read_cpu(os.getpid()), time.monotonic()
    page.goto(address)
    while not is_drawn(page) and time.monotonic() - start < PATIENCE:
        time.sleep(0.5)  # a look takes as long as a picture, and the page waits for it
    taken = read_cpu(os.getpid()) - before, time.monotonic() - start
    page.close()
    return taken


def read_cpu(process: int) -> float:
    """CPU seconds of a process and of all that it started, which are still there."""
    folder = Path("/proc") / str(process)
    try:
        # after the name, which may have blanks and is in parentheses: state, then ten others, then user and system
        fields = (folder / "stat").read_text().rpartition(")")[2].split()
        children = [int(word) for task in folder.glob("task/*/children") for word in task.read_text().split()]
    except OSError:
        return 0.0
    own = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return own + sum(read_cpu(child) for child in children)


def is_drawn(page: Any) -> bool:
    pixels = np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("L"))
    # not the notice at the top left, nor the panel
    return bool((pixels[200:, : SIZE["width"] * 7 // 10] < DARK).mean() > SHARE)


if __name__ == "__main__":
    main()
