# SPDX-License-Identifier: Apache-2.0
"""Files of the asset are named by paths that start with ./ or ../.

Why: `./geo/mesh.usdc` is found beside the layer, wherever the asset is copied.  `mesh.usdc` is a search path: it
may find another file, on another machine.

Fails: `@mesh.usdc@`; an absolute path or a package:// address of a file that is inside the asset.
Passes: `@./mesh.usdc@`, `@../textures/wood.png@`, package:// for another package; anything in a .usdz package.

Reading: a bare name is a warning, since it works until a search path is set.  All layers are looked at, with
sublayers, references, payloads, clips, textures and metadata, in all variants.

Fix: safe for bare names that lie beside the layer.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import (
    Dependency,
    PathForm,
    file_exists,
    find_dependencies,
    find_package,
    is_inside,
    suggest_relative,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule
from simwright.core.diag import Fixable, Level


@rule(
    "path-relative",
    "1.2.5",
    "must",
    on="stage",
    fix="unsafe",
    fix_title="rewrite the path relative to the layer",
)
def path_relative(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Bare names, and files of the asset that are named from outside."""
    for dependency in find_dependencies(snapshot):
        # inside a .usdz the format itself fixes how paths are resolved
        if dependency.is_packed:
            continue
        if dependency.form is PathForm.SEARCHED:
            finding = dependency.finding(
                f"the {dependency.shown} {dependency.text!r} is a search path",
                f"write ./{dependency.text}",
            )
            finding.level = Level.WARNING
            target = dependency.target
            # a file beside the layer is found first in any case, so ./ changes nothing
            finding.fix = Fixable.SAFE if target is not None and file_exists(target) else None
            yield finding
        elif inner := _find_inner(dependency, snapshot):
            yield dependency.finding(
                f"the {dependency.shown} {dependency.text!r} leads to a file of the asset itself",
                f"write {inner}",
            )


def _find_inner(dependency: Dependency, snapshot: StageSnapshot) -> str:
    """The relative path to a file inside the asset's folder that is named otherwise."""
    folder, asset = dependency.folder, snapshot.folder
    if folder is None or asset is None:
        return ""
    target = dependency.target if dependency.form is PathForm.ABSOLUTE else None
    package = find_package(folder) if dependency.form is PathForm.PACKAGE else None
    if package is not None:
        name, _, inside = dependency.text.removeprefix("package://").partition("/")
        target = package[0] / inside if name == package[1] else None
    return suggest_relative(target, folder) if target is not None and is_inside(target, asset) else ""
