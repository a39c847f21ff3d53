# SPDX-License-Identifier: Apache-2.0
"""Checking asset after asset by one plan: from the cache where nothing changed.

Nothing here imports OpenUSD or a rule before an asset has to be checked.

The ROS packages that each asset sees are searched once per folder (:class:`PackageView`).  Their digest covers names,
folders and the times of the folders with interface definitions, so that a cached result does not outlive a message type
it was made with.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from simwright.checker.cache import Cache
from simwright.checker.result import AssetResult, decode_result, encode_result
from simwright.checker.settings import CheckSettings
from simwright.core.diag import Level, declare
from simwright.core.gate import list_allowed
from simwright.core.limits import distrust, distrusts
from simwright.core.packages import Package, PackageMap, find_packages

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


@dataclass(frozen=True, slots=True)
class CheckPlan:
    """What is done with every asset: the rules by code, and everything else that decides the result."""

    codes: tuple[str, ...]
    settings: CheckSettings = field(default_factory=CheckSettings)
    variants: bool = False
    packages: tuple[tuple[str, str], ...] = ()
    """Explicit ROS packages, name and folder."""


class AssetChecker:
    """Checks assets by one plan; what is the same for all of them is looked up once."""

    def __init__(self, plan: CheckPlan, cache: Cache) -> None:
        self.plan, self.cache = plan, cache
        self._packages = PackageView(plan.packages)
        self._rules: list[Any] | None = None

    @cached_property
    def _common(self) -> str:
        plan = self.plan
        interfaces = describe_folders(plan.settings.interfaces)
        return self.cache.make_key(plan.codes, plan.variants, asdict(plan.settings), interfaces)

    def find(self, path: str) -> AssetResult | None:
        """The result of an asset in which nothing has changed; this loads neither OpenUSD nor a rule."""
        stored = self.cache.get_result(self._make_key(path)) if self.cache.folder else None
        if stored is None:
            return None
        return decode_result(path, stored)

    def check(self, path: str) -> AssetResult:
        """Check an asset and remember the result."""
        from simwright.checker.asset import check_file
        from simwright.checker.run import RULE_CRASHED, all_rules

        if self._rules is None:
            wanted = set(self.plan.codes)
            self._rules = [rule for rule in all_rules() if rule.code in wanted]
        # before the check: a file that changes meanwhile makes the entry invalid
        started, key = time.time_ns(), self._make_key(path)
        full = str(Path(path).absolute())
        with distrust(full):
            result = check_file(
                full,
                rules=self._rules,
                settings=self.plan.settings,
                variants=self.plan.variants,
                packages=self._packages.find_for(full),
                with_files=self.cache.folder is not None,
            )
        plain = encode_result(result)
        # a failed check is no result: another run, with more memory for example, may succeed
        if not result.failed and all(finding.kind != RULE_CRASHED.code for finding in result.findings):
            self.cache.put_result(key, plain, result.files, started)
        # as it would come out of the cache, so that both are the same to the caller
        return decode_result(path, plain)

    def _make_key(self, path: str) -> str:
        if self.cache.folder is None:
            return ""
        full = str(Path(path).absolute())
        return self.cache.make_key(
            "asset", full, distrusts(full), self._packages.describe_for(full), self._common
        )
