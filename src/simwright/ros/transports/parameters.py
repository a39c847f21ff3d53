# SPDX-License-Identifier: Apache-2.0
"""Parameters of a node, for transports that have none of their own: the services of ``rcl_interfaces``.

``ros2 param list|get|set|describe`` and every client of parameters ask these services of a node.
"""

from __future__ import annotations

from collections.abc import Callable

from simwright.engines.protocol import Closeable
from simwright.model.ros import InterfaceKind
from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.transport import Answer, Change, Message, ParameterValue

_PACKAGE = "rcl_interfaces/srv"
_NOT_SET, _BOOL, _STRING = 0, 1, 4
"""Of ``rcl_interfaces/ParameterType``."""
_FIELDS = {_BOOL: "bool_value", _STRING: "string_value"}


class OfferedParameters(Closeable):
    """Parameters of one who offers them; closed, they are gone."""

    def __init__(self, node: ParameterNode, values: dict[str, ParameterValue], change: Change) -> None:
        self._node, self.values, self.change = node, dict(values), change

    def close(self) -> None:
        """Take them back."""
        self._node.offered.remove(self)


class ParameterNode:
    """The parameters of a node, by six services that ``serve`` opens."""

    def __init__(self, node: str, serve: Callable[[RosEndpoint, Answer], Closeable]) -> None:
        self.offered: list[OfferedParameters] = []
        answers: dict[str, Callable[[Message], Message]] = {
            "GetParameters": lambda asked: {"values": [self._tell(name) for name in asked["names"]]},
            "GetParameterTypes": lambda asked: {"types": [self._tell(n)["type"] for n in asked["names"]]},
            "ListParameters": self._list,
            "DescribeParameters": self._describe,
            "SetParameters": lambda asked: {"results": [self._set([one]) for one in asked["parameters"]]},
            "SetParametersAtomically": lambda asked: {"result": self._set(asked["parameters"])},
        }
        self._services = [
            serve(
                RosEndpoint(
                    InterfaceKind.SERVICE, "server", f"/{node}/{_spell(title)}", f"{_PACKAGE}/{title}"
                ),
                answer,
            )
            for title, answer in answers.items()
        ]

    def offer(self, values: dict[str, ParameterValue], change: Change) -> Closeable:
        """Let peers see and set parameters; ``change`` gives the reason why not, "" if it is done."""
        made = OfferedParameters(self, values, change)
        self.offered.append(made)
        return made

    def _find(self, name: str) -> OfferedParameters | None:
        return next((one for one in self.offered if name in one.values), None)

    def _tell(self, name: str) -> Message:
        found = self._find(name)
        if found is None:
            return {"type": _NOT_SET}
        value = found.values[name]
        kind = _STRING if isinstance(value, str) else _BOOL
        return {"type": kind, _FIELDS[kind]: value}

    def _list(self, asked: Message) -> Message:
        names = sorted({name for one in self.offered for name in one.values})
        prefixes, depth = [str(prefix) for prefix in asked["prefixes"]], int(asked["depth"])
        if prefixes:
            names = [n for n in names if any(n == p or n.startswith(f"{p}.") for p in prefixes)]
        if depth:
            names = [name for name in names if name.count(".") < depth]
        groups = sorted({name.rpartition(".")[0] for name in names} - {""})
        return {"result": {"names": names, "prefixes": groups}}

    def _describe(self, asked: Message) -> Message:
        return {"descriptors": [{"name": name, "type": self._tell(name)["type"]} for name in asked["names"]]}

    def _set(self, parameters: list[Message]) -> Message:
        """All of them, or none where one cannot be."""
        wanted: list[tuple[OfferedParameters, str, ParameterValue]] = []
        for parameter in parameters:
            name, value = str(parameter["name"]), parameter["value"]
            found, kind = self._find(name), self._tell(name)["type"]
            if found is None:
                return _refuse(f"there is no parameter {name[:200]!r}")
            if int(value["type"]) != kind:
                return _refuse(f"{name!r} is a {'string' if kind == _STRING else 'bool'}")
            wanted.append((found, name, value[_FIELDS[kind]]))
        done: list[tuple[OfferedParameters, str, ParameterValue]] = []
        for owner, name, new in wanted:
            reason = owner.change(name, new)
            if reason:
                for earlier, label, old in reversed(done):
                    earlier.change(label, old)
                    earlier.values[label] = old
                return _refuse(reason)
            done.append((owner, name, owner.values[name]))
            owner.values[name] = new
        return {"successful": True, "reason": ""}

    def close(self) -> None:
        """Close the services."""
        for service in self._services:
            service.close()


def _refuse(reason: str) -> Message:
    return {"successful": False, "reason": reason}


def _spell(title: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in title).lstrip("_")
