# SPDX-License-Identifier: Apache-2.0
"""Names for prims of which each has to have its own: from its path, as short as they are free."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pxr import Usd

from simwright.core.names import shorten_path
from simwright.usd.edit import Editor, Refused


def claim_name(editor: Editor, prim: Usd.Prim, what: str, list_taken: Callable[[], Iterable[str]]) -> str:
    """The last names of a path, as few as are unique; ``what`` it is a name of is remembered with those taken."""
    taken: set[str] | None = editor.memory.get(what)
    if taken is None:
        taken = editor.memory[what] = set(list_taken())
    found = shorten_path([path.name for path in prim.GetPath().GetPrefixes()], taken)
    if found is None:
        raise Refused(f"every {what} that its path gives is taken")
    taken.add(found)
    return found
