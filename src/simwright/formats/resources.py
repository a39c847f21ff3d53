# SPDX-License-Identifier: Apache-2.0
"""What an address in a description file means: a mesh, a texture, an included model.

:func:`resolve_resource` gives the existing file or folder of

* ``package://NAME/path``: the ROS package NAME (``core.packages``), else as ``model://``;
* ``model://NAME/path``: a folder NAME in the places the Gazebo variables list
  (``GAZEBO_MODEL_PATH``, ``GZ_SIM_RESOURCE_PATH``, ``SDF_PATH``, ``IGN_GAZEBO_RESOURCE_PATH``), else at or
  beside a folder above the file, else a ROS package of that name;
* ``file://path`` and absolute paths: that file;
* anything else without a scheme: a path from the folder of the file that holds the address.

Nothing is fetched: an address with any other scheme is refused.  Wherever it leads, the file must lie in one of the
folders of the asset's gate (``core.gate``).
"""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError
from simwright.core.gate import MODEL_PATH_VARIABLES, Gate
from simwright.core.packages import split_uri

_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?")


def resolve_resource(uri: str, base: Path, gate: Gate, where: Where) -> Path:
    """The existing file or folder that ``uri`` names in a file of the folder ``base``.

    Raises NotFoundError if it is not there and UnsafePathError if it may not be followed.
    """
    text = uri.strip()
    if not text or "\0" in text:
        raise NotFoundError(f"the address {uri!r} names nothing", where=where)
    try:
        return gate.admit(_resolve(text, base, gate, where), where, text)
    except (OSError, RuntimeError, ValueError) as error:  # too long a name, a loop of links
        raise NotFoundError(f"{text[:200]!r} cannot be looked up: {error}", where=where) from None


def _resolve(uri: str, base: Path, gate: Gate, where: Where) -> Path:
    match = _SCHEME.match(uri)
    scheme = match.group(1).lower() if match else ""
    if match is None:
        return _existing(base / uri, uri, where)
    rest = uri[match.end() :]
    # Only with two slashes: "package:x" may be a file name.
    if scheme == "package" and match.group(2):
        return _resolve_package(uri, base, gate, where)
    if scheme == "model" and match.group(2):
        return _resolve_model(rest, uri, base, gate, where)
    if scheme == "file":
        return _existing(base / _file_path(rest), uri, where)
    if (base / uri).exists():  # a colon in a file name
        return (base / uri).resolve()
    raise UnsafePathError(
        f"refused: {uri!r} is an address that Simwright does not follow",
        hint="download the file and name it by a path, package:// or model://",
        where=where,
    )


def _resolve_package(uri: str, base: Path, gate: Gate, where: Where) -> Path:
    name, relative = split_uri(uri, where)
    # Models made for ROS and Gazebo use package:// for model folders too.
    package = gate.find_package(name, near=base)
    if package is None:
        folder = gate.find_model(name, base)
        if folder is not None:
            return _existing(folder / relative, uri, where)
    return gate.packages.resolve(uri, where, near=base)


def _resolve_model(rest: str, uri: str, base: Path, gate: Gate, where: Where) -> Path:
    name, _, relative = rest.partition("/")
    # A model is one folder in a search path, and the rest stays below it.
    if not name or name.startswith(".") or ".." in relative.split("/"):
        raise UnsafePathError(
            f"refused: {uri!r} does not name a place inside a model",
            hint="write model://MODEL/path/inside/it, without '..'",
            where=where,
        )
    folder = gate.find_model(name, base)
    if folder is None:
        raise NotFoundError(
            f"model {name!r} was not found",
            hint=f"add the folder that holds it to {MODEL_PATH_VARIABLES[1]}, or give --package {name}=DIR",
            where=where,
        )
    return _existing(folder / relative, uri, where)


def _file_path(rest: str) -> str:
    """The path of a ``file:`` address, without ``//`` and an optional ``localhost``."""
    return urllib.parse.unquote(rest.removeprefix("localhost") if rest.startswith("localhost/") else rest)


def _existing(path: Path, uri: str, where: Where) -> Path:
    target = path.resolve()
    if not target.exists():
        raise NotFoundError(
            f"{uri!r} does not exist (looked for {target})",
            hint="check the path, or give the package with --package NAME=DIR",
            where=where,
        )
    return target
