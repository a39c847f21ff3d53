# SPDX-License-Identifier: Apache-2.0
"""Python's collector of reference cycles, paused while many objects are made.

The collector looks through all objects again and again as their number grows.  A reader makes them by the ten
thousand and no cycles among them, so a third of its time would go into looking in vain.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """No search for cycles inside the block; afterwards everything is as it was.

    The setting is that of the process: other threads go without the search for as long, which costs them
    nothing but memory.
    """
    was_enabled = gc.isenabled()
    is_first = _noted is None
    if was_enabled and _has_grown():  # before, and not after: what the last one needed is garbage by now
        gc.collect()
        _note_memory()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            # few are looked through at once, and what the process has frozen stays so whatever is believed of it
            if gc.get_count()[0] > _MANY:
                _spare_young()
            gc.enable()
        if is_first:  # libraries that the first use imports are large and no garbage
            _note_memory()


def _has_grown() -> bool:
    """Has the process taken much more memory since all objects were last looked through?

    What is spared is looked at by the search among old objects only, which Python puts off for as long as few objects
    are known to have become old.  A stage of OpenUSD that a cycle keeps is small for Python and large for the system.
    """
    now = _measure_memory()
    if _noted is None:
        _note_memory()
        return False
    return now - _noted > _GROWTH


def _note_memory() -> None:
    global _noted  # noqa: PLW0603 - as long as the process
    _noted = _measure_memory()


def _measure_memory() -> int:
    """Memory of the process [bytes]; 0 where the system does not tell."""
    try:
        with open("/proc/self/statm", "rb") as stream:  # noqa: PTH123 - asked often
            return int(stream.read().split()[1]) * _PAGE
    except OSError:
        return 0


_GROWTH = 64 << 20
_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_noted: int | None = None


def _spare_young() -> None:
    """Count what was made as old, unseen: looking through it right away would cost what the pause has saved.

    Freezing moves all objects aside and unfreezing makes them old, both without a look at them.  In a process that has
    frozen objects for good, nothing is done.  Counting those takes a look at each, so it is done now and then only.
    """
    global _frozen, _believed_until  # noqa: PLW0603 - as long as the process
    start = time.monotonic()
    if start > _believed_until:
        _frozen = bool(gc.get_freeze_count())
        # among a million frozen objects that takes a tenth of a second
        now = time.monotonic()
        _believed_until = now + max(_AGAIN, _SHARE * (now - start))
    if not _frozen:
        gc.freeze()
        gc.unfreeze()


_MANY = 20_000
"""Objects that are not looked through as young: to look through fewer takes less than a millisecond."""
_AGAIN = 5.0
"""How long the answer is believed at least [s]."""
_SHARE = 1000.0
"""And as many times as long as it took."""
_frozen = False
_believed_until = -_AGAIN
