# SPDX-License-Identifier: Apache-2.0
"""Putting files into a folder, all of them or none.

A folder that is new appears by one rename.  One that is there stays what it is (a shell or a container may stand in
it, it may be a mount point): whole files are moved into it, and nothing is looked at but the files that are written.

The files are complete and on disk in a staging folder, ``.NAME.simwright``, before the first one is moved.  A journal
beside them says what is moved where.  Where several files are replaced, the file that others open is taken away first
and comes last, so that nobody opens a mixture.  Whoever writes there or reads from there next (:func:`recover`) undoes
what a killed process left, and removes its staging folder.  A lock tells the killed from the living.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from simwright.core.diag import Where
from simwright.core.errors import OutputError
from simwright.core.files import hide_name, lock_file, name_temporary, resolve_inside, sync

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_UNSUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP, errno.EPERM)
_MOST_STALE = 8
"""Staging folders of killed processes that are looked for at one place."""
_WORD = "simwright"
"""What the names of staging folders end with."""
_OLD = 86400.0
"""Where there are no locks, nobody works on a staging folder for this long [s]."""


@dataclass(frozen=True, slots=True)
class Move:
    """A staged file and where it goes; digests of what is there (None: nothing) and of what comes (None: nothing)."""

    name: str
    target: str
    old: str | None
    new: str | None
    backup: str = ""


class Staging:
    """A private folder beside files that are going to be written; ``new`` is what it is filled with."""

    def __init__(self, parent: Path, name: str) -> None:
        self._lock: int | None = None
        self.path = self._claim(parent, name)
        self.new, self.old, self.journal = (self.path / word for word in ("new", "old", "journal"))
        self.new.mkdir()

    def _claim(self, parent: Path, name: str) -> Path:
        """A new folder; that it is locked tells others that its process lives."""
        number = 0
        while True:
            number += 1
            path = _name_staging(parent, name, number)
            try:
                if path.is_dir():
                    _clean(path)
                path.mkdir(mode=0o700)
                self._lock = lock_file(path, create=False)
                if self._lock is None or os.path.samestat(os.fstat(self._lock), path.stat()):
                    return path
                os.close(self._lock)
            # others claim or clean at the same moment
            except (FileExistsError, BlockingIOError, FileNotFoundError):
                if not parent.is_dir():
                    raise

    def close(self) -> None:
        """Remove the folder, unless it holds what is needed to undo something."""
        if not self.journal.exists():
            shutil.rmtree(self.path, ignore_errors=True)
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def list_files(self) -> list[str]:
        """Relative names of the staged files."""
        return sorted(file.relative_to(self.new).as_posix() for file in self.new.rglob("*") if file.is_file())


@contextlib.contextmanager
def write_folder(
    path: str | os.PathLike[str],
    *,
    last: str | Sequence[str] = "",
    remove: Sequence[str] = (),
    protect: bool = False,
    written: list[Path] | None = None,
) -> Iterator[Path]:
    """A staging folder whose files go to ``path`` when the block ends; nothing happens when it fails.

    ``last`` is the file that others open (several: the last of them names the staging folder), ``remove`` are files of
    an earlier result.  With ``protect``, a file that is there and says something else, but ``last``, is an OutputError.
    ``written`` is told all files.
    """
    target = Path(path).resolve()
    with guard_writing(path):
        recover(target.parent, target.name)
        is_new = not target.exists()
        if is_new:
            target.parent.mkdir(parents=True, exist_ok=True)
            staging = Staging(target.parent, target.name)
        else:
            name = _list_last(last)[-1] or target.name
            recover(target, name)
            staging = Staging(target, name)
        try:
            yield staging.new
            names = staging.list_files()
            if is_new:
                _sync_all(staging.new)
                staging.new.rename(target)
                sync(target.parent)
            else:
                put_files(staging, target, last=last, remove=remove, protect=protect)
        finally:
            staging.close()
    if written is not None:
        written += [Path(path) / name for name in names]


@contextlib.contextmanager
def guard_writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """What the system refuses becomes an OutputError about a path."""
    try:
        yield
    except OSError as error:
        raise OutputError(f"cannot be written: {error.strerror or error}", where=Where(str(path))) from None


def put_files(
    staging: Staging,
    folder: Path,
    *,
    last: str | Sequence[str] = "",
    remove: Sequence[str] = (),
    protect: bool = False,
    expected: Mapping[str, str | None] | None = None,
    backups: Mapping[str, str] | None = None,
) -> None:
    """Move all staged files into an existing folder, or none; ``staging`` is inside it.

    ``expected`` are digests of what is replaced: another content stops everything.  ``backups`` are names under which
    replaced files are kept.  The other arguments are those of :func:`write_folder`.
    """
    gates = _list_last(last)
    names = sorted(staging.list_files(), key=lambda name: gates.index(name) if name in gates else -1)
    moves = [
        _plan_move(
            staging,
            folder,
            name,
            is_staged=name in names,
            is_protected=protect and name not in gates,
            expected=expected or {},
            backup=(backups or {}).get(name, ""),
        )
        for name in (*names, *(name for name in remove if name not in names))
    ]
    moves, gates = _leave_out_equal(moves, gates)
    if moves:
        _sync_all(staging.new)
        with _alone(folder):
            _move_all(staging, folder, moves, gates)


def recover(folder: Path, name: str) -> None:
    """Undo what a killed process left of writing ``name`` in a folder, and remove its staging folders."""
    # as text: asked before every asset is read
    place, own = os.path.split(os.path.join(folder, name))  # noqa: PTH118
    try:
        first = os.path.join(place, hide_name(own, _WORD, 1))  # noqa: PTH118
    except ValueError:  # no name of a file
        return
    if own in ("", "."):
        return
    for number in range(1, _MOST_STALE + 1):
        path = f"{first}-{number}" if number > 1 else first
        if os.path.isdir(path):  # noqa: PTH112
            with guard_writing(path):
                _clean(Path(path))


def compute_digest(file: Path) -> str | None:
    """SHA-256 of a file's content; None if nothing is there."""
    import hashlib  # brings OpenSSL: some MiB that conversions into new folders do not need

    try:
        with file.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except FileNotFoundError:
        return None


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


