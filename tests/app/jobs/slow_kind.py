"""A job for tests: it notes every time it works on an asset, slowly enough to be killed in between."""

from __future__ import annotations

import os
import time
from pathlib import Path

from simwright.app.jobs.model import ItemOutcome, JobKind


def work(options):
    with Path(options["log"]).open("a") as stream:
        stream.write(f"{options['asset']}\n")
    name = Path(options["asset"]).name
    if name == "kill" or (name == "kill-once" and Path(options["log"]).read_text().count("kill-once") == 1):
        os.kill(os.getpid(), 9)
    time.sleep(options.get("pause", 0.0))
    return ItemOutcome("done", 0, [], {"word": options["word"]})


SLOW = JobKind(work)
