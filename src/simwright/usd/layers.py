# SPDX-License-Identifier: Apache-2.0
"""Writing layers whole: beside the destination first, then moved into place.

The same layer gives the same bytes.  A path may be confined to a root folder.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from simwright.core.diag import Where
from simwright.core.errors import OutputError, UsageError
from simwright.core.files import resolve_inside, write_atomic
from simwright.core.scratch import scratch_folder
from simwright.usd.silence import capture

SUFFIXES = (".usda", ".usdc", ".usd")


def write_layer(
    layer: Any, path: str | os.PathLike[str], *, root: str | os.PathLike[str] | None = None
) -> Path:
    """Write a layer as .usda text or as .usdc/.usd crate; with ``root``, ``path`` must stay below it."""
    target = Path(path) if root is None else resolve_inside(root, str(path), Where(str(path)))
    return write_atomic(target, encode_layer(layer, target.suffix))


def encode_layer(layer: Any, suffix: str) -> bytes:
    """The bytes of a layer in the encoding that the file name extension asks for."""
    assert not layer.expired, "the stage of this layer is gone: keep it until the layer is written"
    if suffix not in SUFFIXES:
        raise UsageError(
            f"a layer cannot be written as {suffix or 'a file without extension'!r}",
            hint="use " + ", ".join(SUFFIXES),
        )
    if suffix == ".usda":
        with _guard_output(layer):
            text: str = layer.ExportToString()
        return text.encode()
    # OpenUSD writes crates to files only
    with scratch_folder() as folder:
        temporary = folder / "layer.usdc"
        export_layer(layer, temporary)
        return temporary.read_bytes()


def export_layer(layer: Any, path: Path) -> None:
    """Write a layer to a file that nobody reads yet, without holding its bytes."""
    with _guard_output(layer):
        done = layer.Export(str(path))
    if not done:
        raise OutputError("OpenUSD could not encode the layer", where=Where(layer.identifier))


@contextmanager
def _guard_output(layer: Any) -> Iterator[None]:
    """OpenUSD's complaints while it writes, as one OutputError."""
    from pxr import Tf

    try:
        with capture():
            yield
    except Tf.ErrorException as error:
        reasons = "; ".join(str(e.commentary).strip() for e in error.args)
        raise OutputError(
            f"OpenUSD could not encode the layer: {reasons}", where=Where(layer.identifier)
        ) from None
