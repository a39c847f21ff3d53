# SPDX-License-Identifier: Apache-2.0
"""The ``simwright`` block of a world file: what PyRoboSim's format has no place for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Reporter
from simwright.worlds.document import Refusal, WorldEntry

_KEYS = frozenset({"seed", "relative_mode", "entities", "categories"})
ENTITY_KEYS = frozenset({"height", "asset", "mass", "friction"})
"""Wall height [m], the file of a robot or prop, mass [kg], friction."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """What the block says; ``entities`` and ``categories`` map names to the keys of ``ENTITY_KEYS``."""

    seed: int = 0
    relative_mode: str = "reference"
    entities: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    categories: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def look_up(self, name: str, category: str, key: str) -> Any:
        """A value for an entity, else for its category, else None."""
        found = self.entities.get(name, {}).get(key)
        return self.categories.get(category, {}).get(key) if found is None else found


NOTHING_MORE = Extensions()


def read_extensions(root: WorldEntry, reporter: Reporter) -> Extensions:
    """Read the block; what is wrong in it is reported and left out."""
    try:
        entry = root.child("simwright")
        return Extensions() if entry is None else _read_block(entry, reporter)
    except Refusal as refusal:
        _report(reporter, refusal)
        return Extensions()


def _read_block(entry: WorldEntry, reporter: Reporter) -> Extensions:
    for key in entry.list_unknown(_KEYS):
        _report(reporter, entry.refuse_unknown(key, _KEYS))
    seed = entry.get("seed", 0)
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**32:
        raise entry.refuse_sort(seed, "a whole number from 0 to 4294967295", "seed")
    mode = entry.text("relative_mode", "reference")
    if mode not in {"reference", "frame"}:
        raise entry.refuse_sort(mode, "'reference' or 'frame'", "relative_mode")
    return Extensions(
        seed, mode, _read_named(entry, "entities", reporter), _read_named(entry, "categories", reporter)
    )


def _read_named(entry: WorldEntry, key: str, reporter: Reporter) -> dict[str, dict[str, Any]]:
    section = entry.child(key)
    found: dict[str, dict[str, Any]] = {}
    for name in section.data if section is not None else ():
        assert section is not None
        try:
            inner = section.child(name)
            if inner is not None:
                found[name] = _read_values(inner, reporter)
        except Refusal as refusal:
            _report(reporter, refusal)
    return found


def _read_values(entry: WorldEntry, reporter: Reporter) -> dict[str, Any]:
    for key in entry.list_unknown(ENTITY_KEYS):
        _report(reporter, entry.refuse_unknown(key, ENTITY_KEYS))
    values: dict[str, Any] = {}
    for key in ("height", "mass", "friction"):
        if key in entry:
            values[key] = entry.number(key)
            if values[key] < 0.0 or (values[key] == 0.0 and key != "friction"):
                raise entry.refuse_sort(values[key], "positive", key)
    if "asset" in entry:
        values["asset"] = entry.text("asset")
    return values


def _report(reporter: Reporter, refusal: Refusal) -> None:
    reporter.report(refusal.kind, refusal.where, **refusal.data)
