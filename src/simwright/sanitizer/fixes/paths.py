# SPDX-License-Identifier: Apache-2.0
"""Addresses of files (REP-0158 1.2.5): relative ones inside the asset, ``package://`` ones for other ROS packages.

Files that lie outside are collected below ``external/``; a layer brings the files that it names.  Only layers, images
and sounds are collected: an address in a layer is somebody else's word, not a reason to copy any file of the machine.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

from pxr import Ar, Sdf

from simwright.checker.facts.paths import PathForm, classify_path, find_package
from simwright.core.diag import Diagnostic, Fixable
from simwright.core.errors import InputError
from simwright.core.files import read_bytes
from simwright.core.packages import SCHEME
from simwright.sanitizer.fixer import UserValues, fix
from simwright.usd.arcs import open_layer
from simwright.usd.collect import COLLECTED_SUFFIXES, OUTSIDE_FOLDER, collect_files, find_tiles
from simwright.usd.edit import Editor, Refused
from simwright.usd.guard import check_file
from simwright.usd.layers import SUFFIXES, encode_layer
from simwright.usd.silence import capture

_UDIM = "<UDIM>"
_MAPPING = "address."


@fix("path-relative", phase=3)
def anchor_path(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A bare name of a file beside the layer."""
    text = str(finding.data.get("path", ""))
    if finding.fixable is not Fixable.SAFE:
        raise Refused(f"{text!r} is not found beside the layer")
    editor.rename_address(editor.find_layer(finding.where.file), text, f"./{text}")