def is_staging(name: str) -> bool:
    """Is this the name of a staging folder?"""
    stem, dot, tail = name.rpartition(".")
    return bool(dot) and stem.startswith(".") and tail.partition("-")[0] == "simwright"


# -- moving --------------------------------------------------------------------------------------------------------


def _plan_move(
    staging: Staging,
    folder: Path,
    name: str,
    *,
    is_staged: bool,
    is_protected: bool,
    expected: Mapping[str, str | None],
    backup: str,
) -> Move:
    """What is to be done with one file; refuses where somebody else's content would be lost."""
    target = resolve_inside(folder, name, Where(str(folder / name)))
    relative = target.relative_to(folder.resolve()).as_posix()
    old = compute_digest(target)
    new = compute_digest(staging.new / name) if is_staged else None
    # None is a promise too: that nothing is there
    if name in expected and expected[name] != old:
        raise _changed(target)
    if old is not None and old != new and is_protected:
        raise OutputError(
            "already exists with other content; nothing was written",
            hint="name an empty folder, or use --overwrite",
            where=Where(str(target)),
        )
    return Move(name, relative, old, new, backup if old is not None else "")


def _leave_out_equal(moves: list[Move], gates: Sequence[str]) -> tuple[list[Move], Sequence[str]]:
    """The moves that change something, and the files to take away before the first of them."""
    replaced = [move for move in moves if None not in (move.old, move.new) and move.old != move.new]
    # one file is replaced at once by its rename; only among several could a reader meet old and new together
    if len(replaced) <= 1:
        return [move for move in moves if move.old != move.new], ()
    return [move for move in moves if move.old != move.new or move.name in gates], gates


