# SPDX-License-Identifier: Apache-2.0
"""What engines answered to single questions, while nothing that decides the answer has changed.

An answer is known by the files that the engine was given, the packages of its environment, the source of its worker,
gravity, ground and solver, and the question.  So a new version of Simwright that writes the same file asks nothing
again.  Motions of MuJoCo in this process are known by the model that was compiled: an engine that is installed later
is compared without doing them again.  Errors and missing answers are not kept.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from simwright.checker.cache import Cache, hash_file, open_cache
from simwright.prover.table import IsolatedEngine

WORKERS = Path(__file__).resolve().parent / "workers"
_MAX_BYTES = 512 << 20


class AnswerCache:
    """A store of answers; with no folder it holds nothing."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    def make_context(self, row: IsolatedEngine, file: Path, world: Mapping[str, Any]) -> str:
        """All that an answer depends on besides the question; empty where nothing is kept."""
        if self._cache.folder is None:
            return ""
        given = {str(one.relative_to(file.parent)): hash_file(str(one)) for one in _list_files(file.parent)}
        parts = (row.environment.folder.name, _hash_worker(row.worker), file.name, given, dict(world))
        return self._cache.make_key("given", *parts)

    def make_own_context(self, engine: str, save: Callable[[], bytes]) -> str:
        """The same for a model that an engine, with its version, has compiled in this process; ``save`` gives it."""
        if self._cache.folder is None:
            return ""
        return self._cache.make_key("own", engine, _hash_worker("mujoco"), hashlib.sha256(save()).hexdigest())

    def find(self, context: str, question: Mapping[str, Any]) -> dict[str, Any] | None:
        """The answer to a question, if it is known."""
        return self._cache.get(self._make_key(context, question)) if context else None

    def keep(self, context: str, question: Mapping[str, Any], told: dict[str, Any]) -> None:
        """Keep an answer, unless it is an error: the next time there may be more memory or time."""
        if context and "error" not in told:
            self._cache.put(self._make_key(context, question), told)

    def trim(self) -> None:
        """Remove what was not used for the longest time where there is too much."""
        self._cache.trim(_MAX_BYTES)

    def _make_key(self, context: str, question: Mapping[str, Any]) -> str:
        # where the file lies does not matter, what is in it is in the context
        said = {name: value for name, value in question.items() if name != "file"}
        return self._cache.make_key("answer", context, json.dumps(said, sort_keys=True))


def open_answers(enabled: bool = True) -> AnswerCache:
    """The user's cache of answers; one that holds nothing where that is not wanted."""
    return AnswerCache(open_cache(enabled, "answers", ()))


def _list_files(folder: Path) -> list[Path]:
    return sorted(file for file in folder.rglob("*") if file.is_file())


@functools.cache
def _hash_worker(name: str) -> str:
    return " ".join(hash_file(str(WORKERS / f"{one}.py")) for one in (name, "seen"))
