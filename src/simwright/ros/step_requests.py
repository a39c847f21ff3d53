# SPDX-License-Identifier: Apache-2.0
"""Steps that peers ask for while a simulation is paused: the service StepSimulation and the action SimulateSteps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from simwright.core.errors import UsageError
from simwright.ros.simulator_answers import FAILED, OK, make_result
from simwright.ros.transports.transport import ActionBehaviour, GoalHandle, LateAnswer, Message


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
