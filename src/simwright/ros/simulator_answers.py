# SPDX-License-Identifier: Apache-2.0
"""What the services of ``simulation_interfaces`` say by numbers: states, scopes, codes of results.

At the end: steps that peers ask for while a simulation is paused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simwright.core.errors import NotFoundError, SimwrightError, UsageError
from simwright.ros.transports.transport import ActionBehaviour, GoalHandle, LateAnswer, Message

UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
"""Codes of Result."""
STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD = range(5)
"""States of SimulationState; a world is loaded while nobody is heard, so that loading is never seen."""
TIME_SCOPE, STATE_SCOPE, SPAWNED_SCOPE, ALL_SCOPES = 1, 2, 4, 255
"""Scopes of ResetSimulation."""
SPAWN_CODES = {
    "NAME_NOT_UNIQUE": 101, "NAME_INVALID": 102, "UNSUPPORTED_FORMAT": 103, "NO_RESOURCE": 104,
    "NAMESPACE_INVALID": 105, "RESOURCE_PARSE_ERROR": 106, "MISSING_ASSETS": 107, "INVALID_POSE": 109,
}  # fmt: skip
LOAD_CODES = {
    "UNSUPPORTED_FORMAT": 101, "NO_RESOURCE": 102, "RESOURCE_PARSE_ERROR": 103, "MISSING_ASSETS": 104,
    "UNSUPPORTED_ELEMENTS": 106,
}  # fmt: skip
STATE_CODES = {"ALREADY_IN_TARGET_STATE": 101, "INCORRECT_TRANSITION": 103}
NO_WORLD_LOADED = 101
SPAWN_FAILED = 150


class UnsupportedError(SimwrightError):
    """A peer asks for something that the standard has and Simwright has not."""

    code = "ros-unsupported"


class AnsweredError(SimwrightError):
    """A request cannot be met; ``number`` is the result code of the standard."""

    code = "ros-request"

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


class StateError(SimwrightError):
    """A request does not fit the state of the simulation."""

    code = "ros-state"


def make_result(number: int, reason: str = "") -> Message:
    """``simulation_interfaces/Result``."""
    return {"result": number, "error_message": reason}


def answer_request(
    handle: Callable[[Message], Message | LateAnswer], request: Message
) -> Message | LateAnswer:
    """What is done with a request; what goes wrong becomes its result."""
    try:
        given = handle(request)
    except AnsweredError as error:
        return {"result": make_result(error.number, error.message)}
    except NotFoundError as error:
        return {"result": make_result(NOT_FOUND, error.message)}
    except UnsupportedError as error:
        return {"result": make_result(UNSUPPORTED, error.message)}
    except StateError as error:
        return {"result": make_result(INCORRECT_STATE, error.message)}
    except SimwrightError as error:
        told = f"{error.message} ({error.hint})" if error.hint else error.message
        return {"result": make_result(FAILED, told)}
    return given if isinstance(given, LateAnswer) else {"result": make_result(OK), **given}


@dataclass(slots=True, eq=False)
class _StepJob:
    """Steps that a peer waits for."""

    left: int
    done: int = 0
    answer: LateAnswer | None = None
    handle: GoalHandle | None = None


class StepRequests(ActionBehaviour):
    """One request at a time; ``explain_no_steps`` says why none can be taken now, "" where they can."""

    def __init__(self, explain_no_steps: Callable[[], str]) -> None:
        self._explain = explain_no_steps
        self._job: _StepJob | None = None

    def is_waiting(self) -> bool:
        """Whether somebody waits for steps who has not changed their mind."""
        job = self._job
        if job is not None and job.handle is not None and job.handle.is_cancelled:
            self.end(OK, "", "canceled")
        return self._job is not None

    def count(self) -> None:
        """A step was taken."""
        job = self._job
        if job is None:
            return
        job.left, job.done = job.left - 1, job.done + 1
        if job.handle is not None:
            job.handle.tell({"completed_steps": job.done, "remaining_steps": job.left})
        if not job.left:
            self.end(OK)

    def end(self, code: int, reason: str = "", state: str = "") -> None:
        """Answer who waits."""
        job, self._job = self._job, None
        if job is None:
            return
        result = {"result": make_result(code, reason)}
        if job.answer is not None:
            job.answer.give(result)
        if job.handle is not None:
            job.handle.finish(state or ("succeeded" if code == OK else "aborted"), result)

    def ask(self, request: Message) -> LateAnswer:
        """StepSimulation: the answer comes when the steps are done."""
        steps = int(request["steps"])
        self._check(steps)
        answer = LateAnswer()
        self._job = _StepJob(steps, answer=answer)
        return answer

    def refuse(self, goal: Message) -> str:
        """See the base class; every goal is taken, and one that cannot be met says so in its result."""
        del goal
        return ""

    def begin(self, handle: GoalHandle) -> None:
        """See the base class."""
        steps = int(handle.goal["steps"])
        try:
            self._check(steps)
        except UsageError as error:
            handle.finish("aborted", {"result": make_result(FAILED, error.message)})
            return
        self._job = _StepJob(steps, handle=handle)

    def _check(self, steps: int) -> None:
        reason = self._explain()
        if reason:
            raise UsageError(reason)
        if self._job is not None:
            raise UsageError(f"{self._job.left} steps of another request are not done yet")
        if steps < 1:
            raise UsageError("no steps to do")
