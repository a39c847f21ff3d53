# SPDX-License-Identifier: Apache-2.0
"""Models of MuJoCo Menagerie: from a local copy (``MENAGERIE_ROOT``) or through the package ``mujoco-menagerie``.

The package downloads a model when it is first asked for; with ``SIMWRIGHT_OFFLINE`` set, only what it has is used.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnknownNameError, UnsafePathError
from simwright.core.trust import OFFLINE, is_offline

ROOT_VARIABLE = "MENAGERIE_ROOT"
_PACKAGE = "mujoco_menagerie"
_ASIDE = ("scene", "keyframe", "mjx", "assets")
"""Words in names of files that are not the model itself."""


def find_menagerie(name: str, where: Where | None = None) -> Path:
    """The file of a model: ``NAME`` (its main file) or ``NAME/file.xml``."""
    model, _, file = name.partition("/")
    folder, main = _find_local(model, where) if os.environ.get(ROOT_VARIABLE) else _ask_package(model, where)
    target = (folder / (file or main)).resolve()
    if not target.is_relative_to(folder.resolve()):
        raise UnsafePathError(f"menagerie:{name} leaves its folder", where=where)
    if not target.is_file():
        raise NotFoundError(f"menagerie:{name} is not there: no file {target}", where=where)
    return target


def list_menagerie() -> list[str]:
    """Names of the models that can be asked for; none where there is no Menagerie."""
    root = os.environ.get(ROOT_VARIABLE)
    if root:
        return _list_folders(Path(root)) if Path(root).is_dir() else []
    if importlib.util.find_spec(_PACKAGE) is None:
        return []
    return [str(name) for name in importlib.import_module(_PACKAGE).names()]


def _find_local(model: str, where: Where | None) -> tuple[Path, str]:
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
    words = set(folder.name.split("_"))
    # the longest overlap with the folder's name, then the shortest name
    best = min(candidates, key=lambda stem: (-len(words & set(stem.split("_"))), len(stem), stem))
    return f"{best}.xml"


def _ask_package(model: str, where: Where | None) -> tuple[Path, str]:
    if importlib.util.find_spec(_PACKAGE) is None:
        raise NotFoundError(
            "MuJoCo Menagerie is not installed",
            hint=f"pip install mujoco-menagerie, or let {ROOT_VARIABLE} name a copy of it",
            where=where,
        )
    package: Any = importlib.import_module(_PACKAGE)
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
        raise NotFoundError(f"menagerie:{model} cannot be had: {error}", where=where) from None
