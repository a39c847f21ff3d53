# SPDX-License-Identifier: Apache-2.0
"""Model names from prim paths: the prim's own name, with its parents in front only where names clash."""

from __future__ import annotations

from collections.abc import Iterable

from simwright.core.names import NameScope

_DEPTH_LIMIT = 8


def choose_names(paths: Iterable[str]) -> dict[str, str]:
    """A unique name for every path: ``/a/link`` and ``/b/link`` become ``a_link`` and ``b_link``."""
    names: dict[str, str] = {}
    order = dict.fromkeys(paths)
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
