# SPDX-License-Identifier: Apache-2.0
"""What an address in a description file means: a mesh, a texture, an included model.

:func:`resolve_resource` gives the existing file or folder of

* ``package://NAME/path``: the ROS package NAME (``core.packages``), else as ``model://``;
* ``model://NAME/path``: a folder NAME in the places the Gazebo variables list
  (``GAZEBO_MODEL_PATH``, ``GZ_SIM_RESOURCE_PATH``, ``SDF_PATH``, ``IGN_GAZEBO_RESOURCE_PATH``), else at or
  beside a folder above the file, else a ROS package of that name;
* ``https://fuel.gazebosim.org/1.0/OWNER/models/NAME``, also with a version and ``/files/path``: what Gazebo has
  downloaded of it before (``core.gate.Gate.find_fuel``);
* ``file://path`` and absolute paths: that file;
* anything else without a scheme: a path from the folder of the file that holds the address, else as ``model://``.

Nothing is fetched: an address with any other scheme is refused.  Wherever it leads, the file must lie in one of the
folders of the asset's gate (``core.gate``).
"""

from __future__ import annotations

import re
import urllib.parse
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError
from simwright.core.gate import MODEL_PATH_VARIABLES, Gate, list_model_folders
from simwright.core.packages import split_uri

_FUEL = re.compile(
    r"https?://(?P<server>fuel\.(?:gazebosim|ignitionrobotics)\.org)/(?:\d+\.\d+/)?(?P<owner>[^/?#]+)"
    r"/(?P<kind>models|worlds)/(?P<name>[^/?#]+)(?:/(?P<version>\d{1,9}|tip))?(?:/files(?:/(?P<path>[^?#]*))?)?/?",
    re.IGNORECASE,
)
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
        return _resolve_plain(uri, base, gate, where)
    rest = uri[match.end() :]
    # Only with two slashes: "package:x" may be a file name.
    if scheme == "package" and match.group(2):
        return _resolve_package(uri, base, gate, where)
    if scheme == "model" and match.group(2):
        return _resolve_model(rest, uri, base, gate, where)
    if scheme == "file":
        path = _file_path(rest)
        # Gazebo looks for "file://name" as for a bare name.
        plain = bool(match.group(2)) and not path.startswith("/")
        return _resolve_plain(path, base, gate, where) if plain else _existing(base / path, uri, where)
    if scheme in ("http", "https") and (address := _FUEL.fullmatch(uri)):
        return _resolve_fuel(address, uri, gate, where)
    if (base / uri).exists():  # a colon in a file name
        return (base / uri).resolve()
    raise UnsafePathError(
        f"refused: {uri!r} is an address that Simwright does not follow",
        hint="download the file and name it by a path, package:// or model://",
        where=where,
    )


def _resolve_plain(uri: str, base: Path, gate: Gate, where: Where) -> Path:
    """A path beside the file; Gazebo looks for other names in its resource folders, as for ``model://``."""
    beside = base / uri
    name, _, relative = uri.partition("/")
    is_inside = bool(name) and not name.startswith(".") and ".." not in relative.split("/")
    if beside.exists() or not is_inside:
        return _existing(beside, uri, where)
    folder = gate.find_model(name, base)
    if folder is not None and (folder / relative).exists():
        return _existing(folder / relative, uri, where)
    files = (place / uri for place in list_model_folders() if (place / uri).is_file())
    return _existing(next(files, beside), uri, where)


def _resolve_fuel(address: re.Match[str], uri: str, gate: Gate, where: Where) -> Path:
    parts = {key: urllib.parse.unquote(text or "") for key, text in address.groupdict().items()}
    if any(
        not part or part.startswith(".") or set(part) & set("/\\") for part in (parts["owner"], parts["name"])
    ):
        raise UnsafePathError(f"refused: {uri!r} does not name a model", where=where)
    relative = parts["path"]
    if ".." in relative.replace("\\", "/").split("/"):
        raise UnsafePathError(
            f"refused: {uri!r} does not name a place inside a model",
            hint="write the address without '..'",
            where=where,
        )
    kind = parts["kind"].lower()
    folder = gate.find_fuel(parts["server"].lower(), parts["owner"], kind, parts["name"], parts["version"])
    if folder is None:
        raise NotFoundError(
            f"{uri!r} is not in the local Fuel cache, and nothing is downloaded",
            hint=f"run `gz fuel download -u '{_shorten(uri)}'` once; it puts the {kind[:-1]} into ~/.gz/fuel",
            where=where,
        )
    return _existing(folder / relative, uri, where)


def _shorten(uri: str) -> str:
    """The address of the whole model, which is what can be downloaded."""
    return uri.partition("/files/")[0]


def _resolve_package(uri: str, base: Path, gate: Gate, where: Where) -> Path:
    name, relative = split_uri(uri, where)
    # Models made for ROS and Gazebo use package:// for model folders too.
    package = gate.find_package(name, near=base)
    if package is None:
        folder = gate.find_model(name, base)
        if folder is not None:
            return _existing(folder / relative, uri, where)
    return gate.packages.resolve(uri, where, near=base, follow=gate.resolve)


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
