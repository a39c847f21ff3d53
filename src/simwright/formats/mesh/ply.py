# SPDX-License-Identifier: Apache-2.0
"""PLY, ASCII and binary, with vertex normals and colours where the file has them."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np

from simwright.core.diag import Where
from simwright.core.errors import ParseError
from simwright.core.gate import Gate
from simwright.model.geometry import MeshData

_ELEMENT = re.compile(rb"^element\s+(\w+)\s+(\d+)\s*$", re.MULTILINE)
_MAX_HEADER = 1 << 16


def read_ply(content: bytes, file: Path, _gate: Gate | None = None) -> MeshData:
    """The mesh in the bytes of a PLY file; ``file`` is named in errors."""
    where = Where(str(file))
    end = content[:_MAX_HEADER].find(b"end_header")
    if not content.startswith(b"ply") or end < 0:
        raise ParseError("this is not a PLY file: it has no PLY header", where=where)
    header = content[:end].replace(b"\r", b"")
    counts = {name.decode(): int(count) for name, count in _ELEMENT.findall(header)}
    # every element takes a byte or more, so a count beyond the file's size is a lie
    for name, count in counts.items():
        if count > len(content):
            raise ParseError(
                f"the PLY header announces {count} of {name!r}, more than the file has bytes",
                hint="the file is truncated or damaged",
                where=where,
            )
    from trimesh.exchange.ply import load_ply

    parts = load_ply(io.BytesIO(content), fix_texture=False)
    if parts.get("faces") is None or parts.get("vertices") is None:
        raise ParseError("the PLY file has no faces", where=where)
    normals, colors = parts.get("vertex_normals"), parts.get("vertex_colors")
    return MeshData(
        np.asarray(parts["vertices"], dtype=np.float64).reshape(-1, 3),
        np.asarray(parts["faces"], dtype=np.int32).reshape(-1),
        normals=None if normals is None else np.asarray(normals, dtype=np.float64),
        colors=None if colors is None else np.asarray(colors, dtype=np.float64)[:, :3] / 255.0,
    )
