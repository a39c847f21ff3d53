# SPDX-License-Identifier: Apache-2.0
"""Names of what peers spawn: which are taken, which ROS takes, and which would clash."""

from __future__ import annotations

import re
from collections.abc import Iterable

from simwright.core.names import NameScope
from simwright.ros.graph import RosGraph
from simwright.ros.simulator_answers import SPAWN_CODES, AnsweredError

_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}")
_NAMESPACE = re.compile(r"/?[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*/?")
_SERVED = ("publisher", "server")


def check_namespace(namespace: str) -> None:
    """Raise an error for what is no namespace of ROS."""
    if namespace and not _NAMESPACE.fullmatch(namespace):
        raise AnsweredError(SPAWN_CODES["NAMESPACE_INVALID"], f"{namespace[:200]!r} is no namespace of ROS")


def choose_name(wanted: str, taken: Iterable[str], *, may_rename: bool) -> str:
    """The name of an entity; one that is taken or that is none is another one, or an error."""
    taken = set(taken)
    if not _NAME.fullmatch(wanted):
        if not may_rename:
            raise AnsweredError(
                SPAWN_CODES["NAME_INVALID"], f"{wanted[:200]!r} is no name: letters, digits, _ . / -"
            )
        wanted = re.sub(r"[^A-Za-z0-9_.-]", "_", wanted)[:100] or "entity"
    if wanted in taken and not may_rename:
        raise AnsweredError(SPAWN_CODES["NAME_NOT_UNIQUE"], f"there is an entity {wanted!r} already")
    return NameScope(taken).claim(wanted)


def check_clashes(graph: RosGraph, others: Iterable[RosGraph]) -> None:
    """Two robots must not answer to one name."""
    taken = {(e.kind, e.name) for other in others for e in other.endpoints if e.role in _SERVED}
    for endpoint in graph.endpoints:
        if (endpoint.kind, endpoint.name) in taken and endpoint.role in _SERVED:
            raise AnsweredError(
                SPAWN_CODES["NAMESPACE_INVALID"],
                f"{endpoint.kind.value} {endpoint.name!r} is served already: give it a namespace of its own",
            )
