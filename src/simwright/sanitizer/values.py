# SPDX-License-Identifier: Apache-2.0
"""Every value that a user can give to fixes (``--set NAME=VALUE``, ``[fix]`` in ``simwright.toml``), in words."""

from __future__ import annotations

from collections.abc import Iterable

from simwright.core.diag import Where
from simwright.core.errors import UnknownNameError
from simwright.sanitizer.fixer import all_fixers

VALUES: dict[str, str] = {
    "identifier": "assetInfo identifier of the asset",
    "version": "assetInfo version of the asset",
    "name": "assetInfo name of the asset",
    "license": "assetInfo license of the asset",
    "package-uri": "assetInfo ros package_uri: the package:// address of what the asset was made from",
    "default-prim": "the root prim that is the asset",
    "variant.": "variant.SET: the variant of a set that is selected",
    "address.": "address.PREFIX: the folder, or package:// address, where files with that prefix are now",
    "units": "convert: let the asset be in metres, kilograms, seconds and Z-up",
    "meters-per-unit": "the unit of length of an asset that does not say it [m]",
    "kilograms-per-unit": "the unit of mass of an asset that does not say it [kg]",
    "up-axis": "the up axis of an asset that does not say it",
    "inertia-order": "urdf or mujoco: the order of six inertia values",
    "unknown-physics": "remove or isolate: what becomes of physics: properties that no schema has",
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
