# SPDX-License-Identifier: Apache-2.0
"""What OpenUSD would print to stderr, caught as data.

``Tf`` warnings and statuses go straight to stderr unless somebody takes them.  :func:`capture` takes those of
the block, on this thread, and puts things back afterwards.  Errors still arrive as ``Tf.ErrorException``.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Message:
    """One thing OpenUSD had to say, and the C++ function that said it."""

    text: str
    function: str


@contextlib.contextmanager
def capture() -> Iterator[list[Message]]:
    """Collect the warnings of the block; the list is filled when the block ends."""
    from pxr import Tf

    messages: list[Message] = []
    # older releases of OpenUSD have no trap
    if not hasattr(Tf, "DiagnosticTrap"):
        with _delegate(messages):
            yield messages
        return
    with Tf.DiagnosticTrap() as trap:
        try:
            yield messages
        finally:
            messages.extend(map(_message, (*trap.GetErrors(), *trap.GetWarnings())))
            trap.Clear()


@contextlib.contextmanager
def _delegate(messages: list[Message]) -> Iterator[None]:
    """The same for releases before the thread-local trap: takes the messages of all threads."""
    from pxr import UsdUtils

    delegate = UsdUtils.CoalescingDiagnosticDelegate()
    try:
        yield
    finally:
        messages.extend(map(_message, delegate.TakeUncoalescedDiagnostics()))
        # it listens until it is destroyed
        del delegate


def _message(found: Any) -> Message:
    return Message(read_text(lambda: found.commentary).strip(), found.sourceFunction)


def read_text(give: Callable[[], str]) -> str:
    """What ``give`` gives; OpenUSD may quote bytes of a damaged file, which Python refuses as text."""
    try:
        return str(give())
    except UnicodeDecodeError as error:
        return bytes(error.object).decode("utf-8", "replace")
