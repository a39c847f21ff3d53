# SPDX-License-Identifier: Apache-2.0
"""Reading a YAML or JSON file into a :class:`~simwright.core.documents.tree.Document`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from simwright.core.diag import Where
from simwright.core.documents.tree import Document, is_encodable, strip_places
from simwright.core.errors import LimitError, ParseError
from simwright.core.files import MIB, read_bytes

Syntax = Literal["yaml", "json"]


@dataclass(frozen=True, slots=True)
class Limits:
    """How large a document may be.  A value that is used by alias counts every time."""

    max_bytes: int = 16 * MIB
    max_depth: int = 64
    max_values: int = 1_000_000


DEFAULT_LIMITS = Limits()


def read_document(path: str | os.PathLike[str], limits: Limits = DEFAULT_LIMITS) -> Document:
    """Read a file: ``.json`` is JSON, anything else YAML."""
    data = read_bytes(path, limits.max_bytes)
    syntax: Syntax = "json" if Path(path).suffix.lower() == ".json" else "yaml"
    return parse_document(decode_text(data, str(path)), name=str(path), syntax=syntax, limits=limits)


def parse_document(
    text: str, *, name: str = "", syntax: Syntax = "yaml", limits: Limits = DEFAULT_LIMITS
) -> Document:
    """Read a text; ``name`` is the file that findings name."""
    if len(text) > limits.max_bytes:
        raise LimitError(
            f"the text has {len(text) / MIB:.0f} MiB; the limit is {limits.max_bytes / MIB:.0f} MiB",
            where=Where(name),
        )
    if not is_encodable(text):
        raise ParseError("the text has half of a surrogate pair", where=Where(name))
    if syntax == "json":
        from simwright.core.documents.json_text import build_tree
    else:
        from simwright.core.documents.yaml_text import build_tree
    root = build_tree(text, name, limits)
    return Document(name, root, strip_places(root))


def decode_text(data: bytes, name: str) -> str:
    """UTF-8 with or without a byte order mark; anything else is refused with the line it is in."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ParseError(
            "the file is not UTF-8 text", hint="save it as UTF-8", where=Where(name, line)
        ) from None
