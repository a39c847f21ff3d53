# SPDX-License-Identifier: Apache-2.0
"""What is installed: our own needs, the optional extras, engines and third-party judges."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import re
import shutil
from typing import Any

from simwright import __version__

_REQUIREMENT = re.compile(r"([A-Za-z0-9_.\-]+)([^;]*)(?:;\s*extra\s*==\s*['\"]([^'\"]+)['\"])?")

ENGINES = {
    "mujoco": "physics, embedded",
    "newton": "extra newton",
    "pybullet": "extra engines",
    "pin": "extra engines",
}
TOOLS = {
    "check_urdf": "judges URDF (liburdfdom-tools)",
    "gz": "Gazebo and SDFormat",
    "ign": "Gazebo and SDFormat, older",
    "gltf-validator": "judges glTF",
    "usdview": "OpenUSD viewer",
    "ros2": "ROS 2",
}
VARIABLES = (
    "ROS_DISTRO",
    "AMENT_PREFIX_PATH",
    "ROS_PACKAGE_PATH",
    "PXR_PLUGINPATH_NAME",
    "PXR_AR_DEFAULT_SEARCH_PATH",
)


def examine() -> dict[str, Any]:
    """A JSON-ready report; ``healthy`` tells whether every needed package imports its metadata."""
    needed, extras = _requirements()
    packages = [_row(name, find_version(name), spec) for name, spec in needed]
    return {
        "version": 1,
        "simwright": __version__,
        "python": platform.python_version(),
        "platform": f"{platform.system()} {platform.machine()}",
        "healthy": all(row["version"] is not None for row in packages),
        "packages": packages,
        "extras": [_extra_row(extra, names) for extra, names in extras.items()],
        "engines": [_row(name, find_version(name), note) for name, note in ENGINES.items()],
        "tools": [_row(name, shutil.which(name), note) for name, note in TOOLS.items()],
        "environment": {name: os.environ.get(name, "") for name in VARIABLES},
    }


def find_version(package: str) -> str | None:
    """Installed version of a distribution, None if it is not there."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _requirements() -> tuple[list[tuple[str, str]], dict[str, list[str]]]:
    """Needed packages and the extras with theirs, as our own metadata declares them."""
    needed: list[tuple[str, str]] = []
    extras: dict[str, list[str]] = {}
    for line in importlib.metadata.requires("simwright") or []:
        match = _REQUIREMENT.match(line)
        if match is None:
            continue
        name, spec, extra = match.groups()
        if extra is None:
            needed.append((name, spec.strip()))
        elif extra != "dev":
            extras.setdefault(extra, []).append(name)
    return needed, extras


def _extra_row(extra: str, names: list[str]) -> dict[str, Any]:
    versions = {name: find_version(name) for name in names}
    present = [f"{name} {version}" for name, version in versions.items() if version]
    complete = len(present) == len(names)
    note = ", ".join(names) if complete else f"pip install 'simwright[{extra}]'"
    return _row(extra, ", ".join(present) if complete else None, note)


def _row(name: str, version: str | None, note: str) -> dict[str, Any]:
    return {"name": name, "version": version, "note": note}