def _move_all(staging: Staging, folder: Path, moves: list[Move], gates: Sequence[str]) -> None:
    fresh = sorted(_find_missing_folders(folder, moves))
    # the journal is on disk before the first file is moved: a power failure in between is undone from
    # it
    _write_synced(
        staging.journal,
        json.dumps(
            {
                "staging": staging.path.stat().st_ino,
                "moves": [asdict(move) for move in moves],
                "folders": fresh,
            }
        ).encode(),
    )
    sync(staging.path)
    try:
        for move in moves:
            if move.backup:
                _keep(folder / move.target, folder / move.backup)
        for move in moves:
            if move.name in gates and move.old is not None:
                _take(staging, folder, move)
        for move in moves:
            _apply(staging, folder, move, is_single=not gates)
        for place in {(folder / move.target).parent for move in moves}:
            sync(place)
    except BaseException:
        _undo(staging.path)
        raise
    staging.journal.unlink()
    sync(staging.path)


def _apply(staging: Staging, folder: Path, move: Move, *, is_single: bool) -> None:
    target, new, old = folder / move.target, staging.new / move.name, staging.old / move.name
    if move.new is None:
        if move.old is not None:
            _take(staging, folder, move)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    if move.old is None:
        _move_to_free(new, target)
        return
    if old.exists():
        new.chmod(old.stat().st_mode & 0o777)
        _move_to_free(new, target)
        return
    # a file that is replaced keeps its rights
    new.chmod(target.stat().st_mode & 0o777)
    if not is_single:
        _take(staging, folder, move)
        _move_to_free(new, target)
    # exchanged, not replaced: what somebody else wrote meanwhile is then in our hands and not lost
    elif exchange(new, target):
        if compute_digest(new) != move.old:
            raise _changed(target)
    else:
        old.parent.mkdir(parents=True, exist_ok=True)
        _keep(target, old)
        new.replace(target)


def _take(staging: Staging, folder: Path, move: Move) -> None:
    """Move what is there into the staging folder, where it has to be what was expected."""
    old = staging.old / move.name
    old.parent.mkdir(parents=True, exist_ok=True)
    (folder / move.target).rename(old)
    if compute_digest(old) != move.old:
        raise _changed(folder / move.target)


def _move_to_free(file: Path, target: Path) -> None:
    """Move a file to where nothing is; what came there meanwhile stays."""
    try:
        os.link(file, target, follow_symlinks=False)
    except FileExistsError:
        raise _changed(target) from None
    except OSError:  # a file system without hard links
        if target.exists():
            raise _changed(target) from None
        file.rename(target)
    else:
        file.unlink()


def _keep(file: Path, backup: Path) -> None:
    """A second name for a file; a copy where the file system has no hard links."""
    try:
        os.link(file, backup, follow_symlinks=False)
    except FileExistsError:
        raise _changed(backup) from None
    except OSError:
        shutil.copy2(file, backup)
        sync(backup)


def _changed(file: Path) -> OutputError:
    return OutputError(
        "was changed by somebody else meanwhile; nothing was written",
        hint="look at the change, then run the command again",
        where=Where(str(file)),
    )


def _list_last(last: str | Sequence[str]) -> Sequence[str]:
    return [last] if isinstance(last, str) else last


def _find_missing_folders(folder: Path, moves: list[Move]) -> set[str]:
    places = {parent for move in moves for parent in Path(move.target).parents}
    return {place.as_posix() for place in places if not (folder / place).exists()}


# -- undoing -------------------------------------------------------------------------------------------------------


