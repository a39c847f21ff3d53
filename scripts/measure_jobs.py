# SPDX-License-Identifier: Apache-2.0
"""Measure jobs over many generated assets: local and Ray, kills in the middle, memory, and whether reports are equal.

    python scripts/measure_jobs.py check --size 1000 --folder /tmp/fleet            # local against a plain loop
    python scripts/measure_jobs.py check --size 1000 --executors local,ray --nodes 2 --kill worker,node,driver
    python scripts/measure_jobs.py convert --size 10000 --timeout 20                # 1 % broken, 0.1 % hanging

It prints one JSON object.  Assets that are there already are used again.  ``ray`` needs Ray in the environment of this
interpreter; ``--nodes 2`` makes a cluster of two nodes on this machine, which are stopped by their process ids.  To
keep it away from other work, give it namespaces of its own:

    unshare --net --pid --fork --mount-proc sh -c 'ip link set lo up; python scripts/measure_jobs.py ...'

``--kill`` names what gets ``kill -9`` while the job runs, spread over it: a worker process, the last Ray node, and the
driver, which is then started again with ``--resume``.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BOX = """#usda 1.0
(
    defaultPrim = "box_{n}"
    metersPerUnit = {units}
    upAxis = "Z"
    kilogramsPerUnit = 1
    timeCodesPerSecond = 1
)

def Xform "box_{n}" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
)
{{
    float physics:mass = {mass}
    def Cube "geometry"
    {{
        double size = {size}
    }}
}}
"""
ARM = """<robot name="arm_{n}"><link name="base"/><link name="tip"><inertial><mass value="{mass}"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
RULES = "units,axis-up-z,kind,assetinfo"


def make_boxes(folder: Path, size: int) -> None:
    """Small assets, a thousand in a folder; every tenth has another unit of length."""
    for n in range(size):
        file = folder / f"{n // 1000:03d}" / f"box_{n:06d}.usda"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(BOX.format(n=n, units=0.01 if n % 10 == 0 else 1, mass=1 + n % 7, size=1 + n % 5))