@fix("path-package-uri", phase=3)
def name_by_package(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A file of another ROS package by that package's name, which has to be known here."""
    text = str(finding.data.get("path", ""))
    layer = editor.find_layer(finding.where.file)
    address = _find_package_address(editor, _find_file(layer, text))
    if not address:
        raise Refused("the file is in no other ROS package")
    editor.rename_address(layer, text, address)


@fix("path-self-contained", phase=3)
def collect_outside(editor: Editor, finding: Diagnostic, _: UserValues) -> None:
    """A file outside becomes a part of the asset."""
    text = str(finding.data.get("path", ""))
    layer = editor.find_layer(finding.where.file)
    editor.rename_address(layer, text, _collect(editor, layer, _find_file(layer, text)))


@fix("path-no-absolute", values=(_MAPPING,), phase=3)
def make_relative(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """A file of another ROS package by its name, any other becomes a part of the asset.

    A table of ``address.PREFIX=FOLDER`` tells of paths of another machine.
    """
    text = str(finding.data.get("path", ""))
    if not text:
        raise Refused("the string may be a note; only its author knows what it is for")
    layer = editor.find_layer(finding.where.file)
    address = _look_up(editor, layer, text, given)
    if not address:
        file = _find_file(layer, text)
        address = _find_package_address(editor, file) or _collect(editor, layer, file)
    editor.rename_address(layer, text, address)


@fix("path-no-proprietary", values=(_MAPPING,), phase=3)
def map_address(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
    """By a table of ``address.PREFIX=FOLDER`` (or ``package://...``); the longest prefix counts."""
    text = str(finding.data.get("path", ""))
    layer = editor.find_layer(finding.where.file)
    address = _look_up(editor, layer, text, given)
    if not address:
        scheme = text.partition(":")[0]
        raise Refused(
            f"the new place of {text!r} is not known; give it with --set '{_MAPPING}{scheme}://...=FOLDER'"
        )
    editor.rename_address(layer, text, address)


def _look_up(editor: Editor, layer: Sdf.Layer, text: str, given: UserValues) -> str:
    """The new address by the user's table; empty if that has none."""
    table = given.find_group(_MAPPING)
    # the longest prefix is the most specific row of the table
    prefix = max((key for key in table if text.startswith(key)), key=len, default="")
    if not prefix:
        return ""
    moved = table[prefix].rstrip("/") + "/" + text[len(prefix) :].replace("\\", "/").lstrip("/")
    if moved.startswith(SCHEME):
        return moved
    file = Path(moved).absolute()
    return _find_package_address(editor, file) or _collect(editor, layer, file)


def _find_file(layer: Sdf.Layer, text: str) -> Path:
    """The file that an address means, which has to be there."""
    form = classify_path(text)
    plain = re.sub(r"^file:(//)?", "", text, flags=re.IGNORECASE)
    if form is PathForm.ABSOLUTE and not plain.startswith("/"):
        raise Refused(f"{text!r} is not a path of this machine")
    # a part of a .usdz cannot be copied as a file
    if "[" in plain:
        raise Refused(f"{text!r} is a part of a package; unpack it first")
    return Path(os.path.normpath(Path(layer.realPath).parent / plain))


def _find_package_address(editor: Editor, file: Path) -> str:
    """The ``package://`` address of a file in another package than the asset's; empty if it is in none."""
    found = find_package(file.parent)
    if found is None or found == find_package(Path(editor.root.realPath).parent):
        return ""
    folder, name = found
    address = f"{SCHEME}{name}/{file.relative_to(folder).as_posix()}"
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        resolved = str(Ar.GetResolver().Resolve(address))
    # an address that leads to another file, or to none, is worse than the absolute path
    if not resolved or Path(resolved).resolve() != file.resolve():
        raise Refused(f"the ROS package {name} is not found here; say --package {name}={folder}")
    return address


def _collect(editor: Editor, layer: Sdf.Layer, file: Path) -> str:
    """Bring a file, with all that it names, below ``external/``; gives its address in a layer."""
    tiles = find_tiles(file) if _UDIM in file.name else [file]
    if not tiles or not all(tile.is_file() for tile in tiles):
        raise Refused(f"{file.name} is not there; add the file or remove the path")
    if file.suffix.lower() not in COLLECTED_SUFFIXES:
        raise Refused(f"{file.name} is not a layer, image or sound; copy it by hand")
    for tile in tiles:
        _check_gate(editor, tile)
    asset = Path(editor.root.realPath).parent
    contents = _read_layer(editor, file) if file.suffix.lower() in SUFFIXES else _read_files(tiles)
    base = _choose_folder(editor, asset, file.parent.name or "files", contents)
    for place, content in contents.items():
        editor.add_file(editor.root, f"{base}/{place}", content)
    found = Path(os.path.relpath(asset / base / file.name, Path(layer.realPath).parent)).as_posix()
    return found if found.startswith("../") else f"./{found}"


def _check_gate(editor: Editor, file: Path) -> None:
    try:
        editor.gate.admit(file)
    except InputError as error:
        raise Refused(f"{error.message}; {error.hint}") from None


def _read_files(files: list[Path]) -> dict[str, bytes]:
    return {file.name: read_bytes(file) for file in files}


def _read_layer(editor: Editor, file: Path) -> dict[str, bytes]:
    """A layer and the files that it names, by their places beside it."""
    try:
        check_file(file)
    except InputError as error:
        raise Refused(error.message) from None
    context = editor.stage.GetPathResolverContext()
    with capture(), Ar.ResolverContextBinder(context):
        layer = open_layer(str(file))
        if not layer:
            raise Refused(f"{file.name} cannot be read")
        found = collect_files(layer, editor.gate)
        contents = {place: read_bytes(path) for place, path in found.files.items()}
        contents |= {place: encode_layer(made, Path(place).suffix) for place, made in found.layers.items()}
    return contents


def _choose_folder(editor: Editor, asset: Path, name: str, contents: dict[str, bytes]) -> str:
    """A folder in which every file has its place, or is there already."""
    base, number = f"{OUTSIDE_FOLDER}/{name}", 1
    while not all(_is_free(editor, asset / base / place, content) for place, content in contents.items()):
        number += 1
        base = f"{OUTSIDE_FOLDER}/{name}_{number}"
    return base


def _is_free(editor: Editor, file: Path, content: bytes) -> bool:
    known = editor.files.get(file)
    if known is None and file.is_file():
        known = file.read_bytes()
    return known is None or known == content
