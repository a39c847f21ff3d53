# SPDX-License-Identifier: Apache-2.0
"""Model names from prim paths: the prim's own name, with its parents in front only where names clash.

On stages with notes a display name is the name that the prim could not have; it counts where it is the only one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from simwright.core.names import NameScope
from simwright.formats.usd.prims import FoundPrim
from simwright.usd.questions import is_proxy, label_of, path_of

MESH = "mesh"
"""What the writer calls the mesh below an instance."""
_DEPTH_LIMIT = 8


def choose_names(paths: Iterable[str]) -> dict[str, str]:
    """A unique name for every path: ``/a/link`` and ``/b/link`` become ``a_link`` and ``b_link``."""
    order = dict.fromkeys(paths)
    last = {path: path[path.rfind("/") + 1 :] for path in order}
    # in most stages no two prims of one kind are called alike
    words = set(last.values())
    return last if len(words) == len(last) and "" not in words else _choose_longer(order)


# one loop: each round puts one more parent in front of those names that still clash
def _choose_longer(order: Iterable[str]) -> dict[str, str]:
    names: dict[str, str] = {}
    cuts = [(path.rstrip("/"), len(path)) for path in order]
    for _ in range(_DEPTH_LIMIT):
        if not cuts:
            break
        groups: dict[str, list[tuple[str, int]]] = {}
        for path, last in cuts:
            cut = path.rfind("/", 0, last) if last > 0 else last
            groups.setdefault(path[cut + 1 :].replace("/", "_"), []).append((path, cut))
        names |= {group[0][0]: name for name, group in groups.items() if len(group) == 1}
        cuts = [entry for group in groups.values() if len(group) > 1 for entry in group]
    names |= {path: path.strip("/").replace("/", "_") for path, _ in cuts}
    scope = NameScope()
    return {path: scope.claim(names[path.rstrip("/")]) for path in order}


def name_prims(founds: Sequence[FoundPrim], *, noted: bool) -> dict[str, str]:
    """A unique name for every prim; ``noted``: display names count."""
    names = choose_names(found.path for found in founds)
    if not noted:
        return names
    return prefer_labels(names, {found.path: str(label_of(found.prim)) for found in founds})


def name_shapes(founds: Sequence[FoundPrim], *, noted: bool) -> dict[str, str]:
    """A unique name for every shape; ``noted``: one that is an instance of a mesh has the instance's name."""
    if not noted:
        return choose_names(found.path for found in founds)
    prims = [
        # the mesh below an instance is called "mesh" in all of them; the instance has the name of the shape
        found.prim.GetParent() if found.name == MESH and is_proxy(found.prim) else found.prim
        for found in founds
    ]
    paths = [path_of(prim).pathString for prim in prims]
    names = prefer_labels(
        choose_names(paths),
        {path: str(label_of(prim)) for path, prim in zip(paths, prims, strict=True)},
    )
    return {found.path: names[path] for found, path in zip(founds, paths, strict=True)}


def prefer_labels(names: dict[str, str], labels: dict[str, str]) -> dict[str, str]:
    """Names by path, those of prims with a display name replaced by it."""
    wanted = {path: labels[path] or name for path, name in names.items()}
    # a label that two prims share tells neither apart, so both fall back to their paths
    uses = Counter(wanted.values())
    scope = NameScope(name for name, count in uses.items() if count == 1)
    return {path: name if uses[name] == 1 else scope.claim(names[path]) for path, name in wanted.items()}