def make_arms(folder: Path, size: int) -> None:
    """Small robots; one in a hundred is broken, one in a thousand takes a reader hours."""
    for n in range(size):
        file = folder / f"{n // 1000:03d}" / f"arm_{n:06d}.urdf"
        if os.path.lexists(file):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        text = ARM.format(n=n, mass=1 + n % 7)
        if n % 1000 == 999:
            # readers refuse what never ends; this one is only far too long for the time it gets
            links = "".join(
                f"<link name='l{i}'/><joint name='j{i}' type='fixed'><parent link='l{i}'/>"
                f"<child link='l{i + 1}'/></joint>"
                for i in range(20_000)
            )
            file.write_text(f"<robot name='long'>{links}<link name='l20000'/></robot>")
        elif n % 100 == 50:
            file.write_text(text[: len(text) // 2])
        else:
            file.write_text(text)


@contextlib.contextmanager
def make_cluster(nodes: int) -> Iterator[tuple[str, dict[str, str], list[int]]]:
    """A cluster of nodes on this machine; gives its address, the environment to ask it, and ids of raylets."""
    token = secrets.token_hex(32)
    variables = {
        **os.environ,
        "RAY_AUTH_MODE": "token",
        "RAY_AUTH_TOKEN": token,
        "RAY_USAGE_STATS_ENABLED": "0",
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
        "RAY_worker_niceness": "0",
    }
    ray = str(Path(sys.executable).parent / "ray")
    common = ["--num-cpus=1", "--object-store-memory=100000000", "--disable-usage-stats"]
    head = subprocess.Popen(
        [ray, "start", "--head", "--port=6399", "--include-dashboard=false", "--block", *common],
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    started = [head]
    address = "127.0.0.1:6399"
    time.sleep(25)
    started += [
        subprocess.Popen(
            [ray, "start", f"--address={address}", "--block", *common],
            env=variables,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        for _ in range(nodes - 1)
    ]
    time.sleep(20)
    try:
        yield address, variables, [process.pid for process in started]
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def run(
    command: list[str], job: Path, variables: dict[str, str], size: int, kills: list[str], nodes: list[int]
) -> dict[str, Any]:
    """A job as a process, with the largest memory of its driver; ``kills`` are done one after the other."""
    arguments = [sys.executable, "-m", "simwright", *command, "--job", str(job)]
    begun = time.monotonic()
    waiting, samples = deque(kills), []
    killed: list[dict[str, Any]] = []
    while True:
        resume = ["--resume"] if (job / "job.sqlite").exists() else []
        process = subprocess.Popen(
            [*arguments, *resume], env=variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        while process.poll() is None:
            time.sleep(1)
            samples.append(read_memory(process.pid))
            done = count_done(job)
            if waiting and done >= size * (len(killed) + 1) // (len(kills) + 1):
                kind = waiting.popleft()
                kill(kind, process.pid, nodes)
                killed.append({"what": kind, "after": done})
        out, wrong = process.communicate()
        if process.returncode != -signal.SIGKILL:
            break
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)}: {wrong[-2000:]}")
    middle = samples[len(samples) // 4 : len(samples) // 2] or samples
    return {
        "seconds": round(time.monotonic() - begun, 1),
        "code": process.returncode,
        "killed": killed,
        "driver_mib": max(samples, default=0) >> 20,
        "driver_mib_second_quarter": max(middle, default=0) >> 20,
        "told": out.splitlines()[0] if out else "",
    }


def kill(kind: str, driver: int, nodes: list[int]) -> None:
    """``kill -9`` the driver, one of its workers, or the last node with all its processes."""
    if kind == "driver":
        os.kill(driver, signal.SIGKILL)
    elif kind == "node":
        if len(nodes) < 2:
            raise SystemExit("--kill node needs a cluster of two nodes or more")
        os.killpg(nodes[-1], signal.SIGKILL)
    else:
        os.kill(find_worker(driver), signal.SIGKILL)


def find_worker(driver: int) -> int:
    """A process that works for a driver: a child, or an agent on a node of Ray."""
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name = (place / "cmdline").read_text()
            parent = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        if name.startswith("ray::ChunkAgent") or (parent == driver and "multiprocessing.spawn" in name):
            return int(place.name)
    raise SystemExit("no worker to kill")


def count_done(job: Path) -> int:
    """Outcomes in the store."""
    import sqlite3

    if not (job / "job.sqlite").exists():
        return 0
    with contextlib.closing(sqlite3.connect(job / "job.sqlite")) as base:
        try:
            return int(base.execute("SELECT count(*) FROM results").fetchone()[0])
        except sqlite3.Error:
            return 0


def read_memory(pid: int) -> int:
    """Resident memory of a process [bytes]."""
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def digest(job: Path, shape: str) -> str:
    """A digest of a report."""
    out = job / f"report.{shape}"
    subprocess.run(
        [sys.executable, "-m", "simwright", "jobs", "report", str(job), "--format", shape, "-o", str(out)],
        check=False,
        stderr=subprocess.DEVNULL,
    )
    return hashlib.sha256(out.read_bytes()).hexdigest()


def count_repeated(job: Path) -> dict[str, int]:
    """Items that went out more than once."""
    told = subprocess.run(
        [sys.executable, "-m", "simwright", "jobs", "show", str(job), "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
    )
    plain = json.loads(told.stdout)
    return {"repeated": plain["repeated"], "done": plain["done"], "items": plain["items"]}


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=("check", "convert", "evaluate"))
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/simwright-fleet"))
    parser.add_argument("--executors", default="local")
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=30.0)
    parser.add_argument("--kill", default="", help="worker, node, driver; names with commas between")
    asked = parser.parse_args()
    inputs = asked.folder / f"{asked.what}-{asked.size}"
    if asked.what == "check":
        make_boxes(inputs, asked.size)
        command = ["check", str(inputs), "--select", RULES, "--no-cache"]
    elif asked.what == "convert":
        make_arms(inputs, asked.size)
        command = ["convert", str(inputs), str(asked.folder / "out"), "--to", "mjcf", "--no-check"]
        command[1] = f"{inputs}/**/*.urdf"
        command += ["--timeout", str(asked.timeout)]
    else:
        command = ["task", "run", "reach", "--robot", "sample_arm", "--policy", "reach", "--seed", "1"]
        command += ["--episodes", str(asked.size)]
    found: dict[str, Any] = {"what": asked.what, "size": asked.size}
    for executor in asked.executors.split(","):
        job = asked.folder / f"job-{asked.what}-{asked.size}-{executor}"
        shutil.rmtree(job, ignore_errors=True)
        with contextlib.ExitStack() as stack:
            variables, own = dict(os.environ), ["--jobs", str(asked.jobs)]
            kills, nodes = [kind for kind in asked.kill.split(",") if kind], []
            if executor == "ray":
                address, variables, nodes = stack.enter_context(make_cluster(asked.nodes))
                own = ["--executor", "ray", "--address", address, "--jobs", str(asked.nodes)]
            else:
                kills = [kind for kind in kills if kind != "node"]
            row = run([*command, *own], job, variables, asked.size, kills, nodes)
        row |= count_repeated(job)
        row["reports"] = {shape: digest(job, shape) for shape in ("json", "junit", "html")}
        found[executor] = row
    rows = [row for row in found.values() if isinstance(row, dict)]
    found["equal"] = all(row["reports"] == rows[0]["reports"] for row in rows)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
