# SPDX-License-Identifier: Apache-2.0
"""Model names from prim paths: the prim's own name, with its parents in front only where names clash."""

from __future__ import annotations

from collections.abc import Iterable

from simwright.core.names import NameScope

_DEPTH_LIMIT = 8


def choose_names(paths: Iterable[str]) -> dict[str, str]:
    """A unique name for every path: ``/a/link`` and ``/b/link`` become ``a_link`` and ``b_link``."""
    parts = {path: path.strip("/").split("/") for path in paths}
    names: dict[str, str] = {}
    open_paths = list(parts)
    for depth in range(1, _DEPTH_LIMIT + 1):
        groups: dict[str, list[str]] = {}
        for path in open_paths:
            groups.setdefault("_".join(parts[path][-depth:]), []).append(path)
        names |= {group[0]: name for name, group in groups.items() if len(group) == 1}
        open_paths = [path for group in groups.values() if len(group) > 1 for path in group]
    names |= {path: "_".join(parts[path]) for path in open_paths}
    scope = NameScope()
    return {path: scope.claim(names[path]) for path in parts}
