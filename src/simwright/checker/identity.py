# SPDX-License-Identifier: Apache-2.0
# paths stay text here: it runs over thousands of files before anything else does
# ruff: noqa: PTH116, PTH118, PTH123
"""What decides a result besides the asset: this program, its rules, plugins of rules and solvers, OpenUSD: a digest."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from functools import cache
from pathlib import Path

from simwright import __version__

_ROOMS = ("checker", "core", "resolve", "usd")
_GROUPS = ("simwright.rules", "simwright.resolvers")
_SKIPPED = ("__pycache__",)


@cache
def hash_tool() -> str:
    """Digest of the version, the sources that take part in a check, plugins and the OpenUSD in use."""
    digest = hashlib.blake2b(f"{__version__}\0{sys.version}\0".encode(), digest_size=20)
    package = Path(__file__).resolve().parent.parent
    for room in _ROOMS:
        for file in _list_files(str(package / room)):
            digest.update(os.fsencode(os.path.relpath(file, package)) + b"\0")
            with open(file, "rb", buffering=0) as stream:
                digest.update(hashlib.blake2b(stream.read()).digest())
    for text in (*_describe_plugins(), _describe_openusd()):
        digest.update(text.encode() + b"\0")
    return digest.hexdigest()


def _list_files(folder: str) -> list[str]:
    found: list[str] = []
    for base, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _SKIPPED)
        found.extend(os.path.join(base, name) for name in sorted(names))
    return found


def _describe_plugins() -> list[str]:
    """Plugins of rules and solvers with their versions; an edited plugin counts by the time of its module file."""
    from importlib.metadata import entry_points

    texts = []
    points = [point for group in _GROUPS for point in entry_points(group=group)]
    for point in sorted(points, key=lambda p: (p.group, p.name)):
        texts.append(f"{point.name}={point.value}=={point.dist.version if point.dist else ''}")
        texts.append(_describe_module(point.value.partition(":")[0].partition(".")[0]))
    return texts


def _describe_openusd() -> str:
    return _describe_module("pxr")


def _describe_module(name: str) -> str:
    """Place and time of a module that is not imported for it."""
    try:
        spec = importlib.util.find_spec(name)
        state = os.stat(spec.origin) if spec and spec.origin else None
    except (ImportError, ValueError, OSError):
        return f"{name}?"
    return f"{name}@{spec.origin if spec else ''}:{state.st_mtime_ns if state else 0}"
