# SPDX-License-Identifier: Apache-2.0
"""The ROS packages each asset sees, searched once per folder, and a digest of them for the cache.

The digest covers names, folders and the times of the folders with interface definitions, so that a result
does not outlive a message type it was made with.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from pathlib import Path

from simwright.core.gate import list_allowed
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
