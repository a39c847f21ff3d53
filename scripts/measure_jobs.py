# SPDX-License-Identifier: Apache-2.0
"""Measure jobs over many generated assets: local and Ray, kills in the middle, memory, and whether reports are equal.

    python scripts/measure_jobs.py check --size 1000 --folder /tmp/fleet            # local against a plain loop
    python scripts/measure_jobs.py check --size 1000 --executors local,ray --nodes 2 --kill worker,node,driver
    python scripts/measure_jobs.py convert --size 10000 --timeout 10                # 1 % broken, 0.1 % hanging

It prints one JSON object.  Assets that are there already are used again.  ``ray`` needs Ray in the environment of this
interpreter; ``--nodes 2`` makes a cluster of two nodes on this machine, which are stopped by their process ids.  To
keep it away from other work, give it namespaces of its own:

    unshare --net --pid --fork --mount-proc sh -c 'ip link set lo up; python scripts/measure_jobs.py ...'

``--kill`` names what gets ``kill -9`` while the job runs, spread over it: a worker process, an agent of Ray, the last
Ray node, and the driver, which is then started again with ``--resume``.

What is printed for each executor:

killed                  what was killed, after how many outcomes, and how many items were given out and not done then
repeated                items that were given to a worker more than once
repeated_without_loss   of these, the ones whose worker was not lost in between: has to be 0
driver_mib              the largest resident memory of the driver in each quarter of the run
reports                 the digest of each report, which ``equal`` compares, with its seconds and the memory it took
workers                 how many items each worker process, or agent of Ray, was given
failed                  why items failed, by the first finding of each
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
import sqlite3
import subprocess
import sys
import time
import zlib
from collections import Counter, deque
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
# readers refuse what never ends; this one doubles with every level, and xacro gives up after a minute
ENDLESS = """<robot name="endless" xmlns:xacro="http://www.ros.org/wiki/xacro"><link name="base"/>
<xacro:macro name="two" params="n p"><xacro:if value="${n > 0}">
<xacro:two n="${n - 1}" p="${p}0"/><xacro:two n="${n - 1}" p="${p}1"/></xacro:if>
<xacro:unless value="${n > 0}"><link name="l${p}"/><joint name="j${p}" type="fixed"><parent link="base"/>
<child link="l${p}"/></joint></xacro:unless></xacro:macro><xacro:two n="20" p="_"/></robot>"""
RULES = "units,axis-up-z,kind,assetinfo"


def make_boxes(folder: Path, size: int) -> None:
    """Small assets, a thousand in a folder; every tenth has another unit of length."""
    for n in range(size):
        file = folder / f"{n // 1000:03d}" / f"box_{n:06d}.usda"
        if not file.exists():
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(BOX.format(n=n, units=0.01 if n % 10 == 0 else 1, mass=1 + n % 7, size=1 + n % 5))


def make_arms(folder: Path, size: int) -> None:
    """Small robots; one in a hundred is broken, one in a thousand takes a minute, more than the time limit."""
    for n in range(size):
        file = folder / f"{n // 1000:03d}" / f"arm_{n:06d}.urdf"
        if os.path.lexists(file):
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        text = ARM.format(n=n, mass=1 + n % 7)
        if n % 1000 == 999:
            file.write_text(ENDLESS)
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
        # without it Ray lets no second node join on the loopback address
        "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "1",
        "RAY_worker_niceness": "0",
    }
    ray = str(Path(sys.executable).parent / "ray")
    common = [
        "--node-ip-address=127.0.0.1",
        "--num-cpus=1",
        "--object-store-memory=100000000",
        "--disable-usage-stats",
    ]
    head = subprocess.Popen(
        [ray, "start", "--head", "--port=6399", "--include-dashboard=false", "--block", *common],
        env=variables,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    started = [head]
    address = "127.0.0.1:6399"
    try:
        wait_for_nodes(address, variables, 1)
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
        wait_for_nodes(address, variables, nodes)
        yield address, variables, [process.pid for process in started]
    finally:
        for process in reversed(started):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(20)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def wait_for_nodes(address: str, variables: dict[str, str], count: int) -> None:
    """Wait until a cluster has so many nodes: what is measured with fewer of them says something else."""
    ask = (
        "import ray, sys; ray.init(address=sys.argv[1], log_to_driver=False, logging_level='ERROR'); "
        "print(sum(node['Alive'] for node in ray.nodes()))"
    )
    end = time.monotonic() + 180
    while time.monotonic() < end:
        done = subprocess.run(
            [sys.executable, "-c", ask, address], env=variables, check=False, capture_output=True, text=True
        )
        if done.returncode == 0 and int(done.stdout.split()[-1]) >= count:
            return
        time.sleep(2)
    raise SystemExit(f"the cluster has no {count} nodes: {done.stdout[-500:]} {done.stderr[-1500:]}")


def count_workers(job: Path) -> dict[str, int]:
    """How many items each worker process or agent was given."""
    tally: Counter[str] = Counter()
    with contextlib.closing(sqlite3.connect(job / "job.sqlite")) as base:
        for worker, numbers in base.execute("SELECT worker, numbers FROM chunks ORDER BY chunk"):
            tally[worker] += len(json.loads(numbers))
    return dict(tally)


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
                in_flight = count_handed(job) - done
                killed.append({"what": kind, "after": done, "in_flight": in_flight, "at": time.time()})
                kill(kind, process.pid, nodes)
        out, wrong = process.communicate()
        if process.returncode != -signal.SIGKILL:
            break
    if process.returncode not in (0, 1):
        raise SystemExit(f"{' '.join(arguments)}: {(wrong or out)[-2000:]}")
    quarters = [samples[at * len(samples) // 4 : (at + 1) * len(samples) // 4] for at in range(4)]
    return {
        "seconds": round(time.monotonic() - begun, 1),
        "code": process.returncode,
        "killed": killed,
        "driver_mib": [max(quarter, default=0) >> 20 for quarter in quarters],
        "told": out.splitlines()[0] if out else "",
    }


def kill(kind: str, driver: int, nodes: list[int]) -> None:
    """``kill -9`` the driver, one of its workers, or the last node with all its processes."""
    if kind == "driver":
        os.kill(driver, signal.SIGKILL)
    elif kind == "node":
        if len(nodes) < 2:
            raise SystemExit("--kill node needs a cluster of two nodes or more")
        if not is_alive(nodes[-1]):
            raise SystemExit("the last node is gone already")
        # all of it at once, as when a machine loses its power
        for pid in (nodes[-1], *list_below(nodes[-1])):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
    else:
        os.kill(find_worker(driver, kind), signal.SIGKILL)


def is_alive(pid: int) -> bool:
    """Is it there, and not only waiting to be forgotten?"""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def list_processes() -> tuple[dict[int, str], dict[int, int]]:
    """Command lines and parents of all processes, by their ids."""
    names, parents = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            name = (place / "cmdline").read_text()
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
        except (OSError, IndexError):
            continue
        names[int(place.name)] = name
    return names, parents


def list_below(pid: int) -> list[int]:
    """Processes that a process started, and those that they started."""
    _, parents = list_processes()
    found = [pid]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found[1:]


def find_worker(driver: int, kind: str) -> int:
    """An agent on a node of Ray, or a worker process: a child of the driver or of an agent."""
    names, parents = list_processes()
    agents = [pid for pid, name in names.items() if name.startswith("ray::ChunkAgent")]
    workers = [
        pid
        for pid, parent in parents.items()
        if parent in (driver, *agents) and "multiprocessing.spawn" in names[pid]
    ]
    found = agents if kind == "agent" else workers
    if not found:
        raise SystemExit(f"no {kind} to kill")
    return found[0]


_ENDING = ("asset-timeout", "asset-memory", "job-process-died")
"""Findings of items whose worker process ended."""


def count_handed(job: Path) -> int:
    """Different items that were given to a worker."""
    with contextlib.closing(sqlite3.connect(job / "job.sqlite")) as base:
        ask = "SELECT count(DISTINCT value) FROM chunks, json_each(numbers)"
        return int(base.execute(ask).fetchone()[0])


def count_unexplained(job: Path, kills: list[float]) -> int:
    """Items that were given out again although their worker was not lost since they were given out before.

    A worker is lost by one of the kills, or by an item of the same chunk that took too long or made it crash: what it
    had not begun goes to another.
    """
    last: dict[int, tuple[float, bool]] = {}
    wrong = set()
    with contextlib.closing(sqlite3.connect(job / "job.sqlite")) as base:
        ended = {
            number
            for number, tally in base.execute("SELECT number, tally FROM results WHERE status = 'failed'")
            if any(f"error {kind}" in json.loads(tally) for kind in _ENDING)
        }
        for at, numbers in base.execute("SELECT at, numbers FROM chunks ORDER BY chunk"):
            chunk = json.loads(numbers)
            for number in chunk:
                before, lost = last.get(number, (at, True))
                if not lost and not any(before <= kill <= at for kill in kills):
                    wrong.add(number)
                last[number] = (at, not ended.isdisjoint(chunk))
    return len(wrong)


def count_failed(job: Path) -> dict[str, int]:
    """Reasons of items that failed."""
    reasons: Counter[str] = Counter()
    with contextlib.closing(sqlite3.connect(job / "job.sqlite")) as base:
        for (packed,) in base.execute("SELECT outcome FROM results WHERE status = 'failed'"):
            found = json.loads(zlib.decompress(packed))["findings"]
            reasons[found[0]["kind"] if found else "no reason"] += 1
    return dict(sorted(reasons.items()))


def count_done(job: Path) -> int:
    """Outcomes in the store."""
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


def write_report(job: Path, shape: str) -> dict[str, Any]:
    """Write a report: its digest, and what it took."""
    out = job / f"report.{shape}"
    begun = time.monotonic()
    process = subprocess.Popen(
        [sys.executable, "-m", "simwright", "jobs", "report", str(job), "--format", shape, "-o", str(out)],
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 1):
        raise SystemExit(f"the report {shape} of {job} was not written: {process.returncode}")
    return {
        "sha256": hashlib.sha256(out.read_bytes()).hexdigest(),
        "bytes": out.stat().st_size,
        "seconds": round(time.monotonic() - begun, 1),
        "mib": usage.ru_maxrss >> 10,
    }


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
    parser.add_argument("--timeout", type=float, default=10.0)
    parser.add_argument("--kill", default="", help="worker, agent, node, driver; names with commas between")
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
            kills = [kind for kind in asked.kill.split(",") if kind]
            nodes: list[int] = []
            if executor == "ray":
                address, variables, nodes = stack.enter_context(make_cluster(asked.nodes))
                own = ["--executor", "ray", "--address", address, "--jobs", str(asked.nodes)]
            else:
                kills = [kind for kind in kills if kind not in ("agent", "node")]
            row = run([*command, *own], job, variables, asked.size, kills, nodes)
        row |= count_repeated(job)
        row["repeated_without_loss"] = count_unexplained(job, [one.pop("at") for one in row["killed"]])
        row["failed"] = count_failed(job)
        row["workers"] = count_workers(job)
        row["reports"] = {shape: write_report(job, shape) for shape in ("json", "junit", "html")}
        found[executor] = row
    rows = [row["reports"] for row in found.values() if isinstance(row, dict)]
    found["equal"] = all(
        reports[shape]["sha256"] == one["sha256"] for reports in rows for shape, one in rows[0].items()
    )
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
