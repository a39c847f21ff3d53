# SPDX-License-Identifier: Apache-2.0
"""Checking many assets: from the cache where nothing changed, else in worker processes.

Nothing here imports OpenUSD or a rule; :func:`check_path` does, where the work is done.  A worker that dies
takes only its own asset with it (:mod:`simwright.core.pool`).

The ROS packages that each asset sees are searched once per folder (:class:`PackageView`).  Their digest covers names,
folders and the times of the folders with interface definitions, so that a cached result does not outlive a message type
it was made with.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from simwright.checker.cache import Cache
from simwright.checker.result import AssetResult, decode_result, encode_result
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Level, declare
from simwright.core.gate import list_allowed
from simwright.core.limits import distrust, distrusts
from simwright.core.packages import Package, PackageMap, find_packages
from simwright.core.pool import NO_LIMITS, JobLimits, Loss, describe_loss, run_each

_INTERFACES = ("msg", "srv", "action")


class PackageView:
    """Packages of the environment and around each asset."""

    def __init__(self, explicit: Iterable[tuple[str, str]] = (), allowed: Iterable[Path] = ()) -> None:
        self._base = find_packages({name: Path(folder) for name, folder in explicit}, allowed=allowed)
        self._by_folder: dict[str, PackageMap] = {}
        self._stamps: dict[Package, str] = {}

    def find_for(self, asset: str) -> PackageMap:
        """The packages that an asset at an absolute path can use."""
        folder = str(Path(asset).parent)
        if folder not in self._by_folder:
            # the environment was searched once, for all folders
            around = find_packages(near=[Path(folder)], environ={})
            near = [*self._base.near, *around.near]
            found = PackageMap(dict(self._base.packages), near, self._base.allowed)
            for package in around:
                found.add(package)
            self._by_folder[folder] = found
        return self._by_folder[folder]

    def describe_for(self, asset: str) -> str:
        """A digest of those packages."""
        found = self.find_for(asset)
        allowed = (str(folder) for folder in (*found.allowed, *list_allowed()))
        text = "\0".join([*(self._describe(package) for package in found), *allowed])
        return hashlib.blake2b(os.fsencode(text), digest_size=16).hexdigest()

    def _describe(self, package: Package) -> str:
        if package not in self._stamps:
            # adding a message changes the time of its folder; reading every file would cost more than the
            # check
            times = [_read_time(package.path / kind) for kind in _INTERFACES]
            self._stamps[package] = f"{package.name}={package.path}{times}"
        return self._stamps[package]


def describe_folders(folders: Iterable[Path]) -> str:
    """A digest of the names and times below folders, for extra interface definitions."""
    digest = hashlib.blake2b(digest_size=16)
    for folder in folders:
        for base, inner, names in os.walk(folder):
            inner.sort()
            digest.update(
                os.fsencode("\0".join([base, *sorted(names)])) + str(_read_time(Path(base))).encode()
            )
    return digest.hexdigest()


def _read_time(folder: Path) -> int:
    try:
        return folder.stat().st_mtime_ns
    except OSError:
        return 0


CHECKER_DIED = declare(
    "check-process-died",
    Level.ERROR,
    "the process that checked this asset died",
    hint="the file makes OpenUSD crash; please report it",
    doc="A worker process ended without a result while it checked an asset. The other assets were checked.",
)
POOL_WORTHWHILE = 4
"""Fewer assets than this are checked in this process: a worker takes a moment to start."""

Listener: TypeAlias = Callable[[int, int], None]
"""Told how many assets are done, and of how many."""


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What is done with every asset: the rules by code, and everything else that decides the result."""

    codes: tuple[str, ...]
    settings: CheckSettings = field(default_factory=CheckSettings)
    variants: bool = False
    packages: tuple[tuple[str, str], ...] = ()
    """Explicit ROS packages, name and folder."""


# one function: cache, workers and results are three steps over the same list of paths
def check_paths(
    paths: Sequence[str],
    plan: CheckPlan,
    cache: Cache,
    *,
    jobs: int = 1,
    force_pool: bool = False,
    limits: JobLimits = NO_LIMITS,
    listener: Listener | None = None,
) -> list[AssetResult]:
    """Results in the order of the paths, which name them; ``jobs`` is the number of processes.

    ``limits`` are those of each asset.
    """
    packages = PackageView(plan.packages)
    tell = listener or (lambda _done, _total: None)
    keys = _make_keys(paths, plan, cache, packages)
    plain: dict[str, dict[str, Any]] = {}
    for path in paths:
        stored = cache.get_result(keys[path])
        if stored is not None:
            plain[path] = stored
            tell(len(plain), len(paths))
    tasks = [_Task(path, keys[path], plan, cache.folder) for path in paths if path not in plain]
    least = 2 if force_pool else POOL_WORTHWHILE

    def keep(task: _Task, result: dict[str, Any]) -> None:
        plain[task.path] = result
        tell(len(plain), len(paths))

    def lose(task: _Task, loss: Loss) -> dict[str, Any]:
        finding = describe_loss(loss, str(Path(task.path).absolute()), limits, CHECKER_DIED)
        return encode_result(AssetResult(task.path, [finding], failed=True))

    # limits on time and memory can only be held in a process of its own
    if limits or (jobs > 1 and len(tasks) >= least):
        run_each(check_path, tasks, keep, lose, jobs=jobs, limits=limits)
    else:
        for task in tasks:
            keep(task, check_path(task))
    # a run of hits adds nothing, and trimming lists the whole folder
    if tasks:
        cache.trim()
    return [decode_result(path, plain[path]) for path in paths]


@dataclass(frozen=True, slots=True)
class _Task:
    path: str
    key: str
    plan: CheckPlan
    folder: Path | None


def check_path(task: _Task) -> dict[str, Any]:
    """Check one asset and remember the result; this is what a worker does."""
    # imported in the worker: a run of cache hits loads neither OpenUSD nor a rule
    from simwright.checker.asset import check_file
    from simwright.checker.run import RULE_CRASHED, all_rules

    started = time.time_ns()
    wanted = set(task.plan.codes)
    path = str(Path(task.path).absolute())
    cache = Cache(task.folder)
    with distrust(path):
        result = check_file(
            path,
            rules=[rule for rule in all_rules() if rule.code in wanted],
            settings=task.plan.settings,
            variants=task.plan.variants,
            packages=PackageView(task.plan.packages).find_for(path),
            with_files=task.folder is not None,
        )
    plain = encode_result(result)
    # a failed check is not a result: another run, with more memory for example, may succeed
    if not result.failed and all(finding.kind != RULE_CRASHED.code for finding in result.findings):
        cache.put_result(task.key, plain, result.files, started)
    return plain


def _make_keys(paths: Sequence[str], plan: CheckPlan, cache: Cache, packages: PackageView) -> dict[str, str]:
    if cache.folder is None:
        return dict.fromkeys(paths, "")
    interfaces = describe_folders(plan.settings.interfaces)
    common = cache.make_key(plan.codes, plan.variants, asdict(plan.settings), interfaces)
    keys = {}
    for path in paths:
        full = str(Path(path).absolute())
        keys[path] = cache.make_key("asset", full, distrusts(full), packages.describe_for(full), common)
    return keys
