# SPDX-License-Identifier: Apache-2.0
"""The cyclic garbage collector, held off while a stage is read and judged.

A big stage makes a million small objects that live to the end and hardly a cycle, and the collector would look
at all of them again and again: about a fifth of the time of a run.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def pause_collector() -> Iterator[None]:
    """No collection of cycles inside; afterwards it is as it was, also after an exception."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
