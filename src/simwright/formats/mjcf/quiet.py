# SPDX-License-Identifier: Apache-2.0
"""MuJoCo without its prints: what it warns about is collected instead, and its hooks are put back."""

from __future__ import annotations

import contextlib
import threading
import warnings
from collections.abc import Iterator
from typing import Any

# MuJoCo's hook is one C function pointer of the process
_LOCK = threading.Lock()


@contextlib.contextmanager
def quiet_mujoco() -> Iterator[list[str]]:
    """Collect MuJoCo's warnings, its own and Python's; both hooks are process-wide: one thread at a time."""
    import mujoco

    # without a hook MuJoCo prints, and writes MUJOCO_LOG.TXT into the current folder
    texts: list[str] = []
    with _LOCK, warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(texts.append)
        try:
            yield texts
        finally:
            mujoco.set_mju_user_warning(before)
            texts.extend(str(warning.message) for warning in caught)


def keep_log_away() -> None:
    """Let warnings of a running simulation be dropped instead of written to a log file in the current folder.

    Who steps a simulation looks at its state and at MuJoCo's counters of warnings.  A hook that somebody has set stays.
    """
    import mujoco

    if mujoco.get_mju_user_warning() is None:
        mujoco.set_mju_user_warning(_drop)


def _drop(text: str) -> None:
    """Nothing to do: the counters in the data tell it."""


def list_refusals(mujoco: Any) -> tuple[type[BaseException], ...]:
    """What MuJoCo raises for a model that it does not take."""
    # MuJoCo raises ValueError for models, FatalError for what mju_error ends; bad_alloc becomes MemoryError
    return (ValueError, RuntimeError, MemoryError, mujoco.FatalError, mujoco.UnexpectedError)
