# SPDX-License-Identifier: Apache-2.0
"""What a fix is: one small function for one rule (or a few that want the same), in a module of ``sanitizer.fixes``.

::

    @fix("units-kilograms")
    def author_kilograms(editor: Editor, finding: Diagnostic, given: UserValues) -> None:
        editor.set_layer_info("kilogramsPerUnit", 1.0)

The function looks at ``editor.stage`` and at the finding (its prim, property and ``data``), and asks the editor for
edits; it changes nothing itself.  It raises :class:`~simwright.usd.edit.Refused` where it cannot do what it says.  It
asks for nothing where there is nothing left to do, so that a second run changes nothing.

Other packages announce theirs as entry points in the group ``simwright.fixes``; a fix of ours stays in force.

Also the table of every value that a user can give to fixes (``--set NAME=VALUE``, ``[fix]`` in ``simwright.toml``).
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias

from simwright.core.diag import Diagnostic, Where
from simwright.core.errors import UnknownNameError
from simwright.core.registry import Registry
from simwright.usd.edit import Editor

LAYERS = 3
"""The phase of fixes that change where something is said and nothing else."""

DIVIDED = "divided"
"""Key of ``Editor.known``: every opinion is in its layer, so nothing more is moved before the next check."""


@dataclass(frozen=True, slots=True)
class UserValues:
    """What a user says beyond the asset: by name, such as ``identifier`` or ``version``."""

    by_name: Mapping[str, str] = field(default_factory=dict)

    def find(self, name: str) -> str:
        """A value, empty if it is not given."""
        return self.by_name.get(name, "")

    def find_group(self, prefix: str) -> dict[str, str]:
        """Values whose names start in the same way, by the rest of the name."""
        return {
            name[len(prefix) :]: value
            for name, value in self.by_name.items()
            if value and name.startswith(prefix)
        }

    def is_told(self, name: str) -> bool:
        """Is a value given?  A name that ends with a dot stands for a group."""
        return bool(self.find_group(name) if name.endswith(".") else self.find(name))


Apply: TypeAlias = Callable[[Editor, Diagnostic, UserValues], None]


@dataclass(frozen=True, slots=True)
class Fixer:
    """A declared fix.

    ``codes`` are the rules it repairs.  ``values`` names values of the user that let it run without ``--unsafe``,
    because they say what is meant.  ``changes`` are sections of the comparison (:mod:`simwright.compare`) that it may
    change, because that is what it is for; ``stage`` allows prims to come, go or stand elsewhere.  ``phase`` orders
    fixes: structure (0), transforms (1), values (2), layers (3).
    """

    codes: tuple[str, ...]
    apply: Apply = field(repr=False)
    values: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    phase: int = 2
    module: str = ""

    @property
    def name(self) -> str:
        """The first rule stands for all."""
        return self.codes[0]


def fix(
    *codes: str, values: tuple[str, ...] = (), changes: tuple[str, ...] = (), phase: int = 2
) -> Callable[[Apply], Fixer]:
    """Declare a fix: decorates its function."""

    def declare_fix(apply: Apply) -> Fixer:
        return Fixer(codes, apply, values, changes, phase, apply.__module__)

    return declare_fix


PLUGIN_FIXES: Registry[Fixer] = Registry("fix", "simwright.fixes", {})
"""Fixes of other packages, by entry point."""


@cache
def all_fixers() -> Mapping[str, Fixer]:
    """Every fix by rule code, in the order in which they run; where several are for one rule, ours counts."""
    from simwright.sanitizer import fixes

    # one function: finding, checking and choosing share the list, and it runs once
    found: list[Fixer] = []
    # found by looking: a new fix is a new function in a module, and no table has to be edited
    for module in pkgutil.walk_packages(fixes.__path__, f"{fixes.__name__}."):
        if not module.ispkg:
            values = vars(importlib.import_module(module.name)).values()
            found += [value for value in values if isinstance(value, Fixer) and value.module == module.name]
    codes = [code for fixer in found for code in fixer.codes]
    # of two fixes for one rule the second would never run
    assert len(codes) == len(set(codes)), "two fixes of ours for one rule"
    found += [plugin for _, plugin in PLUGIN_FIXES.items(None) if isinstance(plugin, Fixer)]
    chosen: dict[str, Fixer] = {}
    for fixer in found:
        for code in fixer.codes:
            # ours come first in the list, so a plugin cannot replace them unseen
            chosen.setdefault(code, fixer)
    return dict(sorted(chosen.items(), key=lambda item: (item[1].phase, item[1].name)))


VALUES: dict[str, str] = {
    "identifier": "assetInfo identifier of the asset",
    "version": "assetInfo version of the asset",
    "name": "assetInfo name of the asset",
    "license": "assetInfo license of the asset",
    "package-uri": "assetInfo ros package_uri: the package:// address of what the asset was made from",
    "default-prim": "the root prim that is the asset",
    "variant.": "variant.SET: the variant of a set that is selected",
    "address.": "address.PREFIX: the folder, or package:// address, where files with that prefix are now",
    "mass.": "mass.LINK: what a link weighs that has neither a mass nor a collider [kg]",
    "units": "convert: let the asset be in metres, kilograms, seconds and Z-up",
    "meters-per-unit": "the unit of length of an asset that does not say it [m]",
    "kilograms-per-unit": "the unit of mass of an asset that does not say it [kg]",
    "up-axis": "the up axis of an asset that does not say it",
    "inertia-order": "urdf or mujoco: the order of six inertia values",
    "unknown-physics": "remove or isolate: what becomes of physics: properties that no schema has",
    "articulation-root": "joint: move the root of a fixed base to its joint, though MuJoCo's USD reader then refuses",
    "static-friction": "of physics materials that do not say it",
    "dynamic-friction": "of physics materials that do not say it",
    "restitution": "of physics materials that do not say it",
}
"""A name that ends with a dot stands for a group.  What fixes of other packages ask for counts as well."""


def check_name(name: str, where: Where | None = None) -> None:
    """Raise an error with the near misses if no fix asks for such a value."""
    known = [
        *VALUES,
        *(name for fixer in all_fixers().values() for name in fixer.values if name not in VALUES),
    ]
    # `variant.` stands for variant.SET of any set: the name goes on behind the dot
    groups = tuple(entry for entry in known if entry.endswith("."))
    if name in known and name not in groups:
        return
    if not any(name.startswith(group) and len(name) > len(group) for group in groups):
        raise UnknownNameError("value for fixes", name, known, where=where)


def check_names(names: Iterable[str]) -> None:
    """Check several names as :func:`check_name` does."""
    for name in names:
        check_name(name)
