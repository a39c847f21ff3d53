"""A process that runs cases: numbers come in, one line of JSON per case goes out.

Started by ``campaign.py``, so that a crash in native code or a hang costs one worker and names the case.
"""

from __future__ import annotations

import json
import os
import resource
import sys
import time
import warnings
from pathlib import Path

from case import run_case

MEMORY = 4 << 30
"""Most address space a worker may have beyond what it starts with [bytes]."""


def main() -> None:
    seeds, work = Path(sys.argv[1]), Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    _warm_up(seeds, work)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, pages + MEMORY))
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        before = time.process_time()
        result = run_case(int(line), seeds, work)
        result["seconds"] = time.process_time() - before
        print(json.dumps(result), file=answers, flush=True)


def _warm_up(seeds: Path, work: Path) -> None:
    """Import everything before the clock runs: every seed as it is, converted."""
    import simwright

    for folder in sorted(seeds.iterdir()):
        source = next(path for path in folder.iterdir() if path.stem == "main")
        simwright.convert(source, work / "warm" / folder.name)


if __name__ == "__main__":
    main()
