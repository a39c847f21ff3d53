# SPDX-License-Identifier: Apache-2.0
"""One conversion of OpenUSD to .glb in a process of its own, ours or the peer's: CPU seconds as JSON.

Runs in the peer's environment as well, so it imports nothing of Simwright unless it is asked to.  A small file is
converted first: imports and plugins are not what is compared.
"""

from __future__ import annotations

import contextlib
import gc
import io
import json
import logging
import sys
import tempfile
import time
from collections.abc import Callable

Convert = Callable[[str, str], object]


def main(side: str, warm: str, source: str) -> None:
    """Warm up, convert once, tell."""
    logging.disable(logging.CRITICAL)
    convert = _find_ours() if side == "ours" else _find_peer()
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        convert(warm, f"{folder}/warm.glb")
        gc.collect()
        started = time.process_time()
        convert(source, f"{folder}/result.glb")
        seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds}))


def _find_ours() -> Convert:
    from simwright.app.api import convert

    return convert


def _find_peer() -> Convert:
    from usd2gltf.converter import Converter

    def convert(source: str, target: str) -> None:
        converter = Converter()
        converter.process(converter.load_usd(source), target)

    return convert


if __name__ == "__main__":
    main(*sys.argv[1:])
