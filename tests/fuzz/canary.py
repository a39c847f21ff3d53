"""Files outside of the asset whose bytes must never be in a result."""

from __future__ import annotations

import os
import struct
import time
import zlib
from pathlib import Path

MARK = b"canary-7d1c0e94"
FOLDER = "home/secrets"
"""Where they are, beside the folder of the asset."""
_MESH = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
_STL = bytes(80) + struct.pack("<I", 1) + struct.pack("<12fH", 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0)
FILES = {
    "passwd": MARK + b":x:0:0\n",
    "part.obj": b"# " + MARK + b"\no " + MARK + b"\n" + _MESH,
    "part.stl": MARK + _STL[len(MARK) :],
    "part.mtl": b"# " + MARK + b"\nnewmtl " + MARK + b"\nKd 0.5 0.25 0.125\n",
    "words.yaml": b"word: " + MARK + b"\n",
    "leg.xacro": b"<robot><link name='" + MARK + b"'/></robot>",
    "body.xml": b"<mujocoinclude><custom><text name='t' data='" + MARK + b"'/></custom></mujocoinclude>",
    "tool.sdf": b"<sdf version='1.9'><model name='" + MARK + b"'><link name='l'/></model></sdf>",
    "arm.urdf": b"<robot name='" + MARK + b"'><link name='l'/></robot>",
    "part.usda": b'#usda 1.0\n(defaultPrim = "P")\ndef Xform "P" {\n custom string note = "'
    + MARK
    + b'"\n}\n',
    "broken.usda": b"#usda 1.0\n" + MARK + b"\n",
}


def plant(work: Path) -> None:
    """Write the files below the folder of a case."""
    folder = work / FOLDER
    folder.mkdir(parents=True)
    for name, data in {**FILES, "skin.png": _make_png()}.items():
        (folder / name).write_bytes(data)
        # a file that was read before it was last written has its time of access set when it is read again
        os.utime(folder / name, (0, time.time()))


def find_read(work: Path) -> list[str]:
    """Names of the files that were read, by whatever means; none can be told where times of access are not kept."""
    return sorted(file.name for file in (work / FOLDER).iterdir() if file.stat().st_atime > 1)


def search(places: list[Path]) -> list[str]:
    """Files whose content, or whose members where they are zip files, have the mark."""
    files = [file for place in places if place.is_dir() for file in place.rglob("*")]
    return [
        str(file) for file in files if file.is_file() and not file.is_symlink() and MARK in file.read_bytes()
    ]


def _make_png() -> bytes:
    parts = (
        (b"IHDR", struct.pack(">2I5B", 2, 2, 8, 0, 0, 0, 0)),
        (b"tEXt", b"note\0" + MARK),
        (b"IDAT", zlib.compress(b"\0\x10\x20\0\x30\x40")),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
