# SPDX-License-Identifier: Apache-2.0
"""Putting a folder in the place of another one, in one step where the system can.

Linux exchanges two paths at once (``renameat2`` with ``RENAME_EXCHANGE``): whoever looks, and whenever the process is
killed, the old folder or the new one is there, whole.  Elsewhere the old folder is moved aside first, and moved back
if the new one cannot take its place.
"""

from __future__ import annotations

import errno
import os
import shutil
import sys
import tempfile
from pathlib import Path

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)


def replace_folder(staging: Path, target: Path) -> None:
    """Move ``staging`` to ``target``; an older folder there is removed.  Both are in one file system."""
    if not target.exists():
        staging.rename(target)
    elif exchange(staging, target):
        shutil.rmtree(staging, ignore_errors=True)
    else:
        _replace_in_steps(staging, target)


def exchange(one: Path, other: Path) -> bool:
    """Let two existing paths change places; False where the system or the file system cannot."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes  # not needed before something is replaced

    try:
        rename = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    code = ctypes.get_errno()
    if code in _UNSUPPORTED:
        return False
    raise OSError(code, os.strerror(code), str(other))


def _replace_in_steps(staging: Path, target: Path) -> None:
    aside = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    old = aside / target.name
    target.rename(old)
    try:
        staging.rename(target)
    except OSError:
        old.rename(target)
        aside.rmdir()
        raise
    shutil.rmtree(aside, ignore_errors=True)
