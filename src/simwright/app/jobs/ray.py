# SPDX-License-Identifier: Apache-2.0
"""The executor for a Ray cluster: an existing one by its address, or one of this machine for the time of the job.

Ray carries chunks of items to actors and outcomes back; nothing else.  An actor is an agent with one worker process of
its own (:class:`simwright.core.pool.WorkerPool`), so that limits, retries and crashes are what they are on one machine,
and a library that crashes takes no part of the cluster with it.  A chunk is worth a second or more.  An agent that is
lost, with its machine or alone, costs the chunk it was at, which goes to another one.

Clusters are asked for a token (``RAY_AUTH_MODE=token``, Ray 2.52 and later).  For an existing one it is taken from
where Ray looks for it: ``RAY_AUTH_TOKEN``, ``RAY_AUTH_TOKEN_PATH`` or ``~/.ray/auth_token``; that of a temporary one is
made for it.  A temporary cluster listens on the loopback address only, has no dashboard, and reports nothing.

Machines that do not see our paths are sent an item with every file it needs: an OpenUSD asset goes with what its layers
name (:mod:`simwright.usd.collect`); one of another format with all files below its root folder.  The agent gets a
private folder; in what it says about the asset, paths are ours again.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import os
import secrets
import sys
import threading
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simwright import __version__
from simwright.app.jobs.model import (
    ItemOutcome,
    JobItem,
    JobSpec,
    do_item,
    fail,
    hold_environment,
    lose_item,
)
from simwright.core.diag import Diagnostic, Reporter, Where, diagnostic_from_error
from simwright.core.errors import LimitError, MissingExtraError, SimwrightError, UsageError
from simwright.core.files import resolve_inside, write_atomic
from simwright.core.gate import find_root
from simwright.core.packages import find_packages
from simwright.core.pool import Loss, WorkerPool
from simwright.core.scratch import scratch_folder

CHUNK_SECONDS = 2.0
"""How much work goes to an agent at once [s]: a call costs some milliseconds."""
LARGEST_CHUNK = 1000
STORE_BYTES = 100 << 20
"""Shared memory of a temporary cluster; chunks and outcomes are small."""
MOST_LOSSES = 3
"""An item whose agent is lost so often is given up: machines do not die that often by chance."""
_LOCAL = {"RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_worker_niceness": "0"}
"""For a cluster of our own: the loopback address (Ray 2.60 else takes that of the network, whatever it is told), and
workers with the priority of this process."""
_PATIENCE = 120.0
"""How long no agent at all may come up [s]."""


@dataclass(frozen=True, slots=True)
class RayExecutor:
    """A cluster.  ``address`` names it, None starts one here; ``jobs`` is the number of agents, else one per CPU.

    ``ship`` sends assets with the files they depend on (:func:`pack_item`); else agents see the same
    paths as this process.
    """

    jobs: int | None = None
    address: str | None = None
    ship: bool = False

    def run(
        self,
        spec: JobSpec,
        items: Iterable[JobItem],
        keep: Callable[[JobItem, ItemOutcome], None],
        handed: Callable[[str, Sequence[JobItem]], None],
    ) -> None:
        """See :class:`~simwright.app.jobs.running.JobExecutor`."""
        # before Ray is imported: its library looks at the environment once
        own = self.address is None
        with keep_output(), _authenticated(own=own), _connect(self.address, self.jobs) as ray:
            pool = _AgentPool(ray, spec, self._count_agents(ray), self.ship, handed)
            try:
                for item, outcome in pool.run(iter(items)):
                    keep(item, outcome)
            except ray.exceptions.RayTaskError as error:
                # what was raised there, as if it were raised here
                raise (error.cause or error) from None
            finally:
                pool.close()

    def _count_agents(self, ray: Any) -> int:
        return self.jobs or max(int(ray.cluster_resources().get("CPU", 1)), 1)


class ChunkAgent:
    """A Ray actor: takes chunks of items and gives each item to its one worker process."""

    def __init__(self, spec: JobSpec, version: str) -> None:
        if version != __version__:
            raise UsageError(
                f"this machine has Simwright {version}, one of the cluster {__version__}",
                hint="install the same version on all of them",
            )
        # the worker process would run the main module of Ray's process first, which it needs nothing of
        main = sys.modules.get("__main__")
        if main is not None and getattr(main, "__file__", None):
            del main.__file__
        self._spec = spec
        self._held = contextlib.ExitStack()
        self._held.enter_context(hold_environment(spec))
        self._pool: WorkerPool[JobItem, ItemOutcome] = WorkerPool(
            functools.partial(do_item, spec), spec.find_limits, retries=spec.retries
        )

    def name(self) -> str:
        """Machine and process, for the store; that it answers shows that the agent is ready."""
        return f"{os.uname().nodename} process {os.getpid()}"

    def do(self, chunk: Sequence[JobItem], files: Sequence[Any] | None) -> list[tuple[int, ItemOutcome]]:
        """Do the items of a chunk, ``files`` with it where assets are shipped: number and outcome of each."""
        if files is not None:
            with unpacked(chunk, files) as (placed, restore):
                return [(number, restore(number, outcome)) for number, outcome in self._do(placed)]
        return self._do(chunk)

    def _do(self, chunk: Sequence[JobItem]) -> list[tuple[int, ItemOutcome]]:
        found = []
        for item, outcome, loss in self._pool.run(chunk, 1):
            found.append((item.number, outcome if loss is None else lose_item(self._spec, item, loss)))
        return found


@dataclass(slots=True)
class _Agent:
    handle: Any
    name: str = ""
    chunk: list[JobItem] = field(default_factory=list)


class _AgentPool:
    """The agents of one job, seen from the process that started it: gives them chunks and takes their outcomes."""

    def __init__(
        self,
        ray: Any,
        spec: JobSpec,
        most: int,
        ship: bool,
        handed: Callable[[str, Sequence[JobItem]], None],
    ) -> None:
        self._ray, self._spec, self._most, self._ship, self._handed = ray, spec, most, ship, handed
        # no restarts and no retries of Ray's own: a chunk that is lost is ours to give to somebody else
        self._kind = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(ChunkAgent)
        self._waiting: dict[Any, _Agent] = {}
        """What we wait for, by the reference that Ray gave us."""
        self._idle: list[_Agent] = []
        self._again: deque[JobItem] = deque()
        self._losses: Counter[int] = Counter()
        self._seconds = 0.0

    def run(self, items: Iterator[JobItem]) -> Iterator[tuple[JobItem, ItemOutcome]]:
        """Each item with its outcome, as they come."""
        for _ in range(self._most):
            self._start()
        while self._hand_out(items):
            done, _ = self._ray.wait(list(self._waiting), num_returns=1, timeout=_PATIENCE)
            if not done and not self._is_busy():
                raise UsageError(
                    f"the cluster had no room for an agent within {_PATIENCE:g} s",
                    hint="look at its CPUs with: ray status",
                )
            for reference in done:
                yield from self._hear(reference)

    def _hand_out(self, items: Iterator[JobItem]) -> bool:
        """Give every idle agent a chunk; False when all is done."""
        while self._idle:
            # what was lost with an agent goes one by one, so that it costs no others if it is lost again
            chunk = [self._again.popleft()] if self._again else []
            chunk = chunk or list(itertools.islice(items, self._choose_size()))
            if not chunk:
                return self._is_busy()
            self._give(self._idle.pop(), chunk)
        return True

    def _is_busy(self) -> bool:
        return any(agent.chunk for agent in self._waiting.values())

    def _hear(self, reference: Any) -> Iterator[tuple[JobItem, ItemOutcome]]:
        """Take the answer of a reference: the name of a new agent, outcomes of a chunk, or that the agent is lost."""
        agent = self._waiting.pop(reference)
        try:
            answer = self._ray.get(reference)
        except (self._ray.exceptions.RayActorError, self._ray.exceptions.ObjectLostError) as error:
            yield from self._lose(agent, error)
            return
        if isinstance(answer, str):
            agent.name = answer
        else:
            yield from self._receive(agent, answer)
        self._idle.append(agent)

    def close(self) -> None:
        """End the agents, and with them what they are at."""
        for agent in (*self._waiting.values(), *self._idle):
            with contextlib.suppress(Exception):  # the cluster may be gone
                self._ray.kill(agent.handle)
        self._waiting.clear()

    def _start(self) -> None:
        handle = self._kind.remote(self._spec, __version__)
        # nothing is given to an agent before it has answered: a cluster without room would keep it waiting
        self._waiting[handle.name.remote()] = _Agent(handle)

    def _give(self, agent: _Agent, chunk: list[JobItem]) -> None:
        files = None
        if self._ship:
            files = [pack_item(self._spec, item) for item in chunk]
        agent.chunk = chunk
        self._handed(agent.name, chunk)
        self._waiting[agent.handle.do.remote(chunk, files)] = agent

    def _receive(
        self, agent: _Agent, answer: list[tuple[int, ItemOutcome]]
    ) -> Iterator[tuple[JobItem, ItemOutcome]]:
        by_number = {item.number: item for item in agent.chunk}
        agent.chunk = []
        for number, outcome in answer:
            if self._ship:
                deliver(by_number[number], outcome)
            taken = outcome.seconds
            self._seconds = taken if not self._seconds else 0.95 * self._seconds + 0.05 * taken
            yield by_number[number], outcome

    def _lose(self, agent: _Agent, error: Exception) -> Iterator[tuple[JobItem, ItemOutcome]]:
        """An agent is gone: its chunk goes out again, one by one, and another agent takes its place."""
        if not agent.name:
            # it never came up: a wrong version, or a machine that has no Simwright
            cause = getattr(error, "cause", None)
            raise (
                cause
                if isinstance(cause, UsageError)
                else UsageError(
                    f"an agent could not be started on the cluster: {error}",
                    hint="install Simwright with the extra ray on every machine of it",
                )
            )
        for item in agent.chunk:
            self._losses[item.number] += 1
            if self._losses[item.number] >= MOST_LOSSES:
                yield item, lose_item(self._spec, item, Loss.DIED)
            else:
                self._again.append(item)
        self._start()

    def _choose_size(self) -> int:
        if not self._seconds:
            return 1
        return min(max(int(CHUNK_SECONDS / self._seconds), 1), LARGEST_CHUNK)


class _OwnOutput:
    """Standard output for the thread that made it; what other threads write goes to standard error."""

    def __init__(self) -> None:
        self._thread, self._out = threading.get_ident(), sys.stdout

    def __getattr__(self, name: str) -> Any:
        own = threading.get_ident() == self._thread
        return getattr(self._out if own else sys.stderr, name)


@contextlib.contextmanager
def keep_output() -> Iterator[None]:
    """Keep Ray off standard output, where reports go: a thread of it prints there when a machine is lost."""
    before = sys.stdout
    sys.stdout = _OwnOutput()
    try:
        yield
    finally:
        sys.stdout = before


@contextlib.contextmanager
def _connect(address: str | None, jobs: int | None) -> Iterator[Any]:
    """Ray, connected to a cluster; one of our own ends with it."""
    try:
        import ray
    except ImportError:
        raise MissingExtraError("ray", "ray", "the executor 'ray'") from None
    if ray.is_initialized():
        # somebody in this process is connected already, as in a notebook: it is theirs to end
        yield ray
        return
    quiet = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR"}
    if address is not None:
        try:
            ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError, ray.exceptions.RayError) as error:
            raise UsageError(
                f"the Ray cluster at {address!r} does not let us in: {' '.join(str(error).split())[:300]}",
                hint="check the address, and the token in RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH",
            ) from None
    else:
        from simwright.app.jobs.running import count_cores

        ray.init(
            # without it Ray connects to any cluster that it finds on this machine, even one that has ended
            address="local",
            num_cpus=jobs or count_cores(),
            num_gpus=0,
            include_dashboard=False,
            object_store_memory=STORE_BYTES,
            _node_ip_address="127.0.0.1",
            **quiet,
        )
    try:
        yield ray
    finally:
        # processes of a temporary cluster are ended by their ids, which Ray keeps
        ray.shutdown()


@contextlib.contextmanager
def _authenticated(*, own: bool) -> Iterator[None]:
    """The environment in which Ray asks for a token."""
    names = ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_USAGE_STATS_ENABLED", *_LOCAL)
    before = {name: os.environ.get(name) for name in names}
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    if own:
        os.environ["RAY_AUTH_MODE"] = "token"
        os.environ["RAY_AUTH_TOKEN"] = secrets.token_hex(32)
        os.environ.update(_LOCAL)
    elif os.environ.setdefault("RAY_AUTH_MODE", "token") == "token" and not _has_token():
        os.environ.pop("RAY_AUTH_MODE")
        raise UsageError(
            "a Ray cluster is asked with a token, and there is none",
            hint="set RAY_AUTH_TOKEN or RAY_AUTH_TOKEN_PATH; RAY_AUTH_MODE=disabled for a cluster without",
        )
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _has_token() -> bool:
    if os.environ.get("RAY_AUTH_TOKEN"):
        return True
    place = os.environ.get("RAY_AUTH_TOKEN_PATH")
    return (Path(place) if place else Path.home() / ".ray" / "auth_token").is_file()


# -- assets with the files that they need, for machines that do not see our paths -----------------------------------

MOST_BYTES = 256 << 20
"""The largest size of one asset with its files [bytes]; a cluster whose machines share a disk needs no shipping."""
_NAMES = ("asset", "other")
"""Options of an item that name files to read."""
_SHIPPED = "shipped"
"""Where an outcome carries the files that were written."""


@dataclass(frozen=True, slots=True)
class ShippedFiles:
    """One asset: ``folder`` is where its files are here, ``entry`` the file to open, from there."""

    folder: str
    entry: str
    files: dict[str, bytes]


@dataclass(slots=True)
class Shipment:
    """Everything that goes with an item, by the word that names it; ``problem`` says why it cannot go."""

    parts: dict[str, ShippedFiles] = field(default_factory=dict)
    problem: Diagnostic | None = None


def pack_item(spec: JobSpec, item: JobItem) -> Shipment:
    """Read all files that an item needs; a file that cannot be read becomes the problem of the shipment."""
    options = spec.merge_options(item)
    shipment = Shipment()
    try:
        for name in _NAMES:
            if name in options:
                shipment.parts[name] = _gather(Path(options[name]), options.get("packages", {}))
    except SimwrightError as error:
        shipment.problem = diagnostic_from_error(error)
    except OSError as error:
        told = SimwrightError(f"cannot be read: {error.strerror or error}", where=Where(item.asset))
        shipment.problem = diagnostic_from_error(told)
    return shipment


def _gather(file: Path, packages: dict[str, str]) -> ShippedFiles:
    from simwright.checker.entry_points import SUFFIXES
    from simwright.formats.format import ReadOptions
    from simwright.formats.usd.delivery import gather_files

    if file.suffix.lower() in SUFFIXES and file.is_file():
        named = {name: Path(folder) for name, folder in packages.items()}
        options = ReadOptions(packages=find_packages(named, near=[file.parent]))
        entry, files = gather_files(file, options, Reporter())
        _check_size(sum(map(len, files.values())), file)
        return ShippedFiles(str(file.absolute().parent), entry, files)
    root = find_root(file)
    found: dict[str, bytes] = {}
    size = 0
    for base, below, names in os.walk(root):
        below[:] = sorted(name for name in below if not name.startswith("."))
        for name in sorted(names):
            path = Path(base) / name
            # links may lead out of the asset, and into anything
            if path.is_symlink() or not path.is_file() or name.startswith("."):
                continue
            size += path.stat().st_size
            _check_size(size, file)
            found[path.relative_to(root).as_posix()] = path.read_bytes()
    return ShippedFiles(str(root), file.absolute().resolve().relative_to(root).as_posix(), found)


def _check_size(size: int, file: Path) -> None:
    if size > MOST_BYTES:
        raise LimitError(
            f"the asset and its files are more than {MOST_BYTES >> 20} MiB",
            hint="let the machines of the cluster see the same paths, and leave --ship out",
            where=Where(str(file)),
        )


@contextlib.contextmanager
def unpacked(
    chunk: Sequence[JobItem], shipments: Sequence[Shipment]
) -> Iterator[tuple[list[JobItem], Callable[[int, ItemOutcome], ItemOutcome]]]:
    """Write shipped files to a private folder, for as long as the block runs.

    Gives the items with paths in that folder, and a function that the agent calls with the number and the outcome of
    each: it puts the original paths back into findings and result and adds the files that were written.  For an item
    that could not be packed it gives a failure with the reason.
    """
    with scratch_folder() as folder:
        placed, back = [], {}
        for item, shipment in zip(chunk, shipments, strict=True):
            here = folder / str(item.number)
            options, names = dict(item.options), {}
            for name, part in shipment.parts.items():
                for place, data in part.files.items():
                    target = resolve_inside(here / name, place)
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(data)
                names[str(here / name)] = part.folder
                options[name] = str(here / name / part.entry)
            if "target" in options:
                names[str(here / "out")] = str(Path(options["target"]).parent)
                options["target"] = str(here / "out" / Path(options["target"]).name)
                (here / "out").mkdir(parents=True, exist_ok=True)
            placed.append(JobItem(item.number, options.pop("asset", item.asset), options))
            back[item.number] = (here, names, shipment.problem, item.asset)

        def restore(number: int, outcome: ItemOutcome) -> ItemOutcome:
            here, names, problem, asset = back[number]
            if problem is not None:
                return fail(asset, problem)
            plain = json.dumps({"findings": outcome.findings, "result": outcome.result})
            for ours, theirs in names.items():
                plain = plain.replace(json.dumps(ours)[1:-1], json.dumps(theirs)[1:-1])
            told = json.loads(plain)
            written = _read_written(here / "out")
            if written:
                told["result"][_SHIPPED] = written
            return ItemOutcome(
                outcome.status, outcome.code, told["findings"], told["result"], outcome.seconds
            )

        yield placed, restore


def _read_written(folder: Path) -> dict[str, bytes]:
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


def deliver(item: JobItem, outcome: ItemOutcome) -> None:
    """Write the files that came back with an outcome to where they belong."""
    written: dict[str, Any] = outcome.result.pop(_SHIPPED, {})
    for place, data in written.items():
        write_atomic(resolve_inside(Path(item.options["target"]).parent, place), data)
