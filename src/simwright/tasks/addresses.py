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

import importlib.util
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError, UsageError
from simwright.core.packages import PackageMap, find_packages
from simwright.tasks.menagerie import find_menagerie

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
