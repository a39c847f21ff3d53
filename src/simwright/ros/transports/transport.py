# SPDX-License-Identifier: Apache-2.0
"""What a transport is: it carries messages between the bridge and ROS, and knows nothing of simulation.

Messages are plain dictionaries, field by field as ROS names them, with numpy arrays where there are many numbers.
Whatever arrives is kept until the bridge asks for it (:meth:`Transport.poll`), so that everything that touches a
simulation runs in one thread.

At the end: parameters of a node by the services of ``rcl_interfaces``, for transports that have none of their own.
"""

from __future__ import annotations

import abc
import contextlib
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from simwright.engines.protocol import Closeable
from simwright.model.ros import InterfaceKind
from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.cdr import PackedMessage

Message: TypeAlias = dict[str, Any]
Receive = Callable[[Message], None]
ParameterValue: TypeAlias = bool | str
Change = Callable[[str, ParameterValue], str]
"""Sets a parameter; gives why not, "" if it is done."""


class LateAnswer:
    """An answer that is not known yet: who serves gives it later, in the thread of the bridge."""

    def __init__(self) -> None:
        self._done = threading.Event()
        self.message: Message = {}
        self._told: list[Callable[[Message], None]] = []

    def give(self, message: Message) -> None:
        """Answer."""
        self.message = message
        self._done.set()
        for tell in self._told:
            tell(message)

    def wait(self, seconds: float) -> bool:
        """Whether it is known, after so long at most; for transports whose threads wait."""
        return self._done.wait(seconds)

    def pass_on(self, tell: Callable[[Message], None]) -> None:
        """Call ``tell`` when it is known; for transports that do not wait."""
        if self._done.is_set():
            tell(self.message)
        else:
            self._told.append(tell)


Answer = Callable[[Message], Message | LateAnswer]


@dataclass(frozen=True, slots=True)
class TransportOptions:
    """How to reach ROS.  ``local`` keeps everything on this machine; ``target`` is the file that a bag goes to."""

    node: str = "simwright"
    domain_id: int | None = None
    local: bool = True
    target: str = ""


class Sender(Closeable):
    """The publisher of one topic."""

    @abc.abstractmethod
    def send(self, message: Message, time: int) -> None:
        """Send a message at a time of the simulation [ns]."""

    def send_packed(self, message: PackedMessage, time: int) -> None:
        """Send a message whose CDR is laid out already, for transports that send CDR."""
        self.send(message.unpack(), time)


class GoalHandle(abc.ABC):
    """A goal of an action that has been accepted."""

    goal: Message

    @property
    @abc.abstractmethod
    def is_cancelled(self) -> bool:
        """Whether the peer wants it to end."""

    @abc.abstractmethod
    def tell(self, feedback: Message) -> None:
        """Send feedback."""

    @abc.abstractmethod
    def finish(self, state: str, result: Message) -> None:
        """End it: ``succeeded``, ``aborted`` or ``canceled``."""


class ActionBehaviour(abc.ABC):
    """What the bridge does with the goals of one action."""

    @abc.abstractmethod
    def refuse(self, goal: Message) -> str:
        """Why a goal cannot be accepted; "" where it can."""

    @abc.abstractmethod
    def begin(self, handle: GoalHandle) -> None:
        """Start on an accepted goal."""


class Transport(Closeable):
    """One way to reach ROS; what it opens is closed with it, or before by what was given back."""

    name: str
    listens: bool = True
    """Whether anything can arrive."""

    @abc.abstractmethod
    def explain_unknown(self, type_name: str) -> str:
        """Why a type cannot be carried; "" where it can."""

    @abc.abstractmethod
    def advertise(self, endpoint: RosEndpoint) -> Sender:
        """Open a publisher."""

    @abc.abstractmethod
    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """Open a subscription; ``receive`` is called by :meth:`poll`."""

    @abc.abstractmethod
    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """Open a service; ``answer`` is called by :meth:`poll`."""

    @abc.abstractmethod
    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """Open an action; its behaviour is called by :meth:`poll`."""

    def offer_parameters(self, values: dict[str, ParameterValue], change: Change) -> Closeable:
        """Let peers see and set parameters of the node; ``change`` is called by :meth:`poll`."""
        del values, change
        return Nothing()

    def poll(self) -> None:
        """Handle all that has arrived, in this thread."""


class SendingTransport(Transport):
    """A transport that only carries away what is published; nothing ever arrives."""

    listens = False

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        """See the base class."""
        del endpoint, receive
        return Nothing()

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        """See the base class."""
        del endpoint, answer
        return Nothing()

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        """See the base class."""
        del endpoint, behaviour
        return Nothing()


class Nothing(Closeable):
    """What is given back where there is nothing to close."""

    def close(self) -> None:
        """Nothing."""


_LARGEST_QUEUE = 10_000
"""What waits for the simulation; of a peer that floods, the oldest is lost."""


class ArrivalQueue:
    """What has arrived in threads of a middleware, until the bridge asks for it."""

    def __init__(self) -> None:
        self._waiting: queue.Queue[Callable[[], None]] = queue.Queue(_LARGEST_QUEUE)

    def put(self, handle: Callable[[], None]) -> None:
        """Keep what to do; where there is no room, the oldest goes."""
        while True:
            try:
                self._waiting.put_nowait(handle)
            except queue.Full:
                with contextlib.suppress(queue.Empty):
                    self._waiting.get_nowait()
            else:
                return

    def work(self) -> None:
        """Do all that was there at the beginning: a peer that floods does not stop the simulation."""
        for _ in range(self._waiting.qsize()):
            try:
                handle = self._waiting.get_nowait()
            except queue.Empty:
                return
            handle()


_PARAMETERS = "rcl_interfaces/srv"
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
                    InterfaceKind.SERVICE, "server", f"/{node}/{_spell(title)}", f"{_PARAMETERS}/{title}"
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
            names = [name for name in names if _is_below(name, prefixes)]
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


def _is_below(name: str, prefixes: Sequence[str]) -> bool:
    return any(name == prefix or name.startswith(f"{prefix}.") for prefix in prefixes)


def _refuse(reason: str) -> Message:
    return {"successful": False, "reason": reason}


def _spell(title: str) -> str:
    return "".join(f"_{c.lower()}" if c.isupper() else c for c in title).lstrip("_")
