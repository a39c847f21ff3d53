# SPDX-License-Identifier: Apache-2.0
"""All files an asset needs are inside it, and are there.

Why: an asset that is copied, zipped or installed takes only its own folder along.

Fails: `@../../library/bolt.usda@` that leads out of the asset; a texture that does not exist.
Passes: `@./textures/wood.png@`; inside a ROS package, `@../gripper/gripper.usda@` of the same package.

Reading: in a ROS package (a package.xml in a folder above) the package has to be self-contained; else the asset's
folder.  package:// names a dependency on purpose.  Absolute paths and other schemes are reported by other rules.

Fix: unsafe.  The files are collected into the asset.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import (
    PathForm,
    file_exists,
    find_dependencies,
    find_package,
    find_root,
    is_inside,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.usd.complaints import describe_missing, describe_outside


@rule(
    "path-self-contained",
    "1.2.5",
    "should",
    on="stage",
    fix="unsafe",
    fix_title="collect the files into the asset",
)
def path_self_contained(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Relative paths that leave the asset or lead nowhere."""
    for dependency in find_dependencies(snapshot):
        target, root = dependency.target, find_root(dependency, snapshot)
        if dependency.form not in (PathForm.ANCHORED, PathForm.SEARCHED) or target is None or root is None:
            continue
        if not is_inside(target, root):
            # a file of another package is reported by path-package-uri, with the address to write
            if find_package(target.parent) is None:
                layer = dependency.facts.layer.identifier
                yield dependency.finding(
                    f"the {dependency.shown} {dependency.text!r} leads out of the asset (its root is {root.name!r})",
                    "copy the file into the asset, or use package:// if it belongs to another ROS package",
                    **(describe_outside(layer, dependency.text) if dependency.names_layer else {}),
                )
        elif not file_exists(target):
            yield dependency.finding(
                f"the {dependency.shown} {dependency.text!r} does not exist",
                "add the file, or remove the path",
                # OpenUSD tells of layers too: one fault, one finding
                **(describe_missing(dependency.text) if dependency.names_layer else {}),
            )
