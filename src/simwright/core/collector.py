# SPDX-License-Identifier: Apache-2.0
"""Python's collector of reference cycles, paused while many objects are made.

The collector looks through all objects again and again as their number grows.  A reader makes them by the ten
thousand and no cycles among them, so a third of its time would go into looking in vain.
"""

from __future__ import annotations

import gc
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
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            _spare_young()
            gc.enable()


def _spare_young() -> None:
    """Count what was made as old, unseen: looking through it right away would cost what the pause has saved.

    Freezing moves all objects aside and unfreezing makes them old, both without a look at them.  In a process that has
    frozen objects for good, nothing is done.  Counting those takes a look at each, so it is done now and then only.
    """
    global _frozen, _counted
    now = time.monotonic()
    if now - _counted > _AGAIN:
        _frozen, _counted = bool(gc.get_freeze_count()), now
    if not _frozen:
        gc.freeze()
        gc.unfreeze()


_AGAIN = 5.0
"""How long the answer is believed [s]."""
_frozen = False
_counted = -_AGAIN
