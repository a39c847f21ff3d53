"""A process that runs cases: numbers come in, one line of JSON per case goes out.

Started by ``campaign.py``, so that a crash in native code or a hang costs one worker and names the case.  A case that
takes too much processor time ends the process by a signal, also in native code; time that others take does not count.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from .case import run_case, run_command
from .commands import COMMANDS
from .seeds import find_main

MEMORY = 4 << 30
"""Most address space a worker may have beyond what it starts with [bytes]."""
PATIENCE = 30.0
"""Processor time after which a case is given up [s]."""
KEPT_EVERY = 100
"""Cases between two looks at what the process keeps."""


def main() -> None:
    seeds, work = Path(sys.argv[1]), Path(sys.argv[2])
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    warnings.simplefilter("ignore")
    _prepare(work.parent)
    _warm_up(seeds, work, everything="--all" in sys.argv)
    pages = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (pages + MEMORY, pages + MEMORY))
    print("ready", file=answers, flush=True)
    for count, line in enumerate(sys.stdin, 1):
        before = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, PATIENCE)
        result = run_case(int(line), seeds, work)
        signal.setitimer(signal.ITIMER_PROF, 0.0)
        result["seconds"] = time.process_time() - before
        result["memory"] = _measure_memory()
        if count % KEPT_EVERY == 0:
            result["kept"] = _measure_kept()
        print(json.dumps(result), file=answers, flush=True)


def _prepare(folder: Path) -> None:
    """Folders that commands use of their own accord: they are the worker's, and live as long."""
    os.environ["SIMWRIGHT_DEBUG"] = (
        "1"  # the traceback of an internal error belongs into the report of a case
    )
    for variable, name in (
        ("HOME", "home"),
        ("XDG_CACHE_HOME", "cache"),
        ("SIMWRIGHT_FUZZ_SCRATCH", "scratch"),
    ):
        (folder / name).mkdir(exist_ok=True)
        os.environ[variable] = str(folder / name)
    for variable in ("AMENT_PREFIX_PATH", "ROS_PACKAGE_PATH", "GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH"):
        os.environ.pop(variable, None)
    tempfile.tempdir = str(folder / "scratch")


def _warm_up(seeds: Path, work: Path, *, everything: bool) -> None:
    """Import everything before the clock runs: each command once, with a seed as it is; or with all of them."""
    (work / "out").mkdir(parents=True, exist_ok=True)
    seen: set[str] = set()
    for kind, rows in COMMANDS.items():
        main = find_main(seeds / kind)
        for number, (_, text) in enumerate(rows):
            if "--in-place" in text or "--stamp" in text:
                continue  # seeds stay as they are
            if number and text in seen and not everything:
                continue
            seen.add(text)
            out = work / "out" / f"{kind}{number}"
            places = {"main": main, "seed": main, "in": main.parent, "out": out}
            arguments = [word.format(**places) for word in text.split()]
            code, said = run_command(arguments, work)
            if code not in (0, 1):
                sys.stderr.write(f"{kind}: {' '.join(arguments)} ends with {code}: {said[-2000:]}\n")


def _measure_memory() -> int:
    """Memory in use [bytes]."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def _measure_kept() -> int:
    """Memory that something still refers to [bytes]: without garbage, and without what malloc holds ready.

    How much malloc holds depends on threads, cores and the order of sizes, and files that are mapped come and go
    with what else the machine does; neither tells of a leak.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
    rows = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return sum(int(rows[name].split()[0]) * 1024 for name in ("RssAnon", "VmSwap"))


if __name__ == "__main__":
    main()