def _clean(path: Path) -> None:
    """Remove a staging folder whose process is gone, after what it had begun is undone."""
    try:
        lock = lock_file(path, create=False)
        if lock is None and time.time() - path.stat().st_mtime < _OLD:
            return
    except (BlockingIOError, FileNotFoundError, PermissionError):
        return
    try:
        # the folder may have gone while we waited for its lock, and another process made a new one of that name
        if lock is not None and not os.path.samestat(os.fstat(lock), path.stat()):
            return
        if not _is_ours(path):
            return
        if (path / "journal").exists():
            with _alone(path.parent):
                _undo(path)
        shutil.rmtree(path, ignore_errors=True)
    except FileNotFoundError:
        return
    finally:
        if lock is not None:
            os.close(lock)


def _is_ours(path: Path) -> bool:
    """Did this user make the folder, on this disk?  One that came with an asset must not tell us what to move."""
    if path.is_symlink() or (hasattr(os, "getuid") and path.stat().st_uid != os.getuid()):
        return False
    try:
        data = json.loads((path / "journal").read_bytes())
        return bool(data["staging"] == path.stat().st_ino)
    except FileNotFoundError:
        return True
    except (OSError, ValueError, KeyError, TypeError):
        return False


def _undo(path: Path) -> None:
    """Put everything back as it was; what others changed since then stops that, and nothing of it is lost."""
    folder, journal = path.parent, path / "journal"
    data = json.loads(journal.read_bytes())
    moves = [Move(**move) for move in data["moves"]]
    for move in reversed(moves):
        _take_back(path, folder, move)
    for move in moves:
        _put_back(path, folder, move)
    for place in sorted(data["folders"], reverse=True):
        with contextlib.suppress(OSError):
            (folder / place).rmdir()
    for place in {(folder / move.target).parent for move in moves}:
        if place.is_dir():
            sync(place)
    journal.unlink()


def _take_back(path: Path, folder: Path, move: Move) -> None:
    """Remove a file that was moved in."""
    target, new, old = folder / move.target, path / "new" / move.name, path / "old" / move.name
    is_moved = move.new is not None and (not new.exists() or (target.exists() and new.samefile(target)))
    found = compute_digest(target)
    if not is_moved or found in (None, move.old):
        return
    if found != move.new:
        raise _stuck(path, target)
    if old.exists() or move.old is None:
        target.unlink()


def _put_back(path: Path, folder: Path, move: Move) -> None:
    """Give the old content of a file back, and remove its backup."""
    # one function, although long: the cases are those of _apply in reverse, and each rules the others out
    target, new, old = folder / move.target, path / "new" / move.name, path / "old" / move.name
    found = compute_digest(target)
    if old.exists():
        if found is None:
            target.parent.mkdir(parents=True, exist_ok=True)
            old.rename(target)
        elif found != compute_digest(old) and found != move.old:
            raise _stuck(path, target)
    elif new.exists() and move.old is not None and compute_digest(new) != move.new:  # the two changed places
        if found not in (None, move.new):
            raise _stuck(path, target)
        new.replace(target)
    backup = folder / move.backup if move.backup else None
    if backup is not None and backup.exists() and compute_digest(backup) == compute_digest(target):
        backup.unlink()


def _stuck(path: Path, target: Path) -> OutputError:
    return OutputError(
        f"an interrupted write cannot be undone, since this file was changed afterwards; the old files are in {path}",
        hint="take out of that folder what you need, then delete it",
        where=Where(str(target)),
    )


# -- places and locks ----------------------------------------------------------------------------------------------


def _name_staging(parent: Path, name: str, number: int) -> Path:
    return name_temporary(parent / name, _WORD, number)


@contextlib.contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """One process at a time moves files in a folder, where the file system has locks."""
    lock = lock_file(folder, wait=True)
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _write_synced(file: Path, data: bytes) -> None:
    part = file.with_name(f"{file.name}.part")
    part.write_bytes(data)
    sync(part)
    part.rename(file)


def _sync_all(folder: Path) -> None:
    for base, _, names in os.walk(folder):
        for name in names:
            sync(Path(base) / name)
        sync(Path(base))
