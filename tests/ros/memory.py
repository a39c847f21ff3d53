"""A transport that keeps everything in memory: what a bridge sends, and what a peer would say to it."""

from __future__ import annotations

from typing import Any

from simwright.engines.protocol import Closeable
from simwright.ros.graph import RosEndpoint
from simwright.ros.transports.transport import (
    ActionBehaviour,
    Answer,
    Change,
    GoalHandle,
    Message,
    ParameterValue,
    Receive,
    Sender,
    Transport,
)


class MemoryTransport(Transport):
    name = "memory"

    def __init__(self) -> None:
        self.sent: dict[str, list[tuple[int, Message]]] = {}
        self.opened: dict[str, RosEndpoint] = {}
        self.receivers: dict[str, Receive] = {}
        self.answers: dict[str, Answer] = {}
        self.actions: dict[str, ActionBehaviour] = {}
        self.parameters: list[tuple[dict[str, ParameterValue], Change]] = []

    def explain_unknown(self, type_name: str) -> str:
        return "it is unknown in memory" if type_name.startswith("unknown_") else ""

    def advertise(self, endpoint: RosEndpoint) -> Sender:
        self.opened[endpoint.name] = endpoint
        return MemorySender(self, endpoint.name)

    def _keep(self, table: dict[str, Any], endpoint: RosEndpoint, value: Any) -> Closeable:
        self.opened[endpoint.name] = endpoint
        table[endpoint.name] = value
        return Forget(table, endpoint.name)

    def subscribe(self, endpoint: RosEndpoint, receive: Receive) -> Closeable:
        return self._keep(self.receivers, endpoint, receive)

    def serve(self, endpoint: RosEndpoint, answer: Answer) -> Closeable:
        return self._keep(self.answers, endpoint, answer)

    def act(self, endpoint: RosEndpoint, behaviour: ActionBehaviour) -> Closeable:
        return self._keep(self.actions, endpoint, behaviour)

    def offer_parameters(self, values: dict[str, ParameterValue], change: Change) -> Closeable:
        offered = (values, change)
        self.parameters.append(offered)
        return Withdraw(self.parameters, offered)

    def turn(self, name: str, state: bool) -> str:
        """Turn an endpoint or controller on or off."""
        return self.set_parameter(f"enabled.{name}", state)

    def set_parameter(self, name: str, value: ParameterValue) -> str:
        for values, change in self.parameters:
            if name in values:
                return change(name, value)
        return f"there is no parameter {name!r}"

    def close(self) -> None:
        pass

    def last(self, name: str) -> Message:
        return self.sent[name][-1][1]


class MemorySender(Sender):
    def __init__(self, transport: MemoryTransport, name: str) -> None:
        self._sent, self.name = transport.sent.setdefault(name, []), name

    def send(self, message: Message, time: int) -> None:
        self._sent.append((time, message))

    def close(self) -> None:
        pass


class Forget(Closeable):
    def __init__(self, table: dict[str, Any], name: str) -> None:
        self._table, self._name = table, name

    def close(self) -> None:
        self._table.pop(self._name, None)


class Withdraw(Closeable):
    def __init__(self, offered: list[Any], one: Any) -> None:
        self._offered, self._one = offered, one

    def close(self) -> None:
        if self._one in self._offered:
            self._offered.remove(self._one)


class MemoryGoal(GoalHandle):
    def __init__(self, goal: Message) -> None:
        self.goal, self.wants_end = goal, False
        self.feedback: list[Message] = []
        self.state, self.result = "", Message()

    @property
    def is_cancelled(self) -> bool:
        return self.wants_end

    def tell(self, feedback: Message) -> None:
        self.feedback.append(feedback)

    def finish(self, state: str, result: Message) -> None:
        self.state, self.result = state, result


def make_trajectory(joints: list[str], *points: tuple[float, list[float]]) -> Message:
    """A goal of FollowJointTrajectory: times [s] and positions."""
    return {
        "trajectory": {
            "header": {"stamp": {"sec": 0, "nanosec": 0}, "frame_id": ""},
            "joint_names": joints,
            "points": [
                {
                    "positions": positions,
                    "velocities": [],
                    "accelerations": [],
                    "time_from_start": {"sec": int(time), "nanosec": round(time % 1 * 1e9)},
                }
                for time, positions in points
            ],
        },
        "path_tolerance": [],
        "goal_tolerance": [],
        "goal_time_tolerance": {"sec": 0, "nanosec": 0},
    }
