# SPDX-License-Identifier: Apache-2.0
"""The authored purpose of prims, inherited down the hierarchy and into instances.

OpenUSD's computed purpose hides whether anybody said it, so the opinions themselves are followed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from simwright.checker.facts.lineage import list_copies

if TYPE_CHECKING:
    from simwright.checker.facts.snapshot import Node, Snapshot


_ONLY = {name: frozenset((name,)) for name in ("default", "guide", "proxy", "render")}


def find_purposes(node: Node, snapshot: Snapshot) -> frozenset[str]:
    """Purposes a prim has by an opinion on itself or above, "" for none.

    More than one only in a prototype whose instances stand in different places.
    """
    book: dict[int, frozenset[str]] = snapshot.shared("purposes", lambda _: {})
    return _find(node, snapshot, book)


def _find(node: Node, snapshot: Snapshot, book: dict[int, frozenset[str]]) -> frozenset[str]:
    trail: list[Node] = []
    here: Node | None = node
    known: frozenset[str] = frozenset(("",))
    while here is not None:
        if id(here) in book:
            known = book[id(here)]
            break
        own = here.authored("purpose") if "Imageable" in here.bases else None
        if isinstance(own, str) and own:
            known = book[id(here)] = _ONLY.get(own) or frozenset((own,))
            break
        trail.append(here)
        if here.parent is None and here.in_prototype:
            copies = list_copies(here, snapshot)
            known = frozenset().union(*(_find(one, snapshot, book) for one in copies)) or known
            break
        here = here.parent
    for passed in trail:
        book[id(passed)] = known
    return known
