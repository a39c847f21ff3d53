# SPDX-License-Identifier: Apache-2.0
"""Files of other ROS packages are named by package://.

Why: where a package is installed differs between machines.  package:// asks the ROS environment.

Fails: `@../../other_robot/usd/arm.usda@`, where other_robot is a ROS package of its own.
Passes: `@package://other_robot/usd/arm.usda@`.

Reading: a file belongs to the package whose package.xml is nearest above it.  No ROS environment is needed, but
only packages that lie on this machine can be seen.

Fix: unsafe.  The path is rewritten; the other package must then be found by ROS.
"""

from __future__ import annotations

from collections.abc import Iterator

from simwright.checker.facts.paths import find_dependencies, find_package
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.rule import Finding, rule


@rule(
    "path-package-uri",
    "1.2.5",
    "must",
    on="stage",
    heuristic=True,
    fix="unsafe",
    fix_title="rewrite the path as package://",
)
def path_package_uri(snapshot: StageSnapshot) -> Iterator[Finding]:
    """Paths into another package."""
    for dependency in find_dependencies(snapshot):
        target, folder = dependency.target, dependency.folder
        if target is None or folder is None:
            continue
        theirs = find_package(target.parent)
        # inside one package a relative path is right: the package is installed as a whole
        if theirs is None or theirs == find_package(folder):
            continue
        inside = target.relative_to(theirs[0]).as_posix()
        yield dependency.finding(
            f"the {dependency.shown} {dependency.text!r} leads into the ROS package {theirs[1]}",
            f"write package://{theirs[1]}/{inside}",
        )
