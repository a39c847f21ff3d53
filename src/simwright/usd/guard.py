# SPDX-License-Identifier: Apache-2.0
"""What is checked before OpenUSD sees a file, because some files would take the process down.

:func:`check_file` looks at one layer file: is it there, of a sane size, of the kind its name says, and not
nested so deep that a recursive parser runs out of stack (measured with usd-core 26.11: text nested 100,000
deep ends in a segmentation fault, 10,000 nested parentheses cost 5 s and 1.2 GB).  Everything a layer
composes goes through here too: see :mod:`simwright.usd.arcs`.
"""

from __future__ import annotations

import codecs
import io
import mmap
import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import InputError, LimitError, ParseError
from simwright.core.files import MIB, check_readable, check_regular
from simwright.usd import crate
from simwright.usd.crate_values import CorruptDataError
from simwright.usd.settled import once_per_file, recall
from simwright.usd.text import is_nested_within, measure_nesting

MAX_NESTING = 1000
"""Deepest nesting of prims, dictionaries and lists: far below what overflows, far above what is real."""
MAX_TEXT_BYTES = 1024 * MIB
MAX_BINARY_BYTES = 8192 * MIB
MAX_ARCHIVE_MEMBERS = 10_000
MAX_ARCHIVE_LEVELS = 3
_AT_ONCE = 64 * MIB
"""A text up to this size is copied to be looked at, which is faster."""
LAYER_SUFFIXES = (".usd", ".usda", ".usdc", ".usdz")
_PIECE = 4 * MIB
_TEXT_MAGIC = b"#usda"
_ZIP_MAGIC = b"PK\x03\x04"
_LFS_POINTER = b"version https://git-lfs"


def check_file(path: str | Path) -> Path:
    """The path of a layer file that OpenUSD can be trusted with; else an InputError."""
    file = check_readable(path, MAX_BINARY_BYTES)
    # as layers name it: what is found out about it is asked for by their path
    _check_layer(str(file.absolute()), Where(str(path)))
    return file


def check_resolved(path: str) -> None:
    """The same of a path that OpenUSD has resolved."""
    where = Where(path)
    check_regular(path, MAX_BINARY_BYTES, where)
    _check_layer(path if path.startswith("/") else str(Path(path).absolute()), where)


@once_per_file
def _check_layer(path: str, where: Where) -> crate.CrateOutline | None:
    """The outline of a crate, unless an older version of the file may be open."""
    from pxr import Sdf

    file = Path(path)
    outline = _check_content(_map_file(file), file.suffix.lower(), where, file)
    return outline if Sdf.Layer.Find(path) is None else None


def recall_outline(layer: Any) -> crate.CrateOutline | None:
    """The outline of a layer that is still what was checked in its file; None where that is not certain."""
    return None if layer.dirty or not layer.realPath else recall(_check_layer, layer.realPath)


def is_text(data: bytes | memoryview) -> bool:
    """Does the content start as a text layer?"""
    return bytes(data[: len(_TEXT_MAGIC)]) == _TEXT_MAGIC


def _map_file(file: Path) -> memoryview:
    """The file as bytes without reading it; the mapping goes away with the last view of it."""
    try:
        with file.open("rb") as stream:
            return memoryview(mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ))
    except (OSError, ValueError) as error:
        raise InputError(f"cannot be read: {error}", where=Where(str(file))) from None


def _check_content(
    data: memoryview, suffix: str, where: Where, file: Path | None = None, level: int = 0
) -> crate.CrateOutline | None:
    """Dispatch on what the bytes are, which must be what the name says."""
    head = bytes(data[:32])
    if head.startswith(crate.MAGIC) and suffix in (".usd", ".usdc"):
        try:
            return crate.check_crate(data, where, MAX_NESTING)
        except CorruptDataError as error:
            raise ParseError(
                f"the crate file is corrupt or truncated: {error}",
                hint="copy or export the file again",
                where=where,
            ) from None
    elif head.startswith(_TEXT_MAGIC) and suffix in (".usd", ".usda"):
        _check_text(data, where)
    elif head.startswith(_ZIP_MAGIC) and suffix == ".usdz":
        _check_archive(data, file, where, level)
    else:
        raise _wrong_kind(head, suffix, where)
    return None


