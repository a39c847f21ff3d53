# SPDX-License-Identifier: Apache-2.0
"""How far files are trusted, and how much one asset may ask for; a small file can stand for a lot.

The table :data:`BUDGETS` is the whole list.  What an asset asks for is added up (:class:`Tally`) from headers, counts
and texts before anything of that size is made; what goes beyond is a LimitError that names the budget.
``--limit NAME=VALUE`` raises one; so does the environment variable :data:`VARIABLE` (``NAME=VALUE,NAME=VALUE``), which
worker processes inherit.

``--offline`` and ``--untrusted`` say how far files are trusted.  Offline, nothing is fetched.  An untrusted file
moreover gets nothing from git, not even from the cache, names nothing outside its own folder, package or model, and
has a tenth of every budget.  Packages, folders and limits that the same command names still count.  Both are
environment variables, which worker processes inherit.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from simwright.core.diag import Where
from simwright.core.errors import LimitError, UnknownNameError, UsageError

OFFLINE = "SIMWRIGHT_OFFLINE"
UNTRUSTED = "SIMWRIGHT_UNTRUSTED"
ARCHIVES = (".usdz",)
"""Files that come in one piece from somewhere else: ``check`` trusts them only if it is told to."""
_OFFLINE_VARIABLES = (OFFLINE, "SAP_WARP_ASSET_OFFLINE")
_YES = frozenset({"1", "true", "yes", "on"})


def is_offline(environment: Mapping[str, str] | None = None) -> bool:
    """Is fetching switched off?"""
    return any(_is_set(name, environment) for name in (*_OFFLINE_VARIABLES, UNTRUSTED))


def is_untrusted() -> bool:
    """Are files taken for hostile?"""
    return _is_set(UNTRUSTED)


def distrusts(path: str | os.PathLike[str]) -> bool:
    """Is this file taken for hostile by ``check``?  Archives are, unless the user says whether."""
    said = os.environ.get(UNTRUSTED, "").strip()
    return is_untrusted() if said else os.fspath(path).lower().endswith(ARCHIVES)


@contextlib.contextmanager
def distrust(path: str | os.PathLike[str]) -> Iterator[None]:
    """Take a file that :func:`distrusts` names for hostile in the block."""
    if is_untrusted() or not distrusts(path):
        yield
        return
    before = os.environ.get(UNTRUSTED)
    os.environ[UNTRUSTED] = "1"
    try:
        yield
    finally:
        os.environ.pop(UNTRUSTED)
        if before is not None:
            os.environ[UNTRUSTED] = before


def _is_set(name: str, environment: Mapping[str, str] | None = None) -> bool:
    found = os.environ if environment is None else environment
    return name in found and found[name].strip().lower() in _YES


VARIABLE = "SIMWRIGHT_LIMITS"


@dataclass(frozen=True, slots=True)
class Budget:
    """One row: what is counted, how much of it one asset may have, and what the limit protects."""

    name: str
    default: int
    unit: str
    protects: str

    @property
    def strict(self) -> int:
        """How much an untrusted asset may have (:mod:`simwright.core.limits`)."""
        return self.default // 10


BUDGETS = {
    row.name: row
    for row in (
        Budget(
            "image-pixels",
            1 << 29,
            "pixels of all images an asset delivers, by their headers",
            "memory and time of converting images; files that are small only as long as they are packed",
        ),
        Budget(
            "baked-pixels",
            1 << 26,
            "pixels of images that glTF needs made again",
            "memory: they are kept as four floats each",
        ),
        Budget(
            "height-samples",
            1 << 25,
            "samples of all height fields",
            "memory: every sample is a double, and becomes two triangles",
        ),
        Budget(
            "mesh-elements",
            100_000_000,
            "vertices and face corners of all mesh files, every instance in a file counted",
            "memory: nodes of COLLADA and glTF files can use one mesh any number of times",
        ),
        Budget(
            "mjcf-elements",
            1_000_000,
            "elements of a model, replicas and attachments counted",
            "time and memory of MuJoCo's compiler",
        ),
        Budget(
            "mjcf-copies",
            5_000,
            "copies made by all <replicate> elements",
            "time: MuJoCo's grows with the square of their number, 4 s for 4,000",
        ),
        Budget(
            "mjcf-pixels",
            1 << 27,
            "pixels of all textures of a model, six sides of cubes counted",
            "memory: MuJoCo paints or decodes them when it compiles",
        ),
        Budget(
            "mjcf-numbers",
            50_000_000,
            "numbers of keyframes, user data, custom fields and user sensors",
            "memory: each is a double in the compiled model",
        ),
        Budget(
            "usd-layers",
            20_000,
            "layers of a stage, counted as often as they are sublayered",
            "time and memory of composing",
        ),
        Budget(
            "usd-prims",
            2_000_000,
            "prims of a stage, counted as often as they are referenced",
            "time and memory of composing: nine layers of ten references make a hundred million",
        ),
    )
}
"""Every budget by name."""


def get_limit(name: str) -> int:
    """How much of a budget there is."""
    raised = _parse(os.environ.get(VARIABLE, "").split(","), VARIABLE) if VARIABLE in os.environ else {}
    row = BUDGETS[name]
    return raised.get(name, row.strict if is_untrusted() else row.default)


def set_limits(pairs: Iterable[str]) -> None:
    """Take ``NAME=VALUE`` texts for this process and those it starts."""
    given = _parse(pairs, "--limit")
    if given:
        # kept in the environment and not in a variable here: worker processes have to know it too
        known = _parse(os.environ.get(VARIABLE, "").split(","), VARIABLE)
        os.environ[VARIABLE] = ",".join(f"{name}={value}" for name, value in {**known, **given}.items())


def _parse(pairs: Iterable[str], option: str) -> dict[str, int]:
    found = {}
    for pair in filter(None, pairs):
        name, equals, value = pair.partition("=")
        if name not in BUDGETS:
            raise UnknownNameError("limit", name, BUDGETS)
        digits = value.replace("_", "")
        # 18 digits fit 64 bits: everything that is counted against a limit does
        if not equals or not digits.isdecimal() or len(digits) > 18:
            raise UsageError(f"{option} takes NAME=VALUE with a whole number, got {pair!r}")
        found[name] = int(digits)
    return found


class Tally:
    """What one asset has asked for so far."""

    __slots__ = ("_totals",)

    def __init__(self) -> None:
        self._totals: dict[str, int] = {}

    def add(self, name: str, amount: int, where: Where | None = None) -> None:
        """Add to what was asked of a budget; a LimitError if that is more than there is."""
        # added up over the asset: a thousand files just below a limit for one file would pass it
        total = self._totals[name] = self._totals.get(name, 0) + amount
        check_limit(name, total, where)


def check_limit(name: str, total: int, where: Where | None = None) -> None:
    """A LimitError if ``total`` is more than a budget has."""
    limit = get_limit(name)
    if total > limit:
        raise LimitError(
            f"the asset asks for {total:,} {BUDGETS[name].unit}; the limit is {limit:,}",
            hint=f"is it the right file? --limit {name}={total} allows it",
            where=where,
        )
