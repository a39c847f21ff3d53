# SPDX-License-Identifier: Apache-2.0
"""A ``.usdz`` package: files stored without compression, each beginning at a multiple of 64 bytes.

The same files give the same bytes: members have no time of their own, and the order is the caller's (the root layer
first, as OpenUSD wants it).
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterable
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import OutputError, ParseError
from simwright.core.files import resolve_inside

ALIGNMENT = 64
"""Where the content of a member begins [bytes], so that it can be mapped."""
ALLOWED_SUFFIXES = frozenset(
    {".usda", ".usdc", ".usd", ".usdz", ".png", ".jpg", ".jpeg", ".exr", ".avif", ".m4a", ".mp3", ".wav"}
)
"""What the format may hold."""
_EPOCH = (1980, 1, 1, 0, 0, 0)
_HEADER_BYTES = 30
_PADDING_ID = 0x1986
"""The extra field in which OpenUSD keeps its padding."""
_SMALLEST_FIELD = 4
_MODE = 0o100644 << 16


def encode_archive(members: Iterable[tuple[str, bytes | Path]]) -> bytes:
    """The bytes of a package of ``(name, content or file)``."""
    buffer = io.BytesIO()
    try:
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED, allowZip64=False) as archive:
            for name, content in members:
                data = content.read_bytes() if isinstance(content, Path) else content
                archive.writestr(_describe_member(name, buffer.tell()), data)
    except zipfile.LargeZipFile:
        raise OutputError("a .usdz package holds at most 4 GiB", hint="write a folder of layers") from None
    except OSError as error:
        name = str(error.filename or "")
        raise OutputError(f"cannot be packaged: {error.strerror or error}", where=Where(name)) from None
    return buffer.getvalue()


def unpack_archive(source: Path, folder: Path) -> Path:
    """Write the files of a package, which the guard has looked at, into a folder; gives its root layer."""
    where = Where(str(source))
    try:
        with zipfile.ZipFile(source) as archive:
            members = [member for member in archive.infolist() if not member.is_dir()]
            for member in members:
                file = resolve_inside(folder, member.filename, where)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_bytes(archive.read(member))
    except (zipfile.BadZipFile, NotImplementedError, EOFError) as error:
        raise ParseError(
            f"the .usdz package is damaged: {error}", hint="fetch it again, or package it again", where=where
        ) from None
    return folder / members[0].filename


def _describe_member(name: str, offset: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name, _EPOCH)
    # Unix on every machine: the same files give the same bytes
    info.create_system = 3
    info.external_attr = _MODE
    begin = offset + _HEADER_BYTES + len(name.encode())
    padding = -begin % ALIGNMENT
    # an extra field has four bytes of header, so a smaller gap takes 64 bytes more
    if 0 < padding < _SMALLEST_FIELD:
        padding += ALIGNMENT
    if padding:
        info.extra = struct.pack("<HH", _PADDING_ID, padding - _SMALLEST_FIELD) + bytes(
            padding - _SMALLEST_FIELD
        )
    return info