def _wrong_kind(head: bytes, suffix: str, where: Where) -> ParseError:
    """The error for bytes that are not what the name says, with the likely reason."""
    if head.startswith(_LFS_POINTER):
        return ParseError("is a Git LFS pointer, not the file", hint="run: git lfs pull", where=where)
    actual = {crate.MAGIC: ".usdc", _TEXT_MAGIC: ".usda", _ZIP_MAGIC: ".usdz"}
    for magic, right in actual.items():
        if head.startswith(magic):
            return ParseError(
                f"is named {suffix or 'without extension'} but holds {right} content",
                hint=f"rename it to {right}",
                where=where,
            )
    wanted = {
        ".usda": "a text layer starts with '#usda 1.0'",
        ".usdc": "a crate file starts with 'PXR-USDC'",
        ".usdz": "a .usdz package is a zip file",
    }
    return ParseError(
        "is not a USD layer",
        hint=wanted.get(suffix, "a layer is .usda, .usdc, .usd or .usdz"),
        where=where,
    )


def _check_text(data: memoryview, where: Where) -> None:
    if len(data) > MAX_TEXT_BYTES:
        raise LimitError(
            f"the text layer has {len(data) / MIB:.0f} MiB; the limit is {MAX_TEXT_BYTES / MIB:.0f} MiB",
            hint="convert it to .usdc",
            where=where,
        )
    _check_encoding(data, where)
    # the fast way only says whether; the slow one finds the line
    if len(data) <= _AT_ONCE and is_nested_within(data, MAX_NESTING):
        return
    depth, offset = measure_nesting(data, MAX_NESTING)
    if depth > MAX_NESTING:
        line = bytes(data[:offset]).count(b"\n") + 1
        raise LimitError(
            f"brackets are nested more than {MAX_NESTING} deep",
            hint="flatten the hierarchy or the value",
            where=Where(where.file, line=line),
        )


def _check_encoding(data: memoryview, where: Where) -> None:
    """Text is UTF-8: OpenUSD quotes what is not in messages that Python cannot read."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PIECE):
        try:
            decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data))
        except UnicodeDecodeError as error:
            line = bytes(data[: start + error.start]).count(b"\n") + 1
            raise ParseError(
                "the text is not UTF-8", hint="save the file as UTF-8", where=Where(where.file, line=line)
            ) from None


def _check_archive(data: memoryview, file: Path | None, where: Where, level: int) -> None:
    """A .usdz: stored members only, and each layer in it is checked like a file of its own."""
    if level > MAX_ARCHIVE_LEVELS:
        raise LimitError(f"packages are nested more than {MAX_ARCHIVE_LEVELS} deep", where=where)
    try:
        with zipfile.ZipFile(file or io.BytesIO(data)) as archive:
            members = archive.infolist()
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise ParseError(f"is not a readable .usdz package: {error}", where=where) from None
    if not members:
        raise ParseError("the .usdz package is empty", where=where)
    if len(members) > MAX_ARCHIVE_MEMBERS:
        raise LimitError(f"the package has {len(members)} members", where=where)
    # OpenUSD opens the first member as the root layer, whatever it is
    if PurePosixPath(members[0].filename).suffix.lower() not in (".usd", ".usda", ".usdc"):
        raise ParseError("the first file of the .usdz package is not a layer", where=where)
    for member in members:
        _check_member(data, member, where, level)


def _check_member(data: memoryview, member: zipfile.ZipInfo, where: Where, level: int) -> None:
    inside = Where(f"{where.file}[{member.filename}]")
    if member.compress_type != zipfile.ZIP_STORED or member.flag_bits & 1:
        raise ParseError(
            "is compressed or encrypted inside the .usdz package",
            hint="package it again with usdzip",
            where=inside,
        )
    name = PurePosixPath(member.filename)
    if name.is_absolute() or ".." in name.parts:
        raise ParseError("the member name leaves the package", where=inside)
    start = member.header_offset
    if start + 30 > len(data) or bytes(data[start : start + 4]) != _ZIP_MAGIC:
        raise ParseError("the package is corrupt or truncated", where=inside)
    # the content begins behind two fields whose lengths only the local header knows
    name_size, extra_size = data[start + 26 : start + 28], data[start + 28 : start + 30]
    begin = start + 30 + int.from_bytes(name_size, "little") + int.from_bytes(extra_size, "little")
    if begin + member.file_size > len(data):
        raise ParseError("the package is corrupt or truncated", where=inside)
    suffix = name.suffix.lower()
    if suffix in LAYER_SUFFIXES and member.file_size:
        _check_content(data[begin : begin + member.file_size], suffix, inside, level=level + 1)
