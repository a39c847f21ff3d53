# SPDX-License-Identifier: Apache-2.0
"""Where a robot's file is: the addresses that manifests and ``--robot`` take.

========================== ==========================================================================================
``arm.xml``, ``file:...``  relative to the manifest; may not leave the manifest's project, but for manifests in the
                           user's own folder
``package://NAME/path``    a file of a ROS package
``python:PACKAGE/path``    a file that an installed Python package brings
``menagerie:NAME``         a model of MuJoCo Menagerie: ``NAME`` or ``NAME/file.xml``, in ``MENAGERIE_ROOT`` or in the
                           package ``mujoco-menagerie``
========================== ==========================================================================================
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnknownNameError, UnsafePathError, UsageError
from simwright.core.limits import OFFLINE, is_offline
from simwright.core.packages import PackageMap, find_packages

MENAGERIE = "menagerie:"
PYTHON = "python:"
PACKAGE = "package://"
FILE = "file:"
SCHEMES = (MENAGERIE, PYTHON, PACKAGE)
"""Addresses that mean the same wherever they are said."""
_MARKS = ("pyproject.toml", "package.xml", "simwright.toml", ".git")


def resolve_address(
    address: str,
    base: Path,
    *,
    packages: PackageMap | None = None,
    where: Where | None = None,
    anywhere: bool = False,
) -> Path:
    """The file an address means.  ``base`` is the manifest's folder, ``where`` the place that says the address.

    ``anywhere`` lets paths lead out of the project: for manifests that the user keeps in a folder of their own.
    """
    # the system ends paths at a NUL: what is checked would not be what is opened
    if "\0" in address:
        raise UnsafePathError("the address has a NUL character", where=where)
    if address.startswith(MENAGERIE):
        return find_menagerie(address.removeprefix(MENAGERIE), where)
    if address.startswith(PYTHON):
        return _find_python(address.removeprefix(PYTHON), where)
    if address.startswith(PACKAGE):
        found = (packages or find_packages(near=[base])).resolve(address, where)
        return _expect(found, address, where)
    if "://" in address or (":" in address and not address.startswith(FILE)):
        raise UsageError(
            f"the address {address!r} has a scheme that robots are not read from",
            hint="use a relative path, package://, python: or menagerie:",
            where=where,
        )
    relative = Path(address.removeprefix(FILE))
    # resolved before it is compared: links and .. may lead anywhere
    root = find_project(base)
    file = (base / relative).resolve()
    if not anywhere and (relative.is_absolute() or not file.is_relative_to(root.resolve())):
        raise UnsafePathError(
            f"{address!r} leaves the folder {root}",
            hint="move the file there, or use package:// or python:",
            where=where,
        )
    return _expect(file, address, where)


def find_project(folder: Path) -> Path:
    """The project a manifest belongs to: the nearest folder above with a mark of one, else its own folder."""
    for candidate in (folder, *folder.absolute().parents):
        if any((candidate / mark).exists() for mark in _MARKS):
            return candidate
    return folder


def _find_python(text: str, where: Where | None) -> Path:
    name, _, path = text.partition("/")
    try:
        # only plain names: a dotted one would import the packages above it
        spec = importlib.util.find_spec(name) if name.isidentifier() else None
    except ValueError:  # a module that was not imported from anywhere
        spec = None
    places = list((spec.submodule_search_locations if spec else None) or ())
    if not places:
        raise NotFoundError(
            f"no Python package {name!r} is installed",
            hint="name an installed one: python:PACKAGE/path/in/it",
            where=where,
        )
    root = Path(places[0]).resolve()
    target = (root / path).resolve()
    if not target.is_relative_to(root):
        raise UnsafePathError(f"python:{text} leaves its package", where=where)
    return _expect(target, f"python:{text}", where)


def _expect(file: Path, address: str, where: Where | None) -> Path:
    if not file.is_file():
        raise NotFoundError(f"{address!r} is not there: no file {file}", where=where)
    return file


ROOT_VARIABLE = "MENAGERIE_ROOT"
_MENAGERIE_PACKAGE = "mujoco_menagerie"
# words in names of files that are not the model itself
_ASIDE = ("scene", "keyframe", "mjx", "assets")


def find_menagerie(name: str, where: Where | None = None) -> Path:
    """The file of a model: ``NAME`` (its main file) or ``NAME/file.xml``."""
    model, _, file = name.partition("/")
    folder, main = (
        _find_local_model(model, where)
        if os.environ.get(ROOT_VARIABLE)
        else _find_packaged_model(model, where)
    )
    target = (folder / (file or main)).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise UnsafePathError(f"menagerie:{name} leaves its folder", where=where)
    if not target.is_file():
        raise NotFoundError(f"menagerie:{name} is not there: no file {target}", where=where)
    return target


def _find_local_model(model: str, where: Where | None) -> tuple[Path, str]:
    root = Path(os.environ[ROOT_VARIABLE])
    if not root.is_dir():
        raise NotFoundError(f"{ROOT_VARIABLE} names {str(root)!r}, which is not a folder", where=where)
    known = _list_folders(root)
    if model not in known:
        raise UnknownNameError("menagerie model", model, known, where=where)
    return root / model, _choose_main(root / model)


def _list_folders(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir() if path.is_dir() and any(path.glob("*.xml")))


def _choose_main(folder: Path) -> str:
    """The model itself: not a scene, not a keyframe file, not a variant for another backend."""
    files = sorted(path.stem for path in folder.glob("*.xml"))
    candidates = [stem for stem in files if not any(word in stem for word in _ASIDE)] or files
    # folders are called MAKER_MODEL, files MODEL.xml with variants beside it
    words = set(folder.name.split("_"))
    # the longest overlap with the folder's name, then the shortest name
    best = min(candidates, key=lambda stem: (-len(words & set(stem.split("_"))), len(stem), stem))
    return f"{best}.xml"


def _find_packaged_model(model: str, where: Where | None) -> tuple[Path, str]:
    if importlib.util.find_spec(_MENAGERIE_PACKAGE) is None:
        raise NotFoundError(
            "MuJoCo Menagerie is not installed",
            hint=f"pip install mujoco-menagerie, or let {ROOT_VARIABLE} name a copy of it",
            where=where,
        )
    package: Any = importlib.import_module(_MENAGERIE_PACKAGE)
    if model not in package.names():
        raise UnknownNameError("menagerie model", model, package.names(), where=where)
    robot = package.get(model)
    cache = package.Cache()
    if is_offline() and not cache.is_cached(robot):
        raise NotFoundError(
            f"menagerie:{model} is not in the cache, and fetching is switched off",
            hint=f"fetch it once without --offline and {OFFLINE}",
            where=where,
        )
    try:
        return Path(robot.path(cache, progress=None)), str(robot.entry(robot.default_model).file)
    except package.MenagerieError as error:
        raise NotFoundError(f"menagerie:{model} could not be fetched: {error}", where=where) from None
