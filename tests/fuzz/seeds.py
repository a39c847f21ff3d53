"""The whole files that get damaged: small, and with as much of each format as fits.

The texts are in ``files``; :func:`make_seeds` copies them, one folder for each kind, and makes the binary ones.  The
file that is opened is called ``main``.
"""

from __future__ import annotations

import json
import shutil
import struct
import zlib
from pathlib import Path

FILES = Path(__file__).resolve().parent / "files"
KINDS = ("extension", "manifest", "mjcf", "plane", "scene", "sdf", "task", "tiny", "urdf", "world", "xacro")

_POINTS = ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1))
_FACES = ((0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2))


def make_seeds(folder: Path) -> Path:
    """Write every seed below a folder, and give the folder."""
    for kind in KINDS:
        shutil.copytree(FILES / kind, folder / kind)
    for place in ("urdf", "sdf", "mjcf", "world/crate"):
        shutil.copytree(FILES / "meshes", folder / place, dirs_exist_ok=True)
        (folder / place / "part.stl").write_bytes(_make_stl())
        (folder / place / "part.glb").write_bytes(_make_glb())
        (folder / place / "skin.png").write_bytes(_make_png())
    shutil.copy(FILES / "meshes" / "part.obj", folder / "scene")
    (folder / "tiny" / "skin.png").write_bytes(_make_png())
    _make_layers(folder)
    return folder


def _make_layers(folder: Path) -> None:
    """Text layers of the URDF seed, and the MJCF seed as one crate file, the same bytes every time."""
    import simwright

    entry = simwright.convert(folder / "urdf" / "main.urdf", folder / "usda")
    entry.rename(entry.with_name("main.usda"))
    whole = simwright.convert(folder / "mjcf" / "main.xml", folder / "usdc")
    simwright.convert(whole, folder / "flat.usdc", flatten=True)
    shutil.rmtree(folder / "usdc")
    (folder / "usdc").mkdir()
    (folder / "flat.usdc").rename(folder / "usdc" / "main.usdc")
    (folder / "usdz").mkdir()
    simwright.convert(folder / "tiny" / "main.usda", folder / "usdz" / "main.usdz")


def find_main(folder: Path) -> Path:
    """The file of a seed that is opened; an extension is a folder, of which the schema counts."""
    return next(
        path for path in sorted(folder.iterdir()) if path.stem == "main" or path.name == "schema.usda"
    )


def _make_stl() -> bytes:
    rows = [struct.pack("<12fH", 0, 0, 1, *(x for i in face for x in _POINTS[i]), 0) for face in _FACES]
    return bytes(80) + struct.pack("<I", len(rows)) + b"".join(rows)


def _make_glb() -> bytes:
    points = b"".join(struct.pack("<3f", *point) for point in _POINTS)
    indices = b"".join(struct.pack("<3H", *face) for face in _FACES)
    table = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0, "translation": [0, 0, 1]}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1, "material": 0}]}],
        "materials": [{"name": "m", "pbrMetallicRoughness": {"baseColorFactor": [1, 0, 0, 1]}}],
        "accessors": [
            {
                "bufferView": 0,
                "componentType": 5126,
                "count": 4,
                "type": "VEC3",
                "min": [0, 0, 0],
                "max": [1, 1, 1],
            },
            {"bufferView": 1, "componentType": 5123, "count": 12, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": len(indices)},
        ],
        "buffers": [{"byteLength": len(points) + len(indices)}],
    }
    text = json.dumps(table).encode()
    text += b" " * (-len(text) % 4)
    data = points + indices
    data += bytes(-len(data) % 4)
    chunks = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(data), b"BIN\0") + data
    return struct.pack("<4sII", b"glTF", 2, 12 + len(chunks)) + chunks


def _make_png(size: int = 5) -> bytes:
    rows = b"".join(b"\0" + bytes(40 * (x + y) % 256 for x in range(size)) for y in range(size))
    parts = (
        (b"IHDR", struct.pack(">2I5B", size, size, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows)),
        (b"IEND", b""),
    )
    chunks = (
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in parts
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)
