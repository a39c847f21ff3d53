# SPDX-License-Identifier: Apache-2.0
"""Reading with limits and writing whole.

Input is untrusted: size is checked before a byte is parsed.  Output is written beside its destination and
moved into place, so a reader sees the old file or the new one and never a part.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import InputError, LimitError, NotFoundError, OutputError, UnsafePathError

MIB = 1 << 20
MAX_TEXT_BYTES = 64 * MIB
"""Largest XML, YAML or JSON description that is read; real ones stay far below a tenth of it."""
_MOST_WRITERS = 100
"""Processes that write one file at the same time."""
_LONGEST_STEM = 200
"""File systems take names of 255 bytes."""


def check_readable(path: str | os.PathLike[str], max_bytes: int | None = MAX_TEXT_BYTES) -> Path:
    """The path of an existing, non-empty regular file within the size limit; else an InputError."""
    file = path if isinstance(path, Path) else Path(path)
    check_regular(str(file), max_bytes, Where(str(path)))
    return file


def check_regular(text: str, max_bytes: int | None, where: Where) -> None:
    """The same of a path as text, as it is asked for every layer of a stage."""
    try:
        if "\0" in text:
            raise NotFoundError("the path has a NUL character", where=where)
        # surrogates that no file name can hold raise a UnicodeEncodeError
        status = os.stat(text)  # noqa: PTH116
        if stat.S_ISDIR(status.st_mode):
            raise InputError("is a folder, not a file", hint="name a file inside it", where=where)
        # a named pipe would block for ever, a device never end
        if not stat.S_ISREG(status.st_mode):
            raise InputError("is not a regular file", where=where)
    except FileNotFoundError:
        raise NotFoundError("no such file", hint=suggest_sibling(Path(text)), where=where) from None
    except UnicodeEncodeError:
        raise NotFoundError("the path is not valid text", where=Where(ascii(text))) from None
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=where) from None
    size = status.st_size
    if size == 0:
        raise InputError("the file is empty", where=where)
    if max_bytes is not None and size > max_bytes:
        raise LimitError(
            f"the file has {size / MIB:.0f} MiB; the limit for this format is {max_bytes / MIB:.0f} MiB",
            hint="is it the right file? heavy geometry belongs in mesh files",
            where=where,
        )


def read_bytes(path: str | os.PathLike[str], max_bytes: int | None = MAX_TEXT_BYTES) -> bytes:
    """The content of a checked file (:func:`check_readable`)."""
    file = check_readable(path, max_bytes)
    try:
        return file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror or error}", where=Where(str(path))) from None


def resolve_inside(root: str | os.PathLike[str], relative: str, where: Where | None = None) -> Path:
    """``root/relative`` with every link and ``..`` resolved, which must stay below ``root``."""
    base = Path(root).resolve()
    target = (base / relative).resolve()
    if target != base and base not in target.parents:
        raise UnsafePathError(
            f"the path {relative!r} leaves its folder", hint="use a path inside it", where=where
        )
    return target


def write_atomic(path: str | os.PathLike[str], content: bytes | str) -> Path:
    """Write a whole file beside its destination, then move it into place."""
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    temporary = None
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, temporary = open_temporary(target)
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            # before the rename: after a power failure the new name could else stand for an empty file
            os.fsync(stream.fileno())
            temporary.chmod(_mode_for(target))
            temporary.replace(target)  # while it is locked: nobody takes it for a killed process's
    except OSError as error:
        if temporary is not None:
            temporary.unlink(missing_ok=True)
        raise OutputError(f"cannot be written: {error.strerror or error}", where=Where(str(path))) from None
    return target


def check_writable(path: str | os.PathLike[str]) -> Path:
    """Raise the error that writing would end with, before the work; nothing is left behind, no folder either."""
    target = Path(path).absolute()
    with _guard(Path(path)):
        # folders that are missing are made when the file is written
        near = next(folder for folder in target.parents if folder.exists())
        handle, temporary = open_temporary(near / target.name)
        os.close(handle)
        temporary.unlink()
    return Path(path)


class PartFile:
    """A file beside its destination, with the same ending, that others write by its name.

    It takes the place of the destination when it is finished.  One that a killed process left is used again.
    """

    def __init__(self, target: Path) -> None:
        self.target = target
        with _guard(target):
            target.parent.mkdir(parents=True, exist_ok=True)
            handle, self.path = open_temporary(target, target.suffix)
        self._handle: int | None = handle

    def finish(self) -> None:
        """Move it to its place."""
        try:
            with _guard(self.target):
                sync(self.path)
                self.path.chmod(_mode_for(self.target))
                self.path.replace(self.target)  # while it is locked: nobody takes it for a killed process's
        except OutputError:
            self.discard()
            raise
        self._close()

    def discard(self) -> None:
        """Leave nothing behind, unless it is finished."""
        if self._handle is not None:
            self.path.unlink(missing_ok=True)
            self._close()

    def _close(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None


@contextlib.contextmanager
def _guard(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=Where(str(target))) from None


def open_temporary(target: Path, suffix: str = "") -> tuple[int, Path]:
    """An empty file beside a target that nobody else writes; one that a killed process left is used again."""
    for number in range(1, _MOST_WRITERS):
        file = name_temporary(target, "part", number)
        file = file.with_name(file.name + suffix)
        with contextlib.suppress(BlockingIOError, FileNotFoundError):
            handle = lock_file(file)
            if handle is None:
                file.unlink()
                break
            try:
                is_ours = os.path.samestat(os.fstat(handle), file.lstat())  # not moved away before we had it
            except FileNotFoundError:
                is_ours = False
            if is_ours:
                os.truncate(handle, 0)
                return handle, file
            os.close(handle)
    handle, name = tempfile.mkstemp(prefix=".part.", suffix=suffix, dir=target.parent)
    return handle, Path(name)


def remove_temporary(file: Path) -> None:
    """Remove a file of :func:`open_temporary` that a killed process left; one that somebody writes stays."""
    with contextlib.suppress(OSError):
        handle = lock_file(file, create=False)
        if handle is not None:
            try:
                file.unlink()
            finally:
                os.close(handle)


def name_temporary(target: Path, word: str, number: int) -> Path:
    """A hidden name beside a target for something that is not complete yet; the same one the next time."""
    return target.with_name(hide_name(target.name, word, number))


def hide_name(name: str, word: str, number: int) -> str:
    """What :func:`name_temporary` calls the one beside a file of this name."""
    # cut by bytes, which file systems count, not by characters
    stem = os.fsdecode(os.fsencode(name)[:_LONGEST_STEM])
    return f".{stem}.{word}" + (f"-{number}" if number > 1 else "")


def lock_file(path: Path, *, create: bool = True, wait: bool = False) -> int | None:
    """Open a file or folder and lock it until it is closed; BlockingIOError if another process has.

    None where the system or the file system has no locks.
    """
    try:
        import fcntl
    except ImportError:
        return None
    flags = os.O_RDONLY if path.is_dir() else os.O_RDWR | os.O_NOFOLLOW | (os.O_CREAT if create else 0)
    handle = os.open(path, flags | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        os.close(handle)
        raise
    except OSError:
        os.close(handle)
        return None
    return handle


def sync(path: Path) -> None:
    """Wait until a file, or the list of files in a folder, is on the disk; file systems that cannot are let be."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    except OSError as error:
        if error.errno not in (errno.EINVAL, errno.ENOSYS, errno.EBADF, errno.EACCES):
            raise
    finally:
        os.close(handle)


def write_staged(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write ``{relative path: content}`` into a staging folder, which nobody reads yet."""
    for name, content in files.items():
        target = resolve_inside(folder, name)
        target.parent.mkdir(parents=True, exist_ok=True)
        # a file that is there already means that two parts of a result have one name
        with target.open("xb") as stream:
            stream.write(content)


def _mode_for(target: Path) -> int:
    """The mode the file has, or the one a new file would get."""
    return target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~_umask()


def _umask() -> int:
    # the system tells the mask only when it is set
    mask = os.umask(0)
    os.umask(mask)
    return mask


def suggest_sibling(file: Path) -> str:
    """A "did you mean" for a mistyped file name."""
    import difflib

    try:
        names = [entry.name for entry in os.scandir(file.parent)]
    except OSError:
        return ""
    close = difflib.get_close_matches(file.name, names, n=1, cutoff=0.6)
    return f"did you mean {str(file.parent / close[0])!r}?" if close else ""
